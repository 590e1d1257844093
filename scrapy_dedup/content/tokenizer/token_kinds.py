"""Kinds of tokens, and what all tokens have in common that are alike."""

from enum import Enum


class TokenKind(str, Enum):
    """What a token is."""

    OPEN = "open"
    CLOSE = "close"
    #: A tag of an element that has no contents, or one that the standard ignores (a second body).
    EMPTY = "empty"
    TEXT = "text"
    #: What is never shown: comments, declarations, instructions, a tag that the page's end cuts off.
    COMMENT = "comment"
    #: The contents of scripts, styles, templates, noscript, frames: never visible.
    RAW = "raw"


Row = tuple[str, str, str, str, int]
"""What a token is but for its number: value of its kind, name, path, selector, depth; shared by all that are alike.

Of strings and a number and nothing else: so the garbage collector need not look at it.
"""
OPEN, CLOSE, EMPTY, TEXT, COMMENT, RAW_TEXT = (kind.value for kind in TokenKind)
