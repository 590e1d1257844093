"""Crawls whose store is a PostgreSQL database: alone, several at once, and with a server that dies."""

import json
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.rules import Ignore
from scrapy_dedup.store.ledger_queries import crawl_rows
from scrapy_dedup.store.rows import DiscardState
from scrapy_dedup.store.store import Store

from .conftest import Project, Serve
from .crawling import Links, crawl, in_reactor, rule, write_rules
from .server import Asked, page, prose
from .servers import PostgreSQLServer
from .waiting import PATIENCE

pytestmark = pytest.mark.postgresql
pytest.importorskip("psycopg")


def shop(items: int, sessions: int = 3) -> Any:
    """Every page is linked from the start under session ids, which do not matter."""

    def answer(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/p?id={i}&sid={i}x{j}" for j in range(sessions) for i in range(items)))
        return page(prose(asked.query["id"]))

    return answer


@in_reactor
async def test_a_crawl_learns_and_filters(serve: Serve, postgresql_url: str) -> None:
    server = serve(shop(40))
    settings = {"DEDUP_STORE": postgresql_url, "DEDUP_LEARN": "close"}
    await crawl(Links, server.url("/"), **settings)
    assert "sid" in next(Path("dedup-rules").glob("*.toml")).read_text()
    done = await crawl(Links, server.url("/"), **settings)
    assert len(done.items) == 41
    assert done.stats["dedup/ledger/written"] == 80
    with Store.open(postgresql_url, readonly=True) as store:
        assert len(list(store.discards())) == 80
        assert [row.filtered for row in crawl_rows(store, "")] == [0, 80]


def chain(length: int) -> Any:
    """Every page is linked from the one before, under three session ids."""

    def answer(asked: Asked) -> Any:
        number = int(asked.query.get("id", "0"))
        links = [f"/p?id={number + 1}&sid={number}x{j}" for j in range(3)] if number < length else []
        return page(prose(str(number)), *links)

    return answer


@in_reactor
async def test_the_event_loop_does_not_wait_for_the_store(
    serve: Serve, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From when the spider is open, the store is opened in threads."""
    server = serve(shop(40))
    opened: list[str] = []
    original = Store.open

    class Watched(Links):
        async def start(self) -> Any:
            monkeypatch.setattr(Store, "open", classmethod(noted))
            async for request in super().start():
                yield request

    def noted(_: type[Store], *args: Any, **options: Any) -> Store:
        opened.append(threading.current_thread().name)
        return original(*args, **options)

    settings = {"DEDUP_STORE": postgresql_url, "DEDUP_LEARN": "live", "DEDUP_SAMPLE": 0.2}
    await crawl(Watched, server.url("/"), **settings)
    monkeypatch.setattr(Store, "open", original)
    await crawl(Watched, server.url("/"), **settings)
    assert len(opened) > 4
    assert threading.main_thread().name not in opened


class Acting(Links):
    """Does something when it has so many pages."""

    acts: ClassVar[dict[int, Callable[[Any], object]]]
    number = 0

    def parse(self, response: Any) -> Any:
        self.number += 1
        if self.number in self.acts:
            self.acts[self.number](self.crawler)
        yield from super().parse(response)


def write_all(crawler: Any) -> None:
    """Have all that a crawl has seen in its store."""
    components = CrawlComponents.of_enabled(crawler)
    assert components is not None
    assert components.store.flush()


@in_reactor
async def test_a_crawl_whose_server_dies_and_comes_back(
    serve: Serve, postgresql: PostgreSQLServer, caplog: pytest.LogCaptureFixture
) -> None:
    """No page is lost, nothing is filtered while the ledger cannot be written, and what waited is in the store."""
    length = 60
    url = postgresql.url()
    server = serve(chain(length))
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))

    class Dying(Acting):
        acts = {20: lambda crawler: (write_all(crawler), postgresql.kill()), 50: lambda _: postgresql.start()}

    done = await crawl(Dying, server.url("/p?id=0"), DEDUP_STORE=url, CONCURRENT_REQUESTS=2)
    assert done.stats["finish_reason"] == "finished"
    found = [re.sub(r"&sid=.*", "", each) for each in done.urls]
    assert set(found) == {f"/p?id={number}" for number in range(length + 1)}
    assert len(found) > length + 1
    assert done.stats["dedup/ledger/prevented"] > 0
    with Store.open(url, readonly=True) as store:
        (site,) = store.sites()
        assert site.responses == len(found)
        assert {item["url"] for item in done.items} <= {each.url for each in store.observations()}
        (row,) = crawl_rows(store, "")
        assert row.pages == len(found)
        # What is in the ledger as filtered was not fetched, and all else was.
        pending = {row.url for row in store.discards(state=DiscardState.PENDING)}
        assert pending
        assert not pending & {item["url"] for item in done.items}
        assert len(pending) + len(found) == 3 * length + 1
    told = [record.getMessage() for record in caplog.records if "goes on, but what it sees" in record.getMessage()]
    assert len(told) == 1
    assert "secret" not in caplog.text
    assert "dedup/store/dropped" not in done.stats


@in_reactor
async def test_a_crawl_whose_server_hangs_and_the_next_one(
    serve: Serve, postgresql: PostgreSQLServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The crawl goes on and closes, says what is lost, and the next one is as any other."""
    for module in ("postgresql", "writer"):
        monkeypatch.setattr(f"scrapy_dedup.store.{module}.ANSWER_SECONDS", 1.0)
    url = f"{postgresql.url()}?connect_timeout=1"
    server = serve(shop(20))
    settings = {"DEDUP_STORE": url, "DEDUP_LEARN": "close", "CONCURRENT_REQUESTS": 2}

    class Hanging(Acting):
        acts = {20: lambda crawler: (write_all(crawler), postgresql.pause())}

    done = await crawl(Hanging, server.url("/"), **settings)
    assert done.stats["finish_reason"] == "finished"
    assert len(done.items) == 61
    dropped = done.stats["dedup/store/dropped"]
    assert dropped > 30
    assert f"{dropped} of the rows that the crawl had for the store could not be written" in caplog.text
    told = [record.getMessage() for record in caplog.records if "goes on, but what it sees" in record.getMessage()]
    assert len(told) == 1
    assert "secret" not in caplog.text
    for module in ("postgresql", "writer"):
        monkeypatch.setattr(f"scrapy_dedup.store.{module}.ANSWER_SECONDS", PATIENCE)
    postgresql.resume()
    after = await crawl(Links, server.url("/"), **settings)
    assert "dedup/store/dropped" not in after.stats
    with Store.open(url, readonly=True) as store:
        (site,) = store.sites()
        assert site.responses == len(done.items) - dropped + len(after.items)
        assert [row.pages for row in crawl_rows(store, "")] == [len(after.items)]


@in_reactor
async def test_a_crawl_whose_server_stays_away_and_the_next_one(
    serve: Serve, postgresql: PostgreSQLServer, caplog: pytest.LogCaptureFixture
) -> None:
    url = postgresql.url()
    server = serve(shop(20))
    settings = {"DEDUP_STORE": url, "DEDUP_LEARN": "close", "CONCURRENT_REQUESTS": 2}
    postgresql.stop()
    done = await crawl(Links, server.url("/"), **settings)
    assert len(done.items) == 61  # nothing is filtered
    assert done.stats["dedup/store/dropped"] == 61
    assert "61 of the rows that the crawl had for the store could not be written and are lost" in caplog.text
    assert "secret" not in caplog.text
    postgresql.start()
    after = await crawl(Links, server.url("/"), **settings)
    assert "dedup/store/dropped" not in after.stats
    with Store.open(url, readonly=True) as store:
        (site,) = store.sites()
        assert site.responses == len(after.items)
        assert len(crawl_rows(store, "")) == 1


def test_eight_crawls_at_once(serve: Serve, project: Project, postgresql_url: str) -> None:
    """All on a store that none of them has made yet: no row is lost, and nobody waits in a circle."""
    items, crawls = 30, 8
    server = serve(shop(items))
    settings = project.folder / "shop" / "settings.py"
    more = {
        "DEDUP_STORE": postgresql_url,
        "DEDUP_LEARN": "off",
        "DEDUP_SAMPLE": 0,
        "DEDUP_EXTRA": 0,
        "DEDUP_STARTER": 0,
    }
    settings.write_text(settings.read_text() + "".join(f"{name} = {value!r}\n" for name, value in more.items()))
    RuleBook([rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()})]).save(project.folder / "dedup-rules")
    assert project.scrapy("list").stdout == "shop\n", "what the crawls are forked from has started"
    with ThreadPoolExecutor(crawls) as pool:
        crawl = ("crawl", "shop", "-a", f"start={server.url('/')}", "-O")
        ended = [pool.submit(project.scrapy, *crawl, f"{number}.jsonl") for number in range(crawls)]
    logs = [each.result().stderr for each in ended]
    assert [each.result().returncode for each in ended] == [0] * crawls
    for number, log in enumerate(logs):
        assert not [line for line in log.splitlines() if " ERROR: " in line or " WARNING: " in line or "secret" in line]
        found = [json.loads(line)["url"] for line in (project.folder / f"{number}.jsonl").read_text().splitlines()]
        assert len(found) == items + 1
    with Store.open(postgresql_url, readonly=True) as store:
        (site,) = store.sites()
        assert site.responses == crawls * (items + 1)
        rows = crawl_rows(store, "")
        assert [(row.pages, row.filtered) for row in rows] == [(items + 1, 2 * items)] * crawls
        assert len(list(store.discards())) == 2 * items  # of all jobs that have ended a URL has one
        assert all(each.sketch is not None for each in store.observations())


