"""What is done about a filtered request: written into the ledger, kept while it may be needed, and counted."""

import logging
from typing import TYPE_CHECKING

import attrs

from ..seen.seen import Waiting
from ..support.faults import Event
from .filtering_rules import filtering_rules

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from ..identity.identities import Identities, UrlIdentity
    from ..seen.ledger import Ledger
    from ..seen.seen import Seen
    from ..seen.write_buffer import WriteBuffer
    from ..support.faults import Faults
    from ..support.tally import Tally
    from .request_decision import RequestVerdict, SpotChecker

logger = logging.getLogger(__name__)


@attrs.define(eq=False, repr=False, kw_only=True)
class RequestFilter:
    """Filters requests, and counts those that shadow mode would filter."""

    _crawler: "Crawler"
    _stats: "StatsCollector"
    _faults: "Faults"
    _identities: "Identities"
    _seen: "Seen"
    _ledger: "Ledger"
    _unwritten: "WriteBuffer"
    _tally: "Tally"
    _spot_checks: "SpotChecker"
    #: The first URL of a site is filtered by some rules: the site, their ids.
    first_filtered: Event[[str, tuple[str, ...]]] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.first_filtered = Event(self._faults)

    def filter(
        self, request: "Request", identity: "UrlIdentity", verdict: "RequestVerdict", *, queued: bool = False
    ) -> bool:
        """Filter *request*, which was *queued* if it has passed the dupe filter; return False if the ledger does not take it.

        What is not in the ledger could never be fetched after all.
        """
        rule = verdict.rules[0]
        row = self._ledger.discard(
            request, identity, rule=rule, taken_for=verdict.page, job=self._seen.job, queued=queued
        )
        if row is None:
            self._unwritten.count_prevented()
            return False
        filtered = Waiting(request, row)
        self._unwritten.add(filtered)
        if not identity.known:
            identity.known = True
            self._stats.inc_value("dedup/discarded/urls")
            self._stats.inc_value(f"dedup/discarded/rule/{rule}")
            by_rules = self._tally.sites[identity.site].by_rules
            by_rules[verdict.rules] += 1
            if by_rules[verdict.rules] == 1:
                self.first_filtered.send(identity.site, verdict.rules)
        self._spot_checks.note_filtered(filtered, identity, verdict.page, verdict.rules)
        self._seen.wait(identity.slot, filtered)
        identity.discarded = identity.slot
        self.count()
        self._log("Filtered", request, identity, verdict, rule)
        return True

    def count(self) -> None:
        """Count a filtered request, whose URL may have been filtered before."""
        self._stats.inc_value("dedup/discarded")

    def foresee(self, request: "Request", identity: "UrlIdentity", verdict: "RequestVerdict") -> None:
        """Count a request that would have been filtered (shadow mode)."""
        rule = filtering_rules(self._identities, request.url, verdict.page)[0]
        self._stats.inc_value("dedup/shadow/discarded")
        self._stats.inc_value(f"dedup/shadow/rule/{rule}")
        self._log("Would filter", request, identity, verdict, rule)

    def _log(
        self, what: str, request: "Request", identity: "UrlIdentity", verdict: "RequestVerdict", rule: str
    ) -> None:
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug(
                "%(what)s %(request)s: the same page as %(url)s by rule %(rule)s",
                {"what": what, "request": request, "url": verdict.page or identity.key, "rule": rule},
                extra={"spider": self._crawler.spider},
            )
