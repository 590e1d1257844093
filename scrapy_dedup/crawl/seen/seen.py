"""Which canonical keys are fetched or on their way, and by which URL.

A key with what else tells two requests apart (callback, fingerprint) is a *slot*, a
number of 60 bits. A slot is *taken* when a request is scheduled, and *fetched* when
the response has come; it is *released* when its URL has failed. A fetched page costs
about 100 bytes: two small numbers in a dictionary. Its URL is in the journal.

Of the requests that are filtered while the one that was taken for them is on its way,
a bounded number waits here, to be scheduled in its place if it fails.
"""

from collections import deque
from collections.abc import Callable, Iterator
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple

from .journal import Journal
from .journal_lines import JournalPage, digest_of
from .rekeying import Rekeying

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy import Request

    from ...store.rows import DiscardRow
    from ..support.faults import Faults

#: Requests that wait, in all, and for one slot.
MOST_WAITING = 5_000
MOST_WAITING_PER_SLOT = 3

# The value of a slot is the position of its line in the journal, times two, plus one if it is
# fetched; _UNKNOWN stands for a line that could not be written.
_UNKNOWN = -2


class Waiting(NamedTuple):
    """A filtered request, and its row of the ledger if it has one."""

    request: "Request"
    row: "DiscardRow | None"


