"""One observation per response; no forged evidence; the key of each response."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.dupefilters import BaseDupeFilter
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse
from scrapy.utils.request import fingerprint
from twisted.internet.defer import ensureDeferred, gatherResults

from scrapy_dedup.content.fingerprints import MAX_BODY
from scrapy_dedup.content.page_content import page_content
from scrapy_dedup.crawl.observe import store_rows as observing
from scrapy_dedup.crawl.observe.store_rows import (
    LaterRow,
    SmallPages,
    base_row,
    canonical_header,
    encoding_of,
    is_quick,
    page_row,
)
from scrapy_dedup.crawl.seen.ledger import Ledger
from scrapy_dedup.rules import Ignore
from scrapy_dedup.store.store import Store
from scrapy_dedup.store.writer import Writer
from scrapy_dedup.urls import normal_form

from .conftest import Serve
from .crawling import STORE, Links, crawl, discarded, in_reactor, messages, observed, rule, scenario, write_rules
from .server import Answer, Asked, as_json, page, prose, redirect
from .waiting import wait_until


@in_reactor
async def test_what_is_recorded(serve: Serve) -> None:
    big = page(prose("big", 20_000))
    server = serve(
        {
            "/": page("start " + prose(0), "/a", "/b", "/json", "/image", "/gone", "/broken", "/moved", "/big"),
            "/a": Answer(
                gzip.compress(page(prose(1), canonical="/canonical").encode()),
                headers={"Content-Encoding": "gzip", "ETag": '"1"', "No-Vary-Search": "params=(sid)", "X-Other": "1"},
            ),
            "/b": page(prose(1), title=prose(1)[:40]),
            "/json": as_json({"b": 1, "a": 2}),
            "/image": Answer(b"\x89PNG", content_type="image/png"),
            "/gone": 404,
            "/broken": 500,
            "/moved": redirect("/b?x=1", 301),
            "/big": big,
        }
    )
    done = await crawl(Links, server.url("/"))
    seen = {url.removeprefix(server.url("/")): observation for url, observation in observed().items()}
    assert set(seen) == {"", "a", "b", "json", "image", "gone", "broken", "moved", "b?x=1", "big"}
    start, a, b = seen[""], seen["a"], seen["b"]
    assert (start.status, start.canonical, start.redirect) == (200, None, None)
    assert start.length == len(server.answer(Asked("GET", "", "/", {})).body)
    assert start.time is not None
    assert start.sketch is not None
    assert a.fingerprint == b.fingerprint == seen["b?x=1"].fingerprint
    assert (a.canonical, a.headers) == (server.url("/canonical"), {"etag": '"1"', "no-vary-search": "params=(sid)"})
    assert (seen["moved"].status, seen["moved"].redirect) == (301, server.url("/b?x=1"))
    for name in ("gone", "broken", "moved"):
        assert not seen[name].fingerprint
    assert seen["json"].fingerprint
    assert seen["image"].fingerprint
    assert seen["image"].sketch is None
    assert (seen["big"].length, seen["big"].words) == (len(big), 20_000 + len(prose("big", 20_000)[:40].split()))
    assert done.stats["dedup/recorded"] == 10
    assert done.stats["dedup/recorded/redirects"] == 1
    assert done.stats["dedup/store/written"] == 10


@in_reactor
async def test_what_is_not_recorded(serve: Serve) -> None:
    """robots.txt, requests of one's own, other methods, bodies, and what is switched off."""

    class Others(Links):
        def parse(self, response: Any) -> Any:
            yield {"url": response.url, "key": response.meta.get("dedup_key")}

        async def start(self) -> Any:
            url = self.start_urls[0]
            yield Request(url)
            yield Request(url + "post", method="POST", body=b"x")
            yield Request(url + "head", method="HEAD")
            yield Request(url + "body", body=b"x")
            yield Request(url + "off", meta={"dedup": False})
            yield Request(url + "verbatim?b=1&a=2", meta={"verbatim_url": True})
            yield Request(url + "redirected", meta={"dedup": False})
            response = await self.crawler.engine.download_async(Request(url + "own"))
            assert response.status == 200

    server = serve({"*": page(prose(1)), "/redirected": redirect("/target"), "/robots.txt": "User-agent: *"})
    done = await crawl(Others, server.url("/"), ROBOTSTXT_OBEY=True)
    assert set(observed()) == {server.url("/")}
    assert server.downloads == len(done.items) + 2
    assert done.keys.pop(server.url("/")) == server.url("/")


