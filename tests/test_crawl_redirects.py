"""Redirects and canonical keys: no page is lost, and none is fetched twice (scrapy#1225)."""

import json
from typing import Any

import pytest
from scrapy import Request

from scrapy_dedup.rules import Ignore, Lower, Set
from scrapy_dedup.store.store import Store

from .conftest import Serve
from .crawling import STORE, Links, crawl, in_reactor, observed, rule, scenario, write_rules
from .crawling_parts import dupe_filter
from .server import Asked, page, prose, redirect


def session(asked: Asked) -> Any:
    """/strip?sid=1 -> /strip; /add -> /add?sid=new; /new?sid=1 -> /new?sid=2 -> ... -> a page."""
    query = asked.query
    match asked.path:
        case "/":
            return page("start", "/strip?sid=1", "/add", "/far", "/new?sid=1")
        case "/strip" if "sid" in query:
            return redirect("/strip")
        case "/add" if "sid" not in query:
            return redirect("/add?sid=new")
        case "/new" if int(query["sid"]) < 4:
            return redirect(f"/new?sid={int(query['sid']) + 1}")
        case "/far":
            return redirect("/near")
        case "/near":
            return redirect("/strip?sid=9")
    return page(prose(asked.path), "/strip?sid=2", "/add?sid=3", "/add", "/strip", "/new?sid=7")


def endless(asked: Asked) -> Any:
    if asked.path == "/":
        return page("start", "/c?sid=0")
    return redirect(f"/c?sid={int(asked.query['sid']) + 1}")


def circle(asked: Asked) -> Any:
    if asked.path == "/":
        return page("start", "/a?sid=1", "/a?sid=2")
    if asked.path == "/a":
        return redirect("/b") if asked.query["sid"] == "1" else page(prose("a"))
    return redirect("/a?sid=1")


def refreshed(asked: Asked) -> Any:
    if asked.path == "/":
        return page("start", "/c?sid=1", "/c?sid=2")
    if asked.query:
        return page("wait", head='<meta http-equiv="refresh" content="0;url=/c">')
    return page(prose("c"))


def ends_in_an_error(asked: Asked) -> Any:
    if asked.path == "/":
        return page("start", "/c?sid=1", "/c?sid=2")
    if asked.target == "/c?sid=1":
        return redirect("/gone")
    return 404 if asked.path == "/gone" else page(prose("c"))


@pytest.mark.parametrize(
    ("site", "pages", "settings"),
    [
        pytest.param(session, ["/", "/add?sid=new", "/new?sid=4", "/strip"], {}, id="to the canonical form"),
        pytest.param(endless, ["/"], {"REDIRECT_MAX_TIMES": 5}, id="a chain without an end ends as it does without"),
        pytest.param(circle, ["/", "/a?sid=2"], {}, id="a circle releases its key"),
        pytest.param(refreshed, ["/", "/c"], {}, id="meta refresh"),
        pytest.param(ends_in_an_error, ["/", "/c?sid=2"], {}, id="to an error: an equivalent is fetched"),
    ],
)
@in_reactor
async def test_each_page_comes_once_whatever_redirects_to_it(
    serve: Serve, site: Any, pages: list[str], settings: dict[str, Any]
) -> None:
    done = await scenario(serve, site, **settings)
    assert done.urls == pages
    assert max(done.fetched.values()) == 1
    assert not done.faults()
    if site is session:
        assert done.stats["dedup/redirects/followed"] == 5
        assert done.fetched.total() == 7 + 4
    if site is endless:
        assert done.fetched.total() == 1 + 6


@in_reactor
async def test_a_target_that_another_request_has_fetched_is_a_duplicate(serve: Serve) -> None:
    site = {"/": page("start", "/c?sid=1", "/x"), "/x": redirect("/c?sid=2"), "/c": page(prose("c"))}
    done = await scenario(serve, site, CONCURRENT_REQUESTS=1)
    assert sum(done.fetched[target] for target in ("/c?sid=1", "/c?sid=2")) == 1
    assert len(done.items) == 2
    assert done.filtered == 1


