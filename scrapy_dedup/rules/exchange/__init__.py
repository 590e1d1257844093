"""Rules of duplicate-url-discarder, read and written, and what sites declare of their parameters.

Reading never gives a rule that covers more URLs than the format says; writing, unless told to, never
says more than the rules do. What does not go over is told.
"""

from .declared import CLEAN_PARAM, CleanParam, clean_params, declaring_lines, search_variance
from .url_discarder import Exported, Imported, NotExpressible, read_url_discarder, write_url_discarder

__all__ = [
    "CLEAN_PARAM",
    "CleanParam",
    "Exported",
    "Imported",
    "NotExpressible",
    "clean_params",
    "declaring_lines",
    "read_url_discarder",
    "search_variance",
    "write_url_discarder",
]
