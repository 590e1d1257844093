"""How much work something is, counted and not timed: the same on every machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def work_of(function: Callable[[], Any], within: str = "") -> int:
    """Return the number of lines that are run while *function* is called, in files whose path has *within* in it."""
    lines = 0

    def count(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        if within not in frame.f_code.co_filename:
            return None
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        function()
    finally:
        sys.settrace(before)
    return lines