def test_the_commands_work_on_it(serve: Serve, project: Project, postgresql_url: str) -> None:
    """None of them shows the password."""
    server = serve(shop(40))
    settings = project.folder / "shop" / "settings.py"
    own = f"\nDEDUP_STORE = {postgresql_url!r}\nDEDUP_LEARN = 'off'\n"
    settings.write_text(settings.read_text() + own)
    said: list[str] = []

    def scrapy(*args: str) -> str:
        done = project.scrapy(*args)
        assert done.returncode == 0, (args, done.stdout, done.stderr)
        said.append(done.stdout + done.stderr)
        return done.stdout

    crawl = ("crawl", "shop", "-a", f"start={server.url('/')}", "-s", "DEDUP_SAMPLE=0")
    scrapy(*crawl)
    assert "1 rule" in scrapy("learn-rules")
    scrapy(*crawl)
    assert "80" in scrapy("dedup", "ledger", "--by-rule")
    assert "sid" in scrapy("dedup", "explain", server.url("/p?id=1&sid=new"))
    done = project.scrapy("dedup", "page", "--from-store", server.url("/p?id=1&sid=1x0"))
    assert "there is no mask yet" in done.stderr
    said.append(done.stderr)
    assert scrapy("dedup", "report", "--json").count("\n") > 3
    scrapy("dedup", "report", "-o", "report.html")
    said.append((project.folder / "report.html").read_text())
    scrapy("dedup", "forget", f"127.0.0.1:{server.port}")
    with Store.open(postgresql_url, readonly=True) as store:
        assert store.sites() == []
    away = postgresql_url.replace("secret", "secret2")
    done = project.scrapy("dedup", "ledger", "-s", f"DEDUP_STORE={away}")
    assert done.returncode == 2
    assert "Is the password right?" in done.stderr
    said.append(done.stderr)
    assert not [text for text in said if "secret" in text]
