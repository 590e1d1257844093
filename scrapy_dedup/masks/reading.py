"""A mask file read: all of it, or what is wrong with it, line by line."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files.errors import RuleFileError
from ..files.faults import Lines, parsed
from .file_keys import FORMAT, is_path_header
from .model import Mask
from .page_kinds import PageKinds
from .reader import Reader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .path import TransientPath

__all__ = ["FORMAT", "MaskText", "read_mask"]


class MaskText:
    """The text of a mask file, and all that is in it: its tables as they stand there, what they mean, and its faults."""

    def __init__(self, text: str, path: Path) -> None:
        self.document: Mapping[str, Any] = {}
        self.mask: Mask | None = None
        self.faults: list[RuleFileError] = []
        #: The paths in the order of the file, and its kinds of pages.
        self.paths: list[TransientPath] = []
        self.kinds = PageKinds()
        try:
            self.document = parsed(text, path)
        except RuleFileError as error:
            self.faults.append(error)
            return
        form = self.document.get("format")
        if form != FORMAT:  # what the rest of it means is not known
            self.faults.append(_format_fault(text, path, form))
            return
        reader = Reader(text, path)
        mask = reader.mask(self.document)
        self.paths, self.kinds = reader.paths, reader.kinds
        self.faults = sorted(reader.errors, key=lambda error: error.line or 0)
        self.mask = None if self.faults else mask


def _format_fault(text: str, path: Path, form: object) -> RuleFileError:
    if form is None:
        remedy = f'the first line of a mask file is format = "{FORMAT}"'
        return RuleFileError(path, 1, "format is missing", remedy)
    line = Lines(text, is_path_header).line(None, "format")
    remedy = f'write format = "{FORMAT}", or use the release that wrote the file'
    return RuleFileError(path, line, f"format is {form!r}, which this release does not read", remedy)


def read_mask(text: str, path: Path) -> tuple[Mask | None, list[RuleFileError]]:
    """Return (the mask that *text* says, all that is wrong with it); None where anything is wrong."""
    found = MaskText(text, path)
    return found.mask, found.faults
