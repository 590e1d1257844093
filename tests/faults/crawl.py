"""One crawl in a process of its own, to be killed: ``python -m tests.faults.crawl START SETTINGS`` (JSON).

The spider notes each page in the file ``pages``, before anything else, when its callback gets it.
"""

import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess

PAGES = Path("pages")


class FollowSpider(Spider):
    """Follows every link."""

    name = "follow"

    def __init__(self, start: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.first = start

    async def start(self) -> AsyncIterator[Request]:
        """As Scrapy does by itself: a start page is fetched again by each run of a job."""
        yield Request(self.first, dont_filter=True)

    def parse(self, response: Any, **kwargs: Any) -> Iterator[Request]:
        """Note the page, then follow its links."""
        with PAGES.open("ab") as file:  # one write: a kill leaves the whole line or none
            os.write(file.fileno(), response.css("title::text").get().encode() + b"\n")
        yield from response.follow_all(css="a")


def main() -> None:
    """Crawl."""
    process = AsyncCrawlerProcess(json.loads(sys.argv[2]))
    process.crawl(FollowSpider, start=sys.argv[1])
    process.start()


if __name__ == "__main__":
    main()
