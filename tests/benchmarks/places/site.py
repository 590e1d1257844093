"""Sites with parts of a known nature: which ones, where they stand, and when their pages are fetched."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from random import Random

from .lasting import LASTING
from .look import BEGIN, DAY, Fetch, Look, Part, words
from .passing import PASSING

__all__ = ["PARTS", "Placed", "PlacedSite"]

PARTS = PASSING + LASTING
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
    """A site with some parts; pages and fetches.

    ``controls``: pages of each kind that its first crawls fetch twice within moments. ``is_timed``: whether it is known when.
    """

    def __init__(self, seed: int) -> None:
        rng = Random(f"places {seed}")
        self.seed = seed
        self.is_timed = seed % 6 > 0
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
        self.controls = 0
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
