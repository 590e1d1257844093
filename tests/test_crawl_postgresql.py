"""Crawls whose store is a PostgreSQL database: alone, several at once, and with a server that dies."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from .conftest import Project, Serve
from .crawling import (
    Links,
    crawl,
    crawl_site,
    ignore,
    in_reactor,
    ledger,
    messages,
    observed,
    responses,
    rules_of,
    save_rules,
    until,
    without,
)
from .server import Asked, page, prose
from .servers import PostgreSQLServer
from .waiting import PATIENCE

pytestmark = pytest.mark.postgresql
psycopg = pytest.importorskip("psycopg")

SID = ignore("q.sid")
ITEMS = 20


def shop(asked: Asked) -> Any:
    """Every page is linked from the start under session ids, which do not matter."""
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&sid={i}x{j}" for j in range(3) for i in range(ITEMS)))
    return page(prose(asked.query["id"]))


LENGTH = 60


def chain(asked: Asked) -> Any:
    """Every page is linked from the one before, under three session ids."""
    number = int(asked.query.get("id", "0"))
    links = [f"/p?id={number + 1}&sid={number}x{j}" for j in range(3)] if number < LENGTH else []
    return page(prose(str(number)), *links)


class Acting(Links):
    """Does something when it has so many pages, the first time when all of them are in the store."""

    store: str
    acts: dict[int, Callable[[], object]]
    number = 0

    def stored(self) -> int:
        with suppress(Exception):  # its tables are not made yet
            return len(observed(store=self.store))
        return 0

    async def parse(self, response: Any) -> Any:
        number = self.number = self.number + 1
        if number in self.acts:
            if number == min(self.acts):
                # Those that are on their way to the spider may be there before it has them.
                await maybe_deferred_to_future(until(lambda: self.stored() >= number))
            done = self.acts[number]()
            if isinstance(done, Deferred):
                await maybe_deferred_to_future(done)
        for each in super().parse(response):
            yield each


def check_told(caplog: pytest.LogCaptureFixture) -> None:
    assert len([text for text in messages(caplog) if "goes on, but what it sees" in text]) == 1
    assert "secret" not in caplog.text


@in_reactor
async def test_a_crawl_whose_server_dies_and_comes_back(
    serve: Serve, postgresql: PostgreSQLServer, caplog: pytest.LogCaptureFixture
) -> None:
    """No page is lost, nothing is filtered while the ledger cannot be written, and what waited is in the store."""
    url = postgresql.url()
    # Nobody knows that it is away before something is to be written.
    noticed = lambda: until(lambda: "is not recorded" in caplog.text)
    acts = {20: postgresql.kill, 22: noticed, 50: postgresql.start}
    settings: dict[str, Any] = {"DEDUP_STORE": url, "CONCURRENT_REQUESTS": 2}
    done = await crawl_site(serve, chain, SID, start=["/p?id=0"], spider=Acting, store=url, acts=acts, **settings)
    assert done.stats["finish_reason"] == "finished"
    assert set(without("sid", done.urls)) == {f"/p?id={number}" for number in range(LENGTH + 1)}
    assert len(done.items) > LENGTH + 1
    assert done.stat("ledger/prevented") > 0
    assert responses(url) == {done.server.site: len(done.items)}
    assert {item["url"] for item in done.items} <= set(observed(store=url))
    # What is in the ledger as filtered was not fetched, and all else was.
    pending = {row.url for row in ledger("pending", store=url)}
    assert pending
    assert not pending & {item["url"] for item in done.items}
    assert len(pending) + len(done.items) == 3 * LENGTH + 1
    check_told(caplog)
    assert done.stat("store/dropped") == 0


@pytest.mark.parametrize("hangs", [True, False])
@in_reactor
async def test_a_crawl_whose_server_stays_away_and_the_next_one(
    serve: Serve, postgresql: PostgreSQLServer, answer_seconds: Any, *, hangs: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The crawl goes on and closes, says what is lost, and the next one is as any other."""
    url = f"{postgresql.url()}?connect_timeout=1" if hangs else postgresql.url()
    settings: dict[str, Any] = {"DEDUP_STORE": url, "DEDUP_LEARN": "close", "CONCURRENT_REQUESTS": 2}
    settings["SCRAPER_SLOT_MAX_ACTIVE_SIZE"] = 1  # what comes while the twentieth page waits would be stored, too
    acts = {20: lambda: (answer_seconds(1.0), postgresql.pause())} if hangs else {}
    if not hangs:
        postgresql.stop()
    done = await crawl_site(serve, shop, spider=Acting, store=url, acts=acts, **settings)
    assert done.stats["finish_reason"] == "finished"
    assert len(done.items) == 1 + 3 * ITEMS, "nothing is filtered"
    dropped = done.stat("store/dropped")
    assert (dropped > 30) if hangs else (dropped == 1 + 3 * ITEMS)
    assert f"{dropped} of the rows that the crawl had for the store could not be written and are lost" in caplog.text
    check_told(caplog)
    if hangs:
        answer_seconds(PATIENCE)
        postgresql.resume()
    else:
        postgresql.start()
    after = await done.again(**settings)
    assert (after.stat("store/dropped"), after.stat("learned/failed")) == (0, 0)
    assert [list(rule["ops"]) for rule in rules_of(done.server.site)] == [["q.sid"]], "a crawl learns from it"
    assert responses(postgresql.url()) == {done.server.site: len(done.items) - dropped + len(after.items)}


