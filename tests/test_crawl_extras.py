"""Probes and revisits: what they ask for, what they find out, what they may cost, and who never sees them."""

from typing import Any

from scrapy_dedup.rules import Ignore, Status

from .conftest import Serve
from .crawling import Links, crawl, in_reactor, rule, write_rules
from .server import Answer, Asked, Server, page, prose

PAGES = 40
KINDS = 10


def learned(server: Server, key: str = "q.sid") -> Any:
    return rule(f"127.0.0.1:{server.port}", {key: Ignore()}, status=Status.ACTIVE)


class Site:
    """Pages under session ids, which a rule drops; and pages with parameters of which nothing is known.

    ``/req/show?id=&tok=``: tok must be there, and is irrelevant; ``/rel/show?id=&v=``: v matters;
    ``/irr/show?id=&w=``: w is irrelevant. Every link has a value of its own.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        self.robots = ""
        self.finished = False

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            return Answer(self.robots, content_type="text/plain") if self.robots else 404
        if asked.path == "/":
            kinds = (("req", "tok", "x"), ("rel", "v", "y"), ("irr", "w", "z"))
            links = [f"/{name}/show?id={i}&{key}={lead}{i}" for name, key, lead in kinds for i in range(KINDS)]
            return page("start", *(f"/p?id={i}&sid=0" for i in range(PAGES)), *links)
        query = asked.query
        if asked.path == "/p":
            number = int(query["id"])
            links = [f"/p?id={(number + step) % PAGES}&sid={number}" for step in (1, 2)]
            return page(prose(number), *links)
        return self.other(asked.path.split("/")[1], query)

    def other(self, kind: str, query: dict[str, str]) -> Any:
        if self.status and self.finished:
            return self.status
        number = query.get("id")
        if kind == "req":
            return page(prose(f"q{number}")) if "tok" in query else 404
        if kind == "rel":
            return page(prose(f"r{number}v{query.get('v')}"))
        return page(prose(f"i{number}"))


def plain_downloads(server: Server) -> int:
    """What Scrapy alone would download."""
    return 1 + 3 * PAGES + 3 * KINDS


def extra(server: Server) -> list[str]:
    """The targets that were asked for beyond those that the spider has found, each once."""
    return [target for target, count in server.hits.items() for _ in range(count - 1)]


@in_reactor
async def test_probes_tell_what_must_be_there_from_what_matters(serve: Serve) -> None:
    server = serve(Site())
    write_rules(learned(server))
    done = await crawl(Links, server.url("/"), DEDUP_EXTRA=0.9)
    stats = done.dedup()
    assert len(done.items) == 1 + PAGES + 3 * KINDS, "callbacks get each page once"
    tried = {
        tried.doubt.key: tried.said
        for tried in done.crawler.spider.crawler._scrapy_dedup.extras.prober.tried  # type: ignore[union-attr]
    }
    assert tried == {
        "q.id": "relevant",
        "q.tok": "irrelevant, but it must be there",
        "q.v": "relevant",
        "q.w": "irrelevant",
    }
    assert stats["extra/requests"] == stats["probes/requests"] + stats["revisits"]
    assert server.downloads == len(done.items) + stats["extra/requests"] < plain_downloads(server)
    assert not [name for name in stats if name.startswith("errors")]
