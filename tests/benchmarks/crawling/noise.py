"""What differs on each response of a page: a clock, a visitor counter, a token, a duration, rotating teasers.

A server hands each HTML body to :meth:`Noise.on`, which adds these as a server does: above and below the page's own
content, anew at each response. What is added follows from the seed and the number of the response; the clock is that of
the machine unless it is told to step with the responses.
"""

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count, islice, pairwise
from random import Random
from typing import Final, Literal
from zlib import crc32

KINDS: Final = ("clock", "counter", "teasers", "token", "duration")
TYPED: Final = ("clock", "counter", "token", "duration")
"""Those of which what varies holds a digit."""
USUAL: Final = ("clock", "counter", "teasers", "token")
"""What the pages of every crawled benchmark site carry, unless it is told to be quiet."""
VISITORS: Final = 104_211
"""That were there before the first response."""

_STARTS = (
    "Ten Why How Seven Our Best Inside Meet The Discover Watch Learn Get Win Try Read Save New Big Small Fast Slow Old "
    "Young Warm Cold Bright Dark Deep High"
)
_ADJECTIVES = (
    "great most many lovely favourite local secret hidden quiet busy modern ancient wooden golden silver copper iron "
    "velvet cotton paper glass stone river forest ocean desert island valley garden winter"
)
_NOUNS = (
    "lamps roads chairs horses books gardens bridges castles windows kitchens bicycles trains rockets puzzles songs maps "
    "coats boots clocks bells boats kites drums flutes tents ladders mirrors baskets pillows blankets"
)
TEASERS: Final = tuple(map(" ".join, zip(_STARTS.split(), _ADJECTIVES.split(), _NOUNS.split(), strict=True)))
SHOWN: Final = 3
"""Teasers that a page shows."""

_BODY = re.compile(rb"<body\b[^>]*>", re.IGNORECASE)
_HEAD = re.compile(rb"</head\s*>", re.IGNORECASE)
_END = re.compile(rb"</body\s*>", re.IGNORECASE)

Style = Literal["class", "plain"]
Clock = Callable[[int], float]


def stepping(start: float, seconds: float) -> Clock:
    """A clock that goes on by so many seconds with each response, from *start* (seconds since 1970)."""
    return lambda number: start + number * seconds


def real_clock(number: int) -> float:
    """The clock of the machine."""
    return time.time()


@dataclass
class Noise:
    """What is added to the pages of one server.

    *kinds* are of ``KINDS``, none for a quiet server. In *style* "class" each stands in an element with a class name, in
    "plain" in a bare paragraph. *share* is that of the URLs whose pages carry it, the same ones at each response.
    """

    kinds: tuple[str, ...] = USUAL
    style: Style = "class"
    seed: int = 1
    share: float = 1.0
    clock: Clock = real_clock
    _numbers: "count[int]" = field(default_factory=lambda: count(1), init=False, repr=False)

    def __post_init__(self) -> None:
        unknown = set(self.kinds) - set(KINDS)
        if unknown:
            raise ValueError(f"no such noise: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")

    def __bool__(self) -> bool:
        return bool(self.kinds)

    def carried_by(self, target: str) -> bool:
        """Whether the page at *target* (a path with its query) carries it."""
        return bool(self.kinds) and crc32(f"{self.seed} {target}".encode()) < self.share * 2**32

    def on(self, body: bytes, target: str = "") -> bytes:
        """The HTML of the page at *target* with what the next response adds to it."""
        number = next(self._numbers)
        if not body or not self.carried_by(target):
            return body
        above, below = (part.encode("ascii") for part in self.parts(number))
        begin = _BODY.search(body) or _HEAD.search(body)
        start = begin.end() if begin else 0
        ends = [found.start() for found in _END.finditer(body)]
        end = ends[-1] if ends else len(body)
        return body[:start] + above + body[start:end] + below + body[end:]

    def on_text(self, html: str, target: str = "") -> str:
        """As :meth:`on`, for text."""
        return self.on(html.encode(), target).decode()

    def parts(self, number: int) -> tuple[str, str]:
        """What the response of that number shows above and below the page's content."""
        random = Random(f"{self.seed} {number}")
        now = time.strftime("%a, %d %b %Y %H:%M:%S", time.gmtime(self.clock(number)))
        visitors = VISITORS + 2 * number + random.randint(0, 1)
        teasers = "".join(f"<li>{text}</li>" for text in random.sample(TEASERS, SHOWN))
        token, duration = f"{random.getrandbits(64):016x}", f"{0.004 + random.random() * 0.03:.4f}"
        above = {
            "clock": self._element("now", now),
            "counter": self._element("visits", f"Visitor no. {visitors} today"),
            "teasers": f'<ul class="teasers">{teasers}</ul>' if self.style == "class" else f"<ul>{teasers}</ul>",
        }
        below = {
            "token": self._element("request", token),
            "duration": self._element("generated", f"Page generated in {duration} s"),
        }
        return self._chosen(above.items()), self._chosen(below.items())

    def _element(self, name: str, text: str) -> str:
        return f"<p>{text}</p>" if self.style == "plain" else f'<div class="{name}">{text}</div>'

    def _chosen(self, parts: Iterable[tuple[str, str]]) -> str:
        return "".join([html for kind, html in parts if kind in self.kinds])


def usual(*, quiet: bool) -> Noise:
    """The noise of a benchmark site: the usual, or none."""
    return Noise(() if quiet else USUAL)


LOOKED_AT: Final = 500
"""Pages that are looked at, the first ones."""
WITH_CLOCK: Final = 0.9
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
    if len(known) < max(2, WITH_CLOCK * len(times)) or known[0] == known[-1]:
        return False
    return sum(one <= two for one, two in pairwise(known)) >= GOES_ON * (len(known) - 1)


def at_present(body: bytes, now: float) -> bytes:
    """A body whose last time of day is *now* (seconds since 1970)."""
    found = last_time(body)
    if found is None:
        return body
    shown = time.strftime("%Y-%m-%d %H:%M:%S" if found["date"] else "%H:%M:%S", time.gmtime(now))
    return body[: found.start()] + shown.encode() + body[found.end() :]
