"""What is read of the store beside its observations: what crawls have noted, the latest response of each URL, and counts."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import func, or_, select

from .rows import CrawlRow, DiscardState, SightingRow
from .schema import crawl, discard, observation
from .store import Store, in_part


class SeenUrl(NamedTuple):
    """The latest response of a URL."""

    url: str
    url_key: int
    #: Seconds since 1970.
    time: float
    status: int
    redirect: str | None
    #: Fingerprint of the words of the page in any order, and their number.
    bag: str | None
    words: int | None


def crawl_rows(store: Store, scope: str, sites: Sequence[str] = ()) -> list[CrawlRow]:
    """Return the rows of crawls, the oldest first, of some sites or of all. Raises StoreError."""
    c = crawl.c
    query = select(*(c[name] for name in CrawlRow._fields)).where(c.scope == scope)
    if sites:
        query = query.where(c.site.in_(sites))
    return [CrawlRow._make(row) for row in store.rows(query.order_by(c.time, c.id))]


def began(store: Store, scope: str, spider: str, job: str, this: float) -> float:
    """Return when a job began whose present run began at *this* (seconds since 1970). Raises StoreError."""
    c = crawl.c
    of_job = select(func.min(c.began)).where(c.scope == scope, c.spider == spider, c.job == job)
    first = next(store.rows(of_job))[0]
    return this if first is None else min(first, this)


def declared(store: Store, scope: str, site: str, *, since: float | None = None) -> Iterator[SightingRow]:
    """Yield what responses of *site* declare as further URLs of a page (canonical, redirect), as sightings. Raises StoreError."""
    o = observation.c
    query = select(o.url, o.status, o.redirect, o.canonical, o.time)
    says = or_(o.redirect.is_not(None), o.canonical != o.url)
    for url, status, redirect, canonical, at in store.rows(query.where(in_part(scope, site, since), says)):
        if redirect is not None and status != 200:
            yield SightingRow(scope, site, redirect, url, "redirect", at)
        elif status == 200 and canonical is not None and canonical != url:
            yield SightingRow(scope, site, url, canonical, "canonical", at)


def latest_urls(store: Store, scope: str, site: str, limit: int) -> Iterator[SeenUrl]:
    """Yield the latest response of each URL of a site among the last *limit* responses, the latest first. Raises StoreError."""
    o = observation.c
    query = select(*(o[name] for name in SeenUrl._fields)).where(o.scope == scope, o.site == site)
    met: set[int] = set()
    for row in store.rows(query.order_by(o.id.desc()).limit(limit)):
        if row.url_key not in met:
            met.add(row.url_key)
            yield SeenUrl._make(row)


def ledger_states(store: Store, scope: str, sites: Sequence[str] = ()) -> dict[tuple[str, DiscardState], int]:
    """Return how many rows of the ledger there are by site and state. Raises StoreError."""
    d = discard.c
    query = select(d.site, d.state, func.count()).where(d.scope == scope).group_by(d.site, d.state)
    if sites:
        query = query.where(d.site.in_(sites))
    return {(site, DiscardState(state)): number for site, state, number in store.rows(query)}
