"""From the slots of one set of rules to those of another, while the crawl goes on.

The journal of pages is read from its beginning, some of it at a time, and written anew with the other
slots, until nothing is left to read: then the new journal and the new slots take the place of
the old ones at once.

Pages that had slots of their own may have one in common now. One of them stands for it: the one that
was fetched first, else the one that was scheduled first. The URLs of the others are remembered, since
they were let pass, and are no savings of the new rules.
"""

from collections.abc import Callable
from time import thread_time
from typing import TYPE_CHECKING, NamedTuple

from .journal_lines import JournalPage, LineReader, digest_of

if TYPE_CHECKING:
    from .journal import Journal
    from .journal_lines import SlotEvent

_A_FEW = 8  # lines between two looks at the clock


class _OnItsWay(NamedTuple):
    """A page on its way: its new slot, the value of that slot if the page stands for it, and the page itself."""

    slot: int
    value: int
    page: JournalPage


_NONE = -1


class Rekeying:
    """Gives every page of a journal the slot that *slot_of* returns; None drops the page.

    *digest* identifies what those slots are made by. Raises OSError.
    """

    def __init__(self, journal: "Journal", digest: str, slot_of: Callable[[JournalPage], int | None]) -> None:
        self._journal = journal
        self._slot_of = slot_of
        self._next = journal.successor(digest)
        self._lines = LineReader(None)
        self._position = 0
        self._rest = b""
        self._waiting: list[bytes] = []
        #: By their slot of before, the pages that are on their way.
        self.under_way: dict[int, _OnItsWay] = {}
        #: Slot -> value, as :class:`.Seen` has them.
        self.values: dict[int, int] = {}
        #: Digests of the URLs that were let pass and stand for no slot.
        self.others: set[int] = set()

    def some(self, seconds: float) -> bool:
        """Move pages for *seconds* of the processor; return whether all are moved. Raises OSError."""
        end = thread_time() + seconds
        while True:
            if not self._waiting and not self._read():
                return True
            batch, self._waiting = self._waiting[-_A_FEW:], self._waiting[:-_A_FEW]
            for line in reversed(batch):
                event = self._lines.event(line)
                if event is not None:
                    self._follow(event)
            if thread_time() >= end:
                return False

    def _read(self) -> bool:
        data = self._journal.read(self._position)
        self._position += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._waiting = [line + b"\n" for line in reversed(lines)]
        return bool(data)

    def _follow(self, event: "SlotEvent") -> None:
        if event.page is not None:
            self._taken(event.slot, event.page)
            return
        under = self.under_way.pop(event.slot, None)
        if under is None:
            return
        if event.fetched:
            self._fetched(under, links=event.links)
        else:
            self._released(under)

    def _taken(self, before: int, page: JournalPage) -> None:
        slot = self._slot_of(page)
        if slot is None:
            return
        value = _NONE
        if slot not in self.values:
            value = self.values[slot] = self._written(slot, page)
        else:
            self.others.add(digest_of(page.url))
        self.under_way[before] = _OnItsWay(slot, value, page)

    def _fetched(self, under: _OnItsWay, *, links: bool) -> None:
        slot, value, page = under
        found = self.values.get(slot, _NONE)
        if found != _NONE and found & 1:
            return
        if found != value or value == _NONE:
            # One that was scheduled before it has not come yet, or has failed.
            if found != _NONE:
                self.others.add(digest_of(self._next.url_at(found >> 1)))
            self.others.discard(digest_of(page.url))
            value = self._written(slot, page)
        self.values[slot] = value | 1
        self._next.fetched(slot, links, at_once=False)

    def _released(self, under: _OnItsWay) -> None:
        if under.value != _NONE and self.values.get(under.slot) == under.value:
            del self.values[under.slot]
            self._next.released(under.slot)
        else:
            self.others.discard(digest_of(under.page.url))

    def _written(self, slot: int, page: JournalPage) -> int:
        return self._next.taken(slot, page.url, page.callback, page.context, page.plain) << 1

    def put_in_place(self) -> "Journal":
        """Let the new journal take the place of the old one; return it. Raises OSError."""
        self._journal.replaced_by(self._next)
        return self._next

    def abandon(self) -> None:
        """Leave all as it was."""
        self._next.abandon()
