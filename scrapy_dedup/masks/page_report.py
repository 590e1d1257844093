"""A mask explained on one page: for each place its texts, the transient words in them, and what is done about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .applying.plan import PageKind, Plan, Ranges, Row
from .css_xpath import SUBTREE_SUFFIX
from .slots import hidden, joined, pieces

if TYPE_CHECKING:
    from ..content.versions import Version
    from .model import Mask
    from .path import TransientPath

__all__ = ["Act", "PlaceOnPage", "marked_text", "places_on", "texts_at"]

Act = Literal["stripped", "left out", "undecided", "growing", "kept", "elsewhere"]
"""What is done with a place: it is taken out of items, only left out where pages are compared, nothing for want of proof
or since it only grows, nothing since the user says so, or nothing on this page, but on others."""


@dataclass(frozen=True, slots=True)
class PlaceOnPage:
    """A path of a mask that leads somewhere on a page: the texts there, and which of their words pass."""

    path: "TransientPath"
    act: Act
    texts: tuple[str, ...]
    #: Of each text the ranges of its pieces that pass (an empty one stands for the whole text), None for nothing of it.
    transient: tuple[Ranges | None, ...]

    @property
    def marked(self) -> list[str]:
        """The texts, with ⟦ and ⟧ around what is transient."""
        return [
            marked_text(text, ranges, self.path.attribute)
            for text, ranges in zip(self.texts, self.transient, strict=True)
        ]


def places_on(
    mask: "Mask", version: "Version", *, url: str | None = None, acting: "Mask | None" = None
) -> list[PlaceOnPage]:
    """Return the places of *mask* that a page has; *acting* is the mask by which it is stripped, if that is another."""
    stripped = (acting or mask).hidden_of(version, url=url)
    compared = mask.hidden_of(version, url=url, compared=True)
    rows, found = tuple(version.rows()), []
    for path in mask.paths:
        indices = _indices(path, rows)
        if not indices:
            continue
        texts = tuple([rows[index][2] for index in indices])
        act = _act(
            path, is_stripped=not stripped.keys().isdisjoint(indices), is_out=not compared.keys().isdisjoint(indices)
        )
        hides: Mapping[int, Ranges] = {"stripped": stripped, "left out": compared}.get(act, {})
        transient = [_transient(path, act, text, hides.get(index)) for index, text in zip(indices, texts, strict=True)]
        found.append(PlaceOnPage(path, act, texts, tuple(transient)))
    return found


def texts_at(path: "TransientPath", version: "Version") -> tuple[str, ...]:
    """Return the texts of a version that a path is about."""
    rows = tuple(version.rows())
    return tuple([rows[index][2] for index in _indices(path, rows)])


def _act(path: "TransientPath", *, is_stripped: bool, is_out: bool) -> Act:
    if path.state == "keep":
        return "kept"
    # Where a link's whole text goes, its address does, too, although nothing is proven of it by itself.
    if is_stripped and (path.is_hidden or path.kind == "undecided"):
        return "stripped"
    if path.is_left_out:
        return "left out" if is_out else "elsewhere"
    return "growing" if path.kind == "growing" else "undecided"


def _indices(path: "TransientPath", rows: Sequence[Row]) -> list[int]:
    """Return the indices of the rows that a path is about, whatever stands there."""
    if path.selector.endswith(SUBTREE_SUFFIX):
        return sorted(Plan([path]).hidden(rows, PageKind()))
    place = path.selector, path.attribute
    found = [index for index, row in enumerate(rows) if row[:2] == place]
    if not path.position:
        return found
    if path.of and path.of != len(found):
        return []
    at = path.position - 1 if path.position > 0 else len(found) + path.position
    return found[at : at + 1] if at >= 0 else []


def _transient(path: "TransientPath", act: Act, text: str, ranges: Ranges | None) -> Ranges | None:
    """Return what is transient of a text; of one that nothing is done with, what its slot says."""
    if path.slot is None or act == "kept" or (ranges is None and act in ("stripped", "left out")):
        return ranges
    # Compared pages lack the words around it, too: what is transient is told by the slot.
    return hidden(pieces(text, path.attribute), path.slot, path.attribute) or None


def marked_text(text: str, ranges: Ranges | None, attribute: str = "") -> str:
    """Return a text with ⟦ and ⟧ around ranges of its pieces.

    >>> marked_text("12 users online", [(0, 1)]), marked_text("/cart?sid=5", [(5, 6)], "href"), marked_text("all", ())
    ('⟦12⟧ users online', '/cart?sid=⟦5⟧', '⟦all⟧')
    """
    if ranges is None:
        return text
    words = pieces(text, attribute)
    parts: list[str] = []
    at = 0
    for start, end in ranges or [(0, len(words))]:
        parts += [*words[at:start], f"⟦{joined(words[start:end], attribute)}⟧"]
        at = end
    return joined([*parts, *words[at:]], attribute)
