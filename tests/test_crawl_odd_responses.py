"""Odd responses with status 200 (hardly any text, a wall, a soft block) stand for no page: another URL of it is fetched."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import scrapy

from scrapy_dedup.crawl.seen import odd_responses, replay_schedule
from scrapy_dedup.learning.lifetime.running_counts import checks_in
from scrapy_dedup.rules import Ignore, Status
from scrapy_dedup.store.store import Store

from .conftest import Serve
from .crawling import STORE, Links, Outcome, crawl, crawler_of, in_reactor, messages, rule, run, write_rules
from .server import Asked, as_json, page, prose

PAGES, COPIES = 16, 4
ORDINARY = 1 + PAGES * COPIES
_FRAME = "<!doctype html><html><head><title>{}</title></head><body>{}</body></html>"
_WAIT = "<h1>One moment please</h1><p>" + prose("wait", 50) + "</p>"

#: What is sent in the place of a page: of the number of the request and its target.
HARDLY_ANY_TEXT: dict[str, Callable[[int, str], Any]] = {
    "three words": lambda number, target: _FRAME.format("Busy", "<h1>Service busy</h1>"),
    "empty body": lambda number, target: _FRAME.format("", ""),
    "blanks": lambda number, target: " " * 200,
    "blank": lambda number, target: "",
    "shell": lambda number, target: _FRAME.format("Shop", "<div id=app></div><noscript>Switch on scripts</noscript>"),
}
LIKE_OTHERS: dict[str, Callable[[int, str], Any]] = {
    "error": lambda number, target: page("Sorry, something went wrong on our side " + prose("error", 20), "/"),
    "soft block": lambda number, target: _FRAME.format("Wait", _WAIT),
    "soft block with a clock": lambda number, target: _FRAME.format("Wait", f"{_WAIT}<p>It is 12:{number:02}:00</p>"),
    "soft block with the URL": lambda number, target: _FRAME.format("Wait", f"{_WAIT}<p>You asked for {target}</p>"),
    "JSON": lambda number, target: as_json({"error": "busy"}),
}


class Shop:
    """Pages under several session ids; *bad* says which requests for a page get the odd response."""

    def __init__(self, odd: Callable[[int, str], Any], bad: Callable[[int, int], bool]) -> None:
        self._odd = odd
        self._bad = bad
        self._number = 0
        self.asked: Counter[str] = Counter()
        self.shown: set[str] = set()

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/p?id={i}&sid=s{i}x{copy}" for copy in range(COPIES) for i in range(PAGES)))
        name = asked.query["id"]
        self._number += 1
        self.asked[name] += 1
        if self._bad(self._number, self.asked[name]):
            return self._odd(self._number, asked.target)
        self.shown.add(name)
        return page(prose(name), "/")


async def crawl_shop(serve: Serve, shop: Shop, **settings: Any) -> Outcome:
    """Crawl it with a rule that was learned."""
    server = serve(shop)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}, status=Status.ACTIVE))
    return Outcome(await crawl(Links, server.url("/"), CONCURRENT_REQUESTS=1, **settings), server)


@pytest.mark.parametrize("sample", [0, 0.02])
@pytest.mark.parametrize("kind", HARDLY_ANY_TEXT)
@in_reactor
async def test_hardly_any_text_stands_for_no_page(serve: Serve, kind: str, sample: float) -> None:
    """The first URL of every page is answered so; the site answers well from then on."""
    shop = Shop(HARDLY_ANY_TEXT[kind], lambda _, time: time == 1)
    done = await crawl_shop(serve, shop, DEDUP_SAMPLE=sample)
    assert len(shop.shown) == PAGES, "no page is lost"
    confirmed = done.dedup().get("samples/confirmed", 0)
    assert done.server.downloads <= 1 + 2 * PAGES + confirmed + 6 < ORDINARY, "and no more is fetched than that needs"
    assert done.faults() == []


@pytest.mark.parametrize("kind", LIKE_OTHERS)
@in_reactor
async def test_what_unrelated_urls_show_stands_for_no_page(serve: Serve, kind: str) -> None:
    shop = Shop(LIKE_OTHERS[kind], lambda _, time: time == 1)
    done = await crawl_shop(serve, shop, DEDUP_SAMPLE=0.02)
    stats = done.dedup()
    assert len(shop.shown) == PAGES
    assert "refuted" not in stats, "the rule is right, and stays"
    assert done.server.downloads <= 1 + 2 * PAGES + stats["samples/confirmed"] + 6 < ORDINARY
    assert done.faults() == []


@pytest.mark.parametrize("kind", HARDLY_ANY_TEXT)
@in_reactor
async def test_one_answer_in_five_has_hardly_any_text(serve: Serve, kind: str) -> None:
    shop = Shop(HARDLY_ANY_TEXT[kind], lambda number, _: number % 5 == 2)
    done = await crawl_shop(serve, shop, DEDUP_SAMPLE=0.1)
    assert len(shop.shown) == PAGES
    assert done.server.downloads < ORDINARY
    assert done.faults() == []


@pytest.mark.parametrize("kind", LIKE_OTHERS)
@in_reactor
async def test_what_few_pages_of_a_kind_show_needs_no_spot_check(serve: Serve, kind: str) -> None:
    """One answer in eight: the first URLs of two pages; nothing but the other pages tells that it is none."""
    shop = Shop(LIKE_OTHERS[kind], lambda number, _: number % 8 == 2)
    done = await crawl_shop(serve, shop)
    assert len(shop.shown) == PAGES
    assert done.server.downloads <= 1 + PAGES + 4
    assert done.faults() == []


@in_reactor
async def test_the_rest_of_the_odd_responses_is_fetched_before_the_end(serve: Serve) -> None:
    """Once one of them is known, those that come later are released at once."""
    shop = Shop(LIKE_OTHERS["soft block with a clock"], lambda number, _: number in {2, 5, 9, 13, 18, 20})
    done = await crawl_shop(serve, shop)
    assert len(shop.shown) == PAGES
    assert done.server.downloads <= 2 + PAGES + 6
    assert done.faults() == []


@pytest.mark.parametrize("rest", [4, 1_000_000])
@in_reactor
async def test_a_page_may_be_odd_again_once_the_content_is_known(
    serve: Serve, rest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three pages that are tried the second shows it again, and the others show pages: those speak of its first URL.

    After a long *rest* the ledger is not read again before the spider is about to run idle, as where that takes long.
    """
    monkeypatch.setattr(replay_schedule, "_REST", rest)
    Store.open(STORE).close()  # of a crawl before: the ledger is read as this one opens
    tried: list[int] = []

    def bad(number: int, time: int) -> bool:
        if time == 2:
            tried.append(number)
        return number in {2, 5, 9} or (time == 2 and len(tried) == 2)

    shop = Shop(LIKE_OTHERS["soft block with a clock"], bad)
    done = await crawl_shop(serve, shop)
    assert len(shop.shown) == PAGES
    assert done.server.downloads == 2 + PAGES + 4
    assert done.faults() == []


