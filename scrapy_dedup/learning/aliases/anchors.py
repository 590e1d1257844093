"""Anchors: the elements of a page that a URL can name."""

import re

from ...urls.namings import token_of

MOST_NAMES = 5_000
"""Names (``id`` and ``name`` attributes) of one page that are looked at."""
MOST_PREFIXES = 4
"""Beginnings that are kept of one token."""
LONGEST_NAME = 80

# A space and the name of the attribute: the search for these few bytes costs next to nothing.
# What stands on a new line is not found, and nothing but an alias is lost by that.
_BY_ID = re.compile(rb""" id=["']?([A-Za-z0-9_\-:.]*[0-9][A-Za-z0-9_\-:.]*)""")
_BY_NAME = re.compile(rb""" name=["']?([A-Za-z0-9_\-:.]*[0-9][A-Za-z0-9_\-:.]*)""")


def anchors_of(body: bytes) -> dict[str, tuple[str, ...]]:
    """Return the elements of a page that a URL can name (``id="msg178"``, ``?msg=178``): token -> what stands before it.

    Only names with a number, or with an id of letters and digits, name one element of one page: ``top`` is on every page.
    One pass over the bytes.

    >>> anchors_of(b'<div id="msg178"><a name="178"></a></div><div id="top"></div>')
    {'178': ('', 'msg')}
    >>> anchors_of(b'<li id="comment-5f3ea2b9c1">')
    {'5f3ea2b9c1': ('comment-',)}
    """
    found: dict[str, list[str]] = {}
    for pattern in (_BY_ID, _BY_NAME):
        for raw in pattern.findall(body)[:MOST_NAMES]:
            if len(raw) > LONGEST_NAME:
                continue
            name = raw.decode("ascii")
            prefix = name.rstrip("0123456789")
            if prefix[-1:].isalpha() or prefix == name:  # else what token_of() gives is plain
                prefix = name.removesuffix(token_of(name))
            if prefix != name:
                found.setdefault(name[len(prefix) :], []).append(prefix)
    # Nearly every token has but one.
    return {token: tuple(prefixes) if len(prefixes) == 1 else _shortest(prefixes) for token, prefixes in found.items()}


def _shortest(prefixes: list[str]) -> tuple[str, ...]:
    return tuple(sorted(set(prefixes), key=lambda prefix: (len(prefix), prefix))[:MOST_PREFIXES])
