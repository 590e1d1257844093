"""Folders that show what stands elsewhere, in a database: each file there is brought up to date before it is read or changed."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Protocol

__all__ = ["STORED", "Source", "mirror", "place_of_files", "refresh", "source_of"]

#: What names a folder of which the texts are in the store; the name of a scope may follow.
STORED: Final = "store:"


class Source(Protocol):
    """Where the texts of a mirrored folder are."""

    def refresh(self) -> None:
        """Bring the files of the folder up to date. Raises OSError."""

    def locked(self, path: Path) -> AbstractContextManager[None]:
        """Hold the lock of a file, which is up to date then. Raises RuleWriteError."""

    def keep(self, path: Path, text: str) -> None:
        """Take a new text of a file, whose lock is held. Raises RuleWriteError."""


_sources: dict[Path, Source] = {}


def mirror(folder: Path, source: Source) -> None:
    """Note that *folder*, and the folders of scopes in it, show what *source* has."""
    _sources[folder] = source


def source_of(path: Path) -> Source | None:
    """Return where the text of the file at *path* is; None where it is there."""
    if not _sources:
        return None
    return _sources.get(path.parent) or _sources.get(path.parent.parent)


def refresh(directory: Path) -> None:
    """Bring the files in *directory* up to date, where they are mirrored. Raises OSError."""
    source = source_of(directory / "any")
    if source is not None:
        source.refresh()


def place_of_files(directory: Path) -> str:
    """Return how a user names *directory*."""
    for folder in (directory, directory.parent):
        if folder in _sources:
            return STORED + ("" if folder == directory else directory.name)
    return str(directory)
