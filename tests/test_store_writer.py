import logging
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup.store import access as module
from scrapy_dedup.store.rows import ObservationRow
from scrapy_dedup.store.store import Store
from scrapy_dedup.store.writer import Writer, WriterCounts

from .store_rows import discarded, seen
from .waiting import PATIENCE

NEVER = 3_600.0  # an interval that the tests do not wait for: flush() and close() wake the thread

Make = Callable[..., Writer]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "dedup" / "store.sqlite"


@pytest.fixture
def make(path: Path) -> Iterator[Make]:
    writers: list[Writer] = []

    def new(target: str | Path = path, **options: Any) -> Writer:
        writers.append(Writer(target, **{"interval": NEVER, **options}))
        return writers[-1]

    yield new
    for writer in writers:
        writer.close()


def urls(path: Path) -> set[str]:
    with Store.open(path, readonly=True) as store:
        return {o.url.removeprefix("http://example.com/") for o in store.observations()}


def test_rows_and_discards_are_written(make: Make, path: Path) -> None:
    writer = make()
    assert writer.add(seen("a"))
    assert writer.add(discarded("d"))
    assert writer.flush()
    assert urls(path) == {"a"}
    with Store.open(path) as store:
        assert [row.url for row in store.discards()] == ["http://example.com/d"]
    assert writer.counts == WriterCounts(written=2, dropped=0, failed=0, waiting=0)


def test_close_writes_what_is_left(make: Make, path: Path) -> None:
    writer = make(batch=10)
    for i in range(95):
        writer.add(seen(str(i)))
    assert writer.close()
    assert len(urls(path)) == 95
    assert writer.close()  # once more is no error
    assert not writer.add(seen("late"))
    assert not writer.flush()
    assert writer.counts == WriterCounts(written=95, dropped=1, failed=0, waiting=0)


