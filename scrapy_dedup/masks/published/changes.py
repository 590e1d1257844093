"""Which tokens changed between two versions of a page, as the transient-content document finds them.

Paragraphs on FIG. 1 and FIG. 5. Known limits of the method, which its readers should not forget:

- A token counts as unchanged if the same text stands anywhere in the other version: two texts that
  change places mark nothing, nor does "0" that becomes "1" on a page with another "1".
- What appears and stays (a comment) is marked like what is replaced (a date).
- The guard against reorganised pages is a share of tokens: a short page full of passing parts
  trips it, a redesign of a third of a page does not.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .thresholds import Thresholds
from .token_table import TokenTable, token_table

MAX_MARKED = Thresholds().max_marked

#: One entry for each token: whether it is marked.
Bits = tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed between two versions."""

    first: TokenTable
    second: TokenTable
    #: The "initial bit vectors": tokens whose fingerprint the other version does not have.
    initial: tuple[Bits, Bits]
    #: The "final bit vectors": with the tags around what is marked; no bit is set for a reorganised page.
    final: tuple[Bits, Bits]
    reorganised: bool


def changes_between(first: str, second: str, *, max_marked: float = MAX_MARKED) -> Changes:
    """Compare two versions of a page, given as HTML; see :func:`changes_of`."""
    return changes_of(token_table(first), token_table(second), max_marked=max_marked)


def changes_of(first: TokenTable, second: TokenTable, *, max_marked: float = MAX_MARKED) -> Changes:
    """Compare two versions of a page by their tables.

    Paragraph "the number of marked tokens in the two bit vectors can be accumulated": where more
    than *max_marked* of the tokens of both versions are marked, tags around them included, the page
    was reorganised, and nothing counts as transient. (The document does not say whether the tags
    count; with them, markup that was drawn anew weighs as much as text.)
    """
    tables = first, second
    initial = (
        marked(tables[0].fingerprints, frozenset(tables[1].fingerprints)),
        marked(tables[1].fingerprints, frozenset(tables[0].fingerprints)),
    )
    final = extended(tables[0], initial[0]), extended(tables[1], initial[1])
    total = len(tables[0]) + len(tables[1])
    reorganised = sum(final[0]) + sum(final[1]) > max_marked * total
    if reorganised:
        final = (False,) * len(tables[0]), (False,) * len(tables[1])
    return Changes(*tables, initial, final, reorganised)


def marked(fingerprints: Sequence[int], other: Collection[int]) -> Bits:
    """Return a bit for each fingerprint, set if the other version's fingerprint table lacks it.

    *other* is that table, "an entry for every unique fingerprint" (paragraph "If the fingerprints are
    not found in the second fingerprints data structure").
    """
    return tuple([fingerprint not in other for fingerprint in fingerprints])


def extended(table: TokenTable, bits: Bits) -> Bits:
    """Return *bits* with the tags set that enclose nothing but marked tokens.

    Paragraph "The output of the content identification module 100": tags are included "when all of the
    tokens included between the opening and closing tags are marked". Tags with nothing between them
    enclose no transient content and stay as they are.
    """
    result = list(bits)
    _close_over(table, result, extend=True)
    return tuple(result)


def whole_subtrees(table: TokenTable, bits: Bits) -> Bits:
    """Return for each token whether all bits of the subtree that it roots are set.

    The subtree of an open tag reaches to its end tag; any other token is a subtree by itself.
    """
    return tuple(_close_over(table, list(bits), extend=False))


def _close_over(table: TokenTable, bits: list[bool], *, extend: bool) -> list[bool]:
    """Return for each token whether its subtree is marked; with *extend*, mark tags around marked contents."""
    whole = list(bits)
    contents = [0] * len(table)
    unmarked = [0] * len(table)
    # Backwards, so that the contents of an open tag are done before the tag itself.
    for entry in range(len(table) - 1, -1, -1):
        end = table.ends[entry]
        if extend and contents[entry] and not unmarked[entry]:
            bits[entry] = whole[entry] = True
            if end >= 0:
                bits[end] = whole[end] = True
        whole[entry] = bits[entry] and not unmarked[entry] and (end < 0 or bits[end])
        parent = table.parents[entry]
        if parent >= 0 and table.ends[parent] != entry:
            contents[parent] += 1
            unmarked[parent] += not whole[entry]
    return whole
