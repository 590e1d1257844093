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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ...content.tokens import Kind, Token
from .changes import MAX_MARKED, Bits, Changes, TokenTable, changes_between, whole_subtrees

#: "In some examples, the threshold maximum number of characters in a path is set at 1,000 characters".
MAX_PATH_LENGTH = 1000
#: Share of all paths above which the site counts as restructured; the document names no value.
MAX_SHARE = 0.5


def path_of(token: Token) -> str:
    """Return the path that a token counts for: with its own name for a tag, else of where it stands."""
    if token.kind in (Kind.OPEN, Kind.EMPTY) and not _is_cut(token):
        return f"{token.path}/{token.name}" if token.path else token.name
    return token.path


def _is_cut(token: Token) -> bool:
    """Return True if the token stands so deep that its path does not name all open tags."""
    return token.depth > (token.path.count("/") + 1 if token.path else 0)


def is_too_long(path: str) -> bool:
    """Return True for a path that is skipped: as the document writes it, ``<html><body>``, it is too long."""
    return len(path) + path.count("/") + 2 > MAX_PATH_LENGTH


@dataclass(slots=True)
class PathTables:
    """The three hash tables of FIG. 3; the keys are paths, ``html/body/div``."""

    #: How often a token with this path was met in any version of any page.
    subtrees: Counter[str] = field(default_factory=Counter)
    #: How often the whole subtree rooted at such a token had changed.
    marked_subtrees: Counter[str] = field(default_factory=Counter)
    #: How many different paths there are one step below.
    unique_children: Counter[str] = field(default_factory=Counter)
    _with_long_children: set[str] = field(default_factory=set)

    def add(self, changes: Changes) -> None:
        """Count the tokens of both versions of a page (paragraph "The path analysis module 360 updates")."""
        self._add(changes.first, changes.final[0])
        self._add(changes.second, changes.final[1])

    def _add(self, table: TokenTable, bits: Bits) -> None:
        for token, changed in zip(table.tokens, whole_subtrees(table, bits), strict=True):
            if token.kind is Kind.CLOSE:
                continue
            path = path_of(token)
            if not path:
                continue
            cut = _is_cut(token)
            if cut or is_too_long(path):
                # Never transient, so that its parent is not promoted either.
                parent = path if cut else _parent(path)
                if parent not in self._with_long_children:
                    self._with_long_children.add(parent)
                    self.unique_children[parent] += 1
                continue
            if path not in self.subtrees:
                self.unique_children[_parent(path)] += 1
            self.subtrees[path] += 1
            if changed:
                self.marked_subtrees[path] += 1


@dataclass(frozen=True, slots=True)
class TransientPaths:
    """The transient paths of a site: what they name, and all below it, is transient."""

    paths: frozenset[str]
    #: True if too many paths changed: then there are none.
    restructured: bool = False

    def __contains__(self, path: str) -> bool:
        """Return True if *path* is one of the paths, or below one."""
        return path in self.paths or any(path[:at] in self.paths for at, sign in enumerate(path) if sign == "/")

    def marks(self, table: TokenTable) -> Bits:
        """Return a bit for each token of a page, set on a transient path.

        FIG. 7, stages 715 and 720: that the path exists in the page is enough.
        """
        known: dict[str, bool] = {}
        bits = []
        for token in table.tokens:
            path = path_of(token)
            bit = known.get(path)
            if bit is None:
                bit = known[path] = path in self
            bits.append(bit)
        return tuple(bits)

    def verified(self, changes: Changes) -> tuple[Bits, Bits]:
        """Return the bits of two versions of a page, set on the transient paths whose content changed there."""
        confirmed = self.changed(changes)
        return confirmed.marks(changes.first), confirmed.marks(changes.second)

    def changed(self, changes: Changes) -> "TransientPaths":
        """Return the paths whose content changed between two versions of a page.

        Paragraph on FIG. 2, "accompanied by analysis of the content associated with the path ...
        by comparing fingerprints": a path counts for this page if any token on it is
        marked in either version; then all of its tokens are transient.
        """
        changed = {
            path_of(token)
            for table, bits in zip((changes.first, changes.second), changes.final, strict=True)
            for token, bit in zip(table.tokens, bits, strict=True)
            if bit
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
    for path in reversed(from_the_top):
        if path not in transient and children[path] and children[path] == tables.unique_children[path]:
            transient.add(path)
        if path in transient:
            children[_parent(path)] += 1
    if len(transient) > max_share * len(from_the_top):
        return TransientPaths(frozenset(), restructured=True)
    return TransientPaths(frozenset(path for path in transient if _parent(path) not in transient))


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _depth(path: str) -> int:
    return path.count("/")


def learn_paths(
    pages: Iterable[Sequence[str]],
    *,
    threshold: float = 0.5,
    max_share: float = MAX_SHARE,
    max_marked: float = MAX_MARKED,
) -> TransientPaths:
    """Return the transient paths of a site from its pages, each given as its versions in order of time.

    The document compares two versions; of more, each is compared with the next one.
    """
    tables = PathTables()
    for versions in pages:
        for first, second in pairwise(versions):
            tables.add(changes_between(first, second, max_marked=max_marked))
    return transient_paths(tables, threshold=threshold, max_share=max_share)
