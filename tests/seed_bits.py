"""Tokens of a page that lie on transient paths of the transient-content document, as bits."""

from scrapy_dedup.masks.published.changes import Bits, Changes
from scrapy_dedup.masks.published.token_table import TokenTable
from scrapy_dedup.masks.published.transient_paths import TransientPaths


def existing_bits(paths: TransientPaths, table: TokenTable) -> Bits:
    """Return a bit for each token of a page, set on a transient path, whether it changed or not (FIG. 7, stages 715 and 720)."""
    roots = tuple(f"{path}/" for path in paths.paths)
    return tuple([f"{table.path(node)}/".startswith(roots) for node in table.nodes])


def verified_bits(paths: TransientPaths, changes: Changes) -> tuple[Bits, Bits]:
    """Return the bits of two versions of a page, set on the transient paths whose content changed there."""
    confirmed = paths.changed(changes)
    return existing_bits(confirmed, changes.first), existing_bits(confirmed, changes.second)
