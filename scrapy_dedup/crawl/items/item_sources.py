"""Which response an item came from: items do not carry it, and many cannot be weakly referenced.

An item is kept, with its response, from where it leaves the spider to the pipeline. What the
pipeline does not ask for, since another one before it has dropped or replaced the item, goes when
all items of the response are done.
"""

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from scrapy.http import Response

__all__ = ["Origins"]

#: Responses whose items are remembered, and their bytes together; more of them are hardly ever under way, unless
#: items vanish without a signal. The last one is remembered however long it is.
MOST_RESPONSES: Final = 1_000
MOST_BYTES: Final = 33_554_432


class _Origin:
    __slots__ = ("items", "pending", "response")

    def __init__(self, response: "Response") -> None:
        self.response = response
        #: Numbers of the items that nobody has asked for yet.
        self.items: set[int] = set()
        #: Items that are not done.
        self.pending = 0


class Origins:
    """The responses of items on their way to the pipeline."""

    def __init__(self, most: int = MOST_RESPONSES, most_bytes: int = MOST_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        #: id(item) -> the item, held so that its id stays its own, and the responses that it came from.
        self._items: dict[int, tuple[Any, list[_Origin]]] = {}
        #: id(response) -> its origin, which holds it.
        self._origins: dict[int, _Origin] = {}

    def __len__(self) -> int:
        return len(self._items)

    def note(self, item: Any, response: "Response") -> None:
        """Remember that *item* came from *response*."""
        origin = self._origins.get(id(response))
        if origin is None:
            self._bytes += len(response.body)
            while self._origins and (len(self._origins) >= self._most or self._bytes > self._most_bytes):
                self._drop(next(iter(self._origins.values())))
            origin = self._origins[id(response)] = _Origin(response)
        origin.pending += 1
        origin.items.add(id(item))
        self._items.setdefault(id(item), (item, []))[1].append(origin)

    def take(self, item: Any) -> "Response | None":
        """Return the response that *item* came from, the first one noted, and forget that; None if it is not known."""
        found = self._items.get(id(item))
        if found is None:
            return None
        origins = found[1]
        origin = origins.pop(0)
        if not origins:
            del self._items[id(item)]
        if origin not in origins:
            origin.items.discard(id(item))
        return origin.response

    def done(self, response: Any) -> None:
        """Note that an item of *response* has gone through all pipelines, or was dropped, or failed."""
        origin = self._origins.get(id(response))
        if origin is not None:
            origin.pending -= 1
            if origin.pending <= 0:
                self._drop(origin)

    def _drop(self, origin: _Origin) -> None:
        if self._origins.pop(id(origin.response), None) is not None:
            self._bytes -= len(origin.response.body)
        for number in origin.items:
            found = self._items.get(number)
            if found is not None:
                found[1][:] = [each for each in found[1] if each is not origin]
                if not found[1]:
                    del self._items[number]
        origin.items.clear()
