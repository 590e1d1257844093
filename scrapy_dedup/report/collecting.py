"""The report's data: dictionaries, which the page and the lines of JSON are made of; nothing is learned for it."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from ..learning.lifetime.running_counts import with_checks
from ..learning.phrases import counted, moment
from ..rules.book import RuleBook
from ..store.ledger_queries import LedgerFilter, crawl_rows, ledger_by_rule, ledger_count, ledger_states
from ..store.page_queries import latest_urls
from ..store.rows import CrawlRow, DiscardState
from ..store.store import Store
from .filtered_urls import fate_of, latest_rows, record_of, rules_of, successors_of
from .rule_cards import cards_of
from .seen_pages import SeenPages, pairs_of_rules, seen_pages
from .url_templates import url_templates

#: Sites that are told of by themselves; responses of a site, and of all of them, that are looked at; filtered URLs of a site.
_SITES: Final = 25
_RESPONSES: Final = 20_000
_ALL_RESPONSES: Final = 60_000
_FILTERED: Final = 10_000
#: Rules, and URL templates, of a site that are shown.
_RULES: Final = 200
_TEMPLATES: Final = 50
#: Spot checks of a site that were other pages.
_DIFFERING: Final = 20
_CHECKED: Final = (DiscardState.SAMPLED, DiscardState.DIFFERING)
_NOT_FETCHED: Final = (DiscardState.PENDING, DiscardState.OWED, DiscardState.LOST)
#: What was saved and spent: columns of the rows of crawls that are summed.
_SAVINGS: Final = (
    "pages",
    "filtered",
    "scheduled",
    "avoided",
    "avoided_bytes",
    "avoided_seconds",
    "confirmed",
    "differing",
    "undecided",
    "extra",
)


@dataclass(frozen=True, slots=True)
class ReportSource:
    """What a report is made from: a store, and the directories of rules and masks, the user's own first."""

    store: str
    scope: str = ""
    directories: tuple[Path, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: The sites that are reported on; all if there are none.
    sites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report; the keys are those that JSON has."""

    #: What it is of, and what was saved in all.
    head: dict[str, Any]
    #: The oldest first.
    crawls: list[dict[str, Any]]
    #: Those that are told of by themselves, with their rules.
    sites: list[dict[str, Any]]
    #: The latest rows of the ledger.
    filtered: list[dict[str, Any]]


def report_of(source: ReportSource) -> Report:
    """Return the report on what a store holds. Raises StoreError and RuleFileError."""
    with Store.open(source.store, readonly=True) as store:
        return _Collection(source, store).report()


class _Collection:
    """What is read once, for all sites."""

    def __init__(self, source: ReportSource, store: Store) -> None:
        self.source, self.store = source, store
        self.crawls = crawl_rows(store, source.scope, source.sites)
        self.counts = [count for count in store.sites(source.scope) if not source.sites or count.site in source.sites]
        book = RuleBook.load(*source.directories, groups=source.groups)
        self.book = with_checks(book, store.checks(source.scope))
        self.asked = LedgerFilter(source.scope, source.sites)
        self.rows = latest_rows(store, self.asked)
        #: Site -> id of a rule -> URLs that it has filtered.
        self.filtered: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for count in ledger_by_rule(store, self.asked):
            self.filtered[count.site][count.rule] = count.urls
        self.states = ledger_states(store, self.asked)

    def report(self) -> Report:
        """Return the whole report."""
        sites = self._sites_in_order()
        shown = sites[:_SITES]
        left = _ALL_RESPONSES
        parts: list[dict[str, Any]] = []
        for site in shown:
            limit = max(500, min(_RESPONSES, left // max(1, len(shown) - len(parts)) * 2))
            part = self._site(site, limit)
            left -= part["counts"]["urls"]
            parts.append(part)
        successors = successors_of(self.rows, self.book)
        rows = [{**record_of(row), "rule_now": fate_of((row.site, row.rule), successors)} for row in self.rows]
        return Report(self._head(sites), _crawls(self.crawls), parts, rows)

    def _head(self, sites: list[str]) -> dict[str, Any]:
        total = ledger_count(self.store, self.asked)
        savings = _savings(self.crawls)
        if not self.crawls:  # none has noted it: what the ledger and the responses tell
            savings["pages"] = sum(count.responses for count in self.counts)
            savings["filtered"] = total
            savings["avoided"] = sum(number for (_, state), number in self.states.items() if state in _NOT_FETCHED)
        requests = savings["pages"] + savings["avoided"]
        return {
            "made": moment(time.time()),
            "version": _version(),
            "scope": self.source.scope,
            "place": self.store.place,
            **savings,
            "requests": requests,
            "share": round(savings["avoided"] / requests, 4) if requests else 0.0,
            "suspended": sum(rule.status.value == "suspended" for site in sites for rule in self.book.for_site(site)),
            "more_sites": sites[_SITES:],
            "ledger_rows": total,
        }

    def _sites_in_order(self) -> list[str]:
        """Return the sites, those first on which most was filtered, then those with most responses."""
        filtered = {site: sum(rules.values()) for site, rules in self.filtered.items()}
        responses = {count.site: count.responses for count in self.counts}
        wanted = set(self.source.sites)
        ruled = [site for site in self.book.sites if not wanted or site in wanted]
        return sorted(
            {*filtered, *responses, *ruled}, key=lambda site: (-filtered.get(site, 0), -responses.get(site, 0), site)
        )

    def _site(self, site: str, limit: int) -> dict[str, Any]:
        pages = seen_pages(latest_urls(self.store, self.source.scope, site, limit), self.book)
        rows = [row for row in self.rows if row.site == site]
        crawls = [row for row in self.crawls if row.site == site]
        rules = self.book.for_site(site)
        cards = cards_of(rules, self.source.directories, self.filtered[site], pairs_of_rules(pages, rows))
        urls = {url.url: False for url in pages.urls}
        for row in rows[:_FILTERED]:
            urls.setdefault(row.url, True)
        templates = url_templates(urls, self.book)
        left_out = ((len(cards) - _RULES, "more rule"), (len(templates) - _TEMPLATES, "more URL template"))
        differing = [row for row in rows if row.state is DiscardState.DIFFERING]
        return {
            "site": site,
            "savings": _savings(crawls),
            "counts": self._counts(site, pages, crawls),
            "rules": cards[:_RULES],
            "templates": templates[:_TEMPLATES],
            "differing": [{**record_of(row), "rules": rules_of(row)} for row in differing[:_DIFFERING]],
            "left_out": [counted(number, noun) for number, noun in left_out if number > 0],
        }

    def _counts(self, site: str, pages: SeenPages, crawls: list[CrawlRow]) -> dict[str, int]:
        """Return what is stored of the URLs of a site: of each the latest response."""
        checks = sum(row.confirmed + row.differing + row.undecided for row in crawls)
        return {
            # Those that are looked at, of so many that are stored.
            "urls": len(pages.urls),
            "stored": next((count.urls for count in self.counts if count.site == site), 0),
            # Those whose page no other URL had shown before, and the others.
            "new": pages.distinct,
            "duplicates": len(pages.pages) - pages.distinct,
            "filtered": sum(self.states.get((site, state), 0) for state in _NOT_FETCHED),
            "checks": checks or sum(self.states.get((site, state), 0) for state in _CHECKED),
            "others": len(pages.urls) - len(pages.pages),
        }


def _savings(rows: Iterable[CrawlRow]) -> dict[str, float]:
    """Return the sums of what some crawls have saved and spent on some sites."""
    some = list(rows)
    return {name: sum(getattr(row, name) for row in some) for name in _SAVINGS}


def _version() -> str:
    """Return the version of the plug-in; "" where it is not installed."""
    try:
        return version("scrapy-dedup")
    except PackageNotFoundError:
        return ""


def _crawls(rows: Iterable[CrawlRow]) -> list[dict[str, Any]]:
    """Return the crawls, the oldest first, from their rows for single sites."""
    by_crawl: defaultdict[tuple[str, str, float], list[CrawlRow]] = defaultdict(list)
    for row in rows:
        by_crawl[row.spider, row.job, row.began].append(row)
    return [
        {
            "spider": spider,
            "job": job,
            "began": moment(began),
            "ended": moment(max(row.time for row in some)),
            "reason": some[0].reason,
            "sites": [row.site for row in some],
            **_savings(some),
            "learning_seconds": some[0].learning_seconds,
            "dropped": some[0].dropped,
        }
        for (spider, job, began), some in sorted(by_crawl.items(), key=lambda each: max(row.time for row in each[1]))
    ]
