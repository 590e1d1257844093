"""Features of a place: how its texts change with the page, with the time, and from response to response.

What is transient is a matter of the moment or of the single response, content is a matter of its page. Each of the three is a
hypothesis, and each has a logarithm of likelihood ratios, from trials that tell it from the others:

- *anew*: fetches of one URL within moments differ, as often as any two responses do.
- *moment*: pages show the same at one time, and something else at another; or numbers rise from page to page; or clocks go.
- *page*: what a page shows at two times is nearer to each other than what another page shows at one of them.

Beside these: what was shown looks like, and where on the page it stands. Source: ours; the transient-content document counts
changes alone.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, inf, lgamma, log, log1p

from ....content.retention import MOMENTS
from ..parameters import current
from .distances import Distances, ShownValue, changed

_token = re.compile(
    r"(?<!\S)(?=\S*\d)(?=\S*[A-Za-z])(?!\d{4}-\d\d)[\w+/=.|~-]{10,}(?!\S)|(?<!\S)\d{8,}(?!\S)", re.ASCII
).search


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of a place: logarithms of likelihood ratios, and shares from 0 to 1 where nothing else is said."""

    anew: float
    """Log-likelihood ratio: another text each time."""
    moment: float
    """Log-likelihood ratio: a matter of the moment."""
    page: float
    """Log-likelihood ratio: a matter of the page."""
    rises: float
    """Log-likelihood ratio: numbers that rise with time."""
    random: float
    """Share of the texts that hold a token (letters and digits, or a long number), times *anew*; so it may be over 1."""
    words: float
    """Words of a text on the average, of ten."""
    near: float
    """Share of the words of the pages' own that stand in the same region."""
    everywhere: float
    """Share of the kinds of pages of the site that have it."""
    kinds: int
    """Number of the kinds of pages that have shown it."""

    @property
    def around(self) -> float:
        """How surely it stands around pages of several kinds and knows nothing of any."""
        return min(current().foreign, max(0.0, -self.page)) * self.everywhere * (1 - 1 / self.kinds) * (1 - self.near)

    @property
    def evidence(self) -> float:
        """The logarithm of how much likelier it is that it is no matter of its page, but of the moment or of the response."""
        transient = _log_sum(self.anew, self.moment)
        return transient - _log_sum(_log_sum(0.0, self.page), log(current().own_too) + self.page + transient)


def features_of(shown: Sequence[ShownValue], *, everywhere: float) -> Features:
    """Return the features of a place from what was *shown*, in any order; linear but for a sort."""
    shown = sorted(shown, key=lambda each: (each.at, each.page))
    pages: defaultdict[str, list[ShownValue]] = defaultdict(list)
    for each in shown:
        pages[each.page].append(each)
    distance = Distances(shown)
    moment, page = _crossed(shown, pages, distance)
    texts = [" ".join(each.value) for each in shown if each.value]
    # What one page alone shows may be its content, however new it is: quotes on a front page, its latest article.
    several = list(pages.values()) if len(pages) > 1 else []
    return Features(
        anew=_anew(several, 1 - _mean([changed(*pair) for pair in _far(shown)], 1.0)),
        moment=max(moment, distance.as_clock),
        page=page,
        rises=_rising(pages.values(), distance),
        random=_share(_token(text) is not None for text in texts) * max(0.0, _always(several)),
        words=min(1.0, _mean([len(text.split()) for text in texts], 0.0) / 10),
        near=_mean([each.near for each in shown if each.value], 1.0),
        everywhere=everywhere,
        kinds=max(1, len({kind for each in shown if each.value for kind in _names(each.kinds)})),
    )


def _anew(pages: Iterable[Sequence[ShownValue]], same: float) -> float:
    """Return the log-likelihood ratio of being drawn for each response; *same* is how much of any two is equal."""
    soon = []
    for found in pages:
        by_url: defaultdict[str, list[ShownValue]] = defaultdict(list)
        for each in found:
            by_url[each.url].append(each)
        pairs = (pair for shown in by_url.values() for pair in pairwise(shown))
        soon.append([changed(one, other) for one, other in pairs if other.at - one.at <= MOMENTS])
    changes, trials = _counted(soon)
    # What is one of a few texts is drawn twice now and then: that was no trial.
    by_luck = min(trials - changes, same * trials)
    return _beta(changes, trials - by_luck, current().drawn) - _beta(changes, trials, current().kept)


def _names(kinds: Iterable[Sequence[object]]) -> Iterator[tuple[object, ...]]:
    """Yield the kinds of a page without the names of their parameters."""
    for kind in kinds:
        yield tuple(kind[:2])


def _always(pages: Iterable[Sequence[ShownValue]]) -> float:
    """Return the log-likelihood ratio of another text at any other time, to a text that changes now and then."""
    changes, trials = _counted(
        [float(one.value != other.value) for one, other in pairwise(found) if other.at - one.at > MOMENTS]
        for found in pages
    )
    return _beta(changes, trials, current().nearer) - _beta(changes, trials, (1.0, 1.0))


