"""Rules from a tree of URL patterns, after Lei et al. (WWW 2010), as published.

>>> from scrapy_dedup.learning.methods.pattern_tree import learn
>>> urls = [f"http://example.com/item?id={page}&sid={page * 7 + visit}" for page in range(9) for visit in range(3)]
>>> rules = learn(urls, [page for page in range(9) for visit in range(3)])
>>> rules.canonical("http://example.com/item?id=4&sid=123")
'http://example.com/item?id=4&sid=*'
"""

from .published import decide
from .rules import IgnoreKey, KeepKey, NormalizationRule, ReplaceKey
from .whole_method import PatternTreeRules, learn

__all__ = [
    "IgnoreKey",
    "KeepKey",
    "NormalizationRule",
    "PatternTreeRules",
    "ReplaceKey",
    "decide",
    "learn",
]
