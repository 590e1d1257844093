import sqlite3
import stat
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Table, text, update

from scrapy_dedup.store import schema
from scrapy_dedup.store.database import StoreError, database_path, place_of
from scrapy_dedup.store.store import Store

from .store_rows import seen
from .waiting import PATIENCE


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_only_the_owner_may_read(tmp_path: Path) -> None:
    path = tmp_path / "new" / "dedup" / "store.sqlite"
    with Store.open(path) as store:
        store.add([seen("a")])
        files = list(path.parent.iterdir())
        assert len(files) >= 2  # the write-ahead log, too
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_directory_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    Store.open(tmp_path / "store.sqlite").close()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


@pytest.mark.parametrize("name", ["s.sqlite", "with space", "100%?#&.sqlite", "ünicode", "a;b'c\"d"])
def test_names(tmp_path: Path, name: str) -> None:
    for target in (tmp_path / name, str(tmp_path / name)):
        with Store.open(target) as store:
            store.add([seen("a")])
    assert (tmp_path / name).exists()
    with Store.open(tmp_path / name, readonly=True) as store:
        assert len(list(store.observations())) == 1


def test_an_sqlalchemy_url(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/store.sqlite") as store:
        assert store.path == tmp_path / "store.sqlite"
        store.add([seen("a")])
    with Store.open(tmp_path / "store.sqlite") as store:
        assert len(list(store.observations())) == 1


def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open("store.sqlite") as store:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        store.add([seen("a")])
        assert store.intact()
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("nosuchdatabase://host/x", "nosuchdatabase"),
        ("://", "Could not parse"),
        ("sqlite://", "is gone when the crawl ends"),
        (":memory:", "is gone when the crawl ends"),
    ],
)
def test_a_wrong_target(target: str, problem: str) -> None:
    with pytest.raises(StoreError, match="DEDUP_STORE") as caught:
        Store.open(target)
    assert problem in caught.value.problem


def test_passwords_are_not_told() -> None:
    assert place_of("postgresql://me:secret@host/crawl") == "postgresql://me:***@host/crawl"
    assert place_of("postgresql://host/a?password=secret&sslmode=require") == "postgresql://host/a?sslmode=require"
    for wrong in ("postgresql://me:secret@host:port/a", "://me:secret@host/a@b"):
        assert "secret" not in place_of(wrong)
        with pytest.raises(StoreError) as caught:
            Store.open(wrong)
        assert "secret" not in "".join(traceback.format_exception(caught.value))
    assert database_path("postgresql://me:secret@host/crawl") is None


@pytest.mark.parametrize(
    "wrong", ["u:p@ssw0rd@host/a", "u:p@ss:w0rd@host/a", "u:p@ss/w0rd@host/a", "u:p@s?w0rd@host/a"]
)
def test_no_part_of_a_password_is_told(wrong: str) -> None:
    target = f"postgresql+psycopg://{wrong}"
    assert "w0rd" not in place_of(target)
    with pytest.raises(StoreError) as caught:
        Store.open(target)
    assert "w0rd" not in "".join(traceback.format_exception(caught.value))


def test_two_at_signs_are_refused() -> None:
    with pytest.raises(StoreError, match="Write %40 for @ in a password"):
        Store.open("postgresql://u:p@ss@host/a")
    assert place_of("postgresql://u@host/a@b").startswith("postgresql://u@host/a")
    assert place_of("sqlite:////home/a@b/store.sqlite").startswith("sqlite:////home/a")


def test_no_database(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"this is no database, whatever its name is " * 100)
    for readonly in (False, True):
        with pytest.raises(StoreError) as caught:
            Store.open(path, readonly=readonly)
        assert str(caught.value).startswith(f"store {path}: file is not a database. Move that file away")
    assert path.read_bytes().startswith(b"this is no database")


def test_a_damaged_database(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Store.open(path) as store:
        store.add(seen(str(i), str(i)) for i in range(2_000))
    data = bytearray(path.read_bytes())
    data[8_192 : len(data) - 4_096] = b"\xff" * (len(data) - 12_288)
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"malformed.*Move that file away"), Store.open(path) as store:
        list(store.observations())