def _counted(pages: Iterable[Sequence[float]]) -> tuple[float, float]:
    """Return how much has changed, in how many trials, from how much each trial of each page has changed."""
    changes = trials = 0.0
    for found in pages:
        weight = min(1.0, current().of_page / len(found)) if found else 0.0
        changes, trials = changes + weight * sum(found), trials + weight * len(found)
    return changes, trials


def _rising(pages: Iterable[Sequence[ShownValue]], distance: Distances) -> float:
    """Return the log-likelihood ratio of numbers that rise from response to response of a page."""
    if not distance.are_numbers:
        return -inf
    return _nearer([[distance.rise(*pair) for pair in pairwise(page)] for page in pages], current().of_page)


def _crossed(
    shown: Sequence[ShownValue], pages: Mapping[str, Sequence[ShownValue]], distance: Distances
) -> tuple[float, float]:
    """Return the log-likelihood ratios of being a matter of the time, and of the page, from pairs of pages at pairs of times."""
    # One change of what all pages share is one event, at however many pages and times it is seen.
    times: defaultdict[object, list[float]] = defaultdict(list)
    counted: defaultdict[int, list[float]] = defaultdict(list)
    own: defaultdict[str, list[float]] = defaultdict(list)
    of_kind: defaultdict[object, list[ShownValue]] = defaultdict(list)
    place: dict[int, tuple[int, int]] = {}
    for number, each in enumerate(shown):
        alike = of_kind[each.kinds]
        place[id(each)] = number, len(alike)
        alike.append(each)
    for found in pages.values():
        for number, each in enumerate(found):
            others = [found[at] for at in (number - 1, number + 1) if 0 <= at < len(found)]
            among, among_alike = place[id(each)]
            # What all pages of a kind have is no matter of a page.
            beside = _beside(of_kind[each.kinds], among_alike) or _beside(shown, among)
            if not others or beside is None:
                continue
            other = others[(number // 2 + among) % len(others)]
            own[each.page].append(distance(beside, other) - distance(each, other))
            if other.at > max(each.at, beside.at) and distance.rise(each, beside) > 0:
                # A counter has gone on since then, from whatever page; what is the page's own is less, as it was then.
                counted[int(each.at // current().one_time)].append(distance.rise(beside, other))
            if abs(other.at - each.at) <= MOMENTS:
                continue
            apart = distance(beside, each)
            nearer = distance(beside, other) - apart
            if nearer <= 0:
                nearer = -apart  # pages of one time do not show the same
            if distance.are_numbers and beside.value != each.value:
                nearer = -1.0  # numbers of one time that are but near to each other are the pages' own: temperatures
            is_event = beside.value in (each.value, other.value)
            event = (
                frozenset((each.value, other.value)) if is_event else int(max(each.at, other.at) // current().one_time)
            )
            times[event].append(nearer)
    moment = _nearer(times.values(), current().of_time)
    if distance.are_numbers:
        moment = max(moment, _nearer(counted.values(), 1.0))  # all may rise at once: one time is one trial
    return moment, _nearer(own.values(), current().of_page)


def _beside(shown: Sequence[ShownValue], number: int) -> ShownValue | None:
    """Return one of the responses of other pages that are next to one, in order of time."""
    one = shown[number]
    near = [*shown[max(0, number - 3) : number], *shown[number + 1 : number + 4]]
    near = [other for other in near if other.page != one.page and abs(other.at - one.at) <= current().one_time]
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
    return _beta(nearer, trials, current().nearer) - nearer * log(share) - (trials - nearer) * log(1 - share)


def _beta(some: float, total: float, prior: tuple[float, float]) -> float:
    """Return the logarithm of the probability of *some* of a *total*, in this order, where their share is of a Beta distribution."""
    a, b = prior
    return (
        lgamma(a + some)
        + lgamma(b + max(0.0, total - some))
        - lgamma(a + b + max(some, total))
        + lgamma(a + b)
        - lgamma(a)
        - lgamma(b)
    )


def _far(shown: Sequence[ShownValue]) -> Iterator[tuple[ShownValue, ShownValue]]:
    """Yield responses of different pages that are far from each other in time."""
    step = max(1, len(shown) // 3)
    for shift in (step, step + 1, 2 * step + 1):
        for one, other in zip(shown, shown[shift:], strict=False):
            if one.page != other.page:
                yield one, other


def _log_sum(one: float, other: float) -> float:
    """Return the logarithm of the sum of what two logarithms are of."""
    return max(one, other) + log1p(exp(-abs(one - other)))


def _mean(found: Sequence[float], otherwise: float) -> float:
    return sum(found) / len(found) if found else otherwise


def _share(found: Iterable[bool]) -> float:
    """Return the share of what is true; 0 of nothing."""
    values = [float(each) for each in found]
    return _mean(values, 0.0)
