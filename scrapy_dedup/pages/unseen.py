"""Values of a page that nobody sees: in attributes, scripts and comments; and which of these tell pages apart.

A script is one long text, and so is an attribute that holds JSON, or an address with ten parameters. So each value in it is a
value of its own, told apart by the name that it has there. All have a name as an attribute has:

- ``data-request``: the value of an attribute, ``value[]`` where an attribute of this name is content elsewhere;
- ``content[name=csrf-token]``: that of a meta tag with this name, ``href[rel=icon]``: that of such a link;
- ``src[?v]``, ``data-state[token]``, ``#script[nonce]``: a value inside a value, also inside the address of a picture;
- ``#comment[cache]``: a comment, by the first word in it.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from html import unescape
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from xxhash import xxh3_64_hexdigest

from .selectors import key_of

__all__ = [
    "COMMENT",
    "CONTENT",
    "MOST",
    "MOST_OF_SCRIPT",
    "SCRIPT",
    "Value",
    "comment_values",
    "is_unseen",
    "kept_text",
    "marked",
    "script_values",
    "tells",
    "values_of",
    "values_of_script",
    "without_query",
]

SCRIPT: Final = "#script"
"""Stands for an attribute where the contents of a script are meant."""
COMMENT: Final = "#comment"
"""The same of a comment that stands in the element."""
CONTENT: Final = {
    **dict.fromkeys(("a", "area"), "href"),
    **dict.fromkeys(("img", "iframe", "embed", "audio", "video", "source"), "src"),
    "input": "value",
}
"""The attribute of an element that is content: where a link leads, what is shown or sent."""
MOST: Final = 4_000
"""Values of a page that are looked at, the first ones."""
_LONGEST: Final = 512
_LONGEST_COMMENT: Final = 1_000
MOST_OF_SCRIPT: Final = 20_000
"""Characters of a script that are looked at, the first ones."""
_LOOKS: Final = frozenset(("class", "style", "id"))
_NAMING: Final = {"meta": ("name", "property", "itemprop", "http-equiv"), "link": ("rel",)}
"""Elements of which a page has many, and the attributes that tell them apart."""
_READ: Final = frozenset(("alt", "title", "placeholder", "label", "summary", "aria-label", "aria-description"))
"""Attributes whose values are read as texts are: nothing in them is an address or a script."""
_TELLING: Final = frozenset(("src", "src[]", "srcset", "poster", "data", "download", "value", "value[]"))

# A string that is not closed ends with its line: each character is looked at once.
_literals = re.compile(
    r"""
    "(?P<double>(?:[^"\\\n]|\\.)*)"?
    |'(?P<single>(?:[^'\\\n]|\\.)*)'?
    |`(?P<back>(?:[^`\\]|\\.)*)`?
    |(?P<quote>&(?:quot|apos|\#34|\#39|\#x27|\#x22);)(?P<coded>(?:(?!(?P=quote))[^\\\n]|\\.)*)(?P=quote)?
    |(?<![\w$.])(?P<number>-?[0-9][\w.]*)
    |(?P<name>[A-Za-z_$][\w$-]*)
    |//[^\n]*
    |/\*(?:[^*]|\*(?!/))*(?:\*/)?
    """,
    re.VERBOSE | re.DOTALL,
).finditer
_is_address = re.compile(r"\s*[^\s?]*\?").match
_is_name = re.compile(r"\s*:(?!:)").match
_parameters = re.compile(
    r"""(?:[?;]|&(?:amp;|\#38;|\#x26;)?|\\u0026)(?P<name>[\w.~%\[\]-]{1,64})=(?P<value>[^&;\#\s"'<>\\,]*)"""
    r"""|\?(?P<bare>[\w.-]*)(?=\Z|[\#\s,])""",
    re.VERBOSE,
).finditer
_quoted = re.compile(r"""["']|&(?:quot|apos|#34|#39|#x27|#x22);""").search
_word = re.compile(r"(?<!\w)[^\W\d_]{2,64}(?!\w)").search
_file = re.compile(
    r"(?:(?:https?:)?//[^/]*(?=/)|(?!https?:|//)).*\.(?!(?:[sx]?html?|php|aspx?|jsp|cgi|do)$)[a-z][a-z0-9]{1,4}",
    re.IGNORECASE,
).fullmatch

_Part = tuple[str, int, int]
"""A value in a text: its name, and its offsets there."""
Value = tuple[str, str, int, int]
"""The same with what is kept of it: name, text, and offsets."""


def is_unseen(attribute: str) -> bool:
    """Return whether values under this name are no content that is shown, or that a link leads to, or that a form holds."""
    return attribute not in {"", "href", "src", "value"}


def values_of(element: str, attributes: Mapping[str, str]) -> Iterator[tuple[str, str, int, int]]:
    """Yield the values in the attributes of an element: the attribute, the name of the value, and its offsets in the attribute.

    >>> list(values_of("img", {"src": "/a.png?v=12", "alt": "A"}))
    [('src', 'src', 0, 11), ('src', 'src[?v]', 9, 11), ('alt', 'alt', 0, 1)]
    """
    content = CONTENT.get(element)
    naming = next((each for each in _NAMING.get(element, ()) if each in attributes), "")
    condition = f"[{naming}={key_of(unescape(attributes[naming][:_LONGEST]))}]" if naming else ""
    for attribute, source in attributes.items():
        stripped = source.strip()
        if not stripped or attribute in _LOOKS or attribute in {naming, stripped}:
            continue  # lxml gives an attribute without a value its name
        start = source.index(stripped)
        if attribute == content:
            yield attribute, attribute, start, start + len(stripped)
            if attribute != "src":
                continue
        is_read = attribute in _READ
        is_script = not is_read and (attribute.startswith("on") or (stripped[0] in "{[" and _quoted(stripped)))
        whole = "", 0, len(stripped)
        parts = values_of_script(stripped) if is_script else () if is_read else _address_values(*whole, stripped)
        for part, first, last in parts or [whole]:
            named = f"{attribute}{condition}[{part}]" if part or is_script else attribute + condition
            if named != content:
                yield attribute, named if is_unseen(named) else named + "[]", start + first, start + last


def values_of_script(source: str) -> Iterator[_Part]:
    """Yield the values of strings and numbers in a script, or in JSON, each by the name that stands before it.

    >>> script = 's = {"request": "4f2a", "at": 12}; load("/p.gif?r=7")'
    >>> [(name, script[start:end]) for name, start, end in values_of_script(script)]
    [('request', '4f2a'), ('at', '12'), ('load', '/p.gif'), ('load?r', '7')]
    """
    name = ""
    for match in _literals(source, 0, MOST_OF_SCRIPT):
        group = match.lastgroup
        if group == "name":
            name = match[0]
        elif group is None or match.end() == MOST_OF_SCRIPT:
            continue
        elif group == "number":
            yield key_of(name), *match.span()
        elif _is_name(source, match.end()):
            name = match[group]
        else:
            yield from _string_values(key_of(name), *match.span(group), source)


def _string_values(key: str, start: int, end: int, source: str) -> list[_Part]:
    stripped = source[start:end].strip()
    start = source.index(stripped, start)
    end = start + len(stripped)
    return _address_values(key, start, end, source) or ([(key, start, end)] if stripped else [])


def _address_values(key: str, start: int, end: int, source: str) -> list[_Part]:
    """Return an address without its parameters, and the values of these; of several addresses (``srcset``) the first one.

    There are none where there are no parameters.
    """
    end = min(end, start + MOST_OF_SCRIPT)
    if not _is_address(source, start, end) or not (found := list(_parameters(source, start, end))):
        return []
    spans = [
        (f"{key}?{key_of(match['name'] or '')}", *match.span("value" if match["bare"] is None else "bare"))
        for match in found
    ]
    return [each for each in ((key, start, source.index("?", start)), *spans) if each[1] < each[2]]


@lru_cache(256)
def script_values(script: str) -> tuple[Value, ...]:
    """Return the values of a script as they are kept; hand over no more than :data:`MOST_OF_SCRIPT` of it."""
    found = [
        (f"{SCRIPT}[{name}]", kept_text(script[start:end]), start, end) for name, start, end in values_of_script(script)
    ]
    return tuple([value for value in found if value[1]])


def comment_values(comment: str) -> list[Value]:
    """Return what a comment says, by the first word in it; nothing of other declarations."""
    written = comment[len("<!--") :].removesuffix("-->").rstrip()
    text = " ".join(written.replace("\0", "").split())
    if not text or len(text) > _LONGEST_COMMENT or not comment.startswith("<!--"):
        return []
    word = _word(text, 0, 64)
    end = len("<!--") + len(written)
    return [(f"{COMMENT}[{word[0] if word else ''}]", text, end - len(written.lstrip()), end)]


def kept_text(text: str, attribute: str = "") -> str:
    """Return a value as it is kept: a long one as its head and a hash, "" for prose."""
    if len(text) <= (2 * _LONGEST if attribute in _READ else _LONGEST):
        return text
    if any(map(str.isspace, text)):
        return ""
    return f"{text[:64]}~{xxh3_64_hexdigest(text.encode('utf-8', 'surrogatepass'))}"


# What tells pages apart


def tells(selector: str, attribute: str, text: str = "") -> bool:
    """Return whether a value belongs to the layer of a page that is not seen, and yet says what page it is.

    These are what scripts carry as data, addresses of media, frames and downloads, descriptions in the head, and values of
    inputs; not how an element looks or what it does, nor the parameters of addresses. For links *text* is needed.

    >>> tells("html/body/img", "src"), tells("html/head/script", "src[]"), tells("html/body/a", "href", "/manual.pdf")
    (True, False, True)
    """
    return _file(without_query(text)) is not None if attribute == "href" else _tells(selector, attribute)


@lru_cache(10_000)
def _tells(selector: str, attribute: str) -> bool:
    if "?" in attribute:
        return False
    if selector.rpartition("/")[2].startswith("script"):
        return attribute.startswith((SCRIPT, "data-"))
    return attribute.startswith(("data-", "content[")) or attribute in _TELLING


def without_query(address: str) -> str:
    """Return an address without what follows its path."""
    return address.partition("?")[0].partition("#")[0]


ECHO: Final = "{url}"
"""Stands for a value that repeats the address of its own page."""


def marked(value: str, url: str) -> str:
    r"""Return a value of the page at *url*, or a mark if it only repeats that: all of it, its path, or a value in it.

    >>> [marked(value, "http://a.test/p/7?sid=4f2a") for value in ("http:\\/\\/a.test\\/p\\/7", "4f2a", "7", "8")]
    ['{url}', '{url}', '{url}', '8']
    """
    return ECHO if value.replace("\\/", "/") in _echoes(url) else value


@lru_cache(256)
def _echoes(url: str) -> frozenset[str]:
    try:
        _, host, path, query, _ = urlsplit(url)
    except ValueError:
        return frozenset((url,))
    plain = url.partition("#")[0]
    written = [plain, plain.partition("?")[0], f"//{host}{path}", f"{path}?{query}", path, path.lstrip("/")]
    values = [*path.split("/"), *[pair.partition("=")[2] for pair in query.split("&")]]
    return frozenset([*written, *values, *map(unquote, values), *[value for _, value in parse_qsl(query)]]) - {""}
