"""A deadline for searches; findings made before it count."""

from dataclasses import dataclass
from time import monotonic


@dataclass(frozen=True, slots=True)
class Deadline:
    """A time of ``time.monotonic()``, in seconds; None is never."""

    time: float | None = None

    def passed(self) -> bool:
        """Return whether it is later than that."""
        return self.time is not None and monotonic() > self.time

    def share(self, part: float) -> "Deadline":
        """Return the deadline after that *part* of the time that is left.

        >>> Deadline(None).share(0.5) == NEVER
        True
        """
        if self.time is None:
            return self
        now = monotonic()
        return Deadline(now + part * (self.time - now))


NEVER = Deadline()
