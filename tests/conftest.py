import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings

from .processes import CAN_FORK, Forking, run_module
from .server import Asked, Route, Server
from .servers import PostgreSQLServer, RedisServer, postgresql_programs, redis_program
from .waiting import PATIENCE

# Doctests are looked for by importing modules: one is for processes that have no reactor, and the driver of a browser need not be there.
collect_ignore = ["preloading.py", *([] if find_spec("playwright") else ["browsing.py"])]

# A loaded machine is no fault of the code, and a test says the same whenever it is run.
settings.register_profile(
    "same", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, max_examples=60
)
# Other and more examples each time, to look for faults: --hypothesis-profile=other
settings.register_profile("other", settings.get_profile("same"), derandomize=False, max_examples=200)
# A few examples of each law, for `make check`.
settings.register_profile("quick", settings.get_profile("same"), max_examples=10)
settings.load_profile("same")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Three workers for two processors: tests wait for servers and processes."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(2, available * 3 // 2)


#: Files whose tests crawl, run commands, processes or servers, learn whole sites or run a benchmark.
SLOW_FILES = (
    "test_benchmark",
    "test_commands",
    "test_crawl",
    "test_dedup",
    "test_demo",
    "test_hostile",
    "test_learning",
    "test_masks_learning",
    "test_rule_files",
    "test_servers",
    "test_sources",
    "test_spark",
    "test_store_crawls",
    "test_store_postgresql",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what ``make check`` leaves out."""
    for item in items:
        if item.path.name.startswith(SLOW_FILES):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """End the run when this process was told to end, by a limit of time or by Ctrl-C.

    The reactor, in which pytest-twisted runs every test, takes that for itself and stops: all further tests would fail.
    """
    from twisted.internet import reactor

    try:
        return (yield)
    finally:
        if not reactor.running:
            pytest.exit("the reactor has stopped: this process was told to end", returncode=2)


#: Host names that no machine resolves by itself; in the tests they are 127.0.0.1.
LOOPBACK_NAMES = ("www.localhost", "m.localhost", "shop.test", "www.shop.test", "other.test")

Serve = Callable[[Mapping[str, Route] | Callable[[Asked], object]], Server]


@pytest.fixture(autouse=True, scope="session")
def _quick_java() -> Iterator[None]:
    """Let Java compile in one quick step and trust Spark's classes: it lives for seconds here, and would spend most of them on that."""
    compiling = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=256m"
    trusting = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
    with patch.dict(os.environ, JAVA_TOOL_OPTIONS=f"{compiling} {trusting}"):
        yield


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test in its own folder, so that rule files and stores are written there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE", raising=False)
    monkeypatch.delenv("SCRAPY_PROJECT", raising=False)


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch, answer_seconds: Callable[[float], None]) -> None:
    """Take away the bounds of time that keep a user from waiting: a loaded machine would exceed them."""
    monkeypatch.setattr("scrapy_dedup.crawl.report.closing._WRITING", PATIENCE)
    monkeypatch.setattr("scrapy_dedup.crawl.report.report_file._LONGEST", PATIENCE)
    monkeypatch.setattr("scrapy_dedup.files.locked._LOCK_SECONDS", PATIENCE)
    monkeypatch.setattr("scrapy_dedup.store.writer._LOCK_PATIENCE", PATIENCE)
    answer_seconds(PATIENCE)
    monkeypatch.setattr("scrapy_dedup.store.writer.Writer.flush.__defaults__", (PATIENCE,))
    monkeypatch.setattr("scrapy_dedup.store.writer.Writer.close.__defaults__", (PATIENCE,))


