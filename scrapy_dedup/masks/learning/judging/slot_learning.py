"""The slot of a text that changes: its literal words, learned from examples.

Words that a page's own versions have in common last on that page; those that the pages have in common too are
literal. What lasts on each page but differs between pages is a matter of the page and stays; where it
cannot be told from what changes, nothing is stripped.
"""

import re
from collections.abc import Sequence
from functools import reduce
from itertools import groupby

from ...slots import ANYTHING, Slot, joined, pieces
from ...words import is_fleeting_word
from ..counts.alignment import aligned
from ..counts.place_counts import Change
from ..parameters import current

NOTHING: Slot = ()
"""There is nothing that can be told to pass: no slot."""

ADDRESSES = ("href", "src")
"""Attributes whose values lead somewhere: as a whole they are what is lost with them."""
_MOST_WORDS = 80
"""Longer texts are transient as a whole or not at all."""

_HEADINGS = ("title", "h1")
_name = re.compile("[#.]").split


def slot_of(changes: Sequence[Change], attribute: str = "", *, of_site: bool = False) -> Slot | None:
    """Return the slot of the single texts in *changes*; None if the whole text is transient, NOTHING if no part surely is.

    *of_site* says that what changes is no matter of its page: then nothing but literal words stays.
    """
    pages = _pages(changes, attribute)
    texts = {tuple(text) for page in pages for text in page}
    if not texts:
        return NOTHING
    lasting = [reduce(_common, page) for page in pages]
    if max(map(len, texts)) > _MOST_WORDS:
        edited = sum(2 * len(kept) >= len(page[0]) for kept, page in zip(lasting, pages, strict=True))
        return None if of_site and not attribute and edited < len(pages) * current().own_words else NOTHING
    common = reduce(_common, lasting)
    literal = _sayable(common if attribute else _literal(common, texts))
    kinds = _kinds(pages, lasting, literal, set(common) if not attribute else None, of_site=of_site)
    if attribute in ADDRESSES:
        kinds = _of_address(kinds, literal)
    if _PASSES not in kinds:
        return NOTHING
    if not literal and len(kinds) == 1:
        return None
    return _slot(literal, kinds, attribute)


def _sayable(words: list[str]) -> list[str]:
    """Return the words that a literal can name: a text's own ``…`` would stand for any words."""
    return [word for word in words if word != ANYTHING]


_EMPTY, _PASSES, _STAYS = range(3)
"""What a gap between literal words is."""


def _pages(changes: Sequence[Change], attribute: str) -> list[list[list[str]]]:
    """Return the texts of each page, in pieces."""
    found = []
    for _, group in groupby(sorted(changes), key=lambda change: change.page):
        texts: dict[tuple[str, ...], None] = {}
        for change in group:
            for side in (change.before, change.after):
                if len(side) == 1:
                    texts.setdefault(tuple(pieces(side[0], attribute)))
        if len(texts) > 1:
            found.append([list(text) for text in texts])
    return found


def _common(a: list[str], b: list[str]) -> list[str]:
    return [a[i] for i, _ in aligned(a, b)]


def _literal(common: list[str], texts: set[tuple[str, ...]]) -> list[str]:
    """Return those of the words in *common* that can be expected to stay.

    Numbers and the calendar's words do not; what stands between two gaps may be chance while few texts are known, unless
    it is a label.
    """
    found = [word for word in common if not is_fleeting_word(word)]
    if len(texts) >= current().literal_texts:
        return found
    head = _shared_prefix(texts)
    tail = _shared_prefix({text[::-1] for text in texts})
    first = 0
    while first < min(head, len(found)) and all(text[first] == found[first] for text in texts):
        first += 1
    last = 0
    while last < min(tail, len(found) - first) and all(text[-1 - last] == found[-1 - last] for text in texts):
        last += 1
    middle = [word for word in found[first : len(found) - last] if word.endswith(":")]
    return found[:first] + middle + found[len(found) - last :]


def _shared_prefix(texts: set[tuple[str, ...]]) -> int:
    first, *others = texts
    length = min(map(len, texts))
    return next((i for i in range(length) if any(other[i] != first[i] for other in others)), length)


