"""The tables that the benchmarks print."""

import sys
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table


def rate(value: float | None, digits: int = 3) -> str:
    """A rate for a table; a dash where it is not defined."""
    return "-" if value is None else f"{value:.{digits}f}"


def cell(value: object) -> str:
    """What a table shows of a value: floats with three digits, a dash for None, yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return rate(value) if value is None or isinstance(value, float) else str(value)


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object] | None],
    *,
    left: int = 1,
    caption: str = "",
    width: int = 140,
) -> None:
    """Print rows of values under *columns*, the first *left* of them to the left, the others to the right.

    A row None is a line between sections.
    """
    table = Table(title=title or None, caption=caption or None, box=box.SIMPLE_HEAD)
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < left else "right", overflow="fold")
    for row in rows:
        if row is None:
            table.add_section()
        else:
            table.add_row(*map(cell, row))
    Console(width=None if sys.stdout.isatty() else width, highlight=False).print(table, markup=False)
