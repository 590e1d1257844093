"""Rules in the formats of others, read and written.

Reading never gives a rule that covers more URLs than the format says; writing, unless told to, never
says more than the rules do. What does not go over is told.
"""

from .clean_param import CLEAN_PARAM, CleanParam, clean_params, declaring_lines, read_clean_param, write_clean_param
from .formats import READ, WRITTEN, add_rules, exported, imported
from .no_vary_search import SearchVariance, read_no_vary_search, search_variance, write_no_vary_search
from .python import book_of_texts, write_python
from .url_discarder import read_url_discarder, write_url_discarder
from .values import Exported, Imported, NotExpressible

__all__ = [
    "CLEAN_PARAM",
    "READ",
    "WRITTEN",
    "CleanParam",
    "Exported",
    "Imported",
    "NotExpressible",
    "SearchVariance",
    "add_rules",
    "book_of_texts",
    "clean_params",
    "declaring_lines",
    "exported",
    "imported",
    "read_clean_param",
    "read_no_vary_search",
    "read_url_discarder",
    "search_variance",
    "write_clean_param",
    "write_no_vary_search",
    "write_python",
    "write_url_discarder",
]
