"""From downloaded pages to what the document's method learns from: which URLs led to near-identical pages.

Source: "url-normalization-rule-inference", FIG. 1, step 100, and FIG. 2, steps 200 and 210: shingling, or one of the
other ways to compare that the document names.
"""

from collections.abc import Iterable
from enum import Enum

from .comparisons import checksum, classes, line_classes, rare_words, words_checksum
from .megashingles import buckets, equivalence_classes
from .shingles import shingling, words_of_html
from .testing import Observed


class Comparison(str, Enum):
    """How pages of a web server are told to be near-identical."""

    SHINGLING = "shingling"
    """They have a megashingle in common, and resemble the medoid of those that hang together by that."""
    CHECKSUM = "checksum"
    """They are the same, byte by byte."""
    WORDS = "words"
    """Their non-markup words are the same."""
    RARE_WORDS = "rare words"
    """They have the same rare words."""
    LINES = "lines"
    """They have 95 % of their lines in common, as ``diff`` finds them: pairs are compared, for a few pages only."""

    __str__ = str.__str__


def observed_pages(
    pages: Iterable[tuple[str, str | bytes]], comparison: Comparison = Comparison.SHINGLING
) -> list[Observed]:
    """Return each URL with the class of its page; *pages* are (URL, HTML as text or UTF-8 bytes), each URL once.

    What is like no other page is a class by itself. URLs of different hosts are in different classes. Linear, but for
    ``Comparison.LINES``, which compares pairs.

    >>> html = "<p>a page of {} words</p>"
    >>> seen = [("http://a/x", html.format("some")), ("http://a/y", html.format("other")), ("http://a/z", html.format("some"))]
    >>> [one.content for one in observed_pages(seen)]
    [0, 1, 0]
    """
    known = dict(pages)
    first: dict[str, str] = {}
    for members in _classes(known, comparison):
        first.update(dict.fromkeys(members, members[0]))
    numbers: dict[str, int] = {}
    return [Observed(url, numbers.setdefault(first.get(url, url), len(numbers))) for url in known]


def _classes(pages: dict[str, str | bytes], comparison: Comparison) -> Iterable[list[str]]:
    """Return the classes of two URLs or more."""
    if comparison is Comparison.SHINGLING:
        return equivalence_classes((url, shingling(words_of_html(page))) for url, page in pages.items())
    found: list[list[str]] = []
    hosts: Iterable[list[tuple[str, str | bytes]]] = buckets(pages.items())
    for bucket in hosts:
        if comparison is Comparison.RARE_WORDS:
            found += classes(rare_words({url: words_of_html(page) for url, page in bucket}))
        elif comparison is Comparison.LINES:
            found += line_classes({url: _text(page).splitlines() for url, page in bucket})
        elif comparison is Comparison.WORDS:
            found += classes({url: words_checksum(page) for url, page in bucket})
        else:
            found += classes({url: checksum(_bytes(page)) for url, page in bucket})
    return found


def _text(page: str | bytes) -> str:
    return page if isinstance(page, str) else page.decode("utf-8", "replace")


def _bytes(page: str | bytes) -> bytes:
    return page.encode("utf-8", "replace") if isinstance(page, str) else page
