"""Access to a store that may fail: opened when it is needed, and tried again after a pause."""

import logging
import time
from collections.abc import Callable
from pathlib import Path

from .database import StoreError
from .store import Store

logger = logging.getLogger(__name__)

_LOCK_WAIT = 1.0  # seconds that the database itself waits for another writer
_LOCK_PATIENCE = 30.0  # seconds of waiting for other writers before a warning
_LONGEST_PAUSE = 30.0  # seconds between two attempts on a store that fails


class StoreAccess:
    """The store of the writing thread, opened as :meth:`Store.open` says."""

    def __init__(self, target: str | Path, sketches_per_site: int, patience: Callable[[], float]) -> None:
        self._target = target
        self._patience = patience
        self._sketches_per_site = sketches_per_site
        self._store: Store | None = None
        self._locked_since = 0.0
        self._recovered = False
        #: Whether the warning that the store cannot be written was given. It and the news of the recovery come once: a full
        #: disk comes and goes.
        self.warned = False
        #: Seconds between attempts while the store fails, else 0, and the ``time.monotonic()`` of the next one.
        self.pause = 0.0
        self.retry_at = 0.0

    def store(self) -> Store:
        """Return the store, opened anew where its file has vanished. Raises :exc:`StoreError`."""
        if self._store is not None and not self._store.intact():
            self.close()
        if self._store is None:
            self._store = Store.open(
                self._target,
                timeout=_LOCK_WAIT,
                sketches_per_site=self._sketches_per_site,
                patience=self._patience,
            )
        return self._store

    def failed(self, error: StoreError) -> None:
        """Warn once, and set the time of the next attempt. A lock is waited for without a warning at first."""
        now = time.monotonic()
        if error.locked:
            self._locked_since = self._locked_since or now
            if now - self._locked_since < _LOCK_PATIENCE:
                return
        else:
            self.close()
        self.pause = min(max(2 * self.pause, 1.0), _LONGEST_PAUSE)
        self.retry_at = now + self.pause
        if not self.warned:
            self.warned = True
            logger.warning(
                "The crawl goes on, but what it sees is not recorded: %s Until it is, rules filter nothing.", error
            )

    def succeeded(self) -> None:
        """Note that the store was written."""
        if self.warned and not self._recovered and self._store is not None:
            self._recovered = True
            logger.info("The store %s can be written again", self._store.place)
        self.pause = self._locked_since = 0.0

    def close(self) -> None:
        """Close the store; it is opened again when it is needed."""
        if self._store is not None:
            self._store.close()
            self._store = None
