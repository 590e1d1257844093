"""Significant prefixes and suffixes of strings: what they begin or end with on purpose, not by chance.

Source: url-parameter-relevance, FIG. 2, 6 and 7.

>>> names = ["utm_source", "utm_medium", "utm_campaign", "id", "page"]
>>> [affix.text for affix in snapped_prefixes(names)]
['utm_']
"""

from .characters import ALPHANUMERIC, OF_URLS, CharacterModel, empirical, given, observed, uniform
from .counting import CountedPrefix, counted_prefixes
from .significance import log_test_statistic, sigma_level
from .significant_affixes import SIGMAS, Affix, significant_prefixes, significant_suffixes
from .snapped import snapped_prefixes

__all__ = [
    "ALPHANUMERIC",
    "OF_URLS",
    "SIGMAS",
    "Affix",
    "CharacterModel",
    "CountedPrefix",
    "counted_prefixes",
    "empirical",
    "given",
    "log_test_statistic",
    "observed",
    "sigma_level",
    "significant_prefixes",
    "significant_suffixes",
    "snapped_prefixes",
    "uniform",
]
