"""The table of all settings: their names, what they are for, their defaults, and how their values are read."""

from ...learning.choices import JUDGE, LEARNER_NAMES, METHOD_NAMES
from . import setting_paths as paths
from . import setting_values as values
from .setting_pairs import method, method_options, names
from .setting_values import Setting
from .transient_settings import TRANSIENT_SETTINGS

__all__ = ["SETTINGS"]

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
        paths.rule_directories,
    ),
    Setting(
        "DEDUP_DIR",
        "directory",
        "dedup-rules",
        "Where learned rules are written; a relative path starts at the folder of scrapy.cfg, else at the working folder.",
        paths.folder,
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
        paths.store,
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
