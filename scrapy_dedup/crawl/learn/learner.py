"""The process that learns, as the crawl sees it.

It runs :mod:`scrapy_dedup.learning` and nothing else, so that a script without a main guard is never
run again. It finds modules where this process does, but the standard library comes first and the
working folder is left out: a module beside the spider may have any name. It ends when its
standard input does, which is when this process has ended, however that was. A session of its
own keeps the keyboard's interrupts from it. Between two learnings it is kept for a while, since
to start it takes longer than to learn a small site.
"""

import json
import subprocess
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryFile
from threading import Lock, Thread
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import attrs

from ...learning.choices import JUDGE
from ..support.own_processes import command_running, environment

if TYPE_CHECKING:
    from ..settings.dedup_settings import DedupSettings

_POLL: Final = 0.05  # seconds between two looks at whether the answer is still wanted
#: A process that gets so small a part of a processor as this is ended, as is one that hangs.
_STARVED: Final = 1 / 4
_ENDING: Final = 1.0  # seconds that a process is given to end that has said what is no answer
_LONGEST_ANSWER: Final = 1 << 22  # bytes


class LearningOutcome(NamedTuple):
    """How a learning ended."""

    #: What the process answered; None if it failed.
    summary: dict[str, Any] | None
    #: Why it failed.
    problem: str = ""
    #: Whether it was ended because the answer was not wanted any more.
    ended: bool = False


@attrs.define(eq=False, repr=False)
class Learner:
    """The process; it is started when it is needed. To be used by one thread at a time, but for :meth:`stop`."""

    _settings: "DedupSettings"
    _directory: Path
    _process: subprocess.Popen[bytes] | None = attrs.field(default=None, init=False)
    _answers: SimpleQueue[bytes] = attrs.field(factory=SimpleQueue, init=False)
    _errors: IO[bytes] | None = attrs.field(default=None, init=False)
    _lock: Lock = attrs.field(factory=Lock, init=False)
    _stopped: bool = attrs.field(default=False, init=False)

    @property
    def pid(self) -> int | None:
        """The id of the process; None if there is none."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def start(self) -> str:
        """Start the process if there is none; return what hinders that, "" if nothing does. It waits: call it in a thread."""
        with self._lock:
            if self._stopped or self.pid is not None:
                return ""
            self._end()
            errors = TemporaryFile()
            try:
                process = subprocess.Popen(  # noqa: S603 (our own interpreter and module)
                    command_of(self._settings, self._directory),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=environment(self._settings.store),
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                errors.close()
                return f"the learning process could not be started ({error})"
            self._process, self._errors, self._answers = process, errors, SimpleQueue()
            assert process.stdout is not None
            Thread(target=_listen, args=(process.stdout, self._answers), name="dedup-learner", daemon=True).start()
            return ""

    def learn(
        self, sites: Collection[str], compared: Collection[str], timeout: float, wanted: Callable[[], bool]
    ) -> LearningOutcome:
        """Let *sites* be learned, texts of those to be *compared*, too, as long as that is *wanted*.

        It ends within *timeout* seconds of the processor, and is ended after four times as many of the clock. It waits: call it in a
        thread.
        """
        asked = {"sites": sorted(sites), "compared": sorted(compared), "seconds": timeout * 0.8}
        line = json.dumps(asked).encode() + b"\n"
        end = time.monotonic() + timeout / _STARVED
        fresh = self.pid is None
        outcome = self._asked(line, end, timeout, wanted)
        if outcome is None and not fresh and self._code() == 0:  # it had just ended, since it was not asked for long
            outcome = self._asked(line, end, timeout, wanted)
        if outcome is None:
            outcome = LearningOutcome(None, f"the learning process failed ({self._last_words()})")
        if outcome.summary is None:
            self.kill()
        return outcome

    def _asked(self, line: bytes, end: float, timeout: float, wanted: Callable[[], bool]) -> LearningOutcome | None:
        """Return the outcome; None if the process has ended without an answer, or said what is none."""
        problem = self.start()
        process, answers = self._process, self._answers
        if problem or process is None:
            return LearningOutcome(None, problem, ended=not problem)
        assert process.stdin is not None
        try:
            process.stdin.write(line)
            process.stdin.flush()
        except OSError:
            pass  # it has ended; what it said may be an answer all the same
        while True:
            try:
                return _outcome_of(answers.get(timeout=_POLL))
            except Empty:
                if not wanted():
                    return LearningOutcome(None, ended=True)
                if time.monotonic() >= end:
                    return LearningOutcome(None, f"it took longer than DEDUP_LEARN_TIMEOUT ({timeout:g} s)")

    def _code(self) -> int | None:
        """Return the exit code, None if the process does not end."""
        try:
            return None if self._process is None else self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            return None

    def _last_words(self) -> str:
        code, errors = self._code(), self._errors
        if errors is None:
            return "it was ended"
        errors.seek(0)
        last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
        return last[0][:500] if last else "its answer is not understood" if code is None else f"exit code {code}"

    def kill(self) -> None:
        """End the process, whatever it does. A later learning starts another one."""
        with self._lock:
            self._end()

    def stop(self) -> None:
        """End the process for good."""
        self._stopped = True
        self.kill()

    def _end(self) -> None:
        process, errors = self._process, self._errors
        self._process = self._errors = None
        if process is not None:
            process.kill()
            process.wait()
            with suppress(OSError), process:  # closes its pipes, of which one may hold what could not be written
                pass
        if errors is not None:
            errors.close()


def _listen(output: IO[bytes], answers: "SimpleQueue[bytes]") -> None:
    """Hand on what a process says, line by line, and at last b""."""
    try:
        while line := output.readline(_LONGEST_ANSWER):
            answers.put(line)
    except (OSError, ValueError):  # it is closed
        pass
    answers.put(b"")


def _outcome_of(answer: bytes) -> LearningOutcome | None:
    try:
        summary = json.loads(answer)
    except ValueError:
        return None
    if not isinstance(summary, dict):
        return None
    if "error" in summary:
        return LearningOutcome(None, f"the learning process failed ({str(summary['error'])[:500]})")
    return LearningOutcome(summary)


def command_of(settings: "DedupSettings", directory: Path) -> list[str]:
    """Return the command line of the process, which writes its rules into *directory*."""
    command = [*command_running("scrapy_dedup.learning"), "--parent"]
    command += ["--store", "--dir", str(directory), "--scope", settings.scope]
    command += [f"--also={path}" for path in settings.rules if path != directory]
    command += ["--max-loss", str(settings.max_loss)]
    if settings.method != JUDGE:
        command += ["--method", settings.method, "--method-options", json.dumps(settings.method_options)]
    if (options := settings.published_masks) is not None:
        command += ["--published-masks", json.dumps(asdict(options))]
    if settings.evidence_days is not None:
        command += ["--evidence-days", str(settings.evidence_days)]
    if names := settings.names.lists():
        command += ["--names", json.dumps(names)]
    if settings.site_groups:
        command += ["--groups", json.dumps({name: list(domains) for name, domains in settings.site_groups.items()})]
    return command
