"""What is being done, on standard error, where work takes long."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.progress import Progress

#: Seconds after which a line says what is being done where standard error is no terminal.
PATIENCE: Final = 1.0
#: Seconds between two such lines about a long work.
_SELDOM: Final = 15.0
#: Seconds of which the rate tells the time that is left: some steps are long.
_RATE_OF: Final = 3_600.0


@contextmanager
def progress(doing: str) -> Iterator[None]:
    """Show what one is *doing*; where standard error is no terminal, a line tells it if it takes long."""
    if not sys.stderr.isatty():
        with _line_if_long(doing):
            yield
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    with _bar(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()) as bar:
        bar.add_task(doing, total=None)
        yield


@contextmanager
def reading_progress(doing: str) -> Iterator[Callable[[int, int, int], None]]:
    """Yield a function that shows how far files are read: it takes the records and bytes that were, and all bytes or 0.

    Where standard error is no terminal, a line tells it now and then.
    """
    with _measured(doing, "records", "reading", PATIENCE) as show:
        yield lambda records, done, total: show("reading", records, done, total)


@contextmanager
def learning_progress(doing: str) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that shows how far the sites are: it takes what is done, the observations that were, and all of them.

    Where standard error is no terminal, a line says so if it takes long, and how far it is now and then.
    """
    with _measured(doing, "observations", doing, _SELDOM) as show:
        if sys.stderr.isatty():
            yield lambda what, done, total: show(what, done, done, total)
            return
        with _line_if_long(doing):
            yield lambda what, done, total: show(what, done, done, total)


@contextmanager
def _measured(doing: str, unit: str, first: str, quiet: float) -> Iterator[Callable[[str, int, int, int], None]]:
    """Yield a function that shows rate and time left: it takes what is done, a number of *unit*, and a part of a whole (0: unknown).

    Where standard error is no terminal, it is *quiet* for some seconds.
    """
    began = monotonic()

    def rate_of(number: int) -> str:
        return f"{number:,} {unit}, {number / max(monotonic() - began, 0.001):,.0f} a second"

    if sys.stderr.isatty():
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with _bar(*columns) as bar:
            task = bar.add_task(first, total=None)

            def show(what: str, number: int, done: int, total: int) -> None:
                description = f"{what}: {rate_of(number)}" if number else what
                bar.update(task, description=description, completed=done, total=total or None)

            yield show
        return
    told = began + quiet - _SELDOM

    def tell(what: str, number: int, done: int, total: int) -> None:
        nonlocal told
        if not number or (now := monotonic()) - told < _SELDOM:
            return
        told = now
        left = f", {(now - began) * (total - done) / done:,.0f} seconds left" if 0 < done < total else ""
        print(f"{doing}: {rate_of(number)}{left}", file=sys.stderr)

    yield tell


@contextmanager
def _line_if_long(doing: str) -> Iterator[None]:
    told = Timer(PATIENCE, lambda: print(f"{doing} ...", file=sys.stderr))
    told.daemon = True
    told.start()
    try:
        yield
    finally:
        told.cancel()


def _bar(*columns: Any) -> "Progress":
    from rich.progress import Progress

    from .console import plain_console

    return Progress(*columns, console=plain_console(stderr=True), transient=True, speed_estimate_period=_RATE_OF)
