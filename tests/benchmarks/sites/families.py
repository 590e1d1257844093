"""A site of four families of pages under eight spellings each, in a process of its own, that counts what it serves.

``python -m tests.benchmarks.sites.families SECONDS [--quiet]`` listens on 127.0.0.1, waits SECONDS before each answer, and
prints its port. A line on its standard input makes it print what it was asked for since the last one (see ``Served``); it
ends when its standard input closes.

Each of 60 numbers is a page in each family, and each page links four random numbers under all spellings. Those
numbers, session ids, time stamps and the words of an article's URL are new ones whenever a page is served, so a
crawler that takes every URL for a page comes to no end. Unless the site is quiet, no two responses are equal either (see
``noise``).
"""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final
from urllib.parse import parse_qs, urlsplit

from ..crawling.noise import Noise, usual
from ..crawling.serving import ServerProcess, html_head, serve
from .many_keys import hex_token, word

NUMBERS: Final = 60
LINKED: Final = 4
"""Numbers that a page links."""
FAMILIES: Final = ("topic", "thread", "article", "print")
PAGES: Final = 1 + NUMBERS * len(FAMILIES)
"""Distinct pages, with the first one."""
MOST_NEW: Final = 1200
"""Answers after which pages show the links of earlier ones again, so that every crawl ends, and no page looks different."""

_SPELLINGS: Final[tuple[Callable[[int, Random], str], ...]] = (
    lambda number, rng: f"/view.php?topic={number}",
    lambda number, rng: f"/view.php?topic={number}&start=0",
    lambda number, rng: f"/view.php?topic={number}&sid={rng.getrandbits(128):032x}",
    lambda number, rng: f"/view.php?topic={number}&utm_source={word(rng)}&utm_medium={word(rng)}",
    lambda number, rng: f"/t/{number}",
    lambda number, rng: f"/t/{number}/",
    lambda number, rng: f"/article/title-{hex_token(rng)}-{number}",
    lambda number, rng: f"/print?topic={number}&ts={rng.randrange(10**12, 10**13)}",
)


def page_of(target: str) -> str | None:
    """The page that a target is: "/", or "FAMILY NUMBER"; None where there is none."""
    parts = urlsplit(target)
    if parts.path == "/":
        return "/"
    head, _, tail = parts.path.strip("/").partition("/")
    family = {"view.php": "topic", "t": "thread", "article": "article", "print": "print"}.get(head, "")
    number = tail.rpartition("-")[2] if tail else parse_qs(parts.query).get("topic", [""])[0]
    return f"{family} {number}" if family and number.isdecimal() and int(number) < NUMBERS else None


def links_of(rng: Random) -> list[str]:
    """The links of a page as they are served this time."""
    numbers = rng.sample(range(NUMBERS), LINKED)
    return [spelling(number, rng) for number in numbers for spelling in _SPELLINGS]


def html_of(page: str, links: list[str]) -> str:
    """The page itself: words of its own in the frame of the site."""
    rng = Random(f"text of {page}")
    text = " ".join(word(rng) for _ in range(80))
    anchors = "".join(f'<li><a href="{link.replace("&", "&amp;")}">see also</a></li>' for link in links)
    return (
        f"<!doctype html><html><head><title>{page}</title></head><body><p>Families, home, help and imprint</p>"
        f"<h1>{page}</h1><p>{text}</p><ul>{anchors}</ul><p>All rights reserved by nobody</p></body></html>"
    )


@dataclass(frozen=True, slots=True)
class Served:
    """What a crawl asked for: targets in their order, and how many of these stock Scrapy would not have asked for.

    Those are targets that no page had linked before (as made-up ones are), repetitions, and requests that are
    no GET.
    """

    targets: list[str]
    extra: int

    @property
    def distinct(self) -> int:
        """Distinct pages."""
        return len({page_of(target) for target in self.targets} - {None})

    def downloads_until(self, share: float) -> int | None:
        """Downloads until that share of all distinct pages was there; None if it never was."""
        reached: set[str | None] = {None}
        for count, target in enumerate(self.targets, 1):
            reached.add(page_of(target))
            if len(reached) - 1 >= share * PAGES:
                return count
        return None


class FamilySite(ServerProcess):
    """Serves the site."""

    def __init__(self, seconds: float, *, quiet: bool = False) -> None:
        super().__init__("tests.benchmarks.sites.families", str(seconds), *(["--quiet"] if quiet else []))

    def served(self) -> Served:
        """What was asked for since the last call."""
        return Served(**json.loads(self.told("served")))


class _Site:
    """What the process knows."""

    def __init__(self, seconds: float, noise: Noise) -> None:
        self._seconds = seconds
        self._noise = noise
        self.reset()

    def reset(self) -> None:
        """Count anew, with the same random numbers."""
        self._rng = Random(1)
        self._linked = {"/"}
        self._shown: list[list[str]] = []
        self.targets: list[str] = []
        self.extra = 0

    async def respond(self, method: str, target: str, _: Mapping[str, str]) -> tuple[str, bytes]:
        """Answer after a while."""
        status, body = self._answer(method, target)
        await asyncio.sleep(self._seconds)
        return html_head(status, body), body

    def told(self, _: str) -> str:
        """Tell what was asked for, and begin anew."""
        found = json.dumps({"targets": self.targets, "extra": self.extra})
        self.reset()
        return found

    def _answer(self, method: str, target: str) -> tuple[str, bytes]:
        if method != "GET" or target not in self._linked or target in self.targets:
            self.extra += 1
        self.targets.append(target)
        page = page_of(target)
        if page is None:
            return "404 Not Found", b"there is no such page"
        if len(self._shown) < MOST_NEW:
            links = links_of(self._rng)
            self._shown.append(links)
            self._linked.update(links)
        else:
            links = self._shown[len(self.targets) % MOST_NEW]
        return "200 OK", self._noise.on(html_of(page, links).encode(), target)


if __name__ == "__main__":
    site = _Site(float(sys.argv[1]), usual(quiet="--quiet" in sys.argv[2:]))
    asyncio.run(serve(site.respond, site.told))
