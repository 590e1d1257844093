"""Mask files: one per site beside its rule file, made for reading, reviewing and committing.

``<site>.mask.toml`` holds a table for each path; what the user wrote into it stays. A path whose ``state`` is "keep" is
never stripped again, whatever is learned, one of "strip" always is.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...files.errors import RuleFileError
from ...files.locked import locked, write
from ...files.site_files import path_for, read_named, text_of
from .mask_data import MaskData
from .merging import merged_masks
from .reading import read_mask
from .updating import updated_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

__all__ = ["check_masks", "masks_in", "path_of_mask", "read_mask_file", "save_learned_mask", "save_mask_file"]

MASK_SUFFIX = ".mask.toml"
"""What the names of mask files end in, which are no rule files."""


def path_of_mask(directory: "str | PathLike[str]", site: str) -> Path:
    """Return where the mask of *site* stands in *directory*, or would stand.

    Where the plain name is taken by the file of another site, it is the name with a hash.
    """
    return path_for(directory, site, MASK_SUFFIX, _read)


def read_mask_file(path: "str | PathLike[str]") -> MaskData:
    """Return what the mask file at *path* says. Raises RuleFileError, also when it is not there."""
    path = Path(path)
    found = _read(path)
    if found is None:
        raise RuleFileError(path, None, "there is no such file", "name a mask file")
    return found


def masks_in(directories: "Iterable[str | PathLike[str]]") -> dict[str, MaskData]:
    """Return what all mask files in *directories* say, by site; of several of a site see :func:`.merged_masks`.

    Raises RuleFileError for a faulty file, OSError for a directory that cannot be read.
    """
    found: dict[str, list[MaskData]] = {}
    for directory in directories:
        for path in _mask_files(directory):
            mask, errors = read_named(path, MASK_SUFFIX, read_mask)
            if errors:
                raise errors[0]
            if mask is not None:
                found.setdefault(mask.site, []).append(mask)
    return {site: merged_masks(masks) for site, masks in found.items()}


def check_masks(directory: "str | PathLike[str]") -> list[RuleFileError]:
    """Return all that is wrong with the mask files of *directory*; nothing if it is missing."""
    return [error for path in _mask_files(directory) for error in read_named(path, MASK_SUFFIX, read_mask)[1]]


def _mask_files(directory: "str | PathLike[str]") -> list[Path]:
    return sorted(Path(directory).glob(f"*{MASK_SUFFIX}"))


def save_learned_mask(directory: "str | PathLike[str]", mask: MaskData) -> Path:
    """Write *mask* into the file of its site as :func:`save_mask_file`, without what the user said: that stands in its file already, maybe in another directory.

    Of a path that says what it said before the counts and examples stay as they are: they are a snapshot.
    """
    learned = replace(mask, paths=tuple([path for path in mask.paths if not path.state]))
    return _save(path_of_mask(directory, mask.site), learned, snapshots=True)


def save_mask_file(path: "str | PathLike[str]", mask: MaskData) -> Path:
    """Write *mask* into the file at *path*.

    Paths there that the user spoke of stay as they are, also those that the mask does not have; so do comments, order and
    spelling of all that is not changed. Without anything to say no new file is written.

    Raises RuleFileError for a faulty file that stands there, RuleWriteError where it cannot be written.
    """
    return _save(Path(path), mask)


def _save(path: Path, mask: MaskData, *, snapshots: bool = False) -> Path:
    with locked(path):
        before = text_of(path) or ""
        text = updated_text(before, path, mask, snapshots=snapshots)
        if text != before:
            write(path, text)
    return path


def _read(path: Path) -> MaskData | None:
    text = text_of(path)
    if text is None:
        return None
    mask, errors = read_mask(text, path)
    if errors:
        raise errors[0]
    return mask
