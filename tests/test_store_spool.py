"""What a crawl sees while its server is away: on disk, within a limit, and in the store when that is back."""

import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from scrapy_dedup.store import spool as module
from scrapy_dedup.store.rows import CheckRow, CrawlRow, DiscardState, SightingRow, StoreRow
from scrapy_dedup.store.spool import Spool, put_or_spool
from scrapy_dedup.store.store import Store
from scrapy_dedup.store.writer import Writer

from .servers import PostgreSQLServer, free_port
from .store_rows import discarded, seen, table_counts
from .waiting import PATIENCE, wait_until

pytestmark = pytest.mark.postgresql
pytest.importorskip("psycopg")

NEVER = 3_600.0
ROOT = Path(__file__).parents[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "spool"


@pytest.fixture
def make(folder: Path) -> Iterator[Callable[..., Writer]]:
    writers: list[Writer] = []

    def new(target: str, **options: Any) -> Writer:
        writers.append(Writer(target, **{"interval": NEVER, "spool": folder, **options}))
        return writers[-1]

    yield new
    for writer in writers:
        writer.close()


def urls(target: str) -> list[str]:
    with Store.open(target, readonly=True) as store:
        return sorted(each.url.removeprefix("http://example.com/") for each in store.observations())


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def away() -> str:
    return f"postgresql+psycopg://dedup:secret@127.0.0.1:{free_port()}/dedup"


def test_what_comes_while_the_server_is_away_is_written_later(
    make: Callable[..., Writer], postgresql: PostgreSQLServer, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "scrapy_dedup")
    url = postgresql.url()
    writer = make(url)
    writer.add(seen("a"))
    assert writer.flush()
    postgresql.kill()
    for name in ("b", "c"):
        writer.add(seen(name))
        writer.add(discarded(name, meta={"depth": 1}))
        assert not writer.flush()
        assert writer.failing  # so that rules filter nothing
    assert writer.counts.spooled == 4
    assert writer.settled == 1
    writer.add(discarded("c", state=DiscardState.RELEASED))
    postgresql.start()
    assert writer.flush()
    assert not writer.failing
    assert writer.settled == writer.accepted
    assert writer.counts._asdict() == {"written": 6, "dropped": 0, "failed": 0, "waiting": 0, "spooled": 0}
    assert urls(url) == ["a", "b", "c"]
    with Store.open(url) as store:
        assert {row.url[-1]: row.state.value for row in store.discards(state=None)} == {"b": "pending", "c": "released"}
    (warning,) = warnings(caplog)
    assert f"but what it sees waits in {folder}" in warning
    assert "secret" not in caplog.text
    assert "4 rows that have waited on disk are in the store postgresql+psycopg://dedup:***@" in caplog.text
    assert not list(folder.rglob("*.sqlite*"))


def test_a_server_that_hangs_is_given_up(
    make: Callable[..., Writer],
    postgresql: PostgreSQLServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """No connection is lost, and what is sent is taken: what waits is spooled all the same."""
    monkeypatch.setattr("scrapy_dedup.store.writer.ANSWER_SECONDS", 1.0)
    url = f"{postgresql.url()}?connect_timeout=1"
    writer = make(url)
    writer.add(seen("a"))
    assert writer.flush()
    postgresql.pause()
    for name in ("b", "c"):  # on a connection that is there, and on a new one
        writer.add(seen(name))
        assert not writer.flush()
        assert writer.failing
    assert writer.counts.spooled == 2
    assert "the server does not answer" in caplog.text
    assert "secret" not in caplog.text
    monkeypatch.setattr("scrapy_dedup.store.writer.ANSWER_SECONDS", PATIENCE)
    postgresql.resume()
    wait_until(writer.flush)
    assert urls(url) == ["a", "b", "c"]
    assert writer.counts._asdict() == {"written": 3, "dropped": 0, "failed": 0, "waiting": 0, "spooled": 0}


@pytest.mark.parametrize("crowded", [False, True])
def test_a_hanging_server_keeps_no_rows_in_memory(
    make: Callable[..., Writer], postgresql: PostgreSQLServer, monkeypatch: pytest.MonkeyPatch, *, crowded: bool
) -> None:
    """Neither a full queue nor the end of the crawl waits as long as an answer may take."""
    monkeypatch.setattr("scrapy_dedup.store.writer.CONNECT_SECONDS", 0.5)
    monkeypatch.setattr("scrapy_dedup.store.writer.ANSWER_SECONDS", NEVER)
    writer = make(f"{postgresql.url()}?connect_timeout=1", max_waiting=10)
    assert writer.flush()
    postgresql.pause()
    if crowded:
        writer.add(seen("a"))
        flushing = Thread(target=writer.flush)
        flushing.start()
        wait_until(lambda: writer.counts.waiting == 1 and not writer._queue.qsize())
        for number in range(6):
            writer.add(seen(str(number)))
        flushing.join()
        wait_until(lambda: writer.counts.spooled == 7)
    else:
        writer.add(seen("a"))
        assert writer.close(0.5)
        assert writer.counts.spooled == 1
    assert not writer.counts.dropped


def test_what_another_process_keeps_from_being_written_is_spooled(
    make: Callable[..., Writer], postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is when a lock is held for long, and when the crawl ends."""
    with Store.open(postgresql_url) as other, other._transaction():
        closing = make(postgresql_url)
        closing.add(seen("a"))
        assert closing.close(0.1)
        assert closing.counts.spooled == 1
        monkeypatch.setattr("scrapy_dedup.store.access._LOCK_PATIENCE", 0.0)
        writer = make(postgresql_url)
        writer.add(seen("b"))
        assert not writer.flush()
        assert (writer.counts.spooled, writer.counts.waiting) == (2, 0)
    assert writer.flush()
    assert urls(postgresql_url) == ["a", "b"]


def test_what_is_left_is_written_by_the_next_crawl(
    make: Callable[..., Writer], postgresql: PostgreSQLServer, folder: Path
) -> None:
    url = postgresql.url()
    postgresql.stop()
    writer = make(url)
    for number in range(2_500):
        writer.add(seen(str(number), f"text {number}", version=b"texts", headers={"etag": "x"}, hops=("http://h/",)))
    assert writer.close()
    assert writer.counts.spooled == 2_500
    assert sum(file.stat().st_size for file in folder.rglob("*.sqlite")) > 100_000
    postgresql.start()
    other = make(url.replace("postgres?", "template1?"))
    other.add(seen("last"))
    assert other.flush()
    assert other.counts.written == 2_501
    found = urls(url)
    assert len(found) == 2_501
    with Store.open(url) as store:
        counts = table_counts(store)
        assert (counts["observation"], counts["page_sketch"], counts["page_version"]) == (2_501, 2_501, 1)
        assert all(each.headers for each in store.observations() if not each.url.endswith("last"))


def test_a_row_is_what_it_was(folder: Path, store_target: str) -> None:
    rows: list[StoreRow] = [
        seen(
            "page", headers={"a": "b"}, hops=("http://h/",), version=b"texts", ends=False, password=True, spider="shop"
        ),
        seen("moved", None, status=302, redirect="http://example.com/", from_cache=True),
        seen("image", None, fingerprints=seen("x").fingerprints),
        discarded("b", callback="parse", meta={"a": [1, None]}, state=DiscardState.OWED, job="j"),
        SightingRow("", "example.com", "http://example.com/", "http://example.com/#c1", "fragment", 1.0, "1", "c", "p"),
        CheckRow("", "example.com", "rule", 1.0, samples=3),
        CrawlRow("", "example.com", "shop", "job", 1.0, 2.0),
    ]
    with Store.open(store_target) as direct, Store.open(folder / "other.sqlite") as moved:
        direct.add(rows)
        spool = Spool(folder, "postgresql://host/x")
        assert not spool
        assert spool.add(rows)
        assert spool
        while spool.move_some(moved)[0]:
            pass
        assert not spool

        def contents(store: Store) -> list[Any]:
            return [
                list(store.observations(versions=True)),
                [list(each) for each in store.versions()],
                list(store.discards(state=None)),
                list(store.sightings()),
                store.checks(),
                table_counts(store),
            ]

        assert contents(moved) == contents(direct)


def on_disk(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def test_the_disk_takes_no_more_than_a_limit(
    make: Callable[..., Writer], monkeypatch: pytest.MonkeyPatch, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 500_000)
    writer = make(away(), batch=100)
    for number in range(9_000):
        writer.add(seen(str(number), f"text {number} " * 9))
    assert not writer.close()
    counts = writer.counts
    assert counts.spooled > 100
    assert counts.spooled + counts.dropped == 9_000
    assert on_disk(folder) < 2_000_000
    assert sum("what comes beyond that is lost" in warning for warning in warnings(caplog)) == 1


@pytest.mark.parametrize("alive", [False, True])
def test_the_limit_is_that_of_all_processes_together(
    monkeypatch: pytest.MonkeyPatch, folder: Path, caplog: pytest.LogCaptureFixture, *, alive: bool
) -> None:
    """A crawl every night, or eight workers, take no more disk than one of them."""
    most = 2_000_000
    monkeypatch.setattr(module, "MOST_BYTES", most)
    url = away()
    spools = []
    refused = 0
    for crawl in range(12):
        spool = Spool(folder, url)
        spool.take_over()
        for batch in range(20):
            texts = (f"{crawl}/{batch}/{number}" for number in range(50))
            refused += not spool.add([seen(text, f"text {text} " * 9) for text in texts])
        spools.append(spool)
        if not alive:
            spool.close()
    taken = on_disk(folder)
    for spool in spools:
        spool.close()
    assert refused > 100
    assert most * 0.9 < taken < most * 1.5
    told = sum("what comes beyond that is lost" in warning for warning in warnings(caplog))
    assert 4 < told <= 12  # each crawl says it once
    assert len(list(folder.rglob("*.sqlite"))) < 12  # where there is no room no file is begun
    assert Spool(folder, away()).add([seen("of another store")])


def test_what_is_written_elsewhere_makes_room(monkeypatch: pytest.MonkeyPatch, folder: Path, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 400_000)
    url = away()
    earlier = Spool(folder, url)
    number = 0
    while earlier.add([seen(f"{number}/{each}", f"text {number} {each} " * 9) for each in range(50)]):
        number += 1
    spool = Spool(folder, url)
    assert not spool.add([seen("later")])
    assert not spool
    with Store.open(tmp_path / "back.sqlite") as store:
        while earlier.move_some(store)[0]:
            pass
    assert spool.add([seen("later")])
    assert spool.rows == 1
    spool.close()


def test_the_files_of_others_are_looked_at_now_and_then(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Not for each batch of rows."""
    looks = []
    paths = Spool._paths
    monkeypatch.setattr(Spool, "_paths", lambda spool: looks.append(1) or paths(spool))
    spool = Spool(folder, away())
    for number in range(300):
        assert spool.add([seen(str(number))])
    assert len(looks) <= 2
    spool.close()


def test_a_folder_that_cannot_be_made_loses_what_waits(
    make: Callable[..., Writer], folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.write_text("a file stands in the way")
    writer = make(away())
    writer.add(seen("a"))
    assert not writer.close()
    assert (writer.counts.spooled, writer.counts.dropped) == (0, 1)
    assert len(warnings(caplog)) == 2


def test_a_row_that_the_server_refuses_does_not_hold_up_the_others(
    make: Callable[..., Writer], postgresql: PostgreSQLServer
) -> None:
    postgresql.stop()
    writer = make(postgresql.url())
    for row in (seen("a"), seen("long")._replace(status=1 << 40), seen("b")):  # a file takes any number
        writer.add(row)
    assert not writer.flush()
    postgresql.start()
    assert writer.flush()
    assert urls(postgresql.url()) == ["a", "b"]
    assert (writer.counts.written, writer.counts.failed) == (2, 1)


def test_rows_of_the_close_are_spooled_too(
    folder: Path, postgresql: PostgreSQLServer, make: Callable[..., Writer]
) -> None:
    postgresql.stop()
    put_or_spool(postgresql.url(), [CrawlRow("", "example.com", "shop", "", 1.0, 2.0)], folder)
    postgresql.start()
    writer = make(postgresql.url())
    assert writer.flush()
    with Store.open(postgresql.url()) as store:
        assert table_counts(store)["crawl"] == 1


def test_a_killed_process_leaves_what_it_has_spooled(
    make: Callable[..., Writer], postgresql: PostgreSQLServer, folder: Path
) -> None:
    url = postgresql.url()
    postgresql.kill()
    code = (
        "import sys; from pathlib import Path; from scrapy_dedup.store.writer import Writer\n"
        "from tests.store_rows import seen\n"
        "writer = Writer(sys.argv[1], interval=0.01, spool=Path(sys.argv[2]))\n"
        "for number in range(200): writer.add(seen(str(number)))\n"
        "writer.flush(); print(writer.counts.spooled, flush=True); sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, url, str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "200\n"
    postgresql.start()
    other = make(url)  # its process lives: nobody else takes its rows
    assert other.flush()
    process.kill()
    process.communicate()
    later = make(url, interval=0.01)
    assert wait_until(lambda: later.counts.written == 200) is None
    assert urls(url) == sorted(map(str, range(200)))


def leave(url: str, folder: Path, *rows: StoreRow, change: str = "") -> Path:
    """Leave rows as an earlier process does, changed by a statement; return their file."""
    spool = Spool(folder, url)
    assert spool.add(rows)
    spool.close()
    path = max(spool.folder.glob("*.sqlite"), key=lambda each: each.stat().st_mtime_ns)
    if change:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(change)
    return path


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE page_sketch SET data = x'ff00' WHERE id = (SELECT sketch FROM observation WHERE id = 2)",
        "UPDATE observation SET headers = '{' WHERE id = 2",
    ],
)
def test_a_row_that_cannot_be_read_is_removed(
    make: Callable[..., Writer], postgresql_url: str, folder: Path, caplog: pytest.LogCaptureFixture, change: str
) -> None:
    rows = [seen(name, f"text {name}", headers={"etag": "x"}) for name in ("a", "b", "c")]
    leave(postgresql_url, folder, *rows, change=change)
    writer = make(postgresql_url)
    writer.add(seen("d"))
    assert writer.flush()
    assert urls(postgresql_url) == ["a", "c", "d"]
    assert writer.counts._asdict() == {"written": 3, "dropped": 0, "failed": 1, "waiting": 0, "spooled": 0}
    (warning,) = warnings(caplog)
    assert "cannot be read" in warning
    assert not list(folder.rglob("*.sqlite*"))


def test_a_file_that_cannot_be_read_is_set_aside(
    make: Callable[..., Writer], postgresql_url: str, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    paths = [leave(postgresql_url, folder, seen(name)) for name in ("a", "b", "c")]
    paths[1].write_bytes(b"no database" * 500)
    for age, path in enumerate(paths):
        os.utime(path, (age, age))
    writer = make(postgresql_url)
    assert writer.flush()
    assert urls(postgresql_url) == ["a", "c"]
    assert f"{paths[1]}.unreadable, cannot be read" in "".join(warnings(caplog))
    assert [path.name for path in folder.rglob("*.*")] == [f"{paths[1].name}.unreadable"]
    caplog.clear()
    assert make(postgresql_url).flush()
    assert not warnings(caplog)


def test_a_file_whose_tables_cannot_be_read_ends_no_recording(
    make: Callable[..., Writer], postgresql_url: str, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = leave(postgresql_url, folder, seen("a"), change="ALTER TABLE observation RENAME COLUMN url TO address")
    writer = make(postgresql_url)
    writer.add(seen("b"))
    assert writer.flush()
    assert urls(postgresql_url) == ["b"]
    assert (writer.counts.written, writer.counts.failed, writer.counts.spooled) == (1, 1, 0)
    assert len(warnings(caplog)) == 1
    assert not path.exists()


def test_a_crawl_that_closes_stops_the_emptying_of_a_spool(
    make: Callable[..., Writer], postgresql_url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_dedup.store.spooled_rows.BATCH", 1)
    leave(postgresql_url, folder, *(seen(str(number)) for number in range(50)))
    moving, move_some, go_on = Event(), Spool.move_some, Event()

    def wait_first(spool: Spool, store: Store) -> tuple[int, int]:
        moving.set()
        go_on.wait()
        return move_some(spool, store)

    monkeypatch.setattr(Spool, "move_some", wait_first)
    writer = make(postgresql_url, interval=0.01)
    moving.wait()
    writer.add(seen("last"))
    Thread(target=writer.close, args=(0,)).start()
    wait_until(lambda: writer.failing)  # since it closes
    go_on.set()
    assert writer.close()
    assert writer.counts._asdict() == {"written": 1, "dropped": 0, "failed": 0, "waiting": 0, "spooled": 50}
    monkeypatch.setattr(Spool, "move_some", move_some)
    assert make(postgresql_url).flush()
    assert len(urls(postgresql_url)) == 51


def test_rows_of_earlier_crawls_that_still_wait_are_told(make: Callable[..., Writer], folder: Path) -> None:
    url = away()
    leave(url, folder, seen("a"), discarded("b"))
    writer = make(url)
    writer.add(seen("c"))
    assert writer.close()
    assert writer.counts.spooled == 3
