from dataclasses import dataclass

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


@dataclass
class Product:
    name: str
    price: str
    description: str
    url: str
    language: str


class ShopSpider(CrawlSpider):
    """Follow every link of the shop and give an item for each product page.

    scrapy crawl shop -a start=http://localhost:8000/
    """

    name = "shop"
    allowed_domains = ["localhost"]
    rules = [Rule(LinkExtractor(), callback="parse_product", follow=True)]

    def __init__(self, start="http://localhost:8000/", **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [start]

    def parse_product(self, response):
        product = response.css("article.product")
        if product:
            yield Product(
                name=product.css("h1::text").get(),
                price=product.css(".price::text").get(),
                description=product.css(".description::text").get(),
                url=response.url,
                language=response.css("html::attr(lang)").get(),
            )
