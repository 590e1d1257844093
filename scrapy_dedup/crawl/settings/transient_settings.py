"""The settings of transient content: a part of the table of :mod:`.dedup_settings`."""

from typing import Any

from ...masks.seed.thresholds import Thresholds
from . import setting_values as values
from .setting_values import Setting, WrongValue

__all__ = ["TRANSIENT_SETTINGS"]

_SEED = Thresholds()


def _method(value: Any) -> str:
    """Return "default" or "seed"."""
    if value not in ("default", "seed"):
        raise WrongValue('it must be "default" or "seed"')
    return str(value)


TRANSIENT_SETTINGS: tuple[Setting, ...] = (
    Setting(
        "DEDUP_CONTENT_FIELDS",
        'dict of field to "html" or "text"',
        {},
        "The fields of items that hold page content, from which transient content is stripped; dots lead into nested items.",
        values.content_fields,
    ),
    Setting(
        "DEDUP_STRIP",
        '"remove", "mark" or "off"',
        "remove",
        "What becomes of transient content in these fields: it is removed, marked or left.",
        values.strip,
    ),
    Setting(
        "DEDUP_STRIP_MARKUP",
        "bool",
        True,
        "Whether what passes in attributes, scripts and comments goes out of HTML fields, and in the text of scripts out of "
        "text fields, too, and not visible texts, addresses of links and values of forms alone; it is recorded only where "
        "there are such fields.",
        values.truth,
    ),
    Setting(
        "DEDUP_TRANSIENT_METHOD",
        '"default" or "seed"',
        "default",
        'The method by which masks are learned: "seed" is that of the transient-content document, as it stands there. It '
        "compares pages that were recorded under it, and knows no more of a place than the names of the tags around it (see "
        ":doc:`/methods/transient-content`).",
        _method,
    ),
    Setting(
        "DEDUP_TRANSIENT_THRESHOLD",
        "number above 0, and 1 at most",
        _SEED.threshold,
        'Of the method "seed": the document\'s T, the share of the tokens on a path that must have changed.',
        values.share_above_none,
    ),
    Setting(
        "DEDUP_TRANSIENT_MAX_MARKED",
        "number above 0, and 1 at most",
        _SEED.max_marked,
        'Of the method "seed": a page of which more than this share of the tokens changed was reorganised, and teaches '
        "nothing; 1 switches that off.",
        values.share_above_none,
    ),
    Setting(
        "DEDUP_TRANSIENT_MAX_SHARE",
        "number above 0, and 1 at most",
        _SEED.max_share,
        'Of the method "seed": a site of which more than this share of the paths is transient was restructured, and has no '
        "transient path; 1 switches that off.",
        values.share_above_none,
    ),
    Setting(
        "DEDUP_TRANSIENT_MAX_PATH",
        "int (characters)",
        _SEED.max_path,
        'Of the method "seed": longer paths, written as ``<html><body>``, are skipped.',
        values.positive_integer,
    ),
    Setting(
        "DEDUP_TRANSIENT_LINKS",
        "bool",
        False,
        "Whether requests are marked whose link stands in transient places of its page only: every page with requests is "
        "looked through for that.",
        values.truth,
    ),
    Setting(
        "DEDUP_TRANSIENT_PRIORITY",
        "int",
        0,
        "How much lower the priority of requests is whose link stands in transient places of its page only; they are "
        "marked, too.",
        values.integer,
    ),
)
