"""Folders of installed packages, which settings name as ``package:path``."""

from importlib.util import find_spec
from pathlib import Path


def package_folder(name: str) -> Path | None:
    """Return the folder of an installed package; None where there is no package *name*, or it has no folder.

    >>> package_folder("scrapy_dedup").name, package_folder("no.such.package")
    ('scrapy_dedup', None)
    """
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        spec = None
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return Path(folders[0]) if folders else None
