"""The directories of rule files that a crawl reads and writes; where DEDUP_DIR cannot be written, one that goes with it."""

import logging
import shutil
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Spider

    from .dedup_settings import DedupSettings

logger = logging.getLogger(__name__)


class RuleDirectories:
    """Where rules are read from, and where learned ones are written."""

    def __init__(self, settings: "DedupSettings") -> None:
        self._settings = settings
        #: Where learned rules are written.
        self.learned: Path = settings.learned_directory
        #: Whether what the crawl learns cannot be saved.
        self.is_unwritable = False

    def open(self, spider: "Spider") -> None:
        """Look whether learned rules can be saved; if not, warn at once, and not after a long crawl.

        Rules that are used while the crawl goes on are then written into a folder that is removed at its close.
        """
        settings = self._settings
        problem = hindrance(self.learned) if settings.learns_any else None
        if problem is None:
            return
        self.is_unwritable = True
        what = "No rules will be learned when this crawl closes"
        if settings.learns_live:
            what = "The rules that this crawl learns will be lost when it closes"
            passing = Path(mkdtemp(prefix="dedup-rules-"))
            if self.learned.is_dir():  # with the rules of the user, and what was refuted
                shutil.copytree(self.learned, passing, dirs_exist_ok=True)
            self.learned = passing
        logger.warning(
            "%s: DEDUP_DIR is %s, which cannot be written (%s). "
            "Make it writable or name another directory, and run scrapy learn-rules, since what the crawl sees "
            'is recorded; DEDUP_LEARN = "off" silences this.',
            what,
            settings.learned_directory,
            problem,
            extra={"spider": spider},
        )

    @property
    def all(self) -> tuple[Path, ...]:
        """The directories that rules and masks are read from."""
        found = self._settings.rule_directories
        configured = self._settings.learned_directory
        if self.learned != configured:  # it began as a copy of that, and is newer
            found = tuple(path for path in found if path != configured)
        return found if self.learned in found or not self.learned.is_dir() else (*found, self.learned)

    def close(self) -> None:
        """Remove the folder that goes with the crawl, if there is one; it waits."""
        if self.learned != self._settings.learned_directory:
            shutil.rmtree(self.learned, ignore_errors=True)


def hindrance(directory: Path) -> str | None:
    """Return why no rule file can be written into *directory*, which need not exist; None if nothing is known.

    Permissions do not tell: root has them all, also where the file system takes no file. So one is made, which has
    no name or goes at once, in the folder that is there already.
    """
    for path in (directory, *directory.parents):
        try:
            if not path.exists():
                continue
            if not path.is_dir():
                return f"{path} is a file"
        except OSError as error:  # a folder further up that may not be searched, say
            return f"{path}: {error.strerror}"
        try:
            with TemporaryFile(dir=path):
                return None
        except OSError as error:
            return f"{path} is not writable: {error.strerror}"
    return None
