"""Filtered requests that are scheduled after all: handed to the engine, so that the dupe filter lets them pass."""

from typing import TYPE_CHECKING

import attrs

from ..support.request_meta import RESCHEDULED
from .ledger import had_passed

if TYPE_CHECKING:
    from scrapy import Request

    from ...store.rows import DiscardRow
    from ..identity.identities import Identities
    from ..support.crawl_status import CrawlStatus
    from ..support.faults import Faults
    from ..support.tally import Tally
    from .seen import Seen
    from .slot_claims import SlotClaims


@attrs.define(eq=False, repr=False, kw_only=True)
class Rescheduler:
    """Schedules filtered requests, and remembers which."""

    _status: "CrawlStatus"
    _faults: "Faults"
    _identities: "Identities"
    _seen: "Seen"
    _claims: "SlotClaims"
    _tally: "Tally"
    #: URLs of filtered requests of the ledger that were scheduled.
    done: set[str] = attrs.field(factory=set, init=False)
    #: Whether the ledger may hold filtered requests that are needed now, of earlier runs of the job for instance.
    is_due: bool = attrs.field(default=False, init=False)

    def schedule(
        self, request: "Request", row: "DiscardRow | None", *, earlier: bool = False, is_lost: bool = False
    ) -> bool:
        """Schedule a filtered request, *earlier* if another crawl has filtered it; return False if that is too late.

        *row* is that of the ledger, if it has one: where it had been queued, and was lost or filtered then, the wrapped
        filter, which remembers it, is not to stop it. It hears of it all the same. So it is with one that *is lost* if the
        filter remembers it.
        """
        if not self._status.is_open:
            return False
        if request.dont_filter:
            self._claims.claim_unfiltered(request)
            self._tally.scheduled(self._identities.of_url(request.url).site)
        else:
            has_passed = is_lost or (row is not None and row.job == self._seen.job and had_passed(row))
            request.meta[RESCHEDULED] = not earlier, has_passed
        try:
            self._status.engine.crawl(request)
        except RuntimeError:  # the spider is closed
            return False
        except Exception:  # noqa: BLE001 (its scheduler is)
            self._faults.report("schedule", "A filtered request could not be scheduled")
            return False
        finally:
            request.meta.pop(RESCHEDULED, None)  # where another dupe filter is in use
        return True
