"""Phenomena of the query (junk, order, defaults, empty, nested and repeated parameters), and what the response tells of."""

from collections.abc import Sequence
from random import Random

from scrapy_dedup.rules import Ignore, Literal, Nested, OfClass, Replace, Set, SetOfValues
from scrapy_dedup.urls import ValueClass

from ..model import Content, Endpoint, PageKey, Request, TrueRule, drawn
from ..seeded import epoch_ms, hex_token


class SessionId(Endpoint):
    id, title = "D1", "session id, unique"
    names = ("tid",)
    truth = (TrueRule({"q.sid": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        query = [("tid", self.number(page))]
        if rng.random() < 0.8:
            query.insert(rng.randrange(2), ("sid", hex_token(rng)))
        return self.at("/view.php", query)


class UniqueJunk(Endpoint):
    id, title = "D2", "several unique junk parameters"
    junk = ("sid", "ts", "rnd", "nonce", "zx")
    names = ("tid",)

    def url(self, page: int, rng: Random) -> str:
        names = self.junk[: self.knobs.junk]
        junk = [(name, epoch_ms(rng) if name in {"ts", "zx"} else hex_token(rng, 24)) for name in names]
        return self.at("/topic", [("tid", self.number(page)), *junk])

    def rules(self) -> Sequence[TrueRule]:
        names = self.junk[: self.knobs.junk]
        return [TrueRule({f"q.{name}": Ignore() for name in names})] if names else []


class Tracking(Endpoint):
    id, title = "D3", "tracking parameters, few values, optional"
    values = {
        "utm_source": ("tw", "fb", "mail", "feed"),
        "utm_medium": ("social", "cpc", "email"),
        "utm_campaign": ("spring", "sale26", "launch"),
    }
    names = ("tid",)
    truth = (TrueRule({"q.utm_*": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        query = [("tid", self.number(page))]
        if rng.random() < 0.75:
            query += [(name, rng.choice(values)) for name, values in self.values.items() if rng.random() < 0.8]
        return self.at("/read", query)


class ParameterOrder(Endpoint):
    id, title = "D9", "order of parameters"

    def url(self, page: int, rng: Random) -> str:
        query = [("a", self.number(page)), ("b", str(page % 3)), ("c", str(page % 5)), ("d", "x")]
        rng.shuffle(query)
        return self.at("/list", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return tuple([request.get(name) for name in "abcd"]) if request.get("a") else None


class DefaultValue(Endpoint):
    id, title = "D18", "a default value is as none"
    truth = (TrueRule({"q.page": Ignore(["1"]), "q.sort": Ignore(["date"]), "q.limit": Ignore(["20"])}),)

    def url(self, page: int, rng: Random) -> str:
        topic, view = divmod(page, 3)
        query = [("tid", self.number(topic))]
        number, order = ("1", "date") if view == 0 else ("2", "date") if view == 1 else ("1", "price")
        if number != "1" or rng.random() < 0.5:
            query.append(("page", number))
        if order != "date" or rng.random() < 0.5:
            query.append(("sort", order))
        if rng.random() < 0.5:
            query.append(("limit", "20"))
        return self.at("/thread", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        if not request.get("tid"):
            return None
        return request.get("tid"), request.get("page", "1"), request.get("sort", "date"), request.get("limit", "20")


class EmptyParameter(Endpoint):
    id, title = "D19", "empty parameters and bare keys"
    names = ("id", "q", "lang")
    truth = (TrueRule({"q.q": Ignore([""]), "q.debug": Ignore([""]), "q.lang": Ignore([""])}),)

    def url(self, page: int, rng: Random) -> str:
        item, searched = divmod(page, 2)
        query = [("id", self.number(item))]
        if searched:
            query.insert(0, ("q", self.slug(item, 1)))
        elif rng.random() < 0.5:
            query.insert(0, ("q", ""))
        text = "&".join([f"{name}={value}" for name, value in query])
        if rng.random() < 0.4:
            text += "&debug"
        if rng.random() < 0.4:
            text += "&lang="
        return self.at("/find", text)


class NestedUrl(Endpoint):
    id, title = "D20", "a parameter that is a URL"
    truth = (
        TrueRule({"q.irrelevant2": Ignore()}, {"path.1": Literal("video")}),
        TrueRule({"q.irrelevant": Ignore(), "q.url": Nested()}, {"path.1": Literal("go")}),
    )

    def url(self, page: int, rng: Random) -> str:
        video, through = divmod(page, 2)
        query = [("v", self.number(video)), *drawn(rng, 0.7, "irrelevant2", 1000)]
        inner = self.at("/video", query)
        if not through:
            return inner
        query = [("url", inner), *drawn(rng, 0.6, "irrelevant", 1000)]
        return self.at("/go", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        match self.below(request):
            case ("video",):
                return ("video", request.get("v")) if request.get("v") else None
            case ("go",):
                inner = Request.of(request.get("url"))
                return ("go", inner.get("v")) if inner and inner.get("v") else None
        return None


class TupleAndJunk(Endpoint):
    id, title = "D21", "two parameters only together name the page, a third is junk"
    paths = ("cats/kittens", "cats/tigers", "dogs", "birds/tits", "fish")
    names = ("path", "file")
    truth = (TrueRule({"q.x": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        query = [
            ("path", self.paths[page % 5]),
            ("file", f"{self.slug(page // 5, 1)}{page // 5}.mpg"),
            ("x", str(rng.randrange(100))),
        ]
        return self.at("/watch", query)


class RedundantKeys(Endpoint):
    id, title = "D24", "a key that another one implies"
    names = ("id",)
    truth = (TrueRule({"q.slug": Ignore(), "q.cat": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        query = [("id", self.number(page))]
        if rng.random() < 0.6:
            query.append(("slug", self.slug(page)))
        if rng.random() < 0.4:
            query.append(("cat", ("shoes", "hats", "coats")[page % 3]))
        return self.at("/product", query)


class RepeatedKeys(Endpoint):
    id, title = "D29", "repeated keys whose order does not count"
    tags = tuple("abcdefghij")
    truth = (TrueRule({"q.tag%5B%5D": SetOfValues()}),)

    def url(self, page: int, rng: Random) -> str:
        chosen = [tag for i, tag in enumerate(self.tags) if (page + 1) >> i & 1]
        rng.shuffle(chosen)
        if rng.random() < 0.3:
            chosen.append(rng.choice(chosen))
        return self.at("/tagged", [("tag[]", tag) for tag in chosen])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return tuple(sorted(set(request.all("tag[]")))) or None


class CacheBuster(Endpoint):
    id, title = "D30", "a cache-buster on a static file"
    under = ("static",)
    truth = (TrueRule({"q.v": Ignore(), "q._": Ignore()}, {"path.1": Literal("static")}),)

    def url(self, page: int, rng: Random) -> str:
        path = f"/static/{self.slug(page, 2)}.{'css' if page % 2 else 'js'}"
        draw = rng.random()
        if draw < 0.4:
            return self.at(path, [("v", str(rng.randrange(1000)))])
        return self.at(path, [("_", epoch_ms(rng))] if draw < 0.8 else ())


class Anchors(Endpoint):
    """``#c12`` is the page. A plain client never sends a fragment, so ``#!/p/3`` would answer as the shell."""

    id, title = "D26", "anchors; the crawlable form of #! stays"

    def url(self, page: int, rng: Random) -> str:
        escaped = f"/p/{self.number(page)}"
        anchor = f"#c{rng.randrange(400)}" if rng.random() < 0.7 else ""
        return self.at("/app", [("_escaped_fragment_", escaped)]) + anchor

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return ("shell", request.get("_escaped_fragment_"))


class StoryAlias(Endpoint):
    id, title = "D16", "a number in the query or in the file name"
    truth = (
        TrueRule(
            {"path.1": Replace("q.id", prefix="story_"), "q.id": Ignore()},
            {"path.1": Literal("story"), "q.id": OfClass(ValueClass("int", 1, 12))},
        ),
    )

    def url(self, page: int, rng: Random) -> str:
        number = self.number(page)
        return self.at("/story", [("id", number)]) if rng.random() < 0.5 else self.at(f"/story_{number}")

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        match self.below(request):
            case ("story",):
                return (request.get("id"),) if request.get("id") else None
            case (name,) if name.startswith("story_"):
                return (name.removeprefix("story_"),)
        return None


class Views(Endpoint):
    id, title, near = "D22", "print and mobile views of the same main text", True
    truth = (
        TrueRule({"path.1": Ignore(["print"])}, {"path.1": Literal("print")}),
        TrueRule({"q.view": Ignore(["amp"]), "host.1": Set({"m": "www"})}),
    )

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


class Declared(Endpoint):
    """A third each: a redirect, rel=canonical, a No-Vary-Search header."""

    id, title = "D25", "declared by redirect, rel=canonical or No-Vary-Search"
    truth = (
        TrueRule({"path.1": Set({"go": "p"})}, {"path.1": Literal("go")}),
        TrueRule({"q.from": Ignore()}, {"path.1": Literal("c")}),
        TrueRule({"q.widget": Ignore()}, {"path.1": Literal("n")}),
    )

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


KINDS: tuple[type[Endpoint], ...] = (
    SessionId,
    UniqueJunk,
    Tracking,
    ParameterOrder,
    DefaultValue,
    EmptyParameter,
    NestedUrl,
    TupleAndJunk,
    RedundantKeys,
    RepeatedKeys,
    CacheBuster,
    Anchors,
    StoryAlias,
    Views,
    Declared,
)
