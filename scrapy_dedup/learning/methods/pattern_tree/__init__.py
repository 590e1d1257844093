"""Rules from a tree of URL patterns, after Lei et al. (WWW 2010), faithful and improved.

>>> from scrapy_dedup.learning.methods.pattern_tree import learn
>>> urls = [f"http://example.com/item?id={page}&sid={page * 7 + visit}" for page in range(9) for visit in range(3)]
>>> rules = learn(urls, [page for page in range(9) for visit in range(3)])
>>> rules.canonical("http://example.com/item?id=4&sid=123")
'http://example.com/item?id=4&sid=*'
"""

from ..pattern_tree_gaps import FAITHFUL, IMPROVED, PatternTreeChoices
from .normalization_rules import IgnoreKey, KeepKey, NormalizationRule, ReplaceKey, SetLiteral
from .published import choices_of, decide
from .whole_method import PatternTreeRules, learn

__all__ = [
    "FAITHFUL",
    "IMPROVED",
    "IgnoreKey",
    "KeepKey",
    "NormalizationRule",
    "PatternTreeChoices",
    "PatternTreeRules",
    "ReplaceKey",
    "SetLiteral",
    "choices_of",
    "decide",
    "learn",
]
