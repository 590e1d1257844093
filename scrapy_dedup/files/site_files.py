"""Files of one site each: their names, and their texts. Each says in itself whose it is."""

import hashlib
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from .errors import RuleFileError

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["MASK_SUFFIX", "digest", "path_for", "plain_name", "read_named", "text_of"]


MASK_SUFFIX = ".mask.toml"
"""What the names of mask files end in, which stand beside rule files and are none."""

#: What Windows takes for a device, whatever follows after a dot; and what would make a rule file one of masks.
_device = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(?=\.|$)", re.IGNORECASE).match
_mask = re.compile(r"\.(?=mask$)", re.IGNORECASE).sub


def plain_name(site: str) -> str:
    """Return *site* as a part of a file name: other characters than letters, digits, ``.`` and ``-`` are ``_`` in it.

    >>> plain_name("shop.test"), plain_name("shop.mask"), plain_name("aux")
    ('shop.test', 'shop_mask', '_aux')
    """
    name = _mask("_", re.sub(r"[^A-Za-z0-9.\-]", "_", site).lstrip(".")) or "_"
    name = f"_{name}" if _device(name) else name
    return name if len(name) <= 100 else f"{name[:90]}-{digest(site)}"


class OfSite(Protocol):
    """What a file holds of one site."""

    @property
    def site(self) -> str:
        """The site."""


T = TypeVar("T", bound=OfSite)


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


def text_of(path: Path) -> str | None:
    """Return the text of a file, None if there is none. Raises RuleFileError."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for, and a device may have no end
            raise RuleFileError(path, None, "this is no regular file", "remove it, or give it another name")
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise RuleFileError(path, None, f"cannot be read: {error.strerror}", "make it readable") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise RuleFileError(path, line, "this is not UTF-8", "save the file as UTF-8") from None


def read_named(
    path: Path, suffix: str, read: Callable[[str, Path], tuple[T | None, list[RuleFileError]]]
) -> tuple[T | None, list[RuleFileError]]:
    """Return (what *read* finds in the file at *path*, all that is wrong with it); its site must be that of its name.

    Nothing is found where there is no file, and where anything is wrong.
    """
    try:
        text = text_of(path)
    except RuleFileError as error:
        return None, [error]
    if text is None:
        return None, []
    found, errors = read(text, path)
    fault = _name_fault(path, text, found.site, suffix) if found is not None else None
    return (found, errors) if fault is None else (None, [fault])


def _name_fault(path: Path, text: str, site: str, suffix: str) -> RuleFileError | None:
    """Return what is wrong with the name of the file at *path*, which says in its *text* that it is of *site*."""
    if not site:
        return RuleFileError(
            path, 1, "site is missing", f'add a line such as site = "{path.name.removesuffix(suffix)}"'
        )
    wanted, _ = names = names_for(site, suffix)
    if path.name in names:
        return None
    lines = (number for number, line in enumerate(text.split("\n"), 1) if line.lstrip().startswith("site"))
    problem = f'the file is named {path.name} and says site = "{site}"'
    return RuleFileError(path, next(lines, None), problem, f"name it {wanted}, or correct the site")