@in_reactor
async def test_the_event_loop_does_not_wait_for_the_store(
    serve: Serve, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From when the spider is open, connections are made in threads."""
    made: list[str] = []
    connect = psycopg.connect

    def noted(*args: Any, **options: Any) -> Any:
        made.append(threading.current_thread().name)
        return connect(*args, **options)

    class Watched(Links):
        async def start(self) -> Any:
            monkeypatch.setattr("psycopg.connect", noted)
            async for request in super().start():
                yield request

    await crawl(Watched, serve(shop).url("/"), DEDUP_STORE=postgresql_url, DEDUP_LEARN="live", DEDUP_SAMPLE=0.2)
    assert made
    assert threading.main_thread().name not in made


def configure(project: Project, **settings: Any) -> None:
    path = project.folder / "shop" / "settings.py"
    off = {"DEDUP_LEARN": "off", "DEDUP_SAMPLE": 0, "DEDUP_EXTRA": 0, "DEDUP_STARTER": 0, **settings}
    path.write_text(path.read_text() + "".join(f"{name} = {value!r}\n" for name, value in off.items()))


def test_crawls_at_once(serve: Serve, project: Project, postgresql_url: str) -> None:
    """All on a store that none of them has made yet: no row is lost, and nobody waits in a circle."""
    crawls = 5
    server = serve(shop)
    configure(project, DEDUP_STORE=postgresql_url)
    save_rules(server.site, SID, directory=project.folder / "dedup-rules")
    assert project.told("list") == "shop\n", "what the crawls are forked from has started"
    command = ("crawl", "shop", "-a", f"start={server.url('/')}", "-O")
    with ThreadPoolExecutor(crawls) as pool:
        logs = [*pool.map(lambda number: project.scrapy(*command, f"{number}.jsonl"), range(crawls))]
    for number, done in enumerate(logs):
        assert done.returncode == 0, done.stderr
        assert not [line for line in done.stderr.splitlines() if " ERROR: " in line or " WARNING: " in line]
        assert "secret" not in done.stderr
        found = [json.loads(line)["url"] for line in (project.folder / f"{number}.jsonl").read_text().splitlines()]
        assert len(found) == ITEMS + 1
    assert responses(postgresql_url) == {server.site: crawls * (ITEMS + 1)}
    assert len(ledger(store=postgresql_url)) == 2 * ITEMS  # of all jobs that have ended a URL has one
    assert all(each.sketch is not None for each in observed(store=postgresql_url).values())


def test_the_commands_work_on_it(serve: Serve, project: Project, postgresql_url: str) -> None:
    """None of them shows the password."""
    server = serve(shop)
    configure(project, DEDUP_STORE=postgresql_url)
    crawls = ["crawl", "shop", "-a", f"start={server.url('/')}"]
    said = []
    for command, expected, code in (
        (crawls, "'dedup/recorded': 61", 0),
        (["learn-rules"], "1 rule", 0),
        (crawls, "'dedup/ledger/written': 40", 0),
        (["dedup", "ledger", "--by-rule"], "40", 0),
        (["dedup", "explain", server.url("/p?id=1&sid=new")], "sid", 0),
        (["dedup", "page", "--from-store", server.url("/p?id=1&sid=1x0")], "there is no mask yet", None),
        (["dedup", "report", "--json"], server.site, 0),
        (["dedup", "report", "-o", "report.html"], "", 0),
        (["dedup", "forget", server.site], "", 0),
        (["dedup", "ledger", "-s", f"DEDUP_STORE={postgresql_url.replace('secret', 'secret2')}"], "password right?", 2),
    ):
        done = project.scrapy(*command)
        said.append(done.stdout + done.stderr)
        assert code in (None, done.returncode), said[-1]
        assert expected in said[-1]
    said.append((project.folder / "report.html").read_text())
    assert responses(postgresql_url) == {}
    assert not [text for text in said if "secret" in text]