@in_reactor
async def test_redirects_that_the_spider_handles_and_bodies_that_were_cut_off(serve: Serve) -> None:
    class Handles(Links):
        handle_httpstatus_list = [302]

    server = serve(
        {
            "/": page(prose(0), "/moved", "/cut"),
            "/moved": redirect("/x"),
            "/cut": Answer(page(prose(1)), headers={"Content-Length": "99999", "Connection": "close"}),
        }
    )
    done = await crawl(Handles, server.url("/"), DOWNLOAD_FAIL_ON_DATALOSS=False)
    assert done.urls == ["/", "/cut", "/moved"]
    seen = observed()
    assert set(seen) == {server.url("/"), server.url("/moved")}
    assert seen[server.url("/moved")].redirect == server.url("/x")
    assert done.stats["dedup/recorded"] == 2


@in_reactor
async def test_own_downloads_are_never_discarded(serve: Serve) -> None:
    class Own(Links):
        async def parse(self, response: Any) -> Any:
            for sid in (1, 2):
                request = Request(response.urljoin(f"/c?sid={sid}"), meta=dict(response.meta))
                own = await self.crawler.engine.download_async(request)
                yield {"url": own.url, "key": None}
            yield response.follow("/c?sid=3", callback=self.last)

        def last(self, response: Any) -> Any:
            yield {"url": response.url, "key": response.meta["dedup_key"]}

    done = await scenario(serve, {"*": page("c")}, spider=Own)
    assert done.urls == ["/c?sid=1", "/c?sid=2", "/c?sid=3"]


class Canonicalizing:
    """A fingerprinter that drops the query, as add-ons do: the HTTP cache follows it."""

    def fingerprint(self, request: Request) -> bytes:
        return fingerprint(request.replace(url=request.url.partition("?")[0]))


@in_reactor
async def test_copies_of_other_urls_are_no_evidence(serve: Serve) -> None:
    server = serve({"/": page("start", "/c?sid=1", "/c?sid=2"), "/c": lambda asked: page(prose(asked.query["sid"]))})
    settings = {
        "HTTPCACHE_ENABLED": True,
        "REQUEST_FINGERPRINTER_CLASS": Canonicalizing,
        "DUPEFILTER_CLASS": BaseDupeFilter,
        "DEDUP_MODE": "observe",
        "CONCURRENT_REQUESTS": 1,
    }
    done = await crawl(Links, server.url("/"), **settings)
    assert len(done.items) == 3
    (fetched,) = {target for target in server.hits if target != "/"}
    assert set(observed()) == {server.url("/"), server.url(fetched)}
    assert done.stats["dedup/recorded/skipped/cached"] == 1
    again = await crawl(Links, server.url("/"), **settings)
    assert again.stats["dedup/recorded"] == 2
    assert set(observed()) == {server.url("/"), server.url(fetched)}


@pytest.mark.parametrize("media", [False, True])
@in_reactor
async def test_media_pipelines(serve: Serve, media: bool, tmp_path: Any) -> None:
    """A rule for pages never mixes up files."""

    class Files(Links):
        custom_settings = {
            "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
            "FILES_STORE": str(tmp_path / "files"),
        }

        def parse(self, response: Any) -> Any:
            yield {"file_urls": [response.urljoin(f"/file.bin?sid={sid}") for sid in "ab"]}

    server = serve(
        {"/": page("start"), "/file.bin": lambda asked: Answer(asked.query["sid"] * 9, content_type="image/x")}
    )
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    done = await crawl(Files, server.url("/"), DEDUP_MEDIA=media, ROBOTSTXT_OBEY=True)
    paths = [file["path"] for file in done.items[0]["files"]]
    assert [(tmp_path / "files" / path).read_text() for path in paths] == ["a" * 9, "b" * 9]
    urls = {server.url("/")} | ({server.url(f"/file.bin?sid={sid}") for sid in "ab"} if media else set())
    # That robots.txt says nothing of parameters is recorded where there are rules.
    assert set(observed()) == urls | {server.url("/robots.txt")}


