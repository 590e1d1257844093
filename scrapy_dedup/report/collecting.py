"""The report's data, collected from a store and from rule files; nothing is learned for it."""

import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import Final

from ..learning.lifetime.running_counts import with_checks
from ..learning.phrases import counted
from ..rules.book import RuleBook
from ..store.conversions import SiteCount
from ..store.ledger_queries import LedgerFilter, ledger_by_rule
from ..store.queries import crawl_rows, latest_urls, ledger_states
from ..store.rows import CrawlRow, DiscardRow, DiscardState
from ..store.store import Store
from .data import CrawlTotal, LedgerShown, Report, ReportSource, Savings, SiteCounts, SitePart
from .filtered_urls import latest_rows, successors_of
from .rule_cards import card_of, in_order, places_of
from .seen_pages import SeenPages, seen_pages
from .url_pairs import pairs_of_rules
from .url_templates import SiteUrl, url_templates

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


def report_of(source: ReportSource, *, now: float | None = None) -> Report:
    """Return the report on what a store holds. Raises StoreError and RuleFileError."""
    with Store.open(source.store, readonly=True) as store:
        return _Collection(source, store).report(time.time() if now is None else now)


@dataclass(slots=True)
class _Collection:
    """What is read once, for all sites."""

    source: ReportSource
    store: Store
    crawls: list[CrawlRow] = field(init=False)
    counts: list[SiteCount] = field(init=False)
    book: RuleBook = field(init=False)
    ledger: LedgerShown = field(init=False)
    #: Site -> id of a rule -> URLs that it has filtered.
    filtered: defaultdict[str, dict[str, int]] = field(init=False)
    states: dict[tuple[str, DiscardState], int] = field(init=False)

    def __post_init__(self) -> None:
        source, store = self.source, self.store
        self.crawls = crawl_rows(store, source.scope, source.sites)
        self.counts = [count for count in store.sites(source.scope) if not source.sites or count.site in source.sites]
        book = RuleBook.load(*source.directories, groups=source.groups)
        self.book = with_checks(book, store.checks(source.scope))
        asked = LedgerFilter(source.scope, source.sites)
        ledger = latest_rows(store, asked)
        self.ledger = replace(ledger, successors=successors_of(ledger.rows, self.book))
        self.filtered = defaultdict(dict)
        for count in ledger_by_rule(store, asked):
            self.filtered[count.site][count.rule] = count.urls
        self.states = ledger_states(store, source.scope, source.sites)

    def report(self, now: float) -> Report:
        """Return the whole report."""
        sites = self._sites_in_order()
        shown = sites[:_SITES]
        left = _ALL_RESPONSES
        parts: list[SitePart] = []
        for site in shown:
            limit = max(500, min(_RESPONSES, left // max(1, len(shown) - len(parts)) * 2))
            part = self._site(site, limit)
            left -= part.counts.urls
            parts.append(part)
        return Report(
            made=now,
            version=_version(),
            scope=self.source.scope,
            place=self.store.place,
            crawls=_crawl_totals(self.crawls),
            savings=self._savings(),
            suspended=sum(rule.status.value == "suspended" for site in sites for rule in self.book.for_site(site)),
            sites=tuple(parts),
            more_sites=tuple(sites[_SITES:]),
            ledger=self.ledger,
        )

    def _sites_in_order(self) -> list[str]:
        """Return the sites, those first on which most was filtered, then those with most responses."""
        filtered = {site: sum(rules.values()) for site, rules in self.filtered.items()}
        responses = {count.site: count.responses for count in self.counts}
        wanted = set(self.source.sites)
        ruled = [site for site in self.book.sites if not wanted or site in wanted]
        return sorted(
            {*filtered, *responses, *ruled}, key=lambda site: (-filtered.get(site, 0), -responses.get(site, 0), site)
        )

    def _savings(self) -> Savings:
        """Return what was saved in all crawls; where none has noted it, what the ledger and the responses tell."""
        if self.crawls:
            return Savings.of(self.crawls)
        avoided = sum(number for (_, state), number in self.states.items() if state in _NOT_FETCHED)
        return Savings(pages=sum(count.responses for count in self.counts), filtered=self.ledger.total, avoided=avoided)

    def _site(self, site: str, limit: int) -> SitePart:
        responses = next((count.urls for count in self.counts if count.site == site), 0)
        pages = seen_pages(site, latest_urls(self.store, self.source.scope, site, limit), self.book)
        rows = [row for row in self.ledger.rows if row.site == site]
        crawls = [row for row in self.crawls if row.site == site]
        pairs = pairs_of_rules(pages, rows)
        places = places_of(self.source.directories, site)
        filtered = self.filtered[site]
        cards = in_order(
            card_of(rule, places.get(rule.id), filtered=filtered.get(rule.id, 0), pairs=pairs.get(rule.id, ()))
            for rule in self.book.for_site(site)
        )
        templates = url_templates(_urls(pages, rows), self.book)
        left_out = ((len(cards) - _RULES, "more rule"), (len(templates) - _TEMPLATES, "more URL template"))
        return SitePart(
            site=site,
            savings=Savings.of(crawls),
            counts=self._counts(site, pages, responses, crawls),
            rules=tuple(cards[:_RULES]),
            templates=tuple(templates[:_TEMPLATES]),
            differing=tuple(row for row in rows if row.state is DiscardState.DIFFERING)[:_DIFFERING],
            left_out=tuple(counted(number, noun) for number, noun in left_out if number > 0),
        )

    def _counts(self, site: str, pages: SeenPages, stored: int, crawls: list[CrawlRow]) -> SiteCounts:
        number = len(pages.pages)
        checks = sum(row.confirmed + row.differing + row.undecided for row in crawls)
        return SiteCounts(
            urls=len(pages.urls),
            stored=stored,
            new=len(pages.groups),
            duplicates=number - len(pages.groups),
            filtered=sum(self.states.get((site, state), 0) for state in _NOT_FETCHED),
            checks=checks or sum(self.states.get((site, state), 0) for state in _CHECKED),
            others=len(pages.urls) - number,
        )


def _version() -> str:
    """Return the version of the plug-in; "" where it is not installed."""
    try:
        return version("scrapy-dedup")
    except PackageNotFoundError:
        return ""


def _crawl_totals(rows: Iterable[CrawlRow]) -> tuple[CrawlTotal, ...]:
    """Return the crawls, the oldest first, from their rows for single sites."""
    by_crawl: defaultdict[tuple[str, str, float], list[CrawlRow]] = defaultdict(list)
    for row in rows:
        by_crawl[row.spider, row.job, row.began].append(row)
    return tuple(
        CrawlTotal(
            spider,
            job,
            began,
            max(row.time for row in some),
            some[0].reason,
            tuple(row.site for row in some),
            Savings.of(some),
            some[0].learning_seconds,
            some[0].dropped,
        )
        for (spider, job, began), some in sorted(by_crawl.items(), key=lambda each: max(row.time for row in each[1]))
    )


def _urls(pages: SeenPages, rows: Iterable[DiscardRow]) -> list[SiteUrl]:
    fetched = {url.url for url in pages.urls}
    filtered = dict.fromkeys(row.url for row in islice(rows, _FILTERED) if row.url not in fetched)
    return [*(SiteUrl(url.url, is_filtered=False) for url in pages.urls), *(SiteUrl(url, True) for url in filtered)]
