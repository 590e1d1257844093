"""What in a URL may name an element of a page: ``msg178`` in ``?topic=41.msg178``."""

import re
from collections.abc import Iterator, Mapping
from string import ascii_letters, digits
from typing import NamedTuple

__all__ = ["Anchors", "Naming", "namings", "token_of", "tokens_in"]

Anchors = Mapping[str, tuple[str, ...]]
"""Token (``178``) -> beginnings of the names of elements that end in it (``msg``)."""

LEAST_ID = 8

_numbers = re.compile(r"[0-9]+").findall
_words = re.compile(r"[A-Za-z0-9]{8,}").findall


class Naming(NamedTuple):
    """How a URL may name an element: by the value of *key*, which ends in *lead* and *token*."""

    key: str
    lead: str
    token: str


def token_of(value: str) -> str:
    """Return what of *value* may be one element's own: an id, or the number at its end; "" if nothing.

    >>> token_of("41.msg178"), token_of("c-5f3ea2b9c1"), token_of("top")
    ('178', '5f3ea2b9c1', '')
    """
    part = _end_of(value, ascii_letters + digits)
    number = _end_of(part, digits)
    is_id = len(part) >= LEAST_ID and not part.isalpha() and not part.removesuffix(number).isalpha()
    return part if is_id else number


def _end_of(text: str, chars: str) -> str:
    return text[len(text.rstrip(chars)) :]


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
        yield Naming(key, _end_of(value[: -len(token)], ascii_letters), token)


def tokens_in(url: str) -> tuple[str, ...]:
    """Return the tokens that *url* may name an element by: too many rather than too few.

    >>> tokens_in("http://a.example/t/41?post=msg178")
    ('41', '178')
    """
    start = url.find("/", 8)
    rest = url[start:] if start >= 0 else ""
    return tuple(dict.fromkeys(_numbers(rest) + _words(rest)))
