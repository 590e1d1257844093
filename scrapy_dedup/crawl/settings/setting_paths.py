"""Settings that are paths: folders, the store, and directories of rules, relative ones from the project's folder on."""

import os
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scrapy.exceptions import NotConfigured
from scrapy.utils.conf import closest_scrapy_cfg
from scrapy.utils.project import data_path

from .setting_values import WrongValue

__all__ = ["data_folder", "folder", "project_folder", "report", "rule_directories", "store"]

_PACKAGE_DIRECTORY = re.compile(r"([A-Za-z_][\w.]+):(.*)", re.DOTALL)


def project_folder() -> Path:
    """Return the folder of scrapy.cfg, else the working folder."""
    config = closest_scrapy_cfg()
    return Path(config).parent.absolute() if config else Path.cwd()


def folder(value: Any) -> Path:
    """Return the absolute path of a directory, which need not exist."""
    if not isinstance(value, str | os.PathLike) or not str(value):
        raise WrongValue("it must be the path of a directory")
    path = project_folder() / Path(value).expanduser()
    if path.exists() and not path.is_dir():
        raise WrongValue("it is a file", "Name a directory.")
    return path


def store(value: Any) -> str:
    """Return the absolute path of the store's file, or the URL of its database."""
    if value is None or value == "":
        return str(data_folder() / "store.sqlite")
    if isinstance(value, str) and "://" in value:
        return _database_url(value)
    return _file(value, "it must be a path, an SQLAlchemy URL or None", "store.sqlite")


def report(value: Any) -> str | None:
    """Return the absolute path of a file, "" for none, and None for the default; the command line gives that as a text."""
    if value in (None, "None", "none"):
        return None
    if value == "":
        return ""
    return _file(value, 'it must be a path, None, or "" for no report', "report.html")


def _file(value: Any, wanted: str, example: str) -> str:
    """Return the absolute path of a file, such as *example*, which need not exist."""
    if not isinstance(value, str | os.PathLike):
        raise WrongValue(wanted)
    path = project_folder() / Path(value).expanduser()
    if path.is_dir():
        raise WrongValue("it is a directory", f"Name a file, such as {str(Path(value) / example)!r}.")
    return str(path)


def _database_url(value: str) -> str:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError

    from ...store.errors import UNAMBIGUOUS, is_ambiguous

    remedy = "Write a path, or an SQLAlchemy URL such as 'postgresql+psycopg://user@host/database'."
    try:
        url = make_url(value)
        url.get_dialect()
    except NoSuchModuleError:
        raise WrongValue(f"SQLAlchemy knows no database {value.partition('://')[0]!r}", remedy) from None
    except (ArgumentError, ValueError):
        raise WrongValue("it is no SQLAlchemy URL", remedy) from None
    except ImportError as error:
        raise WrongValue(f"SQLAlchemy cannot load what it needs for it ({error})", "Install that.") from None
    if is_ambiguous(url):
        raise WrongValue("it has two @ before the path", UNAMBIGUOUS)
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise WrongValue("it is gone when the crawl ends", "Name a file.")
    if url.get_backend_name() == "postgresql" and find_spec("psycopg") is None:
        raise WrongValue("psycopg is not installed", "Install it: pip install scrapy-dedup[postgresql].")
    return value


def data_folder() -> Path:
    """Return the folder of what the plug-in keeps for the project, in its data folder (.scrapy)."""
    try:
        return Path(data_path("dedup")).absolute()
    except (NotConfigured, OSError):  # a settings module without a scrapy.cfg; a folder that cannot be made
        return project_folder() / ".scrapy" / "dedup"


def rule_directories(value: Any) -> tuple[Path, ...]:
    """Return the directories; each exists."""
    remedy = 'Write a list such as ["/etc/dedup-rules", "mypackage:rules"].'
    if isinstance(value, str):
        value = [part for part in value.split(",") if part]
    elif isinstance(value, os.PathLike):
        value = [value]
    if value is None:
        return ()
    if not isinstance(value, Sequence):
        raise WrongValue("it must be a list of directories", remedy)
    return tuple(_rule_directory(item, remedy) for item in value)


def _rule_directory(value: Any, remedy: str) -> Path:
    if not isinstance(value, str | os.PathLike) or not str(value):
        raise WrongValue(f"{value!r} is not a directory", remedy)
    match = _PACKAGE_DIRECTORY.fullmatch(value) if isinstance(value, str) else None
    base = project_folder() if match is None else _package_folder(match[1])
    path = base / Path(value if match is None else match[2]).expanduser()
    if not path.is_dir():
        raise WrongValue(f"there is no directory {path}", "Make it, or take it out of the list.")
    return path


def _package_folder(name: str) -> Path:
    try:
        found = find_spec(name)
    except (ImportError, AttributeError, ValueError):  # a part of the name is no package
        found = None
    if found is None or not found.submodule_search_locations:
        raise WrongValue(f"there is no package {name!r}", "Is it installed, and is it a package with a folder?")
    return Path(next(iter(found.submodule_search_locations)))
