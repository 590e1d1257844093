"""Which response an item came from: items do not carry it, and many cannot be weakly referenced.

An item is kept, with its response, from where it leaves the spider to the pipeline. What the
pipeline does not ask for, since another one before it has dropped or replaced the item, goes when
all items of the response are done.
"""

from typing import TYPE_CHECKING, Any, Final

import attrs

if TYPE_CHECKING:
    from scrapy.http import Response

#: Responses whose items are remembered, and their bytes together; more of them are hardly ever under way, unless
#: items vanish without a signal. The last one is remembered however long it is.
MOST_RESPONSES: Final = 1_000
MOST_BYTES: Final = 33_554_432


@attrs.define(eq=False, repr=False)
class _SourceResponse:
    """A response with items under way."""

    response: "Response"
    #: Numbers of the items that nobody has asked for yet.
    items: set[int] = attrs.field(factory=set, init=False)
    #: Items that are not done.
    pending: int = attrs.field(default=0, init=False)


@attrs.define(eq=False, repr=False)
class ItemSources:
    """The responses of items on their way to the pipeline."""

    _most: int = MOST_RESPONSES
    _most_bytes: int = MOST_BYTES
    _bytes: int = attrs.field(default=0, init=False)
    #: id(item) -> the item, held so that its id stays its own, and the responses that it came from.
    _items: dict[int, tuple[Any, list[_SourceResponse]]] = attrs.field(factory=dict, init=False)
    #: id(response) -> its source, which holds it.
    _sources: dict[int, _SourceResponse] = attrs.field(factory=dict, init=False)

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
