"""All settings: a field for each, with its default, how its value is read, its type in words, and what it is for.

The field ``max_body`` is the setting ``DEDUP_MAX_BODY``. The reference of settings is made from this table.
"""

# ruff: noqa: RUF009 - setting() makes fields

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ...learning.choices import JUDGE, LEARNER_NAMES, METHOD_NAMES
from ...learning.evidence.user_names import Names
from ...masks.published.thresholds import Thresholds
from . import setting_pairs as learning
from . import setting_paths as paths
from . import setting_values as values
from .setting_values import Mode

_SEED = Thresholds()


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as a user writes it."""

    name: str
    default: Any
    #: From the value that a settings file or the command line gives to the one that is used. Raises WrongValue.
    read: Callable[[Any], Any] = field(repr=False)
    #: In words.
    type: str
    help: str


def setting(default: Any, read: Callable[[Any], Any], type: str, help: str) -> Any:  # noqa: A002 - as argparse calls them
    """Return the field of a setting (see :class:`Setting`)."""
    return field(metadata={"default": default, "read": read, "type": type, "help": help})


@dataclass(frozen=True, slots=True)
class SettingFields:
    """The values of all settings, checked; paths are absolute."""

    enabled: bool = setting(True, values.truth, "bool", "Whether the plug-in does anything at all.")
    mode: Mode = setting(
        "active",
        values.mode,
        '"observe", "shadow" or "active"',
        "How far it may go: record what is seen and do nothing else, also learn and count what would be filtered, or "
        "filter it.",
    )
    sites: Mapping[str, Mode | None] = setting(
        {},
        values.sites,
        "dict of site to mode or False",
        "The mode of single sites; False switches the plug-in off for a site.",
    )
    site_groups: Mapping[str, tuple[str, ...]] = setting(
        {},
        values.site_groups,
        "dict of name to list of domains",
        "Registrable domains that are one site, under the name of the group.",
    )
    rules: tuple[Path, ...] = setting(
        [],
        paths.rule_directories,
        "list of directories",
        'Directories that rules are read from and never written to; "package:directory" for those of a package.',
    )
    dir: Path = setting(
        "dedup-rules",
        paths.folder,
        "directory",
        "Where learned rules are written; a relative path starts at the folder of scrapy.cfg, else at the working folder.",
    )
    scope: str = setting(
        "",
        values.scope,
        "str",
        "Keeps evidence and rules apart from those of other scopes, say those of a logged-in spider.",
    )
    store: str = setting(
        None,
        paths.store,
        "path, SQLAlchemy URL or None",
        "Where observations are recorded; None is dedup/store.sqlite in the project's data folder (.scrapy).",
    )
    evidence_days: float | None = setting(
        90,
        values.or_no_limit(values.positive_number),
        "number or None",
        "Observations and discards older than this many days are forgotten; None keeps them.",
    )
    store_max_rows: int | None = setting(
        5_000_000,
        values.or_no_limit(values.whole_number(1)),
        "int or None",
        "At most this many observations, and as many discards, are kept; the oldest are forgotten first.",
    )
    sketches_per_site: int = setting(
        20_000,
        values.whole_number(0),
        "int",
        "At most so many page sketches are kept per site and scope, past it only fingerprints; and so many versions.",
    )
    store_texts: bool = setting(
        True,
        values.truth,
        "bool",
        "Whether the texts and link addresses of some pages are stored as they are, by which transient content is found; "
        "if not, only hashes of them are (see :doc:`/usage/privacy`).",
    )
    max_body: int = setting(
        1_048_576,
        values.whole_number(1),
        "int (bytes)",
        "Of longer bodies only the first so many bytes, and the length, identify the content.",
    )
    media: bool = setting(
        False, values.truth, "bool", "Whether responses to the requests of media pipelines are recorded, too."
    )
    learn: str = setting(
        "live",
        values.one_of("live", "close", "off"),
        '"live", "close" or "off"',
        "When rules are learned: while a crawl goes on and at its end, at its end only, or only by learn-rules. In mode "
        '"observe" only learn-rules learns.',
    )
    learn_timeout: float = setting(
        60, values.positive_number, "number (seconds)", "How long learning may take, each time; it is ended then."
    )
    learners: tuple[str, ...] | None = setting(
        None,
        values.learners,
        "list of names or None",
        f"The learners that are asked; None asks all: {', '.join(LEARNER_NAMES)}.",
    )
    method: str = setting(
        JUDGE,
        learning.method,
        "name of a method",
        f"What decides which rules act: {', '.join(METHOD_NAMES)}; all but the judge decide as their documents do (see "
        ":doc:`/methods/published`).",
    )
    method_options: Mapping[str, Any] = setting(
        {},
        learning.method_options,
        "dict of option to value",
        "The options of that published method, where they are not as in the document.",
    )
    names: Names = setting(
        {},
        learning.names,
        'dict of "relevant", "irrelevant" or "return" to list of names',
        "Names of parameters whose meaning you know on all sites: those that are relevant, those that are not, and those "
        "that say where a log-in page returns to. They weigh as much as an opinion that is right 19 times in 20, and never "
        "more than what pages show. A name that ends in * stands for all of that beginning.",
    )
    max_loss: float = setting(
        0.001,
        values.share_between,
        "number between 0 and 1",
        "The share of a site's pages that its learned rules together may be seen to lose.",
    )
    content_fields: Mapping[str, str] = setting(
        {},
        values.content_fields,
        'dict of field to "html" or "text"',
        "The fields of items that hold page content, from which transient content is stripped; dots lead into nested items.",
    )
    strip: str = setting(
        "remove",
        values.one_of("remove", "mark", "off"),
        '"remove", "mark" or "off"',
        "What becomes of transient content in these fields: it is removed, marked or left.",
    )
    strip_markup: bool = setting(
        True,
        values.truth,
        "bool",
        "Whether transient content of attributes, scripts and comments goes out of HTML fields, and that of scripts out of "
        "text fields, too, and not visible texts, addresses of links and values of forms alone; it is recorded only where "
        "there are such fields.",
    )
    drop_duplicate_items: bool = setting(
        False, values.truth, "bool", "Whether items of pages exported before are dropped (:doc:`/usage/with-scrapy`)."
    )
    transient_method: str = setting(
        "default",
        values.one_of("default", "seed"),
        '"default" or "seed"',
        'The method by which masks are learned: "seed" is that of the transient-content document, as it stands there. It '
        "compares pages that were recorded under it, and knows no more of a place than the names of the tags around it (see "
        ":doc:`/methods/transient-content`).",
    )
    transient_threshold: float = setting(
        _SEED.threshold,
        values.share_above_none,
        "number above 0, and 1 at most",
        'Of the method "seed": the document\'s T, the share of the tokens on a path that must have changed.',
    )
    transient_max_marked: float = setting(
        _SEED.max_marked,
        values.share_above_none,
        "number above 0, and 1 at most",
        'Of the method "seed": a page of which more than this share of the tokens changed was reorganised, and teaches '
        "nothing; 1 switches that off.",
    )
    transient_max_share: float = setting(
        _SEED.max_share,
        values.share_above_none,
        "number above 0, and 1 at most",
        'Of the method "seed": a site of which more than this share of the paths is transient was restructured, and has no '
        "transient path; 1 switches that off.",
    )
    transient_max_path: int = setting(
        _SEED.max_path,
        values.whole_number(1),
        "int (characters)",
        'Of the method "seed": longer paths, written as ``<html><body>``, are skipped.',
    )
    transient_links: bool = setting(
        False,
        values.truth,
        "bool",
        "Whether requests are marked whose link stands in transient places of its page only: every page with requests is "
        "looked through for that.",
    )
    transient_priority: int = setting(
        0,
        values.whole_number(0),
        "int",
        "How much lower the priority of requests is whose link stands in transient places of its page only; they are "
        "marked, too.",
    )
    sample: float = setting(
        0.02,
        values.share,
        "number from 0 to 1",
        "The share of the discarded URLs that is fetched all the same, to find rules that are wrong; more of those of "
        "young rules, and fewer where a site has more than three of them for each page. 0 switches that off.",
    )
    extra: float = setting(
        0.05,
        values.share,
        "number from 0 to 1",
        "What probes and refetches may cost: this share of the downloads that were avoided on the site, and before that "
        "nothing but what DEDUP_STARTER allows. 0 switches both off.",
    )
    starter: int = setting(
        12,
        values.whole_number(0),
        "int",
        "Refetches of a site that need no savings, to learn what changes on its pages: a crawl makes at most so many, "
        "and 2 % of the pages that have come, but 4 in any case. 0 switches that off.",
    )
    probe_band: tuple[float, float] = setting(
        (0.1, 0.9),
        values.band,
        "two numbers from 0 to 1",
        "A parameter is worth a probe if the probability that it is relevant lies between these.",
    )
    revisits: int = setting(
        0,
        values.whole_number(0),
        "int",
        "At the end of each crawl so many pages of each kind are fetched again, to find transient content, whatever that "
        "costs; with 0 a few, as far as DEDUP_EXTRA pays for them.",
    )
    postpone: bool = setting(
        True,
        values.truth,
        "bool",
        "Whether requests that are probably duplicates, but by no rule that acts, are fetched last. Off by itself where the "
        "order matters or a spider may end or never run idle before (see :doc:`/usage/with-scrapy`).",
    )
    share_cache: bool = setting(
        False,
        values.truth,
        "bool",
        "Whether Scrapy's HTTP cache answers with the copy of an equivalent URL where it has none of the URL itself.",
    )
    fallback_httpcache_storage: Any = setting(
        "scrapy.extensions.httpcache.FilesystemCacheStorage",
        values.anything,
        "class or import path",
        "The storage of the HTTP cache that is wrapped; the add-on sets it to the value of HTTPCACHE_STORAGE.",
    )
    fallback_dupefilter_class: Any = setting(
        "scrapy.dupefilters.RFPDupeFilter",
        values.anything,
        "class or import path",
        "The dupe filter that is wrapped; the add-on sets it to the value of DUPEFILTER_CLASS.",
    )


SETTINGS = tuple(Setting(name=f"DEDUP_{each.name.upper()}", **each.metadata) for each in fields(SettingFields))
