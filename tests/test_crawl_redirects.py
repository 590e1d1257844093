"""Redirects and canonical keys: no page is lost, and none is fetched twice (scrapy#1225)."""

from typing import Any

from scrapy import Request
from scrapy.http import HtmlResponse

from .conftest import Serve
from .crawling import (
    Links,
    Outcome,
    crawl,
    crawl_site,
    crawl_sites,
    ignore,
    in_reactor,
    observed,
    rule_toml,
    save_rules,
    without,
)
from .server import Asked, page, prose, redirect

SID = ignore("q.sid")


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
    return page("start", "/c?sid=0") if asked.path == "/" else redirect(f"/c?sid={int(asked.query['sid']) + 1}")


def circle(asked: Asked) -> Any:
    if asked.path == "/":
        return page("start", "/a?sid=1", "/a?sid=2")
    if asked.path == "/a":
        return redirect("/b") if asked.query["sid"] == "1" else page(prose("a"))
    return redirect("/a?sid=1")


def refreshed(asked: Asked) -> Any:
    if asked.path == "/":
        return page("start", "/c?sid=1", "/c?sid=2")
    wait = page("wait", head='<meta http-equiv="refresh" content="0;url=/c">')
    return wait if asked.query else page(prose("c"))


def ends_in_an_error(asked: Asked) -> Any:
    if asked.path == "/":
        return page("start", "/c?sid=1", "/c?sid=2")
    if asked.target == "/c?sid=1":
        return redirect("/gone")
    return 404 if asked.path == "/gone" else page(prose("c"))


#: Site -> its pages, and how many requests lead to them.
SITES: dict[str, tuple[Any, list[str], int]] = {
    "to the canonical form": (session, ["/", "/add", "/new", "/strip"], 7 + 4),
    "a chain without an end ends as it does without rules": (endless, ["/"], 1 + 6),
    "a circle gives its key free": (circle, ["/", "/a"], 4),
    "meta refresh": (refreshed, ["/", "/c"], 3),
    "to an error: an equivalent is fetched": (ends_in_an_error, ["/", "/c"], 4),
    "to a page that another request has fetched": (
        {"/": page("start", "/c?sid=1", "/x"), "/x": redirect("/c?sid=2"), "/c": page(prose("c"))},
        ["/", "/c"],
        3,
    ),
}  # fmt: skip


@in_reactor
async def test_each_page_comes_once_whatever_redirects_to_it(serve: Serve) -> None:
    done = await crawl_sites(
        serve, {name: site for name, (site, *_) in SITES.items()}, SID, REDIRECT_MAX_TIMES=5, CONCURRENT_REQUESTS=1
    )
    for name, (_, pages, requests) in SITES.items():
        assert without("sid", done[name].urls) == dict.fromkeys(pages, 1), name
        assert max(done[name].fetched.values()) == 1, name
        assert done[name].fetched.total() == requests, name
        assert not done[name].faults()


class AnswersSecure:
    """Answers to https, for which there is no certificate on loopback."""

    def process_request(self, request: Request, spider: Any = None) -> Any:
        return HtmlResponse(request.url, body=page(prose("s")).encode()) if request.url.startswith("https") else None


@in_reactor
async def test_redirects_to_another_spelling_of_host_scheme_and_path(serve: Serve, loopback_names: None) -> None:
    def site(asked: Asked) -> Any:
        host, _, port = asked.host.partition(":")
        if asked.path == "/":
            return page("start", "/a", "/b/", "/index.php/C", "/d", "/s")
        if host == "localhost" and asked.path in {"/d", "/s"}:
            return redirect(f"http://www.localhost:{port}/d" if asked.path == "/d" else f"https://localhost:{port}/s")
        other = {"/a": "/a/", "/b/": "/b", "/index.php/C": "/c"}.get(asked.path)
        return redirect(other) if other else page(prose(asked.path), "/a", "/b", "/c", "/d", "/s")

    server = serve(site)
    save_rules(
        f"localhost:{server.port}",
        rule_toml(
            '"path.trail" = "ignore"', '"host.1" = { ignore = ["www"] }', '"scheme" = { set = { http = "https" } }'
        ),
        rule_toml('"path.0" = { ignore = ["index.php"] }', '"path.1" = "lower"'),
    )
    middleware = {"DOWNLOADER_MIDDLEWARES": {AnswersSecure: 500}}
    done = Outcome(await crawl(Links, server.url("/", host="localhost"), **middleware), server)
    assert done.urls == ["/", "/a/", "/b", "/c", "/d", "/s"]
    assert max(done.fetched[target] for target in ("/a", "/b/", "/index.php/C", "/s")) == 1


class Copies(Links):
    """Hands on response.meta, and with it where a page was redirected from."""

    def parse(self, response: Any) -> Any:
        for each in super().parse(response):
            yield each.replace(meta=dict(response.meta)) if isinstance(each, Request) else each


@in_reactor
async def test_a_copied_meta_makes_no_redirect(serve: Serve) -> None:
    def site(asked: Asked) -> Any:
        match asked.target:
            case "/":
                return page("start", "/c?sid=1")
            case "/c?sid=1" | "/d?sid=1":
                return redirect(asked.path)
        return 404 if asked.target == "/e" else page(prose(asked.path), "/c?sid=2", "/d?sid=1", "/e")

    done = await crawl_site(serve, site, SID, spider=Copies)
    assert done.urls == ["/", "/c", "/d"]
    assert done.fetched == dict.fromkeys(("/", "/c?sid=1", "/c", "/d?sid=1", "/d", "/e"), 1)
    assert done.stat("redirects/followed") == 2
    rows = observed()
    assert rows[done.server.url("/d")].redirect is None
    assert rows[done.server.url("/d?sid=1")].redirect == done.server.url("/d")


@in_reactor
async def test_a_start_url_that_redirects_to_its_own_key(serve: Serve) -> None:
    done = await crawl_site(serve, session, SID, start=("/add", "/strip?sid=5"))
    assert set(done.urls) == {"/add?sid=new", "/new?sid=7", "/strip"}
    assert max(done.fetched.values()) <= 2, "a link may lead to a start URL once more, as without rules"
