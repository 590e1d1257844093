"""What a crawl records: one observation of each response that is evidence, the key of each response, and what it has filtered."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.dupefilters import BaseDupeFilter
from scrapy.exceptions import CloseSpider
from scrapy.utils.request import fingerprint
from twisted.internet.defer import ensureDeferred, gatherResults

from .conftest import Serve
from .crawling import (
    STORE,
    Links,
    crawl,
    crawl_site,
    ignore,
    in_reactor,
    ledger,
    messages,
    observed,
    responses,
    save_rules,
)
from .server import Answer, Asked, Route, as_json, page, prose, redirect

SID = ignore("q.sid")


def typed(body: bytes | str, content_type: str) -> tuple[Answer, dict[str, Any]]:
    return Answer(body, content_type=content_type), {"sketch": None, "words": None}


def linked(header: str, canonical: str | None) -> tuple[Answer, dict[str, Any]]:
    return Answer(page(prose(header)), headers={"Link": header}), {"canonical": canonical}


#: Target -> what the server answers, and what is recorded of that. URLs are those of the server's site where they begin with "/".
RECORDED: dict[str, tuple[Route, dict[str, Any]]] = {
    "/": (page(prose(0), title="start"), {"canonical": None, "redirect": None, "headers": None, "words": 1 + 60}),
    "/packed": (
        Answer(
            gzip.compress(page(prose(1), canonical="/canonical").encode()),
            headers={"Content-Encoding": "gzip", "ETag": '"1"', "No-Vary-Search": "params=(sid)", "X-Other": "1"},
        ),
        {
            "canonical": "/canonical",
            "headers": {"etag": '"1"', "no-vary-search": "params=(sid)"},
            "length": len(page(prose(1), canonical="/canonical")),
        },
    ),
    "/plain": (page(prose(1)), {}),
    "/plain?x=1": (page(prose(1)), {}),
    "/moved": (redirect("/plain?x=1", 301), {"status": 301, "redirect": "/plain?x=1", "fingerprint": ""}),
    "/handled": (redirect("/x"), {"status": 302, "redirect": "/x", "fingerprint": ""}),
    "/gone": (404, {"status": 404, "fingerprint": ""}),
    "/broken": (500, {"status": 500, "fingerprint": ""}),
    "/big": (page(prose("big", 20_000), title="big"), {"words": 1 + 20_000, "canonical": None}),
    # What follows is longer than DEDUP_MAX_BODY.
    "/bigger": (page(prose("bigger", 30_000), canonical="/c"), {"canonical": "/c"}),
    "/blank": ("", {"words": 0}),
    "/rubbish": (b"\x00\xff<<<p", {}),
    "/json": (as_json({"b": 1, "a": 2}), {"words": None}),
    "/no-json": typed("{", "application/json"),
    "/text": typed("plain", "text/plain"),
    "/image": typed(b"\x00" * 100_000, "image/png"),
    "/a/1": linked('<https://shop.test/c>; rel="canonical"', "https://shop.test/c"),
    "/a/2": linked("</c>; rel=canonical, </d>; rel=next", "/c"),
    "/a/3": linked('</d>; rel=next, <c>; title="x"; rel="shortlink canonical"', "/a/c"),
    "/a/4": linked("</d>; rel=next", None),
    "/a/5": linked("nonsense", None),
    "/a/6": linked("<http://[>; rel=canonical", None),
}
CUT = Answer(page(prose(2)), headers={"Content-Length": "99999", "Connection": "close"})
#: Requests that are not compared with others.
OTHERS: dict[str, dict[str, Any]] = {
    "/post": {"method": "POST", "body": b"x"},
    "/head": {"method": "HEAD"},
    "/body": {"body": b"x"},
    "/off": {"meta": {"dedup": False}},
    "/verbatim?b=1&a=2": {"meta": {"verbatim_url": True}},
    "/redirected": {"meta": {"dedup": False}},
}


class Asks(Links):
    async def start(self) -> Any:
        for url in self.start_urls:
            yield Request(url, meta={"handle_httpstatus_list": [302]} if url.endswith("/handled") else {})
        for target, given in OTHERS.items():
            yield Request(self.start_urls[0][:-1] + target, **given)
        own: Any = await self.crawler.engine.download_async(Request(self.start_urls[0] + "own"))  # type: ignore[union-attr]
        assert own.status == 200


@in_reactor
async def test_one_observation_of_each_response(serve: Serve) -> None:
    """None of robots.txt, of other methods, of bodies that were cut off, of what the spider downloads itself or has switched off."""
    routes = {target: route for target, (route, _) in RECORDED.items() if "?" not in target}
    server = serve(
        {**routes, "/cut": CUT, "/redirected": redirect("/target"), "/robots.txt": "User-agent: *", "*": page(prose(3))}
    )
    targets = [target for target in RECORDED if "?" not in target] + ["/cut"]
    settings = {"ROBOTSTXT_OBEY": True, "DOWNLOAD_FAIL_ON_DATALOSS": False, "DEDUP_MAX_BODY": 300_000}
    done = await crawl(Asks, *map(server.url, targets), **settings)
    assert set(server.hits) == {*RECORDED, "/cut", *OTHERS, "/target", "/own"}
    seen = {url.removeprefix(server.url("")): each for url, each in observed().items()}
    assert set(seen) == set(RECORDED)
    for target, (_, wanted) in RECORDED.items():
        expected = {"status": 200, **wanted}
        found = {name: getattr(seen[target], name) for name in expected}
        for name in {"canonical", "redirect"} & {name for name, value in found.items() if value}:
            found[name] = found[name].removeprefix(server.url(""))
        assert found == expected, target
        assert seen[target].time
        assert bool(seen[target].fingerprint) is ("fingerprint" not in wanted)
    assert seen["/packed"].fingerprint == seen["/plain"].fingerprint == seen["/plain?x=1"].fingerprint
    assert (sketch := seen["/json"].sketch) is not None
    assert len(sketch.blocks) == 2
    (number,) = {each.crawl for each in seen.values()}
    assert number, "the crawl that has fetched them"
    assert len({each.fingerprint for each in seen.values()}) == len(RECORDED) - 5
    assert 0 < (seen["/bigger"].words or 0) < 30_000
    counted = {"recorded": len(RECORDED), "recorded/redirects": 2, "not_evidence/dataloss": 1}
    assert {name: done.stat(name) for name in counted} == counted
    keyed = {url.removeprefix(server.url("")) for url, key in done.keys.items() if key}
    assert keyed == {target for target, each in seen.items() if each.status == 200} | {"/handled", "/cut"}
    assert not done.faults()


#: Which encoding a page has, and how that is told: where nothing tells it Scrapy guesses, and of very long pages nobody does.
ENCODINGS = [
    *((charset, declared) for charset in ("utf-8", "iso-8859-1", "cp1252") for declared in ("header", "meta")),
    *((charset, "nowhere") for charset in ("utf-8", "utf-8-sig", "utf-16")),
    ("utf-8", "wrongly"),
    *((charset, "nowhere") for charset in ("iso-8859-1", "cp1252")),
    ("cp437", "by a middleware"),
]
#: Paragraphs of a page, and how many of ENCODINGS it has: short pages, longer ones and very long ones are read in different ways.
LENGTHS = {10: len(ENCODINGS), 40: len(ENCODINGS), 500: len(ENCODINGS) - 3}


class Recodes:
    """Knows better than the site in which encoding its pages are."""

    def process_response(self, request: Request, response: Any, spider: Any = None) -> Any:
        charset, declared = ENCODINGS[int(request.url.rpartition("=")[2])]
        return response.replace(encoding=charset) if declared == "by a middleware" else response


@in_reactor
async def test_a_page_is_its_text_whatever_its_encoding_and_length(serve: Serve) -> None:
    def site(asked: Asked) -> Any:
        number, index = (int(asked.query[name]) for name in ("length", "encoding"))
        charset, declared = ENCODINGS[index]
        meta = f'<meta charset="{charset}">' if declared == "meta" else ""
        text = "".join(f"<p>{prose(i, 20)} für &amp; wider</p>" for i in range(number))
        html = f'<html><head>{meta}<link rel=canonical href="/c"></head><body><h1>Überschrift</h1>{text}</body></html>'
        header = {"header": f"; charset={charset}", "wrongly": "; charset=none"}.get(declared, "")
        return Answer(html.encode(charset), content_type=f"text/html{header}")

    asked = {
        (number, index): f"/?length={number}&encoding={index}" for number in LENGTHS for index in range(LENGTHS[number])
    }
    done = await crawl_site(serve, site, start=list(asked.values()), DOWNLOADER_MIDDLEWARES={Recodes: 500})
    seen = observed()
    for number in LENGTHS:
        rows = {
            ENCODINGS[index]: seen[done.server.url(target)]
            for (length, index), target in asked.items()
            if length == number
        }
        texts = {name: (each.fingerprint, each.bag, each.canonical, each.words) for name, each in rows.items()}
        assert texts == dict.fromkeys(texts, texts["utf-8", "header"])
        assert texts["utf-8", "header"][2:] == (done.server.url("/c"), 1 + number * 23)


class WithoutQuery:
    """A fingerprinter that drops the query, as add-ons do: the HTTP cache follows it."""

    def fingerprint(self, request: Request) -> bytes:
        return fingerprint(request.replace(url=request.url.partition("?")[0]))


class Verbatim:
    """A fingerprinter for sites where each spelling of a URL, and each fragment, is a page of its own."""

    def fingerprint(self, request: Request) -> bytes:
        return request.url.encode()


@in_reactor
async def test_copies_of_other_urls_are_no_evidence(serve: Serve) -> None:
    site = {"/": page("start", "/c?sid=1", "/c?sid=2"), "/c": lambda asked: page(prose(asked.query["sid"]))}
    settings = {
        "HTTPCACHE_ENABLED": True,
        "REQUEST_FINGERPRINTER_CLASS": WithoutQuery,
        "DUPEFILTER_CLASS": BaseDupeFilter,
        "DEDUP_MODE": "observe",
        "CONCURRENT_REQUESTS": 1,
    }
    done = await crawl_site(serve, site, **settings)
    fetched = {done.server.url(target) for target in done.fetched}
    assert (len(done.items), len(fetched)) == (3, 2)
    assert set(observed()) == fetched
    assert done.stat("recorded/skipped/cached") == 1
    again = await done.again(**settings)
    assert (again.stat("recorded"), len(again.fetched)) == (2, 0)
    assert set(observed()) == fetched


@in_reactor
async def test_what_the_fingerprinter_keeps_apart_are_no_versions_of_one_page(serve: Serve) -> None:
    """Scrapy fetches all of them, and the store holds one page of each URL, the same in each crawl."""
    targets = ["/a#1", "/a#2", "/b?x=1&y=2", "/b?y=2&x=1", "/c?y=2&x=1", "/d"]
    server = serve({"/": page("start", *targets), "*": lambda asked: page(prose(asked.target))})
    for _ in range(2):
        done = await crawl(Links, server.url("/"), REQUEST_FINGERPRINTER_CLASS=Verbatim)
        assert len(done.items) == 1 + len(targets)
        assert done.stat("not_evidence/fingerprint") == 4
        assert set(observed()) == {server.url(target) for target in ("/", "/b?x=1&y=2", "/d")}


@pytest.mark.parametrize("media", [False, True])
@in_reactor
async def test_media_pipelines(serve: Serve, media: bool, tmp_path: Path) -> None:
    """A rule for pages never mixes up files, which are recorded where that is asked for."""

    class Files(Links):
        def parse(self, response: Any) -> Any:
            yield {"url": response.url, "file_urls": [response.urljoin(f"/file.bin?sid={sid}") for sid in "ab"]}

    site = {"/": page("start"), "/file.bin": lambda asked: Answer(asked.query["sid"] * 9, content_type="image/x")}
    pipeline = {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}, "FILES_STORE": str(tmp_path / "files")}
    done = await crawl_site(serve, site, SID, spider=Files, DEDUP_MEDIA=media, ROBOTSTXT_OBEY=True, **pipeline)
    paths = [file["path"] for file in done.items[0]["files"]]
    assert [(tmp_path / "files" / path).read_text() for path in paths] == ["a" * 9, "b" * 9]
    # That robots.txt says nothing of parameters is recorded where there are rules.
    recorded = {"/", "/robots.txt", *(f"/file.bin?sid={sid}" for sid in "ab" if media)}
    assert set(observed()) == set(map(done.server.url, recorded))


class Copies(Links):
    """Hands all of response.meta on, as users do."""

    custom_settings = {"META_COPY_WARN_SKIP_KEYS": ["download_latency", "redirect_urls", "redirect_reasons"]}

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "key": response.meta.get("dedup_key")}
        for link in response.css("a"):
            off = {"dedup": False} if "off" in link.attrib["href"] else {}
            yield response.follow(link, meta={**response.meta, **off})


@in_reactor
async def test_the_key_is_always_that_of_the_response(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", "/a?sid=1", "/moved?sid=1", "/off?sid=1", server.url("/o", host="localhost"))
        links = () if asked.path in ("/off", "/o") else ("/c?sid=3&x=1",)
        return redirect("/b?sid=2") if asked.path == "/moved" else page(prose(asked.path), *links)

    server = serve(site)
    save_rules(server.site, SID)
    done = await crawl(Copies, server.url("/"), DEDUP_SITES={f"localhost:{server.port}": False})
    keys = {url.rpartition("/")[2]: key and key.rpartition("/")[2] for url, key in done.keys.items()}
    assert keys == {"": "", "a?sid=1": "a", "b?sid=2": "b", "off?sid=1": None, "o": None, "c?sid=3&x=1": "c?x=1"}
    assert not [text for text in messages(caplog, 30, "scrapy") if "dedup" in text]


@in_reactor
async def test_crawls_at_once_write_to_one_store_and_scopes_are_kept_apart(serve: Serve) -> None:
    server = serve(lambda asked: page(prose(asked.target), *(f"/p?id={i}" for i in range(9))))
    done = await gatherResults([ensureDeferred(crawl(Links, server.url(f"/{name}"))) for name in "ab"])
    assert [each.stat("store/written") for each in done] == [10, 10]
    assert responses() == {server.site: 20}
    before = set(observed())
    await crawl(Links, server.url("/c"), DEDUP_SCOPE="members")
    pages = {server.url(f"/p?id={i}") for i in range(9)}
    assert set(observed()) == before == pages | {server.url("/a"), server.url("/b")}
    assert set(observed("members")) == pages | {server.url("/c")}


SECRET = ("authorization", "cookie", "proxy-authorization")


class Carrying(Links):
    """Asks for two pages under four session ids each, and pauses when it has the first one."""

    # The second is for Scrapy before 2.14, which downloads on while a callback is at work.
    custom_settings = {"CONCURRENT_REQUESTS": 1, "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1, "JOBDIR": "job"}

    async def start(self) -> Any:
        yield Request(self.start_urls[0])

    def parse(self, response: Any) -> Any:
        for sid in range(4):
            for name, priority in (("c", 10), ("d", -10)):
                yield Request(
                    response.urljoin(f"/{name}?sid={sid}"),
                    callback=self.show,
                    errback=self.failed,
                    headers={"X-Asked": "1", **({"Authorization": "secret"} if sid else {})},
                    cookies={"session": "secret"} if sid else {},
                    meta={"name": "x", "object": object(), "proxy": response.url.replace("//", "//me:secret@")}
                    if sid
                    else {},
                    cb_kwargs={"number": 3, "pair": (1, 2)},
                    priority=priority - sid,
                )

    def show(self, response: Any, number: int, pair: Any = None) -> Any:
        yield {"url": response.url, "key": (response.meta["name"], number, pair)}
        if "/c?sid=1" in response.url:
            raise CloseSpider("paused")

    def failed(self, failure: Any) -> None: ...


@in_reactor
async def test_what_is_kept_of_filtered_requests(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """They are made again as they were; in a later run without secrets and what JSON cannot hold, which are named once."""

    def site(asked: Asked) -> Any:
        return 404 if asked.query.get("sid") == "0" else page(prose(asked.path))

    def sent() -> dict[str, list[str | None]]:
        asked = {
            each.target.removeprefix(url("")): each.headers
            for each in done.server.asked
            if each.query.get("sid", "0") != "0"
        }
        return {target: [headers.get(name) for name in ("x-asked", *SECRET)] for target, headers in asked.items()}

    done = await crawl_site(serve, site, SID, spider=Carrying)
    url = done.server.url
    assert done.keys == {url("/c?sid=1"): ("x", 3, (1, 2))}
    assert sent() == {"/c?sid=1": ["1", "secret", "session=secret", "Basic bWU6c2VjcmV0"]}
    rows = [row for row in ledger() if "/d" in row.url]
    assert [row.url for row in rows] == [url(f"/d?sid={sid}") for sid in (1, 2, 3)]
    assert {(row.key, row.taken_for, row.callback) for row in rows} == {(url("/d"), url("/d?sid=0"), "show")}
    assert rows[2].meta == {
        "depth": 1,
        "name": "x",
        "dedup_request": {
            "cb_kwargs": {"number": 3},
            "errback": "failed",
            "headers": {"X-Asked": ["1"], "Referer": [url("/")]},
            "priority": -13,
        },
    }
    assert b"secret" not in STORE.read_bytes()
    done = await done.again(spider=Carrying)
    # The callback had failed with the first URL of the one page, the site fails with that of the other one.
    assert done.keys == dict.fromkeys((url("/c?sid=2"), url("/d?sid=1")), ("x", 3, None))
    assert sent() == {target: ["1", None, None, None] for target in ("/c?sid=2", "/d?sid=1")}
    warned = [text.partition(" of filtered")[0] for text in messages(caplog)]
    assert sorted(warned) == ["cb_kwargs['pair']", "cookies", "headers['Authorization']", "meta['object']"]
