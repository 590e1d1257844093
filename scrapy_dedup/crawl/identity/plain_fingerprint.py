"""Scrapy's own fingerprint of a request for a plain URL, at a fraction of its cost.

Of such a URL ``w3lib.url.canonicalize_url`` changes nothing but the order of the query. That is most of the
URLs of most sites, and canonicalizing them is the dearest thing that a dupe filter does. Any other URL, and
a Scrapy that makes its fingerprints in another way, is left to Scrapy.
"""

import re
from collections.abc import Callable
from hashlib import sha1
from typing import Final

from scrapy import Request

__all__ = ["plain_fingerprint", "plain_fingerprints"]

_NAME: Final = "[A-Za-z0-9_-][A-Za-z0-9_.-]*"  # of a segment: neither "." nor ".."
_PAIR: Final = "[A-Za-z0-9_.-]+=[A-Za-z0-9_.-]*"
_PLAIN: Final = re.compile(
    r"https?://[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*(?::[0-9]+)?"
    rf"/(?:{_NAME}/)*(?:{_NAME})?(?:\?({_PAIR}(?:&{_PAIR})*))?"
)
_SAMPLE: Final = "http://a.example:8000/b/c.html?e=2&d=&d-e=1"


def plain_fingerprint(url: str) -> bytes | None:
    """Return the fingerprint that Scrapy 2.19 makes of a GET request for *url*, without a body; None if it is not plain."""
    found = _PLAIN.fullmatch(url)
    if found is None:
        return None
    query = found[1]
    if query is not None and "&" in query:
        pairs = sorted(query.split("&"), key=lambda pair: pair.partition("="))
        url = url[: found.start(1)] + "&".join(pairs)
    return sha1(
        f'{{"body": "", "headers": {{}}, "method": "GET", "url": "{url}"}}'.encode(), usedforsecurity=False
    ).digest()


def plain_fingerprints(ask: Callable[[Request], bytes]) -> Callable[[str], bytes | None]:
    """Return :func:`plain_fingerprint`, or what returns None always if *ask*, Scrapy's own, says something else."""
    return plain_fingerprint if ask(Request(_SAMPLE)) == plain_fingerprint(_SAMPLE) else lambda _: None
