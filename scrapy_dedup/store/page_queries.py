"""Looking up single pages: the page that a filtered URL was taken for, and pages to compare with."""

from collections.abc import Iterator
from itertools import groupby, islice
from typing import Any

from sqlalchemy import func, or_, select

from ..content.versions import Version
from ..observation import Observation
from ..urls.templates import template_of
from .conversions import OBSERVED, clean_url, observation_of, version_in
from .schema import discard, observation, page_sketch, page_version, signed_hash
from .store import Store

_NEAR = 5_000
"""Rows, the latest ones, among which some pages of a site are looked for."""
_LIKE = 500
"""Responses that are compared with one."""
_VERSIONS = 50
"""Versions of a page that are read at most, the latest ones."""


def latest_page(store: Store, scope: str, site: str, url: str) -> Observation | None:
    """Return the latest response to *url* with status 200; None if there is none. Raises StoreError."""
    url = clean_url(url)
    o = observation.c
    query = _pages().where(o.scope == scope, o.site == site, o.url_key == signed_hash(url), o.url == url)
    for row in store.rows(query.order_by(o.id.desc()).limit(1)):
        return observation_of(row)
    return None


def versions_of_page(store: Store, scope: str, site: str, url: str) -> list[tuple[float, Version]]:
    """Return (seconds since 1970, version) of a page, the latest 50 first, as far as they are kept. Raises StoreError."""
    url = clean_url(url)
    o = observation.c
    query = select(o.time, page_version.c.data).join(page_version, page_version.c.id == o.version)
    query = query.where(o.scope == scope, o.site == site, o.url_key == signed_hash(url), o.url == url, o.status == 200)
    rows = [(at, version_in(data)) for at, data in store.rows(query.order_by(o.id.desc()).limit(_VERSIONS))]
    return [(at, version) for at, version in rows if version is not None]


def some_pages(store: Store, scope: str, site: str, limit: int) -> list[Observation]:
    """Return late responses of *site* with status 200, of different texts. Raises StoreError."""
    o = observation.c
    newest = select(func.max(observation.c.id)).scalar_subquery()
    query = _pages().where(o.id > newest - _NEAR, o.scope == scope, o.site == site, o.sketch.is_not(None))
    found: dict[str, Observation] = {}
    for row in store.rows(query.order_by(o.id.desc()).limit(20 * limit)):
        found.setdefault(row.text, observation_of(row))
        if len(found) >= limit:
            break
    return list(found.values())


def pages_of_kind(store: Store, scope: str, site: str, url: str, limit: int) -> list[Observation]:
    """Return late responses of *site* with status 200 to URLs of the template of *url*. Raises StoreError."""
    o = observation.c
    late = (
        select(o.id, o.scope, o.site, o.status, o.url).order_by(o.id.desc()).limit(_NEAR).subquery().c
    )  # of a site there may be many
    query = select(late.id, late.url).where(late.scope == scope, late.site == site, late.status == 200)
    kind = template_of(clean_url(url))
    of_kind = (row.id for row in store.rows(query.order_by(late.id.desc())) if template_of(row.url) == kind)
    ids = list(islice(of_kind, limit))
    return [observation_of(row) for row in store.rows(_pages().where(o.id.in_(ids)).order_by(o.id))]


def pages_like(store: Store, scope: str, site: str, bag: str, words: int | None, *, since: float) -> list[Observation]:
    """Return late responses of *site* with this content, or so many words, the oldest first. Raises StoreError."""
    o = observation.c
    newest = select(func.max(observation.c.id)).scalar_subquery()
    same = or_(o.bag == bag, o.words == words) if words is not None else o.bag == bag
    query = _pages().where(o.id > newest - _NEAR, o.scope == scope, o.site == site, o.time >= since, same)
    return [observation_of(row) for row in store.rows(query.order_by(o.id).limit(_LIKE))]


