"""The store among processes: killed ones, several at once, a full disk, a read-only directory."""

import inspect
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup.store.database import StoreError
from scrapy_dedup.store.store import Store
from scrapy_dedup.store.writer import Writer

from .store_rows import seen
from .waiting import PATIENCE, wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")

ROOT = Path(__file__).parents[1]


def child(code: str, *args: str | Path) -> "subprocess.Popen[str]":
    """Start a Python process that runs *code* with *args*."""
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + code, *map(str, args)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


PRELUDE = """
import json, logging, os, sys
from scrapy_dedup.store import access as module
from scrapy_dedup.store.writer import Writer
from tests.store_rows import discarded, seen
logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(message)s")
module._LOCK_PATIENCE = 600
path = sys.argv[1]
"""


def check(path: Path) -> set[int]:
    """Return the numbers of the rows in a store that has to be whole."""
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    with Store.open(path) as store:
        numbers = {int(o.url.rpartition("/")[2]) for o in store.observations()}
        store.add([seen("9999999")])  # and it goes on
        assert store.forget("example.com") > len(numbers)
    return numbers


def stored(path: Path) -> set[int]:
    """Return the numbers of the rows in a store that others write to."""
    try:
        with Store.open(path, readonly=True) as store:
            return {int(o.url.rpartition("/")[2]) for o in store.observations()}
    except StoreError:  # it is not there yet
        return set()


def test_kill_loses_a_second_at_most(tmp_path: Path) -> None:
    """Rows come into the store without anybody's asking, and stay there."""
    assert inspect.signature(Writer).parameters["interval"].default <= 1
    path = tmp_path / "store.sqlite"
    process = child(
        """
writer = Writer(path)
for line in sys.stdin:
    assert writer.add(seen(line.strip()))
""",
        path,
    )
    assert process.stdin is not None
    for number in range(300):
        process.stdin.write(f"{number}\n")
        if number % 150 == 149:
            process.stdin.flush()
            wait_until(lambda number=number: number in stored(path))  # type: ignore[misc]
    process.kill()
    process.communicate()
    assert check(path) == set(range(300))


