"""What requests of the plug-in's own may cost: a share of what it has saved, or a number that was asked for."""

from collections import Counter
from typing import TYPE_CHECKING, Final, Protocol

from ..learn.schedule import LEAST
from .savings import saved_for_good

if TYPE_CHECKING:
    from ..shared import Shared


#: Requests that the probe of one page may take: without room for so many, none is begun.
PER_PAGE: Final = 3
#: Starter refetches of a site in any case, and as a share of its pages that have come.
STARTER_LEAST: Final = 4
STARTER_SHARE: Final = 0.02


class Purse(Protocol):
    """Pays for requests, site by site."""

    def room(self, site: str) -> int:
        """Return how many requests to a site are left."""

    def take(self, site: str) -> bool:
        """Pay for a request; return False if there is no room for it."""

    def give_back(self, site: str) -> None:
        """Take a request back that was not sent."""


class Extra:
    """Pays out of savings: of the downloads avoided on a site, the share ``DEDUP_EXTRA``, and nothing before.

    Both probes and revisits are paid by it, and only what no sample takes back counts, so that a crawl makes no
    more requests than it would without the plug-in. Should a rule be refuted all the same, what was spent stays
    saved (:meth:`covers`): as many of its discards are left to the next crawl. Where the HTTP cache has answered,
    nobody knows what would have been a download.
    """

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        self._share = shared.settings.extra
        self._spent: Counter[str] = Counter()
        #: Site -> the share of what was avoided there that would have been a download; 1 where nobody knows better.
        self.real: dict[str, float] = {}

    def room(self, site: str) -> int:
        """Return how many requests to a site the savings there still pay for."""
        shared = self._shared
        if not self._share or site not in shared.tally.sites or shared.stats.get_value("httpcache/hit", 0):
            return 0
        avoided = self.real.get(site, 1.0) * saved_for_good(shared, site)
        return max(0, int(self._share * avoided) - self._spent[site])

    def covers(self, site: str) -> bool:
        """Whether one more discard of a site can be fetched, and what was spent there is still saved."""
        spent = self._spent[site]
        return not spent or self._shared.tally.of(site).avoided > spent

    def take(self, site: str) -> bool:
        """Pay for a request to a site; return False if the savings do not."""
        if self.room(site) < 1:
            return False
        self._spent[site] += 1
        self._shared.stats.inc_value("dedup/extra/requests")
        return True

    def give_back(self, site: str) -> None:
        """Take a request back that was not sent."""
        self._spent[site] -= 1
        self._shared.stats.inc_value("dedup/extra/requests", -1)


class Starter:
    """Pays whatever is saved: for each site ``DEDUP_STARTER`` requests and 2 % of its pages, at most, but 4 in any case.

    What earlier runs of a job have spent is not known: in a run that goes on with one there are no 4 in any case.
    """

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        self._most = shared.settings.starter
        self._spent: Counter[str] = Counter()

    def most(self, site: str) -> int:
        """Return how many requests to a site there may be, for what has come of it."""
        tally = self._shared.tally
        share = int(STARTER_SHARE * tally.sites[site].pages) if site in tally.sites else 0
        least = 0 if self._shared.resumed else STARTER_LEAST
        return min(self._most, max(least, share))

    def room(self, site: str) -> int:
        """Return how many requests to a site are left."""
        return self.most(site) - self._spent[site]

    def may_have_room(self, site: str) -> bool:
        """Whether there is room for a request to a site, or will be when more of its pages have come."""
        return self._spent[site] < self._most

    def take(self, site: str) -> bool:
        """Pay for a request to a site; return False if there is no room for it."""
        if self.room(site) < 1:
            return False
        self._spent[site] += 1
        self._shared.stats.inc_value("dedup/starter/requests")
        return True

    def give_back(self, site: str) -> None:
        """Take a request back that was not sent."""
        self._spent[site] -= 1
        self._shared.stats.inc_value("dedup/starter/requests", -1)


class Spread:
    """Pays out of the starter budget for what comparing pages does not need: what is drawn anew, for fields that are named.

    It is spread over the crawl: a request for each 20 pages that have come, so that kinds of pages get theirs that
    come late, and half of the budget. The other half is for what learning asks for, until the spider is
    about to run idle.
    """

    def __init__(self, shared: "Shared", purse: Starter) -> None:
        self._shared = shared
        self._purse = purse
        self._spent: Counter[str] = Counter()
        #: Sites of which all that is left may be spent.
        self.free: set[str] = set()

    def room(self, site: str) -> int:
        """Return how many requests to a site are left by now."""
        left = self._purse.room(site)
        if site in self.free or left < 1:
            return left
        come = self._shared.tally.sites[site].pages if site in self._shared.tally.sites else 0
        return min(left, come // LEAST - self._spent[site], self._purse.most(site) // 2 - self._spent[site])

    def take(self, site: str) -> bool:
        """Pay for a request to a site; return False if there is no room for it."""
        if self.room(site) < 1 or not self._purse.take(site):
            return False
        self._spent[site] += 1
        self._shared.stats.inc_value("dedup/starter/anew")
        return True

    def give_back(self, site: str) -> None:
        """Take a request back that was not sent."""
        self._spent[site] -= 1
        self._purse.give_back(site)
        self._shared.stats.inc_value("dedup/starter/anew", -1)


class Part:
    """Pays for at most *most* requests out of another purse."""

    def __init__(self, purse: Purse, most: int) -> None:
        self._purse = purse
        self._left = most

    def room(self, site: str) -> int:
        """Return how many requests to a site are left."""
        return min(self._left, self._purse.room(site))

    def take(self, site: str) -> bool:
        """Pay for a request to a site; return False if there is no room for it."""
        if self._left < 1 or not self._purse.take(site):
            return False
        self._left -= 1
        return True

    def give_back(self, site: str) -> None:
        """Take a request back that was not sent."""
        self._left += 1
        self._purse.give_back(site)


class Granted:
    """Pays for at most *most* requests to each site: what was asked for by hand."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._spent: Counter[str] = Counter()

    def room(self, site: str) -> int:
        """Return how many requests to a site are left."""
        return self._most - self._spent[site]

    def take(self, site: str) -> bool:
        """Pay for a request to a site; return False if there is no room for it."""
        if self.room(site) < 1:
            return False
        self._spent[site] += 1
        return True

    def give_back(self, site: str) -> None:
        """Take a request back that was not sent."""
        self._spent[site] -= 1
