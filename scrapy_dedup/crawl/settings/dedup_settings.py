"""The settings of a crawl or a command, read and checked by the table of them (:mod:`.setting_fields`), which the reference shows.

Every value is checked when a crawl or a command starts; a wrong one raises
:exc:`DedupSettingError`, whose message is one line that names the setting, the
value and what would be right.
"""

import asyncio
import logging
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scrapy.utils.misc import load_object

from ...learning.choices import JUDGE, METHOD_NAMES
from ...masks.token_changes import Options
from .setting_fields import SETTINGS, SettingFields
from .setting_values import DedupSettingError, Mode, Setting, WrongValue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

    from ...rules.book import RuleBook

__all__ = ["SETTINGS", "DedupSettingError", "DedupSettings", "Mode", "Setting", "loaded", "told", "unknown_settings"]

logger = logging.getLogger(__name__)

E = TypeVar("E", bound=Exception)

_PREFIX: Final = "DEDUP_"
# Scrapy's coroutine around a crawl that a process or a runner has started.
_SCRAPYS: Final = "AsyncCrawlerRunner._crawl_and_track"


@dataclass(frozen=True, slots=True)
class DedupSettings(SettingFields):
    """The settings of one crawl or command, checked; paths are absolute."""

    @classmethod
    def from_crawler_settings(cls, settings: "BaseSettings") -> "DedupSettings":
        """Return the settings that a crawl with these Scrapy settings has.

        Raises :exc:`DedupSettingError` for the first wrong one, and for a name that is nearly that of a setting.
        """
        names = [setting.name.removeprefix(_PREFIX) for setting in SETTINGS]
        for name in unknown_settings(settings):
            if near := get_close_matches(name.removeprefix(_PREFIX), names, 1, 0.75):
                is_none = "scrapy-dedup has no such setting"
                raise DedupSettingError(name, settings.get(name), is_none, f"Is {_PREFIX}{near[0]} meant?")
        read: dict[str, Any] = {}
        for setting in SETTINGS:
            value = settings.get(setting.name, setting.default)
            read[setting.name.removeprefix(_PREFIX).lower()] = cls._read(setting, value)
        wrong = {
            "DEDUP_SITES": _wrong_site(read["sites"], read["site_groups"]),
            "DEDUP_METHOD_OPTIONS": _wrong_method(read["method"], read["method_options"]),
        }
        for name, problem in wrong.items():
            if problem:
                raise DedupSettingError(name, settings.get(name), *problem)
        return cls(**read)

    @classmethod
    def are_enabled(cls, settings: "BaseSettings") -> bool:
        """Whether ``DEDUP_ENABLED`` is on; the other settings are not looked at. Raises :exc:`DedupSettingError`."""
        setting = SETTINGS[0]
        return bool(cls._read(setting, settings.get(setting.name, setting.default)))

    @property
    def published_masks(self) -> Options | None:
        """The options by which masks are learned with the method "seed"; None with the default one."""
        return self.transient_options if self.transient_method == "seed" else None

    @property
    def compares(self) -> bool:
        """Whether requests are compared on any site: not everything is in mode observe."""
        return any(mode in (Mode.SHADOW, Mode.ACTIVE) for mode in (self.mode, *self.sites.values()))

    @property
    def learns_any(self) -> bool:
        """Whether crawls learn the rules of any site."""
        return self.learn != "off" and self.compares

    @property
    def learns_live(self) -> bool:
        """Whether crawls learn, and use new rules, while they go on."""
        return self.learn == "live" and self.compares

    @staticmethod
    def _read(setting: Setting, value: object) -> Any:
        try:
            return setting.read(value)
        except WrongValue as wrong:
            raise DedupSettingError(setting.name, value, wrong.problem, wrong.remedy) from None

    def mode_of(self, site: str) -> Mode | None:
        """Return the mode of a site; None where the plug-in is off."""
        return self.sites.get(site, self.mode)

    def learns(self, site: str) -> bool:
        """Whether crawls learn the rules of a site: in mode observe they write into the store and nowhere else."""
        return self.learn != "off" and self.mode_of(site) in (Mode.SHADOW, Mode.ACTIVE)

    @property
    def learned_directory(self) -> Path:
        """Where learned rules of this scope are written; it need not exist, and may be a folder that shows what is in the store."""
        return self.dir / self.scope if self.scope else self.dir

    @property
    def rule_directories(self) -> tuple[Path, ...]:
        """Return the directories that rules are read from, those that exist."""
        return tuple(path for path in (*self.rules, self.learned_directory) if path.is_dir())

    @property
    def report_file(self) -> Path | None:
        """The file of the report: that of ``DEDUP_REPORT``, else one beside the store; None where there is to be none."""
        if self.report is not None:
            return Path(self.report) if self.report else None
        from ...store.database import database_path

        store = database_path(self.store)
        return (
            store.with_name(f"report-{self.scope}.html" if self.scope else "report.html") if store is not None else None
        )

    def load_rules(self) -> "RuleBook":
        """Return the rules that apply, with their running counts.

        Raises RuleFileError for a faulty file, OSError for one that cannot be read.
        """
        from ...learning.lifetime.running_counts import checks_in, with_checks
        from ...rules.book import RuleBook

        book = RuleBook.load(*self.rule_directories, groups=self.site_groups, missing_ok=True)
        return with_checks(book, checks_in(self.store, self.scope)) if len(book) else book


