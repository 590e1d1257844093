"""Evidence side by side: pairs of real URLs that a rule makes one, with their stored pages."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from ..rules.canonical import NORMAL_FORM
from ..store.page_queries import versions_of_page
from .data import UrlPair
from .differences import marked_urls, text_diff

if TYPE_CHECKING:
    from ..masks.model import Mask
    from ..store.rows import DiscardRow
    from ..store.store import Store
    from .seen_pages import SeenPages

#: Pairs of a rule that are shown, and those that are looked at.
SHOWN: Final = 3
_LOOKED_AT: Final = 30

_Candidate = tuple[str, str]


def pairs_of_rules(
    store: "Store", scope: str, pages: "SeenPages", ledger: "Iterable[DiscardRow]", mask: "Mask | None"
) -> dict[str, tuple[UrlPair, ...]]:
    """Return id of a rule -> pairs of URLs of a site: those first of which both pages are stored. Raises StoreError.

    *ledger* are rows of the site.
    """
    stored = {url.url for url in pages.urls if url.version is not None}
    found: defaultdict[str, dict[_Candidate, None]] = defaultdict(dict)
    for rule, pair in (*_fetched(pages), *_filtered(ledger)):
        if len(found[rule]) < _LOOKED_AT:
            found[rule].setdefault(pair)
    return {
        rule: tuple(
            _pair(store, scope, pages.site, pair, mask)
            for pair in sorted(candidates, key=lambda pair: -sum(url in stored for url in pair))[:SHOWN]
        )
        for rule, candidates in found.items()
    }


def _fetched(pages: "SeenPages") -> Iterator[tuple[str, _Candidate]]:
    """Yield (rule, pair) of pages that were all fetched."""
    for group in pages.by_key.values():
        first = group[0]
        for other in islice(group, 1, SHOWN + 1):
            for rule in pages.keys[other.url].filtering_rules(pages.keys[first.url]):
                if rule != NORMAL_FORM:
                    yield rule, (first.url, other.url)


def _filtered(ledger: "Iterable[DiscardRow]") -> Iterator[tuple[str, _Candidate]]:
    for row in ledger:
        if row.taken_for and row.taken_for != row.url:
            yield row.rule, (row.taken_for, row.url)


def _pair(store: "Store", scope: str, site: str, urls: _Candidate, mask: "Mask | None") -> UrlPair:
    one, two = urls
    marked = marked_urls(one, two)
    versions = [versions_of_page(store, scope, site, url) for url in urls]
    if not all(versions):
        missing = "of neither page" if not any(versions) else f"of {two if versions[0] else one}"
        said = f"The store has no texts {missing}: it was not fetched, or is not among those that are kept."
        return UrlPair(one, two, *marked, said)
    (_, first), (_, second) = versions[0][0], versions[1][0]
    diff = text_diff(first, second, urls, mask)
    differing = sum(line.sign in ("-", "+") for line in diff)
    said = "Their texts are equal" if not differing else "Their texts differ"
    if any(piece.marked for line in diff for piece in line.pieces):
        said += ", transient content apart"
    return UrlPair(one, two, *marked, f"{said}.", diff)
