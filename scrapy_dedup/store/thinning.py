"""Thinning: where a site has as many versions as it may have, some of each page go, so that there is room for later ones."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from sqlalchemy import Connection, delete, func, select, update

from ..content.retention import MOST_OF_KIND, MOST_VERSIONS, Fetch, retained
from ..urls.templates import template_of
from .schema import IDS_IN_A_QUERY, observation, page_version

#: Versions that pages keep, MOST_OF_KIND of each URL template apart, as long as too many are left in all.
_STEPS: Final = (MOST_VERSIONS, MOST_VERSIONS // 2, 2)

#: Ids of observations with their fetches, in order of time.
_Page = list[tuple[int, Fetch]]


def thin(connection: Connection, scope: str, site: str, most: int) -> None:
    """Leave of each page of a site as many versions as are compared, or fewer until at most *most* are left in all.

    What goes first is what learning would leave out, too (see :mod:`scrapy_dedup.content.retention`); then it is versions of
    pages beyond those that are enough of their kind.
    """
    o, v = observation.c, page_version.c
    pages = _pages(connection, scope, site)
    used = select(o.version).where(o.scope == scope, o.site == site, o.version.is_not(None))
    for number in _STEPS:
        surplus = list(_surplus(pages, number))
        for start in range(0, len(surplus), IDS_IN_A_QUERY):
            chosen = o.id.in_(surplus[start : start + IDS_IN_A_QUERY])
            connection.execute(update(observation).where(chosen).values(version=None))
        if surplus:
            connection.execute(delete(page_version).where(v.scope == scope, v.site == site, v.id.not_in(used)))
        left = connection.scalar(select(func.count()).where(v.scope == scope, v.site == site)) or 0
        if left <= most:
            return


def _pages(connection: Connection, scope: str, site: str) -> list[list[_Page]]:
    """Return the pages of which there are versions, by URL template, those with the most versions first."""
    o = observation.c
    query = select(o.id, o.url, o.url_key, o.time).where(o.scope == scope, o.site == site, o.version.is_not(None))
    kinds: defaultdict[object, list[_Page]] = defaultdict(list)
    for _, rows in groupby(connection.execute(query.order_by(o.url_key, o.time, o.id)), key=lambda row: row.url_key):
        page = list(rows)
        kinds[template_of(page[0].url)].append([(row.id, (row.time, row.url)) for row in page])
    return [sorted(pages, key=len, reverse=True) for pages in kinds.values()]


def _surplus(kinds: list[list[_Page]], number: int) -> Iterator[int]:
    """Yield the ids of observations whose version is one too many of its page, and take them out."""
    for pages in kinds:
        for place, page in enumerate(pages):
            most = MOST_VERSIONS if place < MOST_OF_KIND else number
            if len(page) > most:
                kept = retained([fetch for _, fetch in page], most)
                ids = {page[each][0] for each in kept}
                yield from (each for each, _ in page if each not in ids)
                page[:] = [page[each] for each in kept]