@pytest.fixture
def answer_seconds(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set how long a crawl waits for a database that does not answer: half a minute for a user, ten where much is read, for ever in tests."""

    def set_seconds(seconds: float) -> None:
        for place in ("postgresql.ANSWER_SECONDS", "postgresql._SLOW_ANSWER_SECONDS", "writer.ANSWER_SECONDS"):
            monkeypatch.setattr(f"scrapy_dedup.store.{place}", seconds)

    return set_seconds


@pytest.fixture(autouse=True)
def _forked_processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the plug-in's own processes, unless a test is about how they are started and ended (``own_interpreter``)."""
    if CAN_FORK and not request.node.get_closest_marker("own_interpreter"):
        monkeypatch.setattr("scrapy_dedup.crawl.learn.learner.subprocess", Forking)
        monkeypatch.setattr("scrapy_dedup.crawl.report.report_file.subprocess", Forking)


@pytest.fixture
def _forked_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the crawls and commands of a benchmark, where nothing is said of the time they take."""
    from .benchmarks.crawling import project as benchmarks

    def forked(project: benchmarks.Project, *arguments: str) -> benchmarks.Run:
        done = run_module("scrapy", arguments, project.folder, {**os.environ, **project.environment})
        assert done.returncode == 0, done.stderr
        return benchmarks.Run(1.0, 1.0, done.stdout + done.stderr)

    if CAN_FORK:
        monkeypatch.setattr(benchmarks.Project, "scrapy", forked)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers (see tests/server.py) that are closed when the test ends."""
    servers: list[Server] = []

    def start(routes: Mapping[str, Route] | Callable[[Asked], object]) -> Server:
        servers.append(Server(routes).__enter__())
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def loopback_names() -> None:
    """Let Scrapy in this process find LOOPBACK_NAMES on loopback, without any network."""
    from scrapy.resolver import CachingThreadedResolver, dnscache
    from twisted.internet import reactor

    CachingThreadedResolver(reactor, 10_000, 60).install_on_reactor()
    for name in LOOPBACK_NAMES:
        dnscache[name] = "127.0.0.1"


class Project:
    """A Scrapy project in a temporary folder, driven from outside as a user does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def scrapy(self, *args: str, stdin: str | bytes = "", encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
        """Run ``scrapy ARGS`` in the project's folder, with streams of an *encoding* that is part of UTF-8, and return what it said."""
        return self.module("scrapy", *args, stdin=stdin, encoding=encoding)

    def told(self, *args: str, **kwargs: Any) -> str:
        """What ``scrapy ARGS`` prints, which ends well."""
        done = self.scrapy(*args, **kwargs)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refuses(self, command: Sequence[str], *cases: tuple[Sequence[str], int, str]) -> None:
        """Assert what ``scrapy COMMAND ARGS`` says of *cases*, in one line: each is its arguments, the exit code and what is said."""
        for args, code, said in cases:
            done = self.scrapy(*command, *args)
            assert done.returncode == code, (args, done.stdout, done.stderr)
            assert said in "".join([done.stdout, *done.stderr.splitlines()[-1:]]), args
            assert "Traceback" not in done.stderr

    def learning(self, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run ``python -m scrapy_dedup.learning ARGS`` in the project's folder and return what it said."""
        return self.module("scrapy_dedup.learning", *args, stdin=stdin)

    def module(
        self, name: str, *args: str, stdin: str | bytes = "", encoding: str = "utf-8"
    ) -> subprocess.CompletedProcess[str]:
        """Run ``python -m NAME ARGS``, where NAME may be a file of the project, and return what it said."""
        environment = self.environment | ({"PYTHONIOENCODING": encoding} if encoding != "utf-8" else {})
        if CAN_FORK:
            return run_module(name, args, self.folder, environment, stdin)
        return self.python("-m", name, *args, stdin=stdin, environment=environment)

    def python(
        self, *args: str, stdin: str | bytes = "", environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run ``python ARGS`` in the project's folder; deprecations are errors in the plug-in's modules."""
        done = subprocess.run(
            [sys.executable, "-W", "error::DeprecationWarning:scrapy_dedup", *args],
            cwd=self.folder,
            env=environment or self.environment,
            input=stdin if isinstance(stdin, bytes) else stdin.encode(),
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        said, errors = (stream.decode().replace(os.linesep, "\n") for stream in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(done.args, done.returncode, said, errors)

    def on_a_terminal(self, *args: str, columns: int) -> str:
        """What ``scrapy ARGS`` shows on a terminal of so many columns, which knows colours."""
        if not hasattr(os, "openpty"):
            pytest.skip("there are no terminals")
        ours, theirs = os.openpty()
        environment = {**self.environment, "TERM": "xterm-256color", "COLUMNS": str(columns)}
        del environment["NO_COLOR"]
        streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        command = [sys.executable, "-m", "scrapy", *args]
        shown = b""
        with subprocess.Popen(command, cwd=self.folder, env=environment, **streams) as running:
            os.close(theirs)
            with suppress(OSError):  # the other end is closed
                while part := os.read(ours, 65_536):
                    shown += part
        os.close(ours)
        assert running.returncode == 0, shown
        return shown.decode()

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "COLUMNS": "140", "NO_COLOR": "1", "PYTHONUTF8": "1"}


SETTINGS = """\
BOT_NAME = "shop"
SPIDER_MODULES = ["shop.spiders"]
ADDONS = {"scrapy_dedup.Addon": 600}
ROBOTSTXT_OBEY = False
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
LOG_LEVEL = "INFO"
CONCURRENT_ITEMS = 16
DOWNLOAD_TIMEOUT = DEDUP_LEARN_TIMEOUT = 600
DEDUP_REPORT = ""
"""

SPIDER = '''\
import scrapy


class Shop(scrapy.Spider):
    """Follow every link from the start URL and give one item for each page."""

    name = "shop"

    def __init__(self, start="", **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [start]

    def parse(self, response):
        yield {"url": response.url, "title": response.css("title::text").get()}
        yield from response.follow_all(css="a")
'''


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project "shop" with the add-on and a spider "shop" (-a start=URL)."""
    made = Project(tmp_path / "project")
    made.write("scrapy.cfg", "[settings]\ndefault = shop.settings\n")
    made.write("shop/__init__.py", "")
    made.write("shop/settings.py", SETTINGS)
    made.write("shop/spiders/__init__.py", "")
    made.write("shop/spiders/shop.py", SPIDER)
    return made


@pytest.fixture(scope="session")
def _postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgreSQLServer]:
    pytest.importorskip("psycopg")
    if postgresql_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    with PostgreSQLServer(tmp_path_factory.mktemp("postgresql")) as server:
        yield server


@pytest.fixture
def postgresql_url(_postgresql: PostgreSQLServer) -> str:
    """Return the URL of an empty database of a PostgreSQL server, which other tests use, too."""
    return _postgresql.new_database()


@pytest.fixture
def postgresql(tmp_path: Path) -> Iterator[PostgreSQLServer]:
    """Yield a PostgreSQL server of this test, which it may kill and start again."""
    pytest.importorskip("psycopg")
    if postgresql_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    with PostgreSQLServer(tmp_path) as server:
        yield server


@pytest.fixture
def redis_server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[RedisServer]:
    """Yield a Redis server of this test, which it may kill and start again; its parameter says whether it persists."""
    pytest.importorskip("redis")
    if redis_program() is None:
        pytest.skip("Redis is not installed")
    folder = tmp_path / "redis"
    folder.mkdir()
    with RedisServer(folder, persists=getattr(request, "param", False)) as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def store_target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return what ``DEDUP_STORE`` takes, of a store of each kind that is not made yet."""
    if request.param == "postgresql":
        url: str = request.getfixturevalue("postgresql_url")
        return url
    return str(tmp_path / "dedup" / "store.sqlite")
