"""A made-up site on which responses that look alike are different pages, with the truth of every URL.

Each site has a start page, ordinary pages of four kinds, and the pages of its trap. Three pages in ten stand under a second URL
with a session id, so that both errors show: what is not recognised, and what is taken for another page. All URLs stand
on index pages, which every page links.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from html import escape
from random import Random
from typing import Final

from scrapy_dedup.pages.response import sketch_of_html

from ..sites.many_keys import VOCABULARY

ORDINARY: Final = 60
TWINS: Final = 0.3
"""Share of the pages that have a second URL."""
PER_INDEX: Final = 40
OPENED: Final = 1_790_000_000
"""Seconds since 1970 at the first response; each takes a second."""


@dataclass(frozen=True, slots=True)
class Response:
    """One response: its number on this site, how often its URL was asked for before, and what is drawn at it."""

    number: int
    before: int
    random: Random

    def clock(self, form: str = "%a, %d %b %Y %H:%M:%S") -> str:
        """The time of the response."""
        return time.strftime(form, time.gmtime(OPENED + self.number))


STILL: Final = Response(0, 0, Random(0))
Draw = Callable[[Response], str]
Wrap = Callable[[str, str, str], str | Draw]
"""Makes HTML of title, heading and body."""
Pages = Callable[[str, str], Iterable[str | Draw]]
"""Makes pages of a title and a text."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a URL shows: the key of its true page, and its HTML, or what draws it at each response."""

    key: str
    html: str | Draw

    def at(self, response: Response) -> str:
        """The HTML of one response."""
        return self.html if isinstance(self.html, str) else self.html(response)

    @property
    def still(self) -> str:
        """The HTML with all that is drawn standing still."""
        return self.at(Response(STILL.number, STILL.before, Random(self.key)))


class TrapSite:
    """The pages of one site, by target (the path with its query); the same seed gives the same site."""

    def __init__(self, name: str, seed: int = 5) -> None:
        self.name = name
        self.random = Random(f"{name} {seed}")
        self.pages: dict[str, Page] = {}
        self.start(frame("Shop", "Welcome", f"<p>{self.words(40)}</p>"))
        self.ordered = False
        """Whether the index lists the pages in the order in which they were made."""

    def words(self, number: int) -> str:
        """So many words of no meaning."""
        return " ".join(self.random.choices(VOCABULARY, k=number))

    def slug(self) -> str:
        """A name for a URL that tells nothing."""
        return "-".join(self.random.choices(VOCABULARY, k=3))

    def start(self, html: str | Draw) -> None:
        """Set the start page."""
        self.pages["/"] = Page("/", html)

    def add(self, target: str, html: str | Draw) -> None:
        """Add a page, which may get a twin."""
        if target in self.pages:
            raise ValueError(f"{self.name}: {target} is there already")
        self.pages[target] = Page(target, html)
        if self.random.random() < TWINS:
            mark = "&" if "?" in target else "?"
            self.pages[f"{target}{mark}sid={self.random.getrandbits(64):016x}"] = Page(target, html)

    def ordinary(self, wrap: "Wrap | None" = None) -> None:
        """Add the ordinary pages; *wrap* makes HTML of title, heading and body (None: the usual frame)."""
        for number in range(ORDINARY):
            kind = ("news", "about", "blog", "help")[number % 4]
            body = f'<p class="t">{self.words(60)}</p><p>{self.words(30)}</p>'
            self.add(f"/{kind}/{self.slug()}-{number}", (wrap or frame)(self.words(4), self.words(4), body))

    def framed(self, wrap: "Wrap", title: str = "Shop", heading: str = "Welcome") -> None:
        """Set the start page and add the ordinary ones, all in a frame of the site's own."""
        self.start(wrap(title, heading, f"<p>{self.words(40)}</p>"))
        self.ordinary(wrap)

    def series(self, path: str, groups: int, words: int, pages: "Pages") -> None:
        """Add groups of *pages* that have a title and a text in common, under URLs that tell nothing."""
        for _ in range(groups):
            for html in pages(self.words(3), self.words(words)):
                self.add(f"/{path}/{self.slug()}", html)

    def finish(self) -> None:
        """Add the index pages, which name all that is there."""
        targets = [target for target in self.pages if target != "/"]
        if not self.ordered:
            self.random.shuffle(targets)
        parts = [targets[at : at + PER_INDEX] for at in range(0, len(targets), PER_INDEX)]
        for number, part in enumerate(parts, 1):
            rows = "".join(f'<li><a href="{escape(target)}">{self.words(2)}</a></li>' for target in part)
            last = "" if number == len(parts) else f'<a href="/index/{number + 1}">go on</a>'
            target = f"/index/{number}"
            self.pages[target] = Page(target, frame("Index", f"Index {number}", f"<ul>{rows}</ul>{last}"))

    def at(self, target: str, response: Response) -> str | None:
        """What a response to *target* shows; None if there is no such page."""
        page = self.pages.get(target)
        return page.at(response) if page else None

    @cached_property
    def plain(self) -> dict[str, str]:
        """Target -> bag of words of the page with all that is drawn standing still."""
        return {target: sketch_of_html(page.still).bag for target, page in self.pages.items()}


def frame(title: str, heading: str, body: str, *, above: str = "", below: str = "", side: str = "") -> str:
    """A page of the site; *above*, *below* and *side* belong to its frame."""
    nav = "".join(
        f"<li>{entry}</li>"
        for entry in ('<a href="/">Home</a>', '<a href="/index/1">Index</a>', "About us", "Contact", "Search")
    )
    return (
        f'<!doctype html><html><head><title>{title}</title></head><body>{above}<ul class="nav">{nav}</ul>{side}'
        f'<div class="main"><h1>{heading}</h1>{body}</div>'
        '<div class="footer">Copyright Example Inc. All rights reserved. Terms and conditions apply to all orders '
        f"placed here.</div>{below}</body></html>"
    )
