"""``python -m scrapy``, and the plug-in's own processes, forked from one that has their modules already.

To import Scrapy and what a command needs takes longer than most commands do, and to import the learners longer than
most learning does. Where processes can be forked, each is forked from one that has imported all that and has done
nothing else; the rest is as a user's: arguments, folder, environment, streams and exit code.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
import threading
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any
from unittest.mock import patch

from scrapy_dedup.crawl.learn import learner
from scrapy_dedup.crawl.report import report_file

from .waiting import PATIENCE

if TYPE_CHECKING:
    from typing_extensions import Self

MODULE = "scrapy_dedup.learning"
REPORT = "scrapy_dedup.report"
CAN_FORK = "forkserver" in multiprocessing.get_all_start_methods()

#: Modules that import the others; a reactor is installed by none of them.
_IMPORTED = [
    *("scrapy.cmdline", "scrapy.core.engine", "scrapy.core.scheduler", "scrapy.shell", "scrapy.pqueues"),
    *("scrapy.squeues", "scrapy.linkextractors", "scrapy.utils._remote_control", "scrapy.utils.test"),
    *("scrapy_dedup.learning.__main__", "numpy.ma", "rich.console", "requests", "tomlkit"),
    *(f"scrapy_dedup.commands.{name}" for name in ("learn_rules", "dedup", "learning", "probing", "console")),
    *(f"scrapy_dedup.commands.showing.{name}" for name in ("explained_url", "shown_page", "summary")),
    *("scrapy_dedup.commands.observation_sources", "scrapy_dedup.learning.imported"),
    *("tests.processes", "tests.public_suffixes", "tests.preloading"),
]
_ROOT = Path(__file__).resolve().parent.parent
_SERVER = forkserver._forkserver


@cache
def _context() -> Any:
    """Return what starts processes, and start the server that they are forked from, which finds the tests."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    found = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    with patch.dict(os.environ, PYTHONPATH=found):
        _SERVER.ensure_running()
    return context


def run_module(
    module: str, args: Sequence[str], folder: Path, environment: Mapping[str, str], stdin: str | bytes = ""
) -> subprocess.CompletedProcess[str]:
    """Run ``python -m MODULE ARGS`` in *folder* and return what it said. Raises subprocess.TimeoutExpired."""
    with TemporaryDirectory() as name:
        streams = [Path(name, stream) for stream in ("stdin", "stdout", "stderr")]
        for stream, given in zip(streams, (stdin, "", ""), strict=True):
            stream.write_bytes(given if isinstance(given, bytes) else given.encode())
        forks = vars(learner)["subprocess"] is Forking
        arguments = ([module, *args], str(folder), dict(environment), streams, forks)
        process = _context().Process(target=_module, args=arguments)
        process.start()
        process.join(PATIENCE)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(list(args), PATIENCE)
        said, errors = (stream.read_bytes().decode() for stream in streams[1:])
        return subprocess.CompletedProcess(list(args), process.exitcode, said, errors)


def _module(command: list[str], folder: str, environment: dict[str, str], streams: list[Path], forks: bool) -> None:
    """Be ``python -W ... -m COMMAND``; *forks*: the plug-in's own processes are forked, too."""
    for number, path in enumerate(streams):
        file = os.open(path, os.O_RDWR)
        os.dup2(file, number)
        os.close(file)
    vars(report_file)["_LONGEST"] = PATIENCE
    if forks:
        vars(learner)["subprocess"] = vars(report_file)["subprocess"] = Forking
        vars(_SERVER)["ensure_running"] = lambda: None  # the one that this is forked from serves it, too
    os.chdir(folder)
    warnings.filterwarnings("error", category=DeprecationWarning, module="scrapy_dedup$")
    sys.path[:0] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    _be(command[0], command[1:], environment)


def _be(module: str, args: list[str], environment: dict[str, str]) -> None:
    """Be ``python -m MODULE ARGS`` with the streams of this process."""
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    sys.stdin = open(0, encoding=encoding, closefd=False)
    sys.stdout = open(1, "w", encoding=encoding, closefd=False)
    sys.stderr = open(2, "w", encoding=encoding, errors="backslashreplace", buffering=1, closefd=False)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *args]
    sys.modules.pop(f"{module}.__main__", None)  # it has been imported, but has not run
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        vars(threading)["_shutdown"]()  # waits for threads, as an interpreter does before all else


class Learning:
    """The process that learns: what ``subprocess.Popen`` is to the plug-in, forked."""

    def __init__(self, command: Sequence[str], *, stderr: IO[bytes], env: Mapping[str, str], **_: Any) -> None:
        args = list(command[command.index(MODULE) + 1 :])
        asked, answers = os.pipe(), os.pipe()
        theirs = (
            Connection(asked[0], writable=False),
            Connection(answers[1], readable=False),
            Connection(os.dup(stderr.fileno()), readable=False),
        )
        self.stdin, self.stdout = os.fdopen(asked[1], "wb"), os.fdopen(answers[0], "rb")
        self._process = _context().Process(target=_learning, args=(args, dict(env), theirs), daemon=True)
        self._process.start()
        for each in theirs:
            each.close()
        self.pid, self.kill = self._process.pid, self._process.kill

    def poll(self) -> int | None:
        """The exit code; None as long as it runs."""
        code: int | None = self._process.exitcode
        return code

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code. Raises subprocess.TimeoutExpired."""
        self._process.join(timeout)
        if (code := self.poll()) is None:
            raise subprocess.TimeoutExpired(MODULE, timeout or 0)
        return code

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        """Close the pipes, and wait for its end."""
        self.stdout.close()
        try:
            self.stdin.close()
        finally:
            self.wait()


def _learning(args: list[str], environment: dict[str, str], streams: Sequence[Connection]) -> None:
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream.fileno(), number)
    _be(MODULE, args, environment)


class Forking:
    """What the plug-in takes of the module subprocess; commands that are not the plug-in's are run as ever."""

    PIPE = subprocess.PIPE
    TimeoutExpired = subprocess.TimeoutExpired

    @staticmethod
    def Popen(command: Sequence[str], **options: Any) -> Any:
        """Start a process."""
        return Learning(command, **options) if MODULE in command else subprocess.Popen(command, **options)

    @staticmethod
    def run(command: Sequence[str], *, check: bool, **options: Any) -> Any:
        """Run a process to its end. Raises subprocess.TimeoutExpired."""
        if command[-1] == REPORT:
            return run_module(REPORT, (), Path.cwd(), options["env"], options["input"])
        return subprocess.run(command, check=check, **options)