def unknown_settings(settings: "BaseSettings") -> list[str]:
    """Return the names of settings that look as if they were the plug-in's."""
    names: set[Any] = {name for name in settings if isinstance(name, str) and name.startswith(_PREFIX)}
    return sorted(names - {setting.name for setting in SETTINGS})


def told(error: E) -> E:
    """Tell, in one line, an error that stops the start; return it to be raised.

    Where asyncio runs the crawl and nobody waits for it, as in ``scrapy crawl``, the
    error would be told once more with a traceback: that is prevented. The exit code of
    the command is 1 either way.
    """
    logger.error("The crawl is not started: %s", error)
    try:
        task = asyncio.current_task()
    except RuntimeError:  # another reactor than asyncio's
        return error
    if task is not None and getattr(task.get_coro(), "__qualname__", "") == _SCRAPYS:
        task.add_done_callback(_asked_for)
    return error


def _asked_for(task: "asyncio.Task[object]") -> None:
    """Ask for the exception of a task, so that asyncio does not tell that nobody has."""
    if not task.cancelled():
        task.exception()


def loaded(name: str, value: Any, remedy: str) -> Any:
    """Return what the setting *name* names. Raises DedupSettingError."""
    try:
        return load_object(value)
    except (ImportError, NameError, TypeError, ValueError) as error:
        raise DedupSettingError(name, value, f"it cannot be loaded ({error})", remedy) from error


def _wrong_method(method: str, options: "Mapping[str, Any]") -> tuple[str, str] | None:
    """Return problem and remedy if a published method does not have these options, or the judge has any."""
    if method == JUDGE:
        return ("the judge has no options", f"Set DEDUP_METHOD: {', '.join(METHOD_NAMES[1:])}.") if options else None
    from ...learning.methods.options import WrongOption, options_of

    try:
        options_of(method, options)
    except WrongOption as wrong:
        return str(wrong), "scrapy learn-rules --method list shows all options."
    return None


def _wrong_site(sites: "Mapping[str, Mode | None]", groups: "Mapping[str, tuple[str, ...]]") -> tuple[str, str] | None:
    """Return problem and remedy if a key of DEDUP_SITES is no site, such as ``www.example.com``, and would never apply."""
    from ...urls import site_of_url

    for name in sites:
        found = [site_of_url(f"{scheme}://{name}/", groups=groups) for scheme in ("http", "https")]
        if name not in found and name.partition(":")[0] not in groups:
            remedy = f"Write {found[0]!r}." if found[0] else 'Write a domain, such as "example.com".'
            return f"{name!r} is not a site", remedy
    return None
