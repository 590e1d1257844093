"""A deadline for searches; findings made before it count."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic


@dataclass(frozen=True, slots=True)
class Deadline:
    """A time of a *clock*, in seconds; None is never."""

    time: float | None = None
    clock: Callable[[], float] = monotonic

    def passed(self) -> bool:
        """Return whether it is later than that."""
        return self.time is not None and self.clock() > self.time

    def share(self, part: float) -> "Deadline":
        """Return the deadline after that *part* of the time that is left.

        >>> Deadline(None).share(0.5) == NEVER
        True
        """
        if self.time is None:
            return self
        now = self.clock()
        return replace(self, time=now + part * (self.time - now))


NEVER = Deadline()
