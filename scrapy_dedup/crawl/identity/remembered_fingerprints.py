"""Scrapy's own fingerprints of requests, from the memory of identities where possible."""

from typing import TYPE_CHECKING, Any

from scrapy.dupefilters import RFPDupeFilter

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.utils.request import RequestFingerprinterProtocol

    from ..support.faults import Faults
    from .identities import Identities


class RememberedFingerprints:
    """Scrapy's own fingerprinter behind the memory of identities."""

    def __init__(
        self, identities: "Identities", fingerprinter: "RequestFingerprinterProtocol", faults: "Faults"
    ) -> None:
        self._identities = identities
        self._faults = faults
        self._ask = fingerprinter.fingerprint

    def fingerprint(self, request: "Request") -> bytes:
        """Return what the wrapped fingerprinter returns."""
        try:
            return self._identities.stock_fingerprint(request, self._ask)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("fingerprint", "A fingerprint could not be remembered")
            return self._ask(request)


def remember_fingerprints(dupe_filter: Any, identities: "Identities", faults: "Faults") -> None:
    """Let a dupe filter that asks Scrapy's own fingerprinter of the crawl get its answers from memory where possible."""
    if isinstance(dupe_filter, RFPDupeFilter) and identities.are_of(dupe_filter.fingerprinter):
        dupe_filter.fingerprinter = RememberedFingerprints(identities, dupe_filter.fingerprinter, faults)
