"""The workers of a job: which of them are alive, what they are doing, and which one leads.

The leader learns, and does what is left to do when all are idle. A thread shows that its worker is alive, so that a
worker that waits in a blocking call does not count as dead.
"""

from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Final

from redis.exceptions import RedisError

if TYPE_CHECKING:
    from .shared_log import SharedLog

BUSY, IDLE, DONE = "busy", "idle", "done"
#: So often a worker shows within the time after which it counts as dead that it is alive.
_BEATS: Final = 5


class Members:
    """The workers of a job, as far as one of them knows; one that is silent for *patience* seconds is dead."""

    def __init__(self, log: "SharedLog", patience: float) -> None:
        self._log = log
        self._patience = patience
        #: What this worker is doing.
        self.state = BUSY
        self.leader = ""
        #: The last entry of the log when nothing was left to do, "" before that.
        self.finished = ""
        self._at_end = ""
        #: What each worker is doing, "" if it is dead.
        self.states: dict[str, str] = {}
        self._over = Event()
        # The thread and the event loop ask by turns, so that no answer takes the place of a later one.
        self._turn = Lock()
        self._failures = 0
        #: When each dead worker was found dead, in seconds of the monotonic clock.
        self._dead_since: dict[str, float] = {}
        self._thread: Thread | None = None

    def open(self) -> None:
        """Show from now on that the worker is alive. Raises RuntimeError where no further thread can be started."""
        self.look()
        self._thread = Thread(target=self._beat, name="scrapy-dedup fleet", daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._over.wait(self._patience / _BEATS):
            self.look()

    def look(self) -> bool:
        """Show that the worker is alive, and look what the others do; return False if Redis does not answer."""
        failures = self._failures
        with self._turn:
            # It has left; or Redis has just not answered the thread: the event loop does not wait a second time.
            if self._over.is_set() or self._failures > failures:
                return False
            if not self._log.job:  # it has not joined yet
                self.leader = ""
                return False
            at_end = self._at_end if self.state == DONE else ""
            try:
                found = self._log.beat(self.state, int(self._patience * 1000), at_end)
                self.leader, self.finished, self.states = found
                now = monotonic()
                self._dead_since = {worker: self._dead_since.get(worker, now) for worker in self.dead}
            except (RedisError, OSError):
                self._failures += 1
                self.leader = ""
                return False
        return True

    def finish(self, last: str) -> None:
        """Tell the others that nothing is left to do, as *last* is the last entry of the log."""
        if self.state != DONE:
            self._at_end = last
            self.become(DONE)

    def become(self, state: str) -> None:
        """Tell the others what this worker is doing now."""
        if self.state != state:
            self.state = state
            self.look()

    @property
    def leads(self) -> bool:
        """Whether this worker leads."""
        return self.leader == self._log.worker

    @property
    def others(self) -> list[str]:
        """What the other workers are doing that are alive."""
        return [state for worker, state in self.states.items() if state and worker != self._log.worker]

    @property
    def are_idle(self) -> bool:
        """Whether no other worker does anything."""
        return BUSY not in self.others

    @property
    def leader_is_done(self) -> bool:
        """Whether the leader has nothing left to do."""
        return self.states.get(self.leader) == DONE

    @property
    def dead(self) -> list[str]:
        """The workers that have died."""
        return [worker for worker, state in self.states.items() if not state]

    @property
    def long_dead(self) -> list[str]:
        """The workers that have been dead for as long again: where Redis was away all look dead for a moment."""
        latest = monotonic() - self._patience
        return [worker for worker, since in self._dead_since.items() if since < latest]

    def forget_dead(self) -> int:
        """Forget those that are dead; return how many of them no worker of the job has forgotten before."""
        with self._turn:
            try:
                number = self._log.forget_dead(self.dead)
            except (RedisError, OSError):
                return 0
            self.states = {worker: state for worker, state in self.states.items() if state}
        return number

    def close(self) -> int:
        """Leave the job; return how many workers are left. It waits."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        with self._turn:
            try:
                return self._log.leave()
            except (RedisError, OSError):
                return len(self.others)
