"""What is being done, on standard error, where work takes long."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Final

#: Seconds after which a line says what is being done where standard error is no terminal.
PATIENCE: Final = 1.0


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
