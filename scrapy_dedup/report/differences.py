"""What differs between two URLs, and between two stored pages, whose transient parts are told apart."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from ..masks.page_report import marked_text
from .data import DiffLine, Piece

if TYPE_CHECKING:
    from ..content.versions import Version
    from ..masks.model import Mask

#: Texts of a page that are compared, lines that are shown, and characters of each.
_MOST_TEXTS: Final = 400
_MOST_LINES: Final = 60
_LONGEST: Final = 300
#: Equal texts that are shown beside those that differ.
_AROUND: Final = 2

_parts_of = re.compile(r"[^/?&=;:,.#]+|[/?&=;:,.#]").findall


def marked_urls(one: str, two: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Return two URLs with what differs marked.

    >>> one, two = marked_urls("http://a.test/p?id=1&sid=a", "http://a.test/p?id=1&sid=b")
    >>> one[-1], two[-1], len(one)
    (Piece(text='a', marked=True), Piece(text='b', marked=True), 2)
    """
    parts = _parts_of(one), _parts_of(two)
    pieces: tuple[list[Piece], list[Piece]] = ([], [])
    for tag, low, high, low2, high2 in SequenceMatcher(None, *parts, autojunk=False).get_opcodes():
        for side, start, end in ((0, low, high), (1, low2, high2)):
            if start < end:
                pieces[side].append(Piece("".join(parts[side][start:end]), tag != "equal"))
    return tuple(pieces[0]), tuple(pieces[1])


def pieces_of(text: str, ranges: "Sequence[tuple[int, int]] | None") -> tuple[Piece, ...]:
    """Return a text in pieces, the transient ones marked.

    >>> pieces_of("12 users online", [(0, 1)])
    (Piece(text='12', marked=True), Piece(text=' users online', marked=False))
    """
    if ranges is None or "⟦" in text or "⟧" in text:
        return (Piece(text, ranges is not None),)
    return pieces_of_marked(marked_text(text, ranges))


def pieces_of_marked(text: str) -> tuple[Piece, ...]:
    """Return a text with ⟦marks⟧ in pieces."""
    found = []
    for part in re.split(r"(⟦[^⟦⟧]*⟧)", text):
        if part:
            marked = part.startswith("⟦") and part.endswith("⟧")
            found.append(Piece(part[1:-1] if marked else part, marked))
    return tuple(found)


def shortened(pieces: Sequence[Piece], longest: int = _LONGEST) -> tuple[Piece, ...]:
    """Return pieces of at most so many characters.

    >>> shortened([Piece("abc"), Piece("def", True)], 4)
    (Piece(text='abc', marked=False), Piece(text='d…', marked=True))
    """
    found = []
    for piece in pieces:
        if len(piece.text) > longest:
            found.append(Piece(piece.text[:longest] + "…", piece.marked))
            break
        found.append(piece)
        longest -= len(piece.text)
    return tuple(found)


def of_both(one: Sequence[Piece], two: Sequence[Piece]) -> tuple[Piece, ...]:
    """Return a text of two pages in pieces: where these show different transient parts, both of them.

    >>> of_both([Piece("12", True), Piece(" users")], [Piece("7", True), Piece(" users")])
    (Piece(text='12 | 7', marked=True), Piece(text=' users', marked=False))
    """
    if len(one) != len(two):  # one of them has nothing where the other has a transient part
        return tuple(Piece("…", marked=True) if piece.marked else piece for piece in one)
    return tuple(
        piece if piece.text == other.text else Piece(f"{piece.text} | {other.text}", marked=True)
        for piece, other in zip(one, two, strict=True)
    )


def text_diff(one: "Version", two: "Version", urls: tuple[str, str], mask: "Mask | None") -> tuple[DiffLine, ...]:
    """Return how the visible texts of two pages differ, transient parts left out; what is equal is shown around it only."""
    sides = [_texts(version, url, mask) for version, url in zip((one, two), urls, strict=True)]
    compared = [["".join("…" if piece.marked else piece.text for piece in text) for text in side] for side in sides]
    lines: list[DiffLine] = []
    blocks = SequenceMatcher(None, compared[0], compared[1], autojunk=False).get_opcodes()
    for number, (tag, low, high, low2, high2) in enumerate(blocks):
        if tag == "equal":
            both = list(map(of_both, sides[0][low:high], sides[1][low2:high2]))
            before, after = _AROUND if number else 0, _AROUND if number < len(blocks) - 1 else 0
            if len(blocks) == 1:
                before = _AROUND
            hidden = high - low - before - after
            if hidden > 1:
                lines += [DiffLine(" ", shortened(text)) for text in both[:before]]
                lines.append(DiffLine("…", (Piece(f"{hidden} equal texts"),)))
                lines += [DiffLine(" ", shortened(text)) for text in both[len(both) - after :]]
            else:
                lines += [DiffLine(" ", shortened(text)) for text in both]
            continue
        lines += [DiffLine("-", shortened(text)) for text in sides[0][low:high]]
        lines += [DiffLine("+", shortened(text)) for text in sides[1][low2:high2]]
    if len(lines) > _MOST_LINES:
        more = len(lines) - _MOST_LINES
        lines = [*lines[:_MOST_LINES], DiffLine("…", (Piece(f"{more} lines more"),))]
    return tuple(lines)


def _texts(version: "Version", url: str, mask: "Mask | None") -> list[tuple[Piece, ...]]:
    hidden: Mapping[int, Sequence[tuple[int, int]]] = (
        mask.hidden_of(version, url=url, compared=True) if mask is not None else {}
    )
    texts = [
        pieces_of(text, hidden.get(index)) for index, (_, attribute, text) in enumerate(version.blocks) if not attribute
    ]
    return texts[:_MOST_TEXTS]
