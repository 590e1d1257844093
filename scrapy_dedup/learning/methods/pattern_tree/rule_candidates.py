"""Candidate rules: keep, replace and ignore for every key (pattern-tree, section 5.2.2)."""

import dataclasses
from collections.abc import Mapping

import numpy as np

from ...data.frame import Frame, Level
from ...data.sampling import SEED
from ...evidence.arrays import Rows
from ...search.difference_sets import drop_set
from ..pattern_tree_gaps import PatternTreeChoices
from .duplicates import DuplicateNodes, duplicate_nodes
from .effects import Effects
from .normalization_rules import IgnoreKey, KeepKey, KeyOperation, NormalizationRule, ReplaceKey, SetLiteral
from .patterns import Fixed, Pattern
from .tree import Node, PatternTree
from .value_mappings import Common, common_duplicates, key_mappings

Dropped = Mapping[int, frozenset[str]]
"""Node number -> the keys that the difference-set test drops there."""


def candidate_rules(tree: PatternTree, options: PatternTreeChoices) -> list[NormalizationRule]:
    """Return one raw candidate rule for every two duplicate nodes."""
    dropped = dropped_keys(tree) if options.self_rule == "drop set" else None
    pairs = [pair for pair in duplicate_nodes(tree, options) if _is_wanted(tree, pair, dropped or {}, options)]
    if options.max_pairs is not None and len(pairs) > options.max_pairs:
        # The random tail of a tree pairs every node with every other.
        pairs.sort(key=lambda pair: -min(tree.nodes[pair.source].volume, tree.nodes[pair.target].volume))
        pairs = pairs[: options.max_pairs]
    found = [_rule(tree, pair, dropped, options) for pair in pairs]
    for node in tree.nodes:
        own = dropped.get(node.number, frozenset()) if dropped else frozenset[str]()
        # What an ancestor drops is dropped by its rule.
        if dropped and own and (node.parent is None or own != dropped.get(node.parent.number)):
            found.append(_rule(tree, DuplicateNodes(node.number, node.number, 1.0), dropped, options))
    return found


def operations(
    tree: PatternTree, source: Node, target: Node, options: PatternTreeChoices, dropped: Dropped | None = None
) -> dict[str, KeyOperation]:
    """Return the operation for every key of *target*, for URLs of *source*.

    *keep* where the target has one value, *replace* where the key maps to one of the source and is no
    fake, *ignore* otherwise. *dropped* are the keys that the difference-set test drops in each node.
    """
    if source is target and dropped is not None:
        ignored = dict.fromkeys(sorted(dropped.get(target.number, ())), IgnoreKey())
        return {**same_formation(target.pattern), **ignored}
    common = common_duplicates(tree, source, target)
    mappings = key_mappings(tree, source, target, common, options)
    literals = source.pattern.literals
    found: dict[str, KeyOperation] = {}
    for key, part in target.pattern.parts.items():
        replace = mappings.get(key)
        if isinstance(part, Fixed):
            there = literals.get(key) == part.value or options.literals == "keep"
            found[key] = KeepKey(part.value) if there else SetLiteral(part.value)
        elif replace is None or (
            options.fake_replace == "share" and share_differing(tree, common, replace, key) > options.max_differing
        ):
            found[key] = IgnoreKey()
        else:
            found[key] = replace
    if options.fake_replace == "drop set":
        found.update(dict.fromkeys(_droppable(tree, source, target, found), IgnoreKey()))
    return found


def _droppable(tree: PatternTree, source: Node, target: Node, found: Mapping[str, KeyOperation]) -> list[str]:
    """Return the replaced keys that can be dropped jointly when URLs of both nodes have the target's keys."""
    table, effects = tree.table, Effects(tree.table)
    columns = {
        key: np.r_[effects.copied(operation, source.rows), table.columns[key][target.rows]]
        for key, operation in found.items()
        if isinstance(operation, ReplaceKey)
    }
    rows = np.r_[source.rows, target.rows]
    urls = [table.urls[row] for row in rows.tolist()]
    both = dataclasses.replace(table, urls=urls, columns=columns, content=table.content[rows], lone=table.lone[rows])
    levels = drop_set(Frame(both, np.arange(len(rows))), {}, np.random.default_rng(SEED)).levels
    return sorted(key for key, level in levels.items() if level is Level.DROPPED)


