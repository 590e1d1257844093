"""Files that several processes write: one at a time, and each of them whole.

A file is written into another beside it that then takes its place, under a lock that stands in the system's folder
for temporary files (so nothing but what is meant to be there is ever found in a directory that is committed).
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from filelock import FileLock, Timeout

from .errors import RuleWriteError
from .site_files import digest

__all__ = ["locked", "replace", "write"]

_LOCK_SECONDS = 60


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of the file at *path* on this machine. Raises RuleWriteError."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"scrapy-dedup-{user}"
    lock = FileLock(folder / f"{digest(os.path.realpath(path))}.lock", timeout=_LOCK_SECONDS)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if not _is_ours(folder, user):
            raise RuleWriteError(
                path,
                f"{folder} belongs to others, or they may write into it",
                "remove it, or set TMPDIR to a folder of your own",
            )
        lock.acquire()
    except Timeout:
        raise RuleWriteError(
            path, f"another process has held its lock for {_LOCK_SECONDS} s", f"end it, or remove {lock.lock_file}"
        ) from None
    except RuleWriteError:
        raise
    except OSError as error:
        raise RuleWriteError(
            path, f"cannot be locked: {error}", f"make {folder} writable, or set TMPDIR to a folder that is"
        ) from error
    try:
        yield
    finally:
        lock.release()


def _is_ours(folder: Path, user: int) -> bool:
    """Return whether nobody but this user can put anything into *folder*: a lock that leads elsewhere, say."""
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and (os.name == "nt" or (found.st_uid == user and not found.st_mode & 0o022))


def write(path: Path, text: str) -> None:
    """Make *text* what stands in the file at *path*, which may be a link; its lock must be held. Raises RuleWriteError."""
    path = Path(os.path.realpath(path))  # of a link, the file it leads to is replaced
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, text)
    except OSError as error:
        raise RuleWriteError(
            path, f"cannot be written: {error.strerror or error}", "make the directory writable, or set DEDUP_DIR"
        ) from error
    except UnicodeEncodeError as error:
        raise RuleWriteError(path, f"a rule holds what is no text: {error}", "remove the rule") from error


def replace(path: Path, text: str) -> None:
    """Make *text* what stands in the file at *path*, whole. Raises OSError."""
    beside = path.with_name(f".{path.name}.{os.getpid()}-{token_hex(4)}.tmp")
    try:
        with beside.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            beside.chmod(path.stat().st_mode & 0o7777)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
