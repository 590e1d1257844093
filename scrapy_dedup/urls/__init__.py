"""What a URL is: its normal form, its site, its keys and values.

>>> from scrapy_dedup.urls import normal_form, values_of
>>> normal_form("http://Example.com/a?c=1&b=2")
'http://example.com/a?b=2&c=1'
>>> values_of("http://example.com/a?c=1")["q.c"]
'1'
"""

from .classes import CLASS_NAMES, PLACEHOLDER, ValueClass, class_of
from .deep_tokens import DELIMITERS, DeepSplit, learn_deep_splits
from .hosts import GroupsLike, SiteGroups, labels, registrable
from .keyvalues import site_of_url, values_of
from .normal_form import normal_form, normal_parts
from .split import Entry, entries_of

__all__ = [
    "CLASS_NAMES",
    "DELIMITERS",
    "PLACEHOLDER",
    "DeepSplit",
    "Entry",
    "GroupsLike",
    "SiteGroups",
    "ValueClass",
    "class_of",
    "entries_of",
    "labels",
    "learn_deep_splits",
    "normal_form",
    "normal_parts",
    "registrable",
    "site_of_url",
    "values_of",
]
