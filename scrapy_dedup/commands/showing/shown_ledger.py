"""What ``scrapy dedup ledger`` shows: filtered URLs, and how many each rule has filtered."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from ...learning.phrases import counted, moment
from ...report.filtered_urls import BECAME, fate_of, record_of, successors_of
from ...store.ledger_queries import LedgerFilter, ledger_by_rule, ledger_count, ledger_rows
from ..console import print_json, print_lines, table

if TYPE_CHECKING:
    from ...rules.book import RuleBook
    from ...store.rows import DiscardRow
    from ...store.store import Store


def print_rules(store: "Store", asked: LedgerFilter, book: "RuleBook", *, json: bool) -> bool:
    """Print how many URLs each rule has filtered, and what became of the rule; return whether any has. Raises StoreError."""
    counts = ledger_by_rule(store, asked)
    gone = successors_of(ledger_rows(store, asked, None), book) if counts else {}
    states = {
        count: fate_of((count.site, count.rule), gone) or _status(book, count.site, count.rule) for count in counts
    }
    if json:
        for count in counts:
            replaced = {"replaced_by": list(gone[count.site, count.rule])} if (count.site, count.rule) in gone else {}
            about = {"site": count.site, "rule": count.rule, "urls": count.urls}
            times = {"first": moment(count.first), "last": moment(count.last)}
            now = "gone" if replaced else states[count].partition(",")[0]
            print_json({"type": "rule", **about, **times, "now": now, **replaced})
    elif counts:
        rows = [
            (count.site, count.rule, count.urls, moment(count.first), moment(count.last), states[count])
            for count in counts
        ]
        names = "site", "rule", "URLs", "first", "last", "now"
        print_lines(table(names, rows, right=("URLs",), whole=("rule", "first", "last")))
    return bool(counts)


def _status(book: "RuleBook", site: str, name: str) -> str:
    """Return the status of a rule that is there; the normal form acts always."""
    return next((rule.status.value for rule in book.for_site(site) if rule.id == name), "active")


def print_rows(store: "Store", asked: LedgerFilter, limit: int | None, *, json: bool) -> bool:
    """Print what is known of each filtered URL, a line of JSON, or a line for each part; return whether there is any.

    Raises StoreError.
    """
    row = None
    for row in ledger_rows(store, asked, limit):
        if json:
            print_json({"type": "filtered", **record_of(row)})
        else:
            print_lines(Text(row.url, style="bold"), *map(Text, said_of(row)))
    return row is not None


def print_table(store: "Store", asked: LedgerFilter, limit: int | None) -> bool:
    """Print a table of the filtered URLs; return whether there is any. Raises StoreError."""
    rows = list(ledger_rows(store, asked, limit))
    if not rows:
        return False
    shown = [(moment(row.time), row.rule, row.url, row.taken_for, BECAME[row.state]) for row in rows]
    print_lines(table(("when", "rule", "URL", "taken for", "what became of it"), shown, whole=("when", "rule")))
    if (more := ledger_count(store, asked) - len(rows)) > 0:
        print(f"and {counted(more, 'URL')} more (--limit 0 shows all)")
    return True


def said_of(row: "DiscardRow") -> Iterator[str]:
    """Yield what is known of a filtered URL, line by line."""
    yield f"  when       {moment(row.time)}, by the spider {row.spider}"
    yield f"  rule       {row.rule} of {row.site}"
    yield f"  taken for  {row.taken_for or 'not known'}"
    yield f"  became     {BECAME[row.state]}"


def why_nothing(store: "Store", asked: LedgerFilter) -> str:
    """Return why no row is shown: a site or a rule that the ledger does not have, or else the other conditions."""
    counts = ledger_by_rule(store, LedgerFilter(asked.scope))
    sites = sorted({count.site for count in counts})
    if not counts:
        return "Nothing was filtered yet."
    if asked.sites and not set(asked.sites) & set(sites):
        return f"Nothing was filtered of {', '.join(asked.sites)}; it was of: {', '.join(sites)}"
    rules = sorted({count.rule for count in counts if not asked.sites or count.site in asked.sites})
    if asked.rule is not None and not any(rule.startswith(asked.rule) for rule in rules):
        return f"Nothing was filtered by a rule {asked.rule}; it was by: {', '.join(rules)}"
    return "Nothing was filtered that is asked for."
