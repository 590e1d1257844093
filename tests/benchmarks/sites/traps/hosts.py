"""Traps of the host: a mirror that differs in one place."""

from collections.abc import Sequence
from random import Random

from scrapy_dedup.rules import Ignore, Literal

from ..model import Endpoint, Request, TrueRule


class DivergingMirror(Endpoint):
    id, title, hard = "T16", "a mirror that differs in one place", True

    def url(self, page: int, rng: Random) -> str:
        name = rng.choice(("de", "us"))
        path = f"/news/{self.slug(page)}"
        if page % 8 < 2:
            name = ("de", "us")[page % 8]
            path = f"/impressum/{self.slug(page // 8, 1)}{page // 8}"
        return self.at(path, host=f"{name}.{self.place.directory}.{self.place.domain}")

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        match self.below(request):
            case ("news", name):
                return "news", name
            case ("impressum", name):
                return "impressum", name, request.host.partition(".")[0]
        return None

    def rules(self) -> Sequence[TrueRule]:
        match = {"host.1": Literal(self.place.directory), "path.1": Literal("news")}
        return [TrueRule({"host.2": Ignore(["de", "us"])}, match)]


KINDS: tuple[type[Endpoint], ...] = (DivergingMirror,)
