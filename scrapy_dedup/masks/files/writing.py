"""A mask file written: what the user wrote into it stays where it is, and only what has changed is another line.

The file is cut into blocks, the head and one for each path with the comments before it. The block of a path that did not
change is written again byte by byte. One that changed is written anew with the comments that stood in it; where the user has
ordered or spelt it otherwise, only what changed is edited (by tomlkit).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...files.errors import FormError
from ...files.table_fields import written
from ...files.toml_text import Block, assembled, blocks_of, comments_before, edit, edited, toml, toml_key
from ..css_xpath import SUBTREE_SUFFIX
from ..path import Example, TransientPath
from ..slots import slot_text
from .comments import Items, commented, comments_in, header_in
from .mask_data import MaskData
from .page_kinds import PageKinds, pattern_of
from .path_table import FORMAT, KINDS, MACHINE, PATH, PATH_KEYS, TEMPLATES, is_head_table, is_path_header
from .reading import MaskText, read_mask

__all__ = ["written_mask"]

_NOWHERE = Path("-")
_HEADER: Final = "[[path]]"
_LONG: Final = 100
"""A longer list has each item on a line of its own."""
_KINDS_COMMENT: Final = (
    '# Kinds of pages of which some were seen twice: "*" is one segment of the path, "page=" a parameter.\n'
)
_MACHINE_COMMENT: Final = "# For the machine: digests of the places of pages that were seen twice.\n"


def written_mask(mask: MaskData, old: str = "") -> str:
    """Return the text of a mask file that says *mask*, as near to the text *old* as can be."""
    before = MaskText(old, _NOWHERE) if old else None
    if before is not None and before.mask is not None:
        text = _edited(mask, old, before)
        if text is not None and _says(text, mask):
            return text
    kinds = PageKinds().holding(mask.templates)
    paths = [_path_text(path, kinds) for path in sorted(mask.paths, key=_order)]
    return "\n".join([_head(mask, kinds), *paths])


def _says(text: str, mask: MaskData) -> bool:
    found, _ = read_mask(text, _NOWHERE)
    return found == mask


def _order(path: TransientPath) -> tuple[bool, bool, object]:
    """Return the place of a path in its file: what the user spoke of, what is stripped, the rest."""
    return not path.state, not path.is_left_out, path.key


def _edited(mask: MaskData, old: str, before: MaskText) -> str | None:
    """Return *old* edited to say *mask*; None where it is not cut as we cut it."""
    head, *blocks = blocks_of(old, is_path_header)
    if len(blocks) != len(before.paths):
        return None
    kinds = before.kinds.holding(mask.templates)
    wanted = {path.key: path for path in mask.paths}
    kept: list[Block] = []
    for path, said, block in zip(before.paths, before.document.get("path", ()), blocks, strict=True):
        new = wanted.pop(path.key, None)
        if new is not None:
            kept.append((_order(new), _PathBlock(block, said, path, before).saying(new, kinds)))
    new_blocks = [(_order(path), _path_text(path, kinds)) for path in wanted.values()]
    return assembled(_edited_head(head, mask, kinds, before), kept, new_blocks)


# The head


def _head(mask: MaskData, kinds: PageKinds) -> str:
    content: list[tuple[str, Any]] = [("format", FORMAT), ("site", mask.site)]
    if mask.mode != "default":
        content.append(("mode", mask.mode))
    tables = [_table(KINDS, _patterns(kinds), _KINDS_COMMENT), _table(MACHINE, _layouts(mask), _MACHINE_COMMENT)]
    return "".join([f"{key} = {toml(value)}\n" for key, value in content] + tables)


def _table(name: str, content: Mapping[str, Any], comment: str) -> str:
    return f"\n{comment}[{name}]\n" + "".join([text for _, text in _items(content, "")]) if content else ""


def _patterns(kinds: PageKinds) -> dict[str, Any]:
    found = {name: [pattern_of(each) for each in group] for name, group in kinds.groups.items()}
    return {name: group[0] if len(group) == 1 and isinstance(group[0], str) else group for name, group in found.items()}


def _layouts(mask: MaskData) -> dict[str, Any]:
    return {"layouts": sorted(mask.layouts)} if mask.layouts else {}


def _edited_head(head: str, mask: MaskData, kinds: PageKinds, before: MaskText) -> str:
    """Return the head edited; where it cannot be, as it is: what it says is compared afterwards.

    Each table is edited by itself: to tomlkit, the comment above one is the end of that before it.
    """
    old = before.mask
    assert old is not None
    tables = (
        (KINDS, _patterns(kinds), _KINDS_COMMENT, kinds.groups == before.kinds.groups),
        (MACHINE, _layouts(mask), _MACHINE_COMMENT, mask.layouts == old.layouts),
    )

    def change(document: Any) -> None:
        if "site" in document:
            edit(document, {"site": mask.site, "mode": mask.mode if mask.mode != "default" else None})
        for name, content, _, same in tables:
            if name in document and not content:
                del document[name]
            elif name in document and not same:
                edit(document[name], {**dict.fromkeys(document[name]), **content}, lines=_is_long)

    blocks = [edited(block, change) for block in blocks_of(head, is_head_table)]
    if None in blocks:
        return head
    text = "".join([block if block.endswith("\n") else block + "\n" for block in blocks if block])
    rest = "".join([_table(name, content, said) for name, content, said, _ in tables if name not in before.document])
    return text + rest


# A path


@dataclass(frozen=True, slots=True)
class _PathBlock:
    """The block of a path as it stands in the file: its text, its keys, what they mean, and the file."""

    text: str
    said: Mapping[str, Any]
    path: TransientPath
    file: MaskText

    def saying(self, path: TransientPath, kinds: PageKinds) -> str:
        """Return the text of the block once it says *path*, in a file with these *kinds* of pages."""
        content = _content(path, kinds, self.said)
        if path == self.path and all(content.get(key) == self.said.get(key) for key in TEMPLATES):
            return self.text
        above = comments_before(self.text, is_path_header)
        inside = self.text[len(above) :]
        header = header_in(inside)
        comments = comments_in(inside, "path")
        fresh = above + commented(_items(content, header), comments)
        ours = _content(self.path, self.file.kinds, self.said)
        if inside == commented(_items(ours, header), comments):
            return fresh

        def change(document: Any) -> None:
            edit(document["path"][0], {**dict.fromkeys(PATH_KEYS), **content}, lines=_is_long)

        return edited(self.text, change) or fresh


def _path_text(path: TransientPath, kinds: PageKinds) -> str:
    return commented(_items(_content(path, kinds)), {})


def _content(path: TransientPath, kinds: PageKinds, said: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what is written of a path, in order, without what goes without saying.

    Kinds of pages that the user named in his own way, in what stands there (*said*), are named so again.
    """
    text = slot_text(path.slot, path.attribute)
    content: dict[str, Any] = {
        **written(PATH, path),
        "position": f"{path.position} of {path.of or 'any'}" if path.position else None,
        # Of an element with all that is in it, everything goes.
        "text": None if path.slot is None and path.selector.endswith(SUBTREE_SUFFIX) else text,
        "slot": list(path.slot or ()) if text is None else None,
        **{key: _said_again(key, getattr(path, name), kinds, said or {}) for key, name in TEMPLATES.items()},
        **_sides(path.examples),
    }
    shown = {"changed", "compared", "pages", "before", "after"}
    return {key: content[key] for key in PATH_KEYS if key in content and (content[key] or key in shown)}


def _sides(examples: Sequence[Example]) -> dict[str, Any]:
    """Return what is written of changes; nothing of what stood before it, or after it, where nothing did."""
    if len(examples) != 1:
        return {name: [each[at] for each in examples] for at, name in enumerate(("before", "after")) if examples}
    ((before, after),) = examples
    sides = {"before": before, "after": after}
    return {name: side for name, side in sides.items() if side} or sides


def _said_again(key: str, templates: Iterable[Any], kinds: PageKinds, said: Mapping[str, Any]) -> Any:
    value = said.get(key)
    try:
        if value is not None and kinds.meant([value] if isinstance(value, str) else value) == templates:
            return value
    except FormError:
        pass
    return kinds.references(templates)


def _items(content: Mapping[str, Any], header: str = _HEADER) -> Items:
    """Return the lines of a table, each with its key."""
    head = [("", f"{header}\n")] if header else []
    return head + [
        (key, f"{toml_key(key)} = {toml(value, lines=_is_long(key, value))}\n") for key, value in content.items()
    ]


def _is_long(key: str, value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and len(f"{key} = {toml(value)}") > _LONG
