"""Tokens of a page that lie on transient paths of the transient-content document, as bits."""

from collections.abc import Collection

from scrapy_dedup.masks.selectors import css_of
from scrapy_dedup.masks.token_changes import Changes, Options, TokenTable, changed_paths, changes_of, token_table


def changes_between(first: str, second: str, *, max_marked: float = 0.5) -> Changes:
    """Compare two versions of a page, given as HTML."""
    return changes_of(token_table(first), token_table(second), Options(max_marked=max_marked))


def path_of(table: TokenTable, entry: int) -> str:
    """Return the path of a token, "" at the top."""
    return table.named(Options().max_path)[table.paths[entry]] if table.paths[entry] >= 0 else ""


def existing_bits(paths: Collection[str], table: TokenTable) -> list[bool]:
    """Return a bit for each token of a page, set on a transient path, whether it changed or not (FIG. 7, stages 715 and 720)."""
    roots = tuple(f"{path}/" for path in paths)
    return [f"{path_of(table, entry)}/".startswith(roots) for entry in range(len(table.fingerprints))]


def verified_bits(paths: Collection[str], first: str, second: str) -> list[list[bool]]:
    """Return the bits of two versions of a page, set on the transient paths whose content changed there."""
    by_css = {css_of(path, "*"): path for path in paths}
    confirmed = [by_css[css] for css in changed_paths(first, second, by_css)]
    return [existing_bits(confirmed, token_table(html)) for html in (first, second)]
