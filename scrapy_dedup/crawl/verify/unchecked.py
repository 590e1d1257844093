"""Filtered requests of kinds that no spot check has shown anything of: some are checked before the spider runs idle.

That nobody has compared them is no evidence that they are duplicates. A rule may be right of one kind and wrong of
another: of one value and another, of one kind of pages and another. And it may be right of what was filtered first and
wrong of what came later: another section, or a site that has changed meanwhile.
"""

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

import attrs
from scrapy.utils.asyncio import run_in_thread

from ...rules.model import Status
from ...urls.templates import template_of
from ..decide.filtering_rules import deciding_rules, differences
from ..identity.suspended_rules import rule_by_id
from ..support.cooperative import in_turns
from .spot_check_rates import shape_of

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from ...store.rows import DiscardRow
    from ..identity.identities import Identities
    from ..seen.ledger import Ledger
    from ..seen.seen import Seen
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.tally import Tally
    from .choosing import SpotCheck, SpotChecks

#: Filtered requests that are looked through: any of them, not the first ones.
MOST: Final = 5_000
#: A kind with fewer of them is left alone: one of so many is fetched at most.
LEAST: Final = 5
#: Of one kind, one after the other is fetched until one is what it was taken for, but no more than these.
TRIES: Final = 3
#: Of all kinds of one rule.
PER_RULE: Final = 12
#: Of what one rule has filtered, in that order, no such part, nor so many, is without a spot check.
PART: Final = 1 / 8
LONGEST: Final = 10
#: Such stretches of one rule that are looked into.
STRETCHES: Final = 12
#: Filtered requests of one kind, the first of which whose page has come is checked.
SOME: Final = 20


class FilteredKind(NamedTuple):
    """A kind of what one rule has filtered: by what it changes there, or, with no key, all of those of one kind of pages."""

    site: str
    rule: str
    #: What the path of the URL is like.
    pages: tuple[object, ...]
    key: str = ""
    #: What the values of the key are like, that of the URL and that of the page it was taken for.
    values: frozenset[str | None] = frozenset()


