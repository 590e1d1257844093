"""The commands ``scrapy learn-rules`` and ``scrapy dedup``.

Scrapy imports them for every command it runs, so these modules import nothing heavy themselves.
"""

from .dedup import Dedup
from .learn_rules import LearnRules

__all__ = ["Dedup", "LearnRules"]
