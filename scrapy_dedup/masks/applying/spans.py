"""From ranges of a text's pieces to offsets in the page."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ...content.tokenizer.tokens import Block
from ...content.tokenizer.unseen import COMMENT_NAME, meant_by
from ..ranges import Range
from ..slots import joined, pieces, places

_NEAR: Final = 200
"""Characters before a value in which its name is looked for."""
_BESIDE: Final = ("", " ", "\t", "\n", "\f", "\r", ">", "/")
"""What stands after a value that has no quotes."""

_equals = re.compile(r"=[ \t\n\f\r]*\Z").search
_name = re.compile(
    r"""(?:"(?:[^"\\\n]|\\.){0,64}"|'(?:[^'\\\n]|\\.){0,64}'|&quot;[^&]{0,64}&quot;|[\w$-]{1,64})\s{0,9}:\s{0,9}\Z"""
).search
_before = re.compile(r"[\[{,]\s{0,99}\Z").search
_after = re.compile(r"\s{0,99}[\]},]").match
_comma = re.compile(r"\s{0,99},\s{0,99}").fullmatch


def without(text: str, ranges: Sequence[Range] | None) -> str:
    """Return a text without ranges of its pieces; nothing of it where there are none."""
    if not ranges:
        return ""
    words = pieces(text)
    for start, end in reversed(ranges):
        del words[start:end]
    return joined(words)


def spans_of(html: str, block: Block, ranges: Sequence[Range]) -> list[Range]:
    """Return the offsets of ranges of a block's pieces; all of it where there are none."""
    if not ranges:
        return [_all_of(html, block)]
    found = places(html[block.start : block.end], block.attribute)
    if [piece for piece, _, _ in found] != pieces(block.text, block.attribute):
        return []  # written with entities that cut words in two: nothing is better than the wrong words
    return [(block.start + found[first][1], block.start + found[end - 1][2]) for first, end in ranges]


def _all_of(html: str, block: Block) -> Range:
    """Return the span of a block; of an unquoted attribute value with its ``=``, or the next attribute would become the value."""
    is_value = block.attribute and not block.attribute.startswith("#") and not meant_by(block.attribute).part
    return whole_value(html, block.start, block.end) if is_value else (block.start, block.end)


def whole_value(html: str, start: int, end: int) -> Range:
    """Return a span of an attribute's value, with the ``=`` before it if it is all of one without quotes."""
    if html[start - 1 : start] not in ("'", '"') and html[end : end + 1] in _BESIDE:
        equals = _equals(html, max(0, start - _NEAR), start)
        if equals is not None:
            return equals.start(), end
    return start, end


def unseen_spans(html: str, hidden: Iterable[tuple[Block, Sequence[Range]]]) -> list[Range]:
    """Return the offsets of ranges of values that nobody sees; numbers in JSON with their names, so that it stays JSON."""
    spans: list[Range] = []
    numbers: list[Range] = []
    for block, ranges in hidden:
        found = spans_of(html, block, ranges)
        is_number = (
            "[" in block.attribute and not block.attribute.startswith(COMMENT_NAME) and block.text[0] in "-0123456789"
        )
        (numbers if is_number and found == [(block.start, block.end)] else spans).extend(found)
    return spans + members(html, numbers)


def members(html: str, numbers: Iterable[Range]) -> list[Range]:
    """Return the offsets of numbers, with their names and one comma where they are members of an object, or of a list.

    >>> text = '{"a": 1, "b": 2, "c": "d", "e": 3}'
    >>> [text[start:end] for start, end in members(text, [(text.index(each), text.index(each) + 1) for each in "123"])]
    ['"a": 1, "b": 2,', ', "e": 3']
    """
    runs: list[tuple[int, list[Range]]] = []
    for start, end in sorted(numbers):
        name = _name(html, max(0, start - _NEAR), start)
        first = name.start() if name is not None else start
        if runs and _comma(html, runs[-1][1][-1][1], first):
            runs[-1][1].append((start, end))
        else:
            runs.append((first, [(start, end)]))
    found: list[Range] = []
    for start, own in runs:
        end = own[-1][1]
        before = _before(html, max(0, start - _NEAR), start)
        after = _after(html, end)
        if before is None or after is None:
            found += own
        elif before[0][0] == ",":
            found.append((before.start(), end))
        else:
            found.append((start, after.end() if after[0][-1] == "," else end))
    return found


def lasting_texts(rows: Iterable[tuple[str, str, str]], hidden: Mapping[int, Sequence[Range]]) -> list[str]:
    """Return the texts of rows without their hidden pieces."""
    texts = []
    for index, (_, attribute, text) in enumerate(rows):
        if attribute:
            continue
        ranges = hidden.get(index)
        texts.append(text if ranges is None else without(text, ranges))
    return [text for text in texts if text]
