"""Mask files: one per site beside its rule file, made for reading, reviewing and committing.

``<site>.mask.toml`` holds a table for each place::

    [[place]]
    css = "body > footer > p.online::text"
    changes = "{…} users online"
    example = ["12 users online", "15 users online"]
    seen = "84 of 90 changes, 12 pages"

The file is cut into blocks, the head and one for each place with the comments before it. The block of a place that says what it said
stays byte by byte; of one that does not only what changed is edited. What the user spoke of, with ``state = "keep"`` or ``"strip"``,
or in a table without ``seen``, stays as it is whatever is learned.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from ..files.errors import RuleFileError, problem_and_remedy
from ..files.locked import locked, write
from ..files.site_files import MASK_SUFFIX, path_for, read_named, text_of
from ..files.table_fields import TableField, fitting, one_of, string
from ..files.table_reader import TableReader
from ..files.toml_text import assembled, blocks_of, comments_before, edit, edited, toml
from .model import Act, Mask, Mode, Place, State
from .selectors import COMMENT, css_fault, is_path, named_by, said_of
from .slots import slot_in, slot_text

if TYPE_CHECKING:
    from os import PathLike

__all__ = [
    "check_masks",
    "load_mask",
    "load_masks",
    "path_of_mask",
    "read_mask",
    "save_learned_mask",
    "save_mask",
    "written",
]

FORMAT: Final = "dedup-mask/3"
_LONG: Final = 80
"""Characters of an example that are written."""

_is_header = re.compile(r"""\s*\[\[\s*(?:place|"place"|'place')\s*\]\]""").match
_seen = re.compile(r"([0-9]{1,15}) of ([0-9]{1,15}) changes, ([0-9]{1,15}) pages?").fullmatch


# Reading


def _texts(value: Any) -> tuple[str, ...]:
    """Return a text, or those of a list; nothing where it is no such."""
    texts = [value] if isinstance(value, str) else value
    return tuple(texts) if isinstance(texts, list) and all(isinstance(each, str) for each in texts) else ()


_position = fitting(
    lambda value: isinstance(value, int) and not isinstance(value, bool) and 0 < abs(value) < 1_000_000,
    "write 1 for the first text there, -1 for the last; without it all are meant",
)
_counts = fitting(
    lambda value: isinstance(value, str) and _seen(value),
    'write seen = "84 of 90 changes, 12 pages", or remove the line',
)
_patterns = fitting(
    lambda value: _texts(value) and all(pattern.startswith("/") for pattern in _texts(value)),
    'write {key} = ["/news/*"]: paths of pages, with * for a segment and ** for the rest',
    _texts,
)
_example = fitting(lambda value: len(_texts(value)) == 2, 'write {key} = ["before", "after"]', _texts)

#: In the order in which they are written.
_FIELDS: Final = (
    TableField("css", string),
    TableField("value", string),
    TableField("position", _position),
    TableField("changes", string, attribute="slot"),
    TableField("only", one_of("numbers")),
    TableField("act", one_of(*get_args(Act))),
    TableField("state", one_of(*get_args(State))),
    TableField("on", _patterns),
    TableField("not-on", _patterns, attribute="never_on"),
    TableField("lasts-on", _patterns, attribute="not_on"),
    TableField("example", _example),
    TableField("seen", _counts),
)
_KEYS: Final = tuple(field.key for field in _FIELDS)


class _MaskText(TableReader):
    """The text of a mask file: its places in the order of the file, what they make, and all that is wrong with them."""

    def __init__(self, text: str, path: Path) -> None:
        super().__init__(text, path, _is_header)
        self.places: dict[object, Place] = {}
        self.mask: Mask | None = None
        if not self.has_format(FORMAT, "a mask file"):
            return
        self.known_keys(self.document, ("format", "site", "mode", "place"), None, "a mask file")
        site = self.site()
        mode = self.values(self.document, (TableField("mode", one_of(*get_args(Mode))),), None).get("mode", "default")
        for number, table in enumerate(self.tables("place")):
            place = self._place(table, number)
            if self.places.setdefault(place.key, place) is not place:
                remedy = "remove one of them, or give it a position"
                self.fault(self.line(number, "css"), "a second place has this css", remedy)
        if not self.errors:
            self.mask = Mask(site, tuple(self.places.values()), mode)

    def _place(self, table: Mapping[str, Any], number: int) -> Place:
        before = len(self.errors)
        for key in table:
            # Others are the user's own.
            if key not in _KEYS and (near := get_close_matches(key, _KEYS, 1, 0.75)):
                self.fault(self.line(number, key), f'a place has no key "{key}"', f"did you mean {near[0]}?")
        values = self.values(table, _FIELDS, number)
        # Without counts it was written by hand.
        state = values.setdefault("state", "" if "seen" in values else "strip")
        counts = map(int, _seen(values.pop("seen", "0 of 0 changes, 0 pages")).groups())  # type: ignore[union-attr]
        css = values.pop("css", "")
        fault = css_fault(css) if not css.startswith("$") and (state or not is_path(css)) else None
        if fault is not None and len(self.errors) == before:
            self.fault(self.line(number, "css"), *problem_and_remedy(fault))
        attribute = named_by(css, values.pop("value", None))
        try:
            slot = slot_in(values.pop("slot", "") or "{…}", attribute)
        except ValueError as error:
            self.fault(self.line(number, "changes"), *problem_and_remedy(str(error)))
        if len(self.errors) > before:
            return Place(f"#{number}")
        values.update(zip(("changes", "opportunities", "pages"), counts, strict=True))
        return Place(css, attribute, slot=slot, typed=values.pop("only", "") == "numbers", **values)


def read_mask(text: str, path: Path) -> tuple[Mask | None, list[RuleFileError]]:
    """Return (the mask that *text* says, all that is wrong with it); None where anything is wrong."""
    found = _MaskText(text, path)
    return found.mask, found.faults


# Writing


def written(mask: Mask, old: str = "", path: Path = Path(), *, snapshots: bool = False) -> str:
    """Return the text of a mask file that says *mask*, and what the user said in the text *old*, as near to that as can be.

    With *snapshots* a place that does what it did keeps the counts and the example that stand there.
    Raises RuleFileError where the old text is faulty.
    """
    old = old or f'format = "{FORMAT}"\nsite = {toml(mask.site)}\n'
    there = _MaskText(old, path)
    if there.mask is None:
        raise there.faults[0]
    head, *blocks = blocks_of(old, _is_header)
    if len(blocks) != len(there.places):  # tables in another spelling, such as place = [{..}]
        raise RuleFileError(path, None, "its places are no tables", "begin each place with [[place]]")
    wanted = {place.key: place for place in mask.obeying(there.mask).places}
    kept = []
    for place, block in zip(there.places.values(), blocks, strict=True):
        new = wanted.pop(place.key, None)
        if new is not None:
            same = new.does == place.does if snapshots else _content(new) == _content(place)
            kept.append((_order(new), block if same or place.state else _edited(block, place, new)))
        elif "#" in (above := comments_before(block, _is_header).rpartition("\n\n")[0]):
            kept.append((_order(place), f"{above}\n"))  # what stands apart from the place is not about it
    if mask.mode != there.mask.mode:
        head = edited(head, lambda document: document.update(mode=mask.mode)) or head
    return assembled(head, kept, [(_order(place), _block(place)) for place in wanted.values()])


def _order(place: Place) -> tuple[bool, bool, object]:
    """Return where a place stands in its file: what the user spoke of, what is stripped, the rest."""
    return not place.state, place.act != "strip", place.key


def _block(place: Place) -> str:
    return "[[place]]\n" + "".join([f"{key} = {toml(value)}\n" for key, value in _content(place).items()])


def _content(place: Place) -> dict[str, Any]:
    """Return what is written of a place, in order, without what goes without saying."""
    css, value = said_of(place.selector, place.attribute)
    seen = f"{place.changes} of {place.opportunities} changes, {place.pages} page{'s' if place.pages != 1 else ''}"
    content = {
        "css": css,
        "value": value.removeprefix(COMMENT) if value else None,
        "position": place.position,
        "changes": slot_text(place.slot, place.attribute),
        "only": "numbers" if place.typed else "",
        "act": place.act if place.act != "strip" else "",
        "state": place.state,
        "on": list(place.on),
        "not-on": list(place.never_on),
        "lasts-on": list(place.not_on),
        "example": [text if len(text) <= _LONG else f"{text[: _LONG - 1]}…" for text in place.example or ()],
        "seen": seen if not place.state or place.changes or place.opportunities or place.pages else "",
    }
    return {key: value for key, value in content.items() if value or (key == "value" and value == "")}


def _edited(block: str, old: Place, place: Place) -> str:
    """Return the block of a place once it says *place* instead of *old*: keys that say the same, other keys and comments stay."""
    if block.endswith(_block(old)):
        return block.removesuffix(_block(old)) + _block(place)

    def change(document: Any) -> None:
        edit(document["place"][0], {**dict.fromkeys(_KEYS), **_content(place)})

    return edited(block, change) or _block(place)


# Files


def path_of_mask(directory: "str | PathLike[str]", site: str) -> Path:
    """Return where the mask of *site* stands in *directory*, or would stand; of another site's name, with a hash."""
    return path_for(directory, site, MASK_SUFFIX, _loaded)


