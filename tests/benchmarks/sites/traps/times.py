"""Traps of time: what was so while the site was crawled is no longer so."""

from collections.abc import Sequence
from random import Random

from scrapy_dedup.rules import Ignore, OfClass
from scrapy_dedup.urls import ValueClass

from ..model import TURN, Endpoint, Request, TrueRule


class ConstantParameter(Endpoint):
    """``v=1`` always; after the turn the same numbers come with ``v=2``, and are other pages."""

    id, title, hard = "T5", "a constant parameter that later varies", True

    def url(self, page: int, rng: Random) -> str:
        query = [("id", self.number(page)), ("v", "1")]
        if rng.random() < 0.6:
            query.append(("ref", str(rng.randrange(40))))
        return self.at("/api", query)

    def late_url(self, page: int, rng: Random) -> str | None:
        return self.at("/api", [("id", self.number(page)), ("v", "2")])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("id"), request.get("v", "1")) if request.get("id") else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.ref": Ignore()})]


class Drift(Endpoint):
    """After the turn ``ref`` decides the content, and the script has another name."""

    id, title, drifts = "T22", "junk that becomes relevant", True

    def url(self, page: int, rng: Random) -> str:
        return self.at("/show", [("id", self.number(page)), ("ref", str(rng.randrange(400)))])

    def late_url(self, page: int, rng: Random) -> str | None:
        path = "/show" if page % 2 else "/show2"
        return self.at(path, [("id", self.number(page)), ("ref", str(rng.randrange(400)))])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        if not request.get("id"):
            return None
        return request.get("id"), request.get("ref") if time >= TURN else ""

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.ref": Ignore()})]


class ShapeShift(Endpoint):
    """``v`` is a number that says nothing; after the turn it may be a word, which names another page."""

    id, title, hard = "T27", "values of a shape that was never seen", True

    def url(self, page: int, rng: Random) -> str:
        return self.at("/card", [("id", self.number(page)), ("v", str(rng.randrange(10**5)))])

    def late_url(self, page: int, rng: Random) -> str | None:
        return self.at("/card", [("id", self.number(page)), ("v", self.slug(page, 2))])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        if not request.get("id"):
            return None
        value = request.get("v")
        return request.get("id"), "" if value.isdigit() else value

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.v": Ignore()}, {"q.v": OfClass(ValueClass("int", 1, 5))})]


KINDS: tuple[type[Endpoint], ...] = (ConstantParameter, Drift, ShapeShift)
