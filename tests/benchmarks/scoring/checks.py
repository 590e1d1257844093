"""What ``--check`` does: compare figures with their bounds and name each one that is missed."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Check:
    """A figure with its bound: it must be at least ``least``, and at most ``most``."""

    name: str
    value: float | None
    least: float | None = None
    most: float | None = None

    @property
    def holds(self) -> bool:
        """True when the figure is there and inside its bounds."""
        if self.value is None:
            return False
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    def __str__(self) -> str:
        bounds = []
        if self.least is not None:
            bounds.append(f"at least {self.least:g}")
        if self.most is not None:
            bounds.append(f"at most {self.most:g}")
        value = "no figure" if self.value is None else f"{self.value:.4g}"
        return f"{self.name}: {value}, must be {' and '.join(bounds)}"


def report(checks: Iterable[Check]) -> int:
    """Print which checks are missed, on standard error; the exit code (0: all hold)."""
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    checks = list(checks)
    missed = [check for check in checks if not check.holds]
    for check in missed:
        console.print(f"MISSED  {check}", style="bold red", markup=False)
    if not missed:
        console.print(f"all {len(checks)} figures hold", style="green")
    return 1 if missed else 0


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
