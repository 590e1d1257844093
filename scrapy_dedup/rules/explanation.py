"""How a URL comes to its canonical key: what ``scrapy dedup explain`` shows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..urls.query_paths import query_path
from .actions import Context, Mark, added_text
from .model import BARE, Rule
from .operations import AnyOrder, Keep, Operation, SetOfValues
from .order import in_order
from .table import OpTable

__all__ = ["Explanation", "used_operations"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a URL comes to its canonical key.

    ``values``: its view; ``rules``: the rules that match it, each with those of its
    operations that were the best for their key and changed something in the first
    step.
    """

    url: str
    site: str
    values: dict[str, str | None]
    normal_form: str
    key: str
    rules: tuple[tuple[Rule, dict[str, Operation]], ...]


def used_operations(
    table: OpTable, values: Mapping[str, str | None], context: Context, path: str, query: str
) -> dict[str, dict[str, Operation]]:
    """Return id of a rule -> key -> its operation, for the operations that change something of *path* and *query*."""
    used: dict[str, dict[str, Operation]] = {}
    met: set[tuple[str, str | None]] = set()
    for key, value in values.items():
        base = key.partition("[")[0] if key.startswith("q.") else key
        again = (base, value) in met
        met.add((base, value))
        for bound in table.operations_on(base):
            outcome = bound.action(value, context)
            if outcome is not Mark.PASS:
                # Of a set of values, which are in order already, what comes again is left out.
                is_left_out = again and bound.operation == SetOfValues()
                if is_left_out or (outcome is not Mark.KEEP and outcome != value):
                    used.setdefault(bound.rule.id, {})[base] = bound.operation
                break
    for rule in table.rules:
        for key, operation in rule.exact.items():
            if key not in values and added_text(key, operation, context) is not None:
                used.setdefault(rule.rule.id, {})[key] = operation
    for rule_id, key, operation in _of_the_whole(table, context, path, query):
        used.setdefault(rule_id, {})[key] = operation
    return used


def _of_the_whole(table: OpTable, context: Context, path: str, query: str) -> Iterator[tuple[str, str, Operation]]:
    """Yield (id of a rule, key, operation) of what is not about the value of a named key, where it changes something."""
    own = query_path(query)
    for text in query.replace(";", "&").split("&"):
        name, _, value = text.partition("=")
        if name and name != own and not value and table.outcome("q." + name, "", context, []) is Mark.PASS:
            outcome = table.bare_outcome(name, context, [])
            acting = [bound for bound in table.operations_on(BARE) if bound.action(name, context) is outcome]
            if acting and outcome is not Mark.PASS:
                yield acting[0].rule.id, BARE, acting[0].operation
    if table.semicolons and ";" in query:
        best = table.operations_on("query")[0]
        yield best.rule.id, "query", best.operation
    for key in table.orders:
        for bound in table.operations_on(key):
            operation = bound.operation
            if isinstance(operation, Keep):
                break
            if isinstance(operation, AnyOrder) and in_order(path, key, operation) != path:
                yield bound.rule.id, key, operation
