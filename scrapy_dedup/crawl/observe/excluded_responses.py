"""Responses that are no evidence: which of them were cut off, and how many are excluded, by reason."""

from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING, Final

from scrapy.http import HtmlResponse, JsonResponse

from ...learning.contents import LEAST_WORDS
from ...pages.response import has_closing_tags
from ...urls.templates import template_of
from .kept_texts import MOST_TEMPLATES

if TYPE_CHECKING:
    from scrapy.http import Response

    from ...store.rows import ObservationRow

#: Flags of responses whose bodies are not whole, and why.
_NOT_WHOLE: Final = {"dataloss": "dataloss", "download_stopped": "stopped"}
#: Flag of responses that end with the connection: nothing but their closing tags tells whether they are whole.
_BY_CONNECTION: Final = "partial"


def ends_of(response: "Response") -> bool | None:
    """Whether the closing tags of a page, or the last bracket of JSON, have come.

    False only where these alone would tell that the body is whole; None where something else does, or nothing.
    """
    body = response.body
    if isinstance(response, HtmlResponse):
        ends = has_closing_tags(body)
    elif isinstance(response, JsonResponse):
        ends = body.rstrip().endswith((b"}", b"]"))
    else:
        return None
    return True if ends else False if _BY_CONNECTION in response.flags else None


class ExcludedResponses:
    """Counts of the responses of a crawl that are no evidence. Rows are made in the thread of the store, too."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: Counter[str] = Counter()
        #: URL templates whose pages have closing tags, where they end with the connection.
        self._ending: set[int] = set()

    @property
    def counts(self) -> dict[str, int]:
        """How many are excluded, by reason."""
        with self._lock:
            return dict(self._counts)

    def add(self, reason: str) -> None:
        """Count a response that is no evidence."""
        with self._lock:
            self._counts[reason] += 1

    def note(self, row: "ObservationRow") -> None:
        """Count a page if it has hardly any text."""
        prints = row.fingerprints
        if prints is not None and prints.words is not None and prints.words < LEAST_WORDS:
            self.add("hardly any text")

    def cut_off(self, response: "Response", site: str) -> str | None:
        """Return why the body of a response with status 200 is not whole, as far as that is known by now."""
        if not response.flags:
            return None
        for flag, reason in _NOT_WHOLE.items():
            if flag in response.flags:
                return reason
        ends = ends_of(response) if _BY_CONNECTION in response.flags else None
        if ends is None:
            return None
        template = hash((site, template_of(response.url)))
        if not ends:
            # Of the first pages of a template nobody knows yet: learning looks at them again.
            return "cut off" if template in self._ending else None
        if len(self._ending) < MOST_TEMPLATES:
            self._ending.add(template)
        return None
