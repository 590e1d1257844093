"""Which recorded URLs are one page, by what is known of each site's software.

Each response gets a line as in the labels of other recordings, and one more column: ``page``. It is the bag of words of the page, as
`recordings.pages` has it, less what the software says of the visit (`PASSING`), so that two URLs that say the same are one page; and
URLs of which the software takes no notice of how they differ (`DEFAULTS`) are one page whatever was counted in between.
"""

import gzip
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from ..recordings.recording import fingerprint, identity

DEFAULTS = {
    "moin": {("page_num", "1"), ("bookmark", "0")},
    "klaus": {("path", ""), ("page", "0")},
    "devpi": {("page", "1")},
    "machina": {("page", "1")},
    "cartridge": {("page", "1"), ("sort", "-date_added")},
}
"""Parameters that ask of each site's software what it does without them."""
PASSING = {
    "moin": re.compile(
        r'Page: [\d.]+ ms|<ul class="moin-breadcrumb">\s*<li class="moin-panel-heading">Page Trail.*?</ul>', re.DOTALL
    ),
}
"""How long a page took, and what was looked at before."""
COLUMNS = ("requested_url", "status", "final_url", "sha1_body", "sha1_bag_of_words", "page", "length")


def page_of(name: str, url: str) -> str:
    """The simplest URL of the page at *url*.

    >>> page_of("machina", "http://127.0.0.1:1/forum/2/?page=1&post=3")
    'http://127.0.0.1:1/forum/2/?post=3'
    """
    kept = set(parse_qsl(urlsplit(url).query, keep_blank_values=True)) - DEFAULTS[name]
    return url.split("?", 1)[0] + ("?" + urlencode(sorted(kept)) if kept else "")


def write_labels(path: Path, name: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write a line for each recorded row, in their order, into a gzipped file that does not say when."""
    lines: list[tuple[object, ...]] = [COLUMNS]
    pages: dict[str, str] = {}
    for row in rows:
        url, digest, text = row["requested_url"], row["sha1_body"], row.get("body")
        bag = fingerprint(digest) if text is None else identity(text.encode(), row["content_type"]).bag
        lasting = bag
        if text is not None and name in PASSING:
            lasting = identity(PASSING[name].sub("", text).encode(), row["content_type"]).bag
        page = pages.setdefault(page_of(name, url), lasting) if row["status"] == 200 else ""
        lines.append((url, row["status"], row["location"] or url, digest, bag, page, row["length"]))
    text = "".join("\t".join(map(str, line)) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
