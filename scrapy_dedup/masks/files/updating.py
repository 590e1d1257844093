"""The text of a mask file with another mask: what the user said in it stays."""

from dataclasses import replace
from pathlib import Path

from ..path import TransientPath
from .mask_data import MaskData
from .reading import MaskText
from .writing import written_mask

__all__ = ["updated_text"]


def updated_text(text: str, path: Path, mask: MaskData, *, snapshots: bool = False) -> str:
    """Return *text*, that of the mask file at *path* ("" for none), once it says *mask* and what the user said in it.

    With *snapshots*, a path that says what it said before keeps the counts and examples that stand there.
    A mask without paths makes no text where there is none. Raises RuleFileError where the text is faulty.
    """
    if not text:
        return written_mask(mask) if mask.paths else ""
    there = MaskText(text, path)
    if there.mask is None:
        raise there.faults[0]
    mask = _with_users(mask, there.mask)
    if snapshots:
        mask = _with_snapshots(mask, there.mask)
    return written_mask(mask, text)


def _with_users(mask: MaskData, old: MaskData) -> MaskData:
    """Return *mask* with the paths of *old* that the user spoke of."""
    said = {path.key: path for path in old.paths if path.state}
    paths = [said.pop(path.key, path) if not path.state else path for path in mask.paths]
    known = {path.key for path in paths}
    return replace(mask, paths=(*paths, *[path for path in said.values() if path.key not in known]))


def _with_snapshots(mask: MaskData, old: MaskData) -> MaskData:
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
