"""Parts of pages with plain names: what passes in some way, and beside each what lasts and looks like it.

A counter passes, and a page's own number of comments lasts; a box of help comes and goes, and a page's own note stays; of
tokens in attributes some are drawn anew for each response, and some name the page.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from html import escape
from random import Random
from typing import Protocol

from .markup import Kind, Writer
from .model import DAY, START, Site
from .seeded import hex_token, rng_of, share_of, word

POOL = tuple(" ".join(word(rng_of("teaser", number, place)) for place in range(4)) for number in range(30))
"""Texts of teasers."""
PEOPLE = ("Anna", "Berta", "Carla", "Doris", "Emil", "Fritz")
RANGES = ((80, 400), (80, 200), (10, 60), (1000, 3000))
"""How many readers are online at least and at most, on different sites."""


class Seen(Protocol):
    """What a part may depend on: the site, the page, the time, and chance."""

    site: Site
    identity: tuple[str, ...]
    time: float
    rng: Random


@dataclass(frozen=True, slots=True)
class Part:
    """Where on the page a part stands, and what writes it."""

    where: str
    write: Callable[[Writer, Seen], None]


def _own(seen: Seen, *what: object) -> Random:
    """Chance that is the same whenever the page is fetched."""
    return rng_of(seen.site.seed, *what, *seen.identity)


def _now(seen: Seen) -> datetime:
    return datetime.fromtimestamp(seen.time, timezone.utc)


# -- texts that pass


def _date(out: Writer, seen: Seen) -> None:
    out.element("span", f"{_now(seen):%A, %d %B %Y}", Kind.TRANSIENT, "date", classes="date")


def _clock(out: Writer, seen: Seen) -> None:
    out.element("span", f"It is {_now(seen):%H:%M:%S}", Kind.TRANSIENT, "clock", classes="time")


def _weather(out: Writer, seen: Seen) -> None:
    """As on the front of a newspaper: one for all pages, and another one each day."""
    day = rng_of(seen.site.seed, "town", int(seen.time // DAY))
    text = f"Today in town: {day.randint(4, 25)} degrees and {day.choice(('sunny', 'cloudy', 'rain'))}"
    out.element("div", text, Kind.TRANSIENT, "weather", classes="town")


def _visitors(out: Writer, seen: Seen) -> None:
    """A counter that goes on rising."""
    count = 41_200 + int((seen.time - START) / DAY * 5000) + seen.rng.randrange(3)
    out.element("p", f"You are visitor number {count}", Kind.TRANSIENT, "visitors", classes="visitors")


def _visitors_today(out: Writer, seen: Seen) -> None:
    """A counter that begins anew each day, as the crawls do."""
    count = 40 + int(seen.time % DAY / 2 * seen.rng.uniform(0.95, 1.05))
    out.element("p", f"You are visitor number {count} today", Kind.TRANSIENT, "visitors today", classes="today")


def _online(low: int, high: int) -> Callable[[Writer, Seen], None]:
    def write(out: Writer, seen: Seen) -> None:
        text = f"{seen.rng.randint(low, high)} readers online"
        out.element("p", text, Kind.TRANSIENT, f"online {low} to {high}", classes="online")

    return write


def _help(out: Writer, seen: Seen) -> None:
    """A box that is there on three responses in ten."""
    if seen.rng.random() < 0.3:
        out.open("div", "help")
        out.say("Questions? Our team is there for you", Kind.TRANSIENT, "help box", whole=True)
        out.close()


def _chat(out: Writer, seen: Seen) -> None:
    """A notice on one response in five."""
    if seen.rng.random() < 0.2:
        out.open("p", "chat")
        out.say(f"{seen.rng.choice(PEOPLE)} is ready to chat with you", Kind.TRANSIENT, "chat notice", whole=True)
        out.close()


def _teasers(out: Writer, seen: Seen) -> None:
    """Four texts of a pool, drawn anew at each response."""
    out.open("ul", "teasers")
    for text in seen.rng.sample(POOL, 4):
        out.element("li", text, Kind.TRANSIENT, "teasers")
    out.close()


def _tokens(out: Writer, seen: Seen) -> None:
    """A random token, on one page in eight."""
    if share_of(seen.site.seed, "has token", *seen.identity) < 1 / 8:
        text = f"Report this page with {hex_token(seen.rng, 12)}"
        out.element("p", text, Kind.TRANSIENT, "few tokens", classes="report")


# -- texts that last


def _comments(out: Writer, seen: Seen) -> None:
    """The page's own number of comments; on one page in three it rises by one on some days."""
    rng = _own(seen, "comments")
    count, grows = rng.randrange(2, 40), rng.random() < 1 / 3
    more = int((seen.time - START) / DAY * 0.7 + rng.random()) if grows else 0
    out.element("p", f"{count + more} comments", Kind.MAIN, "comments", classes="count")


