"""Pages as HTML, with the truth of every token: template, main text, passing, growing.

The main text is made of what the page shows (so equal for equal contents), the template of the site,
and the passing slots X1 to X10 of the moment or of the single request:

X1 clock and date, X2 weather (a label that stays, a value that does not), X3 rotating advertisement,
X4 counter of visitors, X5 nonce in an attribute, X6 the same related links in any order, X7 two blocks of a page
that swap their texts (both are there always, and stay), X8 comments that come and stay (they grow, they do not pass), X9 a redesign at
the turn, X10 five blocks of one path of which one passes. Void elements, unclosed tags, comments and
scripts with ``<`` are everywhere.

And what changes and does not pass, since it is what the page is about: E1 a price, which some pages
change once, E2 a stock figure, which falls by and by; and what says something new of each page every day, and knows
nothing of the day before: E3 a price without a currency, E4 whether it is to be had, E5 what it is rated, E6 how many
are left, E7 when it goes next, E8 how a match stands, E9 whether it is to be had, in a sentence, E10 its sizes, E11 the weather
of its town, E12 what was bid, which rises. E10 stands after the main text, E12 there in a box of its own.

Further slots have plain names (see ``parts.py``).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from html import escape
from random import Random

from .crawl import blurred
from .markup import Kind, Page, Writer
from .model import DAY, START, TURN, Content, Endpoint, Request, Site
from .parts import PARTS
from .seeded import hex_token, number_of, rng_of, share_of, word

SLOTS = tuple(f"X{number}" for number in range(1, 11))
EDITS = tuple(f"E{number}" for number in range(1, 13))
_AFTER = ("E10", "E12")
"""Those that stand after the main text."""
VOCABULARY = tuple(word(rng_of("vocabulary", number)) for number in range(2000))
WORDS = (60, 400)
MAX_COMMENTS = 12


def render(site: Site, url: str, time: float = START, nonce: int = 0, slots: Collection[str] = ()) -> Page | None:
    """The page at *url* as one request of the number *nonce* sees it; None where there is none.

    *slots* are the passing parts that the page has. The same arguments give the same bytes.
    """
    content = site.content(url, time)
    request = Request.of(url)
    if content is None or request is None:
        return None
    identity = blurred(site, url, content)
    moment = Moment(site, identity, time, rng_of(site.seed, "nonce", nonce, url), frozenset(slots))
    return moment.page(content, request)


def start_page(site: Site, time: float = START, nonce: int = 0, slots: Collection[str] = ()) -> Page:
    """The start page, which belongs to no endpoint."""
    url = f"http://www.{site.domain}/"
    request = Request.of(url)
    assert request is not None
    rng = rng_of(site.seed, "nonce", nonce, url)
    return Moment(site, ("start", "page"), time, rng, frozenset(slots)).page(Content(("start", "page")), request)


@dataclass(frozen=True, slots=True)
class Moment:
    """One request to one page."""

    site: Site
    identity: tuple[str, ...]
    time: float
    rng: Random
    slots: frozenset[str]

    def page(self, content: Content, request: Request) -> Page:
        out = Writer()
        redesigned = "X9" in self.slots and self.time >= TURN
        out.raw("<!DOCTYPE html>\n<html><head><meta charset=utf-8>")
        if content.canonical:
            out.raw(f'<link rel="canonical" href="{escape(content.canonical)}">')
        out.stack += ["html", "head"]
        out.element("title", self.site.domain, Kind.TEMPLATE)
        out.stack.pop()
        out.raw("<script>if (1 < 2) { document.title += '<b>' }</script>")
        self._parts("head", out)
        out.raw("</head>")
        out.open("body", "new" if redesigned else "")
        endpoint = self.site.endpoint_of(request)
        bare = endpoint is not None and endpoint.bare(request)
        if not bare:
            self._header(out, redesigned)
        out.open("article" if redesigned else "div", "main")
        self._main(out, content, endpoint)
        out.close()
        if not bare:
            self._aside(out)
            self._comments(out)
            self._parts("foot", out)
            out.element("p", "all rights reserved by the people of this site", Kind.TEMPLATE, classes="foot")
        out.close()
        out.raw("</html>\n")
        return out.page()

    # -- parts

    def _parts(self, where: str, out: Writer) -> None:
        """The parts with plain names that stand there."""
        for name, part in PARTS.items():
            if name in self.slots and part.where == where:
                part.write(out, self)

    def _header(self, out: Writer, redesigned: bool) -> None:
        out.raw("<!-- <p> is no paragraph here -->")
        out.open("header" if redesigned else "div", "head")
        for name in ("home", "news", "help", "about"):
            out.element("a", name, Kind.TEMPLATE)
        if redesigned:
            out.element("a", "welcome to our new look", Kind.TEMPLATE, "X9")
        if "X1" in self.slots:
            now = datetime.fromtimestamp(self.time, timezone.utc)
            out.element("p", f"Today is {now:%A, %d %B %Y, %H:%M:%S}", Kind.TRANSIENT, "X1", classes="clock", end=False)
        if "X2" in self.slots:
            weather = rng_of(self.site.seed, "weather", int(self.time // DAY))
            out.open("div", "weather")
            out.element("span", "Weather:", Kind.TEMPLATE, "X2")
            out.element("b", f"{weather.randrange(-10, 35)} °C, {weather.choice(SKIES)}", Kind.TRANSIENT, "X2")
            out.close()
        if "X4" in self.slots:
            out.element("p", f"{self.rng.randrange(3, 900)} users online", Kind.TRANSIENT, "X4", classes="online")
        if "X5" in self.slots:
            out.raw(f'<form><input type=hidden name=csrf value="{hex_token(self.rng)}"></form>')
        self._parts("header", out)
        out.raw("<hr>")
        out.close()

    def _main(self, out: Writer, content: Content, endpoint: Endpoint | None) -> None:
        near = endpoint.siblings if endpoint is not None else None
        count = content.words if content.words < WORDS[0] else 0
        texts = main_words(self.site, self.identity, count or (endpoint.words if endpoint else 0), near)
        out.element("h1", " ".join(texts[:3]), Kind.MAIN)
        if "E1" in self.slots:
            out.element("p", f"{self._price()} euros", Kind.MAIN, "E1", classes="price")
        if "E2" in self.slots:
            out.element("p", f"{self._stock()} in stock", Kind.MAIN, "E2", classes="stock")
        for name in EDITS[2:]:
            if name in self.slots and name not in _AFTER:
                out.element("p", self._today(name), Kind.MAIN, name, classes=name.lower())
        self._parts("main", out)
        for start in range(3, len(texts), 60):
            # A paragraph, as HTML allows, ends where the next one begins.
            out.element("p", " ".join(texts[start : start + 60]), Kind.MAIN, end=False)
            out.raw("<br><img src='/i.png'>")
        if "E10" in self.slots:
            out.element("p", self._today("E10"), Kind.MAIN, "E10", classes="e10")
        if "E12" in self.slots:
            out.open("div", "bids")
            out.element("b", "Bids:", Kind.TEMPLATE, "E12")
            out.element("p", self._today("E12"), Kind.MAIN, "E12", classes="e12")
            out.close()

    def _price(self) -> int:
        """The price: three pages in ten change it once in thirty days."""
        rng = rng_of(self.site.seed, "price", *self.identity)
        before, after = rng.sample(range(10, 900), 2)
        changes = rng.random() < 0.3
        day = rng.uniform(0, 30)
        return after if changes and self.time >= START + day * DAY else before

    def _stock(self) -> int:
        """What is in stock: some are sold on one day of three, at some time of it."""
        rng = rng_of(self.site.seed, "stock", *self.identity)
        left = rng.randrange(100, 900)
        for day in range(90):
            sold, at = rng.choice((0, 0, rng.randrange(1, 9))), day + rng.random()
            left -= sold if self.time >= START + at * DAY else 0
        return max(left, 0)

    def _today(self, name: str) -> str:
        """What changes each day, at an hour of the page's own."""
        turn = rng_of(self.site.seed, name, *self.identity).random()
        rng = rng_of(self.site.seed, name, int(self.time / DAY + turn), *self.identity)
        return {
            "E3": f"{rng.randrange(5, 500)}.{rng.randrange(100):02}",
            "E4": rng.choice(("in stock", "sold out", "soon")),
            "E5": f"{rng.randrange(1, 6)} of 5 stars",
            "E6": f"{rng.randrange(5, 900)} left",
            "E7": f"Next departure {rng.randrange(24):02}:{rng.randrange(60):02}",
            "E8": f"{rng.randrange(5)}:{rng.randrange(5)}",
            "E9": rng.choice(("ready to ship within two days", "sold out and back soon", "only a few are left")),
            "E10": " ".join(["sizes", *[size for size in SIZES if rng.random() < 0.6]]),
            "E11": f"{rng.choice(SKIES)} with {rng.choice(('no', 'light', 'strong'))} winds from the sea",
            "E12": f"{self._bid()} so far",
        }[name]

    def _bid(self) -> int:
        """What was bid: more each day, at an hour of the page's own."""
        rng = rng_of(self.site.seed, "bid", *self.identity)
        bid, turn = rng.randrange(10, 900), rng.random()
        return bid + sum(rng.randrange(1, 9) for _ in range(int((self.time - START) / DAY + turn)))

    def _aside(self, out: Writer) -> None:
        out.open("div", "aside")
        rng = rng_of(self.site.seed, "aside", *self.identity)
        if "X6" in self.slots:
            links = [" ".join(rng.choices(VOCABULARY, k=3)) for _ in range(5)]
            self.rng.shuffle(links)
            out.open("ul", "related")
            for text in links:
                out.element("li", text, Kind.MAIN, "X6", end=False)
            out.close()
        if "X7" in self.slots:
            texts = [" ".join(rng.choices(VOCABULARY, k=6)) for _ in range(2)]
            if self.rng.random() < 0.5:
                texts.reverse()
            out.element("p", texts[0], Kind.MAIN, "X7", classes="left")
            out.element("p", texts[1], Kind.MAIN, "X7", classes="right")
        if "X3" in self.slots:
            creatives = 2 + number_of(self.site.seed, "creatives") % 19
            ad = rng_of(self.site.seed, "ad", self.rng.randrange(creatives))
            out.element("div", f"buy {' '.join(ad.choices(VOCABULARY, k=5))} now", Kind.TRANSIENT, "X3", classes="ad")
        if "X10" in self.slots:
            today = rng_of(self.site.seed, "box", int(self.time // DAY))
            for box in range(5):
                passing = box == 2
                texts = (today if passing else rng_of(self.site.seed, "box", "stays", box)).choices(VOCABULARY, k=4)
                kind = Kind.TRANSIENT if passing else Kind.TEMPLATE
                out.element("div", " ".join(texts), kind, "X10", classes="box")
        self._parts("aside", out)
        out.close()

    def _comments(self, out: Writer) -> None:
        if "X8" not in self.slots:
            return
        rng = rng_of(self.site.seed, "comments", *self.identity)
        days = (self.time - START) / DAY
        out.open("ol", "comments")
        for number in range(MAX_COMMENTS):
            text = " ".join(rng.choices(VOCABULARY, k=8))
            if share_of(self.site.seed, *self.identity, number) * 2 * MAX_COMMENTS <= days:
                out.element("li", text, Kind.GROWING, "X8")
        out.close()


SIZES = ("XS", "S", "M", "L", "XL", "XXL")
SKIES = ("sunny", "cloudy", "rain", "snow", "fog", "storm")


def main_words(site: Site, identity: Sequence[str], count: int = 0, siblings: float | None = None) -> list[str]:
    """The words of a page's main text: 60 to 400 of them unless told.

    That share of them is common to all pages that differ in the last part of their identity only.
    """
    *group, _ = identity
    family, own = _words(site.seed, tuple(group)), _words(site.seed, tuple(identity))
    shared = site.knobs.siblings if siblings is None else siblings
    if not count:
        low, high = WORDS
        count = low + number_of(site.seed, *(group if shared > 0.8 else identity), "length") % (high - low)
    common = _shares(tuple(group), count)
    return [family[i] if common[i] < shared else own[i] for i in range(count)]


@lru_cache(maxsize=4096)
def _words(seed: int, parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(rng_of(seed, "words", *parts).choices(VOCABULARY, k=WORDS[1]))


@lru_cache(maxsize=4096)
def _shares(parts: tuple[str, ...], count: int) -> tuple[float, ...]:
    """Numbers that decide which words a family shares; the last is never shared: siblings differ."""
    rng = rng_of("shared", *parts)
    return (*[rng.random() for _ in range(count - 1)], 1.0)