def urls_of_same_text(store: Store, scope: str, site: str, limit: int) -> Iterator[list[str]]:
    """Yield the URLs of each page of *site* that was fetched under several, of so many pages. Raises StoreError."""
    o = observation.c
    its = o.scope == scope, o.site == site, o.status == 200, o.text.is_not(None)
    several = select(o.text).where(*its).group_by(o.text).having(func.count(o.url_key.distinct()) > 1).limit(limit)
    query = select(o.text, o.url).distinct().where(*its, o.text.in_(several)).order_by(o.text, o.url)
    for _, rows in groupby(store.rows(query), key=lambda row: row.text):
        yield [row.url for row in rows]


def some_discards(store: Store, scope: str, site: str, *, since: float, limit: int) -> list[str]:
    """Return URLs of *site* that were filtered since a time, without passwords. Raises StoreError."""
    d = discard.c
    query = select(d.url).where(d.scope == scope, d.site == site, d.time >= since)
    return [row.url for row in store.rows(query.order_by(d.url_key).limit(limit))]


def cut_off_pages(store: Store, scope: str, site: str) -> set[tuple[str, float]]:
    """Return URL and time of the responses of *site* that were cut off. Raises StoreError.

    They ended with the connection, and without the closing tags that other pages of their URL template have.
    """
    o = observation.c
    its = o.scope == scope, o.site == site
    doubtful = [(row.url, row.time) for row in store.rows(select(o.url, o.time).where(*its, o.ends.is_(False)))]
    if not doubtful:
        return set()
    whole = {template_of(row.url) for row in store.rows(select(o.url).where(*its, o.ends.is_(True)))}
    return {(url, at) for url, at in doubtful if template_of(url) in whole}


def spiders_before(store: Store, scope: str, site: str, spider: str, before: float) -> list[str]:
    """Return the names of the spiders that have seen pages of *site* before a time; none if *spider* is among them.

    Raises StoreError.
    """
    o = observation.c
    its = o.scope == scope, o.site == site, o.time < before
    if any(True for _ in store.rows(select(o.id).where(*its, o.spider == spider).limit(1))):
        return []
    return sorted(row.spider for row in store.rows(select(o.spider).distinct().where(*its, o.spider != "")))


def fetched_twice(
    store: Store, scope: str, site: str, limit: int, *, since: float
) -> Iterator[tuple[Observation, Observation]]:
    """Yield the last two responses with status 200 of URLs of *site*, the later one last.

    URLs come first that were fetched twice *since* a time. Raises StoreError.
    """
    o = observation.c
    late = func.count().filter(o.time >= since) > 1
    twice = (
        select(o.url_key)
        .where(o.scope == scope, o.site == site, o.status == 200, o.text.is_not(None))
        .group_by(o.url_key)
        .having(func.count() > 1)
        .order_by(late.desc())
        .limit(limit)
    )
    query = _pages().where(o.scope == scope, o.site == site, o.url_key.in_(twice)).order_by(o.url_key, o.id.desc())
    for _, rows in groupby(store.rows(query), key=lambda row: row.url):
        versions = [observation_of(row) for row, _ in zip(rows, range(2), strict=False)]
        if len(versions) == 2:
            yield versions[1], versions[0]


def fetched_within(store: Store, scope: str, site: str, seconds: float, *, before: float) -> Iterator[str]:
    """Yield the URLs of *site* of which two versions are kept that came within *seconds*, *before* a time. Raises StoreError."""
    o = observation.c
    last = func.lag(o.time).over(partition_by=o.url_key, order_by=(o.time, o.id))
    its = o.scope == scope, o.site == site, o.version.is_not(None), o.time < before
    kept = select(o.url, (o.time - last).label("after")).where(*its).subquery()
    for row in store.rows(select(kept.c.url).where(kept.c.after <= seconds).distinct()):
        yield row.url


def _pages() -> Any:
    """Return a query for pages, as :func:`.observation_of` reads them."""
    o = observation
    return (
        select(*(o.c[name] for name in OBSERVED), page_sketch.c.data, page_version.c.data.label("version"))
        .select_from(
            o.outerjoin(page_sketch, page_sketch.c.id == o.c.sketch).outerjoin(
                page_version, page_version.c.id == o.c.version
            )
        )
        .where(o.c.status == 200, o.c.text.is_not(None))
    )
