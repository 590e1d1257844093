"""The commands ``scrapy learn-rules`` and ``scrapy explain-url``.

Scrapy imports both for every command it runs, so these modules import nothing heavy themselves.
"""

from .explain_url import ExplainUrl
from .learn_rules import LearnRules

__all__ = ["ExplainUrl", "LearnRules"]
