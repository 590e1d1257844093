"""Queries that are a path: ``picture.php?/27015/category/254-fjord``.

A parameter without a value, whose text has slashes, is shown as its segments: ``q./0``, ``q./1``, .. (``q./0`` is empty where
a slash comes first). No other parameter has such a key, since the normal form escapes the slashes of names.
"""

import re

__all__ = ["SEGMENT_KEY", "SLASH", "is_segment_key", "query_path"]

#: Beginning of the keys of the segments.
SEGMENT_KEY = "q./"
#: As the normal form of a query writes it.
SLASH = "%2F"

_holds_empty = re.compile(r"=(?:[&;]|\Z)").search
_holds_slash = re.compile(r"/|%2F", re.IGNORECASE).search
_holds_origin = re.compile(r"(?::|%3A)(?:/|%2F){2}", re.IGNORECASE).search
is_segment_key = re.compile(r"q\./[0-9]+(?:\.head|\.tail)*\Z").match


def is_path(text: str) -> bool:
    """Return whether *text*, of a parameter without a value and in any spelling, is a path, and no URL."""
    return _holds_slash(text) is not None and _holds_origin(text) is None


def query_path(query: str) -> str:
    """Return the text of the first parameter of *query*, in normal form, that is a path; "" where none is.

    >>> query_path("%2F27015%2Fcategory=&slideshow="), query_path("from=%2Fa%2Fb")
    ('%2F27015%2Fcategory', '')
    """
    if SLASH not in query or not _holds_empty(query):
        return ""
    for piece in query.replace(";", "&").split("&"):
        name, _, value = piece.partition("=")
        if not value and SLASH in name and is_path(name):
            return name
    return ""
