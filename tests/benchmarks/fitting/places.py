"""The weights of the score of a place, fitted to sites whose parts are of a known nature: logistic regression.

What a place shows is scored when a mask is learned, and each score that is asked for is one :class:`Row`: of a place, of a text
of it, or of a few words of a text. All rows of one *nature* (the kind of part, such as "visitors") together weigh as much as those of any
other, however often sites have it: what matters is how many ways of changing are told, and not how frequent they are.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scrapy_dedup.content.versions import version_of
from scrapy_dedup.masks.learning import mask_of
from scrapy_dedup.masks.learning.counts.epochs import PageVersions
from scrapy_dedup.masks.learning.counts.place_counts import Place
from scrapy_dedup.masks.learning.judging.features import Features
from scrapy_dedup.masks.learning.judging.score import CONSTANT, WEIGHED, Score, weighed
from scrapy_dedup.urls import site_of_url

from ..places.site import PlacedSite

__all__ = ["FOLDS", "Known", "Row", "Weights", "fitted", "left_out", "rows_of", "scores"]

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]
Weights = Mapping[str, float]

FOLDS = 5
"""Sites are left out a fifth at a time."""
PULL, PULL_OF_CONSTANT = 0.3, 0.001
"""How much weights are drawn towards nothing (L2), and what is constant is."""
ROUNDS, CLOSE = 60, 1e-6
"""Newton's steps at most, and the change of a weight at which they end."""


@dataclass(frozen=True, slots=True)
class Row:
    """One score that was asked for: of what place and nature, and from which features."""

    site: int
    place: Place
    nature: str
    transient: bool
    controls: int
    """How many pages of a kind the crawls of the site have fetched twice."""
    features: Features


def rows_of(site: PlacedSite) -> list[Row]:
    """Return the rows of a site; what is scored as surely content has all its slots looked at, whatever the weights are."""
    html: defaultdict[str, list[str]] = defaultdict(list)
    times: defaultdict[str, list[float]] = defaultdict(list)
    for fetch in site.fetches:
        html[site.url(fetch)].append(site.html(fetch))
        times[site.url(fetch)].append(fetch.at)
    rows: list[Row] = []

    def recorder(place: Place) -> Score:
        def record(of: Features) -> float:
            rows.extend(
                [
                    Row(site.seed, place, part.part.name, part.part.transient, site.controls, of)
                    for part in site.parts
                    if f".{part.name}" in place[0]
                ]
            )
            return 0.0

        return record

    pages = [
        PageVersions(
            page,
            [version_of(each, markup=True) for each in found],
            fetches=[(at, page) for at in times[page]] if site.is_timed else (),
        )
        for page, found in html.items()
    ]
    mask_of(pages, site=site_of_url(pages[0].name), score_at=recorder)
    return rows


@dataclass(frozen=True)
class Known:
    """Rows, as they are fitted to."""

    rows: Sequence[Row]

    @cached_property
    def features(self) -> Numbers:
        """The features of each row, and one for what is constant (rows x weights)."""
        found = [[getattr(row.features, name) for name in WEIGHED] + [1.0] for row in self.rows]
        return np.array(found, dtype=np.float64).reshape(-1, len(WEIGHED) + 1)

    @cached_property
    def transient(self) -> Flags:
        """Which rows are of transient parts."""
        return np.array([row.transient for row in self.rows], dtype=np.bool_)

    @cached_property
    def controlled(self) -> Flags:
        """Which rows are of sites of which two or more pages of each kind were fetched twice, as crawls do by default."""
        return np.array([row.controls >= 2 for row in self.rows], dtype=np.bool_)

    @cached_property
    def weighing(self) -> Numbers:
        """What each row weighs: 1 on average."""
        times = Counter(row.nature for row in self.rows)
        return np.array([len(self.rows) / len(times) / times[row.nature] for row in self.rows])

    def of_nature(self, nature: str) -> Flags:
        """Return which rows are of a nature."""
        return np.array([row.nature == nature for row in self.rows], dtype=np.bool_)


def fitted(known: Known, chosen: Flags | None = None) -> Weights:
    """Return the weights that fit *chosen* rows (all by default), by Newton's method."""
    of = slice(None) if chosen is None else chosen
    features, transient, weighing = known.features[of], known.transient[of], known.weighing[of]
    pull = np.full(features.shape[1], PULL)
    pull[-1] = PULL_OF_CONSTANT
    found = np.zeros(features.shape[1])
    for _ in range(ROUNDS):
        sure = 1 / (1 + np.exp(-np.clip(features @ found, -30, 30)))
        slope = features.T @ (weighing * (sure - transient)) + pull * found
        curvature = (features * (weighing * sure * (1 - sure))[:, None]).T @ features + np.diag(pull)
        step = np.linalg.solve(curvature, slope)
        found -= step
        if np.abs(step).max() < CLOSE:
            break
    return dict(zip((*WEIGHED, CONSTANT), found.tolist(), strict=True))


def scores(known: Known, weights: Weights) -> Numbers:
    """Return the probability of each row by some weights."""
    return np.array([weighed(row.features, weights) for row in known.rows])


def left_out(known: Known, groups: Iterable[Hashable]) -> Numbers:
    """Return the probability of each row by weights that were fitted to the rows of all *groups* (of each row) but its own."""
    groups = list(groups)
    found = np.zeros(len(known.rows))
    for group in dict.fromkeys(groups):
        mine = np.array([each == group for each in groups], dtype=np.bool_)
        found[mine] = scores(known, fitted(known, ~mine))[mine]
    return found
