"""What the URLs of one class have in common, and the URL that is made of it.

Source: "url-normalization-rule-inference", detailed description, step (b), and the embodiment with
shared prefixes and suffixes. The representative need not be a URL of the class, nor lead anywhere.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from .segments import Segment, SegmentedUrl, composed, segmented

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
