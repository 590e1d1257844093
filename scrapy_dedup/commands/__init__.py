"""The commands ``scrapy learn-rules``, ``scrapy explain-url``, ``scrapy explain-page`` and ``scrapy export-rules``.

Scrapy imports them for every command it runs, so these modules import nothing heavy themselves.
"""

from .explain_page import ExplainPage
from .explain_url import ExplainUrl
from .export_rules import ExportRules
from .learn_rules import LearnRules

__all__ = ["ExplainPage", "ExplainUrl", "ExportRules", "LearnRules"]
