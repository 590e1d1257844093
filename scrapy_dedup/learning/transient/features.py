"""Features of a place: how what stands there changes, with the page, with time and from response to response.

A transient text is a matter of the moment or of the single response, content is a matter of its page. So three
distances are compared: between two fetches of a page (within moments, and later), between pages fetched at about one time, and
between pages fetched at different times. Beside these: what the values look like, and where on the page they stand.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

MOMENTS = 900.0
"""Seconds between two fetches that are moments apart."""

_number = re.compile(r"\d+(?:[., ]\d{3})*(?:[.,]\d+)?")
_clock = re.compile(r"(?<!\d)(\d{1,2}):([0-5]\d)(?::([0-5]\d))?(?!\d)")
_token = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w+/=.:|~-]{10,}", re.ASCII)
_money = re.compile(
    r"[$€£¥₹₽₩₺฿]|(?<![A-Za-z])(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|zł|kr|Kč|Fr)(?![A-Za-z])"
)

Value = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """What one response showed at a place, and where that stood.

    ``before`` and ``after``: no text of the page's own stands before it, after it. ``near``: share of the page's own words in its region.
    """

    page: str
    kind: object
    at: float
    value: Value
    before: bool = False
    after: bool = False
    near: float = 1.0
    url: str = ""


NAMES = (
    "anew", "later", "time", "page", "clock", "rising", "pool", "number", "money", "token", "digits", "states", "words",
    "edge", "near", "everywhere", "kinds", "heading", "comes", "grows", "moves", "field", "link",
)


def _log_odds(of: float, all_: float, prior: float, weight: float) -> float:
    share = (of + prior * weight) / (all_ + weight)
    return log(share / (1 - share))


def features(shown: Sequence[Shown], *, everywhere: float, heading: bool = False, attribute: str = "") -> dict[str, float]:
    """Return the features of a place from what was *shown*, in any order."""
    shown = sorted(shown, key=lambda each: (each.at, each.page))
    pages: defaultdict[str, list[Shown]] = defaultdict(list)
    for each in shown:
        pages[each.page].append(each)
    distance = _Distance(shown)
    # Fetches of one page.
    anew = anew_all = later = later_all = 0.0
    own: list[float] = []
    grows = comes = changed = 0.0
    for found in pages.values():
        mine = [0.0, 0.0, 0.0, 0.0]
        for one, other in pairwise(found):
            differs = one.value != other.value
            soon = other.at - one.at <= MOMENTS and one.url == other.url
            mine[0 if soon else 2] += differs
            mine[1 if soon else 3] += 1
            own.append(distance(one, other))
            if differs:
                changed += 1
                gone, come = Counter(one.value) - Counter(other.value), Counter(other.value) - Counter(one.value)
                grows += bool(one.value) and not gone and bool(come)
                comes += not one.value or not other.value
        # One page counts as two trials at most.
        for number in (0, 2):
            scale = min(1.0, 2 / mine[number + 1]) if mine[number + 1] else 0.0
            if number == 0:
                anew, anew_all = anew + scale * mine[0], anew_all + scale * mine[1]
            else:
                later, later_all = later + mine[2], later_all + mine[3]
    # Different pages: the next one in time, and any other.
    near_ = [distance(one, other) for one, other in pairwise(shown) if one.page != other.page]
    step = max(1, len(shown) // 3)
    far = [distance(one, other) for shift in (step, step + 1, 2 * step + 1) for one, other in zip(shown, shown[shift:]) if one.page != other.page]
    mean_far = _mean(far, 1.0) + 0.02
    weight = len(near_) / (len(near_) + 6.0)
    time = weight * (1 - min(1.5, _mean(near_, 1.0) / mean_far))
    weight = len(own) / (len(own) + 6.0) if len(pages) > 1 else 0.0
    page = weight * (1 - min(1.5, _mean(own, 1.0) / mean_far))
    texts = [" ".join(each.value) for each in shown if each.value]
    by_value: defaultdict[str, set[str]] = defaultdict(set)
    for each in shown:
        for text in _texts(each.value):
            by_value[text].add(each.page)
    total = sum(len(_texts(each.value)) for each in shown)
    shared = sum(sum(len(by_value[text]) > 1 for text in _texts(each.value)) for each in shown)
    number = len(texts) or 1
    standing = [each for each in shown if each.value]
    stood = len(standing) or 1
    return {
        "anew": _log_odds(anew, anew_all, 0.3, 1.0) - _log_odds(0, 0, 0.3, 1.0) if anew_all else 0.0,
        "later": _log_odds(later, later_all, 0.5, 2.0),
        "time": time,
        "page": page,
        "clock": distance.tracks * len(texts) / (len(texts) + 3.0),
        "rising": distance.rising,
        "pool": shared / (total + 3.0),
        "number": sum(_number.fullmatch(text.strip(" .,:%°()")) is not None for text in texts) / number,
        "money": sum(_money.search(text) is not None for text in texts) / number,
        "token": sum(_token.search(text) is not None for text in texts) / number,
        "digits": sum(any(map(str.isdigit, text)) for text in texts) / number,
        "states": float(len(by_value) <= 4 and all(len(text.split()) <= 2 for text in by_value)),
        "words": min(1.0, sum(len(text.split()) for text in texts) / number / 10),
        "edge": float(all(each.before for each in standing) or all(each.after for each in standing)),
        "near": sum(each.near for each in standing) / stood,
        "everywhere": everywhere,
        "kinds": min(3, len({each.kind for each in standing})) / 3,
        "heading": float(heading),
        "comes": comes / (changed + 1.0),
        "grows": grows / (changed + 1.0),
        "field": float(bool(attribute) and attribute not in ("href", "src")),
        "link": float(attribute in ("href", "src")),
    }


def _texts(value: Value) -> Value:
    return value


def _mean(found: Sequence[float], else_: float) -> float:
    return sum(found) / len(found) if found else else_


class _Distance:
    """How far two values are apart, from 0 to 1: by rank for numbers, by words otherwise."""

    def __init__(self, shown: Sequence[Shown]) -> None:
        self.tracks = 0.0
        self.rising = 0.0
        self._rank: Mapping[float, float] = {}
        self._number: dict[Value, float] = {}
        values = {each.value for each in shown if each.value}
        self._bags = {value: Counter(" ".join(value).split()) for value in values}
        if not values:
            return
        clocks = [(each, _seconds(" ".join(each.value))) for each in shown if each.value]
        known = [(each.at, clock) for each, clock in clocks if clock is not None]
        if len(known) >= 0.9 * len(clocks) and len(known) > 1:
            off = Counter(round(((clock - at) % 86400) / 60) % 1440 for at, clock in known)
            most = max(off[minute] + off[(minute + 1) % 1440] for minute in off)
            # A page's own time, fetched at that time by chance, is no clock: it must have been seen at several times.
            spread = len({round(at / 120) for at, _ in known})
            self.tracks = most / len(known) if spread > 1 and len({clock for _, clock in known}) > 1 else 0.0
        numbers = {value: _first_number(value) for value in values}
        if sum(number is not None for number in numbers.values()) >= 0.9 * len(numbers):
            self._number = {value: number for value, number in numbers.items() if number is not None}
            ordered = sorted(self._number[each.value] for each in shown if each.value in self._number)
            ranks: dict[float, list[int]] = defaultdict(list)
            for place, each in enumerate(ordered):
                ranks[each].append(place)
            self._rank = {each: sum(found) / len(found) / max(1, len(ordered) - 1) for each, found in ranks.items()}
            pairs = [(self._number.get(one.value), self._number.get(other.value)) for one, other in pairwise(shown) if one.page != other.page]
            step = max(1, len(shown) // 4)
            pairs += [(self._number.get(one.value), self._number.get(other.value)) for one, other in zip(shown, shown[step:]) if one.page != other.page]
            known_pairs = [(a, b) for a, b in pairs if a is not None and b is not None and a != b]
            if known_pairs:
                self.rising = (2 * sum(a < b for a, b in known_pairs) / len(known_pairs) - 1) * len(known_pairs) / (len(known_pairs) + 8)

    def __call__(self, one: Shown, other: Shown) -> float:
        a, b = one.value, other.value
        if a == b:
            return 0.0
        if not a or not b:
            return 1.0
        if a in self._number and b in self._number:
            return min(1.0, 0.02 + 3 * abs(self._rank[self._number[a]] - self._rank[self._number[b]]))
        x, y = self._bags[a], self._bags[b]
        return 1 - (x & y).total() / max(1, max(x.total(), y.total()))


def _seconds(text: str) -> int | None:
    found = _clock.search(text)
    if found is None:
        return None
    hours, minutes, seconds = int(found[1]), int(found[2]), int(found[3] or 0)
    if re.search(r"\bPM\b", text) and hours < 12:
        hours += 12
    return 3600 * hours + 60 * minutes + seconds


def _first_number(value: Value) -> float | None:
    if len(value) != 1:
        return None
    found = _number.findall(value[0])
    if len(found) != 1:
        return None
    text = found[0].replace(" ", "")
    if re.fullmatch(r"\d{1,3}([.,]\d{3})+", text):
        text = re.sub("[.,]", "", text)
    return float(re.sub("[^0-9.]", "", text.replace(",", ".")) if text.count(".") + text.count(",") < 2 else re.sub("[^0-9]", "", text))