def test_rows_are_written_by_and_by(make: Make, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = threading.Event()
    add = Store.add

    def tell(self: Store, rows: Any) -> None:
        add(self, rows)
        written.set()

    monkeypatch.setattr(Store, "add", tell)
    make(interval=0.01).add(seen("a"))
    assert written.wait(PATIENCE)
    assert urls(path) == {"a"}


def test_one_transaction_for_a_batch(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []
    add = Store.add

    def tell(self: Store, rows: Any) -> None:
        batches.append(len(rows))
        add(self, rows)

    monkeypatch.setattr(Store, "add", tell)
    writer = make(batch=40)
    for i in range(100):
        writer.add(seen(str(i)))
    assert writer.close()
    assert batches == [40, 40, 20]


def test_tasks_are_done_in_the_thread(make: Make, path: Path) -> None:
    threads: set[str] = set()

    def one() -> ObservationRow:
        threads.add(threading.current_thread().name)
        return seen("one")

    writer = make()
    writer.add(one, size=1_000)
    writer.add(lambda: [seen("two"), seen("three")])
    writer.add(lambda: None)
    assert writer.close()
    assert urls(path) == {"one", "two", "three"}
    assert threads == {"dedup-writer"}


def test_a_task_that_raises_is_told_once(make: Make, path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def bad() -> None:
        raise ValueError("no page")

    writer = make()
    for task in (bad, lambda: seen("a"), bad):
        writer.add(task)
    assert writer.close()
    assert urls(path) == {"a"}
    assert writer.counts.failed == 2
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert "A response could not be recorded (told once" in record.getMessage()
    assert record.exc_info is not None


def test_a_bad_row_does_not_take_the_others_with_it(make: Make, path: Path, caplog: pytest.LogCaptureFixture) -> None:
    writer = make()
    for row in (seen("a"), seen("bad", headers={"x": object()}), seen("b"), seen("long", length=1 << 70), seen("c")):
        writer.add(row)
    assert writer.close()
    assert urls(path) == {"a", "b", "c"}
    assert writer.counts == WriterCounts(written=3, dropped=0, failed=2, waiting=0)
    (record,) = caplog.records
    assert "The store refused the row of http://example.com/bad" in record.getMessage()


# Bounds


def blocked(writer: Writer) -> threading.Event:
    """Make the thread of *writer* wait for the event that is returned."""
    go, reached = threading.Event(), threading.Event()

    def wait() -> None:
        reached.set()
        go.wait(PATIENCE)

    writer.add(wait)
    writer._wake.set()
    assert reached.wait(PATIENCE)
    return go


def test_the_number_of_waiting_rows_is_bounded(make: Make, path: Path) -> None:
    writer = make(max_waiting=3)
    go = blocked(writer)
    assert [writer.add(seen(x)) for x in "abcde"] == [True, True, True, False, False]
    assert writer.counts == WriterCounts(written=0, dropped=2, failed=0, waiting=3)
    go.set()
    assert writer.flush()
    assert writer.add(seen("f"))  # there is room again
    assert not writer.close()  # not all was written
    assert urls(path) == {"a", "b", "c", "f"}


def test_the_bytes_of_waiting_tasks_are_bounded(make: Make, path: Path) -> None:
    writer = make(max_bytes=100)
    go = blocked(writer)
    assert [writer.add(lambda: seen("a"), 60), writer.add(lambda: seen("b"), 60)] == [True, False]
    assert writer.add(seen("c"))  # rows count as nothing
    go.set()
    assert writer.flush()
    assert writer.add(lambda: seen("d"), 60)
    assert not writer.close()
    assert urls(path) == {"a", "c", "d"}


# Trouble with the store


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_no_database(make: Make, path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 100)
    writer = make(max_waiting=5)
    for i in range(8):
        writer.add(seen(str(i)))
        writer.flush()
    assert not writer.close()
    assert writer.counts == WriterCounts(written=0, dropped=8, failed=0, waiting=0)
    (warning,) = warnings(caplog)
    assert "The crawl goes on, but what it sees is not recorded: store " in warning
    assert "not a database. Move that file away" in warning


def test_rows_wait_for_a_store_that_comes_back(make: Make, path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 100)
    writer = make()
    writer.add(seen("a"))
    assert not writer.flush()
    writer.add(seen("b"))
    path.unlink()
    assert writer.flush()
    assert urls(path) == {"a", "b"}
    assert len(warnings(caplog)) == 1
    assert caplog.records[-1].getMessage() == f"The store {path} can be written again"
    assert writer.close()


def test_a_vanished_directory_is_made_again(make: Make, path: Path) -> None:
    writer = make()
    writer.add(seen("a"))
    assert writer.flush()
    shutil.rmtree(path.parent)
    writer.add(seen("b"))
    assert writer.close()
    assert urls(path) == {"b"}


def test_a_directory_that_cannot_be_made_again(make: Make, path: Path, caplog: pytest.LogCaptureFixture) -> None:
    writer = make()
    writer.add(seen("a"))
    assert writer.flush()
    shutil.rmtree(path.parent)
    path.parent.write_text("a file stands in the way")
    writer.add(seen("b"))
    assert not writer.flush()
    writer.add(seen("c"))
    assert not writer.close()
    assert writer.counts == WriterCounts(written=1, dropped=2, failed=0, waiting=0)
    assert len(warnings(caplog)) == 1


@pytest.fixture
def held(path: Path) -> Iterator[sqlite3.Connection]:
    """A store that somebody else writes to."""
    Store.open(path).close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    connection.close()


@pytest.fixture
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOCK_WAIT", 0.01)


@pytest.mark.usefixtures("_no_waiting")
def test_a_locked_store_is_waited_for(
    make: Make, path: Path, held: sqlite3.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    writer = make()
    writer.add(seen("a"))
    assert not writer.flush()
    held.execute("COMMIT")
    assert writer.flush()
    assert urls(path) == {"a"}
    assert warnings(caplog) == []


@pytest.mark.usefixtures("_no_waiting")
def test_closing_waits_for_a_lock(
    make: Make, path: Path, held: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = threading.Semaphore(0)
    add = Store.add

    def tell(self: Store, rows: Any) -> None:
        try:
            add(self, rows)
        finally:
            attempts.release()

    monkeypatch.setattr(Store, "add", tell)
    writer = make()
    writer.add(seen("a"))
    closed: list[bool] = []
    closer = threading.Thread(target=lambda: closed.append(writer.close(PATIENCE)))
    closer.start()
    assert all(attempts.acquire(timeout=PATIENCE) for _ in range(3))
    held.execute("COMMIT")
    closer.join(PATIENCE)
    assert closed == [True]
    assert urls(path) == {"a"}


@pytest.mark.usefixtures("_no_waiting")
def test_closing_does_not_wait_for_ever(make: Make, held: sqlite3.Connection) -> None:
    writer = make()
    writer.add(seen("a"))
    assert not writer.close(0.05)
    writer._thread.join(PATIENCE)
    assert writer.counts.dropped == 1
    assert held.in_transaction


@pytest.mark.usefixtures("_no_waiting")
def test_a_store_that_stays_locked_is_told(
    make: Make, held: sqlite3.Connection, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOCK_PATIENCE", 0.0)
    writer = make()
    writer.add(seen("a"))
    for _ in range(3):
        assert not writer.flush()
    (warning,) = warnings(caplog)
    assert "database is locked. Another process writes to it" in warning
    assert held.in_transaction


def test_an_error_of_ours_does_not_end_the_thread(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **options: Any) -> Store:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Store, "open", fail)
    writer = make()
    writer.add(seen("a"))
    assert not writer.flush()
    assert not writer.close()
    assert writer.counts.dropped == 1
