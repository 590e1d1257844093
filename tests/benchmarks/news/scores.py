"""What is wrong with the items of a crawl: passing parts that still stand in them, and lasting values that are missing.

A part counts for a field if what was served (the field as it is under ``raw``) shows it. Fields of text and fields of
HTML are counted apart; an item shows a part if one of its fields of that kind does, and a lasting value is missing if it is
missing in one of them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape, unescape
from random import Random
from typing import Any, Final

from .spider import CONTENT_FIELDS

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


@dataclass(frozen=True, slots=True)
class Crawl:
    """One crawl: when it began by the simulated clock, its items, and the ledger of what was served to it."""

    began: float
    items: list[dict[str, Any]]
    ledger: dict[int, Served]
    stats: dict[str, Any]
    seconds: float


def served_of(row: dict[str, Any]) -> Served:
    """A line of the ledger."""
    pieces, unclear = (tuple(Piece(*each) for each in row[name]) for name in ("pieces", "unclear"))
    return Served(row["number"], row["now"], row["target"], row["kind"], "", pieces, unclear)


KINDS: Final = ("text", "html")


@dataclass
class Score:
    """Of one crawl, or of several that were added.

    items: those that show a passing part as served, and those that do as exported, by the kind of field. passing: (part,
    kind) -> items that show it, of those that were served with it; lasting: (part, kind) -> values that are missing, of
    those that were served. pages: part -> kinds of pages. unclear: passing texts that cannot be looked for.
    """

    items: int = 0
    served: Counter[str] = field(default_factory=Counter)
    shown: Counter[str] = field(default_factory=Counter)
    passing: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    lasting: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    pages: dict[str, set[str]] = field(default_factory=dict)
    unclear: int = 0
    standing: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(part, kind of page) -> items of such pages that still show it, in text or in HTML."""
    missing: list[str] = field(default_factory=list)
    """Examples of lasting values that are missing: where, which part, what."""

    def __add__(self, other: "Score") -> "Score":
        return Score(
            self.items + other.items,
            self.served + other.served,
            self.shown + other.shown,
            _added(self.passing, other.passing),
            _added(self.lasting, other.lasting),
            {
                part: self.pages.get(part, set()) | other.pages.get(part, set())
                for part in {**self.pages, **other.pages}
            },
            self.unclear + other.unclear,
            self.standing + other.standing,
            self.missing + other.missing,
        )

    def share(self, kind: str) -> float:
        """Share of the items that show any passing part in their fields of that kind."""
        return self.shown[kind] / self.items if self.items else 0.0

    @property
    def lost(self) -> int:
        """Lasting values that are missing, in text or in HTML."""
        return sum(wrong for wrong, _ in self.lasting.values())

    @property
    def values(self) -> int:
        """Lasting values that were served, in text and in HTML."""
        return sum(of for _, of in self.lasting.values())

    def row(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "items": self.items,
            "served": {kind: self.served[kind] for kind in KINDS},
            "shown": {kind: self.shown[kind] for kind in KINDS},
            "share": {kind: self.share(kind) for kind in KINDS},
            "lasting": self.values,
            "missing": self.lost,
            "unclear": self.unclear,
            "passing_parts": {f"{part}, {kind}": counts for (part, kind), counts in self.passing.items()},
            "lasting_parts": {f"{part}, {kind}": counts for (part, kind), counts in self.lasting.items()},
            "standing": {f"{part}, {kind}": count for (part, kind), count in self.standing.items()},
            "examples": self.missing[:20],
        }


def score(crawl: Crawl) -> Score:
    """The score of the items of a crawl. Raises RuntimeError for an item that no response of the ledger belongs to."""
    total = Score()
    for item in crawl.items:
        served = crawl.ledger.get(item["number"])
        if served is None or not item["url"].endswith(served.target):
            raise RuntimeError(f"{item['url']} was never served as response {item['number']}")
        total += score_item(item, served)
    return total


def score_item(item: Mapping[str, Any], served: Served) -> Score:
    """The score of one item. Raises RuntimeError where the page as served lacks what the ledger says of it."""
    found = Score(items=1, unclear=len(served.unclear))
    whole = _views(item["raw"]["page"], "html")
    for piece in served.pieces:
        if not _stands(piece.text, whole):
            raise RuntimeError(f"{served.target} was served without {piece}")
    passing = [piece for piece in served.pieces if not piece.lasts]
    lasting = [piece for piece in served.pieces if piece.lasts]
    texts = [piece.text for piece in passing]
    for kind in KINDS:
        # part -> whether it stands in the field as served, and as exported
        parts: dict[str, tuple[bool, bool]] = {}
        missing: dict[tuple[str, str], bool] = {}
        for name in (name for name, held in CONTENT_FIELDS.items() if held == kind):
            raw, exported = (_views(_field(of, name), kind) for of in (item["raw"], item))
            for piece in passing:
                if _stands(piece.text, raw):
                    _, is_shown = parts.get(piece.part, (False, False))
                    parts[piece.part] = True, is_shown or _stands(piece.text, exported)
            for piece in lasting:
                # It is not looked for in what passes: a date of publication in the date of the day, say.
                around = [text for text in texts if piece.text in text]
                before, after = (tuple(without(around, view) for view in views) for views in (raw, exported))
                if _stands(piece.text, before):
                    key = piece.part, piece.text
                    missing[key] = missing.get(key, False) or not _stands(piece.text, after)
        found.served[kind] = bool(parts)
        found.shown[kind] = any(shown for _, shown in parts.values())
        for part, (_, shown) in parts.items():
            found.passing[part, kind] = int(shown), 1
            found.standing[part, served.kind] |= int(shown)
        for (part, text), gone in missing.items():
            wrong, of = found.lasting.get((part, kind), (0, 0))
            found.lasting[part, kind] = wrong + gone, of + 1
            if gone:
                found.missing.append(f"{served.target} {kind}, {part}: {text}")
    found.pages = {piece.part: {served.kind} for piece in served.pieces}
    return found


def _views(value: Any, kind: str) -> tuple[str, ...]:
    """What is looked at of a field; None and nothing have none."""
    text = " ".join(value) if isinstance(value, list) else value or ""
    return views_of(text) if kind == "html" else (plain(text),)


def _field(item: Mapping[str, Any], name: str) -> Any:
    value: Any = item
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _stands(text: str, views: Iterable[str]) -> bool:
    return any(stands(text, view) for view in views)


def _added(one: Mapping[Any, tuple[int, int]], other: Mapping[Any, tuple[int, int]]) -> dict[Any, tuple[int, int]]:
    return dict(_sums(one, other))


def _sums(
    one: Mapping[Any, tuple[int, int]], other: Mapping[Any, tuple[int, int]]
) -> Iterator[tuple[Any, tuple[int, int]]]:
    for key in {**one, **other}:
        first, second = one.get(key, (0, 0)), other.get(key, (0, 0))
        yield key, (first[0] + second[0], first[1] + second[1])
