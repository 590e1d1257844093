"""One judge: how likely what changes at a place is transient, from what pages have shown there.

Three hypotheses, each with a logarithm of likelihood ratios from the trials that tell it from the others:

- *anew*: responses to one URL differ within moments, as often as any two do: it is drawn for each response.
- *moment*: pages show the same at one time and something else at another; or clocks go.
- *page*: what a page shows at two times is nearer to each other than what another page shows at one of them.

With what the texts look like and where they stand, one logistic score with few weights (``weights.toml``).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from math import exp, lgamma, log, log1p
from typing import Final

from .observe import Sighting

STRIPPED: Final = 0.88
"""Score from which on what stands there is taken out of items: what is lost is dearer than what stays."""
MOMENTS: Final = 900.0
"""Seconds within which hardly any page is edited."""
ONE_TIME: Final = 3600.0
"""Seconds between two responses of about one time."""
DAY: Final = 86_400.0
NEARER = (5.0, 1.0)
"""How often two responses of one time, or page, are the nearer ones where the place is a matter of it (Beta distribution)."""
DRAWN, KEPT = (4.0, 1.0), (0.1, 2.0)
"""How often responses within moments differ where a text is drawn anew for each, and where it is not (hardly ever, or always)."""
MOST: Final = 6.0
"""Evidence (a log-likelihood ratio) beyond which nothing is surer."""
LUCK: Final = 1.0
"""Evidence that says nothing yet."""
WEIGHED: Final = ("speaks_for", "speaks_against", "random", "near", "apart")
CONSTANT: Final = "constant"
OF_PAGE, OF_TIME = 2.0, 4.0
"""Trials of one page, and of one time, that count: more say nearly the same."""
OWN_TOO: Final = 0.03
"""How often what is the page's own is drawn anew, too, or goes with the time: views of the page, quotes."""

_token = re.compile(
    r"(?<!\S)(?=\S*\d)(?=\S*[A-Za-z])(?!\d{4}-\d\d)[\w+/=.|~-]{10,}(?!\S)|(?<!\S)\d{8,}(?!\S)", re.ASCII
).search
_number = re.compile(r"(?:(?<!\S)[-−–](?=\d))?\d+(?:[., ]\d{3})*(?:[.,]\d+)?", re.ASCII).findall
_clock = re.compile(r"(?<!\d)([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(?!\d)(?:\s?([AaPp])\.?[Mm])?").search

_date = re.compile(
    r"(?P<y1>\d{4})-(?P<m1>\d\d)-(?P<d1>\d\d)|(?P<d2>\d\d?)[. ]+(?P<m2>\d\d?|[A-Za-z]{3,9})[., ]+(?P<y2>\d{4})"
).search


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of a place: logarithms of likelihood ratios, and shares from 0 to 1."""

    anew: float
    moment: float
    page: float
    #: Share of the texts that hold a token, times how much likelier another text at any time is than one now and then.
    random: float
    #: Share of the words of the pages' own that stand in the same region.
    near: float
    #: Share of the kinds of pages that have it, less for those that are the only one.
    everywhere: float

    @property
    def evidence(self) -> float:
        """The logarithm of how much likelier it is that it is no matter of its page, but of the moment or of the response."""
        transient = _log_sum(self.anew, self.moment)
        found = transient - _log_sum(_log_sum(0.0, self.page), log(OWN_TOO) + self.page + transient)
        return max(-MOST, min(MOST, found))

    @property
    def speaks_for(self) -> float:
        """The evidence where it says that what changes is transient, beyond what may be luck."""
        return max(0.0, self.evidence - LUCK)

    @property
    def speaks_against(self) -> float:
        """The evidence where it says that what changes is the page's own."""
        return min(0.0, self.evidence)

    @property
    def apart(self) -> float:
        """How far it stands around the pages of the site, and beside the words of none."""
        return self.everywhere * (1 - self.near)

    @property
    def score(self) -> float:
        """Probability that what changes is transient, by the package's weights."""
        return self.weighed(_weights())

    def weighed(self, weights: Mapping[str, float]) -> float:
        """Return the probability that what changes is transient by some *weights*."""
        odds = weights[CONSTANT] + sum([weights[name] * getattr(self, name) for name in WEIGHED])
        return 1 / (1 + exp(-max(-30.0, min(30.0, odds))))


