"""Transient paths of a site, as the transient-content document finds and uses them.

Paragraphs on FIG. 2, FIG. 3, FIG. 6 and FIG. 7. Where the document leaves a choice, it is made so:

- The path of a token names the open tags before it; a start tag counts as open in its own path,
  because that path names the subtree that the tag roots. End tags root nothing and are not
  counted. So the tokens of a path are its start tags and the texts that stand right in them.
- Paths know neither position nor class: a passing part among four lasting siblings of the same
  path is never found, and lasting siblings of passing ones are taken along.
- Text that stands right in an element is no child path: an element of which all *child elements* are
  transient is promoted whatever its own text is, as the document's rule has it.
- One change in one opportunity is enough for any threshold.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import NamedTuple

from .changes import Changes, whole_subtrees
from .thresholds import Thresholds
from .token_table import Role, TokenTable

MAX_SHARE = Thresholds().max_share


class PathCounts(NamedTuple):
    """What two versions of a page say of paths, ``html/body/div``: no more than the tables of FIG. 3 take from them."""

    #: How many tokens with this path there are in both.
    counted: Mapping[str, int]
    #: How many of these root a subtree all of which had changed.
    changed: Mapping[str, int]
    #: Paths that have a child that is skipped, since it is too long or too deep.
    with_long_children: frozenset[str]


def path_counts(changes: Changes, max_path: int) -> PathCounts:
    """Return what two versions say of paths of at most *max_path* characters, as the document writes them: ``<html><body>``."""
    counted: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    long: set[str | None] = set()
    for table, bits in zip((changes.first, changes.second), changes.final, strict=True):
        paths = _paths(table, max_path)
        of_node: Counter[int] = Counter()
        changed_of: Counter[int] = Counter()
        for node, role, whole in zip(table.nodes, table.roles, whole_subtrees(table, bits), strict=True):
            if role == Role.CUT:
                long.add(paths[node] if node >= 0 else "")
            elif role != Role.CLOSE and node >= 0:
                of_node[node] += 1
                changed_of[node] += whole
        for node, count in of_node.items():
            path = paths[node]
            if path is None:
                above = table.names[node][0]
                long.add(paths[above] if above >= 0 else "")
                continue
            counted[path] += count
            if changed_of[node]:
                changed[path] += changed_of[node]
    return PathCounts(dict(counted), dict(changed), frozenset([path for path in long if path is not None]))


def _paths(table: TokenTable, max_path: int) -> list[str | None]:
    """Return the paths of a page by their numbers, None for those that are skipped."""
    found: list[str | None] = []
    for above, name in table.names:
        before = found[above] if above >= 0 else ""
        path = None if before is None else f"{before}/{name}" if before else name
        if path is not None and len(path) + path.count("/") + 2 > max_path:
            path = None
        found.append(None if path is None else intern(path))  # the pages of a site have the same ones
    return found


@dataclass(slots=True)
class PathTables:
    """The three hash tables of FIG. 3; the keys are paths, ``html/body/div``, which are not longer than *max_path*."""

    max_path: int = Thresholds().max_path
    #: How often a token with this path was met in any version of any page.
    subtrees: Counter[str] = field(default_factory=Counter)
    #: How often the whole subtree rooted at such a token had changed.
    marked_subtrees: Counter[str] = field(default_factory=Counter)
    #: How many different paths there are one step below.
    unique_children: Counter[str] = field(default_factory=Counter)
    _with_long_children: set[str] = field(default_factory=set)

    def add(self, changes: Changes) -> None:
        """Count the tokens of both versions of a page (paragraph "The path analysis module 360 updates")."""
        self.add_counts(path_counts(changes, self.max_path))

    def add_counts(self, found: PathCounts) -> None:
        """Add what two versions say."""
        # What is skipped is never transient, so that its parent is not promoted either.
        for path in found.with_long_children - self._with_long_children:
            self._with_long_children.add(path)
            self.unique_children[path] += 1
        for path in found.counted:
            if path not in self.subtrees:
                self.unique_children[_parent(path)] += 1
        self.subtrees.update(found.counted)
        self.marked_subtrees.update(found.changed)


@dataclass(frozen=True, slots=True)
class TransientPaths:
    """The transient paths of a site: what they name, and all below it, is transient."""

    paths: frozenset[str]
    #: True if too many paths changed: then there are none.
    restructured: bool = False
    #: Path -> how many of its tokens had changed, and how many there were; of one that was promoted, those of its children.
    evidence: Mapping[str, tuple[int, int]] = field(default_factory=dict, compare=False)

    def changed(self, changes: Changes) -> "TransientPaths":
        """Return the paths whose content changed between two versions of a page.

        Paragraph on FIG. 2, "accompanied by analysis of the content associated with the path ...
        by comparing fingerprints": a path counts for this page if any token on it is
        marked in either version; then all of its tokens are transient.
        """
        changed = {
            table.path(node)
            for table, bits in zip((changes.first, changes.second), changes.final, strict=True)
            for node in {node for node, bit in zip(table.nodes, bits, strict=True) if bit}
        }
        return TransientPaths(frozenset(filter(None, map(self._root, changed))))

    def _root(self, path: str) -> str:
        """Return the most general of the paths that *path* is or is below, "" if there is none."""
        for at, sign in enumerate(path + "/"):
            if sign == "/" and path[:at] in self.paths:
                return path[:at]
        return ""


def transient_paths(tables: PathTables, *, threshold: float = 0.5, max_share: float = MAX_SHARE) -> TransientPaths:
    """Return the paths that the tables show to be transient.

    Paragraph "In some implementations, the paths in the marked_subtrees hash table": a path is
    transient where ``marked_subtrees(path) >= subtrees(path) * threshold`` (the text says "greater
    than", its formula ">="; the formula is followed), and what is below is skipped. Then parents
    of which all unique children are transient are added, from the bottom up, in place of their children. Where more
    than *max_share* of all paths are transient so, the site was restructured, and none is returned.
    """
    from_the_top = sorted(tables.subtrees, key=_depth)
    transient: set[str] = set()
    for path in from_the_top:
        below = _parent(path) in transient
        changed = tables.marked_subtrees[path]
        if below or (changed and changed >= tables.subtrees[path] * threshold):
            transient.add(path)
    children: Counter[str] = Counter()
    #: Path -> what its transient children rest on, all together.
    below_it: dict[str, tuple[int, int]] = {}
    evidence: dict[str, tuple[int, int]] = {}
    for path in reversed(from_the_top):
        own = tables.marked_subtrees[path], tables.subtrees[path]
        if path not in transient and children[path] and children[path] == tables.unique_children[path]:
            transient.add(path)
            own = below_it[path]
        if path in transient:
            above = _parent(path)
            children[above] += 1
            evidence[path] = own
            changed, counted = below_it.get(above, (0, 0))
            below_it[above] = changed + own[0], counted + own[1]
    if len(transient) > max_share * len(from_the_top):
        return TransientPaths(frozenset(), restructured=True)
    found = frozenset([path for path in transient if _parent(path) not in transient])
    return TransientPaths(found, evidence={path: evidence[path] for path in found})


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _depth(path: str) -> int:
    return path.count("/")
