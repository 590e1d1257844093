"""The benchmark of a news site tells the truth: what it says of a page stands there, and its scores count both errors."""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scrapy.http import HtmlResponse

from tests.benchmarks.news import command, passing
from tests.benchmarks.news.crawling import CLOCK, Crawl
from tests.benchmarks.news.pieces import Piece, Response, Served, count, served_of, stands, views_of, without
from tests.benchmarks.news.scores import Score, score, score_item
from tests.benchmarks.news.site import NewsSite
from tests.benchmarks.news.spider import NewsSpider
from tests.benchmarks.news.world import DAY

SEEDS = (0, 1, 2)
NINE = 9 * 3600.0
DRAWN_ANEW = {
    *(passing.VISITORS, passing.ONLINE, passing.GENERATED, passing.AD_LINK, passing.RELATED, passing.CSRF_FIELD),
    *(passing.CSRF_META, passing.NONCE, passing.STATE, passing.COMMENT, passing.DATA, passing.BUSTER, passing.PIXEL),
}
BY_TIME = {passing.CLOCK, passing.DATE, passing.WEATHER, passing.MOST_READ}


@pytest.fixture(scope="module", params=SEEDS)
def site(request: pytest.FixtureRequest) -> NewsSite:
    return NewsSite(request.param)


def crawl_of(site: NewsSite, day: int, first: int = 1) -> list[Served]:
    """All pages on a day, as served one after the other."""
    now = site.world.start + day * DAY + NINE
    return [responded(site, target, now, number) for number, target in enumerate(site.targets(now), first)]


def responded(site: NewsSite, target: str, now: float, number: int = 1) -> Served:
    served = site.respond(target, now, number)
    assert served is not None
    return served


def texts(served: Served, *, lasts: bool) -> set[tuple[str, str]]:
    return {(piece.part, piece.text) for piece in served.pieces if piece.lasts is lasts}


# -- the site


def test_what_is_said_of_a_page_stands_there(site: NewsSite) -> None:
    pages = crawl_of(site, 4)
    assert 80 <= len(pages) <= 120
    for served in pages:
        views = views_of(served.html)
        absent = [piece for piece in served.pieces if not any(stands(piece.text, view) for view in views)]
        assert not absent, served.target
        assert texts(served, lasts=False)
        assert texts(served, lasts=True)


def test_a_site_has_the_parts_that_it_is_said_to_have(site: NewsSite) -> None:
    pages = [served for day in (0, 4) for served in crawl_of(site, day, 1000 * day)]
    kinds = {(piece.part, served.kind) for served in pages for piece in served.pieces if not piece.lasts}
    for part in site.passing.habits.parts:
        shown = {kind for each, kind in kinds if each == part}
        # What comes and goes need not be on the one page of a kind.
        assert shown == set(passing.PAGES[part]) or (part in passing.COMES_AND_GOES and len(shown) > 1), part
    parts = {piece.part for served in pages for piece in served.pieces if piece.lasts}
    for part in ("price", "stock", "quote", "change %", "rating", "comment", "number of comments", "author"):
        assert part in parts
    for part in ("date of publication", "last edited", "change log", "forecast", "paragraph", "opening hours"):
        assert part in parts


def test_hardly_any_passing_text_cannot_be_looked_for(site: NewsSite) -> None:
    pages = crawl_of(site, 2)
    unclear = Counter(piece.part for served in pages for piece in served.unclear)
    # A headline may be popular and new.
    del unclear[passing.MOST_READ]
    assert sum(unclear.values()) <= 2
    for part in (passing.MOST_READ, passing.RELATED):
        showing = [served for served in pages if any(piece.part == part for piece in served.pieces)]
        assert len(showing) >= 0.95 * sum(served.kind in passing.PAGES[part] for served in pages)


def test_passing_parts_differ_and_what_lasts_is_the_same_within_moments(site: NewsSite) -> None:
    differing = Counter[str]()
    for one in crawl_of(site, 1):
        other = responded(site, one.target, one.now + 1, one.number + 500)
        assert texts(one, lasts=True) == texts(other, lasts=True)
        for part in {piece.part for piece in one.pieces} & DRAWN_ANEW:
            shown = [{text for each, text in texts(served, lasts=False) if each == part} for served in (one, other)]
            differing[part] += shown[0] != shown[1]
    assert set(differing) == DRAWN_ANEW & site.passing.habits.parts
    assert all(differing.values())


