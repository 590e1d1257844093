"""Rows of the ledger, in words and as JSON has them, and the latest of them as far as a page can hold them."""

from typing import TYPE_CHECKING, Any, Final

from ..learning.phrases import moment
from ..store.ledger_queries import LedgerFilter, ledger_count, ledger_rows
from ..store.rows import RULES, DiscardState
from .data import LedgerShown

if TYPE_CHECKING:
    from ..store.rows import DiscardRow
    from ..store.store import Store

#: Rows that the report has, and characters of their URLs: the file is to be opened in a browser.
MOST_ROWS: Final = 20_000
_MOST_TEXT: Final = 5_000_000

#: What became of a filtered request, in words.
BECAME: Final = {
    DiscardState.PENDING: "filtered",
    DiscardState.REPLAYED: "fetched after all: its rule was refuted",
    DiscardState.RELEASED: "fetched after all: the page it was taken for failed",
    DiscardState.SAMPLED: "fetched as a spot check",
    DiscardState.DIFFERING: "fetched as a spot check: it is another page",
    DiscardState.OWED: "to be fetched in the next crawl: its rule was refuted",
    DiscardState.LOST: "scheduled after all, and lost when the crawl was killed",
}


def latest_rows(store: "Store", asked: LedgerFilter) -> LedgerShown:
    """Return the latest rows that are asked for, as many as the report has. Raises StoreError."""
    rows: list[DiscardRow] = []
    left = _MOST_TEXT
    for row in ledger_rows(store, asked, MOST_ROWS):
        left -= len(row.url) + len(row.taken_for)
        if left < 0:
            break
        rows.append(row)
    return LedgerShown(tuple(rows), ledger_count(store, asked))


def rules_of(row: "DiscardRow") -> tuple[str, ...]:
    """Return the ids of the rules by which a URL was taken for another, as far as the ledger has them."""
    return tuple((row.meta or {}).get(RULES) or (row.rule,))


def record_of(row: "DiscardRow") -> dict[str, Any]:
    """Return a row of the ledger as JSON has it."""
    return {
        "url": row.url,
        "site": row.site,
        "rule": row.rule,
        "taken_for": row.taken_for,
        "key": row.key,
        "time": moment(row.time),
        "spider": row.spider,
        "callback": row.callback,
        "state": row.state.value,
    }
