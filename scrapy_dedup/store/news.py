"""What was recorded of a site since it was learned the last time."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import exists, func, or_, select

from .conversions import learned_mark_name
from .schema import IDS_IN_A_QUERY, meta, observation

if TYPE_CHECKING:
    from .store import Store


class Recorded(NamedTuple):
    """What is recorded of a site."""

    responses: int
    #: The id of the last one.
    last: int


class News(NamedTuple):
    """What was recorded of a site since it was learned."""

    responses: int
    #: The id of the last one that was there when it was learned, 0 if it never was.
    learned: int


def recorded(store: "Store", scope: str, sites: Iterable[str]) -> dict[str, Recorded]:
    """Return the number of responses and the last id of each of *sites* that has any."""
    o = observation.c
    found: dict[str, Recorded] = {}
    rest = iter(sites)
    while some := list(islice(rest, IDS_IN_A_QUERY)):
        query = select(o.site, func.count(), func.max(o.id)).where(o.scope == scope, o.site.in_(some)).group_by(o.site)
        found.update((site, Recorded(responses, last)) for site, responses, last in store.rows(query))
    return found


def news(store: "Store", scope: str, site: str, last: int) -> News:
    """Return what was recorded of a site since it was learned, the *last* response included."""
    o = observation.c
    noted = [
        int(row.value) for row in store.rows(select(meta.c.value).where(meta.c.name == learned_mark_name(scope, site)))
    ]
    learned = max(noted, default=0)
    if learned > last:  # all was forgotten meanwhile, and ids begin anew
        learned = 0
    ((fresh,),) = store.rows(select(func.count()).where(o.scope == scope, o.site == site, o.id > learned))
    return News(fresh, learned)


def repeats(store: "Store", scope: str, site: str, learned: int) -> bool:
    """Return whether a new duplicate was recorded after the observation *learned*: a page of another URL, or a redirect."""
    o, before = observation.c, observation.alias().c
    its = o.scope == scope, o.site == site
    known = exists().where(
        *(before.scope == scope, before.site == site, before.url_key == o.url_key, before.id <= learned),
        or_(before.bag == o.bag, before.redirect == o.redirect),
    )
    urls: defaultdict[str, set[int]] = defaultdict(set)
    for key, bag, redirect in store.rows(select(o.url_key, o.bag, o.redirect).where(*its, o.id > learned, ~known)):
        if redirect is not None:
            return True
        if bag is not None:
            urls[bag].add(key)
    if any(len(keys) > 1 for keys in urls.values()):
        return True
    bags = iter(urls)
    while some := list(islice(bags, IDS_IN_A_QUERY)):
        shown = store.rows(select(o.bag, o.url_key).where(*its, o.bag.in_(some)))
        if any(key not in urls[bag] for bag, key in shown):
            return True
    return False


def declares(store: "Store", scope: str, site: str) -> bool:
    """Return whether a response of a site, or its robots.txt, has said which parameters do not matter."""
    o = observation.c
    query = select(o.headers).where(o.scope == scope, o.site == site, o.headers.is_not(None)).limit(1)
    return any(True for _ in store.rows(query))