def test_what_goes_by_time_differs_from_day_to_day(site: NewsSite) -> None:
    fronts = [responded(site, "/", site.world.start + day * DAY + NINE) for day in (0, 1)]
    for part in BY_TIME - {passing.CLOCK}:
        shown = [{text for each, text in texts(front, lasts=False) if each == part} for front in fronts]
        assert shown[0] != shown[1], part
    later = responded(site, "/", fronts[0].now + 125)
    assert {text for part, text in texts(later, lasts=False) if part == passing.CLOCK}.isdisjoint(
        text for part, text in texts(fronts[0], lasts=False) if part == passing.CLOCK
    )


def test_lasting_values_change_now_and_then(site: NewsSite) -> None:
    first, last = ({served.target: served for served in crawl_of(site, day)} for day in (0, 4))
    new = last.keys() - first.keys()
    assert 5 <= len(new) <= 12
    assert {last[target].kind for target in new} == {"news"}
    changed = Counter[str]()
    for target in first.keys() & last.keys():
        before, after = (texts(served[target], lasts=True) for served in (first, last))
        for part in {part for part, _ in before ^ after}:
            changed[part] += 1
    assert changed["stock"] >= 5
    assert changed["quote"] >= 20
    for part in ("comment", "number of comments", "price", "paragraph", "headline", "forecast"):
        assert changed[part], part
    static = [target for target, served in first.items() if served.kind == "static"]
    assert all(texts(first[target], lasts=True) == texts(last[target], lasts=True) for target in static)


def test_the_same_seed_is_the_same_site_and_another_one_has_other_names() -> None:
    one, again, other = (crawl_of(NewsSite(seed), 2) for seed in (5, 5, 6))
    assert [served.html for served in one] == [served.html for served in again]
    targets = [{served.target for served in pages} for pages in (one, other)]
    assert targets[0] & targets[1] == {"/"}
    names = [_names(pages[0].html) for pages in (one, other)]
    assert min(map(len, names)) > 10
    assert not names[0] & names[1]


def _names(html: str) -> set[str]:
    """Classes and ids of a page."""
    page = HtmlResponse("http://a.example/", body=html.encode(), encoding="utf-8")
    return {name for value in page.css("body *::attr(class), body *::attr(id)").getall() for name in value.split()}


def test_sites_speak_several_languages_and_have_several_parts() -> None:
    sites = [NewsSite(seed) for seed in range(12)]
    assert len({each.voice.language.code for each in sites}) == 3
    assert len({each.passing.habits.parts for each in sites}) > 4


# -- what stands in a text


def test_a_text_stands_where_no_word_or_number_goes_on() -> None:
    assert count("214", "1,214 and 2140, 214.5 or 214-3, 214.") == 1
    assert count("/news/1", "/news/12 /news/1/ /news/1") == 2
    assert count("12 comments", "112 comments, 12 comments") == 1
    assert not stands("rain", "train rains")
    assert without(["3 March", "Monday, 3 March"], "Monday, 3 March: since 3 March 2025") == "\0: since \0 2025"


def test_a_passing_text_that_stands_elsewhere_too_is_no_truth() -> None:
    response = Response(1, 0.0, "/", "front", passing.Random(1))
    lasting, twice, once = (
        response.lasts("title", "Old"),
        response.passes("most read", "Old"),
        response.passes("ad", "New"),
    )
    served = response.served(f"<h1>{lasting}</h1><p>{twice}<p title='{once}'>")
    assert served.pieces == (Piece("title", "Old", lasts=True), Piece("ad", "New", lasts=False))
    assert served.unclear == (Piece("most read", "Old", lasts=False),)
    assert served_of(served.row()).pieces == served.pieces


# -- scores


@pytest.fixture(scope="module")
def news() -> Served:
    site = NewsSite(0)
    return max((served for served in crawl_of(site, 2) if served.kind == "news"), key=lambda served: len(served.pieces))