@pytest.mark.parametrize("rows", [-1, 0, 700, 2_000, 5_000])
def test_kill_while_writing_leaves_a_whole_store(tmp_path: Path, rows: int) -> None:
    # No pause between batches: the process is killed in the middle of writing.
    process = child(
        """
print(-1, flush=True)
writer = Writer(path, interval=0.0, batch=50)
for i in range(100_000_000):
    while not writer.add(seen(str(i), f"text {i} " * 30)):
        writer.flush()
    if i % 100 == 0:
        print(i, flush=True)
""",
        tmp_path / "store.sqlite",
    )
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= rows:
            break
    process.send_signal(signal.SIGKILL)
    process.communicate()
    stored = check(tmp_path / "store.sqlite") if (tmp_path / "store.sqlite").exists() else set()
    assert stored == set(range(len(stored)))  # in order, without a gap


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    code = """
first, last = map(int, sys.argv[2:])
writer = Writer(path, interval=0.01, batch=50)
sys.stdin.readline()
for i in range(first, last):
    writer.add(seen(str(i), f"text {i % 100}"))
    writer.add(discarded(str(i)))
    if i % 100 == 0:
        writer.flush(600)
writer.close(600)
print(json.dumps(writer.counts._asdict()))
"""
    processes = [
        child(code, tmp_path / "store.sqlite", str(first), str(last)) for first, last in ((0, 1_500), (1_000, 2_500))
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        out, errors = process.communicate(timeout=PATIENCE)
        assert errors == ""
        assert json.loads(out) == {"written": 3_000, "dropped": 0, "failed": 0, "waiting": 0}
    with Store.open(tmp_path / "store.sqlite") as store:
        assert len(list(store.discards())) == 2_500
        (site,) = store.sites()
        assert (site.responses, site.urls) == (3_000, 2_500)
    assert check(tmp_path / "store.sqlite") == set(range(2_500))


FULL = """
import resource
writer = Writer(path)
writer.add(seen("0"))
assert writer.flush()
LIMIT
number = 1
while not writer.counts.dropped:
    writer.add(seen(str(number), f"text {number} " * 30))
    number += 1
    if number % 2000 == 0:
        writer.flush()
UNLIMIT
writer.flush()
writer.add(seen("1000000"))
ended = writer.close(600)
print(json.dumps({"ended": ended, **writer.counts._asdict()}))
"""


def tell(process: "subprocess.Popen[str]") -> tuple[dict[str, Any], list[str]]:
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return json.loads(out), errors.splitlines()


def test_file_that_cannot_grow(tmp_path: Path) -> None:
    size = "resource.setrlimit(resource.RLIMIT_FSIZE, ({}, resource.RLIM_INFINITY))"
    code = FULL.replace("UNLIMIT", size.format("resource.RLIM_INFINITY")).replace(
        "LIMIT\n", size.format(400_000) + "\n"
    )
    found, log = tell(child(code, tmp_path / "store.sqlite"))
    assert found["dropped"] > 0
    assert [line.split()[0] for line in log] == ["WARNING", "INFO"]
    assert "but what it sees is not recorded: store" in log[0]
    assert "can be written again" in log[1]
    assert {0, 1, 1_000_000} <= check(tmp_path / "store.sqlite")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    command = [shutil.which("mount") or "mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)]
    try:
        subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def test_full_disk(small_disk: Path) -> None:
    code = FULL.replace("UNLIMIT", "").replace("LIMIT\n", "\n")
    found, log = tell(child(code, small_disk / "store.sqlite"))
    assert found["dropped"] > 0
    assert not found["ended"]
    (line,) = log
    assert line.startswith("WARNING The crawl goes on, but what it sees is not recorded: store ")
    assert "full. Make room on that disk" in line
    assert {0, 1} <= stored(small_disk / "store.sqlite")


@pytest.fixture
def readonly_store() -> Iterator[Path]:
    # Not in tmp_path, which other users may not enter.
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "store.sqlite"
        with Store.open(path) as store:
            store.add([seen("0")])
        path.chmod(0o444)
        path.parent.chmod(0o555)
        yield path
        path.parent.chmod(0o700)


def test_read_only_store(readonly_store: Path) -> None:
    found, log = tell(
        child(
            """
import tempfile
from scrapy_dedup.store.store import Store
with tempfile.TemporaryDirectory() as folder:
    Store.open(folder + "/store.sqlite").close()  # imports what another user may not be allowed to read
if os.getuid() == 0:
    os.setuid(65534)  # nothing is read-only to root
writer = Writer(path)
for i in range(1, 4):
    writer.add(seen(str(i)))
    assert not writer.flush()
writer.close()
with Store.open(path, readonly=True) as store:
    urls = [o.url for o in store.observations()]
print(json.dumps({"urls": urls, **writer.counts._asdict()}))
""",
            readonly_store,
        )
    )
    assert found["dropped"] == 3
    assert found["urls"] == ["http://example.com/0"]  # what is there can be read
    (line,) = log
    assert "Make" in line
    assert "writable" in line


def test_an_interpreter_that_ends_without_closing(tmp_path: Path) -> None:
    process = child(
        """
writer = Writer(path, interval=0.01)
writer.add(seen("0"))
assert writer.flush()
for i in range(1, 2_000):
    writer.add(seen(str(i)))
""",
        tmp_path / "store.sqlite",
    )
    _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, "")
    assert 0 in check(tmp_path / "store.sqlite")


def test_handing_over_a_row_does_not_wait(tmp_path: Path) -> None:
    # Nobody can write before this thread has handed over all rows: a row that waited would wait for ever.
    path = tmp_path / "store.sqlite"
    Store.open(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writer = Writer(path, interval=0.0)
    row = seen("a")
    assert all(writer.add(row) for _ in range(9_000))
    assert (writer.counts.written, writer.counts.waiting) == (0, 9_000)
    other.execute("COMMIT")
    other.close()
    assert writer.close()
    assert writer.counts.written == 9_000
