"""A mask as the transient-content document makes it: from its transient paths, applied wherever they exist.

(Paragraphs on FIG. 2, FIG. 3, FIG. 6 and FIG. 7; the work is done in :mod:`scrapy_dedup.masks.published.changes` and
:mod:`scrapy_dedup.masks.published.transient_paths`.) It knows neither kinds of pages nor how sure it is: ``confidence`` is the share of
the tokens of a path that had changed, of a path that was promoted that of its children's.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..css_xpath import SUBTREE_SUFFIX
from ..model import Mask
from ..path import TransientPath
from ..published.changes import changes_of
from ..published.thresholds import Thresholds
from ..published.token_table import TokenTable, token_table
from ..published.transient_paths import PathCounts, PathTables, path_counts, transient_paths

__all__ = ["PublishedMask", "counts_of", "mask_of_counts", "published_mask"]


class PublishedMask(NamedTuple):
    """The document's mask of a site, and what it rests on."""

    mask: Mask
    #: Those of FIG. 3.
    tables: PathTables
    #: Whether more paths would be transient than *max_share* allows, so that none is.
    restructured: bool
    #: Pages of which two versions or more were compared.
    pages: int


def published_mask(
    versions: Mapping[str, Sequence[str]], *, site: str = "", thresholds: Thresholds | None = None
) -> Mask:
    """Return the document's mask of a site from versions of its pages, as HTML, in order of time."""
    chosen = thresholds or Thresholds()
    pages = ([token_table(html) for html in versions[page]] for page in sorted(versions))
    return mask_of_counts(([counts_of(*pair, chosen) for pair in pairwise(page)] for page in pages), chosen, site).mask


def counts_of(first: TokenTable, second: TokenTable, thresholds: Thresholds) -> PathCounts:
    """Return what two versions of a page say of paths."""
    return path_counts(changes_of(first, second, max_marked=thresholds.max_marked), thresholds.max_path)


def mask_of_counts(pages: Iterable[Sequence[PathCounts]], chosen: Thresholds, site: str = "") -> PublishedMask:
    """Return the document's mask of a site from what each two versions of its pages say, one after the other, page by page."""
    tables = PathTables(chosen.max_path)
    compared = 0
    for page in pages:
        compared += bool(page)
        for counts in page:
            tables.add_counts(counts)
    found = transient_paths(tables, threshold=chosen.threshold, max_share=chosen.max_share)
    paths = []
    for path in sorted(found.paths):
        changes, opportunities = found.evidence[path]
        share = round(changes / opportunities, 3)
        paths.append(
            TransientPath(
                path + SUBTREE_SUFFIX, confidence=share, pages=compared, changes=changes, opportunities=opportunities
            )
        )
    return PublishedMask(Mask(site, tuple(paths), "seed"), tables, found.restructured, compared)
