"""Traps of parameters: what looks like junk and is not, and the other way round."""

from collections.abc import Mapping, Sequence
from random import Random

from scrapy_dedup.rules import Ignore, Literal
from scrapy_dedup.urls import ValueClass

from ..model import Endpoint, Request, TrueRule
from ..seeded import digest, hex_token, share_of


class Pagination(Endpoint):
    id, title, hard = "T1", "pagination", True

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

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.hl": Ignore(), "q.page": Ignore(["1"])})]


class RareRelevance(Endpoint):
    id, title, allowed = "T2", "a parameter that matters for few pages", 1

    def url(self, page: int, rng: Random) -> str:
        query = [("id", self.number(page)), ("lang", rng.choice(("en", "de", "fr")))]
        if rng.random() < 0.5:
            query.append(("ref", str(rng.randrange(40))))
        return self.at("/doc", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        number = request.get("id")
        if not number:
            return None
        matters = share_of(self.seed, number, "rare") < self.knobs.rare
        return number, request.get("lang") if matters else ""

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.ref": Ignore()})]


class PathDependent(Endpoint):
    id, title, hard = "T3", "a parameter that matters under one path only", True

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

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.view": Ignore()}, {"path.1": Literal("news")})]


class SeenOnce(Endpoint):
    """Each article comes once with one key; later the same articles come with other keys: other pages."""

    id, title, hard = "T6", "a unique parameter that nothing speaks about", True

    def url(self, page: int, rng: Random) -> str:
        return self.at("/letter", [("article", self.number(page)), ("k", digest(self.seed, page))])

    def late_url(self, page: int, rng: Random) -> str | None:
        return self.at("/letter", [("article", self.number(page)), ("k", digest(self.seed, page, "late"))])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("article"), request.get("k")) if request.get("article") else None


class LooksLikeJunk(Endpoint):
    id, title, hard = "T9", "names of junk that name the page", True

    def url(self, page: int, rng: Random) -> str:
        number = self.number(page)
        name, value = (
            ("sid", number),
            ("ref", digest(self.seed, page, size=20)),
            ("uid", number),
            ("cid", number),
        )[page % 4]
        query = [(name, value)]
        if rng.random() < 0.6:
            query.append(("via", rng.choice(("rss", "mail", "home", "menu"))))
        return self.at(f"/{('story', 'commit', 'profile', 'list')[page % 4]}", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        names = {"story": "sid", "commit": "ref", "profile": "uid", "list": "cid"}
        if len(found) != 1 or found[0] not in names:
            return None
        return found[0], request.get(names[found[0]])

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.via": Ignore()})]


class LooksLikeKey(Endpoint):
    id, title = "T10", "names of keys that are junk"

    def url(self, page: int, rng: Random) -> str:
        query = [
            ("id", str(rng.randrange(10**9))),
            ("x", self.number(page)),
            ("page_id", hex_token(rng, 12)),
        ]
        return self.at("/read", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        return (request.get("x"),) if request.get("x") else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.id": Ignore(), "q.page_id": Ignore()})]


class RequiredToken(Endpoint):
    id, title, refusal = "T19", "required, and still without meaning", 403

    def url(self, page: int, rng: Random) -> str:
        return self.at("/file", [("id", self.number(page)), ("token", hex_token(rng, 16))])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        if not request.get("id") or not request.get("token"):
            return None
        return (request.get("id"),)

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.token": Ignore()})]


class MegaCluster(Endpoint):
    id, title, hard = "T24", "one page under thousands of URLs, beside small pages", True

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

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.s": Ignore(), "q.v": Ignore(ValueClass("int", 1, 2))})]


class StateChanging(Endpoint):
    id, title, hard = "T30", "a link that changes something", True
    actions = ("view", "view", "view", "logout", "delete")

    def url(self, page: int, rng: Random) -> str:
        query = [("action", self.actions[page % 5]), ("id", self.number(page // 5))]
        if rng.random() < 0.5:
            query.append(("back", str(rng.randrange(30))))
        return self.at("/account", query)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        if request.get("action") not in self.actions:
            return None
        return request.get("action"), request.get("id")

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"q.back": Ignore()})]


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
)
