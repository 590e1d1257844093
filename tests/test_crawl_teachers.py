"""A spider that is filtered by what others taught is told so; one that taught itself, or whose user did, is not."""

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.rules import Ignore, Status

from .conftest import Serve
from .crawling import (
    STORE,
    SWAPPED,
    Links,
    crawl,
    crawler_of,
    in_reactor,
    messages,
    rule,
    run,
    when_counted,
    write_rules,
)
from .server import Asked, Server, page, prose
from .waiting import PATIENCE

PAGES = 30


class First(Links):
    name = "first"


class Second(Links):
    name = "second"


class Third(Links):
    name = "third"


def site(asked: Asked) -> Any:
    """Thirty pages, each under three referrers."""
    if asked.path == "/":
        return page(prose("start"), *(f"/p?id={i}&ref=s{i}x{j}" for i in range(PAGES) for j in range(3)))
    return page(prose(asked.query["id"]))


def name_of(server: Server) -> str:
    return f"127.0.0.1:{server.port}"


async def warned(caplog: pytest.LogCaptureFixture, spider: type[Links], server: Server, **settings: Any) -> list[str]:
    """What a crawl that filters requests warns of."""
    caplog.clear()
    done = await crawl(spider, server.url("/"), **settings)
    assert done.stats["dedup/discarded/urls"] == 2 * PAGES
    return messages(caplog)


@in_reactor
async def test_a_spider_is_told_whose_rules_filter_its_requests(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """Once in a crawl, and in the next crawl not again, since it has seen the site itself by then."""
    server = serve(site)
    await crawl(First, server.url("/"), DEDUP_LEARN="close")
    (learned,) = RuleBook.load("dedup-rules").for_site(name_of(server))
    assert await warned(caplog, First, server) == [], "it is its own rule"
    (told,) = await warned(caplog, Second, server)
    assert told.startswith(
        f"Requests of the spider second are filtered by rule {learned.id} of {name_of(server)}, "
        "which was learned from what the spider first saw."
    )
    assert "DEDUP_SCOPE keeps what spiders learn apart" in told
    assert await warned(caplog, Second, server) == []
    (told,) = await warned(caplog, Third, server)
    assert "what the spiders first and second saw" in told


@in_reactor
async def test_rules_that_a_spider_learns_while_it_crawls_are_its_own(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    """Another one has seen a few pages before, of which nothing was learned."""
    server = serve(site)
    await crawl(First, server.url("/"), CLOSESPIDER_PAGECOUNT=5)
    used = threading.Event()
    answered = iter(range(10_000))

    def answer(asked: Asked) -> Any:
        if next(answered) >= 2 * PAGES:  # enough to learn from; the others are answered when rules are in use
            used.wait(PATIENCE)
        return site(asked)

    def changed() -> None:
        used.set()

    server.routes = {"*": answer}
    crawler = crawler_of(Second, DEDUP_LEARN="live", CONCURRENT_REQUESTS=1)
    when_counted(crawler, SWAPPED, changed)
    done = await run(crawler, server.url("/"))
    assert done.stats["dedup/discarded/urls"] > 0
    assert messages(caplog) == []


@in_reactor
async def test_who_taught_is_not_told_of_what_the_user_wrote_or_nobody_knows(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(site)
    await crawl(First, server.url("/"))
    ignored = {"q.ref": Ignore()}
    write_rules(rule(name_of(server), ignored))
    assert await warned(caplog, Second, server) == [], "it is manual"
    shutil.rmtree(STORE.parent)
    await crawl(First, server.url("/"), DEDUP_MODE="observe")
    write_rules(rule(name_of(server), ignored, status=Status.ACTIVE))
    Path("dedup-rules").rename("package")
    assert await warned(caplog, Second, server, DEDUP_RULES=["package"]) == [], "it comes with a package"
    shutil.rmtree(STORE.parent)
    Path("package").rename("dedup-rules")
    assert await warned(caplog, Second, server) == [], "there is no store that could tell"


@in_reactor
async def test_spiders_of_other_scopes_have_taught_nothing(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(site)
    await crawl(First, server.url("/"))
    write_rules(rule(name_of(server), {"q.ref": Ignore()}, status=Status.ACTIVE), directory="dedup-rules/own")
    assert await warned(caplog, Second, server, DEDUP_SCOPE="own") == []
