"""Learning is done by a process of its own: whatever becomes of that, the crawl fetches everything, says in one line what went wrong, and leaves no process behind."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup import RuleBook

from .conftest import Project, Serve
from .crawling import (
    FAILED,
    SWAPPED,
    Links,
    crawl,
    crawl_site,
    crawler_of,
    in_reactor,
    messages,
    observed,
    rules_of,
    run,
    when_counted,
)
from .server import Asked, page, prose
from .waiting import PATIENCE, wait_until

own_interpreter = pytest.mark.own_interpreter
linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
PAGES, COPIES, LATE = 14, 3, 10
EVERY = {f"/p?id={i}&sid=s{i}x{j}" for i in range(PAGES) for j in range(COPIES)}


class Shop:
    """Pages, each under three session ids, some of which come when they are *released*, and a campaign's links of some of them."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), *sorted(EVERY), *(f"/late?id={i}&utm_source=a" for i in range(LATE)), "/more")
        if asked.path == "/more":
            self.released.wait(PATIENCE)
            return page(prose("more"), *(f"/late?id={i}" for i in range(LATE)))
        return page(prose((asked.path, asked.query["id"])))


#: Requests of plain Scrapy.
PLAIN = 2 + len(EVERY) + 2 * LATE


def be_run_by(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Let *code* of a shell be the interpreter of the plug-in's own processes."""
    path = Path("python.sh").resolve()
    path.write_text(f"#!/bin/sh\n{code}\n")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))


DIES, HANGS = "echo 'no memory left' >&2; exit 1", "exec sleep 600"
TOO_LONG = "it took longer than DEDUP_LEARN_TIMEOUT (0.1 s)"


@own_interpreter
@pytest.mark.parametrize(
    ("learn", "code", "problem"),
    [
        pytest.param("close", DIES, "the learning process failed (no memory left)", id="dies"),
        pytest.param("close", "kill -9 $$", "the learning process failed (exit code -9)", id="is killed"),
        pytest.param("close", "echo no JSON", "the learning process failed (exit code 0)", id="says what is no answer"),
        pytest.param(
            "close",
            "head -c 10000000 /dev/zero | tr '\\0' x; exit 1",
            "the learning process failed (exit code 1)",
            id="says too much",
        ),
        pytest.param("close", HANGS, TOO_LONG, id="hangs"),
        pytest.param("close", "", "the learning process could not be started", id="is not there"),
        pytest.param("live", DIES, "the learning process failed (no memory left)", id="dies while it is crawled"),
        pytest.param(
            "live",
            "while read line; do echo what; done",
            "the learning process failed (its answer is not understood)",
            id="says what is no answer while it is crawled",
        ),
        pytest.param("live", HANGS, TOO_LONG, id="hangs while it is crawled"),
    ],
)
@in_reactor
async def test_a_process_that_fails(
    serve: Serve, caplog: Any, monkeypatch: pytest.MonkeyPatch, *, learn: str, code: str, problem: str
) -> None:
    """Nothing is filtered, what was postponed is fetched as soon as that is known, and all is recorded."""
    if code:
        be_run_by(monkeypatch, code)
    else:
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
    shop = Shop()
    server = serve(shop)
    crawler = crawler_of(Links, DEDUP_LEARN=learn, DEDUP_LEARN_TIMEOUT=0.1 if code == HANGS else PATIENCE)
    if learn == "live":
        when_counted(crawler, FAILED, shop.released.set)
    else:
        shop.released.set()
    done = await run(crawler, server.url("/"))
    assert done.stats["finish_reason"] == "finished"
    assert server.downloads == len(server.hits) == len(done.items) == len(observed()) == PLAIN
    assert done.stat("learned/failed") >= 1
    assert (done.stat("learned/swaps"), done.stat("discarded"), done.faults()) == (0, 0, [])
    assert done.stat("postponed") == done.stat("postponed/fetched") == (LATE if learn == "live" else 0)
    first, *others = messages(caplog)
    at_close = "No rules were learned from this crawl: "
    assert first.startswith(f"{'Learning failed: ' if learn == 'live' else at_close}{problem}"), first
    assert ("is tried again later" if learn == "live" else "What it has seen is recorded") in first
    assert len(others) <= (learn == "live")
    assert all(each.startswith(at_close) for each in others)