def item_of(served: Served, change: Callable[[str], str] = lambda text: text) -> dict[str, Any]:
    """The item of a response, with a change made to each of its strings."""
    url = "http://127.0.0.1:1" + served.target
    page = HtmlResponse(url, body=served.html.encode(), encoding="utf-8")
    spider = NewsSpider(start="http://127.0.0.1:1/", main=NewsSite(0).main, crawl="1", stats_file="stats.json")
    fields = spider.fields_of(page)

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: changed(each) for name, each in value.items()}
        return [change(each) for each in value] if isinstance(value, list) else change(value)

    return {"number": served.number, "url": url, **changed(fields), "raw": fields}


def test_an_item_as_served_shows_what_passes_and_lacks_nothing(news: Served) -> None:
    found = score_item(item_of(news), news)
    assert (found.served["text"], found.served["html"], found.shown["text"], found.shown["html"]) == (1, 1, 1, 1)
    assert all(counts == (1, 1) for counts in found.passing.values())
    assert found.standing == {(part, "news"): 1 for part, _ in found.passing}
    assert {part for part, kind in found.passing if kind == "html"} == {part for part, _ in texts(news, lasts=False)}
    assert found.lost == 0
    assert found.values > 30


def test_an_item_without_what_passes_shows_nothing_and_lacks_nothing(news: Served) -> None:
    gone = sorted((text for _, text in texts(news, lasts=False)), key=len, reverse=True)

    def strip(text: str) -> str:
        for each in gone:
            text = text.replace(each, "")
        return text

    found = score_item(item_of(news, strip), news)
    assert (found.served["text"], found.served["html"], found.shown["text"], found.shown["html"]) == (1, 1, 0, 0)
    assert (found.lost, found.missing) == (0, [])


def test_a_lasting_value_that_is_gone_is_named(news: Served) -> None:
    (author,) = (text for part, text in texts(news, lasts=True) if part == "author")
    name = author.split()[-1]
    found = score_item(item_of(news, lambda text: text.replace(name, "")), news)
    assert found.lasting["author", "text"] == (1, 1)
    assert found.lasting["author", "html"] == (1, 1)
    assert found.lost == 2
    assert found.missing == [f"{news.target} {kind}, author: {author}" for kind in ("text", "html")]


def test_an_item_that_was_never_served_is_no_item(news: Served) -> None:
    item = item_of(news)
    assert score(Crawl(0.0, [item], {news.number: news}, {}, 0.0)).items == 1
    with pytest.raises(RuntimeError, match="never served"):
        score(Crawl(0.0, [item], {}, {}, 0.0))
    more = Served(news.number, 0.0, news.target, "news", "", (Piece("ad", "not on the page", lasts=False),))
    with pytest.raises(RuntimeError, match="without"):
        score_item(item, more)


def test_checks_look_at_the_last_crawl_for_what_passes_and_at_all_for_what_lasts() -> None:
    clean = Score(items=100, served=Counter(text=100, html=100), shown=Counter(text=2, html=1))
    dirty = Score(items=100, shown=Counter(text=100, html=100), lasting={("price", "text"): (1, 9)})

    def missed(*scores: Score) -> list[str]:
        results = [command.Result(3, day, day, 100, 0, each) for day, each in enumerate(scores, 1)]
        return [check.name for check in command.checks(results) if not check.holds]

    assert missed(dirty, clean, clean) == []
    assert missed(dirty, dirty, clean) == ["seed 3: lasting values missing"]
    assert len(missed(clean, clean, dirty)) == 3


def test_one_crawl_is_nothing_to_measure(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--days", "1"])
    assert "two are needed" in capsys.readouterr().err


# -- the clock


def test_processes_run_by_the_simulated_clock(tmp_path: Path) -> None:
    log = tmp_path / "clocks.txt"
    environment = {"PYTHONPATH": str(CLOCK), "NEWS_CLOCK_SHIFT": "-1e8", "NEWS_CLOCK_LOG": str(log)}
    asked = "from time import time; print(time())"
    before = time.time()
    done = subprocess.run(
        [sys.executable, "-c", asked], env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True
    )
    after = time.time()
    assert before <= float(done.stdout) + 1e8 <= after
    assert log.read_text().startswith("other ")
