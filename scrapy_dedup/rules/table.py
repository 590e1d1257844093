"""The operations of the rules that match a URL, put together."""

from collections.abc import Iterable, Mapping, Sequence

from ..urls import DeepSplit
from ..urls.deep_tokens import ENDS
from ..urls.query_paths import SLASH, is_segment_key, query_path
from .actions import Context, Mark, Outcome, action_of, added_text, adds
from .closure import leaves_normal, may_awaken
from .compiled import Bound, CompiledRule
from .model import BARE
from .operations import AnyOrder, Ignore, IgnoreValue, Keep, Nested, Operation, Replace, SetOfValues
from .predicates import Predicate

__all__ = ["OpTable"]

_MANY_KEYS = 4_096
_FEW_NAMES = 6

_ORIGIN_KINDS = ("scheme", "host.")
_PATH_KINDS = ("path.", "ext", "m.", "s.")


class OpTable:
    """What is done to each key; made once for each set of rules that match together.

    Of several operations on one key the first that says something of the value acts:
    manual before learned, then the rule with more predicates, then what keeps the key,
    then the exact key before the longer beginning, then the smaller id.

    - ``on_origin``, ``on_path``, ``on_query``: whether any operation touches it;
    - ``asks``: whether operations ask for more than their value;
    - ``plain``: whether the result of a normal form is one again;
    - ``closed``: whether a second step changes nothing (see :meth:`is_end`);
    - ``added``: (key, operation, id of its rule) that may give a value to an absent key;
    - ``names``: the operations on each parameter, of those that begin with one of
      ``beginnings`` as far as they were met; ``marks``: what a query must hold for any to
      act, () where that is not known;
    - ``positions``: (N, operations on ``path.N``), the greatest N first; ``extension``,
      ``slash``: the operations on ``ext`` and ``path.trail``; ``positions_only``,
      ``pairs_only``: whether of a path only these, or only matrix parameters and
      key=value segments, are touched;
    - ``semicolons``: whether ``;`` between parameters counts as ``&``; ``orders``: what is said of the order in
      the path, and of matrix parameters; ``bare``: what is done to parameters without a value;
    - ``whole_query``: whether one look at each parameter is not enough;
    - ``deep``: the site's deep tokens; ``rules``: those that match.
    """

    __slots__ = (
        "_exact_names",
        "_memo",
        "added",
        "asks",
        "bare",
        "beginnings",
        "closed",
        "deep",
        "deep_path",
        "deep_query",
        "distinct",
        "extension",
        "marks",
        "names",
        "on_origin",
        "on_path",
        "on_query",
        "once",
        "orders",
        "pairs_only",
        "plain",
        "positions",
        "positions_only",
        "rules",
        "segment_pairs",
        "semicolons",
        "slash",
        "whole_query",
    )

    def __init__(
        self, rules: Sequence[CompiledRule], deep: Mapping[str, DeepSplit], guards: Mapping[str, Sequence[Predicate]]
    ) -> None:
        self.rules = rules
        self._memo: dict[str, tuple[Bound, ...]] = {}
        self.deep = deep
        exact = {key for rule in rules for key in rule.exact}
        prefixes = [item for rule in rules for item in rule.prefixes]
        self._exact_names = {key[2:]: self.bounds(key) for key in exact if key.startswith("q.")}
        self.names = self._exact_names.copy()
        self.beginnings = tuple(prefix[2:] for prefix, _ in prefixes if "q.".startswith(prefix[:2]))
        few = not self.beginnings and len(self.names) <= _FEW_NAMES
        self.marks = tuple(f"{name}=" for name in self.names) if few else ()
        in_parts = [key for key in deep if any(self.bounds(key + end) for end in ("", ".head", ".tail"))]
        self.deep_query = any(key.startswith("q.") for key in in_parts)
        self.deep_path = any(not key.startswith("q.") for key in in_parts)
        operations = [op for rule in rules for op in rule.exact.values()] + [op for _, op in prefixes]
        self.on_origin = _touches(exact, prefixes, _ORIGIN_KINDS)
        self.orders = {key: found for key in ("path", "matrix") if (found := self._orders(key))}
        self.semicolons = bool(self._orders("query"))
        self.bare = self.bounds(BARE)
        self.on_path = _touches(exact, prefixes, _PATH_KINDS) or bool(self.orders)
        self.on_query = _touches(exact, prefixes, ("q.",)) or self.semicolons or bool(self.bare)
        self.extension = self.bounds("ext")
        self.slash = self.bounds("path.trail")
        self.asks = any(isinstance(operation, Nested | Replace) for operation in operations)
        # A query that is no path gets no segment of one.
        self.added = [
            (key, op, rule.rule.id)
            for rule in rules
            for key, op in rule.exact.items()
            if adds(op) and not is_segment_key(key)
        ]
        self.distinct = SetOfValues() in operations
        self.whole_query = bool(self.deep_query or self.added or self.distinct or self.semicolons or self.bare)
        positions = {int(key[5:]) for key in exact if key.startswith("path.") and key[5:].isdigit()}
        self.positions = [(n, self.bounds(f"path.{n}")) for n in sorted(positions, reverse=True)]
        self.positions_only = not (
            self.added or self.deep_path or _touches((), prefixes, _PATH_KINDS) or _touches(exact, (), ("m.", "s."))
        )
        self.pairs_only = not (
            self.added or self.deep_path or _touches((), prefixes, _PATH_KINDS) or _touches(exact, (), ("path.", "ext"))
        )
        self.segment_pairs = _touches(exact, (), ("s.",))
        keyed = [item for rule in rules for item in rule.exact.items()] + prefixes
        self.plain = all(leaves_normal(key, operation) for key, operation in keyed)
        self.once: tuple[str, ...] = ()
        self.closed = self.plain and self._leaves_nothing(exact, prefixes, guards)

    def _leaves_nothing(
        self, exact: set[str], prefixes: list[tuple[str, Operation]], guards: Mapping[str, Sequence[Predicate]]
    ) -> bool:
        """Return whether a second step would change nothing after the first.

        So it is where no rule matches afterwards that did not before, and where the same
        operations, or some of them, find nothing more to do. The origin is looked at by
        itself (:meth:`.RuleBook.canonical_key`).
        """
        once = []
        for key, predicates in guards.items():
            bounds = () if key.startswith(_ORIGIN_KINDS) else self.bounds(key)
            if not bounds:
                continue
            if key[0] in "ms" or any(may_awaken(key, bound, predicates) for bound in bounds):
                return False
            if key.startswith("q."):
                once.append(key[2:] + "=")
        self.once = tuple(once)
        for key in exact:
            if key.startswith(_ORIGIN_KINDS):
                continue
            operations = [bound.operation for bound in self.bounds(key)]
            if key == BARE and any(asked.startswith("q.") for asked in guards):
                return False
            if key in self.orders and not self._moves_only_what_is_not_asked_for(exact, guards):
                return False
            if "[" in key or any(key.startswith(deep) for deep in self.deep) or key == "ext":
                return False
            if len(operations) > 1 and not all(isinstance(operation, Ignore) for operation in operations):
                return False
            # Where a segment is removed, all keys of the path mean something else.
            if key[:5] == "path." and key != "path.trail" and not isinstance(operations[0], IgnoreValue | Keep):
                return False
        return not prefixes or (
            all(prefix.startswith("q.") and isinstance(operation, Ignore) for prefix, operation in prefixes)
            and not self.deep_query
        )

    def _moves_only_what_is_not_asked_for(self, exact: Iterable[str], guards: Iterable[str]) -> bool:
        """Return whether all else that is said of the path is of segments before those that an order moves."""
        orders = self.orders.get("path", [])
        if "matrix" in self.orders or len(orders) != 1:
            return False
        asked = {key for key in (*exact, *guards) if key.startswith(_PATH_KINDS)} - {"path.len", "path.trail"}
        return all(key[5:].isdigit() and int(key[5:]) < orders[0][0].after for key in asked)

    def leaves_alone(self, query: str) -> bool:
        """Return whether no operation can change a URL of *query*, whatever its path; False where that is not known."""
        if self.on_origin or self.on_path or self.added:
            return False
        if not query:
            return True
        if not self.marks or self.whole_query or SLASH in query:
            return False
        for mark in self.marks:  # noqa: SIM110 (all() costs twice as much, for each URL)
            if mark in query:
                return False
        return True

    def is_end(self, path: str, query: str) -> bool:
        """Return whether the result of one step from a URL of *path* and *query* is its key.

        A parameter that rules ask for must not be repeated: when its first value goes,
        the second one is looked at. So it is with several slashes at the end.
        """
        if not self.closed or (self.on_path and path.endswith("//")) or (SLASH in query and query_path(query)):
            return False
        # An extension is cut off the last segment, whichever that is; pairs and parameters are no segments to a rule.
        if self.orders and any(char in path for char in ".;="):
            return False
        return not self.once or all(query.count(name) <= 1 for name in self.once)

    def bounds(self, key: str) -> tuple[Bound, ...]:
        """Return what is done to *key*, the best first."""
        known = self._memo.get(key)
        if known is None:
            if len(self._memo) >= _MANY_KEYS:
                self._memo.clear()
            known = self._memo[key] = self._found(key)
        return known

    def _found(self, key: str) -> tuple[Bound, ...]:
        found = []
        for rule in self.rules:
            operation = rule.operation_on(key)
            if operation is not None:
                keeps = isinstance(operation[0], Keep)
                found.append(((*rule.rank, not keeps, -operation[1], rule.rule.id), operation[0], rule))
        found.sort(key=lambda item: item[0])
        return tuple(
            [
                Bound(operation, action_of(key, operation, rule.named(key)), rule.rule, rule.match.get(key))
                for _, operation, rule in found
            ]
        )

    def bounds_of_parameter(self, name: str) -> tuple[Bound, ...]:
        """Return what is done to the parameter *name*, whose beginning is in ``beginnings``."""
        if len(self.names) >= _MANY_KEYS:
            self.names = self._exact_names.copy()
        known = self.names[name] = self.bounds("q." + name)
        return known

    def _orders(self, key: str) -> list[tuple[AnyOrder, str]]:
        """Return (order of *key*, id of its rule), unless the best operation keeps the key."""
        found: list[tuple[AnyOrder, str]] = []
        for bound in self.bounds(key):
            if isinstance(bound.operation, Keep) and not found:
                break
            if isinstance(bound.operation, AnyOrder):
                found.append((bound.operation, bound.rule.id))
        return found

    def bare_outcome(self, text: str, context: Context) -> Outcome:
        """Return what becomes of a parameter that is nothing but *text*, and of which no rule says anything by name."""
        for bound in self.bounds("q." + text):
            if bound.action("", context) is Mark.KEEP:
                return Mark.PASS
        return self.outcome(BARE, text, context)

    def outcome(self, key: str, value: str | None, context: Context) -> Outcome:
        """Return the new text of *value* at *key*, or a mark; PASS where nothing changes."""
        for bound in self.bounds(key):
            outcome = bound.action(value, context)
            if outcome is not Mark.PASS:
                if outcome is Mark.KEEP or outcome == value:
                    return Mark.PASS
                context.changes.append((bound.rule.id, key, value))
                return outcome
        return Mark.PASS

    def deep_outcome(self, key: str, value: str | None, context: Context) -> Outcome:
        """Return what becomes of *value* at *key*, which may be shown by its two parts."""
        split = self.deep.get(key)
        parts = split.parts(value) if split is not None and value else None
        if split is None or parts is None:
            return self.outcome(key, value, context)
        texts = []
        changed = False
        for end, part in zip(ENDS, parts, strict=True):
            if part is not None:
                outcome = self.outcome(key + end, part, context)
                changed = changed or outcome is not Mark.PASS
                if not isinstance(outcome, Mark):
                    texts.append(outcome)
                elif outcome is Mark.PASS:
                    texts.append(part)
        if not changed:
            return Mark.PASS
        return split.delimiter.join(texts) if texts else Mark.DROP

    def addition(self, key: str, context: Context) -> str | None:
        """Return the value that *key*, which is absent, is given; None if none."""
        for added, operation, rule in self.added:
            if added == key:
                text = added_text(key, operation, context)
                if text is not None:
                    context.changes.append((rule, key, None))
                    return text
        return None


def _touches(exact: Iterable[str], prefixes: Iterable[tuple[str, Operation]], kinds: tuple[str, ...]) -> bool:
    return any(key.startswith(kinds) for key in exact) or any(
        kind.startswith(prefix) or prefix.startswith(kind) for prefix, _ in prefixes for kind in kinds
    )
