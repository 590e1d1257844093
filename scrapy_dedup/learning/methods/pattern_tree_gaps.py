"""How the gaps of the pattern-tree paper are filled: one named choice per gap.

The paper leaves 26 things open or prints them so that they cannot work. ``FAITHFUL`` is the nearest
reading that can be run, ``IMPROVED`` what measurement recommends; any mixture can be made with
``dataclasses.replace(FAITHFUL, walk="printed")``. The table in docs/methods/pattern-tree.md has the
reasons; a field's text names its row.
"""

from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from .option_readers import Read, number, one_of, or_none, truth


def _choice(default: Any, text: str) -> Any:
    """Return a field: its default, and what it chooses, with the row of the table that has the reasons."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, slots=True)
class PatternTreeChoices:
    """The choices of one run; the defaults are those of ``FAITHFUL``."""

    # Tree (section 5.1)
    decline: Literal["printed", "drop", "significant"] = _choice(
        "drop", "equation 5: with its printed sign, the largest drop, the largest drop that is no chance (row 1)"
    )
    without_decline: Literal["trivial", "frequent"] = _choice(
        "trivial", "where no drop is found: every value is trivial, or those that are frequent are salient (row 2)"
    )
    single_value: Literal["constant", "child"] = _choice(
        "constant", "a key of one value: a literal of the node, or a split into one child (row 3)"
    )
    stop: Literal["first", "exhausted"] = _choice(
        "first", "the recursion ends at the first key without salient values, or when no key has any (row 4)"
    )
    key_choice: Literal["entropy", "normalised"] = _choice(
        "entropy", "equation 4 as printed, or relative to the number of values with absence as a value (row 5)"
    )
    peel: Literal["nothing", "drop set"] = _choice(
        "nothing", "keys that can be dropped everywhere are removed before the tree is built (row 6)"
    )
    depth: Literal["from the left", "length first"] = _choice(
        "from the left", "path segments are counted from the left, or URLs are split by path length first (row 7)"
    )
    parts: Literal["segments", "explicit"] = _choice(
        "segments", "integers segments, or extension, trailing slash and matrix parameters as keys of their own (row 8)"
    )

    # Candidates (section 5.2)
    overlap: Literal["set", "multiplicity"] = _choice(
        "multiplicity", "equation 6: a URL of both nodes counts once, or once for each (row 9)"
    )
    self_rule: Literal["duplicate rate", "drop set"] = _choice(
        "duplicate rate", "a node is its own duplicate by its duplicate rate, or by the difference-set test (row 10)"
    )
    nested_pairs: bool = _choice(False, "whether a node and its ancestor may be duplicate nodes (row 11)")
    index: Literal["all", "bounded"] = _choice(
        "all", "clusters in the inverted index: all, or those that are not everywhere (row 12)"
    )
    mapping: Literal["common values", "in clusters"] = _choice(
        "common values", "sigma of Algorithm 3: share of common values, or agreement inside duplicate clusters (row 13)"
    )
    copying: Literal["verbatim", "affixes"] = _choice(
        "verbatim", "what a replace operation copies: the value, or the value with affix and lower case (row 14)"
    )
    fake_replace: Literal["share", "drop set"] = _choice(
        "share", "when a replace becomes an ignore: by the share of differing duplicates, by the drop set (row 15)"
    )
    literals: Literal["keep", "set"] = _choice(
        "keep", "literals of the target are all *keep*, or *set* where the source does not have them (row 16)"
    )
    direction: Literal["both", "cheaper"] = _choice(
        "both", "rules in both directions, or towards the cheaper pattern (row 17)"
    )
    wildcard: Literal["any", "class"] = _choice(
        "any", "what * stands for: anything, or the class of the values that were seen (row 18)"
    )

    # Filter (section 5.2.3)
    tested_on: Literal["duplicates", "everything"] = _choice(
        "duplicates", "the false-positive test runs on URLs that have a duplicate, or on all of them (row 19)"
    )
    composed: bool = _choice(False, "whether the deployed rules are tested together, chains included (row 20)")
    noise: Literal["pairs", "groups"] = _choice(
        "pairs", "the gate: pairs (eq. 3, labels are trusted), or groups with a bounded share of bad ones (row 25)"
    )

    # Selection (section 5.3)
    rows: Literal["normalised", "lazy"] = _choice(
        "normalised", "equation 7: rows are brought to 1, or what is missing to 1 stays where it is (row 21)"
    )
    walk: Literal["printed", "damped", "components"] = _choice(
        "damped", "the walk to infinity, damped with jumps by volume, or inside the components of the rules (row 22)"
    )
    destinations: Literal["by energy", "one a component"] = _choice(
        "by energy", "which nodes become destinations (row 23)"
    )
    destination_self_rules: Literal["removed", "kept"] = _choice(
        "kept", "whether the ignore operations of a destination go with the rules that start from it (row 24)"
    )

    # Thresholds, with the paper's values where it gives any
    min_overlap: float = _choice(0.5, "share of common URLs (equation 6) that makes two nodes duplicate nodes")
    min_sigma: float = _choice(0.5, "sigma of Algorithm 3 from which on two keys are mapped to each other")
    max_differing: float = _choice(
        0.2, "share of duplicates that differ in a key from which on its replace is fake (no value given)"
    )
    damping: float = _choice(0.85, "damping of the damped walk")
    link_weight: float = _choice(
        0.1, "weight of descendant-ancestor links in the damped walk; 1 in the paper, which ends at the root"
    )
    min_urls: int = _choice(2, "URLs that a node must have to be split")
    max_nodes: int = _choice(2_000, "nodes of a tree; the paper's largest has 634")
    max_pairs: int | None = _choice(
        None, "pairs of duplicate nodes that are looked at, those with the most URLs; None for all"
    )


FAITHFUL = PatternTreeChoices()

IMPROVED = PatternTreeChoices(
    decline="significant",
    without_decline="frequent",
    stop="exhausted",
    key_choice="normalised",
    peel="drop set",
    depth="length first",
    parts="explicit",
    self_rule="drop set",
    index="bounded",
    mapping="in clusters",
    copying="affixes",
    fake_replace="drop set",
    literals="set",
    direction="cheaper",
    wildcard="class",
    tested_on="everything",
    composed=True,
    noise="groups",
    rows="lazy",
    walk="components",
    destinations="one a component",
    min_overlap=0.1,
    min_urls=30,
    max_nodes=200,
    max_pairs=24,
)


def readers() -> dict[str, Read]:
    """Return, by the name of each choice, what reads its value from a text or a value of Python.

    It raises ValueError, with the values that are right, for another one.
    """
    return {name: _reader(kind) for name, kind in get_type_hints(PatternTreeChoices).items()}


def right_values() -> dict[str, str]:
    """Return, by the name of each choice, what values are right, in words."""
    found = {}
    for name, kind in get_type_hints(PatternTreeChoices).items():
        if get_origin(kind) is Literal:
            found[name] = " | ".join(get_args(kind))
        else:
            found[name] = "true | false" if kind is bool else "0 to 1" if kind is float else "whole number"
            found[name] += " | none" if type(None) in get_args(kind) else ""
    return found


def texts() -> dict[str, str]:
    """Return, by the name of each choice, what it chooses."""
    return {one.name: one.metadata["help"] for one in fields(PatternTreeChoices)}


def _reader(kind: Any) -> Read:
    """Return what reads a value of a choice; *kind* is its type."""
    if get_origin(kind) is Literal:
        return one_of(*get_args(kind))
    if kind is bool:
        return truth
    read = number(0, 1) if kind is float else number(0, whole=True)
    return or_none(read) if type(None) in get_args(kind) else read
