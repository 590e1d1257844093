"""How the gaps of the pattern-tree paper are filled: one named choice per gap.

The paper leaves 26 things open or prints them so that they cannot work. ``FAITHFUL`` is the nearest
reading that can be run, ``IMPROVED`` what measurement recommends; any mixture can be made with
``dataclasses.replace(FAITHFUL, walk="printed")``. The table in docs/methods/pattern-tree.md has the
reasons; the numbers before the fields are its rows.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from .option_readers import Read, number, one_of, or_none, truth


@dataclass(frozen=True, slots=True)
class PatternTreeChoices:
    """The choices of one run; the defaults are those of ``FAITHFUL``."""

    # Tree (section 5.1)
    decline: Literal["printed", "drop", "significant"] = "drop"
    """1. Equation 5: with its printed sign, the largest drop, the largest drop that is no chance."""
    without_decline: Literal["trivial", "frequent"] = "trivial"
    """2. Where no drop is found: every value is trivial, or those that are frequent are salient."""
    single_value: Literal["constant", "child"] = "constant"
    """3. A key of one value: a literal of the node, or a split into one child."""
    stop: Literal["first", "exhausted"] = "first"
    """4. The recursion ends at the first key without salient values, or when no key has any."""
    key_choice: Literal["entropy", "normalised"] = "entropy"
    """5. Equation 4 as printed, or relative to the number of values with absence as a value."""
    peel: Literal["nothing", "drop set"] = "nothing"
    """6. Keys that can be dropped everywhere are removed before the tree is built."""
    depth: Literal["from the left", "length first"] = "from the left"
    """7. Path segments are counted from the left, or URLs are split by path length first."""
    parts: Literal["segments", "explicit"] = "segments"
    """8. Integers segments, or extension, trailing slash and matrix parameters as keys of their own."""

    # Candidates (section 5.2)
    overlap: Literal["set", "multiplicity"] = "multiplicity"
    """9. Equation 6: a URL of both nodes counts once, or once for each."""
    self_rule: Literal["duplicate rate", "drop set"] = "duplicate rate"
    """10. A node is its own duplicate by its duplicate rate, or by the difference-set test."""
    nested_pairs: bool = False
    """11. Whether a node and its ancestor may be duplicate nodes."""
    index: Literal["all", "bounded"] = "all"
    """12. Clusters in the inverted index: all, or those that are not everywhere."""
    mapping: Literal["common values", "in clusters"] = "common values"
    """13. Sigma of Algorithm 3: share of common values, or agreement inside duplicate clusters."""
    copying: Literal["verbatim", "affixes"] = "verbatim"
    """14. What a replace operation copies: the value, or the value with affix and lower case."""
    fake_replace: Literal["share", "drop set"] = "share"
    """15. When a replace becomes an ignore: by the share of differing duplicates, by the drop set."""
    literals: Literal["keep", "set"] = "keep"
    """16. Literals of the target are all *keep*, or *set* where the source does not have them."""
    direction: Literal["both", "cheaper"] = "both"
    """17. Rules in both directions, or towards the cheaper pattern."""
    wildcard: Literal["any", "class"] = "any"
    """18. What ``*`` stands for: anything, or the class of the values that were seen."""

    # Filter (section 5.2.3)
    tested_on: Literal["duplicates", "everything"] = "duplicates"
    """19. The false-positive test runs on URLs that have a duplicate, or on all of them."""
    composed: bool = False
    """20. Whether the deployed rules are tested together, chains included."""
    noise: Literal["pairs", "groups"] = "pairs"
    """25. The gate: pairs (eq. 3, labels are trusted), or groups with a bounded share of bad ones."""

    # Selection (section 5.3)
    rows: Literal["normalised", "lazy"] = "normalised"
    """21. Equation 7: rows are brought to 1, or what is missing to 1 stays where it is."""
    walk: Literal["printed", "damped", "components"] = "damped"
    """22. The walk to infinity, damped with jumps by volume, or inside the components of the rules."""
    destinations: Literal["by energy", "one a component"] = "by energy"
    """23. Which nodes become destinations."""
    destination_self_rules: Literal["removed", "kept"] = "kept"
    """24. Whether the ignore operations of a destination go with the rules that start from it."""

    # Thresholds, with the paper's values where it gives any
    min_overlap: float = 0.5
    min_sigma: float = 0.5
    max_differing: float = 0.2
    """Share of duplicates that differ in a key from which on its replace is fake (no value given)."""
    damping: float = 0.85
    link_weight: float = 0.1
    """Weight of descendant-ancestor links in the damped walk; 1 in the paper, which ends at the root."""
    min_urls: int = 2
    """URLs of a node that may be split."""
    max_nodes: int = 2_000
    """Nodes of a tree; the paper's largest has 634."""
    max_pairs: int | None = None
    """Pairs of duplicate nodes that are looked at, those with the most URLs; None for all."""


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
            found[name] = "true | false" if kind is bool else "number" if kind is float else "whole number"
            found[name] += " | none" if type(None) in get_args(kind) else ""
    return found


def _reader(kind: Any) -> Read:
    """Return what reads a value of a choice; *kind* is its type."""
    if get_origin(kind) is Literal:
        return one_of(*get_args(kind))
    if kind is bool:
        return truth
    read = number(0, whole=kind is not float)
    return or_none(read) if type(None) in get_args(kind) else read
