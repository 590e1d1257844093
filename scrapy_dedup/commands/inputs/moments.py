"""Times as users write them."""

import re
from datetime import datetime, timezone
from typing import Final

from ..terminal.problems import Mistake

_AGO: Final = re.compile(r"(\d+)([smhdw])\Z").match
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def time_of(text: str, now: float) -> float:
    """Return the time that a user means, in seconds since 1970: a date, a date and time (UTC), or how long ago.

    Raises Mistake.

    >>> time_of("2d", 1_000_000.0), time_of("2025-11-25", 0.0), time_of("2025-11-25T09:00:00Z", 0.0)
    (827200.0, 1764028800.0, 1764061200.0)
    """
    ago = _AGO(text)
    if ago is not None:
        return now - int(ago[1]) * _SECONDS[ago[2]]
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise Mistake(f"{text!r} is no time; right ones: 2025-11-25, 2025-11-25T09:00:00, 3h, 2d") from None
    return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()
