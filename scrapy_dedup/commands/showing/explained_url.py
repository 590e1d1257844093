"""What ``scrapy dedup explain`` prints for a URL."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from rich.text import Text

from ...crawl.decide.filtering_rules import deciding_rules
from ...learning.evidence_phrases import evidence_of
from ...learning.phrases import moment
from ...report.filtered_urls import record_of
from ...report.seen_pages import marked_urls
from ...rules.alias_kinds import AliasKinds
from ...rules.model import Status
from ...rules.predicates import rule_matches
from ...rules.wording import condition_of, operations_of
from ...store.database import StoreError
from ...store.errors import EMPTY
from ...store.ledger_queries import LedgerFilter, ledger_rows
from ...store.page_queries import urls_of_same_text
from ...urls import values_of
from ..console import print_json, print_long, with_marks
from ..observation_sources import open_store
from ..problems import Nothing
from .shown_ledger import said_of
from .summary import alias_words

if TYPE_CHECKING:
    from ...crawl.settings.dedup_settings import DedupSettings
    from ...rules.book import RuleBook
    from ...rules.explanation import Explanation, UnusedRules
    from ...rules.model import Rule
    from ...rules.operations import Operation
    from ...store.rows import DiscardRow
    from ...store.store import Store

T = TypeVar("T")

NO_TEXT: Final = '""'

_WHY_INACTIVE: Final = {
    Status.OFF: "you switched it off",
    Status.SUSPENDED: "it was refuted",
    Status.CANDIDATE: "too little evidence",
}
#: Other rules of the site that are shown.
MOST_UNMATCHED: Final = 5
#: Pages with several URLs that are looked at for examples of a rule, and pairs that are shown.
_MOST_PAGES: Final = 2_000
_EXAMPLES: Final = 2


class StoreAnswers:
    """What a store says of URLs and rules; nothing where there is none, as on a machine that has the rules only."""

    def __init__(self, store: "Store | None", scope: str, book: "RuleBook") -> None:
        self._store = store
        self._scope = scope
        self._book = book
        #: Site -> canonical key of an alias -> that of its page.
        self._aliases: dict[str, dict[str, str]] = {}
        self._examples: dict[str, list[tuple[str, str]]] = {}

    def _asked(self, question: "Callable[[Store], T]", otherwise: T) -> T:
        if self._store is not None:
            with suppress(StoreError):
                return question(self._store)
        return otherwise

    def last_filtered(self, url: str) -> "DiscardRow | None":
        """Return the latest row of the ledger of a URL; None if it was not filtered."""
        asked = LedgerFilter(self._scope, url=url)
        return self._asked(lambda store: next(ledger_rows(store, asked, 1), None), None)

    def alias_of(self, explanation: "Explanation") -> str | None:
        """Return the page, by its canonical key, that an explained URL is an alias of."""
        from ...learning.alias_learning import aliases_in

        site, book = explanation.site, self._book
        if site not in self._aliases and AliasKinds(book.for_site(site)):
            self._aliases[site] = self._asked(lambda store: aliases_in(store, site, book, scope=self._scope), {})
        return self._aliases.get(site, {}).get(explanation.key)

    def examples(self, rule: "Rule") -> list[tuple[str, str]]:
        """Return pairs of URLs that a rule makes one, as crawls met them, or else those of its evidence.

        What the rule has filtered comes first, then pages that were fetched under several URLs.
        """
        if rule.id not in self._examples:
            nothing: list[tuple[str, str]] = []
            pairs = self._asked(
                lambda store: list(islice(_pairs(store, self._scope, self._book, rule), _EXAMPLES)), nothing
            )
            self._examples[rule.id] = pairs or list(rule.evidence.examples if rule.evidence else ())
        return self._examples[rule.id]


@contextmanager
def store_answers(settings: "DedupSettings", book: "RuleBook") -> Iterator[StoreAnswers]:
    """Open the store, if there is one, for as long as URLs are explained."""
    with ExitStack() as opened:
        store = None
        try:
            store = opened.enter_context(open_store(settings))
        except Nothing:
            pass
        except StoreError as error:  # the rules can be explained without it
            if error.problem != EMPTY:
                print(f"dedup explain: what crawls have recorded is left out: {error}", file=sys.stderr)
        yield StoreAnswers(store, settings.scope, book)


def print_explanations(book: "RuleBook", urls: Iterable[str], answers: StoreAnswers, *, every: bool = False) -> None:
    """Print, for each URL, its keys and values, the rules that match, its canonical key, and when it was filtered.

    With *every*, all rules of the site are shown that do not match.
    """
    for number, url in enumerate(urls):
        explanation = book.explain(url)
        unused = book.unused(explanation)
        others = _other_lines(book, explanation, unused, answers, None if every else MOST_UNMATCHED)
        for line in (*([Text()] if number else []), *_lines(explanation, unused, answers), *others):
            print_long(line)


def print_explanations_as_json(book: "RuleBook", urls: Iterable[str], answers: StoreAnswers) -> None:
    """Print, for each URL, a line of JSON with what :func:`print_explanations` prints."""
    for url in urls:
        explanation = book.explain(url)
        unused = book.unused(explanation)
        rules = [
            {**rule.to_dict(), "did": list(used), "why_nothing": list(unused.idle.get(rule.id, ()))}
            | {"examples": answers.examples(rule)}
            for rule, used in explanation.rules
        ]
        row = answers.last_filtered(url)
        print_json(
            {
                "type": "url",
                "url": url,
                "site": explanation.site,
                "normal_form": explanation.normal_form,
                "key": explanation.key,
                "values": explanation.values,
                "rules": rules,
                "inactive": {rule.id: rule.status for rule in unused.inactive},
                "unmatched": {rule.id: key for rule, key in unused.unmatched},
                "alias_of": answers.alias_of(explanation),
                "filtered": record_of(row) if row is not None else None,
            }
        )


def _lines(explanation: "Explanation", unused: "UnusedRules", answers: StoreAnswers) -> Iterable[Text]:
    yield Text(explanation.url, style="bold")
    yield Text(f"site           {explanation.site or 'none: this is no absolute URL'}")
    yield Text(f"normal form    {explanation.normal_form}")
    yield Text(f"canonical key  {explanation.key}")
    width = max(map(len, explanation.values), default=0)
    for key, value in explanation.values.items():
        yield Text(f"  {key:<{width}}  {'(no value)' if value is None else value or NO_TEXT}")
    if not explanation.rules:
        what = "no rule that matches acts" if unused.inactive else "no rule matches"
        yield Text(f"{what}: the canonical key is the normal form")
    for rule, used in explanation.rules:
        yield Text(f"rule {rule.id} ({rule.status})", style="bold")
        yield from _rule_lines(rule, used, unused.idle.get(rule.id, ()))
        for one, other in answers.examples(rule):
            for name, url in zip(("example", ""), marked_pair(one, other), strict=True):
                yield Text(f"  {name:<9} ").append_text(with_marks(url))
        if rule.note:
            yield Text(f"  note      {rule.note}")


def _other_lines(
    book: "RuleBook", explanation: "Explanation", unused: "UnusedRules", answers: StoreAnswers, most: int | None
) -> Iterator[Text]:
    """Yield what is to be said besides the rules that act: the others, of each kind at most so many, aliases, and the ledger."""
    site = explanation.site
    if site and not book.for_site(site):
        yield Text(f"there are no rules of the site: scrapy learn-rules {site} says why")
    for rule in unused.inactive[:most]:
        did = operations_of(rule.ops)
        yield Text(f"rule {rule.id} is {rule.status} ({_WHY_INACTIVE[rule.status]}), and would do: {did}")
    page = answers.alias_of(explanation)
    if page is not None:
        yield Text(f"alias of       {page} (seen in the last crawl of that page; it holds for one crawl)")
    values = values_of(explanation.key, groups=book.groups)
    for rule in book.for_site(site):
        if rule.is_alias and rule.match and rule_matches(rule.match, values):
            yield Text(f"kind {rule.id} ({rule.status.value}): a URL like this is the page that {alias_words(rule)}")
    for rule, key in unused.unmatched[:most]:
        value = explanation.values.get(key)
        has = f"{key} is {json.dumps(value, ensure_ascii=False)}" if value is not None else f"the URL has no {key}"
        asked = condition_of({key: rule.match[key]})
        yield Text(f"rule {rule.id} ({rule.status}) does not match: it asks for {asked}, and {has}")
    if most is not None and len(unused.unmatched) > most:
        yield Text(f"{len(unused.unmatched) - most} more rules of the site do not match (--all shows them)")
    row = answers.last_filtered(explanation.url)
    if row is None:
        yield Text("it was not filtered, as far as the store goes")
    else:
        yield Text("filtered", style="bold")
        yield from map(Text, said_of(row))


def _rule_lines(rule: "Rule", used: "Mapping[str, Operation]", idle: Sequence[str]) -> Iterable[Text]:
    yield Text(f"  says      {operations_of(rule.ops)}")
    yield Text(f"  where     {condition_of(rule.match)}")
    reasons = "; ".join(idle)
    yield Text(f"  did here  {operations_of(used) or 'nothing: ' + reasons}")
    # learn-rules prints what it finds now; a file stays as it is while nothing but the counts changes.
    until = rule.evidence.until if rule.evidence is not None else 0
    counted_until = f"; groups and pages as of its file, until {moment(until)}" if until else ""
    yield Text(f"  evidence  {evidence_of(rule.evidence)}{counted_until}")


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


def marked_pair(one: str, other: str) -> list[str]:
    """Return two URLs, the parts that differ between ⟦ and ⟧.

    >>> marked_pair("http://a.test/p?id=7&sid=1f", "http://a.test/p?id=7&sid=2e")
    ['http://a.test/p?id=7&sid=⟦1f⟧', 'http://a.test/p?id=7&sid=⟦2e⟧']
    """
    return [
        "".join(f"⟦{piece['text']}⟧" if piece["marked"] else piece["text"] for piece in pieces)
        for pieces in marked_urls(one, other)
    ]
