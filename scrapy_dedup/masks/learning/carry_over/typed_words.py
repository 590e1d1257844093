"""Words of typed texts: those that stay around what changes."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from ...slots import ANYTHING, Slot
from ...words import has_digit, is_typed

__all__ = ["keep_number", "literal_of", "untyped_words"]

_date = re.compile(r"(?:19|20)[0-9]{2}|[0-9]+([-./])[0-9]+\1[0-9]+.*|[0-9]+:[0-9]{2}.*").match


def literal_of(values: Iterable[tuple[str, ...]]) -> Slot | None:
    """Return the slot with the words that all of some texts begin and end with, up to those of a date; None without any."""
    texts = {tuple(text.split()) for value in values for text in value}
    if len(texts) < 2:
        return None
    head = _common(texts)
    tail = _common({text[len(head) :][::-1] for text in texts})[::-1]
    return (" ".join(head), " ".join(tail)) if head or tail else None


def _common(texts: AbstractSet[tuple[str, ...]]) -> tuple[str, ...]:
    found: list[str] = []
    one = next(iter(texts))
    for number, words in enumerate(zip(*texts, strict=False)):
        if len(set(words)) > 1 or words[0] == ANYTHING or _is_of_date(one, number):
            break
        found.append(words[0])
    return tuple(found)


def keep_number(before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether a text with a number stays in its place of two lists, from either end, among others that change."""
    if before == after:
        return False
    ends = (zip(before, after, strict=False), zip(reversed(before), reversed(after), strict=False))
    return any(one == other and has_digit(one) is not None for end in ends for one, other in end)


def untyped_words(texts: Iterable[str]) -> Counter[str]:
    """Return the words of some texts that are no numbers, codes or words of the calendar."""
    return Counter([word for text in texts for word in text.split() if not is_typed(word)])


def _is_of_date(words: Sequence[str], number: int) -> bool:
    """Return whether a word is of a date, which has not changed yet; another number that has not is a matter of its page."""
    word = words[number]
    if not has_digit(word):
        return is_typed(word)
    beside = [*words[max(0, number - 1) : number], *words[number + 1 : number + 2]]
    return _date(word) is not None or any(is_typed(each) and not has_digit(each) for each in beside)
