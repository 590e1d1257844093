"""Phenomena that the response tells of: views of one main text, redirects, declarations."""

from collections.abc import Sequence
from random import Random

from scrapy_dedup.rules import Ignore, Literal, Set

from ..model import Content, Endpoint, PageKey, Request, TrueRule


class Views(Endpoint):
    id, title, near = "D22", "print and mobile views of the same main text", True

    def url(self, page: int, rng: Random) -> str:
        number = self.number(page)
        view = rng.randrange(4)
        if view == 0:
            return self.at(f"/print/{number}")
        if view == 1:
            return self.at(f"/{number}", [("view", "amp")])
        return self.at(f"/{number}", host=f"m.{self.place.domain}" if view == 2 else "")

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        match self.below(request):
            case ("print", number) | (number,):
                return (number,)
        return None

    def bare(self, request: Request) -> bool:
        return "print" in request.segments or bool(request.get("view"))

    def rules(self) -> Sequence[TrueRule]:
        return [
            TrueRule({"path.1": Ignore(["print"])}, {"path.1": Literal("print")}),
            TrueRule({"q.view": Ignore(["amp"]), "host.1": Set({"m": "www"})}),
        ]


class Declared(Endpoint):
    """A third each: a redirect, rel=canonical, a No-Vary-Search header."""

    id, title = "D25", "declared by redirect, rel=canonical or No-Vary-Search"

    def url(self, page: int, rng: Random) -> str:
        number = self.number(page)
        plain = rng.random() < 0.4
        if page % 3 == 0:
            return self.at(f"/p/{number}" if plain else f"/go/{number}")
        if page % 3 == 1:
            return self.at(f"/c/{number}", () if plain else [("from", str(rng.randrange(60)))])
        return self.at(f"/n/{number}", () if plain else [("widget", str(rng.randrange(60)))])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        match self.below(request):
            case ("p" | "go", number):
                return "p", number
            case ("c" | "n" as kind, number):
                return kind, number
        return None

    def content(self, request: Request, key: PageKey, time: float) -> Content:
        kind, number = self.below(request)
        if kind == "go":
            return Content(key, status=301, words=0, redirect=self.at(f"/p/{number}"))
        if kind == "c":
            return Content(key, canonical=self.at(f"/c/{number}"))
        headers = {"no-vary-search": 'params=("widget")'} if kind == "n" else {}
        return Content(key, headers=headers)

    def rules(self) -> Sequence[TrueRule]:
        return [
            TrueRule({"path.1": Set({"go": "p"})}, {"path.1": Literal("go")}),
            TrueRule({"q.from": Ignore()}, {"path.1": Literal("c")}),
            TrueRule({"q.widget": Ignore()}, {"path.1": Literal("n")}),
        ]


KINDS: tuple[type[Endpoint], ...] = (Views, Declared)
