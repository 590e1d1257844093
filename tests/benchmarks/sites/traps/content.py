"""Traps of content: pages that look equal and are not, or differ each time."""

from collections.abc import Sequence
from random import Random

from scrapy_dedup.rules import Ignore, Literal

from ..model import Content, Endpoint, PageKey, Request, TrueRule
from ..seeded import share_of


class Consent(Endpoint):
    """One page in ten answers with the same log-in text, with status 200, at its own URL."""

    id, title = "T11", "a log-in page in the place of other pages"

    def url(self, page: int, rng: Random) -> str:
        query = [("id", self.number(page))]
        if rng.random() < 0.5:
            query.append(("src", str(rng.randrange(30))))
        return self.at("/article", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("id"),) if request.get("id") else None

    def content(self, request: Request, key: PageKey, time: float) -> Content:
        if share_of(self.seed, key, "login") < 0.1:
            return Content((self.id, "please log in"), words=30)
        return Content(key)

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.src": Ignore()})]


class EmptyResults(Endpoint):
    id, title = "T12", "searches without results"

    def url(self, page: int, rng: Random) -> str:
        query = [("q", self.slug(page, 1) + str(page))]
        if rng.random() < 0.5:
            query.append(("from", rng.choice(("top", "menu", "foot"))))
        return self.at("/search", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("q"),) if request.get("q") else None

    def content(self, request: Request, key: PageKey, time: float) -> Content:
        if share_of(self.seed, key, "empty") < 0.4:
            return Content((self.id, "0 results"), words=12)
        return Content(key)

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.from": Ignore()})]


class Siblings(Endpoint):
    id, title, hard, siblings = "T13", "products that differ in their colour", True, 0.96
    colours = ("red", "blue", "black", "green")

    def url(self, page: int, rng: Random) -> str:
        product, colour = divmod(page, 4)
        query = [("p", self.number(product)), ("color", self.colours[colour])]
        if rng.random() < 0.5:
            query.append(("src", str(rng.randrange(30))))
        return self.at("/product", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("p"), request.get("color")) if request.get("p") else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.src": Ignore()})]


class ShortPages(Endpoint):
    id, title, hard, siblings, words = "T14", "short pages in a long template", True, 0.0, 20

    def url(self, page: int, rng: Random) -> str:
        query = [("e", self.number(page))]
        if rng.random() < 0.5:
            query.append(("src", str(rng.randrange(30))))
        return self.at("/entry", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("e"),) if request.get("e") else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.src": Ignore()})]


class Currency(Endpoint):
    id, title, hard, siblings = "T20", "a parameter that changes the price only", True, 0.99

    def url(self, page: int, rng: Random) -> str:
        product, currency = divmod(page, 3)
        query = [("p", self.number(product)), ("cur", ("eur", "usd", "gbp")[currency])]
        if rng.random() < 0.5:
            query.append(("src", str(rng.randrange(30))))
        return self.at("/offer", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("p"), request.get("cur")) if request.get("p") else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.src": Ignore()})]


class FrontPages(Endpoint):
    """One page in ten is new each time it is fetched; the others stay."""

    id, title = "T21", "pages that differ each time"

    def url(self, page: int, rng: Random) -> str:
        path = f"/latest/{self.slug(page, 1)}{page}" if page % 10 == 0 else f"/topic/{self.slug(page)}"
        query = [("src", str(rng.randrange(200)))] if rng.random() < 0.7 else []
        return self.at(path, query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        return found if len(found) == 2 else None

    def fetches(self, page: int) -> int:
        return 1 if page % 10 else 3

    def content(self, request: Request, key: PageKey, time: float) -> Content:
        return Content((*key, str(time)) if key[1] == "latest" else key)

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.src": Ignore()}, {"path.1": Literal("topic")})]


KINDS: tuple[type[Endpoint], ...] = (Consent, EmptyResults, Siblings, ShortPages, Currency, FrontPages)