def load_mask(path: "str | PathLike[str]") -> Mask:
    """Return the mask in the file at *path*. Raises RuleFileError, also when it is not there."""
    found = _loaded(Path(path))
    if found is None:
        raise RuleFileError(Path(path), None, "there is no such file", "name a mask file")
    return found


def _loaded(path: Path) -> Mask | None:
    text = text_of(path)
    mask, errors = read_mask(text, path) if text is not None else (None, [])
    if errors:
        raise errors[0]
    return mask


def load_masks(directories: "Iterable[str | PathLike[str]]") -> dict[str, Mask]:
    """Return the masks of all mask files in *directories*, by site.

    Of several of one site the places add up; of two of the same place the one that the user keeps counts, else the one that he
    strips, else one with pages of his on which it does not act, else the first. Those of another mode than the first are left aside:
    their places mean something else.

    Raises RuleFileError for a faulty file, OSError for a directory that cannot be read.
    """
    found: dict[str, Mask] = {}
    for path in (path for directory in directories for path in _mask_files(directory)):
        mask, errors = read_named(path, MASK_SUFFIX, read_mask)
        if errors:
            raise errors[0]
        if mask is not None:
            first = found.setdefault(mask.site, mask)
            if first.mode == mask.mode:
                places = sorted([*mask.places, *first.places], key=_weight)
                found[mask.site] = replace(first, places=tuple(places))
    return found


