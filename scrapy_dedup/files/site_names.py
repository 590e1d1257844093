"""The names of the files of sites, each of which says in itself whose it is."""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from .errors import RuleFileError

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["digest", "name_fault", "path_for", "plain_name"]


def plain_name(site: str) -> str:
    """Return *site* as a part of a file name: other characters than letters, digits, ``.`` and ``-`` are ``_`` in it."""
    name = re.sub(r"[^A-Za-z0-9.\-]", "_", site).lstrip(".") or "_"
    return name if len(name) <= 100 else f"{name[:90]}-{digest(site)}"


class OfSite(Protocol):
    """What a file holds of one site."""

    @property
    def site(self) -> str:
        """The site."""


def names_for(site: str, suffix: str) -> tuple[str, str]:
    """Return the name of the file of *site*, and that which it has where another site has taken the first."""
    return plain_name(site) + suffix, f"{plain_name(site)}-{digest(site)}{suffix}"


def path_for(directory: "str | PathLike[str]", site: str, suffix: str, read: Callable[[Path], OfSite | None]) -> Path:
    """Return where the file of *site* stands in *directory*, or would stand; *read* raises RuleFileError for a faulty one."""
    plain, other = names_for(site, suffix)
    path = Path(directory) / plain
    try:
        found = read(path)
    except RuleFileError:
        return path
    return path if found is None or found.site == site else path.with_name(other)


def digest(text: str) -> str:
    """Return eight hexadecimal digits that stand for *text*."""
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=4).hexdigest()


def name_fault(path: Path, text: str, site: str, suffix: str) -> RuleFileError | None:
    """Return what is wrong with the name of the file at *path*, which says in its *text* that it is of *site*."""
    wanted, _ = names = names_for(site, suffix)
    if path.name in names:
        return None
    lines = (number for number, line in enumerate(text.splitlines(), 1) if line.lstrip().startswith("site"))
    problem = f'the file is named {path.name} and says site = "{site}"'
    return RuleFileError(path, next(lines, None), problem, f"name it {wanted}, or mend the site")
