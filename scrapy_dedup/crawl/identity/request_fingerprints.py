"""Scrapy's own fingerprints of requests: of plain URLs at a fraction of their cost, and from memory where possible.

Of a plain URL ``w3lib.url.canonicalize_url`` changes nothing but the order of the query. That is most of the
URLs of most sites, and canonicalizing them is the dearest thing that a dupe filter does. Any other URL, and
a Scrapy that makes its fingerprints in another way, is left to Scrapy.
"""

import re
from collections.abc import Callable
from hashlib import sha1
from typing import TYPE_CHECKING, Any, Final, Protocol

from scrapy import Request
from scrapy.dupefilters import RFPDupeFilter

if TYPE_CHECKING:
    from scrapy.utils.request import RequestFingerprinterProtocol

    from ..support.faults import Faults

_NAME: Final = "[A-Za-z0-9_-][A-Za-z0-9_.-]*"  # of a segment: neither "." nor ".."
_PAIR: Final = "[A-Za-z0-9_.-]+=[A-Za-z0-9_.-]*"
_PLAIN: Final = re.compile(
    r"https?://[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*(?::[0-9]+)?"
    rf"/(?:{_NAME}/)*(?:{_NAME})?(?:\?({_PAIR}(?:&{_PAIR})*))?"
)
_SAMPLE: Final = "http://a.example:8000/b/c.html?e=2&d=&d-e=1"


def plain_fingerprint(url: str) -> bytes | None:
    """Return the fingerprint that Scrapy 2.19 makes of a GET request for *url*, without a body; None if it is not plain."""
    found = _PLAIN.fullmatch(url)
    if found is None:
        return None
    query = found[1]
    if query is not None and "&" in query:
        pairs = sorted(query.split("&"), key=lambda pair: pair.partition("="))
        url = url[: found.start(1)] + "&".join(pairs)
    return sha1(
        f'{{"body": "", "headers": {{}}, "method": "GET", "url": "{url}"}}'.encode(), usedforsecurity=False
    ).digest()


def plain_fingerprints(ask: Callable[[Request], bytes]) -> Callable[[str], bytes | None]:
    """Return :func:`plain_fingerprint`, or what returns None always if *ask*, Scrapy's own, says something else."""
    return plain_fingerprint if ask(Request(_SAMPLE)) == plain_fingerprint(_SAMPLE) else lambda _: None


class FingerprintMemory(Protocol):
    """Remembers Scrapy's own fingerprints by URL: the identities of a crawl do."""

    def are_of(self, fingerprinter: object) -> bool:
        """Whether *fingerprinter* is that of the crawl, and Scrapy's own."""

    def stock_fingerprint(self, request: Request, ask: Callable[[Request], bytes]) -> bytes:
        """Return what *ask*, Scrapy's own fingerprint, returns, from memory where possible."""


class RememberedFingerprints:
    """Scrapy's own fingerprinter behind the memory of identities."""

    def __init__(
        self, identities: FingerprintMemory, fingerprinter: "RequestFingerprinterProtocol", faults: "Faults"
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


def remember_fingerprints(dupe_filter: Any, identities: FingerprintMemory, faults: "Faults") -> None:
    """Let a dupe filter that asks Scrapy's own fingerprinter of the crawl get its answers from memory where possible."""
    if isinstance(dupe_filter, RFPDupeFilter) and identities.are_of(dupe_filter.fingerprinter):
        dupe_filter.fingerprinter = RememberedFingerprints(identities, dupe_filter.fingerprinter, faults)