@in_reactor
async def test_the_key_is_always_that_of_the_response(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    class Copies(Links):
        """Hands all of response.meta on, as users do."""

        custom_settings = {"META_COPY_WARN_SKIP_KEYS": ["download_latency", "redirect_urls", "redirect_reasons"]}

        def parse(self, response: Any) -> Any:
            yield {"url": response.url, "key": response.meta.get("dedup_key")}
            for link in response.css("a"):
                off = {"dedup": False} if "off" in link.attrib["href"] else {}
                yield response.follow(link, meta={**response.meta, **off})

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", "/a?sid=1", "/moved?sid=1", "/off?sid=1", "http://localhost:{}/o".format(*port))
        links = () if asked.path in ("/off", "/o") else ("/c?sid=3&x=1",)
        return redirect("/b?sid=2") if asked.path == "/moved" else page(prose(asked.path), *links)

    server = serve(site)
    port = [server.port]
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    done = await crawl(Copies, server.url("/"), DEDUP_SITES={f"localhost:{server.port}": False})
    keys = {url.rpartition("/")[2]: key and key.rpartition("/")[2] for url, key in done.keys.items()}
    assert keys == {"": "", "a?sid=1": "a", "b?sid=2": "b", "off?sid=1": None, "o": None, "c?sid=3&x=1": "c?x=1"}
    assert not [text for text in messages(caplog, 30, "scrapy") if "dedup" in text]


@in_reactor
async def test_scopes_are_kept_apart(serve: Serve) -> None:
    server = serve({"*": page(prose(1))})
    await crawl(Links, server.url("/"), DEDUP_SCOPE="members")
    assert not observed()
    assert set(observed("members")) == {server.url("/")}


@in_reactor
async def test_the_ledger(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """What JSON cannot hold, and secrets, are left out and named once."""

    class Carrying(Links):
        def parse(self, response: Any) -> Any:
            for sid in range(4):
                yield Request(
                    response.urljoin(f"/c?sid={sid}"),
                    callback=self.page,
                    errback=self.failed,
                    headers={"X-Asked": "1", "Authorization": "secret"},
                    cookies={"session": "secret"},
                    meta={"name": "x", "object": object(), "proxy": "http://me:secret@localhost"} if sid else {},
                    cb_kwargs={"number": 3, "pair": (1, 2)},
                    priority=-sid,
                )

        def page(self, response: Any, number: int, pair: Any) -> Any:
            yield {"url": response.url, "key": None}

        def failed(self, failure: Any) -> None: ...

    server = serve({"*": page(prose(1))})
    made = rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()})
    write_rules(made)
    done = await crawl(Carrying, server.url("/"))
    rows = discarded(spider="links")
    assert [row.url for row in rows] == [server.url(f"/c?sid={sid}") for sid in (1, 2, 3)]
    assert {(row.rule, row.key, row.taken_for, row.callback) for row in rows} == {
        (made.id, server.url("/c"), server.url("/c?sid=0"), "page")
    }
    assert {row.job for row in rows} == {""}, "which has ended"
    assert rows[2].meta == {
        "depth": 1,
        "name": "x",
        "dedup_request": {
            "cb_kwargs": {"number": 3},
            "errback": "failed",
            "headers": {"X-Asked": ["1"], "Referer": [server.url("/")]},
            "priority": -3,
        },
    }
    assert b"secret" not in STORE.read_bytes()
    shared = done.crawler._scrapy_dedup  # type: ignore[attr-defined]
    whole = shared.ledger.request(rows[2])
    assert whole.cb_kwargs == {"number": 3, "pair": (1, 2)}
    assert (whole.headers["Authorization"], whole.cookies) != (None, {}), "in this run nothing is left out"
    again = Ledger(shared.settings, shared.names, shared.store).request(rows[2])
    assert again is not None
    assert (again.url, again.priority, again.cb_kwargs) == (rows[2].url, -3, {"number": 3})
    assert again.callback == done.crawler.spider.page  # type: ignore[union-attr]
    warned = [text.partition(" of filtered")[0] for text in messages(caplog)]
    assert sorted(warned) == ["cb_kwargs['pair']", "cookies", "headers['Authorization']", "meta['object']"]


