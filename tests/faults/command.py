"""What the commands of this folder have in common: their options, what counts as lost, and the summary."""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from .site import PAGES, FaultySite


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a run: pages, and the requests of each crawl."""

    pages: frozenset[str]
    requests: tuple[int, ...]
    kills: int
    faults: str = ""
    """What the log tells of that must not be there."""


class CrawlFailed(Exception):
    """A crawl ended otherwise than by the kill or well."""


class LeftOut(Exception):
    """A run needs what is not installed."""


class Numbered(Protocol):
    """A run; as a text it says what is done."""

    @property
    def number(self) -> int:
        """What decides all that is left to chance."""


R = TypeVar("R", bound=Numbered)


def pages_lost(plain: Found, ours: Found) -> frozenset[str]:
    """The pages that are lost.

    Where plain Scrapy does not find all pages itself, it has lost its queue to the kill, and what stood there is chance:
    no page counts as lost then if as many are found as plain Scrapy finds.
    """
    if plain.pages != PAGES and len(ours.pages) >= len(plain.pages):
        return frozenset()
    return plain.pages - ours.pages


def do_runs(
    name: str,
    text: str | None,
    made: Callable[[int], R],
    done: Callable[[FaultySite, R, Path], tuple[Found, Found]],
    arguments: Sequence[str] | None,
    *,
    most: int,
    alone: str,
) -> int:
    """Do the runs that the arguments ask for, print what was lost and a summary; return the exit code.

    *done* does a run in a folder that it makes, and returns what *alone*, the crawl without the plug-in, has found and what the
    other; *most* runs by default.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m tests.faults.{name}", description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=most, help=f"how many ({most})")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one (0)")
    parser.add_argument("--verbose", action="store_true", help="a line for each run")
    options = parser.parse_args(arguments)
    both: list[tuple[Found, Found]] = []
    bad = 0
    with FaultySite() as site, tempfile.TemporaryDirectory(prefix="faults-") as scratch:
        for run in map(made, range(options.first, options.first + options.runs)):
            try:
                plain, ours = done(site, run, Path(scratch) / str(run.number))
            except LeftOut as missing:
                print(f"run {run.number} left out ({run}): {missing}", flush=True)
                continue
            except CrawlFailed as error:
                bad += 1
                print(f"run {run.number} FAILED ({run}): {error}", flush=True)
                continue
            both.append((plain, ours))
            lost = pages_lost(plain, ours)
            if lost or ours.faults:
                bad += 1
                print(f"run {run.number} LOST {len(lost)} pages ({run}): {sorted(lost)[:5]} {ours.faults[-2000:]}")
            if options.verbose:
                print(
                    f"run {run.number}: {run}: {len(ours.pages)} of {len(PAGES)} pages, plain {len(plain.pages)}; "
                    f"requests {_numbers(ours)}, plain {_numbers(plain)}",
                    flush=True,
                )
    requests = [sum(sum(each.requests) for each in found) for found in zip(*both, strict=True)] or [0, 0]
    print(
        f"{len(both)} of {options.runs} runs, {sum(ours.kills for _, ours in both)} kills: {bad or 'none'} with a loss; "
        f"{requests[1]} requests, {alone} {requests[0]}"
    )
    return 1 if bad else 0


def _numbers(found: Found) -> str:
    return " and ".join(map(str, found.requests))
