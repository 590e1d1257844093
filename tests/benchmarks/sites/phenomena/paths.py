"""Phenomena of the path and the origin: optional and junk segments, spelling, index names, aliases, mirrors, locales."""

from collections.abc import Sequence
from random import Random
from uuid import UUID

from scrapy_dedup.rules import Ignore, Literal, Lower, OfClass, OneOf, Replace, Set
from scrapy_dedup.urls import ValueClass

from ..model import Endpoint, Request, TrueRule
from ..seeded import hex_token, rng_of

INT = OfClass(ValueClass("int", 1, 12))


class OptionalParts(Endpoint):
    id, title = "D4", "four optional parts, one of them a path segment"
    names = ("guid",)

    def url(self, page: int, rng: Random) -> str:
        guid = str(UUID(int=rng_of(self.seed, page).getrandbits(128))).upper()
        path = "/yhoo/story.asp" if rng.random() < 0.5 else "/story.asp"
        query = []
        if rng.random() < 0.5:
            query.append(("source", "blq/yhoo"))
        query += [(name, "yhoo") for name in ("siteid", "dist") if rng.random() < 0.5]
        return self.at(path, [*query, ("guid", f"{{{guid}}}")])

    def rules(self) -> Sequence[TrueRule]:
        junk = {"q.source": Ignore(), "q.siteid": Ignore(), "q.dist": Ignore()}
        return [
            TrueRule(junk),
            TrueRule({"path.1": Ignore(["yhoo"])}, {"path.1": Literal("yhoo")}),
        ]


class MatrixParameter(Endpoint):
    id, title = "D5", "matrix parameter and a junk query key"
    names = ("articleID",)
    truth = (TrueRule({"m.jsessionid": Ignore(), "q.tid": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        session = f";jsessionid={hex_token(rng, 20).upper()}" if rng.random() < 0.8 else ""
        query = [("articleID", self.number(page))]
        if rng.random() < 0.6:
            query.append(("tid", str(5990 + rng.randrange(12))))
        return self.at(f"/showArticle.jhtml{session}", query)


class JunkSegments(Endpoint):
    id, title = "D6", "junk segments behind the name of the page"
    truth = (TrueRule({"s.qid": Ignore(), "s.br": Ignore(), "s.ref": Ignore()}),)

    def url(self, page: int, rng: Random) -> str:
        path = f"/exec/obidos/ASIN/{self.number(page)}"
        if rng.random() < 0.8:
            path += f"/qid={1038000000 + rng.randrange(10**6)}"
        if rng.random() < 0.6:
            path += f"/br=1-{rng.randint(1, 20)}"
        if rng.random() < 0.5:
            path += f"/ref=br_{rng.randint(1, 12)}"
        return self.at(f"{path}/")

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        return (found[3],) if len(found) > 3 and found[:3] == ("exec", "obidos", "ASIN") else None


class CaseInsensitive(Endpoint):
    id, title = "D10", "upper and lower case are the same page"
    truth = (TrueRule({"path.1": Lower(), "path.2": Lower(), "ext": Lower(), "q.v": Lower()}),)

    def url(self, page: int, rng: Random) -> str:
        text, video = self.slug(page, 2), self.slug(page, 1)
        spell = rng.choice((str.lower, str.upper, str.title, str.capitalize))
        if page % 2:
            return self.at(f"/{spell('docs')}/{spell(text)}.{spell('aspx')}")
        return self.at("/player", [("v", spell(f"{video}-{page}"))])

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = [segment.lower() for segment in self.below(request)]
        if found == ["player"]:
            return "player", request.get("v").lower()
        return tuple(found) if found else None


class PercentEncoding(Endpoint):
    id, title = "D11", "escapes of characters that need none"
    under = ()

    def url(self, page: int, rng: Random) -> str:
        text = f"~{self.slug(page)}_{page}"
        escaped = [
            f"%{ord(letter):{rng.choice(('02x', '02X'))}}" if rng.random() < 0.15 or letter == "~" else letter
            for letter in text
        ]
        return self.at("/" + (text if rng.random() < 0.3 else "".join(escaped)))


class Slashes(Endpoint):
    id, title = "D12", "slashes at the end, doubled slashes, dot segments"
    under = ()
    truth = (TrueRule({"path.trail": Ignore()}), TrueRule({"path.1": Ignore([""])}, {"path.1": Literal("")}))

    def url(self, page: int, rng: Random) -> str:
        middle = rng.choice(("/", "/", "//", f"/{self.slug(rng.randrange(9), 1)}/../", "/./"))
        return self.at(f"{middle}{self.slug(page)}" + rng.choice(("/", "")))


class DirectoryIndex(Endpoint):
    id, title = "D13", "the index of a directory"
    truth = (
        TrueRule(
            {"path.2": Ignore(["index", "default"]), "ext": Ignore(), "path.trail": Ignore()},
            {"path.2": OneOf(["index", "default"], optional=True)},
        ),
    )

    def url(self, page: int, rng: Random) -> str:
        name = rng.choice(("", "index.html", "default.asp"))
        return self.at(f"/{self.slug(page)}/{name}")

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        known = len(found) == 1 or (len(found) == 2 and found[1] in {"index.html", "default.asp"})
        return (found[0],) if known else None


class ExtensionAlias(Endpoint):
    id, title = "D14", "aliases of a file's extension"
    truth = (TrueRule({"ext": Ignore(["htm", "html"])}),)

    def url(self, page: int, rng: Random) -> str:
        return self.at(f"/p/{self.number(page)}" + rng.choice(("", ".htm", ".html")))

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        return (found[1].partition(".")[0],) if len(found) == 2 and found[0] == "p" else None


class QueryToPath(Endpoint):
    id, title = "D15", "a query rewritten as a path"

    def url(self, page: int, rng: Random) -> str:
        number = self.number(page)
        if rng.random() < 0.4:
            return self.at("/display", [("pageid", number)])
        return self.at(f"/archive{rng.randrange(8)}/{number}/display")

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        match self.below(request):
            case ("display",):
                return (request.get("pageid"),) if request.get("pageid") else None
            case (archive, number, "display") if archive.startswith("archive"):
                return (number,)
        return None

    def rules(self) -> Sequence[TrueRule]:
        archives = [f"archive{number}" for number in range(8)]
        return [
            TrueRule(
                {
                    "path.1": Set(dict.fromkeys(archives, "display")),
                    "path.2": Ignore(cut=True),
                    "path.3": Ignore(["display"]),
                    "q.pageid": Replace("path.2"),
                },
                {"path.1": OneOf(archives), "path.2": INT, "path.3": Literal("display")},
            )
        ]


class FreeSlug(Endpoint):
    id, title = "D17", "a title behind the number that may be anything"
    truth = (TrueRule({"path.3": Ignore()}, {"path.1": Literal("item"), "path.2": INT}),)

    def url(self, page: int, rng: Random) -> str:
        title = f"/{self.slug(rng.randrange(10**6), rng.randint(1, 4))}" if rng.random() < 0.8 else ""
        return self.at(f"/item/{self.number(page)}{title}")

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        return (found[1],) if 2 <= len(found) <= 3 and found[0] == "item" else None


class CategoryPath(Endpoint):
    id, title = "D23", "the way to a product in its path"
    ways = ("sale/shoes", "men/shoes", "men", "sale", "women", "new")
    categories = ("men", "sale", "women", "new")
    truth = (
        TrueRule({"path.1": Ignore(cut=True)}, {"path.len": Literal("3")}),
        TrueRule({"path.1": Ignore(cut=True), "path.2": Ignore(cut=True)}, {"path.len": Literal("4")}),
    )

    def url(self, page: int, rng: Random) -> str:
        if page < len(self.categories):
            return self.at(f"/{self.categories[page]}/")
        return self.at(f"/{rng.choice(self.ways)}/p-{self.number(page)}")

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        if len(found) == 1 and found[0] in self.categories:
            return found
        if found and found[-1].startswith("p-") and "/".join(found[:-1]) in self.ways:
            return (found[-1],)
        return None


class UserDirectory(Endpoint):
    id, title = "D28", "two ways to a user's directory"
    truth = (
        TrueRule(
            {"path.1": Replace("path.2", prefix="~"), "path.2": Ignore(cut=True)},
            {"path.1": Literal("people"), "path.2": OfClass(ValueClass("any"))},
        ),
    )

    def url(self, page: int, rng: Random) -> str:
        user = self.slug(page, 1) + str(page)
        return self.at(f"/~{user}/" if rng.random() < 0.5 else f"/people/{user}/")

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        match self.below(request):
            case (name,) if name.startswith("~"):
                return (name[1:],)
            case ("people", name):
                return (name,)
        return None


class Mirrors(Endpoint):
    id, title = "D7", "mirrors under other host names"
    names = ("us", "de", "www1", "www2")
    under = ("manual",)

    def url(self, page: int, rng: Random) -> str:
        host = f"{rng.choice(self.names)}.{self.place.directory}.{self.place.domain}"
        return self.at(f"/manual/{self.slug(page)}.php", host=host)

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"host.2": Ignore(self.names)}, {"host.1": Literal(self.place.directory)})]


