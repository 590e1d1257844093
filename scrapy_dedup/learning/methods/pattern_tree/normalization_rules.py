"""The paper's normalization rules: from the formation of one node to that of another (section 3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ....urls import GroupsLike
from ..pattern_tree_gaps import FAITHFUL, PatternTreeChoices
from .patterns import ANYTHING, Pattern
from .views import View, composed, site_text, view_of


@dataclass(frozen=True, slots=True)
class KeepKey:
    """The target key has one value, and is filled with it."""

    value: str


@dataclass(frozen=True, slots=True)
class SetLiteral:
    """As *keep*, where the source does not have the value: a default that is written."""

    value: str


@dataclass(frozen=True, slots=True)
class ReplaceKey:
    """The target key gets the value of a key of the source, lower-cased and with affixes if so."""

    source: str
    prefix: str = ""
    suffix: str = ""
    lower: bool = False

    def text(self, value: str) -> str:
        """Return the target's value for the source's.

        >>> ReplaceKey("q.id", "p-", ".html").text("10")
        'p-10.html'
        """
        return f"{self.prefix}{value.lower() if self.lower else value}{self.suffix}"


@dataclass(frozen=True, slots=True)
class IgnoreKey:
    """The target key is the wildcard: its value does not affect the page."""


KeyOperation = KeepKey | SetLiteral | ReplaceKey | IgnoreKey


@dataclass(frozen=True, slots=True)
class NormalizationRule:
    """A normalization rule: URLs of ``source`` are rewritten to the format of ``target``.

    ``operations``: one for every key of the target. ``nodes``: the numbers of the two nodes.
    ``support``: URLs that it can normalise; ``fpr``: equation 3 on the training set; ``loss``: upper
    95 % bound of the share of bad groups; ``overlap``: equation 6. ``chain``: the rules that were
    concatenated to it, by their nodes.
    """

    source: Pattern
    target: Pattern
    operations: Mapping[str, KeyOperation]
    nodes: tuple[int, int] = (0, 0)
    support: int = 0
    fpr: float = 0.0
    loss: float = 1.0
    overlap: float = 0.0
    chain: tuple[tuple[int, int], ...] = ()
    options: PatternTreeChoices = field(default=FAITHFUL, repr=False)
    last: frozenset[str] | None = None
    """Of a chain: the target keys that its last rule ignores."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "operations", dict(self.operations))

    def __hash__(self) -> int:
        return hash((self.nodes, self.chain, tuple(self.operations.items())))

    @property
    def of_one_node(self) -> bool:
        """Whether source and target are the same node."""
        return self.nodes[0] == self.nodes[1]

    @property
    def ignored(self) -> frozenset[str]:
        """The target keys that are ignored."""
        return frozenset(key for key, operation in self.operations.items() if isinstance(operation, IgnoreKey))

    @property
    def asked_of_target(self) -> frozenset[str]:
        """The keys that the target's own URLs must ignore too, to be equal to rewritten ones."""
        return self.ignored if self.last is None else self.last

    def rewrite(self, url: str, groups: GroupsLike = None) -> str | None:
        """Return the canonical form of a URL of the source pattern; None for another URL."""
        view = view_of(url, self.options, groups)
        if not view or not self.source.matches(view):
            return None
        return composed(rewritten(view, self.operations), site_text(url, groups))

    def __str__(self) -> str:
        operations = ", ".join(f"{key}: {_text(operation)}" for key, operation in self.operations.items())
        return f"{self.source} -> {self.target} [{operations}]"


def rewritten(view: Mapping[str, str], operations: Mapping[str, KeyOperation]) -> View:
    """Return the keys and values that operations make of those of a URL, all at once.

    A replace from a key that the URL does not have leaves its target out.
    """
    result: View = {}
    for key, operation in operations.items():
        if isinstance(operation, IgnoreKey):
            result[key] = ANYTHING
        elif isinstance(operation, ReplaceKey):
            value = view.get(operation.source)
            if value is not None:
                result[key] = operation.text(value)
        else:
            result[key] = operation.value
    return result


def concatenated(first: NormalizationRule, second: NormalizationRule) -> NormalizationRule:
    """Return the direct rule of two chained ones (Figure 8 (d), (e)): *first*, then *second*."""
    operations: dict[str, KeyOperation] = {}
    for key, operation in second.operations.items():
        before = first.operations.get(operation.source) if isinstance(operation, ReplaceKey) else None
        if isinstance(operation, (KeepKey, SetLiteral)):
            operations[key] = _literal(first, key, operation.value)
        elif isinstance(operation, IgnoreKey):
            operations[key] = operation
        elif isinstance(before, ReplaceKey):
            operations[key] = ReplaceKey(
                before.source,
                operation.prefix + (before.prefix.lower() if operation.lower else before.prefix),
                (before.suffix.lower() if operation.lower else before.suffix) + operation.suffix,
                before.lower or operation.lower,
            )
        elif isinstance(before, (KeepKey, SetLiteral)):
            operations[key] = _literal(first, key, operation.text(before.value))
        elif isinstance(before, IgnoreKey):
            operations[key] = before
    return NormalizationRule(
        source=first.source,
        target=second.target,
        operations=operations,
        nodes=(first.nodes[0], second.nodes[1]),
        support=first.support,
        fpr=1 - (1 - first.fpr) * (1 - second.fpr),
        loss=1 - (1 - first.loss) * (1 - second.loss),
        overlap=min(first.overlap, second.overlap),
        chain=(first.chain or (first.nodes,)) + (second.chain or (second.nodes,)),
        options=first.options,
        last=second.asked_of_target,
    )


def _literal(rule: NormalizationRule, key: str, value: str) -> KeyOperation:
    """Return the operation that writes a literal for URLs of the source of a rule."""
    there = rule.source.literals.get(key) == value or rule.options.literals == "keep"
    return KeepKey(value) if there else SetLiteral(value)


def _text(operation: KeyOperation) -> str:
    if isinstance(operation, IgnoreKey):
        return "ignore"
    if isinstance(operation, ReplaceKey):
        return f"replace {operation.prefix}{{{operation.source}}}{operation.suffix}"
    return f"{'keep' if isinstance(operation, KeepKey) else 'set'} {operation.value}"
