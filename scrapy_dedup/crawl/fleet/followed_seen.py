"""What is seen, by what the other workers of a fleet write into the shared log.

Slots are made anew from the URLs that the log names, by the rules of this worker, whatever rules the other one has.
"""

import json
from typing import TYPE_CHECKING, Final

from ..seen.journal_lines import JournalPage, digest_of
from ..seen.seen import Seen, Waiting
from .log_data import Entry
from .shared_lines import Change, page_of
from .shared_log import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from ..seen.rekeying import Rekeying
    from ..support.faults import Faults

#: Lines about slots that are not known under the rules in use that are kept until these are others.
_MOST_UNKNOWN: Final = 10_000


class FollowedSeen(Seen):
    """The slots of a job, as far as the log tells of them; *worker* is the name of this one there."""

    def __init__(self, faults: "Faults", worker: str) -> None:
        super().__init__(faults)
        self._worker = worker
        self._slot_of: Callable[[JournalPage], int | None] = lambda page: page.slot
        #: The last entry of the log that is known.
        self.last = NOTHING
        #: Slots by other rules than those in use -> slots; and what was said of those that are not known.
        self._known_as: dict[int, int] = {}
        self._unknown: list[str] = []
        #: By slot: the other worker that is about to fetch its page, as far as it has told.
        self._sent_by: dict[int, str] = {}
        #: What others have done since it was asked for the last time.
        self.changes: list[Change] = []

    def follow(self, entries: "Iterable[Entry]", last: str) -> None:
        """Take over what other workers have done; *last* is the last entry that is known then."""
        for entry in entries:
            if entry.worker != self._worker:
                self._follow_lines(entry.lines, entry.worker)
        self.last = last

    def _follow_lines(self, lines: "Iterable[str]", worker: str) -> None:
        for line in lines:
            try:
                self._follow(line, worker)
            except (ValueError, OverflowError):  # it is of another form, of another release, say
                self._faults.count("fleet")

    def _follow(self, line: str, worker: str) -> None:
        if line[:1] == "+":
            page = page_of(line)
            slot = self._slot_of(page) if page.plain else page.slot
            if slot is None:
                return
            if slot != page.slot:
                self._known_as[page.slot] = slot
            if slot not in self._values:
                super().take(slot, page.url, page.callback, page.context, page.plain)
            elif self._values[slot] & 1 or self.url(slot) != page.url:
                self._others[0].add(digest_of(page.url))
            return
        if line[:1] == "?":
            json.loads(line[1:])  # ValueError: it is of another form
            self.changes.append(Change(said=line[1:]))
            return
        if line[:1] not in {">", "=", "-"}:
            return
        said = int(line[1:].rstrip("+"), 16)
        if line[:1] == ">":
            slot = self._known_as.get(said, said)
            if slot in self._values and not self._values[slot] & 1:
                self._sent_by[slot] = worker
            return
        slot = self._known_as.pop(said, said)
        self._sent_by.pop(slot, None)
        if slot not in self._values:
            if len(self._unknown) < _MOST_UNKNOWN:
                self._unknown.append(line)
        elif line[:1] == "=":
            if not self._values[slot] & 1:
                super().fetched(slot, links=line.endswith("+"))
                self.changes.append(Change(slot, fetched=True))
        else:
            self.changes.append(Change(slot, next=super().release(slot)))
            self.lacking = True  # what others have filtered in its favour is in the ledger

    def moved(self, move: "Rekeying | None") -> tuple[list[Waiting], dict[int, int]]:
        """As :meth:`.Seen.moved`."""
        under_way = {} if move is None else {before: page.slot for before, page in move.under_way.items()}
        found = super().moved(move)
        self._sent_by = {under_way[slot]: worker for slot, worker in self._sent_by.items() if slot in under_way}
        self._known_as = {said: under_way.get(slot, slot) for said, slot in self._known_as.items()} | under_way
        return found

    def follow_again(self) -> None:
        """Take over what was said of slots that were not known, as other rules are in use."""
        unknown, self._unknown = self._unknown, []
        self._follow_lines(unknown, "")

    def _follow_anew(self, entry: Entry) -> None:
        self._follow_lines(entry.lines, entry.worker)  # this worker's, too
        self.last = entry.id

    @property
    def goes_on(self) -> bool:
        """Whether others have written before."""
        return self.last != NOTHING

    def slots_under_way(self) -> set[int]:
        """Return the slots that are taken, and whose page has not come."""
        return {slot for slot, value in self._values.items() if not value & 1}

    def slots_sent_by(self, workers: "Collection[str]") -> set[int]:
        """Return the slots whose page has not come, and was about to be fetched by some of *workers*."""
        return {slot for slot, worker in self._sent_by.items() if worker in workers}
