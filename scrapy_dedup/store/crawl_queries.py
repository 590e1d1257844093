"""What crawls have noted: what they saved and spent, when their jobs began, and what pages have declared in them."""

from collections.abc import Iterator, Sequence

from sqlalchemy import func, or_, select

from .conditions import in_part
from .rows import CrawlRow, SightingRow
from .schema import crawl, observation
from .store import Store


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
