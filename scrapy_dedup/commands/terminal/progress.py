"""What is being done, on standard error, where that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress"]


@contextmanager
def progress(doing: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show what one is *doing*; yield a function that shows how far that is: it takes what is done, and a part of a whole (0: unknown)."""
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    from .console import plain_console

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=plain_console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total or None)
