"""Phenomena of the query: junk, order, defaults, empty, nested and repeated parameters."""

from collections.abc import Sequence
from random import Random

from scrapy_dedup.rules import Ignore, Literal, Nested, OfClass, Replace, SetOfValues
from scrapy_dedup.urls import ValueClass

from ..model import Endpoint, Request, TrueRule
from ..seeded import epoch_ms, hex_token


class SessionId(Endpoint):
    id, title = "D1", "session id, unique"

    def url(self, page: int, rng: Random) -> str:
        query = [("tid", self.number(page))]
        if rng.random() < 0.8:
            query.insert(rng.randrange(2), ("sid", hex_token(rng)))
        return self.at("/view.php", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("tid"),) if request.get("tid") else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.sid": Ignore()})]


class UniqueJunk(Endpoint):
    id, title = "D2", "several unique junk parameters"
    names = ("sid", "ts", "rnd", "nonce", "zx")

    def url(self, page: int, rng: Random) -> str:
        names = self.names[: self.knobs.junk]
        junk = [(name, epoch_ms(rng) if name in {"ts", "zx"} else hex_token(rng, 24)) for name in names]
        return self.at("/topic", [("tid", self.number(page)), *junk])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("tid"),) if request.get("tid") else None

    def rules(self) -> Sequence[TrueRule]:
        names = self.names[: self.knobs.junk]
        return [TrueRule({f"q.{name}": Ignore() for name in names})] if names else []


class Tracking(Endpoint):
    id, title = "D3", "tracking parameters, few values, optional"
    values = {
        "utm_source": ("tw", "fb", "mail", "feed"),
        "utm_medium": ("social", "cpc", "email"),
        "utm_campaign": ("spring", "sale26", "launch"),
    }

    def url(self, page: int, rng: Random) -> str:
        query = [("tid", self.number(page))]
        if rng.random() < 0.75:
            query += [(name, rng.choice(values)) for name, values in self.values.items() if rng.random() < 0.8]
        return self.at("/read", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("tid"),) if request.get("tid") else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.utm_*": Ignore()})]


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

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.page": Ignore(["1"]), "q.sort": Ignore(["date"]), "q.limit": Ignore(["20"])})]


class EmptyParameter(Endpoint):
    id, title = "D19", "empty parameters and bare keys"

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

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("id"), request.get("q"), request.get("lang")) if request.get("id") else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.q": Ignore([""]), "q.debug": Ignore([""]), "q.lang": Ignore([""])})]


class NestedUrl(Endpoint):
    id, title = "D20", "a parameter that is a URL"

    def url(self, page: int, rng: Random) -> str:
        video, through = divmod(page, 2)
        query = [("v", self.number(video))]
        if rng.random() < 0.7:
            query.append(("irrelevant2", str(rng.randrange(1000))))
        inner = self.at("/video", query)
        if not through:
            return inner
        query = [("url", inner)]
        if rng.random() < 0.6:
            query.append(("irrelevant", str(rng.randrange(1000))))
        return self.at("/go", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        match self.below(request):
            case ("video",):
                return ("video", request.get("v")) if request.get("v") else None
            case ("go",):
                inner = Request.of(request.get("url"))
                return ("go", inner.get("v")) if inner and inner.get("v") else None
        return None

    def rules(self) -> Sequence[TrueRule]:
        return [
            TrueRule({"q.irrelevant2": Ignore()}, {"path.1": Literal("video")}),
            TrueRule({"q.irrelevant": Ignore(), "q.url": Nested()}, {"path.1": Literal("go")}),
        ]


class TupleAndJunk(Endpoint):
    id, title = "D21", "two parameters only together name the page, a third is junk"
    paths = ("cats/kittens", "cats/tigers", "dogs", "birds/tits", "fish")

    def url(self, page: int, rng: Random) -> str:
        query = [
            ("path", self.paths[page % 5]),
            ("file", f"{self.slug(page // 5, 1)}{page // 5}.mpg"),
            ("x", str(rng.randrange(100))),
        ]
        return self.at("/watch", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("path"), request.get("file")) if request.get("path") else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.x": Ignore()})]


class RedundantKeys(Endpoint):
    id, title = "D24", "a key that another one implies"

    def url(self, page: int, rng: Random) -> str:
        query = [("id", self.number(page))]
        if rng.random() < 0.6:
            query.append(("slug", self.slug(page)))
        if rng.random() < 0.4:
            query.append(("cat", ("shoes", "hats", "coats")[page % 3]))
        return self.at("/product", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("id"),) if request.get("id") else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.slug": Ignore(), "q.cat": Ignore()})]


class RepeatedKeys(Endpoint):
    id, title = "D29", "repeated keys whose order does not count"
    tags = tuple("abcdefghij")

    def url(self, page: int, rng: Random) -> str:
        chosen = [tag for i, tag in enumerate(self.tags) if (page + 1) >> i & 1]
        rng.shuffle(chosen)
        if rng.random() < 0.3:
            chosen.append(rng.choice(chosen))
        return self.at("/tagged", [("tag[]", tag) for tag in chosen])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return tuple(sorted(set(request.all("tag[]")))) or None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.tag%5B%5D": SetOfValues()})]


class CacheBuster(Endpoint):
    id, title = "D30", "a cache-buster on a static file"

    def url(self, page: int, rng: Random) -> str:
        path = f"/static/{self.slug(page, 2)}.{'css' if page % 2 else 'js'}"
        draw = rng.random()
        if draw < 0.4:
            return self.at(path, [("v", str(rng.randrange(1000)))])
        return self.at(path, [("_", epoch_ms(rng))] if draw < 0.8 else ())

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        return (found[1],) if len(found) == 2 and found[0] == "static" else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.v": Ignore(), "q._": Ignore()}, {"path.1": Literal("static")})]


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

    def rules(self) -> Sequence[TrueRule]:
        return [
            TrueRule(
                {"path.1": Replace("q.id", prefix="story_"), "q.id": Ignore()},
                {"path.1": Literal("story"), "q.id": OfClass(ValueClass("int", 1, 12))},
            )
        ]


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
)
