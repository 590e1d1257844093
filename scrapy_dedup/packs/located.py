"""Packs by their names: those that come with this package, files, and resources of other packages."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..files.package_folders import package_folder

if TYPE_CHECKING:
    from .model import Pack

__all__ = ["STARTER", "TRUST", "USES", "UnknownPackError", "load_packs", "pack_path", "place_of_new", "shipped"]

STARTER: Final = "starter"
"""The name of the pack that comes with this package."""
TRUST: Final = "trust"
USES: Final = ("prior", TRUST)
"""What a pack may be: what is believed before pages are seen, or rules that act without evidence of the site."""
PROJECT_FOLDER: Final = "packs"
"""The folder of a project, beside its scrapy.cfg, in which packs are named without a path."""
_FOLDER: Final = Path(__file__).parent
_RESOURCE: Final = re.compile(r"([A-Za-z_][\w.]+):(.+)", re.DOTALL)


class UnknownPackError(ValueError):
    """A name that no pack has: ``problem`` and ``remedy``, each a sentence without its full stop."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}. {remedy}")
        self.problem = problem
        self.remedy = remedy


def shipped() -> tuple[str, ...]:
    """Return the names of the packs that come with this package."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def pack_path(name: str, folder: Path) -> Path:
    """Return the file of a pack; relative paths start from *folder*. Raises UnknownPackError."""
    if name in shipped():
        return _FOLDER / f"{name}.toml"
    own = folder / PROJECT_FOLDER / f"{name}.toml"
    if "/" not in name and own.is_file():
        return own
    match = _RESOURCE.fullmatch(name)
    if match is not None and not name.startswith(("/", ".", "~")):
        path = _package_folder(match[1]) / match[2]
    elif name.endswith(".toml"):
        path = folder / Path(name).expanduser()
    else:
        there = [*shipped(), *sorted(path.stem for path in (folder / PROJECT_FOLDER).glob("*.toml"))]
        raise UnknownPackError(
            f"there is no pack {name!r}",
            f"There are {', '.join(map(repr, there))}; another file is named by its path, such as 'shared/{name}.toml'",
        )
    if not path.is_file():
        raise UnknownPackError(
            f"there is no file {path}", "Make it with scrapy learn-rules --pack, or correct the path"
        )
    return path


def place_of_new(name: str, folder: Path) -> Path:
    """Return the file that a pack of this name is written to."""
    return folder / Path(name).expanduser() if name.endswith(".toml") else folder / PROJECT_FOLDER / f"{name}.toml"


def load_packs(uses: Mapping[str, str], folder: Path) -> "tuple[Pack, ...]":
    """Return packs by name, each to be used in its way (USES). Raises UnknownPackError, RuleFileError."""
    found = []
    for name, use in uses.items():
        path = pack_path(name, folder)
        found.append(replace(_loaded(path, path.stat().st_mtime_ns), trusted=use == TRUST))
    return tuple(found)


@lru_cache(maxsize=16)
def _loaded(path: Path, _changed: int) -> "Pack":
    from .pack_files import load_pack  # here, since a crawl only looks whether the file is there

    return load_pack(path)


def _package_folder(name: str) -> Path:
    folder = package_folder(name)
    if folder is None:
        raise UnknownPackError(f"there is no package {name!r}", "Is it installed, and is it a package with a folder?")
    return folder
