"""Distances between what a place shows in two responses, and whether that goes with the time.

Texts are compared by their words. Numbers are compared by their ranks among all that were shown, so that a counter is near to itself
a moment ago and far from itself last week. A time of day is compared with the time of the response.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ....observation import AT_ONCE
from ..parameters import current

DAY = 86_400.0
_number = re.compile(r"(?:(?<!\S)[-−–](?=\d))?\d+(?:[., ]\d{3})*(?:[.,]\d+)?", re.ASCII)
_thousands = re.compile(r"-?[1-9]\d{0,2}(?:[.,]?\d{3})+", re.ASCII).fullmatch
_separator = re.compile("[.,]")
_clock = re.compile(r"(?<!\d)([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(?!\d)(?:\s?([AaPp])\.?[Mm])?").search

Value = tuple[str, ...]
"""The texts, or the words of a text, that a place shows; none where it is not there."""


@dataclass(frozen=True, slots=True)
class ShownValue:
    """What one response showed at a place, and where on the page that stood.

    ``at`` is in seconds; ``url`` is the one that was fetched. ``near``: share of the page's own words that stand in its region (see :mod:`scrapy_dedup.masks.learning.counts.sightings`).
    """

    page: str
    kinds: tuple[tuple[object, ...], ...]
    at: float
    url: str
    value: Value
    near: float = 1.0


def changed(one: ShownValue, other: ShownValue) -> float:
    """Return the share of the texts that are others: all of a single one, but of a list that is pushed on only some."""
    if one.value == other.value:
        return 0.0
    stayed = Counter(one.value) & Counter(other.value)
    return 1.0 - stayed.total() / max(len(one.value), len(other.value))


class Distances:
    """The distances, from 0 to 1, between the values that responses showed at one place, in order of time."""

    def __init__(self, shown: Sequence[ShownValue]) -> None:
        there = [each for each in shown if each.value]
        self._bags = {value: Counter(" ".join(value).split()) for value in {each.value for each in there}}
        self._ranks = self._ranked(there)
        self.as_clock = self._as_clock(there)
        """The log-likelihood ratio of being the times of the responses."""
        self.are_numbers = bool(self._ranks)
        """Whether the values have a number each, with words around it that stay or not."""

    def __call__(self, one: ShownValue, other: ShownValue) -> float:
        a, b = one.value, other.value
        if a == b:
            return 0.0
        if not a or not b:
            return 1.0
        if a in self._ranks and b in self._ranks:
            return min(1.0, current().numbers_apart * abs(self._ranks[a] - self._ranks[b]))
        x, y = self._bags[a], self._bags[b]
        return 1 - (x & y).total() / max(1, x.total(), y.total())

    def _ranked(self, there: Sequence[ShownValue]) -> Mapping[Value, float]:
        """Return the rank of each value among all that were shown, from 0 to 1; nothing where they are no numbers."""
        numbers = _numbers_of(self._bags)
        if len(numbers) < current().nearly_all * len(self._bags):
            return {}
        places = defaultdict(list)
        for place, number in enumerate(sorted(numbers[each.value] for each in there if each.value in numbers)):
            places[number].append(place)
        last = max(1, len(there) - 1)
        return {value: sum(places[number]) / len(places[number]) / last for value, number in numbers.items()}

    def _as_clock(self, there: Sequence[ShownValue]) -> float:
        """Return the log-likelihood ratio of being the times of the responses; less than 0 where they are none."""
        times = [(each.at, seconds) for each in there if (seconds := _seconds(each.value)) is not None]
        if len(times) < 2 or len(times) < current().nearly_all * len(there):
            return -10.0
        moments = len({round(at / AT_ONCE) for at, _ in times})
        if moments < 2:
            return 0.0
        # The clock of the site may be of any time zone, and shows minutes only.
        off = Counter([round((seconds - at) % DAY / 60) % 1440 for at, seconds in times])
        most = max(number + off[(minute + 1) % 1440] for minute, number in off.items())
        return min(moments, 8) * (1.0 if most >= current().nearly_all * len(times) else -1.0)

    def rise(self, one: ShownValue, other: ShownValue) -> float:
        """Return 1 where a number rises from one response to another, -1 where it falls, and 0 where there is none."""
        a, b = self._ranks.get(one.value), self._ranks.get(other.value)
        return 0.0 if a is None or b is None else float((b > a) - (b < a))


def _seconds(value: Value) -> int | None:
    """Return the time of day that a value tells, in seconds."""
    found = _clock(" ".join(value))
    if found is None:
        return None
    hours = int(found[1]) % 12 + 12 * (found[4] in "Pp") if found[4] else int(found[1])
    return 3600 * hours + 60 * int(found[2]) + int(found[3] or 0)


def _numbers_of(values: Collection[Value]) -> Mapping[Value, float]:
    """Return the number of each value that has one and no more, with its sign."""
    texts = {}
    for value in values:
        found = _number.findall(" ".join(value))
        if len(found) == 1:
            texts[value] = found[0].replace(" ", "").replace("−", "-").replace("–", "-")
    # "1.250" is a thousand and more where no other value has a fraction.
    has_fractions = any(_separator.search(text) and not _thousands(text) for text in texts.values())
    return {value: _number_from(text, has_fractions) for value, text in texts.items()}


def _number_from(text: str, has_fractions: bool) -> float:
    if _thousands(text) and (not has_fractions or len(_separator.findall(text)) > 1):
        return float(_separator.sub("", text))
    whole, _, fraction = text.replace(",", ".").rpartition(".")
    return float(f"{whole.replace('.', '')}.{fraction}") if whole else float(text)
