"""Pairs of URLs that a rule makes one, as crawls met them: rule files show the beginnings of values only."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from ...crawl.decide.filtering_rules import deciding_rules
from ...report.data import Piece
from ...report.url_pairs import marked_urls
from ...store.ledger_queries import LedgerFilter, ledger_rows
from ...store.page_queries import urls_of_same_text

if TYPE_CHECKING:
    from ...rules.book import RuleBook
    from ...rules.model import Rule
    from ...store.store import Store

__all__ = ["marked_pair", "real_examples"]

#: Pages with several URLs that are looked at.
_MOST_PAGES: Final = 2_000
#: Pairs that are shown.
_SHOWN: Final = 2


def real_examples(store: "Store", scope: str, book: "RuleBook", rule: "Rule") -> list[tuple[str, str]]:
    """Return pairs of URLs of the store that a rule makes one. Raises StoreError.

    What the rule has filtered comes first, then pages that were fetched under several URLs.
    """
    return list(islice(_pairs(store, scope, book, rule), _SHOWN))


def _pairs(store: "Store", scope: str, book: "RuleBook", rule: "Rule") -> Iterator[tuple[str, str]]:
    for row in ledger_rows(store, LedgerFilter(scope, [rule.site], rule=rule.id), 10):
        if row.taken_for:
            yield row.url, row.taken_for
    for urls in urls_of_same_text(store, scope, rule.site, _MOST_PAGES):
        first, *others = urls
        for other in others:
            one = book.canonical_key(first) == book.canonical_key(other)
            if one and rule.id in deciding_rules(book, first, other):
                yield first, other
                break


def marked_pair(one: str, other: str) -> tuple[str, str]:
    """Return two URLs, the parts that differ between ⟦ and ⟧.

    >>> marked_pair("http://a.test/p?id=7&sid=1f", "http://a.test/p?id=7&sid=2e")
    ('http://a.test/p?id=7&sid=⟦1f⟧', 'http://a.test/p?id=7&sid=⟦2e⟧')
    """
    left, right = marked_urls(one, other)
    return _joined(left), _joined(right)


def _joined(pieces: Iterable[Piece]) -> str:
    return "".join(f"⟦{piece.text}⟧" if piece.marked else piece.text for piece in pieces)
