"""Items keep all that lasts: no price, stock figure, token or date of a page is ever gone, and fields that are not named are as they were served."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scrapy.http import HtmlResponse

from .benchmarks import items
from .benchmarks.items import Shop, Site, crawled, differences, gone, lines_of
from .benchmarks.news.scores import Score, score_item
from .benchmarks.sites.parts import LASTING


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Site]:
    """A news site and a shop of few pages, crawled on three days."""
    figures = (*LASTING, "reference", "E1", "E2", "E3", "E6", "main values")
    return crawled([items.News(0, 3), Shop("shop", figures, 3)], tmp_path_factory.mktemp("items") / "project")


def test_what_lasts_is_there_and_what_passes_is_gone(sites: Sequence[Site]) -> None:
    news, shop = (
        sum((score_item(item, site.served[item["number"]]) for item in site.items), Score()) for site in sites
    )
    assert not news.missing
    assert not shop.missing
    for part in (
        "price",
        "stock",
        "date of publication",
        "closing price",
        "number of reviews",
        "last edited",
        "opening hours",
    ):
        assert news.lasting[part, "text"][1], f"a {part} was served"
    for part in ("offer", "stock figure", "published", "reference", "E1", "E3"):
        assert shop.lasting[part, "html"][1], f"a {part} was served"
    for part, site in (("visitor counter", news), ("weather", news), ("clock", shop), ("visitors", shop)):
        shown, served = site.passing[part, "text"]
        assert shown <= served / 2, f"the {part} is gone"


def test_values_that_show_no_text_stay(sites: Sequence[Site]) -> None:
    for item in sites[1].items:
        for name in ("data-price", "data-id", "href", "option"):
            assert item["page"].count(f"{name}=") == item["raw"]["page"].count(f"{name}="), name


def test_fields_that_are_not_named_are_as_they_were_served(sites: Sequence[Site]) -> None:
    spider: Any = items.ItemsSpider.__new__(items.ItemsSpider)
    for site in sites:
        assert len(site.items) > len(site.source.targets())
        spider.main = site.source.main
        for item in site.items:
            html = site.served[item["number"]].html
            response = HtmlResponse(item["url"], body=html.encode(), encoding="utf-8")
            assert item["raw"] == spider.fields_of(response)
            assert set(item) == {"number", "url", "raw", *spider.fields_of(response)}


def test_each_difference_is_told_by_its_field(
    sites: Sequence[Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = list(lines_of(sites[1]))
    monkeypatch.setattr(items, "FROZEN", tmp_path / "items.jsonl.gz")
    items.write(lines)
    assert items.read() == lines
    assert not list(differences(items.read(), lines))
    first, second, third, *others = lines
    other = {**first, "text": [*first["text"][1:], "55 euros"]}
    said = list(differences(lines, [other, {**second, "served": "other"}, *others]))
    name = f"shop {first['target']} (1)"
    assert said == [
        f"{name} text: gone now ['55 euros'], no longer gone {first['text'][:1]}",
        f"shop {second['target']} (2): another page was served",
        f"shop {third['target']} (3): the item is gone",
    ]


def test_what_is_gone_of_a_text() -> None:
    assert gone("now 12:30, 5 left", "now, 5 left") == [" 12:30"]
    assert gone("5 left", "5 left") == []
    assert gone("5 left", "five left") is None
