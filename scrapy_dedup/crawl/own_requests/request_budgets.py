"""Budgets of the plug-in's own requests: a share of what it has saved, or a number that was asked for."""

from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Final

import attrs

from ..learn.schedule import LEAST

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from ..learn.rule_reload import RuleReload
    from ..seen.rescheduling import Rescheduler
    from ..settings.dedup_settings import DedupSettings
    from ..support.tally import Tally
    from ..verify.choosing import SpotChecks

#: Starter refetches of a site, and of a crawl: in any case, and as a share of its pages that have come.
STARTER_LEAST: Final = 4
STARTER_SHARE: Final = 0.02


@attrs.define(eq=False, repr=False)
class RequestBudget(ABC):
    """Pays for requests, site by site."""

    _spent: Counter[str] = attrs.field(factory=Counter, init=False)

    @abstractmethod
    def room(self, site: str) -> int:
        """Return how many requests to a site are left."""

    def take(self, site: str) -> bool:
        """Pay for a request; return False if there is no room for it."""
        if self.room(site) < 1:
            return False
        self._pay(site, 1)
        return True

    def spent_on(self, site: str) -> int:
        """Return how many requests to a site were paid for."""
        return self._spent[site]

    def give_back(self, site: str) -> None:
        """Take a request back that was not sent."""
        self._pay(site, -1)

    def _pay(self, site: str, number: int) -> None:
        self._spent[site] += number


@attrs.define(eq=False, repr=False, kw_only=True)
class SavingsBudget(RequestBudget):
    """Pays out of savings: of the downloads avoided on a site, the share ``DEDUP_EXTRA``, and nothing before.

    Revisits are paid by it, and only what no spot check takes back counts, so that a crawl makes no
    more requests than it would without the plug-in. Should a rule be refuted all the same, what was spent stays
    saved (:meth:`.Tally.covers`): as many of its filtered requests are left to the next crawl. Where the HTTP cache has
    answered, nobody knows what would have been a download.
    """

    _settings: "DedupSettings"
    _stats: "StatsCollector"
    _tally: "Tally"
    _rescheduler: "Rescheduler"
    _spot_checks: "SpotChecks"
    _rule_reload: "RuleReload"
    #: Site -> the share of what was avoided there that would have been a download; 1 where nobody knows better.
    real: dict[str, float] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self._spent = self._tally.spent

    def room(self, site: str) -> int:
        """Return how many requests to a site the savings there still pay for."""
        if not self._settings.extra or site not in self._tally.sites or self._stats.get_value("httpcache/hit", 0):
            return 0
        avoided = self.real.get(site, 1.0) * self.saved_for_good(site)
        return max(0, int(self._settings.extra * avoided) - self._spent[site])

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


@attrs.define(eq=False, repr=False)
class StarterBudget(RequestBudget):
    """Pays whatever is saved: 2 % of the pages of each site and of the crawl, but 4 in any case; for a site at most ``DEDUP_STARTER``.

    What was filtered counts as pages: the more of them rules discard, the more there is to look at. What earlier runs of a job have
    spent is not known: in a run that goes on with one there are no 4 in any case.
    """

    _settings: "DedupSettings"
    _stats: "StatsCollector"
    _tally: "Tally"
    _rescheduler: "Rescheduler"
    _spent_in_all: int = attrs.field(default=0, init=False)

    def most(self, site: str) -> int:
        """Return how many requests to a site there may be, for what has come of it."""
        return min(self._settings.starter, self._share_of(self._tally.pages_of(site) + self._tally.avoided_of(site)))

    def room(self, site: str) -> int:
        """Return how many requests to a site are left, of its own and of those of the crawl."""
        left_in_all = self._share_of(self._tally.pages + self._tally.avoided_of(site)) - self._spent_in_all
        return min(self.most(site) - self._spent[site], left_in_all)

    def _share_of(self, pages: int) -> int:
        goes_on = self._rescheduler.is_due or self._stats.get_value("dedup/resumed") is not None
        return max(0 if goes_on else STARTER_LEAST, int(STARTER_SHARE * pages))

    def may_have_room(self, site: str) -> bool:
        """Whether there is room for a request to a site, or will be when more of its pages have come."""
        return self._spent[site] < self._settings.starter

    def _pay(self, site: str, number: int) -> None:
        super()._pay(site, number)
        self._spent_in_all += number
        self._stats.inc_value("dedup/starter/requests", number)


@attrs.define(eq=False, repr=False)
class SpreadBudget(RequestBudget):
    """Pays out of the starter budget for what comparing pages does not need: what is drawn anew, for fields that are named.

    It is spread over the crawl: a request for each 20 pages that have come, so that kinds of pages get theirs that
    come late, and half of the budget. The other half is for what learning asks for, until the spider is
    about to run idle.
    """

    _stats: "StatsCollector"
    _tally: "Tally"
    _starter: StarterBudget
    #: Sites of which all that is left may be spent.
    free: set[str] = attrs.field(factory=set, init=False)

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


@attrs.define(eq=False, repr=False)
class GrantedBudget(RequestBudget):
    """Pays for at most *most* requests to each site: what was asked for by hand."""

    _most: int

    def room(self, site: str) -> int:
        """Return how many requests to a site are left."""
        return self._most - self._spent[site]
