"""The store on a PostgreSQL server: what it says when it cannot be used, turns of those who write, and forgetting."""

import socket
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, make_url, select, text

from scrapy_dedup.content.versions import Version
from scrapy_dedup.store.database import StoreError
from scrapy_dedup.store.postgresql import CONNECT_SECONDS
from scrapy_dedup.store.rows import CheckRow, CrawlRow, SightingRow
from scrapy_dedup.store.schema import IDS_IN_A_QUERY, observation
from scrapy_dedup.store.store import Store
from scrapy_dedup.store.writer import Writer, WriterCounts

from .servers import PostgreSQLServer, free_port
from .store_rows import discarded, seen, table_counts
from .waiting import PATIENCE, wait_until

pytestmark = pytest.mark.postgresql
psycopg = pytest.importorskip("psycopg")


def plain(url: str) -> str:
    """Return a URL as libpq takes it."""
    return url.replace("+psycopg", "")


def why_not(target: str) -> StoreError:
    """Return why a store cannot be opened, which does not show its password."""
    with pytest.raises(StoreError) as caught:
        Store.open(target)
    assert "secret" not in "".join(traceback.format_exception(caught.value))
    return caught.value


def test_a_wrong_password(postgresql_url: str) -> None:
    error = why_not(make_url(postgresql_url).set(password="secret2").render_as_string(hide_password=False))
    assert "password" in error.problem
    assert "PGPASSWORD" in error.remedy
    assert ":***@" in error.place


def test_a_server_that_is_away() -> None:
    error = why_not(f"postgresql+psycopg://dedup:secret@127.0.0.1:{free_port()}/dedup")
    assert "refused" in error.problem
    assert error.remedy == "Is the server up, and are host and port in DEDUP_STORE right?"
    assert not error.locked


def test_a_server_that_does_not_answer_is_waited_for_a_few_seconds() -> None:
    assert CONNECT_SECONDS <= 5
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = why_not(f"postgresql+psycopg://dedup:secret@127.0.0.1:{silent.getsockname()[1]}/dedup")
    assert "timeout" in error.problem


def test_a_database_that_is_not_there(postgresql_url: str) -> None:
    error = why_not(make_url(postgresql_url).set(database="elsewhere").render_as_string(hide_password=False))
    assert "Make that database" in error.remedy


def test_the_server_offers_no_tls(postgresql_url: str) -> None:
    assert "sslmode" in why_not(f"{postgresql_url}?sslmode=require").remedy


