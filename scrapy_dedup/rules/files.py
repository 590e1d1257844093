"""Rule files: one per site in a directory, made for reading, reviewing and committing.

A file is read whole or not at all, and written whole: into a file beside it that then
takes its place, under a lock that stands in the system's folder for temporary files
(so nothing but rule files is ever found in a directory that is committed).
"""

import hashlib
import logging
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from ..urls import DeepSplit
from .errors import RuleFileError, RuleWriteError
from .model import Rule, SiteRules, Status, merge, settled
from .reading import read_rules
from .writing import written_rules

if TYPE_CHECKING:
    from os import PathLike

__all__ = [
    "add_to_site",
    "changed_site",
    "check",
    "file_name",
    "load_directories",
    "load_file",
    "load_sites",
    "path_of_site",
    "save_site",
    "update_site",
]

logger = logging.getLogger(__name__)

_LOCK_SECONDS = 60


def file_name(site: str) -> str:
    """Return the name of the rule file of *site*.

    Other characters than letters, digits, ``.`` and ``-`` are ``_`` in it; the site
    itself stands in the file.

    >>> file_name("example.com"), file_name("127.0.0.1:8104")
    ('example.com.toml', '127.0.0.1_8104.toml')
    """
    return _plain(site) + ".toml"


def _plain(site: str) -> str:
    name = re.sub(r"[^A-Za-z0-9.\-]", "_", site).lstrip(".") or "_"
    return name if len(name) <= 100 else f"{name[:90]}-{_hash(site)}"


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=4).hexdigest()


def path_of_site(directory: "str | PathLike[str]", site: str) -> Path:
    """Return where the rules of *site* stand in *directory*, or would stand.

    Where the plain name is taken by the file of another site (``a:80`` and ``a_80``),
    it is the name with a hash.
    """
    path = Path(directory) / file_name(site)
    try:
        found = _read(path)
    except RuleFileError:
        return path
    if found is not None and found.site != site:
        return path.with_name(f"{_plain(site)}-{_hash(site)}.toml")
    return path


def load_file(path: "str | PathLike[str]") -> SiteRules:
    """Return the rules of one file, in its order.

    Raises RuleFileError for the first thing that is wrong with it, also when it is not
    there.
    """
    path = Path(path)
    found = _read(path)
    if found is None:
        raise RuleFileError(path, None, "there is no such file", "name a rule file")
    return found


def load_directories(
    directories: Iterable["str | PathLike[str]"],
) -> tuple[list[Rule], dict[str, Mapping[str, DeepSplit]]]:
    """Return (rules, deep tokens by site) of all files in *directories*; one may be missing.

    Of two rules of a site with one id, one that is off counts, else a manual one, else
    a suspended one, else that of the directory named first; so do deep tokens.

    Raises RuleFileError.
    """
    return _joined(load_file(path) for directory in directories for path in _rule_files(Path(directory)))


def load_sites(
    directories: Iterable["str | PathLike[str]"], sites: Iterable[str]
) -> tuple[list[Rule], dict[str, Mapping[str, DeepSplit]]]:
    """Return what :func:`load_directories` returns, of *sites* alone: no other file is read.

    Raises RuleFileError.
    """
    places = [path_of_site(directory, site) for site in sites for directory in directories]
    return _joined(found for path in places if (found := _read(path)) is not None)


def _joined(files: Iterable[SiteRules]) -> tuple[list[Rule], dict[str, Mapping[str, DeepSplit]]]:
    rules: dict[tuple[str, str], Rule] = {}
    deep: dict[str, Mapping[str, DeepSplit]] = {}
    for found in files:
        for rule in found.rules:
            known = rules.setdefault((rule.site, rule.id), rule)
            if _weight(rule) > _weight(known):
                rules[rule.site, rule.id] = rule
        deep[found.site] = {**found.deep, **deep.get(found.site, {})}
    return list(rules.values()), {site: splits for site, splits in deep.items() if splits}


def _weight(rule: Rule) -> int:
    order = (Status.SUSPENDED, Status.MANUAL, Status.OFF)
    return order.index(rule.status) + 1 if rule.status in order else 0


def check(directory: "str | PathLike[str]") -> list[RuleFileError]:
    """Return all that is wrong with the rule files of *directory*; nothing if it is missing."""
    errors: list[RuleFileError] = []
    try:
        paths = _rule_files(Path(directory))
    except RuleFileError as error:
        return [error]
    for path in paths:
        errors += _parsed(path)[1]
    return errors


def save_site(directory: "str | PathLike[str]", rules: SiteRules) -> Path:
    """Write *rules*, just these, into their file in *directory* and return its path.

    Comments, order and spelling of what stands there already stay.

    Raises RuleFileError for a faulty file that stands there, RuleWriteError where it
    cannot be written.
    """
    path = path_of_site(directory, rules.site)
    with _locked(path):
        _write(path, rules, _read(path))
    return path


