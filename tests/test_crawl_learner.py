"""Learning at the close of a crawl: a process of its own that never harms or holds up the crawl."""

import errno
import itertools
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.crawl.learn import learner
from scrapy_dedup.crawl.settings import rule_directories
from scrapy_dedup.crawl.settings.dedup_settings import DedupSettings
from scrapy_dedup.learning.phrases import counted
from scrapy_dedup.masks.loading import load_masks
from scrapy_dedup.rules import Status

from .conftest import Project, Serve
from .crawling import Links, crawl, in_reactor, messages, observed
from .mask_files import save_mask
from .server import Asked, page, prose
from .waiting import PATIENCE, wait_until


def shop(asked: Asked) -> Any:
    """Sixty pages, each under three session ids."""
    if asked.path == "/":
        return page(prose("start"), *(f"/p?id={i}&sid=s{i}x{j}" for i in range(60) for j in range(3)))
    return page(prose(asked.query["id"]), "/")


@pytest.mark.own_interpreter
@in_reactor
async def test_rules_are_learned_and_used_by_the_next_crawl(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(shop)
    site = f"127.0.0.1:{server.port}"
    with caplog.at_level("INFO"):
        first = await crawl(Links, server.url("/"), DEDUP_LEARN="close")
    assert server.downloads == 2 + 180
    book = RuleBook.load("dedup-rules")
    assert book.equivalent(server.url("/p?id=1&sid=s9x1"), server.url("/p?id=1&sid=s8x0"))
    assert first.stats["dedup/learned/rules"] == len(book) >= 1
    assert first.stats["dedup/learned/seconds"] > 0
    assert [text for text in messages(caplog, 20) if text.startswith("Learned ")] == [
        f"Learned {counted(len(book), 'rule')} of 1 site: +{counted(len(book), 'rule')}, see {Path.cwd() / 'dedup-rules'}"
    ]
    server.reset()
    second = await crawl(Links, server.url("/"), DEDUP_LEARN="close", DEDUP_SITES={site: "shadow"})
    assert second.stats["dedup/shadow/discarded"] == 120
    server.reset()
    third = await crawl(Links, server.url("/"))
    assert server.downloads == len(third.items) == 61 + 1


@pytest.mark.parametrize("learn", ["close", "live"])
@in_reactor
async def test_a_rule_file_that_turns_bad_during_the_crawl_is_one_warning(
    serve: Serve, caplog: pytest.LogCaptureFixture, learn: str
) -> None:
    """Without end, it stops who reads it; the crawl goes on as if there were none."""
    written = threading.Event()

    def turning(asked: Asked) -> Any:
        if not written.is_set():
            written.set()
            Path("dedup-rules").mkdir(exist_ok=True)
            head = f'format = "dedup-rules/1"\nsite = "127.0.0.1:{server.port}"\n[[rule]]\n[rule.ops]\n'
            path = Path("dedup-rules", f"127.0.0.1_{server.port}.toml")
            path.write_text(f'{head}"q.a" = {"[" * 1000}{"]" * 1000}\n')
        return shop(asked)

    server = serve(turning)
    done = await crawl(Links, server.url("/"), DEDUP_LEARN=learn)
    assert done.stats["finish_reason"] == "finished"
    assert len(set(done.urls)) == 181
    told = [record for record in caplog.records if "in one another" in record.getMessage()]
    assert told
    assert all(record.levelname == "WARNING" and record.exc_info is None for record in told)
    assert all(":5: more than 32 lists" in record.getMessage() for record in told)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def thirty(asked: Asked) -> Any:
    """As many pages as something may be learned from."""
    return page(prose(asked.path), *(f"/{number}" for number in range(30)))


def told_to(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Run *code* in the place of the learning process."""

    def command(settings: DedupSettings, directory: Path) -> list[str]:
        return [sys.executable, "-c", code]

    monkeypatch.setattr(learner, "command_of", command)
    monkeypatch.setattr(learner, "_ENDING", PATIENCE)


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("raise SystemExit('no memory left')", "the learning process failed (no memory left)"),
        ("import os; os.kill(os.getpid(), 9)", "the learning process failed (exit code -9)"),
        ("print('not JSON')", "the learning process failed (exit code 0)"),
        ("import sys; sys.stdin.read()", "it took longer than DEDUP_LEARN_TIMEOUT (0.5 s)"),
        ("print('x' * 10_000_000); raise SystemExit(1)", "the learning process failed (exit code 1)"),
    ],
)
@in_reactor
async def test_a_process_that_fails_is_one_warning(
    serve: Serve, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, code: str, problem: str
) -> None:
    told_to(monkeypatch, code)
    server = serve(shop)
    seconds = 0.5 if "0.5 s" in problem else PATIENCE
    done = await crawl(Links, server.url("/"), DEDUP_LEARN="close", DEDUP_LEARN_TIMEOUT=seconds)
    assert done.stats["dedup/learned/failed"] == 1
    assert done.stats["finish_reason"] == "finished"
    (warning,) = messages(caplog)
    assert warning.startswith(f"No rules were learned from this crawl: {problem}. What it has seen is recorded")
    assert len(observed()) == 181


@in_reactor
async def test_a_directory_that_cannot_be_written(
    serve: Serve, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told when the crawl starts, once, and nothing is learned in vain."""
    told_to(monkeypatch, "open('ran', 'w').close(); print('{}')")
    server = serve(shop)
    Path("file").touch()
    done = await crawl(Links, server.url("/"), DEDUP_LEARN="close", DEDUP_DIR="file/rules")
    assert done.stats["dedup/learned/failed"] == 1
    assert not Path("ran").exists()
    (warning,) = messages(caplog)
    assert (
        f"DEDUP_DIR is {Path.cwd() / 'file/rules'}, which cannot be written ({Path.cwd() / 'file'} is a file)"
        in warning
    )
    assert "Make it writable or name another directory, and run scrapy learn-rules" in warning
    assert len(observed()) == 181
    caplog.clear()
    await crawl(Links, server.url("/"), DEDUP_DIR="file/rules")
    assert not messages(caplog), "DEDUP_LEARN is off"


def test_what_hinders_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rule_directories.hindrance(tmp_path / "not/yet/there") is None
    assert not list(tmp_path.iterdir()), "nothing is left behind, and nothing made"

    def refuse(dir: Path) -> Any:  # noqa: A002
        raise OSError(errno.EROFS, "Read-only file system", str(dir))

    monkeypatch.setattr(rule_directories, "TemporaryFile", refuse)
    assert rule_directories.hindrance(tmp_path / "rules") == f"{tmp_path} is not writable: Read-only file system"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="there is no /proc here")
@pytest.mark.parametrize("learn", ["live", "close"])
@in_reactor
async def test_a_directory_that_takes_no_file_is_told_at_the_start(
    serve: Serve, learn: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Even where root asks, whom no permission hinders."""
    server = serve({"/": page(prose("start"))})
    with caplog.at_level("INFO"):
        await crawl(Links, server.url("/"), DEDUP_DIR="/proc/x/rules", DEDUP_LEARN=learn)
    (warning,) = messages(caplog)
    assert "DEDUP_DIR is /proc/x/rules, which cannot be written (/proc is not writable: " in warning
    said = messages(caplog, 20)
    assert said.index(warning) < said.index(next(line for line in said if "mode active" in line))


@pytest.mark.own_interpreter
@in_reactor
async def test_an_interpreter_that_cannot_be_started(
    serve: Serve, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_dedup.crawl.support.own_processes.sys.executable", "/nowhere/python")
    done = await crawl(Links, serve(shop).url("/"), DEDUP_LEARN="close")
    assert done.stats["dedup/learned/failed"] == 1
    assert "could not be started" in messages(caplog)[0]


@in_reactor
async def test_when_nothing_is_learned(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    told_to(monkeypatch, "open('ran', 'w').close(); print('{}')")
    server = serve({"*": thirty, "/few": page("x", "/few/1"), "/few/1": page("y"), "/gone": 404})
    for start, settings in (
        ("/gone", {"DEDUP_LEARN": "close"}),
        ("/few", {"DEDUP_LEARN": "close"}),
        ("/", {"DEDUP_LEARN": "off"}),
        ("/", {"DEDUP_LEARN": "close", "DEDUP_MODE": "observe"}),
        ("/", {"DEDUP_LEARN": "live", "DEDUP_SITES": {f"127.0.0.1:{server.port}": "observe"}}),
        ("/", {"DEDUP_LEARN": "live", "DEDUP_SITES": {f"127.0.0.1:{server.port}": "observe"}, "DEDUP_REVISITS": 3}),
    ):
        await crawl(Links, server.url(start), **settings)
        assert not Path("ran").exists(), start
    cached = {"HTTPCACHE_ENABLED": True, "DEDUP_LEARN": "close", "DEDUP_STORE": "cached.sqlite"}
    await crawl(Links, server.url("/"), **cached)
    Path("ran").unlink()
    await crawl(Links, server.url("/"), **cached)
    assert not Path("ran").exists(), "copies from the cache are nothing new"


def test_the_command_line(tmp_path: Path) -> None:
    from scrapy.settings import Settings

    reviewed, rules = tmp_path / "reviewed", tmp_path / "rules"
    reviewed.mkdir()
    rules.mkdir()
    settings = DedupSettings.from_crawler_settings(
        Settings(
            {
                "DEDUP_SCOPE": "members",
                "DEDUP_SITE_GROUPS": {"shop": ["shop.test"]},
                "DEDUP_STORE": "/x/store.db",
                "DEDUP_RULES": [str(reviewed), str(rules)],
            }
        )
    )
    command = learner.command_of(settings, rules)
    assert command[0] == sys.executable
    assert command[command.index("scrapy_dedup.learning") :] == [
        *("scrapy_dedup.learning", "--parent"),
        *("--store", "--dir", str(rules), "--scope", "members"),
        f"--also={reviewed}",
        *("--max-loss", "0.001", "--evidence-days", "90.0"),
        "--pack=starter",
        *("--groups", '{"shop": ["shop.test"]}'),
    ]


def clocks() -> Any:
    """Pages under three session ids each, with a clock."""
    ticks = itertools.count()

    def site(asked: Asked) -> Any:
        said = shop(asked)
        return said.replace("</body>", f'<p class="clock">It is {next(ticks)} now</p></body>')

    return site


@in_reactor
async def test_what_was_reviewed_elsewhere_counts_and_is_not_copied(serve: Serve) -> None:
    """A rule that is off and a place that is kept, in a directory of DEDUP_RULES, are not learned anew."""
    server = serve(clocks())
    site = f"127.0.0.1:{server.port}"
    settings = {"DEDUP_LEARN": "close", "DEDUP_REVISITS": 8, "CONCURRENT_REQUESTS": 1}
    await crawl(Links, server.url("/"), **settings)
    book = RuleBook.load("dedup-rules")
    assert [rule.status for rule in book.for_site(site)] == [Status.ACTIVE]
    mask = load_masks(["dedup-rules"])[site]
    assert [path.is_hidden for path in mask.paths if "clock" in path.selector] == [True]

    RuleBook([replace(rule, status=Status.OFF) for rule in book]).save("reviewed")
    save_mask("reviewed", replace(mask, paths=tuple(replace(path, state="keep") for path in mask.paths)))
    before = {path.name: path.read_bytes() for path in Path("reviewed").glob("*.toml")}
    assert len(before) == 2
    await crawl(Links, server.url("/"), DEDUP_RULES=["reviewed"], DEDUP_DIR="second", **settings)
    assert not RuleBook.load("second", missing_ok=True).for_site(site)
    assert not [path for mask in load_masks(["second"]).values() for path in mask.paths if "clock" in path.selector]
    assert {path.name: path.read_bytes() for path in Path("reviewed").glob("*.toml")} == before


SLEEPER = """\
import os, pathlib, sys
pathlib.Path("learning").write_text(str(os.getpid()))
sys.stdin.buffer.read()
"""


def shop_with_a_learner_that_waits(project: Project, learn: str = "close") -> None:
    project.write("sleeper.py", SLEEPER)
    settings = project.folder / "shop/settings.py"
    settings.write_text(
        settings.read_text()
        + f"DEDUP_LEARN = {learn!r}\n"
        + "from scrapy_dedup.crawl.learn import learner\n"
        + "import sys\n"
        + "learner.command_of = lambda settings, directory: [sys.executable, 'sleeper.py']\n"
    )


def started(project: Project, url: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", "crawl", "shop", "-a", f"start={url}"],
        cwd=project.folder,
        stderr=subprocess.PIPE,
        text=True,
    )


def learning_of(project: Project, process: subprocess.Popen[str]) -> int:
    """The id of the learning process, once there is one."""
    mark = project.folder / "learning"
    wait_until(lambda: process.poll() is not None or (mark.exists() and mark.read_text()))
    return int(mark.read_text())


def has_ended(pid: int) -> bool:
    """Whether a process has ended; a zombie has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")


@linux
@pytest.mark.parametrize(("learn", "sent"), [("close", signal.SIGINT), ("live", signal.SIGTERM)])
def test_a_shutdown_ends_learning(project: Project, serve: Serve, sent: signal.Signals, learn: str) -> None:
    shop_with_a_learner_that_waits(project, learn)
    process = started(project, serve(thirty).url("/"))
    learning = learning_of(project, process)
    process.send_signal(sent)
    errors = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0
    wait_until(lambda: has_ended(learning))
    assert "Traceback" not in errors
    assert "WARNING" not in errors


@linux
@pytest.mark.parametrize("learn", ["close", "live"])
def test_learning_ends_with_a_crawl_that_is_killed(project: Project, serve: Serve, learn: str) -> None:
    shop_with_a_learner_that_waits(project, learn)
    process = started(project, serve(thirty).url("/"))
    learning = learning_of(project, process)
    process.kill()
    process.communicate(timeout=PATIENCE)
    wait_until(lambda: has_ended(learning))


@linux
def test_a_crawl_that_is_shut_down_does_not_learn(project: Project, serve: Serve) -> None:
    """The last page is answered once the crawl has been told to end."""
    asked_for, told = threading.Event(), threading.Event()

    def site(asked: Asked) -> Any:
        if asked.path == "/last":
            asked_for.set()
            told.wait(PATIENCE)
        return page(prose(asked.path), "/last" if asked.path == "/29" else "/", *(f"/{n}" for n in range(30)))

    shop_with_a_learner_that_waits(project)
    process = started(project, serve(site).url("/"))
    assert asked_for.wait(PATIENCE)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    for line in process.stderr:
        assert "Traceback" not in line
        if "Closing spider (shutdown)" in line:
            break
    told.set()
    errors = process.communicate(timeout=PATIENCE)[1]
    assert "Spider closed (shutdown)" in errors
    assert "Traceback" not in errors
    assert not (project.folder / "learning").exists()
