"""The folder that a crawl writes learned rules into: the one that is set, or one that goes with the crawl."""

import logging
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from .learner import hindrance

if TYPE_CHECKING:
    from ..shared import Shared

logger = logging.getLogger(__name__)


def learned_directory(shared: "Shared", *, live: bool) -> Path:
    """Return the folder, *live* if rules are used while the crawl goes on.

    What it teaches may have no place to be saved: that is told at once, and not after a long crawl.
    """
    settings = shared.settings
    directory = settings.learned_directory
    problem = hindrance(directory) if settings.learns_any else None
    if problem is None:
        return directory
    what = "No rules will be learned when this crawl closes"
    if live:
        what = "The rules that this crawl learns will be lost when it closes"
        passing = Path(mkdtemp(prefix="dedup-rules-"))
        if directory.is_dir():  # with the rules of the user, and what was refuted
            shutil.copytree(directory, passing, dirs_exist_ok=True)
        directory = passing
    shared.unsaved = True
    logger.warning(
        "%s: DEDUP_DIR is %s, which cannot be written (%s). "
        "Make it writable or name another directory, and run scrapy learn-rules, since what the crawl sees "
        'is recorded; DEDUP_LEARN = "off" silences this.',
        what,
        settings.learned_directory,
        problem,
        extra={"spider": shared.spider},
    )
    return directory
