"""What ``--check`` does: compare figures with their bounds and name each one that is missed."""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console


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
