"""With DEDUP_SHARE_CACHE the HTTP cache answers with the copy of an equivalent URL, once the rule that says so is sure, and never where versions are compared."""

import re
from typing import Any

import pytest

from .conftest import Serve
from .crawling import Links, Outcome, crawl, crawl_site, ignore, in_reactor, observed, rule_toml
from .server import Asked, page, prose, redirect

CACHE: dict[str, Any] = {"HTTPCACHE_ENABLED": True, "DEDUP_SHARE_CACHE": True}
BY_HAND = {"HTTPCACHE_STORAGE": "scrapy_dedup.crawl.SharedCacheStorage"}
SID = ignore("q.sid")
NUMBER = re.compile(r"[?&]id=([0-9])")
BOTH = ('"q.id" = "ignore"', '"q.sid" = "ignore"')


class Cached(Links):
    """Asks for each page under session ids of the crawl's own."""

    sid = "one"

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "asked": response.request.url, "key": list(response.flags)}
        if response.url.endswith("/"):
            for i in range(10):
                yield response.follow(f"/p?id={i}&sid={self.sid}")
                yield response.follow(f"/p?sid={self.sid}b&id={i}")


class Next(Cached):
    sid = "two"


def site(asked: Asked) -> Any:
    """Ten pages; one is behind a redirect."""
    if asked.path == "/":
        return page("start")
    moved = asked.query["id"] == "9" and asked.query["sid"] != "canon"
    return redirect("/p?id=9&sid=canon") if moved else page(prose(asked.query["id"]))


def shown_right(done: Outcome) -> bool:
    """Whether each URL has shown its own page, whoever's copy that was."""
    return all(NUMBER.findall(item["url"]) == NUMBER.findall(item["asked"]) for item in done.items)


@pytest.mark.parametrize(
    "settings",
    [{}, {"HTTPCACHE_STORAGE": "scrapy.extensions.httpcache.DbmCacheStorage"}, BY_HAND],
    ids=["files", "dbm", "listed by hand"],
)
@in_reactor
async def test_equivalent_urls_share_one_copy(serve: Serve, settings: dict[str, str]) -> None:
    first = await crawl_site(serve, site, SID, spider=Cached, **CACHE, **settings)
    second = await first.again(spider=Next, **CACHE, **settings)
    assert len(first.items) == len(second.items) == 11
    assert {target.partition("&")[0] for target in second.fetched} <= {"/p?id=9"}
    assert second.stat("cache/shared") == 9 + 1, "of the page behind the redirect, too"
    assert shown_right(second)
    assert all("cached" in item["key"] for item in second.items if item["url"] != item["asked"])
    assert not [url for url in observed() if "sid=two" in url and "id=9" not in url], "it is no evidence"
    off = await first.again(spider=Next, **{**CACHE, **settings, "DEDUP_SHARE_CACHE": False})
    assert off.stat("cache/shared") == 0
    assert all(item["url"] == item["asked"] for item in off.items if "id=9" not in item["asked"])
    assert not first.faults() + second.faults() + off.faults()


@pytest.mark.parametrize(
    ("before", "rule", "settings"),
    [
        pytest.param(rule_toml(*BOTH, status="active"), "", {"DEDUP_SAMPLE": 0.02}, id="a learned rule is refuted"),
        pytest.param(rule_toml(*BOTH), SID, {}, id="the user's rule is mended"),
    ],
)
@in_reactor
async def test_a_wrong_rule_leaves_no_wrong_copy(
    serve: Serve, before: str, rule: str, settings: dict[str, Any]
) -> None:
    """Copies are shared once a spot check has confirmed a learned rule; and each stays its own URL's."""
    first = await crawl_site(serve, site, before, spider=Cached, **CACHE)
    second = await first.again(*([rule] if rule else []), spider=Next, **settings, **CACHE)
    assert shown_right(second)
    assert {*NUMBER.findall(" ".join(second.urls))} == {*map(str, range(10))}, "each page came"
    assert rule or second.stat("cache/shared") == 0


@in_reactor
async def test_what_compares_versions_never_reads_a_copy(serve: Serve) -> None:
    first = await crawl_site(serve, site, ignore("q.sid", "active"), spider=Cached, DEDUP_REVISITS=4, **CACHE)
    assert first.stat("revisits") == sum(count - 1 for count in first.fetched.values()) >= 4
    checked = await first.again(spider=Next, DEDUP_SAMPLE=1, **CACHE)
    assert checked.stat("samples") >= 9, "the tenth is a redirect to what has come"
    assert {f"/p?sid=twob&id={i}" for i in range(9)} <= set(checked.fetched), "each came from the site"
    assert not [item for item in checked.items if "sid=twob" in item["asked"] and "cached" in item["key"]]
    again = await first.again(spider=Cached, DEDUP_REVISITS=4, DEDUP_EXTRA=1, HTTPCACHE_ENABLED=True)
    assert (again.stat("revisits"), again.fetched.total()) == (0, 0), "of what came from the cache none is made"
    assert len(again.items) > 10


@pytest.mark.parametrize("wrapped", ["no.such.Storage", BY_HAND["HTTPCACHE_STORAGE"]])
@in_reactor
async def test_a_storage_that_cannot_be_wrapped_stops_the_start(serve: Serve, wrapped: str) -> None:
    server = serve({"*": page("x")})
    with pytest.raises(ValueError, match="DEDUP_FALLBACK_HTTPCACHE_STORAGE"):
        await crawl(Links, server.url("/"), **CACHE, **BY_HAND, DEDUP_FALLBACK_HTTPCACHE_STORAGE=wrapped)
    assert server.downloads == 0