def test_another_database(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE meta (name, value)")
    connection.close()
    with pytest.raises(StoreError, match="is a database, but no store"):
        Store.open(path)


def of_another_version(target: str, version: str = "8") -> None:
    """Make a store with a row, whose tables say that they are of *version*."""
    with Store.open(target) as store:
        store.add([seen("old")])
        with store._transaction() as connection:
            connection.execute(update(schema.meta).where(schema.meta.c.name == "schema").values(value=version))


def test_a_file_of_another_version_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "store.sqlite"
    for version in ("8", "99"):
        of_another_version(str(path), version)
        data = path.read_bytes()
        with pytest.raises(StoreError, match=rf"tables of version {version}, .* has {schema.VERSION}\. Crawl first"):
            Store.open(path, readonly=True)
        assert path.read_bytes() == data
        with Store.open(path) as store:
            assert store.sites() == []
            store.add([seen("new")])
        assert (tmp_path / f"store.sqlite.version-{version}").read_bytes() == data
        path.unlink()
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [f"it is {path}.version-{version} now" in each for version, each in zip(("8", "99"), told, strict=True)] == [
        True
    ] * 2


def test_nothing_that_was_set_aside_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    for _ in range(3):
        of_another_version(str(path))
    Store.open(path).close()
    names = {f"store.sqlite.version-8{end}" for end in ("", "-2", "-3")}
    assert {each.name for each in tmp_path.iterdir()} == {"store.sqlite", *names}


def test_a_database_of_another_version_on_a_server_is_refused(postgresql_url: str) -> None:
    of_another_version(postgresql_url)
    for readonly in (False, True):
        with pytest.raises(
            StoreError, match=r"tables of version 8, .*\. Name another database in DEDUP_STORE, or drop"
        ):
            Store.open(postgresql_url, readonly=readonly)


def test_one_of_several_sets_a_file_aside(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    of_another_version(str(path))

    def write(name: int) -> None:
        with Store.open(path, timeout=PATIENCE) as store:
            store.add([seen(str(name))])

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(write, range(6))) == [None] * 6
    with Store.open(path, readonly=True) as store:
        assert store.sites()[0].urls == 6
    assert (tmp_path / "store.sqlite.version-8").exists()
    assert not (tmp_path / "store.sqlite.version-8-2").exists()


@pytest.mark.parametrize("table", schema.AGING)
def test_what_is_old_is_found_by_an_index(store_target: str, table: Table) -> None:
    with Store.open(store_target) as store, store._engine.connect() as connection:
        if connection.dialect.name == "postgresql":  # where nothing is, reading all is quick
            connection.execute(text("SET enable_seqscan = off"))
        explain = "EXPLAIN" if connection.dialect.name == "postgresql" else "EXPLAIN QUERY PLAN"
        query = f"{explain} SELECT id FROM {table.name} WHERE time < 1 LIMIT 10"
        plan = str(connection.execute(text(query)).all())
        assert f"{table.name}_by_time" in plan


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.touch()
    with pytest.raises(StoreError, match=r"is empty\. Crawl first"):
        Store.open(path, readonly=True)
    with Store.open(path) as store:
        assert store.sites() == []


def test_reading_only(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with pytest.raises(StoreError, match=r"does not exist\. Crawl first"):
        Store.open(path, readonly=True)
    assert not path.exists()
    with Store.open(path) as store:
        store.add([seen("a")])
        with Store.open(path, readonly=True) as reader:
            assert len(list(reader.observations())) == 1
            with pytest.raises(StoreError, match="readonly"):
                reader.add([seen("b")])


def test_a_directory_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"unable to open database file\. Make sure"):
        Store.open(tmp_path)


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="Make its directory writable"):
        Store.open(tmp_path / "file" / "store.sqlite")


def test_a_store_that_another_process_holds(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Store.open(path, timeout=0.01) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert store.sites() == []  # reading goes on
        Store.open(path, timeout=0.01).close()  # and so does opening
        with pytest.raises(StoreError, match=r"locked\. Another process writes to it") as caught:
            store.add([seen("a")])
        assert caught.value.locked
        other.execute("COMMIT")
        other.close()
        store.add([seen("a")])


def test_many_threads_open_and_write_at_once(store_target: str) -> None:
    errors: list[BaseException] = []
    barrier = threading.Barrier(6)

    def work(name: str) -> None:
        try:
            barrier.wait()
            with Store.open(store_target, timeout=PATIENCE) as store:
                for i in range(20):
                    store.add([seen(f"{name}/{i}")])
        except BaseException as error:  # noqa: BLE001 (raised again below)
            errors.append(error)

    threads = [threading.Thread(target=work, args=(str(i),)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with Store.open(store_target) as store:
        assert store.sites()[0].urls == 120


def test_a_vanished_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Store.open(path) as store:
        assert store.intact()
        path.rename(tmp_path / "moved")
        assert not store.intact()
        path.touch()
        assert not store.intact()
