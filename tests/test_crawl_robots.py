"""What a robots.txt declares of parameters: recorded where the spider obeys it, and evidence for what is learned."""

import gzip
from typing import Any

import pytest

from scrapy_dedup import learn_rules

from .conftest import Serve
from .crawling import Links, crawl, in_reactor, observed
from .server import Answer, Asked, page, prose

PAGES = 12
PAIRS = 3


class Shop:
    """Pages under a ``ref`` that says nothing, three of them under two URLs; and the robots.txt of the shop."""

    def __init__(self, robots: str, *, packed: bool = False, differ: bool = False) -> None:
        self.robots = robots
        self.packed = packed
        self.differ = differ

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            body = self.robots.encode()
            if self.packed:
                return Answer(gzip.compress(body), content_type="text/plain", headers={"Content-Encoding": "gzip"})
            return Answer(body, content_type="text/plain")
        if asked.path == "/":
            links = [f"/view?id={i}&ref={100 + i}" for i in range(PAGES)]
            return page("start", *links, *(f"/view?id={i}&ref={200 + i}" for i in range(PAIRS)))
        number = asked.query["id"]
        return page(prose(f"{number} {asked.query.get('ref')}" if self.differ else number))


def book() -> Any:
    return learn_rules(observed().values())


@pytest.mark.parametrize("packed", [False, True])
@in_reactor
async def test_the_lines_are_recorded_and_speak_for_a_rule(serve: Serve, packed: bool) -> None:
    """Three pages are too few for a rule without a declaration."""
    server = serve(Shop("User-agent: *\nDisallow: /no\nclean-Param: ref&x /view  # old links\n", packed=packed))
    done = await crawl(Links, server.url("/"), ROBOTSTXT_OBEY=True)
    assert len(done.items) == 1 + PAGES + PAIRS
    seen = observed()[server.url("/robots.txt")]
    assert [*(seen.headers or {}).values()] == ["Clean-param: ref&x /view"]
    found = book()
    assert found.equivalent(server.url("/view?id=99&ref=123"), server.url("/view?id=99"))
    assert not [name for name in done.dedup() if name.startswith("errors")]


@pytest.mark.parametrize(
    "robots",
    ["User-agent: *\nDisallow: /no\n", "Clean-param: ref /other\n", "Clean-param:"],
)
@in_reactor
async def test_without_a_line_about_it_three_pages_are_too_few(serve: Serve, robots: str) -> None:
    server = serve(Shop(robots))
    await crawl(Links, server.url("/"), ROBOTSTXT_OBEY=True)
    assert len(book()) == 0
    assert (server.url("/robots.txt") in observed()) == ("param: " in robots), "a file that declares nothing is no row"


class Without(Shop):
    """The shop, whose robots.txt is gone."""

    def __call__(self, asked: Asked) -> Any:
        return Answer(b"gone", status=404) if asked.path == "/robots.txt" else super().__call__(asked)


@pytest.mark.parametrize("later", [Shop("User-agent: *\nDisallow: /no\n"), Without("Clean-param: ref\n")])
@in_reactor
async def test_what_the_site_has_taken_back_speaks_for_nothing(serve: Serve, later: Shop) -> None:
    served = [Shop("Clean-param: ref\n")]

    def latest(asked: Asked) -> Any:
        return served[-1](asked)

    server = serve(latest)
    settings = {"ROBOTSTXT_OBEY": True, "DEDUP_MODE": "shadow"}
    await crawl(Links, server.url("/"), DEDUP_LEARN="close", **settings)
    assert len(book()) == 1
    served.append(later)
    done = await crawl(Links, server.url("/"), DEDUP_LEARN="off", **settings)
    assert len(book()) == 0
    assert not [name for name in done.dedup() if name.startswith("errors")]


@in_reactor
async def test_a_line_that_is_wrong_proves_nothing(serve: Serve) -> None:
    server = serve(Shop("Clean-param: ref&id\n", differ=True))
    await crawl(Links, server.url("/"), ROBOTSTXT_OBEY=True)
    assert [*(observed()[server.url("/robots.txt")].headers or {}).values()] == ["Clean-param: ref&id"]
    assert len(book()) == 0


@in_reactor
async def test_nothing_is_fetched_for_it(serve: Serve) -> None:
    server = serve(Shop("Clean-param: ref\n"))
    done = await crawl(Links, server.url("/"))
    assert "/robots.txt" not in server.hits
    assert len(done.items) == 1 + PAGES + PAIRS


@in_reactor
async def test_the_component_by_hand(serve: Serve) -> None:
    server = serve(Shop("Clean-param: ref\n"))
    middlewares = {"scrapy_dedup.crawl.RobotsRecorder": 586}
    await crawl(Links, server.url("/"), DOWNLOADER_MIDDLEWARES=middlewares)
    assert server.url("/robots.txt") not in observed()
    await crawl(Links, server.url("/"), DOWNLOADER_MIDDLEWARES=middlewares, ROBOTSTXT_OBEY=True)
    assert server.url("/robots.txt") in observed()


@in_reactor
async def test_a_crawl_that_learns_at_its_end_uses_them(serve: Serve) -> None:
    server = serve(Shop("Clean-param: ref\n"))
    await crawl(Links, server.url("/"), ROBOTSTXT_OBEY=True, DEDUP_LEARN="close")
    done = await crawl(Links, server.url("/"), ROBOTSTXT_OBEY=True)
    assert len(done.items) == 1 + PAGES
