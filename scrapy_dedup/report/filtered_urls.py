"""Rows of the ledger, in words and as JSON has them, the latest of them as far as a page can hold them, and what became of rules."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..learning.phrases import moment
from ..rules.canonical import NORMAL_FORM
from ..store.ledger_queries import LedgerFilter, ledger_rows
from ..store.rows import RULES, DiscardState

if TYPE_CHECKING:
    from ..rules.book import RuleBook
    from ..store.rows import DiscardRow
    from ..store.store import Store

#: Rows that the report has, and characters of their URLs: the file is to be opened in a browser.
MOST_ROWS: Final = 20_000
_MOST_TEXT: Final = 5_000_000
#: Filtered URLs of a rule that is gone that tell what is in its place.
_LOOKED_AT: Final = 20

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


def latest_rows(store: "Store", asked: LedgerFilter) -> "list[DiscardRow]":
    """Return the latest rows that are asked for, as many as the report has. Raises StoreError."""
    rows: list[DiscardRow] = []
    left = _MOST_TEXT
    for row in ledger_rows(store, asked, MOST_ROWS):
        left -= len(row.url) + len(row.taken_for)
        if left < 0:
            break
        rows.append(row)
    return rows


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


def successors_of(rows: "Iterable[DiscardRow]", book: "RuleBook") -> dict[tuple[str, str], tuple[str, ...]]:
    """Return (site, id) of each rule that is gone -> ids of the rules that filter most of the same URLs now, if any do."""
    known: dict[str, set[str]] = {}
    found: defaultdict[tuple[str, str], list[DiscardRow]] = defaultdict(list)
    for row in rows:
        if row.site not in known:
            known[row.site] = {NORMAL_FORM, *(rule.id for rule in book.for_site(row.site))}
        if row.rule not in known[row.site]:
            some = found[row.site, row.rule]
            if len(some) < _LOOKED_AT:
                some.append(row)
    return {rule: _successors(some, book) for rule, some in found.items()}


def _successors(rows: "list[DiscardRow]", book: "RuleBook") -> tuple[str, ...]:
    counts: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        if row.taken_for:
            one, two = book.canonical(row.url), book.canonical(row.taken_for)
            counts[one.filtering_rules(two) if one.key == two.key else ()] += 1
    successors = counts.most_common(1)[0][0] if counts else ()
    return tuple(rule for rule in successors if rule != NORMAL_FORM)


def fate_of(rule: tuple[str, str], successors: Mapping[tuple[str, str], tuple[str, ...]]) -> str:
    """Return in words what became of a rule that is gone; "" for any other.

    >>> fate_of(("a.test", "0badcafe"), {("a.test", "0badcafe"): ("f00dcafe",)})
    'replaced by f00dcafe'
    >>> fate_of(("a.test", "0badcafe"), {("a.test", "0badcafe"): ()}), fate_of(("a.test", "f00dcafe"), {})
    ('no longer there', '')
    """
    if rule not in successors:
        return ""
    return f"replaced by {' and '.join(successors[rule])}" if successors[rule] else "no longer there"
