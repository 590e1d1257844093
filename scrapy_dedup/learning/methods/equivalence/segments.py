"""A URL cut into segments, and put together again.

Source: "url-normalization-rule-inference", detailed description, step (a): a URL less its scheme, host
and port is cut at each ``/``, ``;``, ``?`` and ``&``. The document then forgets where a segment stood;
here each keeps what it takes to compose a URL from some of the segments of another one.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

_split = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*://[^/;?&#]*)?([^#]*)", re.DOTALL).match
_pieces = re.compile(r"([/;?&]|\A)([^/;?&]*)").findall
_key = re.compile(r"(\?[/;?]?|[/;&]|)(.*)", re.DOTALL).fullmatch


class Segment(NamedTuple):
    """A piece of a URL: ``articleID=60401364`` after a ``?`` has the key ``?articleID``.

    ``key`` says where the segment stands and how it is called: ``/``, ``;`` or ``&`` in the path, ``?``
    behind the first question mark (``?/``, ``?;`` and ``??`` where another separator stands there), then
    the name of a ``name=value`` segment. ``value`` is what follows the ``=``, or the whole segment.
    """

    key: str
    value: str
    text: str


@dataclass(frozen=True, slots=True)
class SegmentedUrl:
    """A URL (without its fragment): ``origin`` is scheme, host and port as they are written."""

    url: str
    origin: str
    segments: tuple[Segment, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the segments: two URLs with the same ones have the same shape."""
        return tuple([segment.key for segment in self.segments])

    @property
    def values(self) -> tuple[str, ...]:
        """The values of the segments."""
        return tuple([segment.value for segment in self.segments])


def segmented(url: str) -> SegmentedUrl:
    """Return the segments of *url*, which may be any text.

    >>> found = segmented("http://a.example/news/story.asp;v=1?id=7&x#top")
    >>> found.origin, found.keys, found.values
    ('http://a.example', ('/', '/', ';v', '?id', '?'), ('news', 'story.asp', '1', '7', 'x'))
    """
    match = _split(url)
    assert match is not None  # both parts may be empty
    origin, rest = match[1] or "", match[2]
    place = ""
    found = []
    for separator, text in _pieces(rest):
        if place:
            tag = "?" if separator == "&" else "?" + separator
        elif separator == "?":
            tag = place = "?"
        else:
            tag = separator
        name, mark, value = text.partition("=")
        found.append(Segment(tag + name, value, text) if mark and name else Segment(tag, text, text))
    if found and found[0] == ("", "", "") and (len(found) > 1 or origin):
        del found[0]
    return SegmentedUrl(url.partition("#")[0], origin, tuple(found))


def composed(origin: str, pieces: Iterable[tuple[str, str]]) -> str:
    """Return the URL that is made of *pieces*, (key of a segment, its text).

    The first piece of a query comes after a ``?``, whatever stood before it.

    >>> composed("http://a.example", [("/", "news"), ("?/", "x"), ("?id", "id=7")])
    'http://a.example/news?x&id=7'
    """
    url = origin
    in_query = False
    for key, text in pieces:
        match = _key(key)
        assert match is not None  # it matches any text
        separator: str = match[1]
        if separator.startswith("?"):
            separator = (separator[1:] or "&") if in_query else "?"
            in_query = True
        url += separator + text
    return url


def is_named(key: str) -> bool:
    """Return whether a segment with this key is of the form ``name=value``.

    >>> is_named("?id"), is_named("/"), is_named("?/")
    (True, False, False)
    """
    return len(key) > 2 or (len(key) == 2 and key not in {"?/", "?;", "??"})
