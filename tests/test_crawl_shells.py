"""Crawls of pages that show one frame, and of end points that say little: none is filtered, and session ids beside them are.

The user is told which URLs cannot be compared; a spot check of one is undecided.
"""

import json
import logging
from typing import Any

import pytest

from scrapy_dedup.rules import Ignore

from .conftest import Serve
from .crawling import Links, crawl, in_reactor, messages, rule, write_rules
from .server import Answer, Asked, page, prose

ARTICLES, PAGES = 25, 20
SECTIONS = ("products", "news", "jobs", "events", "people")
FRAME = (
    "Home Products About us Contact Help Terms of use Privacy Please wait while the page is loading in a moment " * 2
)


def start(little: list[str]) -> str:
    """The first page links to all others, to articles under three session ids each."""
    return page(
        "start", *little, *(f"/article?id={i}&sid={i * 7919 + n:032x}" for n in range(3) for i in range(ARTICLES))
    )


def portal(asked: Asked) -> Any:
    """Sections show their frame; what their pages say stands in a script, that of some behind the page."""
    if asked.path == "/article":
        return page(prose(asked.query["id"]))
    if asked.path == "/":
        return start([f"/{section}/{i}" for i in range(PAGES) for section in SECTIONS])
    section = asked.path.split("/")[1]
    data = f"<script id='__NEXT_DATA__' type='application/json'>{json.dumps({'page': asked.path})}</script>"
    end = "</html>" if section in SECTIONS[:2] else "</body>"
    return page(f"{section} {FRAME}", "/").replace(end, end + data if end == "</html>" else data + end)


def shop(asked: Asked) -> Any:
    """End points say the same of all products."""
    if asked.path == "/article":
        return page(prose(asked.query["id"]))
    if asked.path == "/":
        return start([f"/api/{name}?sku={i}" for i in range(PAGES) for name in SECTIONS])
    return Answer(json.dumps({asked.path.split("/")[2]: True, "text": FRAME}), content_type="application/json")


@in_reactor
@pytest.mark.parametrize("site", [portal, shop])
async def test_no_page_is_lost_and_session_ids_are_ignored(serve: Serve, caplog: Any, site: Any) -> None:
    caplog.set_level(logging.INFO, logger="scrapy_dedup")
    server = serve(site)
    told = []
    for _ in range(2):
        server.reset()
        caplog.clear()
        done = await crawl(Links, server.url("/"), DEDUP_LEARN="live", DEDUP_SAMPLE=0.05)
        little = {url for url in done.urls if url != "/" and not url.startswith("/article")}
        assert len(little) == len(SECTIONS) * PAGES
        told += [line for line in messages(caplog, logging.INFO) if "show one answer" in line]
    assert sum(number for url, number in server.hits.items() if url.startswith("/article")) < 2 * ARTICLES
    assert told, messages(caplog, logging.INFO)
    assert f"{PAGES} URLs of {server.url('/')}" in told[0]
    assert f"and {len(SECTIONS) - 3} more templates" in told[0]


@in_reactor
async def test_a_spot_check_of_such_an_answer_is_undecided(serve: Serve) -> None:
    """The user's rule goes on to filter; what it filters is not called duplicates, and session ids are."""
    server = serve(shop)
    await crawl(Links, server.url("/"))
    for key in ("sku", "sid"):
        write_rules(rule(f"127.0.0.1:{server.port}", {f"q.{key}": Ignore()}))
        done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=1)
        assert done.dedup()["samples"] >= len(SECTIONS)
        assert ("samples/confirmed" in done.dedup()) is (key == "sid")
