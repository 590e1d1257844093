"""All settings: a field for each, with its default, how its value is read, its type in words, and what it is for.

The field ``max_body`` is the setting ``DEDUP_MAX_BODY``. The reference of settings is made from this table.
"""

# ruff: noqa: RUF009 - setting() makes fields
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ...learning.choices import JUDGE, METHOD_NAMES
from ...learning.evidence.user_names import Names
from ...masks.token_changes import Options
from . import setting_paths as paths
from . import setting_values as values
from .setting_values import Mode, Setting, setting


@dataclass(frozen=True, slots=True)
class SettingFields:
    """The values of all settings, checked; paths are absolute."""

    enabled: bool = setting(True, values.truth, "bool", "Whether the plug-in is on.")
    mode: Mode = setting(
        "active",
        values.mode,
        '"observe", "shadow" or "active"',
        'How far the plug-in may go. "observe" records responses and does nothing else; "shadow" also learns, and '
        'counts the requests that it would filter; "active" filters them.',
    )
    sites: Mapping[str, Mode | None] = setting(
        {},
        values.sites,
        "dict of site to mode or False",
        "The mode of single sites. False switches the plug-in off for a site.",
    )
    site_groups: Mapping[str, tuple[str, ...]] = setting(
        {},
        values.site_groups,
        "dict of name to list of domains",
        "Registrable domains that are one site. The key is the name of the group.",
    )
    rules: tuple[Path, ...] = setting(
        [],
        paths.rule_directories,
        "list of directories",
        'Directories of rule files that are read and never written. "package:directory" names those of a package.',
    )
    dir: Path = setting(
        "dedup-rules",
        paths.folder,
        "directory",
        "The directory that learned rules are written to, relative to the folder of scrapy.cfg.",
    )
    scope: str = setting(
        "",
        values.scope,
        "str",
        "A name under which evidence and rules are kept apart, for instance those of a spider that is logged in.",
    )
    store: str = setting(
        None,
        paths.store,
        "path, SQLAlchemy URL or None",
        "The database that crawls record in. None is dedup/store.sqlite in the project's data folder (.scrapy).",
    )
    report: str | None = setting(
        None,
        paths.report,
        "path or None",
        "The file that a crawl writes its report into when it closes (see :doc:`/how-to/report`); None is report.html beside the "
        'store, if that is a file, with a scope report-SCOPE.html. "" writes none.',
    )
    evidence_days: float | None = setting(
        90,
        values.or_no_limit(values.positive_number),
        "number or None",
        "How many days observations and filtered requests are kept. None keeps them for good.",
    )
    store_max_rows: int | None = setting(
        5_000_000,
        values.or_no_limit(values.whole_number(1)),
        "int or None",
        "How many observations, and filtered requests, are kept at most (None: any). The oldest are removed first.",
    )
    sketches_per_site: int = setting(
        20_000,
        values.whole_number(0),
        "int",
        "How many page sketches, and versions, are kept per site and scope; of further pages only fingerprints are.",
    )
    store_texts: bool = setting(
        True,
        values.truth,
        "bool",
        "Whether the texts and link addresses of some pages are stored in readable form, which is needed to detect "
        "transient content. If not, only hashes are stored (see :doc:`/explanation/privacy`).",
    )
    max_body: int = setting(
        1_048_576,
        values.whole_number(1),
        "int (bytes)",
        "How many bytes of a response identify its content, together with its length.",
    )
    media: bool = setting(
        False, values.truth, "bool", "Whether responses to the requests of media pipelines are recorded, too."
    )
    learn: str = setting(
        "live",
        values.one_of("live", "close", "off"),
        '"live", "close" or "off"',
        'When crawls learn rules. "live" is while they go on and at their end, "close" at their end only, and "off" '
        'never, so that only scrapy learn-rules learns. With DEDUP_MODE = "observe" no crawl learns.',
    )
    learn_timeout: float = setting(
        60, values.positive_number, "number (seconds)", "Processor seconds of a learning; four times that by the clock."
    )
    method: str = setting(
        JUDGE,
        values.method,
        "name of a method",
        f"The method that decides which rules act: {', '.join(METHOD_NAMES)}. All but the judge decide as their "
        "documents do (see :doc:`/methods/published`).",
    )
    method_options: Mapping[str, Any] = setting(
        {},
        values.method_options,
        "dict of option to value",
        "Options of the published method that DEDUP_METHOD names. Those left out are as in its document.",
    )
    names: Names = setting(
        {},
        values.names,
        'dict of "relevant", "irrelevant" or "return" to list of names',
        "Names of parameters whose meaning you know on all sites: relevant, irrelevant, or saying where a log-in page "
        "returns to. They weigh as much as an opinion that is right 19 times in 20, and never more than what pages "
        "show. A name that ends in * stands for all that begin so.",
    )
    max_loss: float = setting(
        0.001,
        values.share_between,
        "number between 0 and 1",
        "The share of the pages of a site that its learned rules together may be seen to lose.",
    )
    content_fields: Mapping[str, str] = setting(
        {},
        values.content_fields,
        'dict of field to "html" or "text"',
        "Item fields with page content, from which transient content is removed. Dots lead into nested items.",
    )
    strip: str = setting(
        "remove",
        values.one_of("remove", "mark", "off"),
        '"remove", "mark" or "off"',
        "What is done with transient content in the fields of DEDUP_CONTENT_FIELDS: it is removed, marked or left alone.",
    )
    drop_duplicate_items: bool = setting(
        False, values.truth, "bool", "Whether a page's items are exported once (see :doc:`/how-to/items-once`)."
    )
    transient_method: str = setting(
        "default",
        values.one_of("default", "seed"),
        '"default" or "seed"',
        'The method by which masks are learned. "seed" is that of the transient-content document, as it stands there: '
        "it compares pages that were recorded under it, and knows no more of a place than the names of the tags "
        "around it (see :doc:`/methods/transient-content`).",
    )
    transient_options: Options = setting(
        {},
        values.transient_options,
        "dict of option to value",
        'Options of the method "seed": ``threshold`` (0.5, the document\'s T: the share of the tokens on a path that must have '
        "changed), ``max_marked`` (0.5: the share of a page's tokens that may change before it teaches nothing), ``max_share`` "
        "(0.5: the share of a site's paths that may be transient before none is), ``max_path`` (1000: characters of the longest "
        "path, written as ``<html><body>``).",
    )
    transient_links: bool = setting(
        False,
        values.truth,
        "bool",
        "Whether requests are marked whose link stands only in transient places of its page. Every page with requests "
        "is looked through for that.",
    )
    transient_priority: int = setting(
        0,
        values.whole_number(0),
        "int",
        "How much lower the priority of requests is whose link stands only in transient places. They are marked, too.",
    )
    sample: float = setting(
        0.02,
        values.share,
        "number from 0 to 1",
        "The share of the filtered URLs that is fetched as a spot check, to find wrong rules. There are more of young "
        "rules, and fewer where a site has more than three for each page. 0 switches them off.",
    )
    extra: float = setting(
        0.05,
        values.share,
        "number from 0 to 1",
        "The budget for refetches, as a share of the downloads that were saved on the site. Besides these "
        "there are only those of DEDUP_STARTER. 0 switches them off.",
    )
    starter: int = setting(
        12,
        values.whole_number(0),
        "int",
        "How many refetches a crawl may make of a site to detect transient content, whatever it has saved. There are "
        "at most 2 % of the pages that have come, of the site and of the crawl, but 4 in any case. 0 switches them off.",
    )
    probe_band: tuple[float, float] = setting(
        (0.1, 0.9),
        values.band,
        "two numbers from 0 to 1",
        "Between which probabilities of being relevant a parameter is probed (learn-rules --probe).",
    )
    revisits: int = setting(
        0,
        values.whole_number(0),
        "int",
        "How many pages of each URL template a crawl fetches twice to detect transient content, whatever that costs. "
        "With 0 there are only those that DEDUP_EXTRA and DEDUP_STARTER pay for.",
    )
    postpone: bool = setting(
        True,
        values.truth,
        "bool",
        "Whether requests that are probably duplicates, but by no active rule, are fetched last. It is off by itself "
        "where the order matters or a spider may end, or never be idle, before they are fetched (see "
        ":doc:`/reference/with-scrapy`).",
    )
    fleet: float = setting(
        10.0,
        values.number_or_none_at_all,
        "number (seconds)",
        "How many seconds a worker of a fleet may be silent before the others take it for dead. Workers with the scheduler "
        "of scrapy-redis share what they have seen (see :doc:`/how-to/fleet`); 0 switches that off, so that each knows its own pages only.",
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
        "The storage of the HTTP cache that is wrapped. The add-on sets it to the value of HTTPCACHE_STORAGE.",
    )
    fallback_dupefilter_class: Any = setting(
        "scrapy.dupefilters.RFPDupeFilter",
        values.anything,
        "class or import path",
        "The dupe filter that is wrapped. The add-on sets it to the value of DUPEFILTER_CLASS.",
    )


SETTINGS = tuple(Setting(name=f"DEDUP_{each.name.upper()}", **each.metadata) for each in fields(SettingFields))
