"""The store on a PostgreSQL server: what it says when it cannot be used, turns of those who write, and forgetting beside them."""

import socket
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from scrapy_dedup.store import Store

from .conftest import Project
from .servers import PostgreSQLServer, free_port
from .store_rows import discarded, record, seen, sighting, version
from .waiting import PATIENCE, wait_until

pytestmark = pytest.mark.postgresql
psycopg = pytest.importorskip("psycopg")


def plain(url: str) -> str:
    """A URL as libpq takes it."""
    return url.replace("+psycopg", "")


def why_not(run: Callable[[], Any]) -> Any:
    """Why a store cannot be used, which does not show its password."""
    with pytest.raises(Exception, match=r"^store ") as caught:
        run()
    assert "secret" not in "".join(traceback.format_exception(caught.value))
    return caught.value


def test_what_is_in_the_way_is_said(postgresql_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A server that does not answer is waited for a few seconds."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        away, mute = free_port(), silent.getsockname()[1]
        for target, problem, remedy in (
            (postgresql_url.replace(":secret@", ":secret2@"), "password", "PGPASSWORD"),
            (
                f"postgresql+psycopg://dedup:secret@127.0.0.1:{away}/dedup",
                "refused",
                "Is the server up, and are host and port",
            ),
            (f"postgresql+psycopg://dedup:secret@127.0.0.1:{mute}/dedup", "timeout", "Is the server up"),
            (f"{postgresql_url}elsewhere", "does not exist", "Make that database"),
            (f"{postgresql_url}?sslmode=require", "", "sslmode"),
        ):
            error = why_not(partial(Store.open, target))
            assert problem in error.problem
            assert remedy in error.remedy
            assert ":***@" in error.place
            assert not error.locked
    assert "is empty. Crawl first" in str(why_not(lambda: Store.open(postgresql_url, readonly=True)))
    record(postgresql_url, seen("a"))
    with Store.open(postgresql_url, readonly=True) as reader:
        assert len(list(reader.observations())) == 1
        assert "read-only" in str(why_not(lambda: reader.add([seen("b")])))
    bare = postgresql_url.replace(":secret@", "@")
    with monkeypatch.context() as patch:
        patch.setenv("PGPASSWORD", "secret")
        Store.open(bare).close()
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"127.0.0.1:{urlsplit(postgresql_url).port}:*:dedup:secret\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    Store.open(plain(bare)).close()
    monkeypatch.setenv("PGSSLMODE", "require")
    assert "sslmode" in why_not(lambda: Store.open(bare)).remedy
    monkeypatch.delenv("PGSSLMODE")
    for change, said in (
        ("UPDATE meta SET value = '8' WHERE name = 'schema'", "tables of version 8, "),
        ("DROP TABLE observation", "is a database, but no store"),
    ):
        with psycopg.connect(plain(postgresql_url), autocommit=True) as other:
            other.execute(change)
        for readonly in (False, True):
            error = why_not(partial(Store.open, postgresql_url, readonly=readonly))
            assert said in str(error)
            assert "Name another " in error.remedy


def test_a_server_that_comes_back(postgresql: PostgreSQLServer) -> None:
    with Store.open(postgresql.url()) as store:
        store.add([seen("a")])
        postgresql.kill()
        why_not(lambda: store.add([seen("b")]))
        why_not(store.sites)
        postgresql.start()
        store.add([seen("b")])
        assert len(list(store.observations())) == 2


def test_whoever_writes_waits_for_its_turn(postgresql_url: str) -> None:
    """A site is written by one at a time; most other sites can be, meanwhile."""
    with Store.open(postgresql_url) as one, Store.open(postgresql_url, timeout=0.05) as other:
        holders = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
        with psycopg.connect(plain(postgresql_url), autocommit=True) as blocker, ThreadPoolExecutor(1) as threads:
            blocker.execute("BEGIN; LOCK TABLE observation IN SHARE MODE")
            writing = threads.submit(one.add, [seen("first")])
            with psycopg.connect(plain(postgresql_url), autocommit=True) as watch:
                wait_until(lambda: watch.execute(holders).fetchone()[0])
                error = why_not(lambda: other.add([discarded("a")]))
                assert error.locked
                written = 0
                for number in range(9):
                    with suppress(type(error)):  # few share their turn with that site
                        other.add([discarded("a", site=f"site{number}.test")])
                        written += 1
                blocker.execute("COMMIT")
                writing.result(PATIENCE)
        assert written > 6
        assert [each.site for each in one.sites()] == ["example.com"]
        other.add([discarded("a")])


def test_many_write_the_same_rows_in_any_order(postgresql_url: str) -> None:
    """Nobody waits in a circle: each URL is written by all, in an order of its own, with sketches and versions that they share."""
    barrier = threading.Barrier(6)

    def rows(worker: int, turn: int) -> list[Any]:
        order = sorted(range(30), key=lambda number: hash((worker, turn, number)))
        found: list[Any] = []
        for number in order:
            site, text = f"site{number % 5}.test", f"text {number}"
            found += [
                seen(f"{number}", text, site=site, version=version(text), time=float(turn)),
                discarded(f"{number}", site=site, job="all"),
                sighting(f"{number}")._replace(site=site),
            ]
        return found

    def work(worker: int) -> None:
        with Store.open(postgresql_url, timeout=PATIENCE, sketches_per_site=20) as store:
            barrier.wait()
            for turn in range(8):
                store.add(rows(worker, turn))
                if turn % 4 == worker % 4:
                    store.prune(max_age_days=1e6, max_rows=100_000)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, range(6)))
    with Store.open(postgresql_url) as store:
        assert sum(each.responses for each in store.sites()) == 6 * 8 * 30
        assert [len(list(rows)) for rows in (store.discards(job="all"), store.sightings(), store.observations())] == [
            30
        ] * 3
        assert all(observation.sketch is not None for observation in store.observations())
        assert len(list(store.versions())) == 6 * 8 * 30


@pytest.mark.parametrize("state", ["idle in transaction", "idle"])
def test_a_site_is_learned_by_one_process_at_a_time_however_long_it_takes(
    postgresql_url: str, project: Project, state: str
) -> None:
    """The server ends whatever is idle for long: another connection, that is idle for as long, has ended meanwhile."""
    timeout = "idle_in_transaction_session_timeout" if state != "idle" else "idle_session_timeout"
    url = f"{postgresql_url}?options=-c%20{timeout}%3D1000"
    with Store.open(postgresql_url) as other, Store.open(url) as store, closing(psycopg.connect(plain(url))) as idle:
        with (
            psycopg.connect(plain(postgresql_url), autocommit=True) as watch,
            store.claimed("", ["a.test", "b.test"]) as mine,
        ):
            assert mine == {"a.test", "b.test"}
            if state == "idle":
                idle.commit()
            else:
                idle.execute("SELECT 1")
            wait_until(
                lambda: (
                    not watch.execute("SELECT FROM pg_stat_activity WHERE pid = %s", [idle.info.backend_pid]).fetchone()
                )
            )
            with other.claimed("", ["b.test", "c.test"]) as others:
                assert others == {"c.test"}
            learn = ("--store", postgresql_url, "--dir", str(project.folder), "--site", "a.test")
            assert '"sites": []' in project.learning(*learn).stdout
        with other.claimed("", ["a.test"]) as others:
            assert others == {"a.test"}
