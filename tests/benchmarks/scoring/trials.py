"""One method on one made-up site: learned from a part of its crawl, scored on the others."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from scrapy_dedup.urls import normal_form

from ..methods.compared import Keys, Learn, Safe
from ..sites.crawl import Row, crawl
from ..sites.site import Site
from ..sites.splits import each_once, split
from .grading import Grade, grades
from .score import Score, lost_pages, missed_duplicates, score

TRUTH = "rules of truth"
"""The method that knows the truth, as far as rules can say it: what no method can exceed."""
UNSEEN, SAME, DRIFTED, WHOLE = "unseen", "same", "drifted", "whole"
PARTS = (UNSEEN, SAME, DRIFTED, WHOLE)
"""What is scored: pages never seen (and URLs that come up late), new URLs of seen pages, URLs after
a drift, and the whole crawl with what was learned from."""


@dataclass(frozen=True, slots=True)
class Training:
    """What is learned from.

    share: of the rows (None: all that are not held out; 1: the whole crawl). by_url: whether the share
    is one of URLs and not of pages.
    """

    share: float | None = None
    by_url: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """What one method did on one site.

    learned_urls: rows learned from. learn_seconds: per such row. key_seconds: per URL scored. errors:
    exceptions while keys were made. lost, missed: examples (of ``part``).
    """

    level: str
    seed: int
    site: str
    method: str
    part: str
    learned_urls: int
    learn_seconds: float
    key_seconds: float
    errors: int
    raw: int | None
    qualified: int | None
    deployed: int | None
    scores: Mapping[str, Score]
    grades: Sequence[Grade]
    lost: Sequence[tuple[str, str, str]]
    missed: Sequence[tuple[str, str]]
    evidence: Mapping[str, tuple[int, int]]
    """By endpoint, what was learned from: pages under several URLs, and those of them whose URLs showed several contents."""

    @property
    def headline(self) -> Score:
        """The scores on the part that the benchmark is about."""
        return self.scores[self.part]


def trials(level: str, site: Site, methods: Mapping[str, Learn], training: Training, part: str) -> list[Trial]:
    """Every method on one site. What a method raises while it learns is raised."""
    rows = crawl(site)
    parts = split(rows, site.seed, training.share, by_url=training.by_url)
    scored = {UNSEEN: parts.unseen, SAME: parts.same, DRIFTED: parts.drifted, WHOLE: each_once(rows)}
    observations = [row.observation() for row in parts.train]
    shown = evidence(parts.train)
    found = []
    for name, learn in methods.items():
        start = perf_counter()
        keys = Keys(site.book().canonical_key) if name == TRUTH else learn(observations)
        learn_seconds = perf_counter() - start
        safe = Safe(keys.key)
        start = perf_counter()
        of_part = {name: [safe(row.url) for row in rows] for name, rows in scored.items()}
        key_seconds = perf_counter() - start
        texts = {name: [row.page_text for row in rows] for name, rows in scored.items()}
        urls = [row.url for row in scored[part]]
        found.append(
            Trial(
                level=level,
                seed=site.seed,
                site=site.domain,
                method=name,
                part=part,
                learned_urls=len(observations),
                learn_seconds=learn_seconds / max(len(observations), 1),
                key_seconds=key_seconds / max(sum(map(len, scored.values())), 1),
                errors=safe.errors,
                raw=keys.raw,
                qualified=keys.qualified,
                deployed=keys.deployed,
                scores={name: score(of_part[name], texts[name]) for name in PARTS},
                grades=grades(site, scored[part], of_part[part]),
                lost=lost_pages(urls, of_part[part], texts[part]),
                missed=missed_duplicates(urls, of_part[part], texts[part]),
                evidence=shown,
            )
        )
    return found


def evidence(rows: Sequence[Row]) -> dict[str, tuple[int, int]]:
    """Of each endpoint how many pages show under two URLs or more, Scrapy's own spellings apart, and how many are spoiled."""
    seen: defaultdict[tuple[str, tuple[str, ...]], dict[str, str]] = defaultdict(dict)
    for row in rows:
        if row.fingerprint:
            seen[row.endpoint, row.page][normal_form(row.url)] = row.fingerprint
    found: dict[str, tuple[int, int]] = {}
    for (endpoint, _), contents in seen.items():
        pages, spoiled = found.get(endpoint, (0, 0))
        several = len(contents) > 1
        found[endpoint] = pages + several, spoiled + (several and len(set(contents.values())) > 1)
    return found
