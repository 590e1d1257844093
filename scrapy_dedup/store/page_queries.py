"""Looking up pages: single ones, those to compare with, and what was recorded of a site since it was learned the last time."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Any, NamedTuple

from sqlalchemy import and_, exists, func, or_, select

from ..observation import Observation
from ..pages.versions import Version
from ..urls.templates import template_of
from .conversions import clean_url, learned_mark, observation_of, version_in
from .rows import SightingRow
from .schema import IDS_IN_A_QUERY, meta, observation, page_version, signed_hash
from .store import Store, in_part, with_contents

_NEAR = 5_000
"""Rows, the latest ones, among which some pages of a site are looked for."""
_LIKE = 500
"""Responses that are compared with one."""
_VERSIONS = 50
"""Versions of a page that are read at most, the latest ones."""


def latest_page(store: Store, scope: str, site: str, url: str) -> Observation | None:
    """Return the latest response to *url* with status 200; None if there is none. Raises StoreError."""
    query = _pages().where(_is_of(scope, site, url)).order_by(observation.c.id.desc()).limit(1)
    return next(map(observation_of, store.rows(query)), None)


def versions_of_page(store: Store, scope: str, site: str, url: str) -> list[tuple[float, Version]]:
    """Return (seconds since 1970, version) of a page, the latest 50 first, as far as they are kept. Raises StoreError."""
    o = observation.c
    query = select(o.time, page_version.c.data).join(page_version, page_version.c.id == o.version)
    query = query.where(_is_of(scope, site, url), o.status == 200).order_by(o.id.desc()).limit(_VERSIONS)
    return [(at, version) for at, data in store.rows(query) if (version := version_in(data)) is not None]


def some_pages(store: Store, scope: str, site: str, limit: int) -> list[Observation]:
    """Return late responses of *site* with status 200, of different texts. Raises StoreError."""
    o = observation.c
    query = _pages().where(_is_late(), o.scope == scope, o.site == site, o.sketch.is_not(None))
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
    same = or_(o.bag == bag, o.words == words) if words is not None else o.bag == bag
    query = _pages().where(_is_late(), o.scope == scope, o.site == site, o.time >= since, same)
    return [observation_of(row) for row in store.rows(query.order_by(o.id).limit(_LIKE))]


def urls_of_same_text(store: Store, scope: str, site: str, limit: int) -> Iterator[list[str]]:
    """Yield the URLs of each page of *site* that was fetched under several, of so many pages. Raises StoreError."""
    o = observation.c
    its = o.scope == scope, o.site == site, o.status == 200, o.text.is_not(None)
    several = select(o.text).where(*its).group_by(o.text).having(func.count(o.url_key.distinct()) > 1).limit(limit)
    query = select(o.text, o.url).distinct().where(*its, o.text.in_(several)).order_by(o.text, o.url)
    for _, rows in groupby(store.rows(query), key=lambda row: row.text):
        yield [row.url for row in rows]


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
    found: dict[int, SeenUrl] = {}
    for row in store.rows(query.order_by(o.id.desc()).limit(limit)):
        found.setdefault(row.url_key, SeenUrl._make(row))
    yield from found.values()


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


class Recorded(NamedTuple):
    """What is recorded of a site."""

    responses: int
    #: The id of the last one.
    last: int


def recorded(store: Store, scope: str, sites: Iterable[str]) -> dict[str, Recorded]:
    """Return the number of responses and the last id of each of *sites* that has any. Raises StoreError."""
    o = observation.c
    found: dict[str, Recorded] = {}
    rest = iter(sites)
    while some := list(islice(rest, IDS_IN_A_QUERY)):
        query = select(o.site, func.count(), func.max(o.id)).where(o.scope == scope, o.site.in_(some)).group_by(o.site)
        found.update((site, Recorded(responses, last)) for site, responses, last in store.rows(query))
    return found


def learned_until(store: Store, scope: str, site: str, last: int) -> int:
    """Return the id of the last response that was there when a site was learned, 0 if it never was. Raises StoreError."""
    noted = store.rows(select(meta.c.value).where(meta.c.name == learned_mark(site, scope)))
    learned = max((int(row.value) for row in noted), default=0)
    return learned if learned <= last else 0  # else all was forgotten meanwhile, and ids begin anew


def responses_after(store: Store, scope: str, site: str, learned: int) -> int:
    """Return how many responses of a site were recorded after the one *learned*. Raises StoreError."""
    o = observation.c
    query = select(func.count()).where(o.scope == scope, o.site == site, o.id > learned)
    return sum(number for (number,) in store.rows(query))


def repeats(store: Store, scope: str, site: str, learned: int) -> bool:
    """Return whether a new duplicate was recorded after the observation *learned*: a page of another URL, or a redirect.

    Raises StoreError.
    """
    o, before = observation.c, observation.alias().c
    its = o.scope == scope, o.site == site
    known = exists().where(
        *(before.scope == scope, before.site == site, before.url_key == o.url_key, before.id <= learned),
        or_(before.bag == o.bag, before.redirect == o.redirect),
    )
    of_several = (
        select(o.bag).where(*its, o.bag.is_not(None)).group_by(o.bag).having(func.count(o.url_key.distinct()) > 1)
    )
    repeat = or_(o.redirect.is_not(None), o.bag.in_(of_several))
    return any(True for _ in store.rows(select(o.id).where(*its, o.id > learned, ~known, repeat).limit(1)))


def declares(store: Store, scope: str, site: str) -> bool:
    """Return whether a response of a site, or its robots.txt, has said which parameters do not matter. Raises StoreError."""
    o = observation.c
    query = select(o.headers).where(o.scope == scope, o.site == site, o.headers.is_not(None)).limit(1)
    return any(True for _ in store.rows(query))


def _pages() -> Any:
    """Return a query for pages, as :func:`.observation_of` reads them."""
    return with_contents(versions=True).where(observation.c.status == 200, observation.c.text.is_not(None))


def _is_of(scope: str, site: str, url: str) -> Any:
    """Return the condition that a response is that to a URL."""
    o = observation.c
    url = clean_url(url)
    return and_(o.scope == scope, o.site == site, o.url_key == signed_hash(url), o.url == url)


def _is_late() -> Any:
    """Return the condition that a response is one of the latest of the store."""
    return observation.c.id > select(func.max(observation.c.id)).scalar_subquery() - _NEAR
