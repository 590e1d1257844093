"""Which response an item came from: items do not carry it, and many cannot be weakly referenced.

An item is kept, with its response, from where it leaves the spider to the pipeline. What the
pipeline does not ask for, since another one before it has dropped or replaced the item, goes when
all items of the response are done.
"""

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from scrapy.http import Response

#: Responses whose items are remembered, and their bytes together; more of them are hardly ever under way, unless
#: items vanish without a signal. The last one is remembered however long it is.
MOST_RESPONSES: Final = 1_000
MOST_BYTES: Final = 33_554_432


class _SourceResponse:
    """A response with items under way."""

    __slots__ = ("items", "pending", "response")

    def __init__(self, response: "Response") -> None:
        self.response = response
        #: Numbers of the items that nobody has asked for yet.
        self.items: set[int] = set()
        #: Items that are not done.
        self.pending = 0


class ItemSources:
    """The responses of items on their way to the pipeline."""

    def __init__(self, most: int = MOST_RESPONSES, most_bytes: int = MOST_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        #: id(item) -> the item, held so that its id stays its own, and the responses that it came from.
        self._items: dict[int, tuple[Any, list[_SourceResponse]]] = {}
        #: id(response) -> its source, which holds it.
        self._sources: dict[int, _SourceResponse] = {}

    def __len__(self) -> int:
        return len(self._items)

    def note(self, item: Any, response: "Response") -> None:
        """Remember that *item* came from *response*."""
        source = self._sources.get(id(response))
        if source is None:
            self._bytes += len(response.body)
            while self._sources and (len(self._sources) >= self._most or self._bytes > self._most_bytes):
                self._drop(next(iter(self._sources.values())))
            source = self._sources[id(response)] = _SourceResponse(response)
        source.pending += 1
        source.items.add(id(item))
        self._items.setdefault(id(item), (item, []))[1].append(source)

    def take(self, item: Any) -> "Response | None":
        """Return the response that *item* came from, the first one noted, and forget that; None if it is not known."""
        found = self._items.get(id(item))
        if found is None:
            return None
        sources = found[1]
        source = sources.pop(0)
        if not sources:
            del self._items[id(item)]
        if source not in sources:
            source.items.discard(id(item))
        return source.response

    def done(self, response: Any) -> None:
        """Note that an item of *response* has gone through all pipelines, or was dropped, or failed."""
        source = self._sources.get(id(response))
        if source is not None:
            source.pending -= 1
            if source.pending <= 0:
                self._drop(source)

    def _drop(self, source: _SourceResponse) -> None:
        if self._sources.pop(id(source.response), None) is not None:
            self._bytes -= len(source.response.body)
        for number in source.items:
            found = self._items.get(number)
            if found is not None:
                found[1][:] = [each for each in found[1] if each is not source]
                if not found[1]:
                    del self._items[number]
        source.items.clear()
