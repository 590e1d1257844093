"""What the workers of a job have seen: every worker knows the pages of all, and a claim is decided in Redis.

What one worker takes, fetches or releases it writes into the shared log, and it follows there what the others do. So
each decides by what it knows itself, under its own rules: Redis only says that somebody was quicker. Where it says so
and nothing that is known explains it, or where it cannot be asked, the request is fetched.
"""

from typing import TYPE_CHECKING, Final

from redis.exceptions import RedisError

from ..seen.journal_lines import JournalPage
from ..seen.seen import Waiting
from .followed_seen import FollowedSeen
from .log_data import Entry, Joined, Reply
from .shared_lines import taken_line
from .shared_log import NOTHING, SharedLog

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from scrapy.statscollectors import StatsCollector

    from ..support.faults import Faults

#: Exchanges after a claim that another worker has won, until the page of that is known.
_TRIES: Final = 50


class SharedSeen(FollowedSeen):
    """The slots of all workers of a job."""

    def __init__(self, faults: "Faults", stats: "StatsCollector", log: SharedLog) -> None:
        super().__init__(faults, log.worker)
        self.log = log
        self.is_shared = self.others_go_on = True
        self._stats = stats
        #: The version of the rules in use; 0 where they are this worker's alone.
        self.version = 0
        #: The version that counts.
        self.newest = 0
        self._agrees = True
        #: Whether Redis does not answer, or what is known is not what it holds: nothing is filtered then.
        self.adrift = False
        #: Whether the log is to be joined and read from its beginning, and whether so much has happened that a thread has to read it.
        self.is_lost = False
        self.lags = False
        self._shared_job = ""
        self._lines: list[str] = []
        self._changed_slots: list[tuple[str, int]] = []
        self._unsent: list[JournalPage] = []
        #: A slot that is claimed, and not taken yet.
        self._claimed: int | None = None
        #: Pages that were taken while other rules counted: Redis hears of their slots when these are in use here.
        self._late: list[JournalPage] = []
        #: Takes over the rules of the job, and returns what slots are made by then. Set by the composition root.
        self.take_rules: Callable[[], str] = lambda: ""
        #: Called when other rules begin to count. Set by the fleet.
        self.newer_rules: Callable[[], None] = lambda: None

    # What is handed over

    def __contains__(self, slot: int) -> bool:
        return not self.adrift and super().__contains__(slot)

    def claim(self, page: JournalPage) -> bool:
        """Claim the slot of a page that is about to be taken; return False if it is another worker's."""
        self._claimed = None
        reply = self._exchanged((page.slot, taken_line(page)))
        if reply is None:
            return True
        if reply.status == "stale":
            self._late.append(page)
        elif reply.status == "taken":
            for _ in range(_TRIES):
                if page.slot in self or not reply.more:
                    break
                reply = self._exchanged()
                if reply is None:
                    break
            self._stats.inc_value("dedup/fleet/taken")
            return page.slot not in self
        self._claimed = page.slot
        return True

    def take(self, slot: int, url: str, callback: str, context: str = "", plain: bool = True) -> None:
        """As :meth:`.Seen.take`; unless it was claimed, that is handed over."""
        super().take(slot, url, callback, context, plain)
        if self._claimed == slot:
            self._claimed = None
            return
        page = JournalPage(slot, url, callback, context, plain)
        self._tell(taken_line(page))
        if not self._shared_job:
            return
        if self._is_current:
            self._changed_slots.append(("+", slot))
            self._unsent.append(page)
        else:
            self._late.append(page)

    def unclaim(self, slot: int) -> None:
        """Give back a slot that was claimed, and not taken."""
        if self._claimed == slot:
            self._claimed = None
            self._free(slot)

    def note_sent(self, slot: int) -> None:
        """Note that the page of a slot is about to be fetched by this worker, whoever has taken it."""
        if slot in self._values and not self._values[slot] & 1:
            self._tell(f">{slot:x}")
            self._sent_by.pop(slot, None)

    def fetched(self, slot: int, *, links: bool = False) -> None:
        """As :meth:`.Seen.fetched`."""
        self._sent_by.pop(slot, None)
        if slot in self._values and not self._values[slot] & 1:
            self._tell(f"={slot:x}{'+' if links else ''}")
        super().fetched(slot, links=links)

    def release(self, slot: int) -> Waiting | None:
        """As :meth:`.Seen.release`."""
        self._sent_by.pop(slot, None)
        self._free(slot)
        return super().release(slot)

    def _free(self, slot: int) -> None:
        self._tell(f"-{slot:x}")
        if self._shared_job and self._is_current:
            self._changed_slots.append(("-", slot))

    def release_waited_for(self) -> list[Waiting]:
        """Free nothing: the leader frees what was lost (:class:`.LostPages`)."""
        return []

    def say(self, what: str) -> None:
        """Tell the other workers something, in JSON."""
        self._tell(f"?{what}")

    def _tell(self, line: str) -> None:
        if self._shared_job:  # a worker that joins later begins with what it reads then
            self._lines.append(line)

    def exchange(self) -> bool:
        """Hand over what waits, and follow the others; return False if Redis does not answer."""
        return self._exchanged() is not None

    @property
    def is_joined(self) -> bool:
        """Whether this worker has joined the job, and Redis holds what it knows of it."""
        return bool(self._shared_job) and not self.is_lost

    @property
    def _is_current(self) -> bool:
        return self._agrees and self.version == self.newest

    @property
    def has_lines(self) -> bool:
        """Whether something waits to be handed over."""
        return bool(self._lines)

    def _exchanged(self, claim: tuple[int, str] | None = None) -> Reply | None:
        if not self.is_joined or (self.adrift and claim is not None):
            return None  # whether Redis answers again is asked by the clock
        lines, changed_slots = self._lines, self._changed_slots
        self._stats.inc_value("dedup/fleet/exchanges")
        try:
            reply = self.log.exchange(self.last, self.version if self._agrees else 0, lines, changed_slots, claim)
        except (RedisError, OSError):
            self._faults.report("fleet", "Redis does not answer, so that nothing is filtered")
            self.adrift = True
            return None
        if reply.status == "lost":
            self._stats.inc_value("dedup/fleet/lost")
            self.adrift = self.is_lost = True
            return None
        if not self._agrees or reply.version != self.version:
            self._late += self._unsent  # Redis has not noted these slots: they are of other rules
        self._lines, self._changed_slots, self._unsent = [], [], []
        are_newer = reply.version != self.newest
        self.newest = reply.version
        self.lags = reply.packed
        self.follow(reply.entries, reply.last)
        self.adrift = reply.packed
        if are_newer and not self.adrift:
            self.newer_rules()
        return reply

    # Other rules

    def use_version(self, version: int, slot_of: "Callable[[JournalPage], int | None]", *, agrees: bool) -> None:
        """Use a version of the rules from now on; *slot_of* gives the slots by them.

        Unless it *agrees* with all that the other workers make slots by, nothing is claimed by it.
        """
        self._slot_of = slot_of
        self.version = version
        self._agrees = agrees
        late = self._late + self._unsent
        self._changed_slots, self._unsent, self._late = [], [], []
        if not agrees:
            return
        for page in late:
            slot = slot_of(page) if page.plain else None
            if slot is not None and super().__contains__(slot):
                self._changed_slots.append(("+", slot))
        self.follow_again()

    # Jobs

    def open(self, path: "Path | None", digest: str, slot_of: "Callable[[JournalPage], int | None]") -> int:
        """Join the job; return the number of pages that are known of it. Raises OSError.

        Where Redis does not answer, it is joined later (:meth:`join`).
        """
        super().open(None, digest, slot_of)
        self._slot_of = slot_of
        try:
            joined = self.join(digest)
            self.newest = joined.version
            if joined.digest != digest and not joined.no_other_alive:
                digest = self.take_rules()
            self.version = joined.version
            self._agrees = joined.digest == digest
            self._forget()
            for entry in self.log.packed(NOTHING):
                self._follow_anew(entry)
            self._begun_anew()
            if not self._agrees and joined.no_other_alive:
                self._let_own_rules_count(joined.version, digest)
        except (RedisError, OSError):
            self.adrift = self.is_lost = True
            self._forget()
            self._faults.report("fleet", "The crawl cannot join the others of its job, so that nothing is filtered")
        except Exception:  # what others have written may be of any form: nothing is filtered then
            self.adrift = self.is_lost = True
            raise
        return len(self)

    def join(self, digest: str) -> Joined:
        """Join the job, or begin it where Redis holds none; *digest* is what slots are made by here. It waits.

        Raises RedisError, OtherFormatError.
        """
        joined = self.log.join(self.job, digest)
        self._shared_job = self._shared_job or joined.job
        return joined

    def _let_own_rules_count(self, version: int, digest: str) -> None:
        """Let the rules of this worker count, as there is no other: they are those of the files."""
        self.log.write_slots(version + 1, list(self._values))
        done, self.newest = self.log.publish_own(version, digest)
        if done:
            self.version, self._agrees = self.newest, True

    async def begin_anew(self, joined: Joined, digest: str, entries: "AsyncIterator[Entry]") -> None:
        """Forget what is known, and take over all *entries* of the log of a job that is *joined* late, or anew.

        Rules that are not those in use here, which make the *digest*, are taken over after that.
        """
        self._forget()
        self._agrees = joined.digest == digest
        self.version, self.newest = joined.version if self._agrees else 0, joined.version
        async for entry in entries:
            self._follow_anew(entry)
        self._begun_anew()

    def _forget(self) -> None:
        self._values = {}
        self._known_as, self._unknown, self._sent_by = {}, [], {}
        self._lines, self._changed_slots, self._unsent, self._late = [], [], [], []
        self.last = NOTHING

    def _begun_anew(self) -> None:
        self.changes = []
        self.lacking = True
        self.adrift = self.is_lost = self.lags = False

    def catch_up(self, entries: list[Entry]) -> None:
        """Take over entries that a thread has read, unless they are known by now."""
        if entries and not self.is_lost:
            self.follow(entries, entries[-1].id)

    @property
    def persistent(self) -> bool:
        """Whether the pages outlive the crawl."""
        return True

    @property
    def job(self) -> str:
        """A name for the job, the same for all its workers."""
        return self._shared_job or super().job

    def close(self) -> None:
        """Hand over what is left."""
        if self._lines:
            self._exchanged()
        super().close()
