"""Links that only transient places of a page have."""

import re
from collections.abc import Callable
from html import unescape
from typing import Final

from ...urls.joining import joined
from ..ranges import overlapping
from .transient_page import TransientPage

__all__ = ["transient_links"]

#: An opening tag ends before the next "<", and values are bounded, so that no page costs more than one pass.
_LINK: Final = re.compile(
    r"""<a\s(?:[^<>"']|"[^"<]{0,4096}"|'[^'<]{0,4096}')*?\bhref\s*=\s*(?:"([^"<]*)"|'([^'<]*)'|([^\s<>"']+))""",
    re.IGNORECASE,
)


def transient_links(page: TransientPage, base_url: str, key_of: Callable[[str], str]) -> frozenset[str]:
    """Return the keys of the destinations of ``<a href>`` that stand in transient places of *page* and nowhere else.

    *key_of* makes equal what leads to one page.
    """
    if not page.spans:
        return frozenset()
    inside: set[str] = set()
    outside: set[str] = set()
    for link in _LINK.finditer(page.html):
        group = link.lastindex or 1
        start, end = link.span(group)
        holding = any(low <= start and end <= high for low, high in overlapping(page.spans, start, end))
        (inside if holding else outside).add(link[group] or "")
    inside -= outside
    if not inside:
        return frozenset()
    return frozenset(_keys(inside, base_url, key_of) - _keys(outside, base_url, key_of))


def _keys(links: set[str], base_url: str, key_of: Callable[[str], str]) -> set[str]:
    keys = set()
    for link in links:
        url = joined(base_url, unescape(link))
        if url[:4].lower() == "http":
            keys.add(key_of(url))
    return keys
