"""Looking up what crawls have noted: which URLs were filtered, when, by which rule and for which page, and what that has saved."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, func, or_, select, true

from .conversions import clean_url
from .rows import CrawlRow, DiscardRow, DiscardState
from .schema import crawl, discard, signed_hash
from .store import Store


class LedgerFilter(NamedTuple):
    """Which rows of the ledger are asked for; None, and no sites, stand for all."""

    scope: str = ""
    sites: Sequence[str] = ()
    spider: str | None = None
    #: Id of the rule that filtered, or its beginning.
    rule: str | None = None
    #: The URL that was filtered.
    url: str | None = None
    #: A part of the URL that was filtered or of the page it was taken for.
    containing: str | None = None
    #: Seconds since 1970.
    since: float | None = None
    until: float | None = None

    def condition(self) -> ColumnElement[bool]:
        """Return the condition of a query."""
        d = discard.c
        url, part = clean_url(self.url or ""), self.containing
        parts = [column.icontains(part, autoescape=True) for column in (d.url, d.taken_for) if part is not None]
        return and_(
            d.scope == self.scope,
            d.site.in_(self.sites) if self.sites else true(),
            true() if self.spider is None else d.spider == self.spider,
            true() if self.rule is None else d.rule.startswith(self.rule, autoescape=True),
            true() if self.url is None else and_(d.url_key == signed_hash(url), d.url == url),
            or_(*parts) if parts else true(),
            true() if self.since is None else d.time >= self.since,
            true() if self.until is None else d.time < self.until,
        )


class RuleCount(NamedTuple):
    """How many URLs a rule has filtered on a site."""

    site: str
    rule: str
    urls: int
    #: Times of the first and of the last one, in seconds since 1970.
    first: float
    last: float


def ledger_rows(store: Store, asked: LedgerFilter, limit: int | None = None) -> Iterator[DiscardRow]:
    """Yield rows of the ledger, the latest ones first. Raises StoreError."""
    query = select(*(discard.c[name] for name in DiscardRow._fields)).where(asked.condition())
    for row in store.rows(query.order_by(discard.c.time.desc(), discard.c.id.desc()).limit(limit)):
        yield DiscardRow._make(row)._replace(state=DiscardState(row.state))


def ledger_count(store: Store, asked: LedgerFilter) -> int:
    """Return the number of rows. Raises StoreError."""
    return sum(number for (number,) in store.rows(select(func.count()).where(asked.condition())))


def ledger_by_rule(store: Store, asked: LedgerFilter) -> list[RuleCount]:
    """Return the rows counted by site and rule, the most frequent ones first. Raises StoreError."""
    d = discard.c
    query = select(d.site, d.rule, func.count(), func.min(d.time), func.max(d.time)).where(asked.condition())
    query = query.group_by(d.site, d.rule).order_by(func.count().desc(), d.site, d.rule)
    return [RuleCount(*row) for row in store.rows(query)]


def ledger_states(store: Store, asked: LedgerFilter) -> dict[tuple[str, DiscardState], int]:
    """Return how many rows of the ledger there are by site and state. Raises StoreError."""
    d = discard.c
    query = select(d.site, d.state, func.count()).where(asked.condition()).group_by(d.site, d.state)
    return {(site, DiscardState(state)): number for site, state, number in store.rows(query)}


def some_discards(store: Store, scope: str, site: str, *, since: float, limit: int) -> list[str]:
    """Return URLs of *site* that were filtered since a time, without passwords. Raises StoreError."""
    query = select(discard.c.url).where(LedgerFilter(scope, [site], since=since).condition())
    return [row.url for row in store.rows(query.order_by(discard.c.url_key).limit(limit))]


def crawl_rows(store: Store, scope: str, sites: Sequence[str] = ()) -> list[CrawlRow]:
    """Return the rows of crawls, the oldest first, of some sites or of all. Raises StoreError."""
    c = crawl.c
    query = select(*(c[name] for name in CrawlRow._fields)).where(c.scope == scope)
    query = query.where(c.site.in_(sites) if sites else true())
    return [CrawlRow._make(row) for row in store.rows(query.order_by(c.time, c.id))]


def began(store: Store, scope: str, spider: str, job: str, this: float) -> float:
    """Return when a job began whose present run began at *this* (seconds since 1970). Raises StoreError."""
    c = crawl.c
    of_job = select(func.min(c.began)).where(c.scope == scope, c.spider == spider, c.job == job)
    earlier: list[float] = [first for (first,) in store.rows(of_job) if first is not None]
    return min(this, *earlier) if earlier else this
