"""Events of pages: a response comes, and the spider gives requests and items for it."""

from typing import TYPE_CHECKING, Any

from ..support.events import Event

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