def update_site(
    directory: "str | PathLike[str]",
    site: str,
    learned: Iterable[Rule],
    deep: Mapping[str, DeepSplit] | None = None,
) -> SiteRules:
    """Put what was *learned* of *site* in the place of what was learned before; return all.

    The file is read, merged (:func:`.merge`) and written under one lock, so that edits
    of the user and rules of other crawls since are not lost.

    Raises RuleFileError, RuleWriteError.
    """
    path = path_of_site(directory, site)
    with _locked(path):
        old = _read(path)
        rules = merge(old or SiteRules(site), learned, deep)
        _write(path, rules, old)
    return rules


def changed_site(directory: "str | PathLike[str]", site: str, change: Callable[[SiteRules], SiteRules]) -> SiteRules:
    """Write what *change* makes of the rules of *site*, under one lock; return that.

    Raises RuleFileError, RuleWriteError.
    """
    path = path_of_site(directory, site)
    with _locked(path):
        old = _read(path)
        rules = change(old or SiteRules(site))
        if rules != old:
            _write(path, rules, old)
    return rules


def add_to_site(directory: "str | PathLike[str]", site: str, rules: Sequence[Rule]) -> list[str]:
    """Add *rules* to those of *site*, in the place of those of the same id; return the ids of those left out.

    What is off stays off.

    Raises RuleFileError, RuleWriteError.
    """
    path = path_of_site(directory, site)
    with _locked(path):
        old = _read(path)
        kept = {rule.id: rule for rule in (old.rules if old is not None else ())}
        off = [rule.id for rule in rules if rule.id in kept and kept[rule.id].status is Status.OFF]
        kept |= {rule.id: rule for rule in rules if rule.id not in off}
        deep = old.deep if old is not None else {}
        _write(path, SiteRules(site, tuple(kept.values()), deep), old)
    return off


def _rule_files(directory: Path) -> list[Path]:
    try:
        return sorted(path for path in directory.iterdir() if path.suffix == ".toml" and path.name[0] != ".")
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        raise RuleFileError(directory, None, "this is no directory", "name the directory of the rule files") from None
    except OSError as error:
        raise RuleFileError(directory, None, f"cannot be read: {error.strerror}", "make it readable") from error


def _read(path: Path) -> SiteRules | None:
    """Return the rules of the file at *path*; None if there is none."""
    found, errors = _parsed(path)
    if errors:
        raise errors[0]
    if found is None:
        return None
    rules = settled(found)
    for rule, before in zip(rules.rules, found.rules, strict=True):
        if rule.status is not before.status:
            logger.info("%s: rule %s was edited, so it is manual now", path, rule.id)
    return rules


def _parsed(path: Path) -> tuple[SiteRules | None, list[RuleFileError]]:
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None, []
    except OSError as error:
        return None, [RuleFileError(path, None, f"cannot be read: {error.strerror}", "make it readable")]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        return None, [RuleFileError(path, line, "this is not UTF-8", "save the file as UTF-8")]
    found, errors = read_rules(text, path)
    if found is not None:
        names = {file_name(found.site), f"{_plain(found.site)}-{_hash(found.site)}.toml"}
        if path.name not in names:
            errors = [
                RuleFileError(
                    path,
                    _line_of_site(text),
                    f'the file is named {path.name} and says site = "{found.site}"',
                    f"name it {file_name(found.site)}, or mend the site",
                )
            ]
            found = None
    return found, errors


def _line_of_site(text: str) -> int | None:
    return next((n for n, line in enumerate(text.splitlines(), 1) if line.lstrip().startswith("site")), None)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of the rule file at *path*."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"scrapy-dedup-{user}"
    lock = FileLock(folder / f"{_hash(str(path.resolve()))}.lock", timeout=_LOCK_SECONDS)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise RuleWriteError(
            path, f"another process has held its lock for {_LOCK_SECONDS} s", f"end it, or remove {lock.lock_file}"
        ) from None
    except OSError as error:
        raise RuleWriteError(
            path, f"cannot be locked: {error}", f"make {folder} writable, or set TMPDIR to a folder that is"
        ) from error
    try:
        yield
    finally:
        lock.release()


def _write(path: Path, rules: SiteRules, old: SiteRules | None) -> None:
    if old is None and not rules.rules and not rules.deep:
        return
    path = path.resolve()  # of a link, the file it leads to is replaced
    try:
        before = path.read_text("utf-8-sig") if old is not None else ""
        text = written_rules(rules, before)
        if text != before:
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, text)
    except OSError as error:
        raise RuleWriteError(
            path, f"cannot be written: {error.strerror or error}", "make the directory writable, or set DEDUP_DIR"
        ) from error
    except UnicodeEncodeError as error:
        raise RuleWriteError(path, f"a rule holds what is no text: {error}", "remove the rule") from error


def _replace(path: Path, text: str) -> None:
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
