"""Significant affixes that end where a person would end them.

The document's algorithm, followed to the letter, does not give the document's own result: since two of
three strings go on with "b", it finds Prefix1_b where Prefix1_ is meant. So an affix has to

- be significant,
- end at a delimiter, or where letters turn to digits or digits to letters,
- be followed by two different characters or more (what all go on with belongs to it), and
- not be all but covered by a longer one.

On the document's strings this gives Prefix1_ and Pre_, as the document has it.
"""

from collections.abc import Sequence

from .characters import CharacterModel
from .counting import CountedPrefix
from .significant_affixes import SIGMAS, Affix, Found, find

COVERED = 0.9
"""Share of the strings with an affix that a longer one has, for the shorter one to be left out."""
MIN_CONTINUATIONS = 2


def snapped_prefixes(
    strings: Sequence[str],
    *,
    model: CharacterModel | None = None,
    shortest: int = 1,
) -> list[Affix]:
    """Return the significant prefixes that end at a boundary, a prefix of a prefix first.

    Parameters are those of :func:`~.significant_affixes.significant_prefixes`. O(characters of the strings).

    >>> [affix.text for affix in snapped_prefixes(["shop-a1", "shop-b2", "shop-c3"])]
    ['shop-']
    """
    return [one.affix() for one in _snapped(find(strings, model, SIGMAS, shortest))]


def _snapped(found: Sequence[Found]) -> list[Found]:
    whole = [_is_whole(one.prefix) for one in found]
    covered = [False] * len(found)
    for position, one in enumerate(found):
        above = one.parent if whole[position] else -1
        # Whoever covers a covered one has covered those above it already.
        while above >= 0 and not covered[above] and one.prefix.count >= COVERED * found[above].prefix.count:
            covered[above] = True
            above = found[above].parent
    return [one for position, one in enumerate(found) if whole[position] and not covered[position]]


def _is_whole(prefix: CountedPrefix) -> bool:
    """Return whether a prefix ends at a boundary and different things follow it."""
    if len(prefix.following) < MIN_CONTINUATIONS:
        return False
    last = _kind(prefix.source[prefix.length - 1])
    return last == "" or all(_kind(char) != last for char, _ in prefix.following)


def _kind(char: str) -> str:
    """Return the kind of a character: letter, digit, or "" for a delimiter."""
    if char.isdigit():
        return "digit"
    return "letter" if char.isalpha() else ""
