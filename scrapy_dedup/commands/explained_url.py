"""What ``scrapy dedup explain`` prints for a URL."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.text import Text

from ..rules.wording import condition_of, operations_of
from .aliases import KnownAliases, alias_lines
from .console import plain_console, print_json
from .wording import evidence_of

if TYPE_CHECKING:
    from ..rules.book import RuleBook
    from ..rules.explanation import Explanation
    from ..rules.model import Rule
    from ..rules.operations import Operation

NO_TEXT = '""'
NOTHING_DONE = "nothing: the URL has none of these keys, they have other values, or another rule comes first"


def print_explanations(book: "RuleBook", urls: Iterable[str], known: "KnownAliases | None" = None) -> None:
    """Print, for each URL, its keys and values, the rules that match, and its canonical key.

    *known* tells which URLs are aliases of a page.
    """
    console = plain_console(soft_wrap=True)
    for number, url in enumerate(urls):
        if number:
            console.print()
        explanation = book.explain(url)
        for line in _lines(explanation):
            console.print(line)
        for text in alias_lines(book, known, explanation.site, explanation.key):
            console.print(text)


def print_explanations_as_json(book: "RuleBook", urls: Iterable[str], known: "KnownAliases | None" = None) -> None:
    """Print, for each URL, a line of JSON with what :func:`print_explanations` prints."""
    for url in urls:
        explanation = book.explain(url)
        rules = [{**rule.to_dict(), "did": list(used)} for rule, used in explanation.rules]
        print_json(
            {
                "type": "url",
                "url": url,
                "site": explanation.site,
                "normal_form": explanation.normal_form,
                "key": explanation.key,
                "values": explanation.values,
                "rules": rules,
                "alias_of": known.page_of(explanation.site, explanation.key) if known is not None else None,
            }
        )


def _lines(explanation: "Explanation") -> Iterable[Text]:
    yield Text(explanation.url, style="bold")
    yield Text(f"site           {explanation.site or 'none: this is no absolute URL'}")
    yield Text(f"normal form    {explanation.normal_form}")
    yield Text(f"canonical key  {explanation.key}")
    width = max(map(len, explanation.values), default=0)
    for key, value in explanation.values.items():
        yield Text(f"  {key:<{width}}  {'(no value)' if value is None else value or NO_TEXT}")
    if not explanation.rules:
        yield Text("no rule matches: the canonical key is the normal form")
    for rule, used in explanation.rules:
        yield from _rule_lines(rule, used)


def _rule_lines(rule: "Rule", used: "Mapping[str, Operation]") -> Iterable[Text]:
    yield Text(f"rule {rule.id} ({rule.status})", style="bold")
    yield Text(f"  says      {operations_of(rule.ops)}")
    yield Text(f"  where     {condition_of(rule.match)}")
    yield Text(f"  did here  {operations_of(used) or NOTHING_DONE}")
    yield Text(f"  evidence  {evidence_of(rule.evidence)}")
    for one, other in rule.evidence.examples if rule.evidence else ():
        yield Text(f"  example   {one}\n            {other}")
    if rule.note:
        yield Text(f"  note      {rule.note}")
