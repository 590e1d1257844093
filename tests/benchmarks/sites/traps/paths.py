"""Traps of paths: dates, depth, calendars and facets, strange URLs."""

from collections.abc import Mapping, Sequence
from random import Random
from urllib.parse import quote

from scrapy_dedup.rules import Ignore, Literal, OfClass, Replace, Set
from scrapy_dedup.urls import ValueClass

from ..model import Content, Endpoint, PageKey, Request, TrueRule
from ..seeded import hex_token, share_of


class AliasForms(Endpoint):
    id, title = "T17", "three forms of one address, in a circle"

    def url(self, page: int, rng: Random) -> str:
        number = self.number(page)
        form = rng.randrange(3)
        if form == 2:
            return self.at("/c", [("id", number)])
        return self.at(f"/{'ab'[form]}/{number}")

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        match self.below(request):
            case ("a" | "b", number):
                return (number,)
            case ("c",):
                return (request.get("id"),) if request.get("id") else None
        return None

    def rules(self) -> Sequence[TrueRule]:
        number = OfClass(ValueClass("int", 1, 12))
        return [
            TrueRule({"path.1": Set({"b": "a"})}, {"path.1": Literal("b"), "path.2": number}),
            TrueRule(
                {"path.1": Set({"c": "a"}), "path.2": Replace("q.id"), "q.id": Ignore()},
                {"path.1": Literal("c"), "q.id": number},
            ),
        ]


class Calendar(Endpoint):
    """A calendar whose days are mostly empty, and facets in any order (the same hits)."""

    id, title, hard = "T18", "calendars and facets without end", True
    facets = ("red", "blue", "wool", "silk", "new", "sale", "men", "kids", "xl")

    def url(self, page: int, rng: Random) -> str:
        if page % 2:
            month, day = divmod(page // 2, 28)
            year, month = divmod(month, 12)
            return self.at("/cal", [("d", f"{2026 + year}-{month + 1:02}-{day + 1:02}")])
        chosen = [facet for i, facet in enumerate(self.facets) if (page // 2 + 1) >> i & 1]
        rng.shuffle(chosen)
        return self.at("/shop/" + "/".join(chosen))

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        match self.below(request):
            case ("cal",):
                return "cal", request.get("d")
            case ("shop", *facets):
                return "shop", *sorted(facets)
        return None

    def content(self, request: Request, key: PageKey, time: float) -> Content:
        if key[1] == "cal" and share_of(self.seed, key[2], "empty") < 0.6:
            return Content((self.id, "no events"), words=4)
        return Content(key)


class Dates(Endpoint):
    id, title, hard = "T25", "dates that tell pages of one title apart", True

    def url(self, page: int, rng: Random) -> str:
        weekly = page % 2
        title = f"{self.slug(page % 7, 1)}-weekly" if weekly else self.slug(page)
        date = f"/{2020 + page // 150}/{page // 12 % 12 + 1:02}/{page % 28 + 1:02}"
        if weekly:
            date = f"/{2020 + page // 672}/{page // 28 % 12 + 1:02}/{page % 28 + 1:02}"
        query = [("share", rng.choice(("x", "fb", "mail")))] if rng.random() < 0.6 else []
        return self.at(f"{date}/{title}", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        return found if len(found) == 4 else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.share": Ignore()})]


class Depth(Endpoint):
    id, title, hard = "T26", "one file name at different depths", True

    def url(self, page: int, rng: Random) -> str:
        name, depth = divmod(page, 3)
        above = ("/a", "/a/b", "/a/b/c")[depth]
        query = [("s", hex_token(rng, 16))] if rng.random() < 0.6 else []
        return self.at(f"{above}/{self.slug(name)}.html", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        return found or None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.s": Ignore()})]


class Adversarial(Endpoint):
    """Long, broken and strange URLs; each is a page of its own, by the number it carries."""

    id, title, hard = "T29", "hostile URLs", True

    def url(self, page: int, rng: Random) -> str:
        number = self.number(page)
        kind = page % 6
        if kind == 0:
            return self.at("/x", f"n={number}&q={hex_token(rng, 8000)}")
        if kind == 1:
            return self.at("/x", f"n={number}&" + "&".join([f"p{i}={rng.randrange(9)}" for i in range(300)]))
        if kind == 2:
            return self.at(f"/%zz%/{number}%", f"n={number}&a=%&b=%g1&c=%u0041&d=%ff%fe")
        if kind == 3:
            return self.at(f"/{quote('käse', encoding='latin-1')}/{quote('käse')}", f"n={number}&ü=ä&x=%E4")
        if kind == 4:
            return self.at("/x", f"n={number}", host=f"bücher.{self.place.domain}")
        return self.at("/x;;=;a=b;/../y", f"n={number}&&;&=&==&a[=]&?&/", host=f"u:p@{self.place.host}:8080")

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("n"),) if request.get("n") else None

    def counts(self) -> Mapping[int, int]:
        return dict.fromkeys(range(self.knobs.pages), 1)


KINDS: tuple[type[Endpoint], ...] = (AliasForms, Calendar, Dates, Depth, Adversarial)
