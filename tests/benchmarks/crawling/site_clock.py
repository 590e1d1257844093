"""The clock that a recorded site shows on its own pages, which stands still in a recording and runs when it is served.

A site has one where the last time of day on its pages goes on from response to response, in the order in which they were
recorded: that is when each was made, and no part of what it says.
"""

import re
import time
from collections.abc import Iterable
from itertools import islice, pairwise
from typing import Final

LOOKED_AT: Final = 500
"""Pages that are looked at, the first ones."""
SHOWN: Final = 0.9
"""Share of the pages on which the site's clock stands."""
GOES_ON: Final = 0.98
"""Share of consecutive responses of which the later one does not show an earlier time."""
_TIME: Final = re.compile(rb"(?P<date>\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d")


def last_time(body: bytes) -> re.Match[bytes] | None:
    """The last time of day in a body, with the date before it."""
    times = list(_TIME.finditer(body))
    return times[-1] if times else None


def has_clock(bodies: Iterable[bytes]) -> bool:
    """Whether pages, in the order in which they were recorded, show when they were made."""
    times = [found[0] if (found := last_time(body)) else None for body in islice(bodies, LOOKED_AT)]
    known = [text for text in times if text is not None]
    if len(known) < max(2, SHOWN * len(times)) or known[0] == known[-1]:
        return False
    return sum(one <= two for one, two in pairwise(known)) >= GOES_ON * (len(known) - 1)


def at_present(body: bytes, now: float) -> bytes:
    """A body whose last time of day is *now* (seconds since 1970)."""
    found = last_time(body)
    if found is None:
        return body
    shown = time.strftime("%Y-%m-%d %H:%M:%S" if found["date"] else "%H:%M:%S", time.gmtime(now))
    return body[: found.start()] + shown.encode() + body[found.end() :]
