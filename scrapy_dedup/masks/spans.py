"""What is hidden of a text, as ranges of its pieces, and where that stands in the page."""

from collections.abc import Iterable, Mapping, Sequence

from ..content.tokens import Block
from .slots import joined, pieces, places

__all__ = ["by_place", "disjoint", "lasting_texts", "spans_of", "without"]


def without(text: str, ranges: Sequence[tuple[int, int]] | None) -> str:
    """Return a text without ranges of its pieces; nothing of it where there are none."""
    if not ranges:
        return ""
    words = pieces(text)
    for start, end in reversed(ranges):
        del words[start:end]
    return joined(words)


def spans_of(html: str, block: Block, ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the offsets of ranges of a block's pieces; all of it where there are none."""
    if not ranges:
        return [(block.start, block.end)]
    found = places(html[block.start : block.end], block.attribute)
    if [piece for piece, _, _ in found] != pieces(block.text, block.attribute):
        return []  # written with entities that cut words in two: nothing is better than the wrong words
    return [(block.start + found[first][1], block.start + found[end - 1][2]) for first, end in ranges]


def disjoint(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans sorted, those that overlap in one, without empty ones."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif start < end:
            found.append((start, end))
    return found


def lasting_texts(rows: Iterable[tuple[str, str, str]], hidden: Mapping[int, Sequence[tuple[int, int]]]) -> list[str]:
    """Return the texts of rows without what is hidden of them."""
    texts = []
    for index, (_, attribute, text) in enumerate(rows):
        if attribute:
            continue
        ranges = hidden.get(index)
        texts.append(text if ranges is None else without(text, ranges))
    return [text for text in texts if text]


def by_place(rows: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], list[str]]:
    """Return (selector, attribute) -> the texts there."""
    found: dict[tuple[str, str], list[str]] = {}
    for selector, attribute, text in rows:
        found.setdefault((selector, attribute), []).append(text)
    return found