@in_reactor
async def test_the_ledger_is_bounded(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    done = await scenario(
        serve,
        {"/": page("start", *(f"/c?sid={sid}" for sid in range(9))), "/c": page(prose("c"))},
        DEDUP_STORE_MAX_ROWS=3,
    )
    assert (done.stats["dedup/ledger/written"], done.stats["dedup/ledger/dropped"]) == (3, 5)
    assert len(discarded(spider="links")) == 3
    assert len([text for text in messages(caplog) if "ledger" in text]) == 1


@in_reactor
async def test_two_crawls_write_to_one_store_at_once(serve: Serve) -> None:
    server = serve(lambda asked: page(prose(asked.target), *(f"/p?id={i}" for i in range(30))))
    both = [ensureDeferred(crawl(Links, server.url(f"/{name}"))) for name in "ab"]
    done = await gatherResults(both)
    assert all(each.stats["dedup/store/written"] == 31 for each in done)
    with Store.open(STORE, readonly=True) as store:
        assert [count.responses for count in store.sites("")] == [62]


def response(body: bytes = b"", cls: type[Response] = HtmlResponse, **headers: str) -> Response:
    made = cls("http://shop.test/a/b?x=1", body=body, headers=headers)
    made.request = Request(made.url)
    return made


def base(made: Response) -> Any:
    assert made.request is not None
    return base_row(made.request, made, "", "shop.test", "spider", from_cache=False)


PARAGRAPHS = "<h1>Überschrift</h1>" + "".join(f"<p>{prose(i, 20)} für &amp; wider</p>" for i in range(40))


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "windows-1252"])
@pytest.mark.parametrize("declared", ["header", "meta", "nowhere", "mark"])
def test_all_ways_to_look_at_a_page_agree(monkeypatch: pytest.MonkeyPatch, charset: str, declared: str) -> None:
    meta = f'<meta charset="{charset}">' if declared == "meta" else ""
    text = f'<html><head>{meta}<link rel=canonical href="/c"></head><body>{PARAGRAPHS}</body></html>'
    body = text.encode(charset)
    if declared == "mark":
        body = b"\xef\xbb\xbf" + text.encode()
    headers = {"Content-Type": f"text/html; charset={charset}"} if declared == "header" else {}
    rows = []
    for own_tree in (0, 1 << 20):
        monkeypatch.setattr(observing, "OWN_TREE", own_tree)
        made = response(body, **headers)
        rows.append(page_row(made, base(made), MAX_BODY))
    made = response(body, **headers)
    rows.append(LaterRow(made, base(made), MAX_BODY)())
    assert len({(row.fingerprints, row.canonical, row.length) for row in rows}) == 1
    assert rows[0].canonical == "http://shop.test/c"
    assert rows[0].fingerprints.words == 1 + 40 * 23


def small(number: int) -> LaterRow:
    made = response(page(prose(number)).encode())
    return LaterRow(made, base(made), MAX_BODY)


def test_small_pages_are_looked_at_some_at_a_time() -> None:
    waiting = SmallPages()
    pages = [small(number) for number in range(40)]
    before = 0
    for number, each in enumerate(pages, 1):
        waiting.add(each)
        made = sum(one.made for one in pages)
        assert made in (before, number), "all that wait, or none"
        assert sum(one.size + 1_024 for one in pages[made:number]) < 24_576
        before = made
    assert 0 < before < 40
    rows = [each() for each in pages]
    assert [each() for each in pages] == rows
    assert all(again is row for again, row in zip([each() for each in pages], rows, strict=True)), "made once"
    assert len({row.fingerprints.text for row in rows if row.fingerprints}) == 40


def test_the_thread_of_the_store_writes_small_pages_that_wait(tmp_path: Path) -> None:
    """By its timer, when somebody waits, and at the close: without a further page."""
    pages = [small(number) for number in range(3)]
    waiting = SmallPages()
    path = tmp_path / "store.sqlite"
    writer = Writer(path, interval=0.01)
    for count, each in enumerate(pages[:2], 1):
        assert writer.add(each, each.size)
        waiting.add(each)
        if count == 1:
            wait_until(lambda: writer.counts.written)
        else:
            assert writer.flush()
        assert writer.counts.written == count
    assert writer.add(pages[2], pages[2].size)
    waiting.add(pages[2])
    assert writer.close()
    assert writer.counts.written == 3
    assert all(each.made for each in pages)


def test_a_small_page_that_cannot_be_looked_at_is_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [small(number) for number in range(30)]
    sound = page_content
    bad = pages[5]

    def breaks(body: bytes, *args: Any, **kwargs: Any) -> Any:
        if body == bad._body:
            raise OSError
        return sound(body, *args, **kwargs)

    monkeypatch.setattr(observing, "page_content", breaks)
    waiting = SmallPages()
    writer = Writer(tmp_path / "store.sqlite", interval=3600)
    for each in pages:
        assert writer.add(each, each.size)
        waiting.add(each)
    assert writer.close()
    assert (writer.counts.written, writer.counts.failed) == (29, 1)


