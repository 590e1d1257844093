"""Platforms are told by generators and by URL templates, and not by a single link to somebody else's."""

from scrapy_dedup.content.html import parse
from scrapy_dedup.content.page_content import generator_of, with_generator
from scrapy_dedup.packs.model import Platform
from scrapy_dedup.packs.platforms import generators_of, platforms_told

FORUM = Platform("forum", templates=("viewtopic.php?t", "viewforum.php?f"))
WIKI = Platform("wiki", generators=("Wiki",), templates=("/wiki/",))
SHOP = Platform("shop", templates=("index.php?route=product/",))
KNOWN = (FORUM, WIKI, SHOP)


def urls(*templates: str, times: int = 10) -> list[str]:
    return [f"http://a.test{template.format(n)}" for n in range(times) for template in templates]


def test_by_two_templates_or_by_one_of_many_urls() -> None:
    assert platforms_told(urls("/f/viewtopic.php?t={}", "/f/viewforum.php?f={}"), {}, KNOWN) == ("forum",)
    assert platforms_told(urls("/shop/index.php?route=product/view&id={}"), {}, KNOWN) == ("shop",)
    assert platforms_told(urls("/index.php?route=account&id={}"), {}, KNOWN) == ()
    assert platforms_told(urls("/wiki/Page_{}", "/about/{}"), {}, KNOWN) == ("wiki",)


def test_a_single_link_tells_nothing() -> None:
    some = urls("/about/{}", times=50)
    assert platforms_told([*some, "http://a.test/viewtopic.php?t=1"], {}, KNOWN) == ()
    assert platforms_told([], {}, KNOWN) == ()


def test_by_the_generator_of_most_pages() -> None:
    assert platforms_told([], {"Wiki 1.43": 9, "Other": 20}, KNOWN) == ()
    assert platforms_told([], {"wiki 1.43": 10, "Other": 20}, KNOWN) == ("wiki",)


def test_several_platforms_of_one_site() -> None:
    assert platforms_told(urls("/viewtopic.php?t={}", "/viewforum.php?f={}"), {"Wiki": 3}, KNOWN) == ("forum", "wiki")


def test_what_pages_and_responses_name() -> None:
    page = '<html><head><META NAME="generator" CONTENT=" MediaWiki 1.43 "><meta name="generator" content=""></head>'
    assert generator_of(parse(page)) == "MediaWiki 1.43"
    assert generator_of(parse("<p>no head")) is None
    assert with_generator(None, None) is None
    assert with_generator({"etag": "1"}, "W") == {"etag": "1", "x-generator": "W"}
    assert with_generator({"x-generator": "Drupal 11"}, "W") == {"x-generator": "Drupal 11"}
    told = generators_of([{"x-generator": "WordPress 6.8, WooCommerce"}, {"x-generator": "WordPress 6.8"}, {}, None])
    assert told == {"WordPress 6.8": 2, "WooCommerce": 1}
