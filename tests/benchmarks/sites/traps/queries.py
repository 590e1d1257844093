"""Traps of parameters: what looks like junk and is not, and the other way round, and what is no longer so after some time."""

from collections.abc import Mapping
from random import Random
from string import ascii_lowercase

from scrapy_dedup.rules import Ignore, Literal, OfClass
from scrapy_dedup.urls import ValueClass

from ..model import TURN, Endpoint, Request, TrueRule, drawn
from ..seeded import digest, hex_token, number_of, rng_of, share_of

BASE62 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Pagination(Endpoint):
    id, title, hard = "T1", "pagination", True
    truth = (TrueRule({"q.hl": Ignore(), "q.page": Ignore(["1"])}),)

    def url(self, page: int, rng: Random) -> str:
        topic, number = divmod(page, 4)
        query = [("tid", self.number(topic))]
        if number or rng.random() < 0.5:
            query.append(("page", str(number + 1)))
        if rng.random() < 0.6:
            query.append(("hl", self.slug(rng.randrange(200), 1)))
        return self.at("/topic", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("tid"), request.get("page", "1")) if request.get("tid") else None


class RareRelevance(Endpoint):
    id, title, allowed = "T2", "a parameter that matters for few pages", 1
    truth = (TrueRule({"q.ref": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        query = [("id", self.number(page)), ("lang", rng.choice(("en", "de", "fr"))), *drawn(rng, 0.5, "ref", 40)]
        return self.at("/doc", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        number = request.get("id")
        if not number:
            return None
        matters = share_of(self.seed, number, "rare") < self.knobs.rare
        return number, request.get("lang") if matters else ""


class PathDependent(Endpoint):
    id, title, hard = "T3", "a parameter that matters under one path only", True
    truth = (TrueRule({"q.view": Ignore()}, {"path.1": Literal("news")}),)

    def url(self, page: int, rng: Random) -> str:
        view = rng.choice(("grid", "list", "full"))
        if page % 2:
            view = ("grid", "list", "full")[page // 2 % 3]
            return self.at("/report", [("id", self.number(page // 6)), ("view", view)])
        return self.at("/news", [("id", self.number(page)), ("view", view)])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        match self.below(request):
            case ("news",):
                return "news", request.get("id")
            case ("report",):
                return "report", request.get("id"), request.get("view")
        return None


class SeenOnce(Endpoint):
    """Each article comes once with one key; later the same articles come with other keys: other pages."""

    id, title, hard = "T6", "a unique parameter that nothing speaks about", True
    names = ("article", "k")

    def url(self, page: int, rng: Random) -> str:
        return self.at("/letter", [("article", self.number(page)), ("k", digest(self.seed, page))])

    def late_url(self, page: int, rng: Random) -> str | None:
        return self.at("/letter", [("article", self.number(page)), ("k", digest(self.seed, page, "late"))])


class LooksLikeJunk(Endpoint):
    id, title, hard = "T9", "names of junk that name the page", True
    truth = (TrueRule({"q.via": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        number = self.number(page)
        name, value = (
            ("sid", number),
            ("ref", digest(self.seed, page, size=20)),
            ("uid", number),
            ("cid", number),
        )[page % 4]
        query = [(name, value), *drawn(rng, 0.6, "via", ("rss", "mail", "home", "menu"))]
        return self.at(f"/{('story', 'commit', 'profile', 'list')[page % 4]}", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        names = {"story": "sid", "commit": "ref", "profile": "uid", "list": "cid"}
        if len(found) != 1 or found[0] not in names:
            return None
        return found[0], request.get(names[found[0]])


class LooksLikeKey(Endpoint):
    id, title = "T10", "names of keys that are junk"
    names = ("x",)
    truth = (TrueRule({"q.id": Ignore(), "q.page_id": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        query = [
            ("id", str(rng.randrange(10**9))),
            ("x", self.number(page)),
            ("page_id", hex_token(rng, 12)),
        ]
        return self.at("/read", query)


class RequiredToken(Endpoint):
    id, title, refusal = "T19", "required, and still without meaning", 403
    truth = (TrueRule({"q.token": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        return self.at("/file", [("id", self.number(page)), ("token", hex_token(rng, 16))])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        if not request.get("id") or not request.get("token"):
            return None
        return (request.get("id"),)


class MegaCluster(Endpoint):
    id, title, hard = "T24", "one page under thousands of URLs, beside small pages", True
    truth = (TrueRule({"q.s": Ignore(), "q.v": Ignore(ValueClass("int", 1, 2))}),)

    def url(self, page: int, rng: Random) -> str:
        if page == 0:
            return self.at("/show", [("p", "home"), ("s", hex_token(rng, 16)), ("v", str(rng.randrange(50)))])
        return self.at("/show", [("p", "home"), ("v", str(1000 + page))])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        if request.get("p") != "home":
            return None
        number = request.get("v", "0")
        return ("home", number if number.isdigit() and int(number) >= 1000 else "")

    def counts(self) -> Mapping[int, int]:
        return {0: self.knobs.mega} | dict.fromkeys(range(1, self.knobs.pages), 1)


class StateChanging(Endpoint):
    id, title, hard = "T30", "a link that changes something", True
    actions = ("view", "view", "view", "logout", "delete")
    truth = (TrueRule({"q.back": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        query = [("action", self.actions[page % 5]), ("id", self.number(page // 5)), *drawn(rng, 0.5, "back", 30)]
        return self.at("/account", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        if request.get("action") not in self.actions:
            return None
        return request.get("action"), request.get("id")


class ConstantParameter(Endpoint):
    """``v=1`` always; after the turn the same numbers come with ``v=2``, and are other pages."""

    id, title, hard = "T5", "a constant parameter that later varies", True
    truth = (TrueRule({"q.ref": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        query = [("id", self.number(page)), ("v", "1"), *drawn(rng, 0.6, "ref", 40)]
        return self.at("/api", query)

    def late_url(self, page: int, rng: Random) -> str | None:
        return self.at("/api", [("id", self.number(page)), ("v", "2")])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("id"), request.get("v", "1")) if request.get("id") else None


class Drift(Endpoint):
    """After the turn ``ref`` decides the content, and the script has another name."""

    id, title, drifts = "T22", "junk that becomes relevant", True
    truth = (TrueRule({"q.ref": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        return self.at("/show", [("id", self.number(page)), ("ref", str(rng.randrange(400)))])

    def late_url(self, page: int, rng: Random) -> str | None:
        path = "/show" if page % 2 else "/show2"
        return self.at(path, [("id", self.number(page)), ("ref", str(rng.randrange(400)))])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        if not request.get("id"):
            return None
        return request.get("id"), request.get("ref") if time >= TURN else ""


class ShapeShift(Endpoint):
    """``v`` is a number that says nothing; after the turn it may be a word, which names another page."""

    id, title, hard = "T27", "values of a shape that was never seen", True
    truth = (TrueRule({"q.v": Ignore()}, {"q.v": OfClass(ValueClass("int", 1, 5))}),)

    def url(self, page: int, rng: Random) -> str:
        return self.at("/card", [("id", self.number(page)), ("v", str(rng.randrange(10**5)))])

    def late_url(self, page: int, rng: Random) -> str | None:
        return self.at("/card", [("id", self.number(page)), ("v", self.slug(page, 2))])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        if not request.get("id"):
            return None
        value = request.get("v")
        return request.get("id"), "" if value.isdigit() else value


class ValueDependent(Endpoint):
    id, title, hard = "T4", "one value of a parameter differs, the others do not", True
    truth = (TrueRule({"q.mode": Ignore(ascii_lowercase)}),)

    def url(self, page: int, rng: Random) -> str:
        item, full = divmod(page, 2)
        mode = "full" if full else rng.choice(ascii_lowercase)
        return self.at("/item", [("id", self.number(item)), ("mode", mode)])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        if not request.get("id"):
            return None
        return request.get("id"), "full" if request.get("mode") == "full" else ""


class CaseSensitive(Endpoint):
    id, title, hard = "T7", "identifiers in which case counts", True
    under = ("s",)
    truth = (TrueRule({"q.ref": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        name = rng_of(self.seed, page // 2)
        text = "x" + "".join([name.choice(BASE62) for _ in range(5)]) + BASE62[number_of(page // 2) % 10]
        query = drawn(rng, 0.6, "ref", ("a", "b", "c", "d"))
        return self.at(f"/s/{text.swapcase() if page % 2 else text}", query)


class OrderSensitive(Endpoint):
    """Scrapy itself takes the two for one: whatever begins with its canonical form loses pages here."""

    id, title = "T8", "repeated keys whose order counts"
    filters = ("blur", "crop", "gray", "sepia", "flip", "tint", "pixel")
    truth = (TrueRule({"q.dl": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        image, order = divmod(page, 2)
        pair = [self.filters[image % 7], self.filters[(image + 1 + image // 7 % 5) % 7]]
        query = [
            ("img", self.number(image)),
            *(("f", name) for name in (pair[::-1] if order else pair)),
            *drawn(rng, 0.5, "dl", 20),
        ]
        return self.at("/pipe", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("img"), *request.all("f")) if request.get("img") else None


class ChanceMapping(Endpoint):
    id, title, hard = "T15", "numbers of two kinds that are equal by chance", True
    truth = (TrueRule({"q.t": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        number, kind = divmod(page, 2)
        query = [("page" if kind else "id", str(number + 1)), *drawn(rng, 0.5, "t", 100)]
        return self.at("/list", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        for name in ("id", "page"):
            if request.get(name):
                return name, request.get(name)
        return None


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
    Pagination,
    RareRelevance,
    PathDependent,
    SeenOnce,
    LooksLikeJunk,
    LooksLikeKey,
    RequiredToken,
    MegaCluster,
    StateChanging,
    ConstantParameter,
    Drift,
    ShapeShift,
    ValueDependent,
    CaseSensitive,
    OrderSensitive,
    ChanceMapping,
    ExclusiveOr,
    OffsetUnit,
)