def test_the_password_may_be_in_the_environment_or_a_file(
    postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = make_url(postgresql_url)
    bare = postgresql_url.replace(":secret@", "@")
    with monkeypatch.context() as patch:
        patch.setenv("PGPASSWORD", "secret")
        Store.open(bare).close()
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"127.0.0.1:{url.port}:*:dedup:secret\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    Store.open(bare.replace("+psycopg", "")).close()
    monkeypatch.setenv("PGSSLMODE", "require")
    assert "sslmode" in why_not(bare).remedy


def test_another_database_is_no_store(postgresql_url: str) -> None:
    with Store.open(postgresql_url) as store, store._transaction() as connection:
        connection.execute(text("DROP TABLE observation"))
    assert why_not(postgresql_url).problem == "is a database, but no store"


def test_reading_only(postgresql_url: str) -> None:
    with pytest.raises(StoreError, match=r"is empty\. Crawl first"):
        Store.open(postgresql_url, readonly=True)
    with Store.open(postgresql_url) as store:
        store.add([seen("a")])
        with Store.open(postgresql_url, readonly=True) as reader:
            assert len(list(reader.observations())) == 1
            with pytest.raises(StoreError, match="read-only"):
                reader.add([seen("b")])


def test_a_server_that_comes_back(postgresql: PostgreSQLServer) -> None:
    with Store.open(postgresql.url()) as store:
        store.add([seen("a")])
        postgresql.kill()
        with pytest.raises(StoreError) as caught:
            store.add([seen("b")])
        assert "secret" not in "".join(traceback.format_exception(caught.value))
        with pytest.raises(StoreError):
            store.sites()
        postgresql.start()
        store.add([seen("b")])
        assert len(list(store.observations())) == 2


def test_whoever_writes_waits_for_its_turn(postgresql_url: str) -> None:
    with (
        Store.open(postgresql_url, timeout=0.05) as store,
        Store.open(postgresql_url, timeout=0.05) as other,
        store._transaction([("", "example.com")]),
    ):
        with pytest.raises(StoreError) as caught:
            other.add([seen("a")])
        assert caught.value.locked
        with pytest.raises(StoreError):
            other.forget("any.test")
        sites = [f"site{number}.test" for number in range(9)]
        written = 0
        for site in sites:  # most share their turn with no such site
            try:
                other.add([seen("a", site=site)])
                written += 1
            except StoreError:
                pass
        assert written > 6


def test_the_turn_of_a_process_that_says_nothing_any_more_ends(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of one whose network has gone, which the server would notice hours later."""
    monkeypatch.setattr("scrapy_dedup.store.postgresql._TURN_SECONDS", 1.0)
    with Store.open(postgresql_url) as gone, Store.open(postgresql_url, timeout=20.0) as store:
        turn = gone._transaction()
        turn.__enter__()
        monkeypatch.undo()  # the turns of others last as long as ever
        store.add([seen("a")])
        with pytest.raises(StoreError):
            turn.__exit__(None, None, None)
        gone.add([seen("b")])
        assert len(list(store.observations())) == 2


@pytest.mark.parametrize("state", ["idle in transaction", "idle"])
def test_a_site_that_is_learned_stays_claimed_however_long_it_takes(postgresql_url: str, state: str) -> None:
    """The server ends whatever is idle for long: another connection, that is idle for as long, has ended meanwhile."""
    timeout = "idle_in_transaction_session_timeout" if state != "idle" else "idle_session_timeout"
    url = f"{postgresql_url}?options=-c%20{timeout}%3D2000"
    with Store.open(postgresql_url) as other, psycopg.connect(plain(postgresql_url)) as watch, Store.open(url) as store:
        watch.autocommit = True
        with store.claimed("", ["a.test"]) as mine:
            assert mine == {"a.test"}
            holders = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
            states = f"SELECT DISTINCT state FROM pg_stat_activity WHERE pid IN ({holders})"
            assert watch.execute(states).fetchall() == [("idle",)]
            with psycopg.connect(plain(url), autocommit=state == "idle") as idle:
                pid = idle.execute("SELECT pg_backend_pid()").fetchone()
                wait_until(lambda: not watch.execute("SELECT FROM pg_stat_activity WHERE pid = %s", pid).fetchone())
                idle.close()
            assert len(watch.execute(holders).fetchall()) == 1
            with other.claimed("", ["a.test", "b.test"]) as others:
                assert others == {"b.test"}
        with other.claimed("", ["a.test"]) as others:
            assert others == {"a.test"}


def test_many_write_the_same_rows_in_any_order(postgresql_url: str) -> None:
    """Nobody waits in a circle: each URL is written by all, in an order of its own, with sketches and versions that they share."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(8)

    def rows(worker: int, turn: int) -> list[object]:
        order = sorted(range(40), key=lambda number: hash((worker, turn, number)))
        texts = {number: Version((("p", "", f"text {number}"),)).to_bytes() for number in order}
        found: list[object] = []
        for number in order:
            site = f"site{number % 5}.test"
            found += [
                seen(f"{number}", f"text {number}", site=site, version=texts[number], time=float(turn)),
                discarded(f"{number}", site=site, job="all"),
                SightingRow("", site, f"http://{site}/{number}", f"http://{site}/#c{number}", "fragment", 1.0),
            ]
        return found

    def work(worker: int) -> None:
        try:
            with Store.open(postgresql_url, timeout=PATIENCE, sketches_per_site=20) as store:
                barrier.wait()
                for turn in range(12):
                    store.add(rows(worker, turn))  # type: ignore[arg-type]
                    if turn % 4 == worker % 4:
                        store.prune(max_age_days=1e6, max_rows=100_000)
        except BaseException as error:  # noqa: BLE001 (told below)
            errors.append(error)
            barrier.abort()

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with Store.open(postgresql_url) as store:
        counts = table_counts(store)
        assert counts["observation"] == 8 * 12 * 40
        assert (counts["discard"], counts["alias_sighting"], counts["page_sketch"]) == (40, 40, 40)
        missing = select(observation.c.id).where(observation.c.sketch.is_(None))
        assert not list(store.rows(missing))
        ids = [(row.site, row.id) for row in store.rows(select(observation.c.site, observation.c.id))]
        assert len(set(ids)) == len(ids)


def test_a_site_is_forgotten_in_small_steps(postgresql_url: str) -> None:
    """Those who write wait for one of them at most."""
    steps: list[int] = []
    with Store.open(postgresql_url) as store:
        store.add([seen(str(number), str(number)) for number in range(1_200)])
        store.add([discarded(str(number)) for number in range(1_200)] + [seen("other", site="other.test")])

        def noted(_: object, cursor: Any, statement: str, *more: object) -> None:
            if statement.startswith("DELETE"):
                steps.append(cursor.rowcount)

        event.listen(store._engine, "after_cursor_execute", noted)
        assert store.forget("example.com") == 1_200
        assert max(steps) <= IDS_IN_A_QUERY
        assert sum(steps) == 3_600
        counts = table_counts(store)
        assert (counts["observation"], counts["discard"], counts["page_sketch"]) == (1, 0, 1)


def test_forgetting_what_is_old_leaves_what_is_used(postgresql_url: str) -> None:
    with Store.open(postgresql_url) as store:
        store.add([seen(str(number), str(number % 700), time=float(number)) for number in range(2_000)])
        store.add([CheckRow("", "example.com", "rule", 1.0), CrawlRow("", "example.com", "shop", "", 1.0, 2.0)])
        assert store.prune(max_rows=600) == 1_400
        assert table_counts(store)["page_sketch"] == 600
        assert all(each.sketch is not None for each in store.observations())


def test_a_site_is_learned_by_one_process_at_a_time(postgresql_url: str, tmp_path: Path) -> None:
    with Store.open(postgresql_url) as one, Store.open(postgresql_url) as two:
        with one.claimed("", ["a.test", "b.test"]) as mine, two.claimed("", ["b.test", "c.test"]) as others:
            assert (mine, others) == ({"a.test", "b.test"}, {"c.test"})
            learn = [sys.executable, "-m", "scrapy_dedup.learning", "--store", postgresql_url]
            learn += ["--dir", str(tmp_path), "--site", "a.test"]
            done = subprocess.run(learn, capture_output=True, text=True, check=True)
            assert '"sites": []' in done.stdout
        with two.claimed("", ["a.test"]) as others:
            assert others == {"a.test"}


def test_closing_does_not_wait_for_a_server_that_hangs(
    postgresql: PostgreSQLServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing tells that it does: connections stay, and what is sent is taken."""
    monkeypatch.setattr("scrapy_dedup.store.writer.ANSWER_SECONDS", 3_600.0)
    writer = Writer(f"{postgresql.url()}?connect_timeout=1", interval=3_600.0)
    writer.add(seen("a"))
    assert writer.flush()
    postgresql.pause()
    writer.add(seen("b"))
    assert not writer.close(0.5)
    assert writer.counts == WriterCounts(written=1, dropped=1, failed=0, waiting=0)