def _weight(place: Place) -> tuple[int, bool]:
    return ("", "strip", "keep").index(place.state), bool(place.never_on)


def check_masks(directory: "str | PathLike[str]") -> list[RuleFileError]:
    """Return all that is wrong with the mask files of *directory*; nothing if it is missing."""
    return [error for path in _mask_files(directory) for error in read_named(path, MASK_SUFFIX, read_mask)[1]]


def _mask_files(directory: "str | PathLike[str]") -> list[Path]:
    return sorted(Path(directory).glob(f"*{MASK_SUFFIX}"))


def save_learned_mask(directory: "str | PathLike[str]", mask: Mask) -> Path:
    """Write *mask* into the file of its site, without what the user said: that stands in a file already, maybe in another directory.

    A place that does what it did before keeps its counts and its example: they are a snapshot.
    """
    learned = replace(mask, places=tuple([place for place in mask.places if not place.state]))
    return save_mask(learned, path_of_mask(directory, mask.site), snapshots=True)


def save_mask(mask: Mask, path: "str | PathLike[str]", *, snapshots: bool = False) -> Path:
    """Write *mask* into the file at *path*, and return that; without anything to say no new file is written.

    Hand edits and comments there survive. Raises RuleFileError for a faulty file that stands there, RuleWriteError where it cannot be
    written.
    """
    path = Path(path)
    with locked(path):
        before = text_of(path) or ""
        text = written(mask, before, path, snapshots=snapshots) if before or mask.places else ""
        if text != before:
            write(path, text)
    return path
