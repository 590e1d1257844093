"""Traps of content (pages that look equal and are not, or differ each time), of paths and of hosts."""

from collections.abc import Mapping, Sequence
from random import Random
from urllib.parse import quote

from scrapy_dedup.rules import Ignore, Literal, OfClass, Replace, Set
from scrapy_dedup.urls import ValueClass

from ..model import Content, Endpoint, PageKey, Request, TrueRule, drawn
from ..seeded import hex_token, share_of


class Consent(Endpoint):
    """One page in ten answers with the same log-in text, with status 200, at its own URL."""

    id, title = "T11", "a log-in page in the place of other pages"
    names = ("id",)
    truth = (TrueRule({"q.src": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        query = [("id", self.number(page)), *drawn(rng, 0.5, "src", 30)]
        return self.at("/article", query)

    def content(self, request: Request, key: PageKey, time: float) -> Content:
        if share_of(self.seed, key, "login") < 0.1:
            return Content((self.id, "please log in"), words=30)
        return Content(key)


class EmptyResults(Endpoint):
    id, title = "T12", "searches without results"
    names = ("q",)
    truth = (TrueRule({"q.from": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        query = [("q", self.slug(page, 1) + str(page)), *drawn(rng, 0.5, "from", ("top", "menu", "foot"))]
        return self.at("/search", query)

    def content(self, request: Request, key: PageKey, time: float) -> Content:
        if share_of(self.seed, key, "empty") < 0.4:
            return Content((self.id, "0 results"), words=12)
        return Content(key)


class Siblings(Endpoint):
    id, title, hard, siblings = "T13", "products that differ in their colour", True, 0.96
    colours = ("red", "blue", "black", "green")
    names = ("p", "color")
    truth = (TrueRule({"q.src": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        product, colour = divmod(page, 4)
        query = [("p", self.number(product)), ("color", self.colours[colour]), *drawn(rng, 0.5, "src", 30)]
        return self.at("/product", query)


class ShortPages(Endpoint):
    id, title, hard, siblings, words = "T14", "short pages in a long template", True, 0.0, 20
    names = ("e",)
    truth = (TrueRule({"q.src": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        query = [("e", self.number(page)), *drawn(rng, 0.5, "src", 30)]
        return self.at("/entry", query)


class Currency(Endpoint):
    id, title, hard, siblings = "T20", "a parameter that changes the price only", True, 0.99
    names = ("p", "cur")
    truth = (TrueRule({"q.src": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        product, currency = divmod(page, 3)
        query = [("p", self.number(product)), ("cur", ("eur", "usd", "gbp")[currency]), *drawn(rng, 0.5, "src", 30)]
        return self.at("/offer", query)


class FrontPages(Endpoint):
    """One page in ten is new each time it is fetched; the others stay."""

    id, title = "T21", "pages that differ each time"
    truth = (TrueRule({"q.src": Ignore()}, {"path.1": Literal("topic")}),)

    def url(self, page: int, rng: Random) -> str:
        path = f"/latest/{self.slug(page, 1)}{page}" if page % 10 == 0 else f"/topic/{self.slug(page)}"
        query = drawn(rng, 0.7, "src", 200)
        return self.at(path, query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        return found if len(found) == 2 else None

    def fetches(self, page: int) -> int:
        return 1 if page % 10 else 3

    def content(self, request: Request, key: PageKey, time: float) -> Content:
        return Content((*key, str(time)) if key[1] == "latest" else key)


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
    truth = (TrueRule({"q.share": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        weekly = page % 2
        title = f"{self.slug(page % 7, 1)}-weekly" if weekly else self.slug(page)
        date = f"/{2020 + page // 150}/{page // 12 % 12 + 1:02}/{page % 28 + 1:02}"
        if weekly:
            date = f"/{2020 + page // 672}/{page // 28 % 12 + 1:02}/{page % 28 + 1:02}"
        query = drawn(rng, 0.6, "share", ("x", "fb", "mail"))
        return self.at(f"{date}/{title}", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        return found if len(found) == 4 else None


class Depth(Endpoint):
    id, title, hard = "T26", "one file name at different depths", True
    truth = (TrueRule({"q.s": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        name, depth = divmod(page, 3)
        above = ("/a", "/a/b", "/a/b/c")[depth]
        query = [("s", hex_token(rng, 16))] if rng.random() < 0.6 else []
        return self.at(f"{above}/{self.slug(name)}.html", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        return found or None


class Adversarial(Endpoint):
    """Long, broken and strange URLs; each is a page of its own, by the number it carries."""

    id, title, hard = "T29", "hostile URLs", True
    names = ("n",)

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

    def counts(self) -> Mapping[int, int]:
        return dict.fromkeys(range(self.knobs.pages), 1)


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


KINDS: tuple[type[Endpoint], ...] = (
    Consent,
    EmptyResults,
    Siblings,
    ShortPages,
    Currency,
    FrontPages,
    AliasForms,
    Calendar,
    Dates,
    Depth,
    Adversarial,
    DivergingMirror,
)
