"""What passes on the pages of the shop: a clock, an advertisement, a token, a counter, what was viewed last.

All of it follows from a `Moment`, the number of the request and the shop's own time: nothing depends on the clock of
the machine. What passes is written between two marks, so that the shop can tell where it stands.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from html import escape
from random import Random

from .pages import Page, Product, listed, products
from .urls import link

BEGIN, END = "\x01", "\x02"
OPENING = datetime(2026, 1, 5, 9, tzinfo=timezone.utc)
DAYS = {
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split(),
}
ADVERTISEMENTS = {
    "en": (
        "Polish for oak, three tins for two",
        "Rent a van by the hour",
        "Curtains sewn while you wait",
        "Learn to weave: evening classes",
        "Old chairs bought, any number",
    ),
    "de": (
        "Politur für Eiche, drei Dosen für zwei",
        "Lieferwagen für Stunden",
        "Vorhänge, genäht, während Sie warten",
        "Weben lernen: Kurse am Abend",
        "Ankauf alter Stühle in jeder Zahl",
    ),
}
WORDS = {
    "en": ("It is {}.", "{} visitors right now", "Recently viewed", "Your basket"),
    "de": ("Es ist {}.", "{} Besucher im Augenblick", "Zuletzt angesehen", "Ihr Warenkorb"),
}
_marked = re.compile(f"{BEGIN}([^{BEGIN}{END}]*){END}")


@dataclass(frozen=True, slots=True)
class Moment:
    """One request: its number, and the shop's time in seconds since it opened."""

    number: int
    time: float = 0.0

    @property
    def token(self) -> str:
        return f"{self.number:08}"

    def clock(self, language: str) -> str:
        """Day, date and time: a second later with every request."""
        now = OPENING + timedelta(seconds=self.time + self.number)
        return f"{DAYS[language][now.weekday()]}, {now:%d.%m.%Y, %H:%M:%S}"


@dataclass(frozen=True, slots=True)
class Passing:
    """The parts of a page that hold what passes, as HTML with marks: above its content, in it, and below it."""

    above: str = ""
    inside: str = ""
    below: str = ""


def passing_of(page: Page, port: int, moment: Moment) -> Passing:
    """What passes on a page at a moment. The links lead to URLs that other pages link to as well."""
    random = Random(f"passing {moment.number}")
    clock, visitors, recent, basket = WORDS[page.language]
    viewed = [
        f'<li><a href="{mark(escape(listed_as(product, page.language, port)))}">{mark(product.title(page.language))}</a></li>'
        for product in random.sample(list(products().values()), 3)
    ]
    return Passing(
        above=(
            f'<header><p class="clock">{clock.format(mark(moment.clock(page.language)))}</p>'
            f'<a class="basket" href="/basket?token={mark(moment.token)}">{basket}</a></header>'
        ),
        inside=f'<p class="visitors">{visitors.format(mark(str(random.randint(3, 400))))}</p>',
        below=(
            f'<div class="ad" id="ad-{mark(moment.token)}">{mark(random.choice(ADVERTISEMENTS[page.language]))}</div>'
            f'<section class="recent"><h2>{recent}</h2><ul>{"".join(viewed)}</ul></section>'
        ),
    )


def listed_as(product: Product, language: str, port: int) -> str:
    """The URL by which the page of its category links to a product."""
    page = Page("category", product.category, language)
    while product not in listed(page):
        page = replace(page, number=page.number + 1)
    return link(Page("product", product.id, language), page, port)


def mark(text: str) -> str:
    """Text that passes."""
    return f"{BEGIN}{text}{END}"


def unmarked(html: str) -> tuple[str, list[tuple[int, int]]]:
    """HTML without its marks, and the offsets in it of what stood between them."""
    spans = []
    removed = 0
    for found in _marked.finditer(html):
        start = found.start() - removed
        spans.append((start, start + len(found[1])))
        removed += 2
    return _marked.sub(r"\1", html), spans