def _stock(out: Writer, seen: Seen) -> None:
    """A figure of the page's own on every other page, in the range of a counter, another one each day."""
    if share_of(seen.site.seed, "has stock", *seen.identity) < 1 / 2:
        day = _own(seen, "stock figure", int(seen.time // DAY))
        out.element("p", f"{day.randint(80, 400)} in stock", Kind.MAIN, "stock figure", classes="stock")


def _published(out: Writer, seen: Seen) -> None:
    day = datetime.fromtimestamp(START - _own(seen, "published").randrange(900) * DAY, timezone.utc)
    out.element("p", f"Published {day:%A, %d %B %Y}", Kind.MAIN, "published", classes="date")


def _price(out: Writer, seen: Seen) -> None:
    """A price; three pages in ten change it, once within five days."""
    rng = _own(seen, "offer")
    before, after = rng.sample(range(10, 900), 2)
    changed = rng.random() < 0.3 and seen.time >= START + rng.uniform(0, 5) * DAY
    out.element("p", f"{after if changed else before} euros", Kind.MAIN, "offer", classes="offer")


def _rating(out: Writer, seen: Seen) -> None:
    rng = _own(seen, "rating")
    text = f"{rng.uniform(1, 5):.1f} of 5 stars from {rng.randrange(80, 400)} readers"
    out.element("p", text, Kind.MAIN, "rating", classes="rating")


def _note(out: Writer, seen: Seen) -> None:
    """A box as that of help, which is always there on three pages in ten."""
    if share_of(seen.site.seed, "has note", *seen.identity) < 0.3:
        out.element("div", "This page is for members of the club", Kind.MAIN, "note", classes="note")


def _further(out: Writer, seen: Seen) -> None:
    """Four texts as those of teasers, which are the page's own."""
    out.open("ul", "further")
    for text in _own(seen, "further").sample(POOL, 4):
        out.element("li", text, Kind.MAIN, "further")
    out.close()


def _reference(out: Writer, seen: Seen) -> None:
    """A token that names the page."""
    out.element("p", f"Reference {hex_token(_own(seen, 'reference'), 12)}", Kind.MAIN, "reference", classes="ref")


# -- attributes, scripts and comments; each piece of HTML is what is looked for in what is stripped


def _head_values(out: Writer, seen: Seen) -> None:
    rng, own = seen.rng, _own(seen, "head")
    out.value('<meta name="csrf-token" content="', hex_token(rng), '">', "csrf meta tag", passes=True)
    out.value('<script nonce="', hex_token(rng, 16), '">', "script nonce", passes=True)
    out.value('window.state = {"session": "', hex_token(rng), '", ', "script state", passes=True)
    out.value('"article": "', hex_token(own, 12), '"}</script>', "id in a script", passes=False)
    taken = f"{_now(seen):%Y-%m-%d %H:%M:%S} in 0.{rng.randrange(10**6, 10**7)} s"
    out.value("<!-- rendered ", taken, " -->", "comment with render time", passes=True)
    out.value("<!-- article ", hex_token(own, 12), " -->", "comment of the page", passes=False)
    words = " ".join(own.sample(POOL, 2))
    out.value("<meta ", f'name="description" content="{words}"', ">", "description", passes=False)


def _main_values(out: Writer, seen: Seen) -> None:
    rng, own, day = seen.rng, _own(seen, "values"), _own(seen, "data-price", int(seen.time // DAY))
    out.value('<div data-request="', hex_token(rng, 20), '" ', "data-request", passes=True)
    # The price is another one each day.
    price, name = day.randrange(10**5, 10**6), hex_token(own, 20)
    out.value("", f'data-price="{price}"', " ", "data-price", passes=False)
    out.value("", f'data-id="{name}"', ">", "data-id", passes=False)
    words = own.sample(POOL, 3)
    shown = (("href", f"/read/{name}"), ("title", words[0]))
    attributes = " ".join([f'{key}="{escape(value)}"' for key, value in shown])
    out.value("<a ", attributes, ">", "href and title", passes=False)
    out.value("<img ", f'src="/pictures/{name}.jpg" alt="{words[1]}"', "></a>", "alt and src", passes=False)
    out.raw("<select name=size>")
    for number in range(2):
        out.value("<option ", f'value="{own.randrange(10**5, 10**6)}{number}"', "></option>", "option", passes=False)
    out.raw("</select></div>")


def _foot_values(out: Writer, seen: Seen) -> None:
    rng = seen.rng
    out.value('<img src="/logo.png?v=', str(rng.randrange(10**8, 10**9)), '">', "cache-buster", passes=True)
    pixel = f"{rng.random():.12f}"
    out.value('<img width=1 height=1 src="/pixel.gif?r=', pixel, '">', "pixel", passes=True)
    out.value('<a href="/go?click=', hex_token(rng, 16), '"></a>', "token in a link", passes=True)


PARTS: Mapping[str, Part] = {
    "date": Part("header", _date),
    "clock": Part("header", _clock),
    "weather": Part("header", _weather),
    "visitors": Part("foot", _visitors),
    "visitors today": Part("foot", _visitors_today),
    **{f"online {low} to {high}": Part("foot", _online(low, high)) for low, high in RANGES},
    "help box": Part("aside", _help),
    "chat notice": Part("foot", _chat),
    "teasers": Part("aside", _teasers),
    "few tokens": Part("foot", _tokens),
    "comments": Part("main", _comments),
    "stock figure": Part("main", _stock),
    "published": Part("main", _published),
    "offer": Part("main", _price),
    "rating": Part("main", _rating),
    "note": Part("aside", _note),
    "further": Part("aside", _further),
    "reference": Part("main", _reference),
    "head values": Part("head", _head_values),
    "main values": Part("main", _main_values),
    "foot values": Part("foot", _foot_values),
}
LASTING = ("comments", "stock figure", "published", "offer", "rating")
"""What stands on the pages of every case: figures and dates of the page's own."""
VOLATILE = frozenset(("stock figure",))
"""What of it is always new, so that pages may be compared without it."""
