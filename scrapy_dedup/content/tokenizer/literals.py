"""Values inside a value: the literals of a script under their names, and the parameters of an address under theirs.

A script is one long text, and so is an attribute that holds JSON, or an address with ten parameters. What passes in it is
one token of many. So each value in it is a text of its own, told apart by the name that it has there: ``"nonce": "4f2a…"``
is ``nonce``, and ``/p.gif?r=12`` is ``?r``. What stands around it is never touched.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from xxhash import xxh3_64_hexdigest

from .memo import Memo
from .selectors import stable

__all__ = ["NamedValue", "in_address", "in_attribute", "in_script", "kept_text", "key_of"]

MOST: Final = 20_000
"""Characters of a script that are looked at, the first ones."""
LONGEST: Final = 512
"""Characters of a value that is kept as it is; a longer one with white space is a text to be read, and not kept at all."""
_HEAD: Final = 64

_NAME: Final = r"(?P<name>[A-Za-z_$][\w$-]*)"
_NUMBER: Final = r"(?<![\w$.])(?P<number>-?[0-9][\w.]*)"
# A string that is not closed ends with its line: each character is looked at once.
_script = re.compile(
    rf"""
    "(?P<double>(?:[^"\\\n]|\\.)*)"?
    |'(?P<single>(?:[^'\\\n]|\\.)*)'?
    |`(?P<back>(?:[^`\\]|\\.)*)`?
    |{_NUMBER}
    |{_NAME}
    |//[^\n]*
    |/\*(?:[^*]|\*(?!/))*(?:\*/)?
    """,
    re.VERBOSE | re.DOTALL,
).finditer
_attribute = re.compile(
    rf"""
    (?P<quote>"|'|&quot;|&apos;|&\#34;|&\#39;|&\#x27;|&\#x22;)(?P<text>(?:(?!(?P=quote))[^\\\n]|\\.)*)(?P=quote)?
    |{_NUMBER}
    |{_NAME}
    """,
    re.VERBOSE | re.DOTALL,
).finditer
_is_address = re.compile(r"\s*[^\s?]*\?").match
_names = re.compile(r"\s*:(?!:)").match
_parameter = re.compile(
    r"""(?:[?;]|&(?:amp;|\#38;|\#x26;)?|\\u0026)(?P<name>[\w.~%\[\]-]{1,64})=(?P<value>[^&;\#\s"'<>\\,]*)"""
    r"""|\?(?P<bare>[\w.-]*)(?=\Z|[\#\s,])""",
    re.VERBOSE,
).finditer


class NamedValue(NamedTuple):
    """A value in a script or an address: its name, its text, and its offsets."""

    key: str
    text: str
    start: int
    end: int


def in_script(source: str) -> tuple[NamedValue, ...]:
    """Return the values of strings and numbers in a script, or in JSON, each by the name that stands before it.

    >>> [(each.key, each.text) for each in in_script('s = {"request": "4f2a", "at": 12}; load("/p.gif?r=7")')]
    [('request', '4f2a'), ('at', '12'), ('load?r', '7')]
    """
    return _scripts[source]


def _read_script(source: str) -> tuple[NamedValue, ...]:
    return tuple(_literals(source, _script(source, 0, MOST), whole=len(source) <= MOST))


def in_attribute(source: str) -> tuple[NamedValue, ...]:
    """Return the same of JSON, or of a script, in an attribute, where quotes may be written as references."""
    return tuple(_literals(source, _attribute(source, 0, MOST), whole=len(source) <= MOST))


def in_address(source: str) -> tuple[NamedValue, ...] | None:
    """Return the values of the parameters of an address, or of several, as ``srcset`` has; None if there are no parameters.

    >>> [(each.key, each.text) for each in in_address("/a.js?v=12&amp;x=b 2x")], in_address("/a/b.js")
    ([('?v', '12'), ('?x', 'b')], None)
    """
    return _parameters("", source, 0, min(len(source), MOST))


# What a site's pages share is read once.
_scripts = Memo(_read_script, each=200, times=8)


def _literals(source: str, found: Iterator[re.Match[str]], *, whole: bool) -> Iterator[NamedValue]:
    name = ""
    for match in found:
        group = match.lastgroup
        if group == "name":
            name = match[0]
        elif group is not None and (whole or match.end() < MOST):
            if group == "quote":
                group = "text"
            start, end = match.span(group)
            if group == "number":
                yield NamedValue(key_of(name), match[0], start, end)
            elif _names(source, match.end()):
                name = match[group]
            else:
                yield from _of_string(key_of(name), source, start, end)


def _of_string(key: str, source: str, start: int, end: int) -> Iterator[NamedValue]:
    parameters = _parameters(key, source, start, end)
    if parameters is not None:
        yield from parameters
        return
    text = source[start:end]
    kept = kept_text(text.strip())
    if kept:
        start += len(text) - len(text.lstrip())
        yield NamedValue(key, kept, start, start + len(text.strip()))


def _parameters(key: str, source: str, start: int, end: int) -> tuple[NamedValue, ...] | None:
    """Return the parameters in a part of a source, those that have a value; None if nothing there is one."""
    if not _is_address(source, start, end):
        return None
    found = list(_parameter(source, start, end))
    if not found:
        return None
    groups = [(match, "value" if match["bare"] is None else "bare") for match in found]
    return tuple(
        [
            NamedValue(f"{key}?{key_of(match['name'] or '')}", kept_text(match[group]), *match.span(group))
            for match, group in groups
            if match[group]
        ]
    )


def key_of(name: str) -> str:
    """Return what lasts of a name, as of ids and classes (:func:`.selectors.stable`), without brackets."""
    return stable(name).replace("[", "%5B").replace("]", "%5D")


def kept_text(text: str) -> str:
    """Return a value as it is stored: a long one as its head and a hash, "" for prose."""
    if "\0" in text:
        text = text.replace("\0", "")
    if len(text) <= LONGEST:
        return text
    if any(map(str.isspace, text)):
        return ""
    return f"{text[:_HEAD]}~{xxh3_64_hexdigest(text.encode('utf-8', 'surrogatepass'))}"