@attrs.define(eq=False, repr=False, kw_only=True)
class UncheckedRequests:
    """Kinds of filtered requests that spot checks of a crawl have shown something of, and the others."""

    _status: "CrawlStatus"
    _store: "CrawlStore"
    _identities: "Identities"
    _seen: "Seen"
    _ledger: "Ledger"
    _tally: "Tally"
    _spot_checks: "SpotChecks"
    _confirmed: set[FilteredKind] = attrs.field(factory=set, init=False)
    _tried: Counter[FilteredKind] = attrs.field(factory=Counter, init=False)
    _spent: Counter[str] = attrs.field(factory=Counter, init=False)
    #: By rule: when requests were filtered that were checked, the first ones first.
    _checked_at: defaultdict[tuple[str, str], list[float]] = attrs.field(factory=lambda: defaultdict(list), init=False)
    _stretches: Counter[tuple[str, str]] = attrs.field(factory=Counter, init=False)
    #: How many requests had been filtered when they were last looked through, and whether that has led to checks.
    _looked_through: int = attrs.field(default=0, init=False)
    _has_fetched: bool = attrs.field(default=False, init=False)

    @property
    def pending(self) -> bool:
        """Whether there may be requests to check."""
        return self._spot_checks.are_made and (self._has_fetched or self._ledger.discards > self._looked_through)

    def note_confirmed(self, check: "SpotCheck") -> None:
        """Note that a spot check is its page indeed."""
        if len(self._confirmed) < MOST:
            self._confirmed |= self._kinds(check.site, check.url, check.page, check.rules)
        self._note(check)

    def note_differing(self, check: "SpotCheck") -> None:
        """Note that a spot check is not its page: if noise is why, one more is likely to show as little."""
        self._tried.update(self._kinds(check.site, check.url, check.page, check.rules))
        self._note(check)

    def _note(self, check: "SpotCheck") -> None:
        for rule in check.rules:
            insort(self._checked_at[check.site, rule], check.at)

    async def fetch(self) -> bool:
        """Check a request of each kind that no spot check has shown anything of; return whether there was any.

        Where there is none, one of each long stretch of what a rule has filtered. Raises StoreError.
        """
        if not self.pending:
            return False
        self._looked_through = self._ledger.discards
        chosen: set[FilteredKind] = set()
        rows, kinds = await run_in_thread(self._filtered)
        async for kind, some in in_turns(kinds.items()):
            if kind in chosen or not self._may_try(kind):
                continue
            row = next(filter(self._spot_checks.fetch, some), None)
            if row is not None:
                chosen |= self._kinds(row.site, row.url, row.taken_for, (row.rule,))
                self._spent[kind.rule] += 1
        self._tried.update(chosen)
        self._has_fetched = bool(chosen) or await self._look_into_stretches(rows)
        return self.pending

    async def _look_into_stretches(self, rows: "Sequence[DiscardRow]") -> bool:
        of_rule: defaultdict[tuple[str, str], list[DiscardRow]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: row.time):
            of_rule[row.site, row.rule].append(row)
        fetched = False
        for rule, its in of_rule.items():
            async for stretch in in_turns(stretches(its, self._checked_at[rule])):
                if not self._acts(*rule) or self._stretches[rule] >= STRETCHES:
                    break
                if any(map(self._spot_checks.fetch, reversed(stretch[-SOME:]))):
                    self._stretches[rule] += 1
                    fetched = True
        return fetched

    def _may_try(self, kind: FilteredKind) -> bool:
        return self._tried[kind] < TRIES and self._spent[kind.rule] < PER_RULE and self._acts(kind.site, kind.rule)

    def _acts(self, site: str, name: str) -> bool:
        """Whether a rule filters, and spot checks of it are paid for."""
        rule = rule_by_id(self._identities.book, site, name)
        return rule is not None and rule.status is Status.ACTIVE and self._tally.covers(site)

    def _kinds(self, site: str, url: str, page: str, rules: tuple[str, ...]) -> set[FilteredKind]:
        """Return the kinds that a filtered request is one of."""
        pages = template_of(url)[:2]
        changed = differences(self._identities.book, url, page)
        found = {FilteredKind(site, rule, pages) for rule in (*rules, *changed)}
        for rule, keys in changed.items():
            found.update(
                FilteredKind(site, rule, pages, key, frozenset(map(shape_of, values))) for key, *values in keys
            )
        return found

    def filtered_by_one(self, site: str, wanted: "AbstractSet[str]") -> "dict[str, DiscardRow]":
        """Return a filtered request of each of the *wanted* rules that no other rule was needed for, where there is one.

        It waits for the store. Raises StoreError.
        """
        found: dict[str, DiscardRow] = {}
        book = self._identities.book
        with self._store.read() as store:
            rows = store.discards(self._store.scope, spider=self._status.spider.name, job=self._seen.job)
            for row in islice(rows, MOST):
                if len(found) == len(wanted):
                    break
                if row.site != site:
                    continue
                rules = deciding_rules(book, row.url, row.taken_for)
                if len(rules) == 1 and rules[0] in wanted and rules[0] not in found:
                    found[rules[0]] = row
        return found

    def _filtered(self) -> "tuple[list[DiscardRow], dict[FilteredKind, list[DiscardRow]]]":
        """Return filtered requests, and some of each kind that there are enough of, those first of which there are most.

        It waits for the store. Raises StoreError.
        """
        number: Counter[FilteredKind] = Counter()
        found: defaultdict[FilteredKind, list[DiscardRow]] = defaultdict(list)
        with self._store.read() as store:
            since = None if self._seen.goes_on else self._status.began
            spider = self._status.spider.name
            rows = store.discards(self._store.scope, spider=spider, job=self._seen.job, since=since, mixed=True)
            some = list(islice((row for row in rows if row.taken_for), MOST))
            for row in some:
                for kind in self._kinds(row.site, row.url, row.taken_for, (row.rule,)) - self._confirmed:
                    number[kind] += 1
                    if len(found[kind]) < SOME:
                        found[kind].append(row)
        return some, {kind: found[kind] for kind, many in number.most_common() if many >= LEAST}


def stretches(rows: "Sequence[DiscardRow]", checked_at: Sequence[float]) -> "Iterator[Sequence[DiscardRow]]":
    """Yield the long stretches of what a rule has filtered, the first ones first, of which nothing was checked.

    *checked_at* has the times at which what was checked had been filtered, the first ones first.
    """
    longest = max(LONGEST, int(PART * len(rows)))
    checked = iter(checked_at)
    next_checked = next(checked, inf)
    begin = 0
    for number, row in enumerate(rows):
        while next_checked <= row.time:
            begin = number
            next_checked = next(checked, inf)
        if number - begin + 1 >= longest:
            yield rows[begin : number + 1]
            begin = number + 1
