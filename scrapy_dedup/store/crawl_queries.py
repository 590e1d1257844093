"""What crawls have saved and spent, as they have noted it when they closed."""

from collections.abc import Sequence

from sqlalchemy import func, select

from .rows import CrawlRow
from .schema import crawl
from .store import Store


def crawl_rows(store: Store, scope: str, sites: Sequence[str] = ()) -> list[CrawlRow]:
    """Return the rows of crawls, the oldest first, of some sites or of all. Raises StoreError."""
    c = crawl.c
    query = select(*(c[name] for name in CrawlRow._fields)).where(c.scope == scope)
    if sites:
        query = query.where(c.site.in_(sites))
    rows = map(CrawlRow._make, store.rows(query.order_by(c.time, c.id)))
    return [row._replace(rules_before=tuple(row.rules_before), rules_after=tuple(row.rules_after)) for row in rows]


def began(store: Store, scope: str, spider: str, job: str, this: float) -> float:
    """Return when a job began whose present run began at *this* (seconds since 1970). Raises StoreError."""
    c = crawl.c
    of_job = select(func.min(c.began)).where(c.scope == scope, c.spider == spider, c.job == job)
    first = next(store.rows(of_job))[0]
    return this if first is None else min(first, this)
