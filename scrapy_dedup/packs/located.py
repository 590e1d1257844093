"""Packs by their names: those that come with this package, and files."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .model import Pack

__all__ = ["UnknownPackError", "load_packs", "pack_path"]

_FOLDER: Final = Path(__file__).parent


class UnknownPackError(ValueError):
    """A name that no pack has: ``problem`` and ``remedy``, each a sentence without its full stop."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}. {remedy}")
        self.problem = problem
        self.remedy = remedy


def pack_path(name: str, folder: Path) -> Path:
    """Return the file of a pack; relative paths start from *folder*. Raises UnknownPackError."""
    shipped = sorted(path.stem for path in _FOLDER.glob("*.toml"))
    if name in shipped:
        return _FOLDER / f"{name}.toml"
    path = folder / Path(name).expanduser()
    if not path.is_file():
        there = ", ".join(map(repr, shipped))
        raise UnknownPackError(
            f"there is no file {path}", f"Name a file, or a pack that comes with scrapy-dedup: {there}"
        )
    return path


def load_packs(names: Iterable[str], folder: Path) -> "tuple[Pack, ...]":
    """Return packs by name. Raises UnknownPackError, RuleFileError."""
    paths = [pack_path(name, folder) for name in names]
    return tuple(_loaded(path, path.stat().st_mtime_ns) for path in paths)


@lru_cache(maxsize=16)
def _loaded(path: Path, _changed: int) -> "Pack":
    from .pack_files import load_pack  # here, since a crawl only looks whether the file is there

    return load_pack(path)
