"""The literal words around what changes in a text, learned from the texts that pages have shown.

Words that the versions of a page have in common last on that page; those that all pages have in common are literal. What lasts
on each page and is another on the next one is the page's own, and stays.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import reduce
from typing import Final

from .slots import ANYTHING, Slot, hidden, is_typed, joined, pieces

LONGEST: Final = 80
"""Words of a text that are compared; longer ones change as a whole or not at all."""
MOST: Final = 40
"""Pages by whose texts a slot is learned."""
SEVERAL: Final = 3
FEW: Final = 0.1
"""Share of the pages under which those that say it in other words do not count."""
OWN: Final = 0.3
"""Share of the pages with words of their own in a gap from which on it is theirs."""
ADDRESSES: Final = ("href", "src")

Words = list[str]


def slot_of(pages: Sequence[Sequence[str]], attribute: str = "", others: Sequence[str] | None = None) -> Slot | None:
    """Return the slot of what changes in the texts of *pages*; None is all of a text, and () says that nothing can be told to.

    *others* are what pages like them show, where only numbers and the like change: these are told from the words around them also
    where those are others on each page, as in several languages.

    >>> slot_of([["3 users online", "5 users online"], ["7 users online", "4 users online"]])
    ('', 'users online')
    """
    split = [[pieces(text, attribute) for text in dict.fromkeys(page)] for page in pages]
    split = [page for page in split if len(page) > 1][:MOST]
    slot: Slot | None = None if split else ()
    if split and max(len(words) for page in split for words in page) <= LONGEST:
        lasting = [reduce(_common, page) for page in split]
        slot = _slot(split, lasting, attribute)
        if others is not None and not attribute and not (_fits(slot, others) or _has_own_numbers(lasting)):
            slot = None
    return () if slot is None and attribute in ADDRESSES else slot


def _slot(pages: Sequence[Sequence[Words]], lasting: Sequence[Words], attribute: str) -> Slot | None:
    """Return the slot of what changes; () where nothing can be told to."""
    common = reduce(_common, lasting)
    # No number can be expected to stay.
    literal = [word for word in common if word != ANYTHING and (attribute or not is_typed(word))]
    gaps = range(len(literal) + 1)
    changing, filled, own = ([0 for _ in gaps] for _ in range(3))
    for page, kept in zip(pages, lasting, strict=True):
        parts = [_between(words, literal) for words in page]
        for gap, rest in enumerate(_between(kept, literal)):
            changing[gap] += any(part[gap] != rest for part in parts)
            filled[gap] += bool(rest)
            mine = [word for word in rest if attribute or not (word in common or is_typed(word))]
            own[gap] += bool(mine) and 2 * len(mine) >= max(len(part[gap]) for part in parts)
    is_own = [
        own[gap] >= OWN * len(pages) or _has_firm([[_between(t, literal)[gap] for t in p] for p in pages])
        for gap in gaps
    ]
    passes = [bool(some) and not is_own[gap] for gap, some in enumerate(changing)]
    if attribute in ADDRESSES:  # only the value of a parameter may go: the rest is where it leads
        ends: tuple[Words, ...] = ([], ["&"], [";"], ["#"])
        passes = [
            some and literal[gap - 1 : gap] == ["="] and literal[gap : gap + 1] in ends
            for gap, some in enumerate(passes)
        ]
    if not any(passes):
        return ()
    if not literal:
        return None
    found: list[Words] = [[]]
    for gap in gaps:
        if passes[gap]:
            found.append([])
        elif changing[gap] or filled[gap]:
            found[-1].append(ANYTHING)
        found[-1] += literal[gap : gap + 1]
    return tuple([joined(words, attribute) for words in found])


def _fits(slot: Slot | None, texts: Sequence[str]) -> bool:
    """Return whether nearly all texts have the literals of a slot."""
    missed = [text for text in texts if slot and hidden(pieces(text), slot) is None]
    return slot != () and len(missed) < max(SEVERAL, FEW * len(texts))


def _has_own_numbers(lasting: Sequence[Words]) -> bool:
    """Return whether numbers that last are their pages' own: others that say it in the same words have other ones.

    What several of them have, as the date of the day on which they were fetched, is no page's own.
    """
    said: defaultdict[tuple[str, ...], list[Words]] = defaultdict(list)
    for kept in lasting:
        said[tuple([word for word in kept if not is_typed(word)])].append([word for word in kept if is_typed(word)])
    known = own = 0
    for alike in said.values():
        numbers = Counter(word for found in alike for word in set(found))
        most = max(1, FEW * len(alike))
        if len(alike) > 1 or not numbers:
            known += len(alike)
            own += sum(any(numbers[word] <= most for word in found) for found in alike)
    return 2 * known < len(lasting) or own >= OWN * known


def _has_firm(pages: Sequence[Sequence[Words]]) -> bool:
    """Return whether a word of a gap stays in its place on all pages, and is another one on some of them.

    That a number has not changed on one page yet says little.
    """
    if len(pages) < SEVERAL or len({len(words) for page in pages for words in page}) > 1:
        return False
    columns = [zip(*page, strict=True) for page in pages]
    return any(
        all(len({*words}) == 1 for words in column) and len({words[0] for words in column}) > 1
        for column in zip(*columns, strict=True)
    )


def _common(one: Words, other: Words) -> Words:
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return [word for block in blocks for word in one[block.a : block.a + block.size]]


def _between(words: Words, literal: Words) -> list[Words]:
    """Return what stands before, between and after literal words, which are there in this order."""
    parts: list[Words] = [[]]
    for word in words:
        if len(parts) <= len(literal) and word == literal[len(parts) - 1]:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts
