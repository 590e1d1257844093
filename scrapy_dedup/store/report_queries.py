"""What the report reads of the store: the latest response of each URL, and counts."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import func, select

from .rows import DiscardState
from .schema import discard, observation
from .store import Store


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