def test_long_bodies_are_looked_at_in_part_and_elsewhere() -> None:
    long = response(page(prose(1, 9_000), canonical="c").encode())
    assert not is_quick(long)
    whole, part = (LaterRow(long, base(long), limit)() for limit in (MAX_BODY, 5_000))
    assert whole.fingerprints is not None
    assert part.fingerprints is not None
    assert part.fingerprints.words is not None
    assert part.fingerprints.words < 800
    assert (whole.fingerprints.words or 0) > 9_000
    assert part.fingerprints.digest == whole.fingerprints.digest
    assert whole.canonical == part.canonical == "http://shop.test/a/c"


@pytest.mark.parametrize(
    ("body", "cls", "content_type"),
    [
        (b"", HtmlResponse, "text/html"),
        (b"\x00\xff<<<p", HtmlResponse, "text/html"),
        (b"{", JsonResponse, "application/json"),
        (json.dumps([1]).encode(), JsonResponse, "application/json"),
        (b"plain", TextResponse, "text/plain"),
        (b"\x00" * 100_000, Response, "image/png"),
        (b"<html>" * 3, Response, ""),
    ],
)
def test_whatever_a_response_is(body: bytes, cls: type[Response], content_type: str) -> None:
    made = response(body, cls, **({"Content-Type": content_type} if content_type else {}))
    row = page_row(made, base(made), MAX_BODY)
    assert row.fingerprints is not None
    assert row.fingerprints.text
    assert row == LaterRow(made, base(made)._replace(time=row.time), MAX_BODY)()


@pytest.mark.parametrize(
    ("link", "canonical"),
    [
        ('<https://shop.test/c>; rel="canonical"', "https://shop.test/c"),
        ("</c>; rel=canonical, </d>; rel=next", "http://shop.test/c"),
        ('</d>; rel=next, <c>; title="x"; rel="shortlink canonical"', "http://shop.test/a/c"),
        ("</d>; rel=next", None),
        ("nonsense", None),
        ("<http://[>; rel=canonical", None),
    ],
)
def test_canonical_by_header(link: str, canonical: str | None) -> None:
    assert canonical_header(response(Link=link), "http://shop.test/a/b") == canonical


@pytest.mark.parametrize(
    "header", ["", "text/html", "text/html; charset=latin-1", 'text/html; charset="UTF-8"', "x;charset=none"]
)
@pytest.mark.parametrize("body", [b"", b"<p>", b"\xef\xbb\xbf<p>", b"\xff\xfe<\x00", b'<meta charset="koi8-r"><p>'])
@pytest.mark.parametrize("given", [None, "cp1251"])
def test_encoding_is_that_of_the_response(header: str, body: bytes, given: str | None) -> None:
    headers = {"Content-Type": header} if header else None
    response = HtmlResponse("http://a.example/", body=body, headers=headers, encoding=given)
    assert encoding_of(response) == response.encoding


class Verbatim:
    """A fingerprinter for sites where each spelling of a URL, and each fragment, is a page of its own."""

    def fingerprint(self, request: Request) -> bytes:
        return request.url.encode()


@in_reactor
async def test_what_the_fingerprinter_keeps_apart_are_no_versions_of_one_page(serve: Serve) -> None:
    """Scrapy fetches all of them, and the store holds one page of each URL, the same in each crawl."""
    targets = ["/a#1", "/a#2", "/b?x=1&y=2", "/b?y=2&x=1", "/c?y=2&x=1", "/d"]
    server = serve({"/": page("start", *targets), "*": lambda asked: page(prose(asked.target))})
    for _ in range(2):
        done = await crawl(Links, server.url("/"), REQUEST_FINGERPRINTER_CLASS=Verbatim)
        assert len(done.items) == 1 + len(targets)
        assert done.stats["dedup/not_evidence/fingerprint"] == 4
    with Store.open(STORE, readonly=True) as store:
        found = [(normal_form(row.url), row.fingerprint) for row in store.observations()]
    assert {url.rpartition("/")[2] for url, _ in found} == {"", "b?x=1&y=2", "d"}
    assert len(set(found)) == 3, "one content each"
