"""Discards that no sample has told anything of: some of these are fetched before the spider runs idle.

That nobody has compared them is no evidence that they are duplicates. A rule may be right of one kind and wrong of
another: of one value and another, of one kind of pages and another. And it may be right of what was discarded first and
wrong of what came later: another section, or a site that has changed meanwhile. Each of them is a request that
Scrapy would have made anyway, as any sample is.
"""

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from ...rules.model import Status
from ...store.store import Store
from ...urls.templates import template_of
from ..decide.discards import differences
from ..support.compatibility import run_in_thread
from ..support.cooperative import in_turns
from .sampling_rates import shape_of

if TYPE_CHECKING:
    from ...store.rows import DiscardRow
    from ..shared import Shared

#: Discards that are looked through: any of them, not the first ones.
MOST: Final = 5_000
#: A kind with fewer of them is left alone: one of so many is fetched at most.
LEAST: Final = 5
#: Of one kind, one after the other is fetched until one is what it was taken for, but no more than these.
TRIES: Final = 3
#: Of all kinds of one rule.
PER_RULE: Final = 12
#: Of one rule's discards, in the order in which they were made, no such part of them, nor so many, are without a sample.
PART: Final = 1 / 8
LONGEST: Final = 10
#: Such stretches of one rule that are looked into.
STRETCHES: Final = 12
#: Discards of one kind, the first of which whose page has come is fetched.
SOME: Final = 20


class Kind(NamedTuple):
    """A kind of discards of one rule: by what it changes there, or, with no key, all of those of one kind of pages."""

    site: str
    rule: str
    #: What the path of the URL is like.
    pages: tuple[object, ...]
    key: str = ""
    #: What the values of the key are like, that of the URL and that of the page it was taken for.
    values: frozenset[str | None] = frozenset()


class Untold:
    """What samples of a crawl have told something of, and what they have not."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        self._told: set[Kind] = set()
        self._tried: Counter[Kind] = Counter()
        self._spent: Counter[str] = Counter()
        #: By rule: when the discards were made of which a sample has told something, the first ones first.
        self._told_at: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        self._stretches: Counter[tuple[str, str]] = Counter()
        #: Whether there may be discards to fetch.
        self.pending = False

    def tell(self, site: str, url: str, page: str, rules: tuple[str, ...], at: float) -> None:
        """Note that *url*, a sample of what *rules* have discarded *at* that time, is its page indeed."""
        if len(self._told) < MOST:
            self._told |= self._kinds(site, url, page, rules)
        self._note(site, rules, at)

    def _note(self, site: str, rules: tuple[str, ...], at: float) -> None:
        for rule in rules:
            insort(self._told_at[site, rule], at)

    def differs(self, site: str, url: str, page: str, rules: tuple[str, ...], at: float) -> None:
        """Note that *url* is not its page: if noise is why, one more sample is likely to tell as little."""
        self._tried.update(self._kinds(site, url, page, rules))
        self._note(site, rules, at)

    async def fetch(self) -> bool:
        """Fetch a discard of each kind that no sample has told anything of; return whether there was any.

        Where there is none, one of each long stretch of a rule's discards. Raises StoreError.
        """
        if not self.pending:
            return False
        self.pending = False
        chosen: set[Kind] = set()
        rows, kinds = await run_in_thread(self._discards)
        async for kind, some in in_turns(kinds.items()):
            if kind in chosen or not self._may_try(kind):
                continue
            row = next(filter(self._shared.monitor.fetch, some), None)
            if row is not None:
                chosen |= self._kinds(row.site, row.url, row.taken_for, (row.rule,))
                self._spent[kind.rule] += 1
        self._tried.update(chosen)
        self.pending = bool(chosen) or await self._look_into_stretches(rows)
        return self.pending

    async def _look_into_stretches(self, rows: "Sequence[DiscardRow]") -> bool:
        of_rule: defaultdict[tuple[str, str], list[DiscardRow]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: row.time):
            of_rule[row.site, row.rule].append(row)
        fetched = False
        for rule, its in of_rule.items():
            async for stretch in in_turns(stretches(its, self._told_at[rule])):
                if not self._acts(*rule) or self._stretches[rule] >= STRETCHES:
                    break
                if any(map(self._shared.monitor.fetch, reversed(stretch[-SOME:]))):
                    self._stretches[rule] += 1
                    fetched = True
        return fetched

    def _may_try(self, kind: Kind) -> bool:
        return self._tried[kind] < TRIES and self._spent[kind.rule] < PER_RULE and self._acts(kind.site, kind.rule)

    def _acts(self, site: str, name: str) -> bool:
        """Whether a rule discards, and samples of it are paid for."""
        rule = self._shared.monitor.rule(site, name)
        return rule is not None and rule.status is Status.ACTIVE and self._shared.extras.extra.covers(site)

    def _kinds(self, site: str, url: str, page: str, rules: tuple[str, ...]) -> set[Kind]:
        """Return the kinds that a discard is one of."""
        pages = template_of(url)[:2]
        changed = differences(self._shared.identities.book, url, page)
        found = {Kind(site, rule, pages) for rule in (*rules, *changed)}
        for rule, keys in changed.items():
            found.update(Kind(site, rule, pages, key, frozenset(map(shape_of, values))) for key, *values in keys)
        return found

    def _discards(self) -> "tuple[list[DiscardRow], dict[Kind, list[DiscardRow]]]":
        """Return discards, and some of each kind that there are enough of, those first of which there are most.

        It waits for the store. Raises StoreError.
        """
        shared = self._shared
        number: Counter[Kind] = Counter()
        found: defaultdict[Kind, list[DiscardRow]] = defaultdict(list)
        if shared.writer is not None:
            shared.writer.flush()
        with Store.open(shared.settings.store, readonly=True) as store:
            since = None if shared.seen.goes_on else shared.began
            rows = store.discards(
                shared.settings.scope, spider=shared.spider.name, job=shared.seen.job, since=since, mixed=True
            )
            some = list(islice((row for row in rows if row.taken_for), MOST))
            for row in some:
                for kind in self._kinds(row.site, row.url, row.taken_for, (row.rule,)) - self._told:
                    number[kind] += 1
                    if len(found[kind]) < SOME:
                        found[kind].append(row)
        return some, {kind: found[kind] for kind, many in number.most_common() if many >= LEAST}


def stretches(rows: "Sequence[DiscardRow]", told_at: Sequence[float]) -> "Iterator[Sequence[DiscardRow]]":
    """Yield the long stretches of a rule's discards, the first ones first, of which none was a sample that told something.

    *told_at* has the times of those that were, the first ones first.
    """
    longest = max(LONGEST, int(PART * len(rows)))
    told = iter(told_at)
    next_told = next(told, inf)
    begin = 0
    for number, row in enumerate(rows):
        while next_told <= row.time:
            begin = number
            next_told = next(told, inf)
        if number - begin + 1 >= longest:
            yield rows[begin : number + 1]
            begin = number + 1
