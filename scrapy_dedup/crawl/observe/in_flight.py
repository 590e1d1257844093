"""Responses in flight: on their way through the spider middlewares and the spider."""

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakSet

if TYPE_CHECKING:
    from scrapy.http import Response


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
