"""What becomes of pages: events of them, and responses on their way through the spider middlewares and the spider."""

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from ..support.faults import Event

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from ..support.faults import Faults


class PageEvents:
    """What the spider middleware for pages and the recorder tell others."""

    def __init__(self, faults: "Faults") -> None:
        #: A response is on its way to the spider: its request.
        self.response_received: Event[[Request]] = Event(faults)
        #: The same of a page that is compared or recorded: its request, the response, the site.
        self.page_fetched: Event[[Request, Response, str]] = Event(faults)
        #: A page is recorded that may teach something: its site and URL.
        self.page_recorded: Event[[str, str]] = Event(faults)
        #: The spider gives a request, or an item, for a response.
        self.request_given: Event[[Request, Response]] = Event(faults)
        self.item_given: Event[[Any, Response]] = Event(faults)


class ResponsesInFlight:
    """The responses in flight, and whether they have come to the spider."""

    def __init__(self) -> None:
        #: Response -> whether it has come to the spider.
        self._responses: WeakKeyDictionary[Response, bool] = WeakKeyDictionary()
        self._gave: WeakSet[Response] = WeakSet()
        #: Whether anybody sees what comes to the spider; otherwise all does.
        self.observed = False

    def begin(self, response: "Response") -> None:
        """Follow *response*."""
        self._responses[response] = not self.observed

    def arrive(self, response: "Response") -> None:
        """Note that *response* has come to the spider."""
        if response in self._responses:
            self._responses[response] = True

    def give(self, response: "Response") -> None:
        """Note that the spider has given something for *response*."""
        self._gave.add(response)

    def gave(self, response: "Response") -> bool:
        """Whether it has."""
        return response in self._gave

    def end(self, response: "Response") -> bool | None:
        """Forget *response*; return whether it had come to the spider, None if it was not followed."""
        return self._responses.pop(response, None)
