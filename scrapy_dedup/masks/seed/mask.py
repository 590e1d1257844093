"""A mask as the transient-content document makes it: from its transient paths, applied wherever they exist.

(Paragraphs on FIG. 2, FIG. 3, FIG. 6 and FIG. 7; the work is done in :mod:`scrapy_dedup.masks.seed.changes` and
:mod:`scrapy_dedup.masks.seed.paths`.) It knows neither kinds of pages nor how sure it is: ``confidence`` is the share of
the tokens of a path that had changed.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from ..model import Mask, TransientPath
from ..queries import BELOW
from .changes import changes_between
from .paths import PathTables, transient_paths

__all__ = ["seed_mask"]


def seed_mask(versions: Mapping[str, Sequence[str]], *, site: str = "", threshold: float = 0.5) -> Mask:
    """Return the document's mask of a site from versions of its pages, in order of time.

    *threshold* is the document's T: the share of the tokens on a path, in any version of any page, that must have
    changed.
    """
    tables = PathTables()
    pages = 0
    for page in sorted(versions):
        pages += len(versions[page]) > 1
        for first, second in pairwise(versions[page]):
            tables.add(changes_between(first, second))
    paths = []
    for path in sorted(transient_paths(tables, threshold=threshold).paths):
        changes, opportunities = tables.marked_subtrees[path], tables.subtrees[path]
        share = round(changes / opportunities, 3)
        paths.append(
            TransientPath(path + BELOW, confidence=share, pages=pages, changes=changes, opportunities=opportunities)
        )
    return Mask(site, tuple(paths), "seed")
