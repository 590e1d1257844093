"""The settings: one table, by which they are checked, and which the reference page shows.

Every value is checked when a crawl or a command starts; a wrong one raises
:exc:`DedupSettingError`, whose message is one line that names the setting, the
value and what would be right.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..learning.evidence.user_names import Names
from ..learning.names import JUDGE, LEARNER_NAMES, METHOD_NAMES
from ..masks.seed.thresholds import Thresholds
from . import setting_values as values
from .setting_pairs import method, method_options, names, wrong_method, wrong_site
from .setting_values import DedupSettingError, Mode, Setting, WrongValue
from .transient_settings import TRANSIENT_SETTINGS

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from ..rules.book import RuleBook

__all__ = ["SETTINGS", "DedupSettingError", "DedupSettings", "Mode", "Setting"]

SETTINGS: tuple[Setting, ...] = (
    Setting("DEDUP_ENABLED", "bool", True, "Whether the plug-in does anything at all.", values.truth),
    Setting(
        "DEDUP_MODE",
        '"observe", "shadow" or "active"',
        "active",
        "How far it may go: record what is seen and do nothing else, also learn and count what would be filtered, or "
        "filter it.",
        values.mode,
    ),
    Setting(
        "DEDUP_SITES",
        "dict of site to mode or False",
        {},
        "The mode of single sites; False switches the plug-in off for a site.",
        values.sites,
    ),
    Setting(
        "DEDUP_SITE_GROUPS",
        "dict of name to list of domains",
        {},
        "Registrable domains that are one site, under the name of the group.",
        values.site_groups,
    ),
    Setting(
        "DEDUP_RULES",
        "list of directories",
        [],
        'Directories that rules are read from and never written to; "package:directory" for those of a package.',
        values.rule_directories,
    ),
    Setting(
        "DEDUP_DIR",
        "directory",
        "dedup-rules",
        "Where learned rules are written; a relative path starts at the folder of scrapy.cfg, else at the working folder.",
        values.folder,
    ),
    Setting(
        "DEDUP_SCOPE",
        "str",
        "",
        "Keeps evidence and rules apart from those of other scopes, say those of a logged-in spider.",
        values.scope,
    ),
    Setting(
        "DEDUP_STORE",
        "path, SQLAlchemy URL or None",
        None,
        "Where observations are recorded; None is dedup/store.sqlite in the project's data folder (.scrapy).",
        values.store,
    ),
    Setting(
        "DEDUP_EVIDENCE_DAYS",
        "number or None",
        90,
        "Observations and discards older than this many days are forgotten; None keeps them.",
        values.positive_number_or_none,
    ),
    Setting(
        "DEDUP_STORE_MAX_ROWS",
        "int or None",
        5_000_000,
        "At most this many observations, and as many discards, are kept; the oldest are forgotten first.",
        values.positive_integer_or_none,
    ),
    Setting(
        "DEDUP_SKETCHES_PER_SITE",
        "int",
        20_000,
        "At most so many page sketches are kept per site and scope, past it only fingerprints; and so many versions.",
        values.integer,
    ),
    Setting(
        "DEDUP_STORE_TEXTS",
        "bool",
        True,
        "Whether the texts and link addresses of some pages are stored as they are, by which transient content is found; "
        "if not, only hashes of them are (see :doc:`/usage/privacy`).",
        values.truth,
    ),
    Setting(
        "DEDUP_MAX_BODY",
        "int (bytes)",
        1_048_576,
        "Of longer bodies only the first so many bytes, and the length, identify the content.",
        values.positive_integer,
    ),
    Setting(
        "DEDUP_MEDIA",
        "bool",
        False,
        "Whether responses to the requests of media pipelines are recorded, too.",
        values.truth,
    ),
    Setting(
        "DEDUP_LEARN",
        '"live", "close" or "off"',
        "live",
        "When rules are learned: while a crawl goes on and at its end, at its end only, or only by learn-rules. In mode "
        '"observe" only learn-rules learns.',
        values.learn,
    ),
    Setting(
        "DEDUP_LEARN_TIMEOUT",
        "number (seconds)",
        60,
        "How long learning may take, each time; it is ended then.",
        values.positive_number,
    ),
    Setting(
        "DEDUP_LEARNERS",
        "list of names or None",
        None,
        f"The learners that are asked; None asks all: {', '.join(LEARNER_NAMES)}.",
        values.learners,
    ),
    Setting(
        "DEDUP_METHOD",
        "name of a method",
        JUDGE,
        f"What decides which rules act: {', '.join(METHOD_NAMES)}; all but the judge decide as their documents do (see "
        ":doc:`/methods/published`).",
        method,
    ),
    Setting(
        "DEDUP_METHOD_OPTIONS",
        "dict of option to value",
        {},
        "The options of that published method, where they are not as in the document.",
        method_options,
    ),
    Setting(
        "DEDUP_NAMES",
        'dict of "relevant", "irrelevant" or "return" to list of names',
        {},
        "Names of parameters whose meaning you know on all sites: those that are relevant, those that are not, and those "
        "that say where a log-in page returns to. They weigh as much as an opinion that is right 19 times in 20, and never "
        "more than what pages show. A name that ends in * stands for all of that beginning.",
        names,
    ),
    Setting(
        "DEDUP_MAX_LOSS",
        "number between 0 and 1",
        0.001,
        "The share of a site's pages that its learned rules together may be seen to lose.",
        values.share,
    ),
    *TRANSIENT_SETTINGS,
    Setting(
        "DEDUP_SAMPLE",
        "number from 0 to 1",
        0.02,
        "The share of the discarded URLs that is fetched all the same, to find rules that are wrong; more of those of "
        "young rules, and fewer where a site has more than three of them for each page. 0 switches that off.",
        values.share_or_none,
    ),
    Setting(
        "DEDUP_EXTRA",
        "number from 0 to 1",
        0.05,
        "What probes and refetches may cost: this share of the downloads that were avoided on the site, and before that "
        "nothing but what DEDUP_STARTER allows. 0 switches both off.",
        values.share_or_none,
    ),
    Setting(
        "DEDUP_STARTER",
        "int",
        12,
        "Refetches of a site that need no savings, to learn what changes on its pages: a crawl makes at most so many, "
        "and 2 % of the pages that have come, but 4 in any case. 0 switches that off.",
        values.integer,
    ),
    Setting(
        "DEDUP_PROBE_BAND",
        "two numbers from 0 to 1",
        (0.1, 0.9),
        "A parameter is worth a probe if the probability that it is relevant lies between these.",
        values.band,
    ),
    Setting(
        "DEDUP_REVISITS",
        "int",
        0,
        "At the end of each crawl so many pages of each kind are fetched again, to find what passes in them, whatever that "
        "costs; with 0 a few, as far as DEDUP_EXTRA pays for them.",
        values.integer,
    ),
    Setting(
        "DEDUP_POSTPONE",
        "bool",
        True,
        "Whether requests that are probably duplicates, but by no rule that acts, are fetched last. Off by itself where the "
        "order matters or a spider may end or never run idle before (see :doc:`/usage/with-scrapy`).",
        values.truth,
    ),
    Setting(
        "DEDUP_SHARE_CACHE",
        "bool",
        False,
        "Whether Scrapy's HTTP cache answers with the copy of an equivalent URL where it has none of the URL itself.",
        values.truth,
    ),
    Setting(
        "DEDUP_FALLBACK_HTTPCACHE_STORAGE",
        "class or import path",
        "scrapy.extensions.httpcache.FilesystemCacheStorage",
        "The storage of the HTTP cache that is wrapped; the add-on sets it to the value of HTTPCACHE_STORAGE.",
        values.anything,
    ),
    Setting(
        "DEDUP_FALLBACK_DUPEFILTER_CLASS",
        "class or import path",
        "scrapy.dupefilters.RFPDupeFilter",
        "The dupe filter that is wrapped; the add-on sets it to the value of DUPEFILTER_CLASS.",
        values.anything,
    ),
)


@dataclass(frozen=True, slots=True)
class DedupSettings:
    """The settings of one crawl or command, checked; paths are absolute."""

    enabled: bool
    mode: Mode
    #: Site -> mode; None where the plug-in is off.
    sites: Mapping[str, Mode | None]
    site_groups: Mapping[str, tuple[str, ...]]
    #: Directories that rules are only read from (``DEDUP_RULES``).
    rules: tuple[Path, ...]
    #: ``DEDUP_DIR``, without the scope.
    dir: Path
    scope: str
    #: Path or SQLAlchemy URL.
    store: str
    evidence_days: float | None
    store_max_rows: int | None
    sketches_per_site: int
    store_texts: bool
    max_body: int
    media: bool
    learn: str
    learn_timeout: float
    #: Names of learners; None for all.
    learners: tuple[str, ...] | None
    method: str
    method_options: Mapping[str, Any]
    #: The user's lists of names.
    names: Names
    max_loss: float
    #: Field -> "html" or "text".
    content_fields: Mapping[str, str]
    strip: str
    strip_markup: bool
    transient_method: str
    #: Those of the method "seed".
    transient_threshold: float
    transient_max_marked: float
    transient_max_share: float
    transient_max_path: int
    transient_links: bool
    transient_priority: int
    #: Share of the discards.
    sample: float
    #: Share of the downloads avoided.
    extra: float
    #: Pages of a site.
    starter: int
    #: Least and most probability.
    probe_band: tuple[float, float]
    #: Pages per kind.
    revisits: int
    postpone: bool
    share_cache: bool
    fallback_httpcache_storage: Any
    fallback_dupefilter_class: Any

    @classmethod
    def from_crawler_settings(cls, settings: "BaseSettings") -> "DedupSettings":
        """Return the settings that a crawl with these Scrapy settings has.

        Raises :exc:`DedupSettingError` for the first wrong one.
        """
        read: dict[str, Any] = {}
        for setting in SETTINGS:
            value = settings.get(setting.name, setting.default)
            read[setting.name.removeprefix("DEDUP_").lower()] = cls._read(setting, value)
        wrong = {
            "DEDUP_SITES": wrong_site(read["sites"], read["site_groups"]),
            "DEDUP_METHOD_OPTIONS": wrong_method(read["method"], read["method_options"], read["learners"]),
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
    def seed_thresholds(self) -> Thresholds | None:
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
        """Where learned rules of this scope are written; it need not exist."""
        return self.dir / self.scope if self.scope else self.dir

    @property
    def rule_directories(self) -> tuple[Path, ...]:
        """Return the directories that rules are read from, those that exist."""
        return tuple(path for path in (*self.rules, self.learned_directory) if path.is_dir())

    def load_rules(self) -> "RuleBook":
        """Return the rules that apply, as :func:`.rule_files.rules_of`."""
        from .rule_files import rules_of

        return rules_of(self)
