"""What a crawl finds when it opens is not looked through by the garbage collector while it runs.

A full collection looks at every object of the process, and a crawl has one after every hundred
responses or so. Most of what it looks at are modules, which never go away, and a third of these are the
plug-in's and its libraries'. Frozen, they cost nothing any more. When the last crawl of the process
has closed they are given back, so that nothing is kept longer than that.
"""

import gc
from typing import Final

__all__ = ["Frozen"]

#: Objects that Python may have frozen itself when it starts (3.12: some hundred); somebody else's are far more.
OF_PYTHON: Final = 2_000


class Frozen:
    """Freezes for as long as one of the crawls of the process is open."""

    _open = 0  # of the process: there is one collector
    _frozen = False

    def __init__(self) -> None:
        self._held = False

    def hold(self) -> None:
        """A crawl has opened. What somebody else has frozen is left alone."""
        if self._held:
            return
        self._held = True
        if not Frozen._open and hasattr(gc, "freeze") and gc.get_freeze_count() <= OF_PYTHON:
            gc.freeze()
            Frozen._frozen = True
        Frozen._open += 1

    def release(self) -> None:
        """The crawl has closed."""
        if not self._held:
            return
        self._held = False
        Frozen._open -= 1
        if not Frozen._open and Frozen._frozen:
            Frozen._frozen = False
            gc.unfreeze()
