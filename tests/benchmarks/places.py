"""Sites whose pages have parts of a known nature, fetched again and again: what the score of a place is fitted to.

A *part* is a text, or a list of texts, in an element of its own. It is transient, or content of its page, whatever it looks
like: a visitor counter and a stock figure are both numbers that are new each day. Which parts a site has, where they stand,
how they are worded and how often the site is crawled is drawn from a seed. No name of a part is on its pages.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from html import escape
from random import Random

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

    def said(self, text: str) -> str:
        """Return a text with the words around it."""
        return " ".join(filter(None, (self.label, text, self.tail)))


Made = Callable[[Look, Fetch], list[str]]


@dataclass(frozen=True, slots=True)
class Part:
    """A part by its nature: whether it is transient, and what a response shows of it."""

    name: str
    transient: bool
    made: Made
    places: str = "header aside article after footer"
    everywhere: bool | None = None
    """Whether all pages have it; None for either."""


def _time(look: Look, at: float, form: str) -> str:
    return datetime.fromtimestamp(at, timezone.utc).strftime(form)


def _many(look: Look, rng: Random, pool: Sequence[str]) -> list[str]:
    return rng.sample(list(pool), min(look.shown, len(pool)))


def _level(look: Look, page: str) -> int:
    return look.drawn("level", page).randint(look.low, look.high)


def _steps(look: Look, fetch: Fetch, every: float, chance: float) -> list[int]:
    """Return the numbers of the periods so far in which something happened to the page."""
    now = int((fetch.at - BEGIN) // every)
    often = min(chance, look.drawn("often", fetch.page).uniform(0.2, 0.9))  # no two pages go the same way
    return [step for step in range(-20, now + 1) if look.drawn("step", fetch.page, step).random() < often]


def _moved(look: Look, fetch: Fetch, every: float, chance: float, size: float) -> float:
    """Return a figure of a page that goes up and down now and then."""
    value = float(_level(look, fetch.page))
    for step in _steps(look, fetch, every, chance):
        value *= 1 + size * (look.drawn("size", fetch.page, step).random() - 0.5)
    return value


# What is transient.


def clock(look: Look, fetch: Fetch) -> list[str]:
    return [look.said(_time(look, fetch.at, look.clock))]


def date(look: Look, fetch: Fetch) -> list[str]:
    return [look.said(_time(look, fetch.at, look.date))]


def weather(look: Look, fetch: Fetch) -> list[str]:
    rng = look.drawn(int(fetch.at // look.period))
    return [look.said(f"{rng.randint(-5, 35)} ° {rng.choice(look.states)}")]


def thought(look: Look, fetch: Fetch) -> list[str]:
    return [look.drawn(int(fetch.at // look.period)).choice(look.pool)]


def most_read(look: Look, fetch: Fetch) -> list[str]:
    return _many(look, look.drawn(int(fetch.at // look.period)), look.pool)


def visitors(look: Look, fetch: Fetch) -> list[str]:
    since = look.low * 7 + fetch.request * 3 + int((fetch.at - BEGIN) / 50) + look.drawn(fetch.request).randint(0, 2)
    return [look.said(look.number.format(since))]


def online(look: Look, fetch: Fetch) -> list[str]:
    return [look.said(look.number.format(look.drawn(fetch.request).randint(look.low, look.high)))]


def online_slowly(look: Look, fetch: Fetch) -> list[str]:
    middle = look.drawn("hour", int(fetch.at // HOUR)).uniform(look.low, look.high)
    return [look.said(look.number.format(int(middle * look.drawn(fetch.request).uniform(0.9, 1.1))))]


def token(look: Look, fetch: Fetch) -> list[str]:
    return [look.said(f"{look.drawn(fetch.request).getrandbits(96):024x}")]


def duration(look: Look, fetch: Fetch) -> list[str]:
    return [look.said(f"{look.drawn(fetch.request).uniform(0.01, 0.9):.3f} s")]


def advertisement(look: Look, fetch: Fetch) -> list[str]:
    return [look.drawn(fetch.request).choice(look.pool)]


def teasers(look: Look, fetch: Fetch) -> list[str]:
    return _many(look, look.drawn(fetch.request), look.pool)


def banner(look: Look, fetch: Fetch) -> list[str]:
    return [look.pool[0]] if look.drawn(fetch.request).random() < 0.4 else []


def notice(look: Look, fetch: Fetch) -> list[str]:
    return [look.drawn(fetch.request).choice(look.pool[:3])]


def notice_of_the_hour(look: Look, fetch: Fetch) -> list[str]:
    rng = look.drawn(int(fetch.at // look.period))
    return [rng.choice(look.pool[:3])] if rng.random() < 0.6 else []


def viewers(look: Look, fetch: Fetch) -> list[str]:
    """Of a page: as many as these may look at it at once."""
    return [look.said(str(look.drawn(fetch.request).randint(1, 10 + look.low % 50)))]


def time_left(look: Look, fetch: Fetch) -> list[str]:
    minutes = int(-fetch.at // 60) % 1440
    return [look.said(f"{minutes // 60} h {minutes % 60} min")]


def viewed_lately(look: Look, fetch: Fetch) -> list[str]:
    return [look.said(str(number)) for number in range(max(0, fetch.request - look.shown), fetch.request)]


# What is content of its page.


def edited(look: Look, fetch: Fetch) -> list[str]:
    edits = len(_steps(look, fetch, DAY, 0.05))
    rng = look.drawn(fetch.page)
    text = words(rng, 25).split()
    for edit in range(edits):
        text[look.drawn(fetch.page, edit).randrange(len(text))] = words(look.drawn("new", fetch.page, edit), 1)
    return [" ".join(text)]


def price(look: Look, fetch: Fetch) -> list[str]:
    sign = look.drawn("sign").choice(("$", "€", "", "", "kr "))
    return [look.said(f"{sign}{_moved(look, fetch, DAY, look.every, 0.2):.2f}")]


def stock(look: Look, fetch: Fetch) -> list[str]:
    sold = len(_steps(look, fetch, HOUR * 6, look.every))
    return [look.said(str(max(0, _level(look, fetch.page) - sold)))]


def figure_of_the_day(look: Look, fetch: Fetch) -> list[str]:
    return [look.said(str(look.drawn(fetch.page, int(fetch.at // DAY)).randint(look.low, look.high)))]


def state(look: Look, fetch: Fetch) -> list[str]:
    number = _level(look, fetch.page) + len(_steps(look, fetch, DAY, look.every))
    return [look.said(look.states[number % len(look.states)])]


def state_of_the_day(look: Look, fetch: Fetch) -> list[str]:
    return [look.said(look.drawn(fetch.page, int(fetch.at // DAY)).choice(look.states))]


def sentence_of_the_day(look: Look, fetch: Fetch) -> list[str]:
    return [words(look.drawn(fetch.page, int(fetch.at // DAY)), 8)]


def one_of_many_of_the_day(look: Look, fetch: Fetch) -> list[str]:
    return [look.drawn(fetch.page, int(fetch.at // DAY)).choice(look.pool)]


def badge(look: Look, fetch: Fetch) -> list[str]:
    return [look.pool[0]] if look.drawn(fetch.page, int(fetch.at // DAY)).random() < 0.5 else []


def sizes(look: Look, fetch: Fetch) -> list[str]:
    rng = look.drawn(fetch.page, int(fetch.at // DAY))
    return [text for text in look.pool[:8] if rng.random() < 0.6]


def checksum(look: Look, fetch: Fetch) -> list[str]:
    edits = len(_steps(look, fetch, DAY, look.every))
    return [look.said(f"{look.drawn(fetch.page, edits).getrandbits(128):032x}")]


def moved_to(look: Look, fetch: Fetch) -> list[str]:
    moves = len(_steps(look, fetch, DAY, look.every))
    at = BEGIN + look.drawn(fetch.page, moves).uniform(1, 60) * DAY
    return [look.said(_time(look, at, look.date if look.shown > 3 else look.clock))]


def rating(look: Look, fetch: Fetch) -> list[str]:
    value = 1 + 4 * (_moved(look, fetch, DAY, look.every, 0.1) % 1)
    return [look.said(f"{value:.1f}")]


def quote(look: Look, fetch: Fetch) -> list[str]:
    return [look.said(f"{_moved(look, fetch, 20 * MINUTE if look.every > 0.5 else HOUR, 0.7, 0.02):.2f}")]


def change(look: Look, fetch: Fetch) -> list[str]:
    return [look.said(f"{look.drawn(fetch.page, int(fetch.at // HOUR)).uniform(-4, 4):+.2f} %")]


def comments(look: Look, fetch: Fetch) -> list[str]:
    return [words(look.drawn(fetch.page, step), 9) for step in _steps(look, fetch, DAY, look.every)]


def last_comments(look: Look, fetch: Fetch) -> list[str]:
    return comments(look, fetch)[-look.shown :]


def views(look: Look, fetch: Fetch) -> list[str]:
    """Of a page: some more each day, and with each request for it."""
    before = _level(look, fetch.page) * 10 * (1 + 0.02 * (fetch.at - BEGIN) / DAY)
    return [look.said(look.number.format(int(before) + fetch.request // 20))]


def number_of_comments(look: Look, fetch: Fetch) -> list[str]:
    return [look.said(str(len(_steps(look, fetch, DAY, look.every))))]


def bid(look: Look, fetch: Fetch) -> list[str]:
    bids = len(_steps(look, fetch, HOUR * 4, look.every))
    return [look.said(look.number.format(_level(look, fetch.page) + 5 * bids))]


def town(look: Look, fetch: Fetch) -> list[str]:
    rng = look.drawn(fetch.page, int(fetch.at // DAY))
    return [look.said(f"{rng.randint(-5, 35)} ° {rng.choice(look.states)}")]


def last_edited(look: Look, fetch: Fetch) -> list[str]:
    steps = _steps(look, fetch, DAY, look.every / 2)
    if not steps:
        return []
    at = BEGIN + steps[-1] * DAY + look.drawn(fetch.page, steps[-1]).uniform(0, DAY)
    return [look.said(_time(look, min(at, fetch.at), look.date if look.shown > 3 else look.clock))]


def change_log(look: Look, fetch: Fetch) -> list[str]:
    steps = _steps(look, fetch, DAY, look.every)
    return [
        f"{_time(look, BEGIN + step * DAY, look.date)} {words(look.drawn(fetch.page, step), 4)}" for step in steps[::-1]
    ]


def news(look: Look, fetch: Fetch) -> list[str]:
    """A list that is pushed on from page to page."""
    newest = int((fetch.at - BEGIN) // DAY) * 3 + 400
    first = newest - fetch.number * look.shown
    return [words(look.drawn("news", number), 5) for number in range(first, first - look.shown, -1)]


def next_departure(look: Look, fetch: Fetch) -> list[str]:
    rng = look.drawn(fetch.page)
    every, offset = rng.choice((20, 30, 60, 120)) * MINUTE, rng.randint(0, 59) * MINUTE
    return [look.said(_time(look, (fetch.at - offset) // every * every + every + offset, "%H:%M"))]


def score_of_match(look: Look, fetch: Fetch) -> list[str]:
    goals = _steps(look, fetch, HOUR * 8, look.every)
    return [look.said(f"{sum(goal % 2 for goal in goals)}:{sum(goal % 2 == 0 for goal in goals)}")]


PARTS = (
    Part("clock", True, clock, "header footer aside", True),
    Part("date", True, date, "header footer aside", True),
    Part("weather", True, weather, "header footer aside"),
    Part("thought of the day", True, thought, "header footer aside"),
    Part("most read", True, most_read, "header footer aside after"),
    Part("visitors", True, visitors, "header footer aside", True),
    Part("online", True, online, "header footer aside", True),
    Part("online, slowly", True, online_slowly, "header footer aside", True),
    Part("viewers", True, viewers, "article after", False),
    Part("time left", True, time_left, "header article after", False),
    Part("token", True, token),
    Part("duration", True, duration, "header footer aside", True),
    Part("advertisement", True, advertisement),
    Part("teasers", True, teasers),
    Part("banner", True, banner),
    Part("notice", True, notice, "header footer aside after"),
    Part("notice of the hour", True, notice_of_the_hour, "header footer aside"),
    Part("viewed lately", True, viewed_lately, "aside after footer"),
    Part("edited text", False, edited, "article"),
    Part("price", False, price, "article after aside"),
    Part("stock", False, stock, "article after aside"),
    Part("figure of the day", False, figure_of_the_day, "article after aside", False),
    Part("state", False, state, "article after aside"),
    Part("state of the day", False, state_of_the_day, "article after aside", False),
    Part("sentence of the day", False, sentence_of_the_day, "article after aside", False),
    Part("one of many of the day", False, one_of_many_of_the_day, "article after aside", False),
    Part("badge", False, badge, "article after aside", False),
    Part("sizes", False, sizes, "article after aside", False),
    Part("checksum", False, checksum, "article after aside", False),
    Part("moved to", False, moved_to, "article after aside", False),
    Part("rating", False, rating, "article after aside"),
    Part("quote", False, quote, "article after aside"),
    Part("change", False, change, "article after aside", False),
    Part("comments", False, comments, "after"),
    Part("last comments", False, last_comments, "after"),
    Part("number of comments", False, number_of_comments, "article after aside"),
    Part("views", False, views, "article after aside"),
    Part("bid", False, bid, "article after aside"),
    Part("forecast of a town", False, town, "article after aside", False),
    Part("last edited", False, last_edited, "article after aside"),
    Part("change log", False, change_log, "after"),
    Part("news", False, news, "article", False),
    Part("next departure", False, next_departure, "article after aside", False),
    Part("score of a match", False, score_of_match, "article after aside", False),
)
REGIONS = ("header", "aside", "article", "after", "footer")


@dataclass(frozen=True, slots=True)
class Placed:
    """A part of one site: its element, where it stands, and the kinds of pages that have it."""

    part: Part
    look: Look = field(repr=False)
    name: str
    tag: str
    region: str
    kinds: frozenset[str]

    def html(self, fetch: Fetch) -> str:
        """Return what a response shows of it."""
        if fetch.kind not in self.kinds:
            return ""
        texts = self.part.made(self.look, fetch)
        if not texts:
            return ""
        if len(texts) > 1 or self.tag == "ul":
            items = "".join(f"<li>{escape(text)}</li>" for text in texts)
            return f"<ul class={self.name}>{items}</ul>"
        return f"<{self.tag} class={self.name}>{escape(texts[0])}</{self.tag}>"


class PlacedSite:
    """A site with some parts; pages and fetches."""

    def __init__(self, seed: int) -> None:
        rng = Random(f"places {seed}")
        self.seed = seed
        self.kinds = [words(rng, 1) for _ in range(rng.choice((0, 1, 1, 2, 3, 4, 5)))]
        self.pages = {kind: rng.choice((1, 2, 4, 8, 16, 30)) for kind in self.kinds}
        chosen = rng.sample(PARTS, rng.randint(6, 14))
        self.parts: list[Placed] = []
        for number, part in enumerate(chosen):
            everywhere = not self.kinds or (rng.random() < 0.5 if part.everywhere is None else part.everywhere)
            some = (
                [*self.kinds, ""] if everywhere else rng.sample(self.kinds, rng.randint(1, max(1, len(self.kinds) - 1)))
            )
            if everywhere and not part.transient:
                some = self.kinds or some
            self.parts.append(
                Placed(
                    part,
                    Look(f"{seed} {number} {part.name}"),
                    f"x{'abcdefghijklmnopqrstuvwxyz'[number]}{words(rng, 1)}",
                    rng.choice(("p", "div", "span")),
                    rng.choice(part.places.split() if part.transient or rng.random() < 0.8 else REGIONS),
                    frozenset(some),
                )
            )
        self._nest = rng.randint(0, 3)
        self._frame = {region: words(rng, rng.randint(2, 10)) for region in REGIONS}
        self.fetches = list(self._drawn(rng))

    def _drawn(self, rng: Random) -> Iterator[Fetch]:
        """Yield the responses of all crawls."""
        times = rng.choice(
            ([0.0], [0.0], [0.0, 0.4], [hour / 24 for hour in range(0, 24, 4)], [hour / 48 for hour in range(10)])
        )
        days = rng.randint(2, 6) if len(times) < 3 else rng.randint(1, 3)
        controls = self.controls = rng.choice((0, 0, 1, 2, 4))
        pages = [("", 0), *((kind, number) for kind in self.kinds for number in range(self.pages[kind]))]
        request = 0
        for day in range(days):
            for time in times:
                at = BEGIN + (day + time) * DAY + rng.uniform(0, 900)
                order = pages[:1] + rng.sample(pages[1:], len(pages) - 1)
                again = [order[0]] if rng.random() < 0.7 else []
                for kind in self.kinds:
                    mine = [page for page in order if page[0] == kind]
                    again += mine[: controls if day < 2 or rng.random() < 0.5 else 0]
                for kind, number in [*order, *rng.sample(again, len(again))]:
                    if rng.random() < 0.97:
                        yield Fetch(kind, number, at, request)
                    request += 1
                    at += rng.expovariate(1 / 1.5)

    def url(self, fetch: Fetch) -> str:
        """Return the URL of a response."""
        path = f"{fetch.kind}/{fetch.number + 100}" if fetch.kind else ""
        return f"http://site{self.seed}.example/{path}"

    def html(self, fetch: Fetch) -> str:
        """Return the page of a response."""
        own = Random(f"{self.seed} {fetch.page}")
        boxes = {
            region: "".join(each.html(fetch) for each in self.parts if each.region == region) for region in REGIONS
        }
        around, end = "<div>" * self._nest, "</div>" * self._nest
        text = "".join(f"<p>{words(own, own.randint(8, 30))}</p>" for _ in range(own.randint(1, 5)))
        frame = self._frame
        return (
            f"<html><head><title>{words(own, 3)}</title></head><body>{around}"
            f"<header><b>{frame['header']}</b>{boxes['header']}</header>"
            f"<main><article><h1>{words(own, 4)}</h1>{boxes['article']}{text}</article><section>{boxes['after']}</section></main>"
            f"<aside><h2>{frame['aside']}</h2>{boxes['aside']}</aside>"
            f"<footer>{boxes['footer']}<p>{frame['footer']}</p></footer>{end}</body></html>"
        )
