"""The paper's normalization rules: from the formation of one node to that of another (section 3)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ....urls import GroupsLike
from ...data.frame import NEVER_KEPT
from ...data.url_table import Table
from ...evidence.arrays import ABSENT, Hashes, Rows
from .patterns import ANYTHING, Fixed, Pattern, View, composed, view_of

_WILD = 2**31 - 1


@dataclass(frozen=True, slots=True)
class KeepKey:
    """The target key has one value, and is filled with it."""

    value: str


@dataclass(frozen=True, slots=True)
class ReplaceKey:
    """The target key gets the value of a key of the source."""

    source: str


@dataclass(frozen=True, slots=True)
class IgnoreKey:
    """The target key is the wildcard: its value does not affect the page."""


KeyOperation = KeepKey | ReplaceKey | IgnoreKey


@dataclass(frozen=True, slots=True)
class NormalizationRule:
    """A normalization rule: URLs of ``source`` are rewritten to the format of ``target``.

    ``operations``: one for every key of the target. ``nodes``: the numbers of the two nodes.
    ``support``: URLs that it can normalise; ``fpr``: equation 3 on the training set;
    ``overlap``: equation 6. ``chain``: the rules that were concatenated to it, by their nodes.
    """

    source: Pattern
    target: Pattern
    operations: Mapping[str, KeyOperation]
    nodes: tuple[int, int] = (0, 0)
    support: int = 0
    fpr: float = 0.0
    overlap: float = 0.0
    chain: tuple[tuple[int, int], ...] = ()
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
        """Return the canonical form of a URL of the source's pattern; None for another URL."""
        view = view_of(url, groups)
        if not view or not self.source.matches(view):
            return None
        return composed(rewritten(view, self.operations), url, groups)

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
        elif isinstance(operation, KeepKey):
            result[key] = operation.value
        elif (value := view.get(operation.source)) is not None:
            result[key] = value
    return result


def forms(table: Table, operations: Mapping[str, KeyOperation], rows: Rows) -> Hashes:
    """Return the hash of what *operations* make of each of some rows: equal hashes, equal results."""
    total = np.zeros(len(rows), dtype=np.uint64)
    for key, operation in operations.items():
        if key in NEVER_KEPT:
            continue
        if isinstance(operation, ReplaceKey):
            column = table.columns.get(operation.source)
            codes = np.zeros(len(rows), dtype=np.int32) if column is None else column[rows]
        else:
            code = _WILD if isinstance(operation, IgnoreKey) else table.numbers[operation.value]
            codes = np.full(len(rows), code, dtype=np.int32)
        total += np.where(codes != ABSENT, table.hashes(key, codes), np.uint64(0))
    return total


def same_formation(pattern: Pattern) -> dict[str, KeyOperation]:
    """Return the operations that leave URLs of a pattern as they are."""
    return {
        key: KeepKey(part.value) if isinstance(part, Fixed) else ReplaceKey(key) for key, part in pattern.parts.items()
    }


def concatenated(first: NormalizationRule, second: NormalizationRule) -> NormalizationRule:
    """Return the direct rule of two chained ones (Figure 8 (d), (e)): *first*, then *second*."""
    operations: dict[str, KeyOperation] = {}
    for key, operation in second.operations.items():
        said = first.operations.get(operation.source) if isinstance(operation, ReplaceKey) else operation
        if said is not None:
            operations[key] = said
    return NormalizationRule(
        source=first.source,
        target=second.target,
        operations=operations,
        nodes=(first.nodes[0], second.nodes[1]),
        support=first.support,
        fpr=1 - (1 - first.fpr) * (1 - second.fpr),
        overlap=min(first.overlap, second.overlap),
        chain=(first.chain or (first.nodes,)) + (second.chain or (second.nodes,)),
        last=second.asked_of_target,
    )


def _text(operation: KeyOperation) -> str:
    if isinstance(operation, IgnoreKey):
        return "ignore"
    return f"keep {operation.value}" if isinstance(operation, KeepKey) else f"replace {{{operation.source}}}"
