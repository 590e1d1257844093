"""Learning on many machines: what a worker does that has some of all records, or all observations of one site.

Rows go in and come out as tuples; nothing here knows what brings them from one worker to another.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..observation import Observation, ObservationError
from ..rules import RuleBook, SiteRules
from ..rules.reading import read_rules
from ..sources.reading import SHOWN
from ..sources.tables import observation_of_row
from ..urls import GroupsLike, site_of_url
from .alias_learning import with_declared_aliases
from .data.by_site import inner_sites
from .data.page_sample import row_hashes
from .imported import observation_in, text_of
from .learn import learn
from .learning_options import LearningOptions
from .saving import text_of_file

logger = logging.getLogger(__name__)

Row = tuple[Any, ...]
Records = Iterable[Mapping[str, Any]]

_MOST_COUNTS: Final = 100_000


@dataclass(frozen=True)
class Task:
    """What workers are told, and do."""

    options: LearningOptions
    known: RuleBook
    #: Only these sites are read.
    sites: AbstractSet[str] | None = None
    #: These are not.
    without: AbstractSet[str] = frozenset()
    #: Rule files of sites that were learned before, since their URLs are nested in those of others.
    inner: Mapping[str, str] = field(default_factory=dict)

    def facts(self, records: Records) -> Iterator[Row]:
        """Yield (kind, site, name, number): of each site its rows and the sites nested in it, and what could not be read.

        One fact may come several times, in parts.
        """
        counts: Counter[tuple[str, str, str]] = Counter()
        bad = 0
        for site, found in self._records(records):
            if isinstance(found, Observation):
                counts["rows", site, ""] += 1
                if found.url.find("http", 8) > 0:
                    inner = inner_sites([found.url], site, self.options.site_groups)
                    counts.update(("nested", site, other) for other in inner)
            else:
                counts["bad", "", ""] += 1
                bad += 1
                if bad <= SHOWN:
                    counts["example", "", found] += 1
            if len(counts) >= _MOST_COUNTS:
                yield from _rows(counts)
                counts.clear()
        yield from _rows(counts)

    def seen(self, records: Records) -> Iterator[Row]:
        """Yield (site, text) of the observations."""
        return ((site, text_of(found)) for site, found in self._observed(records))

    def hashed(self, records: Records) -> Iterator[Row]:
        """Yield (site, text) of the observations, and the hashes that a sample is drawn by."""
        told = ((site, found, text_of(found)) for site, found in self._observed(records))
        return ((site, text, *row_hashes(found, text)) for site, found, text in told)

    def learned(self, site: str, texts: list[str]) -> Iterator[Row]:
        """Yield the row of a site: its rule file, numbers of rules, URLs and pages, the ids of rules that leave, or a fault."""
        try:
            yield self._learned(site, texts)
        except Exception as error:  # of one site among millions
            logger.exception("%s was not learned", site)
            yield site, None, None, None, None, [], f"{type(error).__name__}: {error}"

    def _learned(self, site: str, texts: list[str]) -> Row:
        texts.sort()  # the order in which they come is chance
        found = map(observation_in, texts)
        learned = learn(found, self.options, known=self.known, elsewhere=self._elsewhere)
        if any(each.canonical or each.redirect for each in map(observation_in, texts)):
            others = self._elsewhere(learned.nested[site])
            learned = with_declared_aliases(
                learned, lambda *_: map(observation_in, texts), others=others, known=self.known
            )
        report = learned.reports[0]
        gone = [each.rule.id for each in learned.departures]
        text = text_of_file(learned, site, self.known)
        return site, text, report.rules, report.urls, report.pages, gone, None

    def _elsewhere(self, sites: AbstractSet[str]) -> RuleBook:
        texts = {site: self.inner[site] for site in sites & self.inner.keys()}
        return book_of(texts, self.options.site_groups).beside(self.known.only(sites))

    def _observed(self, records: Records) -> Iterator[tuple[str, Observation]]:
        for site, found in self._records(records):
            if isinstance(found, Observation):
                yield site, found

    def _records(self, records: Records) -> Iterator[tuple[str, Observation | str]]:
        """Yield the records that are asked for, with their sites; of one that cannot be read, why not."""
        groups = self.options.site_groups
        for row in records:
            url = row["url"]
            site = site_of_url(url, groups=groups) if isinstance(url, str) else ""
            if site in self.without or (self.sites is not None and site not in self.sites):
                continue
            try:
                found = observation_of_row(row)
            except ObservationError as error:
                yield "", f"{url}: {error}"
                continue
            if site:
                yield site, found


def complaints(facts: Iterable[Row]) -> list[str]:
    """Return lines about the records that could not be read, some of them one by one, from (kind, site, name, number)."""
    facts = sorted(facts)
    shown = [f"not read: {name}" for kind, _, name, _ in facts if kind == "example"]
    return shown[:SHOWN] + [f"{number:,} records could not be read" for kind, _, _, number in facts if kind == "bad"]


def rules_in(text: str) -> SiteRules:
    """Return the rules of a rule file's text. Raises RuleFileError."""
    found, faults = read_rules(text, Path("-"))
    if found is None:
        raise faults[0]
    return found


def book_of(texts: Mapping[str, str], groups: GroupsLike = None) -> RuleBook:
    """Return the rules of the texts of rule files, by site. Raises RuleFileError."""
    files = [rules_in(text) for text in texts.values()]
    return RuleBook((rule for each in files for rule in each.rules), {each.site: each.deep for each in files}, groups)


def _rows(counts: Mapping[tuple[str, str, str], int]) -> Iterator[Row]:
    return ((*key, number) for key, number in counts.items())