@in_reactor
async def test_slash_and_www_and_path_alias(serve: Serve, loopback_names: None) -> None:
    def site(asked: Asked) -> Any:
        host, _, port = asked.host.partition(":")
        if asked.path == "/":
            return page("start", "/a", "/b/", "/index.php/C", "/d")
        if host == "localhost" and asked.path == "/d":
            return redirect(f"http://www.localhost:{port}/d")
        other = {"/a": "/a/", "/b/": "/b", "/index.php/C": "/c"}.get(asked.path)
        return redirect(other) if other else page(prose(asked.path), "/a", "/b", "/c", "/d")

    server = serve(site)
    name = f"localhost:{server.port}"
    write_rules(
        rule(name, {"path.trail": Ignore(), "host.1": Ignore(["www"])}),
        rule(name, {"path.0": Ignore(["index.php"]), "path.1": Lower()}),
    )
    done = await crawl(Links, server.url("/", host="localhost"))
    assert done.urls == ["/", "/a/", "/b", "/c", "/d"]


@in_reactor
async def test_a_start_url_that_redirects_to_its_own_key(serve: Serve) -> None:
    done = await scenario(serve, session, start=("/add", "/strip?sid=5"))
    assert set(done.urls) == {"/add?sid=new", "/new?sid=7", "/strip"}
    assert max(done.fetched.values()) <= 2, "a link may lead to a start URL once more, as without rules"


@in_reactor
async def test_a_copied_meta_makes_no_redirect(serve: Serve) -> None:
    """Spiders hand on response.meta, and with it where a page was redirected from."""

    class Copies(Links):
        def parse(self, response: Any) -> Any:
            for each in super().parse(response):
                yield each.replace(meta=dict(response.meta)) if isinstance(each, Request) else each

    def site(asked: Asked) -> Any:
        match asked.target:
            case "/":
                return page("start", "/c?sid=1")
            case "/c?sid=1":
                return redirect("/c")
            case "/d?sid=1":
                return redirect("/d")
        return 404 if asked.target == "/e" else page(prose(asked.path), "/c?sid=2", "/d?sid=1", "/e")

    done = await scenario(serve, site, spider=Copies)
    server = done.server
    assert done.urls == ["/", "/c", "/d"]
    assert server.hits == dict.fromkeys(("/", "/c?sid=1", "/c", "/d?sid=1", "/d", "/e"), 1)
    assert done.stats["dedup/redirects/followed"] == 2
    assert observed()[server.url("/d")].redirect is None
    with Store.open(STORE, readonly=True) as store, store._reading() as connection:
        hops = dict(connection.exec_driver_sql("SELECT url, hops FROM observation").fetchall())
    assert json.loads(hops[server.url("/d")]) == [server.url("/d?sid=1")]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("http://shop.test/c", "https://shop.test/c"),
        ("https://shop.test/c?sid=1", "http://www.shop.test/c"),
        ("http://shop.test/c", "http://shop.test/c/"),
    ],
)
def test_the_filter_lets_a_redirect_within_a_key_pass(source: str, target: str) -> None:
    """Schemes cannot be served on loopback without certificates: the filter is asked directly."""
    same = {"scheme": Set({"http": "https"}), "host.1": Ignore(), "path.trail": Ignore(), "q.sid": Ignore()}
    redirected = {"redirect_urls": [source], "redirect_times": 1}
    another = {"redirect_urls": ["http://shop.test/x"], "redirect_times": 1}
    with dupe_filter(rule("shop.test", same)) as made:
        assert not made.request_seen(Request(source))
        assert made.request_seen(Request(target))
        assert not made.request_seen(Request(target, meta=redirected))
        assert made.request_seen(Request(target, meta=redirected)), "a redirect is followed once"
        assert made.request_seen(Request(target.replace("/c", "/c?sid=3"), meta=another))
