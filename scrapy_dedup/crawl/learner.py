"""Learning when a crawl closes: in a process of its own, for a limited time.

The process is ``python -m scrapy_dedup.learning``, so that a script without a main guard
is never run again. It ends when its standard input does, which is when this process has
ended, however that was. A session of its own keeps the keyboard's interrupts from it.
"""

import json
import logging
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.utils.asyncio import run_in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .settings import DedupSettings
    from .shared import Shared

logger = logging.getLogger(__name__)

_POLL = 0.2  # seconds between two looks at whether the user wants the crawl to end
_MOST_SITES = 200  # named on a command line; if there are more, all sites of the scope are learned


class Outcome(NamedTuple):
    """How a learning process ended."""

    #: What it printed, read as JSON; None if it failed.
    summary: dict[str, Any] | None
    #: Why it failed.
    problem: str = ""
    #: Whether it was ended because the crawl is to end.
    ended: bool = False


async def learn(shared: "Shared") -> None:
    """Learn from what is recorded, if something is new; tell what was found."""
    if shared.settings.learn != "close" or not shared.news:
        return
    if shared.unsaved:
        shared.stats.set_value("dedup/learned/failed", 1)
        return
    started = time.monotonic()
    command = command_of(shared.settings, sorted(shared.news))
    engine = shared.crawler.engine
    outcome = await run_in_thread(run, command, shared.settings.learn_timeout, lambda: engine.running)
    if outcome.ended:
        return
    stats = shared.stats
    stats.set_value("dedup/learned/seconds", round(time.monotonic() - started, 3))
    if outcome.summary is None:
        stats.set_value("dedup/learned/failed", 1)
        # One warning about a store that cannot be used is enough.
        told = shared.writer is not None and shared.writer.told and "StoreError" in outcome.problem
        logger.log(
            logging.INFO if told else logging.WARNING,
            "No rules were learned from this crawl: %s. What it has seen is recorded: scrapy learn-rules",
            outcome.problem,
            extra={"spider": shared.spider},
        )
        return
    rules = outcome.summary.get("rules", 0)
    stats.set_value("dedup/learned/rules", rules)
    logger.info(
        "Learned %d rules for %d sites, see %s",
        rules,
        len(outcome.summary.get("sites", ())),
        shared.settings.learned_directory,
        extra={"spider": shared.spider},
    )


def hindrance(directory: Path) -> str | None:
    """Return why no rule file can be written into *directory*, which need not exist; None if nothing is known."""
    for path in (directory, *directory.parents):
        try:
            if not path.exists():
                continue
            if not path.is_dir():
                return f"{path} is a file"
            return None if os.access(path, os.W_OK | os.X_OK) else f"{path} is not writable"
        except OSError as error:  # a folder further up that may not be searched, say
            return f"{path}: {error.strerror}"
    return None


def command_of(settings: "DedupSettings", sites: "Iterable[str]") -> list[str]:
    """Return the command line of the process."""
    command = [sys.executable, "-m", "scrapy_dedup.learning", "--parent"]
    command += ["--store", settings.store, "--dir", str(settings.learned_directory), "--scope", settings.scope]
    command += ["--max-loss", str(settings.max_loss), "--timeout", str(settings.learn_timeout * 0.8)]
    command += [f"--learner={name}" for name in settings.learners or ()]
    if settings.evidence_days is not None:
        command += ["--evidence-days", str(settings.evidence_days)]
    if settings.site_groups:
        command += ["--groups", json.dumps({name: list(domains) for name, domains in settings.site_groups.items()})]
    named = list(sites)
    if len(named) <= _MOST_SITES:
        command += [f"--site={site}" for site in named]
    return command


def run(command: list[str], timeout: float, wanted: "Callable[[], bool]") -> Outcome:
    """Run the process for *timeout* seconds at most, as long as it is *wanted*. It waits: call it in a thread."""
    end = time.monotonic() + timeout
    # Files, since communicate() would close the standard input that tells the process of our end.
    with TemporaryFile() as output, TemporaryFile() as errors:
        try:
            process = subprocess.Popen(  # noqa: S603 (our own interpreter and module)
                command,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=errors,
                env=_environment(),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return Outcome(None, f"the learning process could not be started ({error})")
        with process:
            while True:
                try:
                    code = process.wait(_POLL)
                    break
                except subprocess.TimeoutExpired:
                    if time.monotonic() < end and wanted():
                        continue
                    process.kill()
                    if wanted():
                        return Outcome(None, f"it took longer than DEDUP_LEARN_TIMEOUT ({timeout:g} s)")
                    return Outcome(None, ended=True)
        output.seek(0)
        errors.seek(0)
        return _outcome(code, output.read(), errors.read())


def _outcome(code: int, output: bytes, errors: bytes) -> Outcome:
    try:
        summary = json.loads(output)
    except ValueError:
        summary = None
    if code == 0 and isinstance(summary, dict):
        return Outcome(summary)
    last = errors.decode(errors="replace").strip().splitlines()[-1:] or [f"exit code {code}"]
    return Outcome(None, f"the learning process failed ({last[0][:500]})")


def _environment() -> dict[str, str]:
    """Return the environment in which the process finds the package that runs here."""
    package = str(Path(__file__).parents[2])
    path = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{package}{os.pathsep}{path}" if path else package}
