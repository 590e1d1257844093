"""The spider that records a site: stock Scrapy, breadth first, one request at a time, redirects hop by hop."""

import base64
import json
import zlib
from collections.abc import AsyncIterator, Iterator
from hashlib import sha1
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit

from scrapy import Request, Spider
from scrapy.http import Response

from ..crawling.spiders import BREADTH_FIRST, STATE_CHANGING, page_links

SETTINGS: dict[str, Any] = {
    "SPIDER_MODULES": [__name__],
    "CONCURRENT_REQUESTS": 1,
    "COOKIES_ENABLED": True,
    "REDIRECT_ENABLED": False,
    "RETRY_ENABLED": False,
    "HTTPERROR_ALLOW_ALL": True,
    "LOG_FILE": "crawl.log",
}
LONGEST = 1000
"""Bytes that are kept of a body that is not HTML."""


class Recorder(Spider):
    """Follows every link within the site from *start*, and writes at most *most* responses to *file*."""

    name = "recorder"
    custom_settings = BREADTH_FIRST

    def __init__(self, start: str, file: str, most: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.first = start
        self.left = int(most)
        self.lines = Path(file).open("w", encoding="utf-8")

    async def start(self) -> AsyncIterator[Request]:
        """The start page, and again where it is linked no more."""
        yield Request(self.first)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        """Write the response, and follow what it leads to."""
        if self.left <= 0:
            return
        self.left -= 1
        location = response.headers.get("Location", b"").decode("latin-1")
        self.lines.write(json.dumps(row(response, location)) + "\n")
        for url in [location] if location else [link.url for link in page_links(response)]:
            target = urldefrag(response.urljoin(url)).url
            if urlsplit(target).netloc == urlsplit(self.first).netloc and not STATE_CHANGING.search(target):
                yield Request(target)

    def closed(self, reason: str) -> None:
        """Close the file."""
        self.lines.close()


def row(response: Response, location: str) -> dict[str, Any]:
    """A response as recordings hold it: HTML as text, which packs well beside its like, and the start of anything else."""
    kind = response.headers.get("Content-Type", b"").decode("latin-1")
    found = {
        "requested_url": response.url,
        "status": response.status,
        "location": response.urljoin(location) if location else None,
        "content_type": kind,
        "depth": response.meta["depth"],
        "length": len(response.body),
        "sha1_body": sha1(response.body, usedforsecurity=False).hexdigest(),
    }
    if "html" in kind:
        return {**found, "body": response.body.decode("utf-8")}
    return {**found, "body_z": base64.b64encode(zlib.compress(response.body[:LONGEST])).decode("ascii")}
