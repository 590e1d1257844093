"""Whether what changes surely passes, or may be what its page is about: a price, a stock figure, a rating.

Both change, and both may be hidden when pages are compared. What is taken out of items must do more: *what would be
taken out* of some pages at some times is looked at, and one of these must hold.

- It is drawn anew for each response: most fetches of one URL only moments apart differ. What a page is about changes
  with the page's own story, and seldom on most pages within minutes.
- It is the moment's: pages that were fetched at about one time show the same, but for clocks, which show how much later
  it was; and other times show another.
- It is a random token, another one each time, or a value of which none was met twice.

A text that is drawn each day tells nothing by its changes: it may be an advertisement, or whether a thing is to be had; and
a number that rises counts visits, or what was bid. So where no URL was fetched twice within moments, these pass only around
what is the pages' own, before all of it or after it, and apart from it (see :mod:`.frames`):

- a date with a time to the second;
- and, where pages of nearly all kinds have it, and of several, such a time alone, or a whole number that knows nothing of its page; texts out
  of a pool that pages share, of some words, or before all that is the pages' own: an advertisement, and not one of a few
  short states; texts that swap their places.

Otherwise it stays.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from ...content.retention import MOMENTS
from ..slots import Slot, hidden, pieces
from .bounds import CONFIDENCE, confidence
from .sightings import Sighting
from .wording import are_never_twice, is_calendar, is_random

__all__ = ["surely_passes"]

ONE_TIME = 3600.0
"""Seconds between two fetches that are at about one time."""
ANEW = 0.25
"""Share of the fetches moments apart that differ surely in more, of what is drawn anew: one of four
in a row is the same advertisement as before."""
STEADIER = 0.3
"""How often pages of one time differ, of how often versions of one page do, of what is the moment's, at most."""
_TICK, _DAY = 60.0, 86_400.0
"""Seconds that a clock may be ahead of another, which may show minutes only; and after which it shows the same again."""
_NEAR = 4
"""Pages, the next ones in time, that a page is compared with."""
_COMPARISONS = 6
"""Comparisons of pages at one time that say something."""
_PAGES = 3
"""Pages of which no value is met twice."""
NEAR = 0.25
"""Share of the pages' own words that stand in the same region as what is apart from them, at most."""
_WORDS = 4.0
"""Words of a text that is no state ("in stock", "sold out"), on the average."""
_SHARED = 0.3
"""Share of the texts that stand on other pages, too, if they are out of a pool."""
_NUMBERS = 0.6
"""Share of numbers that are different ones where they are not a few states."""
_OFTEN = 0.75

_clock_word = re.compile(r"\D{0,3}(\d{1,2}(?::[0-5]\d){1,2})\D{0,3}").fullmatch
_seconds = re.compile(r"(?<!\d)(?:[01]?\d|2[0-3]):[0-5]\d:[0-5]\d(?!\d)").search
_whole_number = re.compile(r"\D{0,3}\d{1,3}(?:[.,' ]?\d{3})*\D{0,3}|\D{0,3}\d+\D{0,3}").fullmatch

Value = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shown:
    """A sighting, and what of it would be taken out: words, or all texts of a place that has several."""

    sighting: Sighting
    value: Value


_Pair = tuple[_Shown, _Shown]


