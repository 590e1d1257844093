"""What one response shows: each piece of varying or lasting content with the part of the site that it belongs to."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape, unescape
from random import Random
from typing import Any

_TAG = re.compile(r"<[^>]*>")
_JOINS = ".,:-"
"""What joins digits: "214" is no part of "1,214" or "214.5"."""


def plain(text: str) -> str:
    """A text with one space for any white space."""
    return " ".join(text.split())


def views_of(html: str) -> tuple[str, str]:
    """HTML as it stands, and without its tags, so that a text is found whether parts of it have elements of their own."""
    return plain(unescape(html)), plain(unescape(_TAG.sub(" ", html)))


def count(text: str, view: str) -> int:
    """How often a text stands in a view as a whole: no letter, digit or number goes on before or behind it."""
    return sum(1 for _ in _places(text, view))


def stands(text: str, view: str) -> bool:
    """Whether it does."""
    return any(True for _ in _places(text, view))


def without(texts: Iterable[str], view: str) -> str:
    """A view without texts, longer ones first."""
    for text in sorted(texts, key=len, reverse=True):
        parts = []
        last = 0
        for at in _places(text, view):
            parts.append(view[last:at])
            last = at + len(text)
        if parts:
            view = "\0".join([*parts, view[last:]])
    return view


def _places(text: str, view: str) -> Iterator[int]:
    at = view.find(text)
    while at >= 0:
        end = at + len(text)
        before, behind = view[max(at - 2, 0) : at], view[end : end + 2]
        if not (_goes_on(text[:1], before[::-1]) or _goes_on(text[-1:], behind)):
            yield at
            at = view.find(text, end)
        else:
            at = view.find(text, at + 1)


def _goes_on(edge: str, beyond: str) -> bool:
    """Whether a word or number goes on beyond its last letter; *beyond*: two characters, from the edge outwards."""
    if not edge.isalnum() or not beyond:
        return False
    return beyond[0].isalnum() or beyond[0] == "_" or (beyond[0] in _JOINS and beyond[1:].isdigit())


@dataclass(frozen=True, slots=True)
class Piece:
    """A text as it was rendered, in a text or an attribute; *lasts* tells a lasting value from a passing one."""

    part: str
    text: str
    lasts: bool


@dataclass
class Response:
    """A response while it is made. number: of all responses of the site; rng: what is drawn for this response alone."""

    number: int
    now: float
    target: str
    kind: str
    rng: Random
    pieces: list[Piece] = field(default_factory=list)

    def passes(self, part: str, text: str) -> str:
        """Note a passing text; return it as HTML."""
        self.pieces.append(Piece(part, plain(text), lasts=False))
        return escape(text)

    def lasts(self, part: str, text: str) -> str:
        """Note a lasting text; return it as HTML."""
        self.pieces.append(Piece(part, plain(text), lasts=True))
        return escape(text)

    def served(self, html: str) -> "Served":
        """The response as it was made.

        A passing text that stands in the page elsewhere, too (a headline that is both popular and new, say), tells nothing
        when it is found in an item: it is no piece of the truth.
        """
        views = views_of(html)
        times = Counter(piece.text for piece in self.pieces if not piece.lasts)
        pieces, unclear = [], []
        for piece in dict.fromkeys(self.pieces):
            clear = piece.lasts or 1 <= max(count(piece.text, view) for view in views) <= times[piece.text]
            (pieces if clear else unclear).append(piece)
        return Served(self.number, self.now, self.target, self.kind, html, tuple(pieces), tuple(unclear))


@dataclass(frozen=True, slots=True)
class Served:
    """A response. unclear: passing pieces that cannot be looked for."""

    number: int
    now: float
    target: str
    kind: str
    html: str
    pieces: tuple[Piece, ...]
    unclear: tuple[Piece, ...] = ()

    def row(self) -> dict[str, Any]:
        """As a line of the ledger, without the HTML."""
        return {
            "number": self.number,
            "now": self.now,
            "target": self.target,
            "kind": self.kind,
            "pieces": [[piece.part, piece.text, piece.lasts] for piece in self.pieces],
            "unclear": [[piece.part, piece.text, piece.lasts] for piece in self.unclear],
        }


def served_of(row: dict[str, Any]) -> Served:
    """A line of the ledger."""
    pieces, unclear = (tuple(Piece(*each) for each in row[name]) for name in ("pieces", "unclear"))
    return Served(row["number"], row["now"], row["target"], row["kind"], "", pieces, unclear)