@lru_cache(maxsize=1)
def _weights() -> Mapping[str, float]:
    import tomlkit  # here, since nothing but learning needs it

    text = files(__package__).joinpath("weights.toml").read_text(encoding="utf-8")
    return {name: float(weight) for name, weight in tomlkit.parse(text).unwrap()["weights"].items()}


def features_of(shown: Sequence[Sighting], everywhere: float) -> Features:
    """Return the features of a place from what was *shown*; *everywhere*: share of the kinds of pages that have it."""
    shown = sorted(shown, key=lambda each: (each.at, each.page))
    pages: defaultdict[str, list[Sighting]] = defaultdict(list)
    for each in shown:
        pages[each.page].append(each)
    # What one page alone shows may be its content, however new it is: quotes on a front page, its latest article.
    several = list(pages.values()) if len(pages) > 1 else []
    distance = Distances(shown)
    moment, page = _crossed(shown, pages, distance)
    clock = max(distance.as_clock, _as_date(pages.values()))
    there = [each for each in shown if each.texts]
    texts = [" ".join(each.texts) for each in there]
    return Features(
        anew=_anew(several, 1 - _mean([_lost(*pair) for pair in _far(shown)], 1.0)),
        moment=max(moment, clock),
        page=page if clock <= 0 else min(0.0, page),  # what tells the time is no page's own
        random=_mean([float(_token(text) is not None) for text in texts], 0.0) * max(0.0, _always(several)),
        near=_mean([each.near for each in there], 1.0),
        everywhere=everywhere * (1 - 1 / max(1, len({each.kind for each in there}))),
    )


def _anew(pages: Iterable[Sequence[Sighting]], same: float) -> float:
    """Return the log-likelihood ratio of being drawn for each response; *same* is how much of any two is equal."""
    soon = []
    for found in pages:
        by_url: defaultdict[str, list[Sighting]] = defaultdict(list)
        for each in found:
            by_url[each.fetch.url].append(each)
        pairs = [pair for each in by_url.values() for pair in pairwise(each)]
        soon.append([_lost(*pair) for pair in pairs if pair[1].at - pair[0].at <= MOMENTS])
    changes, trials = _counted(soon)
    # What is one of a few texts is drawn twice now and then: that was no trial.
    by_luck = min(trials - changes, same * trials)
    return _beta(changes, trials - by_luck, DRAWN) - _beta(changes, trials, KEPT)


def _always(pages: Iterable[Sequence[Sighting]]) -> float:
    """Return the log-likelihood ratio of another text at any other time, to a text that changes now and then."""
    changes, trials = _counted(
        [float(one.texts != other.texts) for one, other in pairwise(found) if other.at - one.at > MOMENTS]
        for found in pages
    )
    return _beta(changes, trials, NEARER) - _beta(changes, trials, (1.0, 1.0))


def _counted(pages: Iterable[Sequence[float]]) -> tuple[float, float]:
    """Return how much has changed, in how many trials, from how much each trial of each page has changed."""
    changes = trials = 0.0
    for found in pages:
        weight = min(1.0, OF_PAGE / len(found)) if found else 0.0
        changes, trials = changes + weight * sum(found), trials + weight * len(found)
    return changes, trials