@in_reactor
async def test_two_pages_may_show_what_the_other_one_has_shown(serve: Serve) -> None:
    """The last two pages of the crawl: each is tried again, and shows what was odd of the other one."""
    shown: dict[str, int] = {}

    def odd(number: int, target: str) -> Any:
        name = target.partition("&")[0]
        shown[name] = 1 - shown.get(name, number % 2)
        return _FRAME.format("Busy", f"<h1>{('Service busy', 'Come back later')[shown[name]]}</h1>")

    shop = Shop(odd, lambda number, _: PAGES - 2 < number <= PAGES + 2)
    done = await crawl_shop(serve, shop)
    assert len(shop.shown) == PAGES
    assert done.server.downloads == 2 + PAGES + 4
    assert done.faults() == []


@pytest.mark.parametrize("filling", ["", "<script>" + "x = 1;" * 60_000 + "</script>"])
@in_reactor
async def test_a_page_that_comes_while_what_is_before_idle_is_done(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, filling: str
) -> None:
    """The spider is fed with two URLs of a last page; the first one shows a wall, which the thread that writes looks at later."""
    asked: Counter[str] = Counter()

    def site(request: Asked) -> Any:
        if request.path == "/":
            return page("start", *(f"/p?id={number}&sid={sid}" for sid in range(2) for number in range(8)))
        name = request.query["id"]
        asked[name] += 1
        if name == "last" and asked[name] == 1:
            return _FRAME.format("Busy", f"<h1>Service busy</h1>{filling}")
        return page(prose(name))

    class Fed(Links):
        def parse(self, response: Any) -> Any:
            yield from super().parse(response)
            if "id=last" in response.url and not fed.done():
                fed.set_result(None)

    async def run_in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
        found = await unhurried(function, *arguments)
        if not asked["last"] and function.__name__ == "flush":
            for sid in range(2):
                crawler.engine.crawl(scrapy.Request(server.url(f"/p?id=last&sid={sid}"), crawler.spider.parse))  # type: ignore[union-attr]
            await fed
        return found

    fed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    unhurried = odd_responses.run_in_thread
    monkeypatch.setattr(odd_responses, "run_in_thread", run_in_thread)
    server = serve(site)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}, status=Status.ACTIVE))
    crawler = crawler_of(Fed, CONCURRENT_REQUESTS=1, DEDUP_SAMPLE=0)
    await run(crawler, server.url("/"))
    assert asked["last"] == 2
    assert server.downloads < 1 + 2 * 9