def _kinds(
    pages: list[list[list[str]]],
    lasting: list[list[str]],
    literal: list[str],
    common: set[str] | None,
    *,
    of_site: bool,
) -> list[int]:
    """Return the kind of each gap around the literal words.

    The words that a page has there for itself are not in *common* and are no numbers; where that is None all count.
    """
    gaps = range(len(literal) + 1)
    changing, filled, own = [0 for _ in gaps], [0 for _ in gaps], [0 for _ in gaps]
    for texts, kept in zip(pages, lasting, strict=True):
        rest = _between(kept, literal)
        changed = [False for _ in gaps]
        longest = [0 for _ in gaps]
        for text in texts:
            for i, part in enumerate(_between(text, literal)):
                changed[i] = changed[i] or part != rest[i]
                longest[i] = max(longest[i], len(part))
        for i, part in enumerate(rest):
            changing[i] += changed[i]
            filled[i] += bool(part)
            mine = sum(common is None or (word not in common and not is_fleeting_word(word)) for word in part)
            own[i] += mine > 0 and 2 * mine >= longest[i]  # a word or two may be chance
    kinds = []
    for i in gaps:
        if changing[i]:
            kinds.append(_STAYS if own[i] >= len(pages) * current().own_words else _PASSES)
        elif filled[i]:
            kinds.append(_PASSES if of_site and own[i] else _STAYS)
        else:
            kinds.append(_EMPTY)
    return kinds


def _of_address(kinds: list[int], literal: list[str]) -> list[int]:
    """Return the kinds of gaps in an address, of which only the values of parameters may pass: the rest is where it leads."""
    found = []
    for i, kind in enumerate(kinds):
        before, after = literal[i - 1 : i], literal[i : i + 1]
        is_value = before == ["="] and after in ([], ["&"], [";"], ["#"])
        found.append(_STAYS if kind == _PASSES and not is_value else kind)
    return found


def is_wording_shared(changes: Sequence[Change]) -> bool:
    """Return whether the words that last around what changes are those of other pages, too, if not of all.

    So it is where a site has several languages: no words are common to all pages, and none are a page's own.
    """
    pages: dict[tuple[str, ...], set[str]] = {}
    for change in changes:
        before, after = pieces(change.before[0]), pieces(change.after[0])
        pages.setdefault(tuple([before[i] for i, _ in aligned(before, after)]), set()).add(change.page)
    return bool(pages) and all(len(found) > 1 for found in pages.values())


def is_heading(selector: str) -> bool:
    """Return whether a text there says what the page is: its title, or its first heading."""
    return any(_name(step)[0] in _HEADINGS for step in selector.split("/"))


def is_fleeting(change: Change) -> bool:
    """Return whether all that changed are numbers and words of the calendar."""
    if not len(change.before) == len(change.after) == 1:
        return False
    before, after = change.before[0].split(), change.after[0].split()
    stayed = aligned(before, after)
    rest = [w for i, w in enumerate(before) if i not in {i for i, _ in stayed}]
    rest += [w for j, w in enumerate(after) if j not in {j for _, j in stayed}]
    return all(map(is_fleeting_word, rest))


def _between(words: Sequence[str], literal: Sequence[str]) -> list[list[str]]:
    """Return what stands before, between and after literal words, which are there in this order."""
    parts: list[list[str]] = [[]]
    wanted = iter([*literal, None])
    word = next(wanted)
    for each in words:
        if each == word:
            parts.append([])
            word = next(wanted)
        else:
            parts[-1].append(each)
    return parts


def _slot(literal: list[str], kinds: list[int], attribute: str) -> Slot:
    """Return the slot with a gap wherever *kinds* has one."""
    found: list[list[str]] = [[]]
    for i, kind in enumerate(kinds):
        if kind == _PASSES:
            found.append([])
        elif kind == _STAYS:
            found[-1].append(ANYTHING)
        if i < len(literal):
            found[-1].append(literal[i])
    return tuple([joined(words, attribute) for words in found])
