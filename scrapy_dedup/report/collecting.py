"""The report's data, collected from a store and from rule and mask files; nothing is learned for it."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import Final

from ..files.errors import RuleFileError
from ..learning.lifetime.running_counts import with_checks
from ..learning.phrases import counted
from ..masks.loading import load_masks
from ..masks.model import Mask
from ..rules.book import RuleBook
from ..store.conversions import SiteCount
from ..store.crawl_queries import crawl_rows
from ..store.ledger_queries import LedgerFilter, RuleCount, ledger_by_rule
from ..store.report_queries import latest_urls, ledger_states, table_counts, urls_after_all
from ..store.rows import CrawlRow, DiscardRow, DiscardState
from ..store.store import Store
from .data import CrawlTotal, Health, LedgerShown, Report, ReportSource, Savings, SiteCounts, SitePart
from .filtered_urls import latest_rows
from .gone_rules import fate_of, successors_of
from .masked_pages import masked_pages
from .reasons import notes_of, reasons_of
from .relevance import ParameterJudge
from .rule_cards import card_of, changes_of, in_order, places_of
from .seen_pages import SeenPages, seen_pages
from .url_pairs import pairs_of_rules
from .url_tree import TreeUrl, url_tree

#: Sites that are told of by themselves; responses of a site, and of all of them, that are looked at; filtered URLs of a site.
_SITES: Final = 25
_RESPONSES: Final = 20_000
_ALL_RESPONSES: Final = 60_000
_FILTERED: Final = 10_000
#: Rules, and candidates, of a site that are shown.
_RULES: Final = 100
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
    masks: Mapping[str, Mask] = field(init=False)
    ledger: LedgerShown = field(init=False)
    filtered: dict[str, dict[str, RuleCount]] = field(init=False)
    states: Mapping[tuple[str, DiscardState], int] = field(init=False)
    faults: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        source, store = self.source, self.store
        self.crawls = crawl_rows(store, source.scope, source.sites)
        self.counts = [count for count in store.sites(source.scope) if not source.sites or count.site in source.sites]
        book = RuleBook.load(*source.directories, groups=source.groups)
        self.book = with_checks(book, store.checks(source.scope))
        try:
            self.masks = load_masks(source.directories)
        except (RuleFileError, OSError) as error:
            self.masks = {}
            self.faults.append(f"The masks cannot be read, so that none is shown: {error}")
        asked = LedgerFilter(source.scope, source.sites)
        ledger = latest_rows(store, asked)
        self.ledger = replace(ledger, successors=successors_of(ledger.rows, self.book))
        self.filtered = {}
        for count in ledger_by_rule(store, asked):
            self.filtered.setdefault(count.site, {})[count.rule] = count
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
            crawls=_crawl_totals(self.crawls),
            savings=self._savings(),
            suspended=sum(rule.status.value == "suspended" for site in sites for rule in self.book.for_site(site)),
            sites=tuple(parts),
            more_sites=tuple(sites[_SITES:]),
            ledger=self.ledger,
            health=self._health(),
            faults=tuple(self.faults),
        )

    def _sites_in_order(self) -> list[str]:
        """Return the sites, those first on which most was filtered, then those with most responses."""
        filtered = {site: sum(count.urls for count in rules.values()) for site, rules in self.filtered.items()}
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
        source, store = self.source, self.store
        responses = next((count.urls for count in self.counts if count.site == site), 0)
        pages = seen_pages(site, latest_urls(store, source.scope, site, limit), self.book)
        rows = [row for row in self.ledger.rows if row.site == site]
        crawls = [row for row in self.crawls if row.site == site]
        mask = self.masks.get(site)
        rules = {rule.id: rule for rule in self.book.for_site(site)}
        since = self._since(site, crawls)
        counts = self._counts(site, pages, responses, crawls)
        after_all = urls_after_all(store, source.scope, site)
        gone = self.ledger.successors
        fates = {rule: fate_of((where, rule), gone) for where, rule in gone if where == site}
        changes = changes_of(crawls[-1].rules_before, rules, fates) if crawls else ()
        new = {change.id for change in changes if change.came}
        pairs = pairs_of_rules(store, source.scope, pages, rows, mask)
        places = places_of(source.directories, site)
        filtered = self.filtered.get(site, {})
        cards = [
            card_of(
                rule,
                places.get(rule.id),
                filtered=filtered[rule.id].urls if rule.id in filtered else 0,
                since=since.get(rule.id),
                is_new=rule.id in new,
                pairs=pairs.get(rule.id, ()),
            )
            for rule in rules.values()
        ]
        shown = in_order(card for card in cards if card.status != "candidate")
        candidates = tuple(sorted((card for card in cards if card.status == "candidate"), key=lambda card: card.id))
        judge = ParameterJudge(store, source.scope, pages, self.book)
        return SitePart(
            site=site,
            savings=Savings.of(crawls),
            counts=counts,
            reasons=reasons_of(pages, rules.values(), since, after_all, sorted(row.began for row in crawls)),
            notes=notes_of(counts, sum(rule.status.acts for rule in rules.values()), len(candidates)),
            changes=changes,
            rules=shown[:_RULES],
            candidates=candidates[:_RULES],
            tree=url_tree(_tree_urls(pages, rows), judge),
            differing=tuple(row for row in rows if row.state is DiscardState.DIFFERING)[:_DIFFERING],
            masks=masked_pages(store, source.scope, pages, mask),
            left_out=tuple(_left_out(len(shown), len(candidates))),
        )

    def _since(self, site: str, crawls: list[CrawlRow]) -> dict[str, float]:
        """Return id of a rule -> when it first acted, as far as crawls have noted it or it has filtered something."""
        found = {name: count.first for name, count in self.filtered.get(site, {}).items()}
        for row in reversed(crawls):
            for name in row.rules_after:
                found[name] = min(found.get(name, row.time), row.time)
            for name in row.rules_before:
                found[name] = min(found.get(name, row.began), row.began)
        return found

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

    def _health(self) -> Health:
        totals = _crawl_totals(self.crawls)
        return Health(
            place=self.store.place,
            size=self.store.size(),
            tables=table_counts(self.store),
            first=min((count.first for count in self.counts), default=None),
            last=max((count.last for count in self.counts), default=None),
            learning_seconds=sum(total.learning_seconds for total in totals),
            dropped=sum(total.dropped for total in totals),
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


def _tree_urls(pages: SeenPages, rows: Iterable[DiscardRow]) -> list[TreeUrl]:
    fetched = {url.url for url in pages.urls}
    filtered = dict.fromkeys(row.url for row in islice(rows, _FILTERED) if row.url not in fetched)
    return [*(TreeUrl(url.url, is_filtered=False) for url in pages.urls), *(TreeUrl(url, True) for url in filtered)]


def _left_out(rules: int, candidates: int) -> Iterable[str]:
    for number, noun in ((rules, "rule"), (candidates, "candidate rule")):
        if number > _RULES:
            yield f"{counted(number - _RULES, f'more {noun}')} in the rule file"
