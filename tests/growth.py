"""How what takes the processor's time grows with its input: a ratio, which a slow or a busy machine does not change."""

import time
from collections.abc import Callable, Iterable
from typing import Any

#: An input is doubled so often.
DOUBLINGS = 3
TIMES = 2**DOUBLINGS
#: What is linear takes eight times as long, what is quadratic 64 times: the bound is their geometric mean.
MOST = TIMES**1.5
#: Seconds of the processor that are nothing, whatever they grew from.
LEAST = 0.0005
TRIES = 5


def cpu_of(function: Callable[[], Any]) -> float:
    """The time of the processor that this thread needs for a call."""
    began = time.thread_time()
    function()
    return time.thread_time() - began


def is_linear(short: Iterable[float], long: Iterable[float], least: float = LEAST) -> bool:
    """Whether times for an input and for one eight times as long show no more than linear growth, at one try or another."""
    return min(long) < MOST * max(min(short), least)


def worse_than_linear(act: Callable[[Any], Any], inputs: dict[str, Callable[[int], Any]], size: int) -> dict[str, str]:
    """Those of *inputs*, functions that make an input of a size, on which *act* takes more than linear time, and how much."""
    found = {}
    for name, make in inputs.items():
        short: list[float] = []
        long: list[float] = []
        # Another text at each try: what was met is remembered in places.
        for attempt in range(TRIES):
            small, large = make(size + attempt), make(TIMES * (size + attempt))
            long.append(cpu_of(lambda text=large: act(text)))  # type: ignore[misc]
            if is_linear(short or [0], long):
                break
            short.append(cpu_of(lambda text=small: act(text)))  # type: ignore[misc]
            if is_linear(short, long):
                break
        else:
            found[name] = f"{min(short) * 1000:.1f} ms -> {min(long) * 1000:.1f} ms"
    return found
