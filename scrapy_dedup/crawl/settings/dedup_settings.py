"""The settings of a crawl or a command, read and checked by the table of them (:mod:`.setting_fields`), which the reference shows.

Every value is checked when a crawl or a command starts; a wrong one raises
:exc:`DedupSettingError`, whose message is one line that names the setting, the
value and what would be right.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...masks.published.thresholds import Thresholds
from .setting_fields import SETTINGS, SettingFields
from .setting_pairs import wrong_method, wrong_site
from .setting_values import DedupSettingError, Mode, Setting, WrongValue

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from ...rules.book import RuleBook

__all__ = ["SETTINGS", "DedupSettingError", "DedupSettings", "Mode", "Setting", "unknown_settings"]

_PREFIX: Final = "DEDUP_"


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
            "DEDUP_SITES": wrong_site(read["sites"], read["site_groups"]),
            "DEDUP_METHOD_OPTIONS": wrong_method(read["method"], read["method_options"]),
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
    def published_thresholds(self) -> Thresholds | None:
        """The thresholds by which masks are learned with the method "seed"; None with the default one."""
        if self.transient_method != "seed":
            return None
        return Thresholds(
            self.transient_threshold, self.transient_max_marked, self.transient_max_share, self.transient_max_path
        )

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
