"""The look of a part of a page on one site, and what its figures are from time to time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from random import Random

__all__ = ["BEGIN", "DAY", "HOUR", "MINUTE", "Fetch", "Look", "Part", "words", "written"]

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=timezone.utc).timestamp()

_SYLLABLES = (
    "ba be bi bo da de di do fa fe ka ke ko la le li lo ma me mi mo na ne no ra re ri ro sa se so ta te ti to".split()
)


def words(rng: Random, number: int) -> str:
    """Return made-up words."""
    return " ".join("".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in range(number))


@dataclass(frozen=True, slots=True)
class Fetch:
    """One response: the page (kind, number), when (seconds since 1970), and the number of the request."""

    kind: str
    number: int
    at: float
    request: int

    @property
    def page(self) -> str:
        """The name of the page."""
        return f"{self.kind}/{self.number}"


class Look:
    """How a part of a site looks: drawn once for each site and part."""

    def __init__(self, seed: str) -> None:
        self.seed = seed
        rng = self.drawn()
        self.label = words(rng, rng.randint(1, 3))
        self.tail = words(rng, rng.randint(0, 2))
        self.low = 10 ** rng.randint(1, 4) // rng.randint(1, 3)
        self.high = self.low * rng.randint(2, 8)
        self.pool = [words(rng, rng.randint(2, 12)) for _ in range(rng.choice((2, 3, 4, 6, 10, 20, 40)))]
        self.states = [words(rng, rng.randint(1, 2)) for _ in range(rng.randint(2, 4))]
        self.every = rng.choice((0.1, 0.3, 0.6, 1.0))
        self.number = rng.choice(("{:d}", "{:,d}", "{:d}"))
        self.clock = rng.choice(("%H:%M", "%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%d %b %Y, %H:%M", "%I:%M:%S %p"))
        self.date = rng.choice(("%Y-%m-%d", "%A, %d %B %Y", "%d.%m.%Y", "%B %d, %Y"))
        self.period = rng.choice((HOUR, 3 * HOUR, DAY, DAY))
        self.shown = rng.randint(2, 6)

    def drawn(self, *of: object) -> Random:
        """Return a source of chance that is the same for the same arguments."""
        return Random("|".join(map(str, (self.seed, *of))))

    def drawn_now(self, fetch: Fetch) -> Random:
        """Return a source of chance of the site's period."""
        return self.drawn(int(fetch.at // self.period))

    def drawn_today(self, fetch: Fetch) -> Random:
        """Return a source of chance of a page and a day."""
        return self.drawn(fetch.page, int(fetch.at // DAY))

    def said(self, text: str) -> str:
        """Return a text with the words around it."""
        return " ".join(filter(None, (self.label, text, self.tail)))

    def counted(self, number: int) -> str:
        """Return a number as the site writes it, with the words around it."""
        return self.said(self.number.format(number))

    def many(self, rng: Random, pool: Sequence[str]) -> list[str]:
        """Return as many of some texts as the part shows at once."""
        return rng.sample(list(pool), min(self.shown, len(pool)))

    def level(self, page: str) -> int:
        """Return the figure that a page begins with."""
        return self.drawn("level", page).randint(self.low, self.high)

    def steps(self, fetch: Fetch, every: float, chance: float) -> list[int]:
        """Return the numbers of the periods so far in which something happened to the page."""
        now = int((fetch.at - BEGIN) // every)
        often = min(chance, self.drawn("often", fetch.page).uniform(0.2, 0.9))  # no two pages go the same way
        return [step for step in range(-20, now + 1) if self.drawn("step", fetch.page, step).random() < often]

    def moved(self, fetch: Fetch, every: float, chance: float, size: float) -> float:
        """Return a figure of a page that goes up and down now and then."""
        value = float(self.level(fetch.page))
        for step in self.steps(fetch, every, chance):
            value *= 1 + size * (self.drawn("size", fetch.page, step).random() - 0.5)
        return value


@dataclass(frozen=True, slots=True)
class Part:
    """A part by its nature: whether it is transient, and what a response shows of it."""

    name: str
    transient: bool
    made: Callable[[Look, Fetch], list[str]]
    places: str = "header aside article after footer"
    everywhere: bool | None = None
    """Whether all pages have it; None for either."""


def written(at: float, form: str) -> str:
    """Return a time, written in a form."""
    return datetime.fromtimestamp(at, timezone.utc).strftime(form)
