"""How times grow with sizes."""

import math
from collections.abc import Sequence


def slope(costs: Sequence[tuple[float, float]]) -> float | None:
    """Return the slope of log(seconds) over log(size), by least squares; None for a single size.

    1 is linear: ten times the size takes ten times as long.
    """
    if len(costs) < 2:
        return None
    points = [(math.log(size), math.log(max(seconds, 1e-9))) for size, seconds in costs]
    x, y = (sum(values) / len(values) for values in zip(*points, strict=True))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
