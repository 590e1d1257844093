"""Phenomena of the origin: mirrors, www, scheme and port, locales."""

from collections.abc import Sequence
from random import Random

from scrapy_dedup.rules import Ignore, Literal, Set

from ..model import Endpoint, Request, TrueRule


class Mirrors(Endpoint):
    id, title = "D7", "mirrors under other host names"
    names = ("us", "de", "www1", "www2")

    def url(self, page: int, rng: Random) -> str:
        host = f"{rng.choice(self.names)}.{self.place.directory}.{self.place.domain}"
        return self.at(f"/manual/{self.slug(page)}.php", host=host)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        return (found[1],) if len(found) == 2 and found[0] == "manual" else None

    def rules(self) -> Sequence[TrueRule]:
        return [TrueRule({"host.2": Ignore(self.names)}, {"host.1": Literal(self.place.directory)})]


class Origins(Endpoint):
    id, title = "D8", "with and without www, http and https, the port written out"

    def url(self, page: int, rng: Random) -> str:
        scheme = rng.choice(("http", "https"))
        host = rng.choice(("www.", "")) + self.place.domain
        if rng.random() < 0.3:
            host += ":80" if scheme == "http" else ":443"
        return self.at(f"/{self.slug(page)}", host=host, scheme=scheme)

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        found = self.below(request)
        return (found[0],) if len(found) == 1 else None

    def rules(self) -> Sequence[TrueRule]:
        return [
            TrueRule({"scheme": Set({"https": "http"})}),
            TrueRule({"host.1": Ignore(["www"])}),
        ]


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


KINDS: tuple[type[Endpoint], ...] = (Mirrors, Origins, Locale)
