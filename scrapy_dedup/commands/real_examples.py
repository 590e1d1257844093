"""Pairs of URLs that a rule makes one, as crawls met them: rule files show the beginnings of values only."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from ..crawl.decide.filtering_rules import deciding_rules
from ..store.database import StoreError
from ..store.ledger_queries import LedgerFilter, ledger_rows
from ..store.page_queries import urls_of_same_text
from .observation_sources import open_store
from .problems import Nothing

if TYPE_CHECKING:
    from ..crawl.settings.dedup_settings import DedupSettings
    from ..rules.book import RuleBook
    from ..rules.model import Rule
    from ..store.store import Store

__all__ = ["marked_pair", "real_examples"]

#: Pages with several URLs that are looked at.
_MOST_PAGES: Final = 2_000
_parts = re.compile(r"([/?&=;.,#:])").split


def real_examples(settings: "DedupSettings", book: "RuleBook", rule: "Rule", limit: int = 2) -> list[tuple[str, str]]:
    """Return pairs of URLs of the store that a rule makes one; none where there is no store.

    What the rule has filtered comes first, then pages that were fetched under several URLs.
    """
    try:
        with open_store(settings) as store:
            pairs = _pairs(store, settings.scope, book, rule)
            return [pair for pair, _ in zip(pairs, range(limit), strict=False)]
    except (Nothing, StoreError):
        return []


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
    left, right = _parts(one), _parts(other)
    marked: tuple[list[str], list[str]] = ([], [])
    for tag, *bounds in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        start, end, other_start, other_end = bounds
        for texts, parts in ((marked[0], left[start:end]), (marked[1], right[other_start:other_end])):
            texts.append(_joined(parts, is_marked=tag != "equal"))
    return "".join(marked[0]), "".join(marked[1])


def _joined(parts: Sequence[str], *, is_marked: bool) -> str:
    text = "".join(parts)
    return f"⟦{text}⟧" if is_marked and text else text
