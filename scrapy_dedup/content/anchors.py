"""Elements of a page that a URL can name: ``id="msg178"`` on the page, ``?msg=178`` in the URL.

Only names with a number in them, or with an id of letters and digits, name one element of
one page; ``top`` and ``footer`` are on every page.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

__all__ = ["Anchors", "Naming", "anchors_of", "may_name", "namings"]

Anchors = Mapping[str, tuple[str, ...]]
"""Token (``178``) -> beginnings of the names of elements that end in it (``msg``)."""

#: Names of one page that are looked at, and beginnings that are kept of one token.
MOST_NAMES = 5_000
MOST_PREFIXES = 4
LONGEST_NAME = 80
LEAST_ID = 8

# A space and the name of the attribute: the search for these few bytes costs next to nothing.
# What stands on a new line is not found, and nothing but an alias is lost by that.
_BY_ID = re.compile(rb""" id=["']?([A-Za-z0-9_\-:.]*[0-9][A-Za-z0-9_\-:.]*)""")
_BY_NAME = re.compile(rb""" name=["']?([A-Za-z0-9_\-:.]*[0-9][A-Za-z0-9_\-:.]*)""")
_number_at_end = re.compile(r"([A-Za-z]*)([0-9]+)\Z").search
_letters_at_end = re.compile(r"[A-Za-z]*\Z").search
_last_part = re.compile(r"[A-Za-z0-9]+\Z").search
_numbers = re.compile(r"[0-9]+").findall
_words = re.compile(r"[A-Za-z0-9]{8,}").findall


class Naming(NamedTuple):
    """How a URL may name an element: by the value of *key*, which ends in *lead* and *token*."""

    key: str
    lead: str
    token: str


def anchors_of(body: bytes) -> dict[str, tuple[str, ...]]:
    """Return the elements of a page that a URL can name, by one pass over its bytes.

    >>> anchors_of(b'<div id="msg178"><a name="178"></a></div><div id="top"></div>')
    {'178': ('', 'msg')}
    >>> anchors_of(b'<li id="comment-5f3ea2b9c1">')
    {'5f3ea2b9c1': ('comment-',)}
    """
    found: dict[str, set[str]] = {}
    for pattern in (_BY_ID, _BY_NAME):
        for number, raw in enumerate(pattern.findall(body)):
            if number >= MOST_NAMES:
                break
            if len(raw) > LONGEST_NAME:
                continue
            name = raw.decode("ascii")
            token = token_of(name)
            if token:
                prefixes = found.get(token)
                if prefixes is None:
                    prefixes = found[token] = set()
                prefixes.add(name[: -len(token)])
    return {
        token: tuple(sorted(prefixes, key=lambda prefix: (len(prefix), prefix))[:MOST_PREFIXES])
        for token, prefixes in found.items()
    }


def token_of(value: str) -> str:
    """Return what of *value* may be one element's own: an id, or the number at its end; "" if nothing.

    >>> token_of("41.msg178"), token_of("c-5f3ea2b9c1"), token_of("top")
    ('178', '5f3ea2b9c1', '')
    """
    match = _last_part(value)
    if match is None:
        return ""
    part = match[0]
    number = _number_at_end(part)
    if number is not None and number.start() == 0:
        return number[2]
    if len(part) >= LEAST_ID and not part.isalpha():
        return part
    return number[2] if number is not None else ""


def namings(values: Mapping[str, str | None], fragment: str = "") -> Iterator[Naming]:
    """Yield how a URL with these *values* (its view) and this *fragment* may name an element.

    >>> list(namings({"path.0": "index", "q.topic": "41.msg178"}, "msg178"))
    [Naming(key='fragment', lead='msg', token='178'), Naming(key='q.topic', lead='msg', token='178')]
    """
    if fragment:
        yield from _naming("fragment", fragment)
    for key, value in values.items():
        if value and key != "path.len" and not key.startswith(("host.", "scheme")):
            yield from _naming(key, value)


def _naming(key: str, value: str) -> Iterator[Naming]:
    token = token_of(value)
    if token:
        lead = _letters_at_end(value[: -len(token)])
        yield Naming(key, lead[0] if lead else "", token)


def may_name(url: str, anchors: Anchors) -> bool:
    """Return whether *url* may name one of *anchors*: a quick look that finds too much, not too little."""
    start = url.find("/", 8)
    rest = url[start:] if start >= 0 else ""
    for number in _numbers(rest):
        if number in anchors:
            return True
    return any(word in anchors for word in _words(rest))