class Seen:
    """The slots of a crawl or of its job."""

    def __init__(self, faults: "Faults") -> None:
        self._faults = faults
        #: None before it is opened, and where it cannot be used.
        self._journal: Journal | None = None
        self._values: dict[int, int] = {}
        self._waiting: dict[int, deque[Waiting]] = {}
        self._waiting_number = 0
        #: True if a slot was released that might have had more equivalents than waited for it.
        self.lacking = False
        self._overflowed: set[int] = set()
        # Digests of URLs that were let pass, and no longer stand for a slot since others have the same one now.
        self._others: list[set[int]] = [set()]
        #: Whether slots have moved, so that one that is on its way may be that of several URLs, all let pass.
        self.has_moved = False
        self._job = token_hex(8)
        #: Whether there may be other workers of the job, and whether they go on when this one ends.
        self.is_shared = False
        self.others_go_on = False

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, slot: int) -> bool:
        return slot in self._values

    def is_fetched(self, slot: int) -> bool:
        """Whether the page of *slot* has come."""
        return bool(self._values.get(slot, 0) & 1)

    def url(self, slot: int) -> str:
        """Return the URL that stands for a slot that is taken; "" if it is not known."""
        value = self._values[slot]
        if self._journal is None or value < 0:
            return ""
        try:
            return self._journal.url_at(value >> 1)
        except (OSError, ValueError, IndexError):
            self._faults.report("journal", "A URL could not be read from the journal of pages")
            return ""

    def take(self, slot: int, url: str, callback: str, context: str = "", plain: bool = True) -> None:
        """Let *url* stand for a free slot: it is on its way. See :class:`.JournalPage` for the others."""
        self._values[slot] = self._written(slot, url, callback, context, plain)

    def claim(self, page: JournalPage) -> bool:
        """Claim a slot that seems to be free; return False if somebody else has it."""
        return page.slot not in self

    def unclaim(self, slot: int) -> None:
        """Give back a slot that was claimed, and not taken."""

    def _written(self, slot: int, url: str, callback: str, context: str, plain: bool) -> int:
        if self._journal is not None:
            try:
                return self._journal.taken(slot, url, callback, context, plain) << 1
            except (OSError, ValueError):  # ValueError: it is closed
                self._faults.report("journal", "The journal of pages could not be written")
        return _UNKNOWN

    def fetched(self, slot: int, *, links: bool = False) -> None:
        """Note that the page of a slot that is taken has come, and whether it has led to further requests."""
        value = self._values[slot]
        if value & 1:
            return
        self._values[slot] = value | 1
        self._forget_waiting(slot)
        if self._journal is not None and value >= 0:
            try:
                self._journal.fetched(slot, links)
            except (OSError, ValueError):  # ValueError: it is closed
                self._faults.report("journal", "The journal of pages could not be written")

    # What waits

    def wait(self, slot: int, filtered: Waiting) -> bool:
        """Keep a filtered request as long as the one that stands for its slot is on its way, if there is room."""
        if self.is_fetched(slot):
            return False
        waiting = self._waiting.get(slot)
        if self._waiting_number >= MOST_WAITING or (waiting and len(waiting) >= MOST_WAITING_PER_SLOT):
            self._overflowed.add(slot)
            return False
        if waiting is None:
            waiting = self._waiting[slot] = deque()
        waiting.append(filtered)
        self._waiting_number += 1
        return True

    def release(self, slot: int) -> Waiting | None:
        """Free a slot, as its URL has failed; return the request that is next in its place."""
        value = self._values.pop(slot)
        if self._journal is not None and value >= 0:
            try:
                self._journal.released(slot)
            except (OSError, ValueError):  # ValueError: it is closed
                self._faults.report("journal", "The journal of pages could not be written")
        waiting = self._waiting.get(slot)
        if not waiting:
            self.lacking |= slot in self._overflowed
            return None
        filtered = waiting.popleft()
        self._waiting_number -= 1
        if not waiting:
            del self._waiting[slot]
        return filtered

    def release_waited_for(self) -> list[Waiting]:
        """Free all slots that requests wait for; return those that are next in their place.

        When a spider is idle nothing is on its way any more: these have failed unnoticed.
        """
        freed = []
        for slot in list(self._waiting):
            self._values.setdefault(slot, _UNKNOWN)
            filtered = self.release(slot)
            if filtered is not None:
                freed.append(filtered)
        return freed

    def _forget_waiting(self, slot: int) -> None:
        self._overflowed.discard(slot)
        waiting = self._waiting.pop(slot, None)
        if waiting:
            self._waiting_number -= len(waiting)

    # Other rules

    def is_another(self, url: str) -> bool:
        """Whether *url* was let pass before the rules said that it is the page of another one."""
        if not any(self._others):
            return False
        digest = digest_of(url)
        return any(digest in others for others in self._others)

    def note_another(self, url: str) -> None:
        """Note that *url* is let pass although it is the page of another one: it is to be compared with that."""
        self._others[0].add(digest_of(url))

    def pages(self) -> Iterator[JournalPage]:
        """Yield the pages that were scheduled, as far as they can be read."""
        return iter(()) if self._journal is None else self._journal.pages()

    def move(self, digest: str, slot_of: Callable[[JournalPage], int | None]) -> Rekeying | None:
        """Return what moves all pages to the slots that *slot_of* gives; None if it is not known which pages they are.

        Raises OSError.
        """
        return Rekeying(self._journal, digest, slot_of) if self._journal is not None else None

    def moved(self, move: Rekeying | None) -> tuple[list[Waiting], dict[int, int]]:
        """Use the slots of *move*, which is done.

        Return the requests that wait, to be compared anew, and the slots of before, which take long to be
        forgotten. Without *move*, no page is known any more. Raises OSError, and nothing has changed then.
        """
        before = self._values
        self.has_moved = True
        if move is not None:
            self._journal = move.put_in_place()
            self._values = move.values
            if move.others:
                self._others.append(move.others)
        else:
            self._values = {}
        waiting = [each for queue in self._waiting.values() for each in queue]
        self._waiting = {}
        self._waiting_number = 0
        # Of which of these slots there are more in the ledger is not known any more.
        self.lacking |= bool(self._overflowed)
        self._overflowed = set()
        return waiting, before

    # Jobs

    def open(self, path: "Path | None", digest: str, slot_of: Callable[[JournalPage], int | None]) -> int:
        """Keep the URLs in a journal at *path*, in an unnamed file without; return the number of pages known from before.

        These are what earlier runs of the job have fetched (see :meth:`.Journal.resume`). Raises OSError, and there is no
        journal then.
        """
        try:
            self._journal = Journal(path)
            for slot, position in self._journal.resume(digest, slot_of):
                self._values[slot] = position << 1 | 1
        except OSError:
            self._journal = None
            self._values = {}
            raise
        return len(self._values)

    @property
    def persistent(self) -> bool:
        """Whether the pages outlive the crawl."""
        return self._journal is not None and self._journal.persistent

    @property
    def job(self) -> str:
        """A name for the job, the same in all its runs."""
        return self._journal.job if self._journal is not None else self._job

    @property
    def goes_on(self) -> bool:
        """Whether earlier runs of the job have written the journal."""
        return self._journal is not None and self._journal.goes_on

    @property
    def was_killed(self) -> bool:
        """Whether the run of the job before this one was killed, so that what Scrapy had queued is lost."""
        return self._journal is not None and self._journal.was_killed

    @property
    def doubtful(self) -> int:
        """The number of pages that were fetched in a run that was killed, and whose links may be lost."""
        return len(self._journal.doubtful) if self._journal is not None else 0

    def is_doubtful(self, url: str) -> bool:
        """Whether *url* is that of such a page."""
        return self._journal is not None and digest_of(url) in self._journal.doubtful

    def close(self) -> None:
        """Write what is left."""
        if self._journal is not None:
            try:
                self._journal.close()
            except (OSError, ValueError):  # ValueError: it is closed
                self._faults.report("journal", "The journal of pages could not be written")
