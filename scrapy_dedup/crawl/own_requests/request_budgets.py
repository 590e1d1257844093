"""Budgets of the plug-in's own requests: a share of what it has saved, or a number that was asked for."""

from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Final

from ..learn.schedule import LEAST

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from ..learn.rule_reload import RuleReload
    from ..seen.rescheduling import Rescheduler
    from ..settings.dedup_settings import DedupSettings
    from ..support.tally import Tally
    from ..verify.choosing import SpotChecks

#: Requests that the probe of one page may take: without room for so many, none is begun.
PER_PAGE: Final = 3
#: Starter refetches of a site in any case, and as a share of its pages that have come.
STARTER_LEAST: Final = 4
STARTER_SHARE: Final = 0.02


class RequestBudget(ABC):
    """Pays for requests, site by site."""

    def __init__(self, spent: "Counter[str] | None" = None) -> None:
        self._spent: Counter[str] = Counter() if spent is None else spent

    @abstractmethod
    def room(self, site: str) -> int:
        """Return how many requests to a site are left."""

    def take(self, site: str) -> bool:
        """Pay for a request; return False if there is no room for it."""
        if self.room(site) < 1:
            return False
        self._pay(site, 1)
        return True

    def give_back(self, site: str) -> None:
        """Take a request back that was not sent."""
        self._pay(site, -1)

    def _pay(self, site: str, number: int) -> None:
        self._spent[site] += number


class SavingsBudget(RequestBudget):
    """Pays out of savings: of the downloads avoided on a site, the share ``DEDUP_EXTRA``, and nothing before.

    Both probes and revisits are paid by it, and only what no spot check takes back counts, so that a crawl makes no
    more requests than it would without the plug-in. Should a rule be refuted all the same, what was spent stays
    saved (:meth:`.Tally.covers`): as many of its filtered requests are left to the next crawl. Where the HTTP cache has
    answered, nobody knows what would have been a download.
    """

    def __init__(
        self,
        *,
        settings: "DedupSettings",
        stats: "StatsCollector",
        tally: "Tally",
        rescheduler: "Rescheduler",
        spot_checks: "SpotChecks",
        rule_reload: "RuleReload",
    ) -> None:
        super().__init__(tally.spent)
        self._share = settings.extra
        self._stats = stats
        self._tally = tally
        self._rescheduler = rescheduler
        self._spot_checks = spot_checks
        self._rule_reload = rule_reload
        #: Site -> the share of what was avoided there that would have been a download; 1 where nobody knows better.
        self.real: dict[str, float] = {}

    def room(self, site: str) -> int:
        """Return how many requests to a site the savings there still pay for."""
        if not self._share or site not in self._tally.sites or self._stats.get_value("httpcache/hit", 0):
            return 0
        avoided = self.real.get(site, 1.0) * self.saved_for_good(site)
        return max(0, int(self._share * avoided) - self._spent[site])

    def saved_for_good(self, site: str) -> int:
        """Return the downloads that were avoided on a site, less those by rules that may yet be refuted.

        It is 0 while that cannot be known: while spot checks are undecided, or the ledger is read for what is needed.
        """
        if (
            self._rescheduler.is_due
            or self._spot_checks.undecided
            or self._rule_reload.unsettled
            or site not in self._tally.sites
        ):
            return 0
        counts = self._tally.sites[site]
        if not self._spot_checks.are_made:  # nothing refutes a rule
            return counts.avoided
        doubtful = sum(
            number
            for rules, number in counts.by_rules.items()
            if not all(self._spot_checks.is_confirmed(site, rule) for rule in rules)
        )
        return max(0, counts.avoided - doubtful)

    def _pay(self, site: str, number: int) -> None:
        super()._pay(site, number)
        self._stats.inc_value("dedup/extra/requests", number)


class StarterBudget(RequestBudget):
    """Pays whatever is saved: for each site ``DEDUP_STARTER`` requests and 2 % of its pages, at most, but 4 in any case.

    What earlier runs of a job have spent is not known: in a run that goes on with one there are no 4 in any case.
    """

    def __init__(
        self, settings: "DedupSettings", stats: "StatsCollector", tally: "Tally", rescheduler: "Rescheduler"
    ) -> None:
        super().__init__()
        self._most = settings.starter
        self._stats = stats
        self._tally = tally
        self._rescheduler = rescheduler

    def most(self, site: str) -> int:
        """Return how many requests to a site there may be, for what has come of it."""
        share = int(STARTER_SHARE * self._tally.pages_of(site))
        least = 0 if self._rescheduler.is_due else STARTER_LEAST
        return min(self._most, max(least, share))

    def room(self, site: str) -> int:
        """Return how many requests to a site are left."""
        return self.most(site) - self._spent[site]

    def may_have_room(self, site: str) -> bool:
        """Whether there is room for a request to a site, or will be when more of its pages have come."""
        return self._spent[site] < self._most

    def _pay(self, site: str, number: int) -> None:
        super()._pay(site, number)
        self._stats.inc_value("dedup/starter/requests", number)


class SpreadBudget(RequestBudget):
    """Pays out of the starter budget for what comparing pages does not need: what is drawn anew, for fields that are named.

    It is spread over the crawl: a request for each 20 pages that have come, so that kinds of pages get theirs that
    come late, and half of the budget. The other half is for what learning asks for, until the spider is
    about to run idle.
    """

    def __init__(self, stats: "StatsCollector", tally: "Tally", starter: StarterBudget) -> None:
        super().__init__()
        self._stats = stats
        self._tally = tally
        self._starter = starter
        #: Sites of which all that is left may be spent.
        self.free: set[str] = set()

    def room(self, site: str) -> int:
        """Return how many requests to a site are left by now."""
        left = self._starter.room(site)
        if site in self.free or left < 1:
            return left
        spent = self._spent[site]
        return min(left, self._tally.pages_of(site) // LEAST - spent, self._starter.most(site) // 2 - spent)

    def _pay(self, site: str, number: int) -> None:
        super()._pay(site, number)
        self._starter._pay(site, number)
        self._stats.inc_value("dedup/starter/anew", number)


class PartialBudget(RequestBudget):
    """Pays for at most *most* requests, to whatever sites, out of another budget."""

    def __init__(self, budget: RequestBudget, most: int) -> None:
        super().__init__()
        self._budget = budget
        self._left = most

    def room(self, site: str) -> int:
        """Return how many requests to a site are left."""
        return min(self._left, self._budget.room(site))

    def _pay(self, site: str, number: int) -> None:
        self._left -= number
        self._budget._pay(site, number)


class GrantedBudget(RequestBudget):
    """Pays for at most *most* requests to each site: what was asked for by hand."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def room(self, site: str) -> int:
        """Return how many requests to a site are left."""
        return self._most - self._spent[site]
