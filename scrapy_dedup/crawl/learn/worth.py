"""Which sites are worth learning when a crawl closes: not those of which it has seen too little to change anything."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ...store.news import Recorded, declares, news, recorded, repeats
from ...store.store import Store, StoreError
from .schedule import GROWTH, LEAST, LEAST_STATED, Times

if TYPE_CHECKING:
    from ..settings.dedup_settings import DedupSettings

#: Responses since a site was learned after which it is learned again, however large it is.
MOST_FRESH: Final = 1_000


def worth_learning(settings: "DedupSettings", times: Times) -> dict[str, int]:
    """Return the sites that are worth learning, with the last observation of each; it waits for the store.

    A site of which the crawl has seen much is. One of which it has seen a few pages is if what is recorded of it has
    grown by half since it was learned, or if a URL shows what another one shows, as it did not then.
    """
    sites = times.news
    if not sites:
        return {}
    try:
        with Store.open(settings.store, readonly=True) as store:
            found = recorded(store, settings.scope, sites)
            return {
                site: of_site.last
                for site, of_site in found.items()
                if not times.is_small(site) or _is_worth_it(store, settings.scope, site, of_site)
            }
    except StoreError:  # the process that learns tells it
        return dict.fromkeys(sites, 0)


def note_learned(settings: "DedupSettings", learned: Mapping[str, int]) -> None:
    """Note of each site up to which observation it has been learned; it waits for the store."""
    with suppress(StoreError), Store.open(settings.store) as store:  # without it they are learned once more
        store.note_learned(settings.scope, learned)


def _is_worth_it(store: Store, scope: str, site: str, of_site: Recorded) -> bool:
    if of_site.responses < LEAST and (of_site.responses < LEAST_STATED or not declares(store, scope, site)):
        return False
    fresh = news(store, scope, site, of_site.last)
    if fresh.responses >= min(GROWTH * (of_site.responses - fresh.responses), MOST_FRESH):
        return True
    return repeats(store, scope, site, fresh.learned)
