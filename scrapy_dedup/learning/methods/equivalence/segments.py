"""A URL cut into segments and put together again, and what the URLs of one class have in common.

Source: "url-normalization-rule-inference", detailed description, steps (a) and (b): a URL less its scheme, host
and port is cut at each ``/``, ``;``, ``?`` and ``&``. The document then forgets where a segment stood;
here each keeps what it takes to compose a URL from some of the segments of another one. The representative of a class
need not be a URL of it, nor lead anywhere.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
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


Alignment = tuple[int, ...]
"""Which segments of a URL its representative is made of: their positions, in its order."""

Method = Callable[[Sequence[SegmentedUrl], bool], list[Alignment]]
"""Takes the URLs of a class and whether case makes no difference; gives the alignment of each."""


def representative(urls: Iterable[str], method: "Method | None" = None, *, fold_case: bool = False) -> str:
    """Return the canonical URL of a class, "" for no URLs.

    *method* is :func:`by_intersection` or :func:`by_prefix_and_suffix`. With *fold_case* segments that
    differ in case only are shared, and those that do differ are in lower case in the representative.

    >>> representative(["http://a.example/x?id=7&sid=1", "http://a.example/x?sid=2&id=7"])
    'http://a.example/x?id=7'
    """
    members = [segmented(url) for url in urls]
    if not members:
        return ""
    alignments = (method or by_intersection)(members, fold_case)
    first = members.index(shortest(members))
    lowered = case_varies(members, alignments) if fold_case else frozenset()
    kept = [members[first].segments[position] for position in alignments[first]]
    pieces = [(s.key, s.text.lower() if place in lowered else s.text) for place, s in enumerate(kept)]
    return composed(members[first].origin, pieces)


def shortest(members: Iterable[SegmentedUrl]) -> SegmentedUrl:
    """Return the shortest URL, of several the first by alphabet. Raises ValueError for none."""
    return min(members, key=lambda member: (len(member.url), member.url))


def shared_segments(members: Iterable[SegmentedUrl], fold_case: bool = False) -> Counter[str]:
    """Return the intersection of the segment multisets, in lower case with *fold_case*."""
    shared: Counter[str] | None = None
    for member in members:
        own = Counter([_identity(segment, fold_case) for segment in member.segments])
        shared = own if shared is None else shared & own
    return Counter() if shared is None else shared


def by_intersection(members: Sequence[SegmentedUrl], fold_case: bool = False) -> list[Alignment]:
    """Align the URLs of a class by the segments that all of them have, in the order of the shortest.

    Of equal segments of one URL the first ones are taken.
    """
    if not members:
        return []
    shared = shared_segments(members, fold_case)
    order = list(_taken(shortest(members), shared, fold_case).values())
    found = []
    for member in members:
        places: defaultdict[str, list[int]] = defaultdict(list)
        for position, text in _taken(member, shared, fold_case).items():
            places[text].append(position)
        following = {text: iter(positions) for text, positions in places.items()}
        found.append(tuple([next(following[text]) for text in order]))
    return found


def by_prefix_and_suffix(members: Sequence[SegmentedUrl], fold_case: bool = False) -> list[Alignment]:
    """Align the URLs of a class by the segments with which all begin and end."""
    prefix, suffix = shared_ends(members, fold_case)
    found = []
    for member in members:
        count = len(member.segments)
        found.append((*range(prefix), *range(count - suffix, count)))
    return found


def shared_ends(members: Sequence[SegmentedUrl], fold_case: bool = False) -> tuple[int, int]:
    """Return how many segments all URLs begin with, and how many of the others they end with.

    >>> urls = ["http://a.example/b/c/x=1/d/", "http://a.example/b/c/d/"]
    >>> shared_ends([segmented(url) for url in urls])
    (2, 2)
    """
    rows = [[(s.key, _identity(s, fold_case)) for s in member.segments] for member in members]
    if not rows:
        return 0, 0
    least = min(map(len, rows))
    prefix = 0
    while prefix < least and len({row[prefix] for row in rows}) == 1:
        prefix += 1
    suffix = 0
    while suffix < least - prefix and len({row[-1 - suffix] for row in rows}) == 1:
        suffix += 1
    return prefix, suffix


def case_varies(members: Sequence[SegmentedUrl], alignments: Sequence[Alignment]) -> frozenset[int]:
    """Return the places in the representative at which the URLs of a class differ in case only."""
    found = set()
    for place in range(len(alignments[0]) if alignments else 0):
        texts = {member.segments[alignment[place]].text for member, alignment in zip(members, alignments, strict=True)}
        if len(texts) > 1:
            found.add(place)
    return frozenset(found)


def _identity(segment: Segment, fold_case: bool) -> str:
    return segment.text.lower() if fold_case else segment.text


def _taken(member: SegmentedUrl, shared: Counter[str], fold_case: bool) -> dict[int, str]:
    """Return position -> text of those segments of a URL that are shared, as often as they are."""
    left = dict(shared)
    found = {}
    for position, segment in enumerate(member.segments):
        text = _identity(segment, fold_case)
        if left.get(text):
            left[text] -= 1
            found[position] = text
    return found
