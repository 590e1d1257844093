"""Waiting for what other threads and processes do: for events, never for a time."""

import time
from collections.abc import Callable

#: Seconds after which a test gives up waiting. Nothing takes as long, however busy the machine is; nothing is measured by it.
PATIENCE = 600.0


def wait_until(happened: Callable[[], object]) -> None:
    """Return as soon as *happened* returns something true. Raises AssertionError if it never does."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "what was waited for has not happened"
        time.sleep(0.005)
