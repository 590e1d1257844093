"""Kinds of aliases, and aliases, for the terminal."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from ...rules.alias_kinds import AliasKinds
from ...rules.model import ALIAS
from ...rules.operations import Anchored
from ...rules.wording import condition_of

if TYPE_CHECKING:
    from ...rules.book import RuleBook
    from ...rules.model import Rule
    from ...store.store import Store


def kinds_table(rules: "Iterable[Rule]") -> Table:
    """Return the table of kinds of aliases, those that act first."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for name in ("id", "status", "a URL is the page that", "where"):
        table.add_column(name, overflow="fold")
    for name in ("pages", "against", "URLs"):
        table.add_column(name, justify="right")
    for rule in sorted(rules, key=lambda rule: (not rule.status.acts, rule.id)):
        evidence = rule.evidence
        counts = (evidence.groups, evidence.counterexamples, evidence.urls) if evidence else ("", "", "")
        table.add_row(rule.id, str(rule.status.value), said_of(rule), condition_of(rule.match), *map(str, counts))
    return table


def said_of(rule: "Rule") -> str:
    """Return what a kind says of its URLs, in words."""
    said = []
    for key, operation in rule.ops.items():
        name = key.removeprefix(ALIAS)
        if isinstance(operation, Anchored):
            on = f" and looks like {' or '.join(operation.pages)}" if operation.pages else ""
            said.append(f'holds id="{operation.prefix}N"{on}, by {name} = {operation.lead}N')
        else:
            said.append(f"declares it as {name}")
    return "; ".join(said)


class KnownAliases:
    """The aliases that a store holds, read for each site when it is first asked for."""

    def __init__(self, store: "Store", scope: str, book: "RuleBook") -> None:
        self._store = store
        self._scope = scope
        self._book = book
        self._sites: dict[str, dict[str, str]] = {}

    def page_of(self, site: str, key: str) -> str | None:
        """Return the page, by its canonical key, that the canonical key of a URL of *site* is an alias of. Raises StoreError."""
        if site not in self._sites:
            self._sites[site] = self._read(site)
        return self._sites[site].get(key)

    def _read(self, site: str) -> dict[str, str]:
        from ...learning.alias_learning import aliases_in

        if not AliasKinds(self._book.for_site(site)):
            return {}
        return aliases_in(self._store, site, self._book, scope=self._scope)


def alias_lines(book: "RuleBook", page: str | None, site: str, key: str) -> Iterator[str]:
    """Yield what is to be said of the aliases of a URL with the canonical key *key*, which may be an alias of a *page*."""
    from ...rules.predicates import rule_matches
    from ...urls import values_of

    if page is not None:
        yield f"alias of       {page} (seen in the last crawl of that page; it holds for one crawl)"
    values = values_of(key, groups=book.groups)
    for rule in book.for_site(site):
        if rule.is_alias and rule.match and rule_matches(rule.match, values):
            yield f"kind {rule.id} ({rule.status.value}): a URL like this is the page that {said_of(rule)}"
