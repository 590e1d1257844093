"""The operations of the rules that match a URL, put together and applied at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..urls import DeepSplit
from ..urls.origins import Origin
from ..urls.paths import param_key, path_key, segments_of
from .actions import Action, Context, Mark, Outcome, action_of, added_text, adds, normal_key, normal_value
from .model import Rule, Status
from .operations import Ignore, IgnoreValue, Keep, Lower, Nested, Operation, Replace, SetOfValues
from .predicates import Literal, OneOf, Predicate

__all__ = ["Bound", "CompiledRule", "OpTable"]

_MANY_KEYS = 4_096


@dataclass(frozen=True, slots=True)
class Bound:
    """An operation bound to the key and the rule that it acts for."""

    operation: Operation
    action: Action
    rule: Rule


class CompiledRule:
    """A rule whose keys and values are written as the views write them."""

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
        """Return (operation, length of the op's key that fits) on *key*, or None."""
        operation = self.exact.get(key)
        if operation is not None:
            return operation, 1_000_000
        if key in self.match or key == "path.len":
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


class OpTable:
    """What is done to each key; made once for each set of rules that match together.

    Of several operations on one key the first that says something of the value acts:
    manual before learned, then the rule with more predicates, then the exact key
    before the longer prefix, then the smaller id.
    """

    __slots__ = (
        "_added",
        "_memo",
        "_rules",
        "closed",
        "deep",
        "origin_keys",
        "path_keys",
        "query_keys",
        "wants_context",
    )

    def __init__(self, rules: Sequence[CompiledRule], deep: dict[str, DeepSplit], guards: Iterable[str] = ()) -> None:
        self._rules = rules
        self._memo: dict[str, tuple[Bound, ...]] = {}
        self.deep = deep
        exact = {key for rule in rules for key in rule.exact}
        prefixes = [item for rule in rules for item in rule.prefixes]
        touched = [*exact, *[prefix for prefix, _ in prefixes]]
        self.origin_keys = _touches(exact, prefixes, ("scheme", "host."))
        self.path_keys = _touches(exact, prefixes, ("path.", "ext", "m.", "s."))
        self.query_keys = _touches(exact, prefixes, ("q.",))
        self.wants_context = any(
            isinstance(operation, Nested | Replace)
            for rule in rules
            for operation in (*rule.exact.values(), *[operation for _, operation in rule.prefixes])
        )
        self._added = [(key, operation) for rule in rules for key, operation in rule.exact.items() if adds(operation)]
        # Whether a second step would change nothing after the first: only parameters are
        # touched, no rule of the site asks for one of them, and nothing is left to do.
        self.closed = (
            all(key.startswith("q.") and "[" not in key for key in touched)
            and not any(key.startswith("q.") for key in deep)
            and not any(self.bounds(key) for key in guards)
            and all(_leaves_nothing(self.bounds(key)) for key in exact)
            and (len(prefixes) < 2 or all(_is_unconditional(operation) for _, operation in prefixes))
            and all(isinstance(operation, _CLOSED) for _, operation in prefixes)
        )

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
        for rule in self._rules:
            operation = rule.operation_on(key)
            if operation is not None:
                found.append(((*rule.rank, -operation[1], rule.rule.id), operation[0], rule))
        found.sort(key=lambda item: item[0])
        return tuple(
            [Bound(operation, action_of(key, operation, rule.named(key)), rule.rule) for _, operation, rule in found]
        )

    def outcome(self, key: str, value: str | None, context: Context) -> Outcome:
        """Return what becomes of *value* at *key*; PASS where nothing does."""
        for bound in self.bounds(key):
            outcome = bound.action(value, context)
            if outcome is not Mark.PASS:
                return Mark.PASS if outcome is Mark.KEEP or outcome == value else outcome
        return Mark.PASS

    def _deep_outcome(self, key: str, value: str, context: Context) -> Outcome:
        """Return what becomes of *value* at *key*, which may be shown by its parts."""
        split = self.deep.get(key)
        parts = split.parts(value) if split is not None and value else None
        if parts is None:
            return self.outcome(key, value, context)
        assert split is not None
        head = self.outcome(f"{key}.head", parts[0], context)
        tail = self.outcome(f"{key}.tail", parts[1], context)
        if head is Mark.PASS and tail is Mark.PASS:
            return Mark.PASS
        texts = [
            part if outcome is Mark.PASS else outcome
            for part, outcome in zip(parts, (head, tail), strict=True)
            if outcome is Mark.PASS or isinstance(outcome, str)
        ]
        return split.delimiter.join(texts) if texts else Mark.DROP

    def query(self, query: str, context: Context) -> str:
        """Return *query*, in normal form, as the canonical key has it."""
        pieces = []
        seen: set[str] = set()
        for piece in query.split("&") if query else ():
            parts = []
            for part in piece.split(";"):
                name, _, value = part.partition("=")
                key = "q." + name
                # Deep tokens are those of the first value; a repeat is one token.
                first = key not in seen
                seen.add(key)
                outcome = self._deep_outcome(key, value, context) if first else self.outcome(key, value, context)
                if outcome is Mark.PASS:
                    parts.append(part)
                elif isinstance(outcome, str):
                    parts.append(f"{name}={outcome}")
            if parts:
                pieces.append(";".join(parts))
        for key, operation in self._added:
            if key.startswith("q.") and key not in seen:
                text = added_text(key, operation, context)
                if text is not None:
                    seen.add(key)
                    pieces.append(f"{key[2:]}={text}")
        pieces.sort()
        return "&".join(self._distinct(pieces))

    def _distinct(self, pieces: list[str]) -> list[str]:
        kept: list[str] = []
        for piece in pieces:
            if kept and kept[-1] == piece and ";" not in piece:
                bounds = self.bounds("q." + piece.partition("=")[0])
                if any(isinstance(bound.operation, SetOfValues) for bound in bounds):
                    continue
            kept.append(piece)
        return kept

    def origin(self, origin: Origin, context: Context) -> str:
        """Return the text of *origin* as the canonical key has it."""
        scheme = self.outcome("scheme", origin.scheme, context)
        if scheme is Mark.PASS:
            scheme = origin.scheme
        elif not isinstance(scheme, str) or scheme == "*":
            scheme = "http"
        domain: Outcome = origin.domain
        if origin.group:
            domain = self.outcome("host.0", origin.domain, context)
            if domain is Mark.PASS:
                domain = origin.domain
            elif not isinstance(domain, str) or domain == "*":
                domain = origin.group[0]
        texts: list[Outcome] = list(origin.labels)
        for number, label in enumerate(origin.labels):
            outcome = self.outcome(f"host.{number + 1}", label, context)
            if outcome is not Mark.PASS:
                texts[number] = outcome
        for key, operation in self._added:
            if key == f"host.{len(texts) + 1}":
                text = added_text(key, operation, context)
                if text is not None:
                    texts.append(text)
        assert isinstance(scheme, str)
        assert isinstance(domain, str)
        return origin.compose(scheme, tuple(_without_gaps(texts)), domain)

    def path(self, path: str, context: Context) -> str:
        """Return *path*, in normal form, as the canonical key has it."""
        segments, slash = segments_of(path)
        texts: list[Outcome] = []  # of the positional segments
        places: list[int] = []
        written: list[str | None] = [None] * len(segments)
        for number, segment in enumerate(segments):
            params = self._params(segment.params, context)
            extension = segment.extension
            if extension is not None:
                outcome = self.outcome("ext", extension, context)
                extension = extension if outcome is Mark.PASS else outcome if isinstance(outcome, str) else None
            elif not segment.name and number == len(segments) - 1:
                extension = self._addition("ext", context)
            rest = params if extension is None else f".{extension}{params}"
            outcome = self._deep_outcome(segment.key, segment.value, context)
            if segment.name:
                value = segment.value if outcome is Mark.PASS else outcome
                if isinstance(value, str):
                    written[number] = f"{segment.name}={value}{rest}"
                elif rest:
                    written[number] = rest
                continue
            if outcome is Mark.PASS:
                texts.append(segment.value + rest)
            elif isinstance(outcome, str):
                texts.append(outcome + rest)
            else:
                # What stays of a dropped segment (extension, parameters) keeps its place.
                texts.append("*" + rest if rest else outcome)
            places.append(number)
        for number, text in zip(places, _with_gaps(texts), strict=True):
            written[number] = text
        kept = [text for text in written if text is not None]
        while (text := self._addition(path_key(len(texts)), context)) is not None and len(texts) < 64:
            texts.append(text)
            kept.append(text)
        if slash:
            slash = self.outcome("path.trail", "/", context) is Mark.PASS
        else:
            slash = self._addition("path.trail", context) is not None
        return "/" + "/".join(kept) + ("/" if slash and kept else "")

    def _params(self, params: tuple[tuple[str, str | None], ...], context: Context) -> str:
        text = ""
        for name, value in params:
            outcome = self.outcome(param_key(name), value, context)
            if outcome is Mark.PASS:
                text += f";{name}" if value is None else f";{name}={value}"
            elif isinstance(outcome, str):
                text += f";{name}={outcome}"
        return text

    def _addition(self, key: str, context: Context) -> str | None:
        for added, operation in self._added:
            if added == key:
                text = added_text(key, operation, context)
                if text is not None:
                    return text
        return None


_CLOSED = (Ignore, IgnoreValue, Lower, SetOfValues, Keep)


def _is_unconditional(operation: Operation) -> bool:
    return isinstance(operation, Keep) or (isinstance(operation, Ignore | IgnoreValue) and operation.only is None)


def _leaves_nothing(bounds: tuple[Bound, ...]) -> bool:
    """Return whether the operations find nothing to do on their own result."""
    first = bounds[0].operation
    return _is_unconditional(first) or (len(bounds) == 1 and isinstance(first, _CLOSED))


def _touches(exact: Iterable[str], prefixes: Iterable[tuple[str, Operation]], kinds: tuple[str, ...]) -> bool:
    return any(key.startswith(kinds) for key in exact) or any(
        kind.startswith(prefix) or prefix.startswith(kind) for prefix, _ in prefixes for kind in kinds
    )


def _with_gaps(texts: Sequence[Outcome]) -> list[str | None]:
    """Return what is written at each place: ``*`` for what is dropped before what stays."""
    written: list[str | None] = []
    stays = False
    for text in reversed(texts):
        if isinstance(text, str):
            stays = True
            written.append(text)
        else:
            written.append("*" if stays and text is Mark.DROP else None)
    written.reverse()
    return written


def _without_gaps(texts: Sequence[Outcome]) -> list[str]:
    return [text for text in _with_gaps(texts) if text is not None]
