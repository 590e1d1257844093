"""A store is a file of the user's: opened by its name, kept from others, whole whatever happens, and what is wrong with it is said with a remedy."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup.store import Store

from .store_rows import record, seen

FILE = Path("store.sqlite")
posix = pytest.mark.skipif(sys.platform == "win32", reason="permissions, signals and limits of POSIX")


def urls(path: Path = FILE) -> list[str]:
    with Store.open(path, readonly=True) as store:
        return sorted(observation.url.rpartition("/")[2] for observation in store.observations())


def told(run: Callable[[], Any]) -> Any:
    """The error of a store that cannot be used, which never shows a password."""
    with pytest.raises(Exception, match=r"^store ") as caught:
        run()
    assert "secret" not in "".join(traceback.format_exception(caught.value))
    return caught.value


@pytest.mark.parametrize(
    "name", ["s.sqlite", "with space", "100%?#&.sqlite", "ünicode", "a;b'c\"d", "new/dedup/s.sqlite"]
)
def test_names(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(name).absolute()
    with Store.open(name) as store:
        Path("elsewhere").mkdir()
        monkeypatch.chdir("elsewhere")
        store.add([seen("a")])
        assert store.path == path
    assert not list(Path().iterdir()), "a relative path stays where it was"
    record(path, seen("b"))
    if "?" not in name and "%" not in name:
        record(f"sqlite:///{path}", seen("c"))
    assert urls(path)[:2] == ["a", "b"]


@posix
def test_only_the_owner_may_read() -> None:
    path = Path("new/dedup/store.sqlite")
    with Store.open(path) as store:
        store.add([seen("a")])
        files = list(path.parent.iterdir())
        assert len(files) >= 2  # the write-ahead log, too
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    before = Path().stat().st_mode
    record(FILE, seen("a"))
    assert Path().stat().st_mode == before, "a directory that is there is left as it is"


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("nosuchdatabase://host/x", "nosuchdatabase"),
        ("://", "Could not parse"),
        ("sqlite://", "is gone when the crawl ends"),
        (":memory:", "is gone when the crawl ends"),
        ("postgresql://me:secret@host:port/a", "Could not parse"),
        ("://me:secret@host/a@b", "Could not parse"),
        ("postgresql+psycopg://u:p@ssecret@host/a", "has two @ before the path"),
        ("postgresql+psycopg://u:p@ss:secret@host/a", ""),
        ("postgresql+psycopg://u:p@ss/secret@host/a", ""),
        ("postgresql+psycopg://u:p@s?secret@host/a", ""),
        (".", "unable to open database file"),
        ("file/store.sqlite", ""),
    ],
)
def test_a_wrong_target(target: str, problem: str) -> None:
    Path("file").touch()
    error = told(lambda: Store.open(target))
    assert problem in error.problem
    assert any(part in error.remedy for part in ("DEDUP_STORE", "%40", "Make"))


def test_files_that_are_no_store() -> None:
    error = told(lambda: Store.open(FILE, readonly=True))
    assert "does not exist. Crawl first" in str(error)
    assert not FILE.exists()
    FILE.touch()
    assert "is empty. Crawl first" in str(told(lambda: Store.open(FILE, readonly=True)))
    Store.open(FILE).close()
    assert urls() == []
    data = b"this is no database, whatever its name is " * 100
    FILE.write_bytes(data)
    for readonly in (False, True):
        error = told(partial(Store.open, FILE, readonly=readonly))
        assert str(error).startswith(f"store {FILE}: file is not a database. Move that file away")
    assert FILE.read_bytes() == data
    other = Path("other")
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE meta (name, value)")
    assert "is a database, but no store" in str(told(lambda: Store.open(other)))
    damaged = Path("damaged")
    record(damaged, *(seen(str(i), str(i)) for i in range(1_000)))
    data = damaged.read_bytes()
    damaged.write_bytes(data[:8_192] + b"\xff" * (len(data) - 12_288) + data[-4_096:])
    assert "Move that file away" in str(told(lambda: urls(damaged)))


def test_reading_only_and_a_vanished_file() -> None:
    record(FILE, seen("a"))
    with Store.open(FILE, readonly=True) as reader:
        assert "readonly" in told(lambda: reader.add([seen("b")])).problem
    with Store.open(FILE) as store:
        assert store.intact()
        FILE.rename("moved")
        assert not store.intact()
        FILE.touch()
        assert not store.intact()


def of_another_version(version: str = "8") -> None:
    """Make a store with a row, whose tables say that they are of *version*."""
    record(FILE, seen("old"))
    with closing(sqlite3.connect(FILE)) as connection, connection:
        connection.execute("UPDATE meta SET value = ? WHERE name = 'schema'", (version,))


def test_a_file_of_another_version_is_set_aside(caplog: pytest.LogCaptureFixture) -> None:
    """With a word, once, and nothing that was set aside is overwritten."""
    for aside, version in (("8", "8"), ("99", "99"), ("8-2", "8")):
        of_another_version(version)
        data = FILE.read_bytes()
        assert f"tables of version {version}, " in str(told(urls))
        assert FILE.read_bytes() == data
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda name: record(FILE, seen(name)), "abcd"))
        assert urls() == [*"abcd"]
        assert Path(f"store.sqlite.version-{aside}").read_bytes() == data
        FILE.unlink()
    messages = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [message.rpartition("it is ")[2].split(" ")[0].rpartition("-")[2] for message in messages] == [
        "8",
        "99",
        "2",
    ]
    assert len(list(Path().glob("store.sqlite.version-*[0-9]"))) == 3


def test_a_store_that_another_process_holds() -> None:
    with Store.open(FILE, timeout=0.01) as store, closing(sqlite3.connect(FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert store.sites() == []  # reading goes on
        Store.open(FILE, timeout=0.01).close()  # and so does opening
        error = told(lambda: store.add([seen("a")]))
        assert error.locked
        assert "locked. Another process writes to it" in str(error)
        other.execute("COMMIT")
        store.add([seen("a")])


_WRITER = """
import sys
from scrapy_dedup.store import Store
from tests.store_rows import seen
with Store.open(sys.argv[1]) as store:
    for batch in range(10**6):
        store.add([seen(str(number), f"text {number} " * 30) for number in range(batch * 50, batch * 50 + 50)])
        print(flush=True)
"""


@posix
def test_kill_leaves_a_whole_store() -> None:
    command = [sys.executable, "-c", _WRITER, str(FILE.absolute())]
    with subprocess.Popen(command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(10):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    with closing(sqlite3.connect(FILE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    found = {int(name) for name in urls()}
    assert found == set(range(len(found)))
    assert len(found) >= 500
    record(FILE, seen("next"))


@posix
def test_a_read_only_store() -> None:
    """What is there can be read."""
    with tempfile.TemporaryDirectory() as name:  # not in tmp_path, which other users may not enter
        path = Path(name) / FILE
        record(path, seen("a"))
        path.chmod(0o444)
        path.parent.chmod(0o555)
        child = os.fork()
        if not child:
            with suppress(BaseException):
                if os.getuid() == 0:
                    os.setuid(65534)  # nothing is read-only to root
                error = told(lambda: record(path, seen("b")))
                assert "Make" in error.remedy
                assert "writable" in error.remedy
                assert urls(path) == ["a"]
                os._exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        path.parent.chmod(0o700)