@own_interpreter
@linux
@in_reactor
async def test_a_process_that_dies_once(serve: Serve, caplog: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one learns in its place, at the close at the latest, and ends with the crawl."""
    once = f'if [ ! -e died ]; then touch died; kill -9 $$; fi; echo $$ >> ran; exec {sys.executable} "$@"'
    be_run_by(monkeypatch, once)
    shop = Shop()
    server = serve(shop)
    crawler = crawler_of(Links, DEDUP_LEARN="live")
    for stat in (FAILED, SWAPPED):  # it may have died before anything was asked of it
        when_counted(crawler, stat, shop.released.set)
    done = await run(crawler, server.url("/"))
    assert {target.partition("&sid")[0] for target in server.hits} >= {f"/p?id={i}" for i in range(PAGES)}
    assert max(server.hits.values()) == 1
    assert done.stat("learned/times") >= 1
    assert [text.partition(":")[0] for text in messages(caplog)] == ["Learning failed"] * done.stat("learned/failed")
    assert done.stat("learned/failed") <= 1
    assert rules_of(server.site)
    assert all(has_ended(int(pid)) for pid in Path("ran").read_text().split())


@own_interpreter
@linux
@in_reactor
async def test_a_crawl_that_closes_while_it_learns(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """It leaves the rules of what it has seen, and no process."""
    be_run_by(monkeypatch, f'echo $$ >> ran; exec {sys.executable} "$@"')
    shop = Shop()
    shop.released.set()
    done = await crawl_site(serve, shop, DEDUP_LEARN="live", CLOSESPIDER_PAGECOUNT=45)
    assert done.stats["finish_reason"] == "closespider_pagecount"
    assert (done.stat("learned/failed"), done.faults()) == (0, [])
    assert RuleBook.load("dedup-rules").equivalent(*(done.server.url(f"/p?id=1&sid=s1x{n}") for n in (7, 8)))
    assert all(has_ended(int(pid)) for pid in Path("ran").read_text().split())


@own_interpreter
@linux
@pytest.mark.parametrize(
    ("learn", "folder", "why"),
    [("close", "file/rules", "is a file)"), ("live", "/proc/x/rules", "/proc is not writable: ")],
)
@in_reactor
async def test_a_directory_that_takes_no_files(
    serve: Serve, caplog: Any, monkeypatch: pytest.MonkeyPatch, *, learn: str, folder: str, why: str
) -> None:
    """That is told at the start, even where root asks. A crawl that would learn at its close does not, one that learns before uses the rules."""
    Path("file").touch()
    be_run_by(monkeypatch, f'touch ran; exec {sys.executable} "$@"')
    shop = Shop()
    server = serve(shop)
    crawler = crawler_of(Links, DEDUP_LEARN=learn, DEDUP_DIR=folder, DEDUP_POSTPONE=False)
    if learn == "live":
        when_counted(crawler, SWAPPED, shop.released.set)
    else:
        shop.released.set()
    with caplog.at_level("INFO"):
        done = await run(crawler, server.url("/"))
    (warning,) = messages(caplog)
    assert f"DEDUP_DIR is {Path.cwd() / folder}, which cannot be written ({why}" in warning.replace(
        f"{Path.cwd() / 'file'} ", ""
    )
    said = messages(caplog, 20)
    assert said.index(warning) < said.index(next(line for line in said if "mode active" in line))
    if learn == "live":
        assert warning.startswith("The rules that this crawl learns will be lost when it closes")
        assert done.stat("learned/swaps") >= 1
        assert done.stat("learned/failed") == 0
        assert {target.partition("&")[0] for target in server.hits} >= {f"/late?id={i}" for i in range(LATE)}
    else:
        assert "Make it writable or name another directory, and run scrapy learn-rules" in warning
        assert (done.stat("learned/failed"), Path("ran").exists()) == (1, False)
        assert server.downloads == len(observed()) == PLAIN
    caplog.clear()
    await crawl(Links, server.url("/"), DEDUP_DIR=folder)
    assert not messages(caplog), "DEDUP_LEARN is off"


@own_interpreter
@in_reactor
async def test_when_no_process_is_started(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    be_run_by(monkeypatch, "touch ran")
    server = serve(
        lambda asked: page("x", "/few/1") if "few" in asked.path else 404 if asked.path == "/gone" else plain(asked)
    )
    observing = {"DEDUP_SITES": {server.site: "observe"}}
    for start, settings in (
        ("/gone", {"DEDUP_LEARN": "close"}),
        ("/few", {"DEDUP_LEARN": "close"}),
        ("/few", {"DEDUP_LEARN": "live", "DEDUP_STARTER": 12}),
        ("/", {"DEDUP_LEARN": "off"}),
        ("/", {"DEDUP_LEARN": "close", "DEDUP_MODE": "observe"}),
        ("/", {"DEDUP_LEARN": "live", "DEDUP_REVISITS": 3, **observing}),
    ):
        await crawl(Links, server.url(start), **settings)
        assert not Path("ran").exists(), (start, settings)
    cached = {"HTTPCACHE_ENABLED": True, "DEDUP_LEARN": "close", "DEDUP_STORE": "cached.sqlite"}
    await crawl(Links, server.url("/"), **cached)
    Path("ran").unlink()
    await crawl(Links, server.url("/"), **cached)
    assert not Path("ran").exists(), "copies from the cache are nothing new"


def plain(asked: Asked) -> Any:
    """As many pages as something may be learned from."""
    return page(prose(asked.path), *(f"/{number}" for number in range(30)))


@pytest.mark.parametrize("learn", ["close", "live"])
@in_reactor
async def test_a_rule_file_that_turns_bad_while_it_is_crawled(serve: Serve, caplog: Any, learn: str) -> None:
    """Lists in one another without end would stop who reads them; the crawl goes on as if there were none."""
    written = threading.Event()
    shop = Shop()
    shop.released.set()

    def turning(asked: Asked) -> Any:
        if not written.is_set():
            written.set()
            Path("dedup-rules").mkdir(exist_ok=True)
            head = f'format = "dedup-rules/1"\nsite = "{server.site}"\n[[rule]]\n[rule.ops]\n'
            path = Path("dedup-rules", f"127.0.0.1_{server.port}.toml")
            path.write_text(f'{head}"q.a" = {"[" * 1000}{"]" * 1000}\n')
        return shop(asked)

    server = serve(turning)
    done = await crawl(Links, server.url("/"), DEDUP_LEARN=learn)
    assert done.stats["finish_reason"] == "finished"
    assert server.downloads == len(server.hits) == PLAIN
    told = [record for record in caplog.records if "in one another" in record.getMessage()]
    assert told
    assert all(record.levelname == "WARNING" and record.exc_info is None for record in told)
    assert all(":5: more than 32 lists" in record.getMessage() for record in told)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


# Crawls that are ended from outside

SLEEPER = "#!/bin/sh\necho $$ > started\nmv started learning\nexec cat > /dev/null\n"


def started(project: Project, url: str, learn: str) -> subprocess.Popen[str]:
    """A crawl whose learning process waits for the end of its standard input."""
    project.write("sleeper.sh", SLEEPER).chmod(0o755)
    settings = project.folder / "shop/settings.py"
    more = f"import sys\nsys.executable = './sleeper.sh'\nDEDUP_LEARN = {learn!r}\n"
    settings.write_text(settings.read_text() + more)
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", "crawl", "shop", "-a", f"start={url}"],
        cwd=project.folder,
        stderr=subprocess.PIPE,
        text=True,
    )


def has_ended(pid: int) -> bool:
    """Whether a process has ended; a zombie has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@own_interpreter
@linux
@pytest.mark.parametrize(
    ("learn", "sent"), [("close", signal.SIGINT), ("live", signal.SIGTERM), ("live", signal.SIGKILL)]
)
def test_the_end_of_a_crawl_ends_learning(project: Project, serve: Serve, learn: str, sent: signal.Signals) -> None:
    shop = Shop()
    shop.released.set()
    process = started(project, serve(shop).url("/"), learn)
    mark = project.folder / "learning"
    wait_until(lambda: process.poll() is not None or mark.exists())
    os.kill(process.pid, sent)
    errors = process.communicate(timeout=PATIENCE)[1]
    wait_until(lambda: has_ended(int(mark.read_text())))
    assert process.returncode == (-sent if sent == signal.SIGKILL else 0)
    assert "Traceback" not in errors
    assert "WARNING" not in errors


@own_interpreter
@linux
def test_a_crawl_that_is_shut_down_does_not_learn(project: Project, serve: Serve) -> None:
    """The last page is answered once the crawl has been told to end."""
    asked_for, told = threading.Event(), threading.Event()

    def site(asked: Asked) -> Any:
        if asked.path == "/last":
            asked_for.set()
            told.wait(PATIENCE)
        return page(prose(asked.path), "/last" if asked.path == "/29" else "/", *(f"/{n}" for n in range(30)))

    process = started(project, serve(site).url("/"), "close")
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
