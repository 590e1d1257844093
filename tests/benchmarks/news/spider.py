"""The spider that takes a news site into items. It is stock Scrapy: it knows nothing of the package."""

import json
import re
from collections.abc import Iterator
from typing import Any

from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

from ..crawling.spiders import StatsSpider

CONTENT_FIELDS = {
    "text": "text",
    "article": "text",
    "texts": "text",
    "body": "html",
    "page": "html",
    "main.text": "text",
    "main.html": "html",
}
"""Fields of an item -> what they hold, as DEDUP_CONTENT_FIELDS names them."""
_VISIBLE = ".//text()[not(ancestor::script or ancestor::style)]"


class NewsSpider(StatsSpider):
    """Follows every link of the site from *start*, and exports each page in several forms.

    ``raw`` has the same fields once more, under names that nobody strips: what was served.
    """

    name = "news"

    def __init__(self, start: str, main: str, crawl: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [start]
        #: Stands in the name of the file of items.
        self.crawl = crawl
        self.main = f"[data-main='{main}']"
        self.links = LinkExtractor(allow=f"^{re.escape(start)}")

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        """Give the item and follow the links."""
        if not isinstance(response, HtmlResponse):
            return
        number = response.headers.get("X-Response", b"").decode()
        fields = self.fields_of(response)
        yield {"number": int(number), "url": response.url, **fields, "raw": json.loads(json.dumps(fields))}
        for link in self.links.extract_links(response):
            yield Request(link.url, self.parse)

    def fields_of(self, response: HtmlResponse) -> dict[str, Any]:
        """A page in several forms."""
        main = response.css(self.main)
        texts = [text.strip() for text in response.xpath("//body").xpath(_VISIBLE).getall() if text.strip()]
        lines = [text.strip() for text in main.css("::text").getall() if text.strip()]
        return {
            "text": " ".join(response.css("body ::text").getall()),
            "article": " ".join(" ".join(main.css("::text").getall()).split()),
            "texts": texts,
            "body": response.css("body").get(),
            "page": response.text,
            "main": {"text": "\n".join(lines), "html": main.get()},
        }