class Origins(Endpoint):
    id, title = "D8", "with and without www, http and https, the port written out"
    under = ()
    truth = (TrueRule({"scheme": Set({"https": "http"})}), TrueRule({"host.1": Ignore(["www"])}))

    def url(self, page: int, rng: Random) -> str:
        scheme = rng.choice(("http", "https"))
        host = rng.choice(("www.", "")) + self.place.domain
        if rng.random() < 0.3:
            host += ":80" if scheme == "http" else ":443"
        return self.at(f"/{self.slug(page)}", host=host, scheme=scheme)


class Locale(Endpoint):
    id, title = "D27", "a locale that is the default one"

    def url(self, page: int, rng: Random) -> str:
        article, german = divmod(page, 2)
        before = "/de" if german else rng.choice(("/en", ""))
        return self.at(f"/{self.slug(article)}", before=before)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        if len(found) != 1:
            return None
        return "de" if request.segments[0] == "de" else "", found[0]

    def rules(self) -> Sequence[TrueRule]:
        match = {"path.0": Literal("en"), "path.1": Literal(self.place.directory)}
        return [TrueRule({"path.0": Ignore(["en"])}, match, anywhere=True)]


KINDS: tuple[type[Endpoint], ...] = (
    OptionalParts,
    MatrixParameter,
    JunkSegments,
    CaseInsensitive,
    PercentEncoding,
    Slashes,
    DirectoryIndex,
    ExtensionAlias,
    QueryToPath,
    FreeSlug,
    CategoryPath,
    UserDirectory,
    Mirrors,
    Origins,
    Locale,
)
