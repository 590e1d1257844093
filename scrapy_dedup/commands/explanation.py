"""What ``scrapy explain-url`` prints for a URL."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .wording import condition_of, evidence_of, operations_of

if TYPE_CHECKING:
    from ..rules.book import Explanation, RuleBook
    from ..rules.model import Rule


def print_explanations(book: "RuleBook", urls: Iterable[str]) -> None:
    """Print, for each URL, its keys and values, the rules that match, and its canonical key."""
    console = Console(highlight=False, soft_wrap=True)
    for number, url in enumerate(urls):
        if number:
            console.print()
        for line in _lines(book.explain(url)):
            console.print(line, markup=False)


def _lines(explanation: "Explanation") -> Iterable[Text | Table]:
    yield Text(explanation.url, style="bold")
    yield Text(f"site           {explanation.site or 'none: this is no absolute URL'}")
    yield Text(f"normal form    {explanation.normal_form}")
    yield Text(f"canonical key  {explanation.key}")
    table = Table(show_edge=False, box=None, pad_edge=False, padding=(0, 2))
    table.add_column("key")
    table.add_column("value")
    for key, value in explanation.values.items():
        table.add_row(Text(key), Text("(no value)" if value is None else value or '""'))
    yield table
    if not explanation.rules:
        yield Text("no rule matches: the canonical key is the normal form")
    for rule in explanation.rules:
        yield from _rule_lines(rule)


def _rule_lines(rule: "Rule") -> Iterable[Text]:
    yield Text(f"rule {rule.id} ({rule.status})", style="bold")
    yield Text(f"  does      {operations_of(rule)}")
    yield Text(f"  where     {condition_of(rule)}")
    yield Text(f"  evidence  {evidence_of(rule.evidence)}")
    for one, other in rule.evidence.examples if rule.evidence else ():
        yield Text(f"  example   {one}\n            {other}")
    if rule.note:
        yield Text(f"  note      {rule.note}")
