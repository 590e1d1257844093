"""What a recorded page is, worked out apart from the package that the benchmark measures.

A page has two fingerprints: of its visible text in order, and of its bag of words. Both leave out
clock words (``12:34``, ``12:34:56``), which differ on each fetch of some sites. Content that is not
HTML is its own bytes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

from lxml import etree, html

CLOCK = re.compile(r"\W*\d{1,2}:\d{2}(:\d{2})?\W*")
CHARSET = re.compile(r"charset=[\"']?([\w-]+)", re.IGNORECASE)
UNSEEN = frozenset(("script", "style", "template", "noscript"))


@dataclass(frozen=True, slots=True)
class PageIdentity:
    """The two fingerprints of one page."""

    text: str
    bag: str


def identity(body: bytes, content_type: str) -> PageIdentity:
    """The fingerprints of a body; a body that is not HTML, or is empty, has its bytes as both."""
    root = parse(body, content_type) if "html" in content_type else None
    if root is None:
        digest = fingerprint(body)
        return PageIdentity(digest, digest)
    words = [word for word in " ".join(texts(root)).split() if not CLOCK.fullmatch(word)]
    return PageIdentity(fingerprint(" ".join(words)), fingerprint(" ".join(sorted(words))))


def fingerprint(content: str | bytes) -> str:
    """A digest of text or bytes."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return blake2b(data, digest_size=12).hexdigest()


def parse(body: bytes, content_type: str) -> html.HtmlElement | None:
    """The tree of an HTML body, None when there is nothing to parse."""
    charset = CHARSET.search(content_type)
    try:
        parser = html.HTMLParser(encoding=charset[1] if charset else "utf-8")
        return html.document_fromstring(body, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, LookupError, ValueError):
        return None


def texts(root: html.HtmlElement) -> Iterator[str]:
    """The visible text nodes of a tree in document order, the title among them."""
    hidden = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            if hidden is None and element.tag in UNSEEN:
                hidden = element
            elif hidden is None and element.text:
                yield element.text
        else:
            if element is hidden:
                hidden = None
            if hidden is None and element.tail and element is not root:
                yield element.tail
