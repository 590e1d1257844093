"""Tables of operations: those of the rules that match a URL, put together by key."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..urls import DeepSplit
from ..urls.deep_tokens import ENDS
from ..urls.query_paths import is_segment_key
from .actions import Action, Always, Change, Context, Mark, Outcome, action_of, added_text, adds
from .model import BARE, ORDERED, Rule, Status
from .operations import AnyOrder, Ignore, IgnoreValue, Keep, Lower, Nested, Operation, Replace, Set, SetOfValues
from .predicates import Literal, OneOf, Predicate, normal_key, normal_predicate, normal_value

#: How well an operation's key fits where it is the very key.
_EXACT = 1_000_000
_EXACT_ONLY = frozenset({"path.len", BARE, *ORDERED})
_MANY_KEYS = 4_096
#: Up to so many names are looked for one by one in a query, more in its pieces.
FEW_NAMES = 6

ORIGIN_KINDS = ("scheme", "host.")
PATH_KINDS = ("path.", "ext", "m.", "s.")


@dataclass(frozen=True, slots=True)
class BoundOperation:
    """An operation bound to a key and to the rule that it acts for.

    ``guard``: the predicate of that rule on the key, None if it has none; ``constant``: what the action makes of every
    value, None where it has to be asked.
    """

    operation: Operation
    action: Action
    rule: Rule
    guard: Predicate | None
    constant: Outcome | None


class CompiledRule:
    """A rule as its site's program uses it.

    ``exact``: key -> operation; ``prefixes``: (beginning of a key, operation), the
    longest first; ``rank``: manual rules before learned, more predicates before fewer.
    """

    __slots__ = ("exact", "match", "prefixes", "rank", "rule")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.match = {normal_key(key): normal_predicate(key, predicate) for key, predicate in rule.match.items()}
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

        An operation on a beginning leaves the keys alone on which the rule itself has a predicate.
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


def first_outcome(
    operations: Iterable[BoundOperation], key: str, value: str | None, context: Context, changes: list[Change]
) -> Outcome:
    """Return what the first of *operations* that changes or keeps *value* makes of it; PASS where nothing changes.

    *changes* takes what it changes.
    """
    for bound in operations:
        outcome = bound.constant or bound.action(value, context)
        if outcome is not Mark.PASS:
            if outcome is Mark.KEEP or outcome == value:
                return Mark.PASS
            changes.append((bound.rule.id, key, value))
            return outcome
    return Mark.PASS


class OpTable:
    """The operations on each key; made once for each set of rules that match together.

    Of several operations on one key the first that changes or keeps the value acts:
    manual before learned, then the rule with more predicates, then what keeps the key,
    then the exact key before the longer beginning, then the smaller id.

    - ``rules``: those that match; ``deep``: the site's deep tokens;
    - ``added``: (key, operation, id of its rule) that may give a value to an absent key;
    - ``needs_context``: whether operations use more than the value of their key.

    Of the origin and the path:

    - ``on_origin``, ``on_path``: whether any operation touches it; ``deep_path``: whether any touches a deep token;
    - ``positions``: (N, operations on ``path.N``), the greatest N first; ``extension``, ``slash``: the operations on
      ``ext`` and ``path.trail``; ``positions_only``: whether nothing else of a path is touched;
    - ``pairs_only``: whether only matrix parameters and key=value segments are; ``segment_pairs``: whether the latter;
    - ``orders``: ``path`` and ``matrix`` -> (order, id of its rule).

    Of the query:

    - ``parameters``: name -> the operations on it; of names that begin with one of ``beginnings`` as far as met;
    - ``triggers``: texts of which a query holds one if any operation acts on it; () where none are known;
    - ``semicolons``: whether ``;`` between parameters counts as ``&``; ``bare``: the operations on parameters without a
      value; ``distinct``: whether repeats are sets of values; ``deep_query``: whether deep tokens are touched;
    - ``whole_query``: whether one look at each parameter is not enough.

    Of the steps:

    - ``keeps_normal_form``: whether the result of a normal form is one again;
    - ``unrepeated``: where one step is enough, the parameters (``name=``) that must not be repeated for that; None
      where a second step may change something (:mod:`.closure`, which sets it).
    """

    def __init__(self, rules: Sequence[CompiledRule], deep: Mapping[str, DeepSplit]) -> None:
        self.rules = rules
        self.deep = deep
        self._memo: dict[str, tuple[BoundOperation, ...]] = {}
        exact = [item for rule in rules for item in rule.exact.items()]
        prefixes = [item for rule in rules for item in rule.prefixes]
        # A query that is no path is not given a segment of one.
        self.added = [
            (key, operation, rule.rule.id)
            for rule in rules
            for key, operation in rule.exact.items()
            if adds(operation) and not is_segment_key(key)
        ]
        self.needs_context = any(isinstance(operation, Nested | Replace) for _, operation in exact + prefixes)
        self.keeps_normal_form = all(_leaves_normal(key, operation) for key, operation in exact + prefixes)
        self.unrepeated: tuple[str, ...] | None = None
        in_parts = [key for key in deep if any(self.operations_on(key + end) for end in ("", ".head", ".tail"))]
        self.deep_query = any(key.startswith("q.") for key in in_parts)
        self.deep_path = any(not key.startswith("q.") for key in in_parts)
        self._set_path({key for key, _ in exact}, [prefix for prefix, _ in prefixes])
        self._set_query({key for key, _ in exact}, [prefix for prefix, _ in prefixes])
        self.distinct = any(operation == SetOfValues() for _, operation in exact + prefixes)
        self.whole_query = bool(self.deep_query or self.added or self.distinct or self.semicolons or self.bare)

    def _set_path(self, exact: Collection[str], prefixes: Collection[str]) -> None:
        """Set what is of the origin and the path; *exact* are the keys, *prefixes* the beginnings of keys of operations."""
        self.on_origin = _touches(exact, prefixes, ORIGIN_KINDS)
        self.orders = {key: found for key in ("path", "matrix") if (found := self._orders(key))}
        self.on_path = _touches(exact, prefixes, PATH_KINDS) or bool(self.orders)
        self.extension = self.operations_on("ext")
        self.slash = self.operations_on("path.trail")
        positions = {int(key[5:]) for key in exact if key.startswith("path.") and key[5:].isdigit()}
        self.positions = [(n, self.operations_on(f"path.{n}")) for n in sorted(positions, reverse=True)]
        any_key = bool(self.added or self.deep_path or _touches((), prefixes, PATH_KINDS))
        self.positions_only = not any_key and not _touches(exact, (), ("m.", "s."))
        self.pairs_only = not any_key and not _touches(exact, (), ("path.", "ext"))
        self.segment_pairs = _touches(exact, (), ("s.",))

    def _set_query(self, exact: Collection[str], prefixes: Collection[str]) -> None:
        """Set what is of the query; *exact* are the keys, *prefixes* the beginnings of keys of operations."""
        self._exact_parameters = {key[2:]: self.operations_on(key) for key in exact if key.startswith("q.")}
        self.parameters = self._exact_parameters.copy()
        self.beginnings = tuple(prefix[2:] for prefix in prefixes if "q.".startswith(prefix[:2]))
        few = not self.beginnings and len(self.parameters) <= FEW_NAMES
        self.triggers = tuple(f"{name}=" for name in self.parameters) if few else ()
        self.semicolons = bool(self._orders("query"))
        self.bare = self.operations_on(BARE)

    def operations_on(self, key: str) -> tuple[BoundOperation, ...]:
        """Return the operations on *key*, the best first."""
        known = self._memo.get(key)
        if known is None:
            if len(self._memo) >= _MANY_KEYS:
                self._memo.clear()
            known = self._memo[key] = self._found(key)
        return known

    def _found(self, key: str) -> tuple[BoundOperation, ...]:
        found = []
        for rule in self.rules:
            operation = rule.operation_on(key)
            if operation is not None:
                keeps = isinstance(operation[0], Keep)
                found.append(((*rule.rank, not keeps, -operation[1], rule.rule.id), operation[0], rule))
        found.sort(key=lambda item: item[0])
        return tuple([_bound(key, operation, rule) for _, operation, rule in found])

    def operations_on_parameter(self, name: str) -> tuple[BoundOperation, ...]:
        """Return the operations on the parameter *name*, whose beginning is in ``beginnings``."""
        if len(self.parameters) >= _MANY_KEYS:
            self.parameters = self._exact_parameters.copy()
        known = self.parameters[name] = self.operations_on("q." + name)
        return known

    def _orders(self, key: str) -> list[tuple[AnyOrder, str]]:
        """Return (order of *key*, id of its rule), unless the best operation keeps the key."""
        found: list[tuple[AnyOrder, str]] = []
        for bound in self.operations_on(key):
            if isinstance(bound.operation, Keep) and not found:
                break
            if isinstance(bound.operation, AnyOrder):
                found.append((bound.operation, bound.rule.id))
        return found

    def bare_outcome(self, text: str, context: Context, changes: list[Change]) -> Outcome:
        """Return what becomes of a parameter that is nothing but *text*, and that no operation names."""
        for bound in self.operations_on("q." + text):
            if bound.action("", context) is Mark.KEEP:
                return Mark.PASS
        return self.outcome(BARE, text, context, changes)

    def outcome(self, key: str, value: str | None, context: Context, changes: list[Change]) -> Outcome:
        """Return the new text of *value* at *key*, or a mark; PASS where nothing changes."""
        return first_outcome(self.operations_on(key), key, value, context, changes)

    def deep_outcome(self, key: str, value: str | None, context: Context, changes: list[Change]) -> Outcome:
        """Return what becomes of *value* at *key*, which may be shown by its two parts."""
        split = self.deep.get(key)
        parts = split.parts(value) if split is not None and value else None
        if split is None or parts is None:
            return self.outcome(key, value, context, changes)
        outcomes = [
            (part, self.outcome(key + end, part, context, changes))
            for end, part in zip(ENDS, parts, strict=True)
            if part is not None
        ]
        if all(outcome is Mark.PASS for _, outcome in outcomes):
            return Mark.PASS
        shown = [part if outcome is Mark.PASS else outcome for part, outcome in outcomes]
        texts = [text for text in shown if isinstance(text, str)]
        return split.delimiter.join(texts) if texts else Mark.DROP

    def addition(self, key: str, context: Context, changes: list[Change]) -> str | None:
        """Return the value that *key*, which is absent, is given; None if none."""
        for added, operation, rule in self.added:
            if added == key:
                text = added_text(key, operation, context)
                if text is not None:
                    changes.append((rule, key, None))
                    return text
        return None


def _bound(key: str, operation: Operation, rule: CompiledRule) -> BoundOperation:
    action = action_of(key, operation, rule.named(key))
    constant = action.outcome if isinstance(action, Always) else None
    return BoundOperation(operation, action, rule.rule, rule.match.get(key), constant)


def _touches(exact: Iterable[str], prefixes: Iterable[str], kinds: tuple[str, ...]) -> bool:
    """Return whether operations on keys *exact* or on keys that begin with one of *prefixes* touch keys of *kinds*."""
    return any(key.startswith(kinds) for key in exact) or any(
        kind.startswith(prefix) or prefix.startswith(kind) for prefix in prefixes for kind in kinds
    )


def _leaves_normal(key: str, operation: Operation) -> bool:
    """Return whether *operation* leaves a normal form that it finds nothing more to do on.

    *key* is the operation's, or the beginning of its keys. A text that a rule sets may
    be anything: of a parameter it is one value, if it holds no ``;`` that could part it.
    """
    if not isinstance(operation, Set):
        return isinstance(operation, Ignore | IgnoreValue | Lower | SetOfValues | Keep | AnyOrder)
    values = {old and normal_value(key, old): new and normal_value(key, new) for old, new in operation.values}
    return (
        key.startswith("q.")
        and not any("%3B" in new for new in values.values() if new)
        and all(values.get(new, new) == new for new in values.values())
    )
