"""Whether what changes surely passes, or may be what its page is about: a price, a stock figure, a rating.

Both change, and both may be hidden when pages are compared. What is taken out of items must do more: *what would be
taken out* of some pages at some times is looked at, and one of these must hold.

- It is drawn anew for each response: most fetches of one URL only moments apart differ. What a page is about changes
  with the page's own story, and seldom on most pages within minutes.
- It is the moment's: pages that were fetched at about one time show the same, or nearly, and other times another.
- It rises on all pages: it counts, or tells the time.
- It is a random token, or a value of which none was met twice.

Where no URL was fetched twice within moments, these do, too:

- texts out of a pool that pages share, of some words, or before all that is the pages' own: an advertisement, and not
  one of a few short states;
- texts that swap their places;
- a whole number that knows nothing of its page, or a time to the second, before all that does.

Otherwise it stays.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...content.slots import Slot, hidden, pieces
from .belonging import distance
from .bounds import CONFIDENCE, confidence
from .sightings import Sighting
from .wording import are_never_twice, is_random

__all__ = ["surely_passes"]

MOMENTS = 900.0
"""Seconds between two fetches that are moments apart."""
ONE_TIME = 3600.0
"""Seconds between two fetches that are at about one time."""
ANEW = 0.25
"""Share of the fetches moments apart that differ surely in more, of what is drawn anew: one of four
in a row is the same advertisement as before."""
NEARER = 0.3
"""How far pages of one time are apart, of how far versions of one page are, of what is the moment's."""
_NEAR = 4
"""Pages, the next ones in time, that a page is compared with."""
_COMPARISONS = 6
"""Comparisons of pages at one time that say something."""
_PAGES, _CHANGES = 3, 8
"""Pages, and changes on them, that all rise; or twice on each of so many pages."""
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
_digits = re.compile(r"\d+").findall

Value = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shown:
    """A sighting, and what of it would be taken out: words, or all texts of a place that has several."""

    sighting: Sighting
    value: Value


_Pair = tuple[_Shown, _Shown]


def surely_passes(
    sightings: Sequence[Sighting], slot: Slot | None, *, attribute: str = "", position: int = 0, of: int = 0
) -> bool:
    """Whether what a path would take out of the pages that *sightings* are of surely passes.

    *slot*, *position* and *of* are those of :class:`~scrapy_dedup.content.mask.TransientPath`.
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
    if _is_random(changes, versions, attribute) or _rises(changes) or _is_the_moment_s(shown, versions):
        return True
    moments = list(_moments_apart(pages))
    anew = [one.sighting.page for one, other in moments if one.value != other.value]
    if len(anew) > 1 and confidence(len(anew), len(moments), ANEW) >= CONFIDENCE:
        return len(set(anew)) > 1 or len(pages) == 1
    if len(moments) > 1 and len(anew) < ANEW * len(moments):
        return False  # it stays for some time
    if len(pages) == 1:
        return False
    return (
        _is_of_pool(shown, several=several) or _swaps(changes) or _is_number_before(shown, len(changes) / len(versions))
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
    if all(value and all(map(is_random, value)) for value in values):
        return True
    met = {(each.sighting.page, each.sighting.number): " ".join(each.value) for pair in versions for each in pair}
    pages = {page for page, _ in met}
    return (
        attribute != ""
        and len(changes) == len(versions)
        and len(pages) >= _PAGES
        and are_never_twice(list(met.values()))
    )


def _rises(changes: Sequence[_Pair]) -> bool:
    """Whether the values are numbers, or times of day, and each is more than the one before."""
    for one, other in changes:
        if not len(one.value) == len(other.value) == 1:
            return False
        x, y = _number(one.value[0]), _number(other.value[0])
        if x is None or y is None or x >= y:
            return False
    pages = Counter(one.sighting.page for one, _ in changes)
    again = sum(number > 1 for number in pages.values())
    return again >= _PAGES or (len(pages) >= _PAGES and len(changes) >= _CHANGES)


def _number(word: str) -> int | None:
    found = _clock_word(word)
    if found is not None:
        total = 0
        for part in found[1].split(":"):
            total = 60 * total + int(part)
        return total
    return int("".join(_digits(word))[:18]) if _whole_number(word) else None


def _is_the_moment_s(shown: Sequence[_Shown], versions: Sequence[_Pair]) -> bool:
    """Whether pages at one time are much nearer to each other than pages are to themselves at other times."""
    between = [_distance(one.value, other.value) for one, other in _at_one_time(shown)]
    within = [_distance(one.value, other.value) for one, other in versions]
    if len(between) < _COMPARISONS or len({each.sighting.page for each in shown}) <= _PAGES:
        return False
    return sum(between) / len(between) <= NEARER * sum(within) / len(within)


def _at_one_time(shown: Sequence[_Shown]) -> Iterator[_Pair]:
    """Yield pairs of different pages at one time, near to each other; by the versions' numbers where times are not known."""
    times = [(each.sighting.fetch[0] if each.sighting.fetch else ONE_TIME * 2 * each.sighting.number) for each in shown]
    order = sorted(range(len(shown)), key=times.__getitem__)
    for place, one in enumerate(order):
        for other in order[place + 1 : place + 1 + _NEAR]:
            if times[other] - times[one] <= ONE_TIME and shown[one].sighting.page != shown[other].sighting.page:
                yield shown[one], shown[other]


def _distance(one: Value, other: Value) -> float:
    return distance([*map(_in_seconds, one)], [*map(_in_seconds, other)])


def _in_seconds(word: str) -> str:
    return str(_number(word)) if _clock_word(word) else word


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


def _is_number_before(shown: Sequence[_Shown], changing: float) -> bool:
    """Whether the values are whole numbers, many different ones, or times to the second, before all that is the pages' own."""
    values = [each.value for each in shown]
    if changing < _OFTEN or not _leads(shown):
        return False
    if all(_seconds(" ".join(value)) for value in values):
        return True
    are_numbers = all(len(value) == 1 and _whole_number(value[0]) for value in values)
    return are_numbers and len(set(values)) >= _NUMBERS * len(values)


def _leads(shown: Sequence[_Shown]) -> bool:
    """Whether it stands before all that is the pages' own: it is the site's."""
    return all(each.sighting.leads for each in shown if each.sighting.texts)