def share_differing(tree: PatternTree, common: Common, replace: ReplaceKey, key: str) -> float:
    """Return the share of duplicates whose clusters differ in the value of a mapped key.

    The test of a fake replace: if too many URLs with different values are duplicates, the key does
    not affect the page.
    """
    table = tree.table
    codes = table.columns[key][common.target]
    content = table.content[common.target]
    if common.source is not common.target:
        codes = np.r_[codes, table.columns[replace.source][common.source]]
        content = np.r_[content, table.content[common.source]]
    if not len(content):
        return 0.0
    order = np.lexsort((codes, content))
    codes, content = codes[order], content[order]
    starts = np.flatnonzero(np.r_[True, content[1:] != content[:-1]])
    sizes = np.diff(np.r_[starts, len(content)])
    ends = starts + sizes - 1
    differing = codes[starts] != codes[ends]
    several = sizes > 1
    return float(sizes[differing].sum() / sizes[several].sum()) if several.any() else 0.0


def dropped_keys(tree: PatternTree) -> dict[int, frozenset[str]]:
    """Return the keys that can be dropped jointly in each node, those of its ancestors included.

    By the difference-set test; a key of which only the value can be dropped stays.
    """
    rng = np.random.default_rng(SEED)
    found: dict[int, frozenset[str]] = {}
    # A tree may overshoot its bound; the small nodes of a random tail drop what their parents drop.
    volumes = sorted((node.volume for node in tree.nodes), reverse=True)
    least = max(tree.options.min_urls, volumes[: max(1, tree.options.max_nodes)][-1])
    for node in tree.nodes:
        above = found[node.parent.number] if node.parent is not None else frozenset[str]()
        own: frozenset[str] = frozenset()
        if node.volume >= least and _has_duplicates(tree, node.rows):
            frame = Frame(tree.table, node.rows)
            base = {key: Level.DROPPED for key in above if key in frame.columns}
            levels = drop_set(frame, base, rng).levels
            own = frozenset(key for key, level in levels.items() if level is Level.DROPPED)
        found[node.number] = above | own
    return {number: keys & tree.nodes[number].pattern.parts.keys() for number, keys in found.items()}


def _has_duplicates(tree: PatternTree, rows: Rows) -> bool:
    return len(np.unique(tree.table.content[rows])) < len(rows)


def _rule(
    tree: PatternTree, pair: DuplicateNodes, dropped: Dropped | None, options: PatternTreeChoices
) -> NormalizationRule:
    source, target = tree.nodes[pair.source], tree.nodes[pair.target]
    return NormalizationRule(
        source.pattern,
        target.pattern,
        operations(tree, source, target, options, dropped),
        nodes=(pair.source, pair.target),
        support=source.volume,
        overlap=pair.overlap,
        options=options,
    )


def _is_wanted(tree: PatternTree, pair: DuplicateNodes, dropped: Dropped, options: PatternTreeChoices) -> bool:
    if options.direction == "both" or pair.source == pair.target:
        return True
    return _cost(tree, pair.target, dropped) < _cost(tree, pair.source, dropped)


def _cost(tree: PatternTree, number: int, dropped: Dropped) -> tuple[int, int, int, int]:
    """Return how little a pattern is wanted as canonical: dynamic, long, rare."""
    node = tree.nodes[number]
    kept = node.pattern.parts.keys() - dropped.get(number, frozenset())
    return sum(key.startswith("q.") for key in kept), len(kept), -node.volume, number


def same_formation(pattern: Pattern) -> dict[str, KeyOperation]:
    """Return the operations that leave URLs of a pattern as they are."""
    return {
        key: KeepKey(part.value) if isinstance(part, Fixed) else ReplaceKey(key) for key, part in pattern.parts.items()
    }
