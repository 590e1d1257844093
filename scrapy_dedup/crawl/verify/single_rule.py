"""Discards by one rule alone: a sample of them decides which of several rules is wrong."""

from typing import TYPE_CHECKING, Final

from ...store.rows import DiscardRow
from ...store.store import Store
from ..decide.discards import deciding_rules

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from ..shared import Shared

#: Discards that are looked at.
MOST: Final = 2_000


def discards_of_one_rule(shared: "Shared", site: str, wanted: "AbstractSet[str]") -> dict[str, DiscardRow]:
    """Return a discard of each of the *wanted* rules that no other rule was needed for, where there is one.

    It waits for the store. Raises StoreError.
    """
    found: dict[str, DiscardRow] = {}
    if shared.writer is not None:
        shared.writer.flush()
    book = shared.identities.book
    with Store.open(shared.settings.store, readonly=True) as store:
        rows = store.discards(shared.settings.scope, spider=shared.spider.name, job=shared.seen.job)
        for number, row in enumerate(rows):
            if number >= MOST or len(found) == len(wanted):
                break
            if row.site != site:
                continue
            rules = deciding_rules(book, row.url, row.taken_for)
            if len(rules) == 1 and rules[0] in wanted and rules[0] not in found:
                found[rules[0]] = row
    return found
