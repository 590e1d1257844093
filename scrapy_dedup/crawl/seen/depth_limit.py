"""How far from the start pages were met, where the user bounds that (DEPTH_LIMIT).

Scrapy drops the links of a page at the limit. Another URL of the page that is met nearer to the start leads further, and
is therefore no duplicate of it.
"""

from typing import TYPE_CHECKING

from .journal_lines import digest_of

if TYPE_CHECKING:
    from scrapy import Request


class Depths:
    """The depths of the URLs that stand for a page; of use only where ``limited``."""

    def __init__(self, limit: int) -> None:
        #: Whether there is a limit.
        self.limited = limit > 0
        #: By the digest of a URL.
        self._depths: dict[int, int] = {}

    def note(self, request: "Request") -> None:
        """Note where a request is met that stands for its page."""
        self._depths[digest_of(request.url)] = request.meta.get("depth", 0)

    def leads_further(self, request: "Request", other: str) -> bool:
        """Whether *request* is met nearer to the start than *other*, the URL that stands for its page; if so, note it."""
        depth, page = request.meta.get("depth", 0), digest_of(other)
        if depth >= self._depths.get(page, 0):
            return False
        # Its own depth is what counts from now on: of several such URLs only the nearest ones lead further still.
        self._depths[page] = depth
        return True