def surely_passes(
    sightings: Sequence[Sighting],
    slot: Slot | None,
    *,
    attribute: str = "",
    position: int = 0,
    of: int = 0,
    is_everywhere: bool = True,
) -> bool:
    """Whether what a path would take out of the pages that *sightings* are of surely passes.

    *slot*, *position* and *of* are those of :class:`~scrapy_dedup.masks.model.TransientPath`. *is_everywhere*: nearly
    all kinds of pages of the site have the place.
    """
    several = slot is None and not position and any(len(each.texts) > 1 for each in sightings)
    shown = [
        _Shown(each, value)
        for each in sightings
        if (value := each.texts if several else _value(each.texts, slot, attribute, position, of)) is not None
    ]
    pages: defaultdict[str, list[_Shown]] = defaultdict(list)
    for each in shown:
        pages[each.sighting.page].append(each)
    versions = [(one, other) for found in pages.values() for one, other in pairwise(found)]
    changes = [(one, other) for one, other in versions if one.value != other.value]
    if not changes:
        return False
    share = len(changes) / len(versions)
    if _is_random(changes, versions, attribute) or _is_the_moment_s(shown, share):
        return True
    moments = list(_moments_apart(pages))
    anew = [one.sighting.page for one, other in moments if one.value != other.value]
    if len(anew) > 1 and confidence(len(anew), len(moments), ANEW) >= CONFIDENCE:
        return len(set(anew)) > 1 or len(pages) == 1
    if len(moments) > 1 and len(anew) < ANEW * len(moments):
        return False  # it stays for some time
    if not _is_around(shown):
        return False
    if not (is_everywhere and _is_of_several_kinds(shown)):
        return _are_times(shown, share) and all(any(map(is_calendar, each.value)) for each in shown)
    return (
        _are_times(shown, share) or _are_numbers(shown, share) or _is_of_pool(shown, several=several) or _swaps(changes)
    )


def _value(texts: tuple[str, ...], slot: Slot | None, attribute: str, position: int, of: int) -> Value | None:
    """Return what would be taken out of some texts; None where the path says nothing of them."""
    if position:
        if (of and len(texts) != of) or not -len(texts) <= position <= len(texts):
            return None
        texts = (texts[position - (position > 0)],)
    if len(texts) != 1:
        return () if slot is None else None
    words = pieces(texts[0], attribute)
    if slot is None:
        return tuple(words)
    ranges = hidden(words, slot, attribute)
    return None if ranges is None else tuple([word for start, end in ranges for word in words[start:end]])


def _is_random(changes: Sequence[_Pair], versions: Sequence[_Pair], attribute: str) -> bool:
    """Whether the values are tokens, or, of fields, never the same twice."""
    values = [each.value for pair in changes for each in pair]
    if len(changes) >= _OFTEN * len(versions) and all(value and all(map(is_random, value)) for value in values):
        return True
    met = {(each.sighting.page, each.sighting.number): " ".join(each.value) for pair in versions for each in pair}
    pages = {page for page, _ in met}
    return (
        attribute != ""
        and len(changes) == len(versions)
        and len(pages) >= _PAGES
        and are_never_twice(list(met.values()))
    )


def _is_the_moment_s(shown: Sequence[_Shown], changing: float) -> bool:
    """Whether pages at one time differ much less often than pages do from themselves at other times."""
    equal = [_are_of_one_time(one, other) for one, other in _at_one_time(shown)]
    if len(equal) < _COMPARISONS or len({each.sighting.page for each in shown}) <= _PAGES:
        return False
    return 1 - sum(equal) / len(equal) <= STEADIER * changing


def _at_one_time(shown: Sequence[_Shown]) -> Iterator[_Pair]:
    """Yield pairs of different pages at one time, near to each other; by the versions' numbers where times are not known."""
    times = [(each.sighting.fetch[0] if each.sighting.fetch else ONE_TIME * 2 * each.sighting.number) for each in shown]
    order = sorted(range(len(shown)), key=times.__getitem__)
    for place, one in enumerate(order):
        for other in order[place + 1 : place + 1 + _NEAR]:
            if times[other] - times[one] <= ONE_TIME and shown[one].sighting.page != shown[other].sighting.page:
                yield shown[one], shown[other]


def _are_of_one_time(one: _Shown, other: _Shown) -> bool:
    """Whether two values are equal, but for clocks that show what passed between the fetches.

    Where it is not known when these were, clocks with seconds beside an equal date are left aside.
    """
    if one.value == other.value:
        return True
    if len(one.value) != len(other.value):
        return False
    pairs = [(a, b) for a, b in zip(one.value, other.value, strict=True) if a != b]
    clocks = [(_clock(a), _clock(b)) for a, b in pairs]
    first, second = one.sighting.fetch, other.sighting.fetch
    if first is None or second is None:
        return len(pairs) < len(one.value) and all(_seconds(a) and _seconds(b) for a, b in pairs)
    passed = second[0] - first[0]
    return all(a is not None and b is not None and _is_off(b - a - passed) <= _TICK for a, b in clocks)


