"""From bytes to an lxml tree, the same tree that parsel makes."""

from threading import local

from lxml import etree
from w3lib.encoding import html_to_unicode

# A parser serves one thread at a time: each thread has its own.
_thread = local()


def parse(page: str | bytes) -> etree._Element:
    """Return the root of an HTML page, given as text or as UTF-8 bytes."""
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