def _crossed(
    shown: Sequence[Sighting], pages: Mapping[str, Sequence[Sighting]], distance: "Distances"
) -> tuple[float, float]:
    """Return the log-likelihood ratios of being a matter of the time, and of the page, from pairs of pages at pairs of times."""
    # One change of what all pages share is one event, at however many pages and times it is seen.
    times: defaultdict[object, list[float]] = defaultdict(list)
    own: defaultdict[str, list[float]] = defaultdict(list)
    alike: defaultdict[str, list[Sighting]] = defaultdict(list)
    place: dict[tuple[str, int], tuple[int, int]] = {}
    numbers = Counter[str]()
    for number, each in enumerate(shown):
        place[each.page, numbers[each.page]] = number, len(alike[each.kind])
        numbers[each.page] += 1
        alike[each.kind].append(each)
    for found in pages.values():
        for number, each in enumerate(found):
            others = [found[at] for at in (number - 1, number + 1) if 0 <= at < len(found)]
            among, among_alike = place[each.page, number]
            # What all pages of a kind have is no matter of a page.
            beside = _beside(alike[each.kind], among_alike) or _beside(shown, among)
            if not others or beside is None:
                continue
            other = others[(number // 2 + among) % len(others)]
            own[each.page].append(distance(beside, other) - distance(each, other))
            if abs(other.at - each.at) <= MOMENTS:
                continue
            nearer = distance(beside, other) - distance(beside, each)
            if nearer <= 0:
                nearer = -distance(beside, each)  # pages of one time do not show the same
            if distance.ranks and beside.texts != each.texts:
                nearer = -1.0  # numbers of one time that are but near to each other are the pages' own: temperatures
            is_event = beside.texts in (each.texts, other.texts)
            times[frozenset((each.texts, other.texts)) if is_event else max(each.at, other.at) // ONE_TIME].append(
                nearer
            )
    return _nearer(times.values(), OF_TIME), _nearer(own.values(), OF_PAGE)


def _beside(shown: Sequence[Sighting], number: int) -> Sighting | None:
    """Return one of the responses of other pages that are next to one, in order of time."""
    one = shown[number]
    near = [*shown[max(0, number - 3) : number], *shown[number + 1 : number + 4]]
    near = [other for other in near if other.page != one.page and abs(other.at - one.at) <= ONE_TIME]
    return near[7 * number % len(near)] if near else None


def _nearer(groups: Iterable[Sequence[float]], most: float) -> float:
    """Return the log-likelihood ratio of being nearer, from differences of distances in groups that say nearly the same."""
    nearer = trials = 0.0
    for differences in groups:
        total = sum(map(abs, differences))
        weight = min(1.0, most / total) if total else 0.0
        nearer, trials = nearer + weight * sum(each for each in differences if each > 0), trials + weight * total
    # What is a matter of neither is nearer half of the time at most.
    share = min(0.5, (nearer + 0.1) / (trials + 0.2))
    return _beta(nearer, trials, NEARER) - nearer * log(share) - (trials - nearer) * log(1 - share)


def _beta(some: float, total: float, prior: tuple[float, float]) -> float:
    """Return the logarithm of the probability of *some* of a *total*, in this order, where their share is of a Beta distribution."""
    a, b = prior
    rest = max(0.0, total - some)
    return lgamma(a + some) + lgamma(b + rest) - lgamma(a + b + some + rest) + lgamma(a + b) - lgamma(a) - lgamma(b)


def _far(shown: Sequence[Sighting]) -> Iterable[tuple[Sighting, Sighting]]:
    """Return responses of different pages that are far from each other in time."""
    step = max(1, len(shown) // 3)
    pairs = [pair for shift in (step, step + 1, 2 * step + 1) for pair in zip(shown, shown[shift:], strict=False)]
    return [(one, other) for one, other in pairs if one.page != other.page]


def _lost(one: Sighting, other: Sighting) -> float:
    """Return the share of the texts that are others: all of a single one, but of a list that is pushed on only some."""
    if one.texts == other.texts:
        return 0.0
    return 1.0 - len({*one.texts} & {*other.texts}) / max(1, len({*one.texts}), len({*other.texts}))


def _log_sum(one: float, other: float) -> float:
    return max(one, other) + log1p(exp(-abs(one - other)))


def _mean(found: Sequence[float], otherwise: float) -> float:
    return sum(found) / len(found) if found else otherwise


class Distances:
    """The distances, from 0 to 1, between what responses show at a place, and whether it goes with the time.

    Texts are compared by their words. Numbers are compared by their ranks among all that were shown, so that a counter is near to
    itself a moment ago and far from itself last week.
    """

    def __init__(self, shown: Sequence[Sighting]) -> None:
        there = [each for each in shown if each.texts]
        self._words = {texts: frozenset(" ".join(texts).split()) for texts in {each.texts for each in there}}
        numbers = {texts: found for texts in self._words if (found := _number_of(" ".join(texts))) is not None}
        #: The rank of each value, from 0 to 1, among all; nothing where they are no numbers.
        self.ranks: dict[tuple[str, ...], float] = {}
        if len(numbers) >= 0.9 * len(self._words):
            in_order = sorted(numbers[each.texts] for each in there if each.texts in numbers)
            places: defaultdict[float, list[int]] = defaultdict(list)
            for place, number in enumerate(in_order):
                places[number].append(place)
            last = max(1, len(there) - 1)
            self.ranks = {texts: _mean(places[number], 0.0) / last for texts, number in numbers.items()}
        #: The logarithm of the likelihood ratio of being the times of the responses.
        self.as_clock = _as_clock(there)

    def __call__(self, one: Sighting, other: Sighting) -> float:
        a, b = one.texts, other.texts
        if a == b:
            return 0.0
        if not a or not b:
            return 1.0
        if a in self.ranks and b in self.ranks:
            return min(1.0, 3 * abs(self.ranks[a] - self.ranks[b]))  # a third of all numbers is as far as any
        x, y = self._words[a], self._words[b]
        return 1 - len(x & y) / max(1, len(x), len(y))


def _as_clock(there: Sequence[Sighting]) -> float:
    """Return the log-likelihood ratio of being the times of the responses; less than 0 where they are none."""
    found = [(each.at, _clock(" ".join(each.texts))) for each in there]
    times = [(at, _seconds(clock)) for at, clock in found if clock is not None]
    if len(times) < 2 or len(times) < 0.9 * len(there):
        return -10.0
    moments = len({round(at / 60) for at, _ in times})
    if moments < 2:
        return 0.0
    # The clock of the site may be of any time zone, and shows minutes only.
    off = Counter([round((seconds - at) % DAY / 60) % 1440 for at, seconds in times])
    most = max(number + off[(minute + 1) % 1440] for minute, number in off.items())
    return min(moments, 8) * (1.0 if most >= 0.9 * len(times) else -1.0)


def _as_date(pages: Iterable[Sequence[Sighting]]) -> float:
    """Return the log-likelihood ratio of dates that are later ones on each response of a page, whenever that was."""
    later = []
    for found in pages:
        dates = [_date_of(each.texts[0]) if len(each.texts) == 1 else None for each in found if each.texts]
        later.append([1.0 if one and other and one < other else -1.0 for one, other in pairwise(dates)])
    return _nearer(later, OF_PAGE)


def _date_of(text: str) -> tuple[int, ...] | None:
    """Return year, month, day and second of the day of a text that has a date."""
    found = _date(text)
    if found is None:
        return None
    year, month, day = found["y1"] or found["y2"], found["m1"] or found["m2"], found["d1"] or found["d2"]
    number = int(month) if month.isdigit() else "janfebmaraprmayjunjulaugsepoctnovdec".find(month[:3].lower())
    clock = _clock(text)
    return int(year), number, int(day), _seconds(clock) if clock else 0


def _seconds(clock: re.Match[str]) -> int:
    hours = int(clock[1]) % 12 + 12 * (clock[4] in "Pp") if clock[4] else int(clock[1])
    return 3600 * hours + 60 * int(clock[2]) + int(clock[3] or 0)


def _number_of(text: str) -> float | None:
    """Return the number of a text that has one and no more: "1.250" and "1,250" are more than a thousand."""
    found = _number(text)
    if len(found) != 1:
        return None
    number = re.sub(r"[., ](?=\d{3}(?:\D|$))", "", found[0].replace("−", "-").replace("–", "-")).replace(",", ".")
    return float(number) if number.count(".") < 2 else None
