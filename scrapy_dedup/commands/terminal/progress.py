"""What is being done, on standard error, where work takes long."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from time import monotonic
from typing import Final

#: Seconds after which a line says what is being done where standard error is no terminal.
PATIENCE: Final = 1.0
#: Seconds between two such lines about a long work.
_SELDOM: Final = 15.0


@contextmanager
def progress(doing: str) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield a function that shows what is being done and how far it is; None where standard error is no terminal.

    There, a line tells what one is *doing* if it takes long. The function takes a description, the number of steps done and their
    total.
    """
    if not sys.stderr.isatty():
        told = Timer(PATIENCE, lambda: print(f"{doing} ...", file=sys.stderr))
        told.daemon = True
        told.start()
        try:
            yield None
        finally:
            told.cancel()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=None)

        def show(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        yield show


@contextmanager
def reading_progress(doing: str) -> Iterator[Callable[[int, int, int], None]]:
    """Yield a function that shows how far files are read: it takes the records and bytes that were, and all bytes or 0.

    Where standard error is no terminal, a line tells it now and then.
    """
    began = monotonic()

    def rate_of(records: int) -> str:
        return f"{records:,} records, {records / max(monotonic() - began, 0.001):,.0f} a second"

    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("reading", total=None)

            def show(records: int, done: int, total: int) -> None:
                bar.update(task, description=f"reading: {rate_of(records)}", completed=done, total=total or None)

            yield show
        return
    told = began + PATIENCE - _SELDOM

    def tell(records: int, done: int, total: int) -> None:
        nonlocal told
        if (now := monotonic()) - told < _SELDOM:
            return
        told = now
        left = f", {(now - began) * (total - done) / done:,.0f} seconds left" if 0 < done < total else ""
        print(f"{doing}: {rate_of(records)}{left}", file=sys.stderr)

    yield tell
