"""Mask files: one per site beside its rule file, made for reading, reviewing and committing.

``<site>.mask.toml`` holds a table for each path; what the user wrote into it stays. A path whose ``state`` is "keep" is
never stripped again, whatever is learned, one of "strip" always is.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files.errors import RuleFileError
from ..files.locked import locked, names_for, path_for, plain_name, text_of, write
from ..files.toml_text import blocks_of, comments_before, edit, toml
from .merging import merged_masks
from .model import Mask, TransientPath
from .reading import FORMAT, PATH_KEYS, is_path_header, read_mask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

__all__ = ["load_mask", "mask_file_name", "path_of_mask", "save_mask", "save_mask_file", "written_mask"]

MASK_SUFFIX = ".mask.toml"
"""What the names of mask files end in, which are no rule files."""

_NOWHERE = Path("-")
_FORMAT_LINE = f'format = "{FORMAT}"\n'


def mask_file_name(site: str) -> str:
    """Return the name of the mask file of *site*.

    >>> mask_file_name("127.0.0.1:8104")
    '127.0.0.1_8104.mask.toml'
    """
    return plain_name(site) + MASK_SUFFIX


def path_of_mask(directory: "str | PathLike[str]", site: str) -> Path:
    """Return where the mask of *site* stands in *directory*, or would stand.

    Where the plain name is taken by the file of another site, it is the name with a hash.
    """
    return path_for(directory, site, MASK_SUFFIX, _read)


def load_mask(path: "str | PathLike[str]") -> Mask:
    """Return the mask in one file. Raises RuleFileError, also when it is not there."""
    path = Path(path)
    found = _read(path)
    if found is None:
        raise RuleFileError(path, None, "there is no such file", "name a mask file")
    return found


def load_masks(directories: "Iterable[str | PathLike[str]]") -> dict[str, Mask]:
    """Return the masks of all mask files in *directories*, by site; of several of a site see :func:`.merged_masks`.

    Raises RuleFileError for a faulty file, OSError for a directory that cannot be read.
    """
    found: dict[str, list[Mask]] = {}
    for directory in directories:
        for path in _mask_files(directory):
            mask, errors = _named(path)
            if errors:
                raise errors[0]
            if mask is not None:
                found.setdefault(mask.site, []).append(mask)
    return {site: merged_masks(masks) for site, masks in found.items()}


def check_masks(directory: "str | PathLike[str]") -> list[RuleFileError]:
    """Return all that is wrong with the mask files of *directory*; nothing if it is missing."""
    return [error for path in _mask_files(directory) for error in _named(path)[1]]


def _mask_files(directory: "str | PathLike[str]") -> list[Path]:
    return sorted(Path(directory).glob(f"*{MASK_SUFFIX}"))


def _named(path: Path) -> tuple[Mask | None, list[RuleFileError]]:
    """Return the mask in a file that is named by its site, and what is wrong with the file."""
    try:
        text = text_of(path)
    except RuleFileError as error:
        return None, [error]
    if text is None:
        return None, []
    mask, errors = read_mask(text, path)
    if mask is None:
        return None, errors
    if not mask.site:
        remedy = f'add a line such as site = "{path.name.removesuffix(MASK_SUFFIX)}"'
        return None, [RuleFileError(path, 1, "site is missing", remedy)]
    wanted, _ = names = names_for(mask.site, MASK_SUFFIX)
    if path.name not in names:
        problem = f'the file is named {path.name} and says site = "{mask.site}"'
        return None, [RuleFileError(path, None, problem, f"name it {wanted}, or mend the site")]
    return mask, []


def save_learned_mask(directory: "str | PathLike[str]", mask: Mask) -> Path:
    """As :func:`save_mask`, without what the user said: that stands in its file already, maybe in another directory.

    Of a path that says what it said before the counts and examples stay as they are: they are a snapshot.
    """
    learned = replace(mask, paths=tuple([path for path in mask.paths if not path.state]))
    return _save(path_of_mask(directory, mask.site), learned, _with_snapshots)


def save_mask(directory: "str | PathLike[str]", mask: Mask) -> Path:
    """Write *mask* into the file of its site in *directory* and return its path; see :func:`save_mask_file`."""
    return save_mask_file(path_of_mask(directory, mask.site), mask)


def save_mask_file(path: "str | PathLike[str]", mask: Mask) -> Path:
    """Write *mask* into the file at *path*.

    Paths there that the user spoke of stay as they are, also those that the mask does not have; so do comments, order and
    spelling of all that is not changed. Without anything to say no new file is written.

    Raises RuleFileError for a faulty file that stands there, RuleWriteError where it cannot be written.
    """
    return _save(Path(path), mask, lambda new, _: new)


def _save(path: Path, mask: Mask, settled: "Callable[[Mask, Mask], Mask]") -> Path:
    """Write *mask*, as it is *settled* with the mask that stands there, into the file at *path*."""
    with locked(path):
        old = _read(path)
        if old is not None:
            mask = settled(_with_users(mask, old), old)
        elif not mask.paths:
            return path
        before = (text_of(path) or "") if old is not None else ""
        text = written_mask(mask, before)
        if text != before:
            write(path, text)
    return path


def _with_snapshots(mask: Mask, old: Mask) -> Mask:
    """Return *mask*, its paths with the counts and examples that they have in *old* where they say the same."""
    known = {path.key: path for path in old.paths}
    return replace(mask, paths=tuple([_snapshot(path, known.get(path.key, path)) for path in mask.paths]))


def _snapshot(path: TransientPath, known: TransientPath) -> TransientPath:
    again = replace(
        known,
        kind=path.kind,
        slot=path.slot,
        templates=path.templates,
        state=path.state,
        typed=path.typed,
        everywhere=path.everywhere,
        excepted=path.excepted,
        untested=path.untested,
        words=path.words,
    )
    return known if again == known else path


def _with_users(mask: Mask, old: Mask) -> Mask:
    said = {path.key: path for path in old.paths if path.state}
    paths = [said.pop(path.key, path) if not path.state else path for path in mask.paths]
    known = {path.key for path in paths}
    return replace(mask, paths=(*paths, *[path for path in said.values() if path.key not in known]))


def _read(path: Path) -> Mask | None:
    text = text_of(path)
    if text is None:
        return None
    mask, errors = read_mask(text, path)
    if errors:
        raise errors[0]
    return mask


def written_mask(mask: Mask, old: str = "") -> str:
    """Return the text of a mask file that says *mask*, as near to the text *old* as can be."""
    if old:
        text = _edited(mask, old)
        if text is not None and _says(text, mask):
            return text
    return "\n".join([_head(mask), *[_path_text(path) for path in sorted(mask.paths, key=_order)]])


def _says(text: str, mask: Mask) -> bool:
    found, _ = read_mask(text, _NOWHERE)
    return found == mask


def _order(path: TransientPath) -> tuple[bool, bool, object]:
    """Return the place of a path in its file: what the user spoke of, what is stripped, the rest."""
    return not path.state, not path.is_left_out, path.key


def _head(mask: Mask) -> str:
    content: dict[str, Any] = {"format": FORMAT, "site": mask.site}
    content |= _head_content(mask)
    return "".join([f"{key} = {toml(value)}\n" for key, value in content.items() if value is not None])


def _head_content(mask: Mask) -> dict[str, Any]:
    """Return what the head says, None for what it does not."""
    templates = sorted(([*template] for template in mask.templates), key=repr)
    return {
        "site": mask.site,
        "mode": mask.mode if mask.mode != "default" else None,
        "templates": templates or None,
        "layouts": sorted(mask.layouts) or None,
    }


def _edited(mask: Mask, old: str) -> str | None:
    """Return *old* edited to say *mask*; None where it is not cut as we cut it."""
    head, *blocks = blocks_of(old, is_path_header)
    wanted = {path.key: path for path in mask.paths}
    texts = [_edited_head(head, mask)]
    for block in blocks:
        found, _ = read_mask(_FORMAT_LINE + block, _NOWHERE)
        if found is None or len(found.paths) != 1:
            return None
        path = found.paths[0]
        new = wanted.pop(path.key, None)
        if new is not None:
            texts.append(block if new == path else _edited_block(new, block))
    texts += ["\n" + _path_text(path) for path in sorted(wanted.values(), key=_order)]
    return "".join([text if text.endswith("\n") or not text else text + "\n" for text in texts])


def _edited_head(head: str, mask: Mask) -> str:
    import tomlkit  # here, since most crawls write nothing
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(head)
        edit(document, _head_content(mask))
        return tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError, AttributeError, ValueError):
        return head  # what it says is compared afterwards


def _edited_block(path: TransientPath, block: str) -> str:
    fresh = comments_before(block, is_path_header) + _path_text(path)
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(block)
        table: Any = document["path"][0]
        edit(table, {**dict.fromkeys(PATH_KEYS), **_content(path)})
        text = tomlkit.dumps(document)
    except (TOMLKitError, KeyError, IndexError, TypeError, AttributeError, ValueError):
        return fresh
    return text if _says(_FORMAT_LINE + text, Mask(paths=(path,))) else fresh


def _path_text(path: TransientPath) -> str:
    content = _content(path)
    lines = [f"{key} = {toml(content[key], lines=key == 'examples')}\n" for key in PATH_KEYS if key in content]
    return "[[path]]\n" + "".join(lines)


def _content(path: TransientPath) -> dict[str, Any]:
    """Return what is written of a path, without what goes without saying."""
    content: dict[str, Any] = {"selector": path.selector, "kind": path.kind, "css": path.css, "xpath": path.xpath}
    if path.attribute:
        content["attribute"] = path.attribute
    if path.position:
        content["position"] = f"{path.position} of {path.of or 'any'}"
    if path.slot is not None:
        content["slot"] = list(path.slot)
    if path.state:
        content["state"] = path.state
    if path.templates:
        content["templates"] = [list(template) for template in path.templates]
    if path.everywhere:
        content["everywhere"] = True
    if path.excepted:
        content["except"] = [list(template) for template in path.excepted]
    if path.untested:
        content["untested"] = [list(template) for template in path.untested]
    if path.typed:
        content["typed"] = True
    if path.words:
        content["words"] = list(path.words)
    if path.opportunities:
        content |= {
            "confidence": path.confidence,
            "pages": path.pages,
            "changes": path.changes,
            "opportunities": path.opportunities,
        }
    if path.examples:
        content["examples"] = list(path.examples)
    return content
