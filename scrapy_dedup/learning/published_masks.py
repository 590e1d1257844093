"""The mask of a site by the transient-content document's method, from the token tables that a store keeps of its pages."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..content.versions import Version
from ..masks.css_xpath import SUBTREE_SUFFIX
from ..masks.learning.published_mask import PublishedMask, counts_of, mask_of_counts
from ..masks.model import Mask
from ..masks.published.thresholds import Thresholds
from ..masks.published.token_table import TokenTable, unpacked_table
from ..masks.published.transient_paths import PathCounts
from .phrases import counted


def published_mask_of(
    pages: Iterable[Sequence[Version]], before: Mask | None, *, site: str, thresholds: Thresholds
) -> tuple[Mask | None, str]:
    """Return the mask of a site, or None, and a note on it, or "".

    *pages* are the versions of each page in order of time; those that were recorded without a table say nothing. What the
    user said *before* stays, and what this method learned then does of paths that no page has now. Where no page has
    two tables, the mask of before stays as it is, whichever method has learned it.
    """
    pages = list(pages)
    found = mask_of_counts((_counts(versions, thresholds) for versions in pages), thresholds, site)
    if not found.pages:
        note = (
            f"transient content: {counted(len(pages), 'page')} seen more than once, and none of them twice while it was"
        )
        return before, f'{note} recorded with DEDUP_TRANSIENT_METHOD = "seed"; crawl again' if pages else ""
    note = ""
    if found.restructured:
        note = (
            f"transient content: more than {thresholds.max_share:g} of all paths changed, as in a redesign, so that none is "
            "transient (DEDUP_TRANSIENT_MAX_SHARE)"
        )
    mask = _with_previous(found, before) if before is not None else found.mask
    return (mask if mask.paths or before is not None else None), note


def _counts(versions: Iterable[Version], thresholds: Thresholds) -> list[PathCounts]:
    """Return what each two versions of a page say, one after the other; a damaged table is as none."""
    found: list[PathCounts] = []
    table: TokenTable | None = None  # that of the version before, where it was needed
    before: Version | None = None
    for version in versions:
        if not version.table:
            continue
        # A page is learned again and again, and nearly all of its versions were compared then.
        key = "seed", version.table, thresholds.max_marked, thresholds.max_path
        if before is not None and key in before.compared:
            found.append(before.compared[key])
            table = None
        else:
            second = _unpacked(version)
            if second is None:
                continue
            if before is not None:
                first = table if table is not None else unpacked_table(before.table)
                before.compared[key] = counts_of(first, second, thresholds)
                found.append(before.compared[key])
            table = second
        before = version
    return found


def _unpacked(version: Version) -> TokenTable | None:
    try:
        return unpacked_table(version.table)
    except ValueError:
        return None


def _with_previous(found: PublishedMask, before: Mask) -> Mask:
    said = [path for path in before.paths if path.state]
    known = {path.key for path in said}
    fresh = [path for path in found.mask.paths if path.key not in known]
    stale = [
        path
        for path in before.paths
        if before.mode == "seed"
        and not path.state
        and path.selector.removesuffix(SUBTREE_SUFFIX) not in found.tables.subtrees
    ]
    return replace(found.mask, paths=(*said, *fresh, *stale), site=found.mask.site or before.site)
