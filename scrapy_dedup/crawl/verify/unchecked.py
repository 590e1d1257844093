"""Filtered requests of kinds that no spot check has shown anything of: some are checked before the spider runs idle.

That nobody has compared them is no evidence that they are duplicates. A rule may be right of one kind and wrong of
another: of one value and another, of one kind of pages and another.
"""

from collections import Counter, defaultdict
from itertools import islice
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

    def note_differing(self, check: "SpotCheck") -> None:
        """Note that a spot check is not its page: if noise is why, one more is likely to show as little."""
        self._tried.update(self._kinds(check.site, check.url, check.page, check.rules))

    async def fetch(self) -> bool:
        """Check a request of each kind that no spot check has shown anything of; return whether there was any. Raises StoreError."""
        if not self.pending:
            return False
        self._looked_through = self._ledger.discards
        chosen: set[FilteredKind] = set()
        async for kind, some in in_turns((await run_in_thread(self._filtered)).items()):
            if kind in chosen or not self._may_try(kind):
                continue
            row = next(filter(self._spot_checks.fetch, some), None)
            if row is not None:
                chosen |= self._kinds(row.site, row.url, row.taken_for, (row.rule,))
                self._spent[kind.rule] += 1
        self._tried.update(chosen)
        self._has_fetched = bool(chosen)
        return self.pending

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

    def _filtered(self) -> "dict[FilteredKind, list[DiscardRow]]":
        """Return some filtered requests of each kind that there are enough of, those first of which there are most.

        It waits for the store. Raises StoreError.
        """
        number: Counter[FilteredKind] = Counter()
        found: defaultdict[FilteredKind, list[DiscardRow]] = defaultdict(list)
        with self._store.read() as store:
            since = None if self._seen.goes_on else self._status.began
            spider = self._status.spider.name
            rows = store.discards(self._store.scope, spider=spider, job=self._seen.job, since=since, mixed=True)
            for row in islice((row for row in rows if row.taken_for), MOST):
                for kind in self._kinds(row.site, row.url, row.taken_for, (row.rule,)) - self._confirmed:
                    number[kind] += 1
                    if len(found[kind]) < SOME:
                        found[kind].append(row)
        return {kind: found[kind] for kind, many in number.most_common() if many >= LEAST}
