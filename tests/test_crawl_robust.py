"""The crawl goes on, whatever happens to the plug-in: one clear warning, one stat."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from scrapy_dedup.crawl.decide.request_filter import RequestFilter
from scrapy_dedup.crawl.identity import identities
from scrapy_dedup.crawl.observe import recorder
from scrapy_dedup.crawl.seen import journal
from scrapy_dedup.crawl.seen.journal_lines import JournalPage
from scrapy_dedup.rules import Ignore
from scrapy_dedup.store.store import Store

from .conftest import Project, Serve
from .crawling import STORE, Links, crawl, discarded, in_reactor, messages, observed, rule, write_rules
from .crawling_parts import dupe_filter
from .server import Asked, page, prose
from .waiting import PATIENCE

PAGES = 7


def shop(asked: Asked) -> Any:
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&sid={j}" for i in range(PAGES) for j in range(3)))
    return page(prose(asked.query["id"]), "/")


def sid(server: Any) -> Any:
    return rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()})


def corrupt(path: Path) -> None:
    path.write_bytes(b"not a database" * 100)


def another_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()


def not_a_folder(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("a file")


@pytest.mark.parametrize("spoil", [corrupt, another_database, not_a_folder])
@in_reactor
async def test_a_store_that_cannot_be_used(serve: Serve, caplog: pytest.LogCaptureFixture, spoil: Any) -> None:
    Path("kept").mkdir()
    spoil(Path("kept/store.sqlite"))
    server = serve(shop)
    write_rules(sid(server))
    done = await crawl(Links, server.url("/"), DEDUP_STORE="kept/store.sqlite", DEDUP_LEARN="close")
    assert len(done.items) == 2 + 3 * PAGES, "what cannot stand in the ledger is not discarded"
    assert done.stats["dedup/ledger/prevented"] >= 2 * PAGES
    assert done.stats["dedup/store/dropped"] >= 1 + PAGES
    assert done.stats["dedup/store/written"] == 0
    warning, lost = messages(caplog)
    assert warning.startswith("The crawl goes on, but what it sees is not recorded: store ")
    assert f"{done.stats['dedup/store/dropped']} of the rows that the crawl had for the store" in lost


@in_reactor
async def test_a_store_that_breaks_in_mid_crawl(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """What was discarded before that was noticed is fetched after all."""

    class Breaks(Links):
        def parse(self, response: Any) -> Any:
            if response.url.endswith("/"):
                STORE.parent.rename("elsewhere")
                STORE.parent.touch()
            yield from super().parse(response)

    server = serve(lambda asked: shop(asked) if asked.path == "/" else page(prose(asked.query["id"])))
    write_rules(sid(server))
    done = await crawl(Breaks, server.url("/"))
    assert server.hits == dict.fromkeys(("/", *(f"/p?id={i}&sid={j}" for i in range(PAGES) for j in range(3))), 1)
    assert done.stats["dedup/ledger/prevented"] == 2 * PAGES
    warning, lost = messages(caplog)
    assert "not recorded: store" in warning
    assert f"{done.stats['dedup/store/dropped']} of the rows that the crawl had for the store" in lost


@in_reactor
async def test_the_job_directory_cannot_be_written(
    serve: Serve, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a full disk: redirects within a key, releases and discards do without the journal."""

    class Full:
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise OSError(28, "No space left on device")

    server = serve(
        lambda asked: (
            page("x", "/c?sid=1", "/c?sid=2")
            if asked.path == "/"
            else shop(asked)
            if "id" in asked.query
            else page("c")
        )
    )
    write_rules(sid(server))
    monkeypatch.setattr("scrapy_dedup.crawl.seen.seen.Journal", Full)
    done = await crawl(Links, server.url("/"))
    assert len(done.urls) == 2
    assert done.stats["dedup/errors/journal"] == 1
    (warning,) = messages(caplog)
    assert warning == (
        "The journal of pages cannot be used; the crawl goes on (told once): [Errno 28] No space left on device"
    )


@in_reactor
async def test_the_disk_fills_up_in_mid_crawl(
    serve: Serve, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journal.Journal, "flush", full)

    def site(asked: Asked) -> Any:
        from .server import redirect

        if asked.path == "/":
            return page("start", "/c?sid=1", "/c?sid=2", "/d?sid=1", "/d?sid=2")
        if asked.path == "/c" and asked.query:
            return redirect("/c")
        return 404 if asked.target == "/d?sid=2" else page(prose(asked.path))

    server = serve(site)
    write_rules(sid(server))
    done = await crawl(Links, server.url("/"), JOBDIR="job", CONCURRENT_REQUESTS=1)
    assert done.urls == ["/", "/c", "/d?sid=1"]
    assert done.stats["dedup/errors/journal"] >= 1
    assert len([text for text in messages(caplog) if "journal" in text]) == 1


