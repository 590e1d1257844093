"""Traps of values: one of them matters, case and order matter, values meet by chance."""

from collections.abc import Sequence
from random import Random
from string import ascii_lowercase

from scrapy_dedup.rules import Ignore

from ..model import Endpoint, Request, TrueRule
from ..seeded import number_of, rng_of

BASE62 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class ValueDependent(Endpoint):
    id, title, hard = "T4", "one value of a parameter differs, the others do not", True

    def url(self, page: int, rng: Random) -> str:
        item, full = divmod(page, 2)
        mode = "full" if full else rng.choice(ascii_lowercase)
        return self.at("/item", [("id", self.number(item)), ("mode", mode)])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        if not request.get("id"):
            return None
        return request.get("id"), "full" if request.get("mode") == "full" else ""

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.mode": Ignore(ascii_lowercase)})]


class CaseSensitive(Endpoint):
    id, title, hard = "T7", "identifiers in which case counts", True

    def url(self, page: int, rng: Random) -> str:
        name = rng_of(self.seed, page // 2)
        text = "x" + "".join([name.choice(BASE62) for _ in range(5)]) + BASE62[number_of(page // 2) % 10]
        query = [("ref", rng.choice(("a", "b", "c", "d")))] if rng.random() < 0.6 else []
        return self.at(f"/s/{text.swapcase() if page % 2 else text}", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        return (found[1],) if len(found) == 2 and found[0] == "s" else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.ref": Ignore()})]


class OrderSensitive(Endpoint):
    """Scrapy itself takes the two for one: whatever begins with its canonical form loses pages here."""

    id, title = "T8", "repeated keys whose order counts"
    filters = ("blur", "crop", "gray", "sepia", "flip", "tint", "pixel")

    def url(self, page: int, rng: Random) -> str:
        image, order = divmod(page, 2)
        pair = [self.filters[image % 7], self.filters[(image + 1 + image // 7 % 5) % 7]]
        query = [("img", self.number(image)), *(("f", name) for name in (pair[::-1] if order else pair))]
        if rng.random() < 0.5:
            query.append(("dl", str(rng.randrange(20))))
        return self.at("/pipe", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("img"), *request.all("f")) if request.get("img") else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.dl": Ignore()})]


class ChanceMapping(Endpoint):
    id, title, hard = "T15", "numbers of two kinds that are equal by chance", True

    def url(self, page: int, rng: Random) -> str:
        number, kind = divmod(page, 2)
        query = [("page" if kind else "id", str(number + 1))]
        if rng.random() < 0.5:
            query.append(("t", str(rng.randrange(100))))
        return self.at("/list", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        for name in ("id", "page"):
            if request.get(name):
                return name, request.get(name)
        return None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.t": Ignore()})]


class ExclusiveOr(Endpoint):
    id, title, hard = "T23", "content depends on two parameters only together", True

    def url(self, page: int, rng: Random) -> str:
        item, differ = divmod(page, 2)
        a = rng.randrange(2)
        return self.at("/mix", [("id", self.number(item)), ("a", str(a)), ("b", str(a ^ differ))])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        if not request.get("id"):
            return None
        return request.get("id"), str(request.get("a") != request.get("b"))


class OffsetUnit(Endpoint):
    id, title, hard = "T28", "offset and page number name the same part", True

    def url(self, page: int, rng: Random) -> str:
        topic, number = divmod(page, 5)
        tid = ("tid", self.number(topic))
        if rng.random() < 0.5:
            return self.at("/topic", [tid, ("page", str(number + 1))])
        return self.at("/topic", [tid, ("start", str(10 * number)), ("limit", "10")])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        if not request.get("tid"):
            return None
        page, start = request.get("page"), request.get("start")
        if page:
            return request.get("tid"), page
        return request.get("tid"), str(int(start) // 10 + 1) if start.isdigit() else "1"


KINDS: tuple[type[Endpoint], ...] = (
    ValueDependent,
    CaseSensitive,
    OrderSensitive,
    ChanceMapping,
    ExclusiveOr,
    OffsetUnit,
)