def _is_off(seconds: float) -> float:
    """Return how far a clock is off, which shows the same after a day."""
    return abs((seconds + _DAY / 2) % _DAY - _DAY / 2)


def _clock(word: str) -> int | None:
    """Return the time of day that a word is, in seconds."""
    found = _clock_word(word)
    if found is None:
        return None
    hours, minutes, *rest = map(int, found[1].split(":"))
    return 3600 * hours + 60 * minutes + sum(rest)


def _moments_apart(pages: Mapping[str, Sequence[_Shown]]) -> Iterator[_Pair]:
    """Yield pairs of fetches of one URL that are moments apart.

    Two URLs of a page, if it is one, say nothing: what differs between them may be what they ask for.
    """
    for found in pages.values():
        last: dict[str, _Shown] = {}
        for each in found:
            if each.sighting.fetch is None:
                continue
            at, url = each.sighting.fetch
            before = last.get(url)
            if before is not None and before.sighting.fetch and at - before.sighting.fetch[0] <= MOMENTS:
                yield before, each
            last[url] = each


def _is_of_pool(shown: Sequence[_Shown], *, several: bool) -> bool:
    """Whether the values are texts that pages share, too long for states, or one such text that comes and goes."""
    pages: defaultdict[Value, set[str]] = defaultdict(set)
    times: Counter[Value] = Counter()
    for each in shown:
        for value in [(text,) for text in each.value] if several else [each.value]:
            if value:
                pages[value].add(each.sighting.page)
                times[value] += 1
    shared = [value for value, found in pages.items() if len(found) > 1]
    words = sum(_words(value) * times[value] for value in pages)
    if not times or (words < _WORDS * times.total() and not _leads(shown)):
        return False
    is_pool = len(shared) > 1 or len(pages) == 1
    return is_pool and sum(times[value] for value in shared) >= _SHARED * times.total()


def _words(value: Value) -> int:
    """Return the number of words that have letters."""
    return sum(any(map(str.isalpha, word)) for text in value for word in text.split())


def _swaps(changes: Sequence[_Pair]) -> bool:
    """Whether texts of some words have changed places with others of their pages, and nothing else has happened."""
    pages = {one.sighting.page for one, _ in changes}
    return len(pages) > 1 and all(other.sighting.swapped and _words(other.value) >= _WORDS for _, other in changes)


def _are_times(shown: Sequence[_Shown], changing: float) -> bool:
    """Whether the values are times to the second, new ones at most times."""
    return changing >= _OFTEN and all(_seconds(" ".join(each.value)) for each in shown)


def _are_numbers(shown: Sequence[_Shown], changing: float) -> bool:
    """Whether the values are whole numbers, many different ones, new ones at most times."""
    values = [each.value for each in shown]
    are_whole = all(len(value) == 1 and _whole_number(value[0]) for value in values)
    return changing >= _OFTEN and are_whole and len(set(values)) >= _NUMBERS * len(values)


def _is_around(shown: Sequence[_Shown]) -> bool:
    """Whether it stands before all that is the pages' own, or after it, and in another region."""
    there = [each.sighting for each in shown if each.sighting.texts]
    edge = all(each.leads for each in there) or all(each.trails for each in there)
    return edge and sum(each.near for each in there) <= NEAR * len(there)


def _is_of_several_kinds(shown: Sequence[_Shown]) -> bool:
    """Whether pages of different kinds have it, by more than the names of their parameters."""
    kinds = {frozenset(kind[:2] for kind in each.sighting.kinds) for each in shown if each.sighting.texts}
    return any(one.isdisjoint(other) for one, other in combinations(kinds, 2))


def _leads(shown: Sequence[_Shown]) -> bool:
    """Whether it stands before all that is the pages' own."""
    return all(each.sighting.leads for each in shown if each.sighting.texts)