class Broken(Exception):
    pass


@pytest.mark.parametrize(
    ("broken", "stat"),
    [
        ((identities.Identities, "of"), "dupefilter"),
        ((identities.Identities, "of_url"), "fingerprint"),
        ((recorder, "page_row"), "page"),
        ((recorder, "redirect_row"), "recorder"),
    ],
)
@in_reactor
async def test_faults_of_our_own(
    serve: Serve, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, broken: Any, stat: str
) -> None:
    """Told once with a traceback, counted, and the URL is treated as new."""
    from .server import redirect

    def breaks(*args: Any, **kwargs: Any) -> Any:
        raise Broken

    long = " ".join(prose(number) for number in range(20))
    server = serve(
        lambda asked: redirect("/end") if asked.path == "/moved" else page(long + asked.path, "/moved", "/b")
    )
    stock = await crawl(Links, server.url("/"), ADDONS={})
    monkeypatch.setattr(*broken, breaks)
    done = await crawl(Links, server.url("/"))
    assert set(done.urls) == set(stock.urls)
    assert done.stats[f"dedup/errors/{stat}"] >= 1
    told = [record for record in caplog.records if record.levelname == "ERROR" and "told once" in record.getMessage()]
    assert all(record.exc_info for record in told)
    assert len(told) == len({record.getMessage() for record in told})
    assert done.stats["finish_reason"] == "finished"


def test_a_fault_in_the_filter_asks_the_wrapped_filter_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> Any:
        raise Broken

    with dupe_filter(rule("shop.test", {"q.sid": Ignore()})) as made:
        for name in ("filter", "foresee"):
            monkeypatch.setattr(RequestFilter, name, broken)
        answers = [made.request_seen(Request(f"http://shop.test/c?sid={number}")) for number in (1, 2, 2)]
        assert answers == [False, False, True]


def test_what_the_journal_reads(tmp_path: Path) -> None:
    path = tmp_path / "dedup.seen"
    made = journal.Journal(path)
    assert list(made.resume("one", lambda page: page.slot)) == []
    urls = [f"http://shop.test/{number}{'ü' * number}" for number in range(5)] + ["http://x/" + "y" * 9000]
    positions = [
        made.taken(number, url, f"callback {number % 2}", plain=number != 3) for number, url in enumerate(urls)
    ]
    assert [made.url_at(position) for position in positions] == urls, "before it is written"
    made.flush()
    assert [made.url_at(position) for position in positions] == urls
    for number in (0, 1, 3, 5):
        made.fetched(number)
    made.close()
    with path.open("ab") as file:
        file.write(b"+zz\n=\n@\n\xff\xfe\n=9999\n+6 7 nobody\n=6\n+7 0 http://cut.off")
    again = journal.Journal(path)
    pages: list[JournalPage] = []

    def slot_of(page: JournalPage) -> int | None:
        pages.append(page)
        return None if page.slot == 1 else page.slot + 100

    taken_over = dict(again.resume("two", slot_of))
    assert [page.url for page in pages] == [urls[0], urls[1], urls[3], urls[5]]
    assert [page.plain for page in pages] == [True, True, False, True]
    assert {page.current for page in pages} == {False}
    assert [page.callback for page in pages] == ["callback 0", "callback 1", "callback 1", "callback 1"]
    assert {slot: again.url_at(position) for slot, position in taken_over.items()} == {
        100: urls[0],
        103: urls[3],
        105: urls[5],
    }
    assert again.job == made.job
    again.close()
    third = journal.Journal(path)
    current: list[bool] = []
    assert len(list(third.resume("two", lambda page: current.append(page.current) or page.slot))) == 3
    assert current == [True] * 3
    third.close()


SCRIPT = """\
import scrapy, sys, json
from scrapy.crawler import {process}

class S(scrapy.Spider):
    name = "script"
    start_urls = [sys.argv[1]]

    async def parse(self, response):
        yield {{"url": response.url, "key": response.meta["dedup_key"]}}
        for request in response.follow_all(css="a"):
            yield request

process = {process}({{
    "ADDONS": {{"scrapy_dedup.Addon": 600}},
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "FEEDS": {{"items.json": {{"format": "json"}}}},
    "CONCURRENT_ITEMS": 16,
    "LOG_LEVEL": "INFO",
    **{settings!r},
}})
crawler = process.create_crawler(S)
process.crawl(crawler)
process.start()
print(json.dumps({{name: value for name, value in crawler.stats.get_stats().items() if isinstance(value, (int, str))}}))
"""
EPOLL = "twisted.internet.epollreactor.EPollReactor"