@in_reactor
async def test_pages_that_are_alike_are_tried_three_times(serve: Serve) -> None:
    """Five lists of sixteen are empty, and say so: that is how they are, and the others are not fetched again."""

    def results(number: int, target: str) -> Any:
        name = target.partition("id=")[2].partition("&")[0]
        return page("Nothing was found: " + prose("none", 30) if int(name) % 3 == 1 else prose(name))

    shop = Shop(results, lambda *_: True)
    done = await crawl_shop(serve, shop)
    assert done.server.downloads == 1 + PAGES + 3
    assert max(shop.asked.values()) == 2
    assert done.faults() == []


@in_reactor
async def test_where_most_pages_are_alike_none_is_fetched_again(serve: Serve) -> None:
    shop = Shop(
        lambda number, target: page("Nothing was found: " + prose("none", 30)), lambda number, _: number % 3 > 0
    )
    done = await crawl_shop(serve, shop)
    assert max(shop.asked.values()) == 1
    assert done.faults() == []


@in_reactor
async def test_where_all_pages_have_hardly_any_text_one_is_fetched_again(serve: Serve) -> None:
    shop = Shop(lambda number, target: page(target.partition("&")[0][-2:]), lambda *_: True)
    done = await crawl_shop(serve, shop)
    assert done.server.downloads == 1 + PAGES + 1
    assert max(shop.asked.values()) == 2
    assert done.faults() == []


@in_reactor
async def test_short_pages_among_others_are_fetched_twice(serve: Serve) -> None:
    """Pages that are short by themselves, of a kind of which others are not: each shows what no other does, again."""

    def short_or_not(number: int, target: str) -> Any:
        name = target.partition("id=")[2].partition("&")[0]
        return page(f"stub {name}") if int(name) % 2 else page(prose(name))

    shop = Shop(short_or_not, lambda *_: True)
    done = await crawl_shop(serve, shop)
    assert 1 + PAGES < done.server.downloads <= 1 + PAGES + PAGES // 2
    assert max(shop.asked.values()) == 2


@in_reactor
async def test_short_answers_of_json_are_pages(serve: Serve) -> None:
    shop = Shop(lambda number, target: as_json({"ok": target.partition("&")[0]}), lambda *_: True)
    done = await crawl_shop(serve, shop, DEDUP_SAMPLE=0)
    assert done.server.downloads == 1 + PAGES


@in_reactor
async def test_undecided_spot_checks_may_be_other_pages(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """A spot check that gets no page says nothing of the rule, and nothing good: no figure may leave it out."""
    shop = Shop(HARDLY_ANY_TEXT["three words"], lambda _, time: time > 1)
    with caplog.at_level("INFO"):
        done = await crawl_shop(serve, shop, DEDUP_SAMPLE=0.2)
    stats = done.dedup()
    assert stats["samples"] >= 5
    assert stats["samples/undecided"] == stats["samples"]
    assert stats["avoided/lost_at_most"] > 0.9 * stats["avoided"]
    told = "\n".join(messages(caplog, 20, "scrapy_dedup.crawl.report.closing"))
    assert f"0 duplicates, {stats['samples']} of which nobody can tell" in told
    assert "may be other pages" not in told
    assert [row.undecided for row in checks_in(str(STORE), "")] == [stats["samples"]]
