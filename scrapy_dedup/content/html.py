"""HTML pages: their text, their lxml tree, and the elements that a URL or a log-in can be told by."""

import re
from threading import local

from lxml import etree
from w3lib.encoding import html_to_unicode

from ..urls.namings import token_of

MOST_NAMES = 5_000
"""Names (``id`` and ``name`` attributes) of one page that are looked at."""
MOST_PREFIXES = 4
"""Beginnings that are kept of one token."""
LONGEST_NAME = 80

# A space and the name of the attribute: the search for these few bytes costs next to nothing.
# What stands on a new line is not found, and nothing but an alias is lost by that.
_BY_ID = re.compile(rb""" id=["']?([A-Za-z0-9_\-:.]*[0-9][A-Za-z0-9_\-:.]*)""")
_BY_NAME = re.compile(rb""" name=["']?([A-Za-z0-9_\-:.]*[0-9][A-Za-z0-9_\-:.]*)""")

# A parser serves one thread at a time: each thread has its own.
_thread = local()


def parse(page: str | bytes) -> etree._Element:
    """Return the root of the lxml tree, the one that parsel makes, of an HTML page: text or UTF-8 bytes."""
    if isinstance(page, str):
        data = page.strip().replace("\x00", "").encode("utf-8", "replace")
    else:
        data = page.strip().replace(b"\x00", b"")
    try:
        parser = _thread.parser
    except AttributeError:
        parser = _thread.parser = etree.HTMLParser(recover=True, encoding="utf-8", huge_tree=True)
    root = etree.fromstring(data, parser) if data else None
    return etree.Element("html") if root is None else root


def decode(body: bytes, content_type: str = "", encoding: str | None = None) -> str:
    """Return the text of *body*: by *encoding* where it is known, else by what header and body tell."""
    if encoding:
        try:
            return body.decode(encoding, "replace")
        except LookupError:
            pass
    return html_to_unicode(content_type or None, body)[1]


def has_password_field(root: etree._Element) -> bool:
    """Return whether a page, given by its root, has a field for a password.

    >>> has_password_field(parse("<form><input name=user><input type=PASSWORD name=pw></form>"))
    True
    """
    return any((field.get("type") or "").strip().lower() == "password" for field in root.iter("input"))


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