@pytest.mark.parametrize(
    ("process", "settings"),
    [
        ("AsyncCrawlerProcess", {}),
        ("CrawlerProcess", {"TWISTED_REACTOR": EPOLL, "DEDUP_REPORT": ""}),
        pytest.param(
            "AsyncCrawlerProcess",
            {"TWISTED_REACTOR_ENABLED": False, "DEDUP_REPORT": ""},
            marks=pytest.mark.reactorless,
        ),
    ],
    ids=["asyncio", "epoll", "reactorless"],
)
def test_a_script_without_a_main_guard(serve: Serve, process: str, settings: dict[str, Any]) -> None:
    """It learns in another process at its close, and that does not run the script again."""
    if settings.get("TWISTED_REACTOR") == EPOLL and not sys.platform.startswith("linux"):
        pytest.skip("no epoll here")
    if process == "CrawlerProcess" and settings.get("TWISTED_REACTOR") == EPOLL:
        text = SCRIPT.replace("async def parse", "def parse")
    else:
        text = SCRIPT
    Path("script.py").write_text(text.format(process=process, settings=settings))
    server = serve(shop)
    done = run(["script.py", server.url("/")])
    stats = json.loads(done.stdout)
    assert "Traceback" not in done.stderr, done.stderr
    assert stats["finish_reason"] == "finished"
    assert stats["dedup/recorded"] == server.downloads == 2 + 3 * PAGES
    assert "dedup/learned/failed" not in stats
    assert "dedup/learned/seconds" in done.stdout or "dedup/learned/rules" in stats
    assert len(json.loads(Path("items.json").read_text())) == 2 + 3 * PAGES
    assert len(observed()) == 1 + 3 * PAGES


def run(arguments: list[str], **kwargs: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:scrapy", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        **kwargs,
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="limits of processes are POSIX's")
def test_a_full_disk(project: Project, serve: Serve) -> None:
    """No file of the crawl may become larger than 64 kB: for SQLite that is a full disk."""
    import resource

    server = serve(lambda asked: page(prose(asked.target, 300), *(f"/p{i}" for i in range(120) if asked.path == "/")))

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))

    command = ["-m", "scrapy", "crawl", "shop", "-a", f"start={server.url('/')}", "-s", "DEDUP_LEARN=off"]
    done = run(command, cwd=project.folder, preexec_fn=limited)
    assert "'item_scraped_count': 121" in done.stderr
    assert "'finish_reason': 'finished'" in done.stderr
    assert "'dedup/store/dropped'" in done.stderr
    warnings = [line for line in done.stderr.splitlines() if "WARNING" in line and "dedup" in line]
    assert [line for line in warnings if "The crawl goes on, but what it sees is not recorded" in line]
    assert len(warnings) <= 2
    assert "Traceback" not in done.stderr
    with Store.open(project.folder / ".scrapy/dedup/store.sqlite") as store:
        list(store.observations())


def test_importing_the_package_does_not_import_scrapy() -> None:
    code = (
        "import sys, scrapy_dedup; from scrapy_dedup import Observation, RuleBook, learn_rules; "
        "assert 'scrapy' not in sys.modules; from scrapy_dedup import Addon; assert 'scrapy' in sys.modules"
    )
    run(["-c", code])


def test_the_shell_is_left_alone(project: Project, serve: Serve) -> None:
    server = serve({"*": page("x")})
    done = project.scrapy("shell", server.url("/a"), "-c", "[key for key in response.meta if 'dedup' in key]")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_a_response_without_a_request_passes() -> None:
    from scrapy_dedup.crawl.observe.pages import PageMiddleware

    from .crawling_parts import crawler

    PageMiddleware.from_crawler(crawler()).process_spider_input(Response("http://shop.test/"))


@in_reactor
async def test_what_the_database_refuses_is_fetched(serve: Serve) -> None:
    """No row, no filtering: the store is there and takes all else."""
    server = serve(shop)
    await crawl(Links, server.url("/p?id=0"), DEPTH_LIMIT=1)
    write_rules(sid(server))
    with closing(sqlite3.connect(STORE)) as store:
        store.execute(
            "CREATE TRIGGER refusing BEFORE INSERT ON discard WHEN NEW.url NOT LIKE '%id=1&%' "
            "BEGIN SELECT RAISE(ABORT, 'refused'); END"
        )
        store.commit()
    done = await crawl(Links, server.url("/"))
    fetched = [target for target in server.hits if "sid" in target]
    assert len(fetched) == (PAGES - 1) * 3 + 1, "all but the URLs of the page whose rows were taken"
    assert len(discarded()) == 2
    assert done.stats["dedup/avoided"] == 2
