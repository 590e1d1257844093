"""One method on one made-up site: learned from a part of its crawl, scored on the others."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

from scrapy_dedup.rules import RuleBook
from scrapy_dedup.urls import normal_form

from ..methods.compared import Keys, Learn, Safe
from ..sites.crawl import Row, crawl, each_once, split
from ..sites.model import Endpoint, Site
from .score import Score, lost_pages, missed_duplicates, score

MERGED_PHENOMENON = 0.95
"""Share of its duplicate pairs that a phenomenon needs."""
MERGED_TRAP = 0.90
"""Share of the right merges around it that a trap needs."""


@dataclass(frozen=True, slots=True)
class Grade:
    """What a method did to one endpoint of one site.

    pairs, merged: duplicate pairs that rules can merge, and those of them that were. wrong: URLs
    that were merged with another page. lost, lost_anyway: pages that no kept URL shows, and how
    many the rules of truth lose, as Scrapy's canonical form is below all rules. rules, recovered: rules of truth that merge something,
    and those all of whose pairs were merged without loss.
    """

    site: str
    endpoint: str
    trap: bool
    hard: bool
    allowed: int
    scores: Score
    pairs: int
    merged: int
    wrong: int
    lost: int
    lost_anyway: int
    rules: int
    recovered: int

    @property
    def share(self) -> float:
        """Share of the pairs that were merged; 1 where there are none."""
        return self.merged / self.pairs if self.pairs else 1.0

    @property
    def passed(self) -> bool:
        """Whether the phenomenon was merged without loss, or the trap avoided."""
        if self.trap:
            wrong = self.wrong if self.allowed == 0 else max(0, self.lost - self.allowed)
            return wrong == 0 and self.share >= MERGED_TRAP
        return self.lost == 0 and self.share >= MERGED_PHENOMENON


def grades(site: Site, rows: Sequence[Row], keys: Sequence[str]) -> list[Grade]:
    """The grade of every endpoint of a site."""
    first: dict[str, Row] = {}
    for row, key in zip(rows, keys, strict=True):
        first.setdefault(key, row)
    shown = {row.page for row in first.values()}
    members: defaultdict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        members[row.endpoint].append(i)
    wrong: Counter[str] = Counter()
    for row, key in zip(rows, keys, strict=True):
        stand_in = first[key]
        if stand_in.page != row.page:
            wrong.update({row.endpoint, stand_in.endpoint})
    found = []
    for name, own in members.items():
        endpoint = site.endpoints[name]
        pages = {rows[i].page for i in own}
        lost = len(pages - shown)
        truth = RuleBook(site.rules(endpoint))
        own_keys, texts = [keys[i] for i in own], [rows[i].page_text for i in own]
        asked = [truth.canonical_key(rows[i].url) for i in own]
        demanded = [f"{rows[i].page_text} {key}" for i, key in zip(own, asked, strict=True)]
        rules, recovered = recovery(site, endpoint, [rows[i].url for i in own], own_keys, lost)
        found.append(
            Grade(
                site=site.domain,
                endpoint=name,
                trap=endpoint.is_trap,
                hard=endpoint.hard,
                allowed=endpoint.allowed,
                scores=score(own_keys, texts),
                pairs=pairs(demanded),
                merged=pairs(f"{text}\x1f{key}" for text, key in zip(demanded, own_keys, strict=True)),
                wrong=wrong[name],
                lost=lost,
                lost_anyway=score(asked, texts).lost,
                rules=rules,
                recovered=recovered,
            )
        )
    return found


def pairs(texts: Iterable[str]) -> int:
    """Pairs of equal texts."""
    return sum(comb(count, 2) for count in Counter(texts).values())


def recovery(site: Site, endpoint: Endpoint, urls: Sequence[str], keys: Sequence[str], lost: int) -> tuple[int, int]:
    """(rules of truth that merge something here, those of them whose every pair has one key and no loss)."""
    count = recovered = 0
    for rule in site.rules(endpoint):
        book = RuleBook([rule])
        groups: defaultdict[str, list[int]] = defaultdict(list)
        for i, url in enumerate(urls):
            groups[book.canonical_key(url)].append(i)
        merged = [group for group in groups.values() if len({urls[i] for i in group}) > 1]
        if not merged:
            continue
        count += 1
        recovered += lost == 0 and all(len({keys[i] for i in group}) == 1 for group in merged)
    return count, recovered


@dataclass(frozen=True, slots=True)
class Marks:
    """Grades of any number of endpoints, added up."""

    phenomena: int
    phenomena_passed: int
    traps: int
    traps_passed: int
    rules: int
    rules_recovered: int
    hard_lost: int
    """Pages lost on hard traps."""
    lost_beyond: int
    """Pages lost that the rules of truth do not lose."""

    @classmethod
    def of(cls, grades: Iterable[Grade]) -> "Marks":
        """The sum of grades."""
        every = list(grades)
        traps = [grade for grade in every if grade.trap]
        phenomena = [grade for grade in every if not grade.trap]
        return cls(
            phenomena=len(phenomena),
            phenomena_passed=sum(grade.passed for grade in phenomena),
            traps=len(traps),
            traps_passed=sum(grade.passed for grade in traps),
            rules=sum(grade.rules for grade in every),
            rules_recovered=sum(grade.recovered for grade in every),
            hard_lost=sum(grade.lost for grade in every if grade.hard),
            lost_beyond=sum(max(0, grade.lost - grade.lost_anyway) for grade in every),
        )

    def shares(self) -> Mapping[str, float | None]:
        """The shares that were passed or recovered."""
        return {
            "traps_share": self.traps_passed / self.traps if self.traps else None,
            "phenomena_share": self.phenomena_passed / self.phenomena if self.phenomena else None,
            "rules_share": self.rules_recovered / self.rules if self.rules else None,
        }


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

    learned_urls: rows learned from. errors:
    exceptions while keys were made. lost, missed: examples (of ``part``).
    """

    level: str
    seed: int
    site: str
    method: str
    part: str
    learned_urls: int
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
        keys = Keys(site.book().canonical_key) if name == TRUTH else learn(observations)
        safe = Safe(keys.key)
        of_part = {name: [safe(row.url) for row in rows] for name, rows in scored.items()}
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
