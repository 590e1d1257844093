"""How a URL comes to its canonical key: what ``scrapy dedup explain`` shows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..urls.query_paths import query_path
from .actions import Context, Mark, added_text
from .model import BARE, Rule
from .operations import AnyOrder, Keep, Operation, SetOfValues
from .order import in_order
from .predicates import rule_matches
from .table import OpTable
from .wording import operations_of

__all__ = ["Explanation", "UnusedRules", "first_unmet", "idle_reasons", "used_operations"]


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


@dataclass(frozen=True, slots=True)
class UnusedRules:
    """The rules of a site that have no part in the canonical key of a URL, and why.

    ``idle``: of those that match and change nothing, by id, why; ``unmatched``: those that act and do not match, each
    with the key on which it asks for something else; ``inactive``: those that match and whose status lets none act.
    """

    idle: Mapping[str, tuple[str, ...]]
    unmatched: tuple[tuple[Rule, str], ...]
    inactive: tuple[Rule, ...]


def used_operations(
    table: OpTable, values: Mapping[str, str | None], context: Context, path: str, query: str
) -> dict[str, dict[str, Operation]]:
    """Return id of a rule -> key -> its operation, for the operations that change something of *path* and *query*."""
    used: dict[str, dict[str, Operation]] = {}
    met: set[tuple[str, str | None]] = set()
    for key, value in values.items():
        base = _base(key)
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


def idle_reasons(rule: Rule, table: OpTable, values: Mapping[str, str | None], context: Context) -> tuple[str, ...]:
    """Return why a rule that matches a URL of these *values* changes nothing, operation by operation."""
    absent = [key for key in rule.ops if not _met(key, table, values)]
    said = [f"the URL has no {', '.join(absent)}"] if absent else []
    return (*said, *(_reason(rule, key, table, values, context) for key in rule.ops if key not in absent))


def _met(key: str, table: OpTable, values: Mapping[str, str | None]) -> list[str]:
    """Return the keys of a URL that an operation of a rule is about; an order is about the whole."""
    if key in table.orders or key == "query":
        return [key]
    beginning = key.removesuffix("*")
    return [each for each in values if (each.startswith(beginning) if key.endswith("*") else _base(each) == key)]


def _reason(rule: Rule, key: str, table: OpTable, values: Mapping[str, str | None], context: Context) -> str:
    if key in table.orders or key == "query":
        return "its parts are in order already"
    operation = rule.ops[key]
    said = []
    for each in _met(key, table, values):
        value = values[each]
        for bound in table.operations_on(_base(each)):
            outcome = bound.action(value, context)
            if bound.rule.id != rule.id:
                if outcome is not Mark.PASS:
                    said.append(f"rule {bound.rule.id} decides on {each}")
                    break
            elif outcome is Mark.KEEP:
                said.append(f"it keeps {each} as it is")
                break
            elif outcome is Mark.PASS:
                shown = "without a value" if value is None else f'"{value}"'
                said.append(f"{each} is {shown}, and the rule does: {operations_of({key: operation})}")
                break
            else:
                said.append(f'{each} is "{value}" already')
                break
    return "; ".join(said) or "another rule keeps its keys"


def _base(key: str) -> str:
    """Return a key without the number of a repeat."""
    return key.partition("[")[0] if key.startswith("q.") else key


def first_unmet(rule: Rule, values: Mapping[str, str | None]) -> str | None:
    """Return the key on which a rule asks for something that a URL of these *values* does not have; None if it matches."""
    for key, predicate in rule.match.items():
        if not rule_matches({key: predicate}, values):
            return key
    return None


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
