"""The benchmark of a news site tells the truth: what it says of a page stands there, and its scores count both errors."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from scrapy.http import HtmlResponse

from .benchmarks.news import command, passing
from .benchmarks.news.crawling import CLOCK
from .benchmarks.news.scores import Piece, Response, Score, Served, count, score_item, served_of, without
from .benchmarks.news.site import NewsSite
from .benchmarks.news.spider import NewsSpider
from .benchmarks.news.world import DAY

NINE = 9 * 3600.0


def crawl_of(site: NewsSite, day: int) -> dict[str, Served]:
    """All pages on a day, as served one after the other."""
    now = site.world.start + day * DAY + NINE
    found = {target: site.respond(target, now, number) for number, target in enumerate(site.targets(now), 1)}
    return {target: served for target, served in found.items() if served is not None}


def texts(served: Served, *, lasts: bool) -> set[tuple[str, str]]:
    return {(piece.part, piece.text) for piece in served.pieces if piece.lasts is lasts}


@pytest.mark.parametrize("seed", range(3))
def test_a_site_shows_its_parts_and_what_lasts_changes_now_and_then(seed: int) -> None:
    site = NewsSite(seed)
    first, last = (crawl_of(site, day) for day in (0, 4))
    pages = [*first.values(), *last.values()]
    assert 80 <= len(first) <= len(last) <= 120
    kinds = {(piece.part, served.kind) for served in pages for piece in served.pieces if not piece.lasts}
    for part in site.passing.habits.parts:
        shown = {kind for each, kind in kinds if each == part}
        assert shown == set(passing.PAGES[part]) or (part in passing.COMES_AND_GOES and len(shown) > 1), part
    unclear = Counter(piece.part for served in pages for piece in served.unclear)
    assert unclear.total() - unclear[passing.MOST_READ] <= 4, "hardly any passing text cannot be looked for"
    assert {last[target].kind for target in last.keys() - first.keys()} == {"news"}
    changed = Counter[str]()
    for target in first.keys() & last.keys():
        before, after = (texts(served[target], lasts=True) for served in (first, last))
        changed.update({part for part, _ in before ^ after})
        assert first[target].kind != "static" or before == after
    for part in ("comment", "number of comments", "price", "paragraph", "headline", "forecast", "stock", "quote"):
        assert changed[part], part
    again = site.respond("/", first["/"].now + 1, 500)
    assert again is not None
    assert texts(again, lasts=True) == texts(first["/"], lasts=True)
    assert texts(again, lasts=False) != texts(first["/"], lasts=False)
    assert NewsSite(seed).respond("/", first["/"].now, 1) == first["/"]


def test_what_is_looked_for_is_a_whole_text_of_that_part_alone() -> None:
    assert count("214", "1,214 and 2140, 214.5 or 214-3, 214.") == 1
    assert count("/news/1", "/news/12 /news/1/ /news/1") == 2
    assert without(["3 March", "Monday, 3 March"], "Monday, 3 March: since 3 March 2025") == "\0: since \0 2025"
    response = Response(1, 0.0, "/", "front", Random(1))
    lasting, twice = response.lasts("title", "Old"), response.passes("most read", "Old")
    once = response.passes("ad", "New")
    served = response.served(f"<h1>{lasting}</h1><p>{twice}<p title='{once}'>")
    assert served.pieces == (Piece("title", "Old", lasts=True), Piece("ad", "New", lasts=False))
    assert served.unclear == (Piece("most read", "Old", lasts=False),)
    assert served_of(served.row()).pieces == served.pieces


def test_an_item_shows_what_passes_and_lacks_what_lasts() -> None:
    site = NewsSite(0)
    news = max((each for each in crawl_of(site, 2).values() if each.kind == "news"), key=lambda each: len(each.pieces))
    url = "http://127.0.0.1:1" + news.target
    spider = NewsSpider(start="http://127.0.0.1:1/", main=site.main, crawl="1", stats_file="stats.json")
    fields = spider.fields_of(HtmlResponse(url, body=news.html.encode(), encoding="utf-8"))

    def scored(*gone: str) -> Score:
        def left(value: Any) -> Any:
            if isinstance(value, dict):
                return {name: left(each) for name, each in value.items()}
            if isinstance(value, list):
                return list(map(left, value))
            for text in sorted(gone, key=len, reverse=True):
                value = value.replace(text, "")
            return value

        return score_item({"number": news.number, "url": url, **left(fields), "raw": fields}, news)

    whole = scored()
    assert (whole.served["text"], whole.served["html"], whole.shown["text"], whole.shown["html"]) == (1, 1, 1, 1)
    assert {part for part, kind in whole.passing if kind == "html"} == {part for part, _ in texts(news, lasts=False)}
    assert whole.lost == 0
    assert whole.values > 30
    clean = scored(*(text for _, text in texts(news, lasts=False)))
    assert (clean.shown["text"], clean.shown["html"], clean.lost) == (0, 0, 0)
    (author,) = (text for part, text in texts(news, lasts=True) if part == "author")
    lacking = scored(author.split()[-1])
    assert (lacking.lasting["author", "text"], lacking.lasting["author", "html"], lacking.lost) == ((1, 1), (1, 1), 2)
    assert lacking.missing == [f"{news.target} {kind}, author: {author}" for kind in ("text", "html")]


def test_checks_look_at_the_last_crawl_for_what_passes_and_at_all_for_what_lasts() -> None:
    clean = Score(items=100, served=Counter(text=100, html=100), shown=Counter(text=2, html=1))
    dirty = Score(items=100, shown=Counter(text=100, html=100), lasting={("price", "text"): (1, 9)})

    def missed(*scores: Score) -> list[str]:
        results = [command.Result(3, day, day, 100, 0, each) for day, each in enumerate(scores, 1)]
        return [check.name for check in command.checks(results) if not check.holds]

    assert missed(dirty, clean, clean) == []
    assert missed(dirty, dirty, clean) == ["seed 3: lasting values missing"]
    assert len(missed(clean, clean, dirty)) == 3


def test_processes_run_by_the_simulated_clock(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(CLOCK), "NEWS_CLOCK_SHIFT": "1e9", "NEWS_CLOCK_LOG": str(tmp_path / "clocks.txt")}
    asked = [sys.executable, "-c", "from time import time; print(time())"]
    shown = [
        float(subprocess.run(asked, env={**os.environ, **more}, stdout=subprocess.PIPE, text=True, check=True).stdout)
        for more in ({}, environment, {})
    ]
    assert shown[0] <= shown[1] - 1e9 <= shown[2]
    assert (tmp_path / "clocks.txt").read_text().startswith("other ")
