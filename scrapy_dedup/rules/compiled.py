"""A rule compiled: its keys and values written as the views write them."""

from dataclasses import dataclass

from .actions import Action, normal_key, normal_value
from .model import BARE, ORDERED, Rule, Status
from .operations import Operation
from .predicates import Literal, OneOf, Predicate

__all__ = ["Bound", "CompiledRule"]

#: How well an operation's key fits where it is the very key.
_EXACT = 1_000_000
_EXACT_ONLY = frozenset({"path.len", BARE, *ORDERED})


@dataclass(frozen=True, slots=True)
class Bound:
    """An operation bound to a key and to the rule that it acts for.

    ``guard``: what that rule asks of the key, None if nothing.
    """

    operation: Operation
    action: Action
    rule: Rule
    guard: Predicate | None


class CompiledRule:
    """A rule as its site's program uses it.

    ``exact``: key -> operation; ``prefixes``: (beginning of a key, operation), the
    longest first; ``rank``: manual rules before learned, more predicates before fewer.
    """

    __slots__ = ("exact", "match", "prefixes", "rank", "rule")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.match = {normal_key(key): _normal(key, predicate) for key, predicate in rule.match.items()}
        self.exact: dict[str, Operation] = {}
        self.prefixes: list[tuple[str, Operation]] = []
        for key, operation in rule.ops.items():
            if key.endswith("*"):
                self.prefixes.append((normal_key(key[:-1]), operation))
            else:
                self.exact[normal_key(key)] = operation
        self.prefixes.sort(key=lambda pair: -len(pair[0]))
        self.rank = (rule.status is not Status.MANUAL, -len(rule.match))

    def operation_on(self, key: str) -> tuple[Operation, int] | None:
        """Return (operation, how well its key fits) on *key*, or None.

        An operation on a beginning leaves the keys alone that the rule itself asks for.
        """
        operation = self.exact.get(key)
        if operation is not None:
            return operation, _EXACT
        if key in self.match or key in _EXACT_ONLY:
            return None
        for prefix, operation in self.prefixes:
            if key.startswith(prefix):
                return operation, len(prefix)
        return None

    def named(self, key: str) -> frozenset[str]:
        """Return the values that the rule's match names for *key*."""
        predicate = self.match.get(key)
        if isinstance(predicate, Literal):
            return frozenset({predicate.value})
        if isinstance(predicate, OneOf):
            return frozenset(predicate.values)
        return frozenset()


def _normal(key: str, predicate: Predicate) -> Predicate:
    if isinstance(predicate, Literal):
        return Literal(normal_value(key, predicate.value), predicate.optional)
    if isinstance(predicate, OneOf):
        return OneOf([normal_value(key, value) for value in predicate.values], predicate.optional)
    return predicate
