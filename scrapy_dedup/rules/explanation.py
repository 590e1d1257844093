"""How a URL comes to its canonical key: what ``scrapy dedup explain`` shows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .actions import Change, Context, Mark, Outcome
from .model import Rule
from .operations import Operation
from .predicates import rule_matches
from .table import OpTable
from .wording import operations_of


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
    table: OpTable, changes: Iterable[Change], values: Mapping[str, str | None]
) -> dict[str, dict[str, Operation]]:
    """Return id of a rule -> key -> its operation, for the operations of *table* that made these *changes* of a URL."""
    used: dict[str, dict[str, Operation]] = {}
    places = {key: place for place, key in enumerate(values)}
    for name, key, _ in sorted(changes, key=lambda change: places.get(change[1], len(places))):
        operations = {bound.rule.id: bound.operation for bound in table.operations_on(key)}
        used.setdefault(name, {})[key] = operations[name]
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
    said = []
    for each in _met(key, table, values):
        value = values[each]
        for bound in table.operations_on(_base(each)):
            outcome = bound.action(value, context)
            if bound.rule.id != rule.id and outcome is not Mark.PASS:
                said.append(f"rule {bound.rule.id} decides on {each}")
            elif bound.rule.id == rule.id:
                shown = "without a value" if value is None else f'"{value}"'
                does = f"{each} is {shown}, and the rule does: {operations_of({key: rule.ops[key]})}"
                why: dict[Outcome, str] = {Mark.KEEP: f"it keeps {each} as it is", Mark.PASS: does}
                said.append(why.get(outcome, f'{each} is "{value}" already'))
            else:
                continue
            break
    return "; ".join(said) or "another rule keeps its keys"


def _base(key: str) -> str:
    """Return a key without the number of a repeat."""
    return key.partition("[")[0] if key.startswith("q.") else key


def first_unmet(rule: Rule, values: Mapping[str, str | None]) -> str | None:
    """Return the key on which a rule asks for something that a URL of these *values* does not have; None if it matches."""
    unmet = (key for key, predicate in rule.match.items() if not rule_matches({key: predicate}, values))
    return next(unmet, None)
