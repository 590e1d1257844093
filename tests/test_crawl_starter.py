"""Starter refetches: how many pages are fetched again before anything is saved, when, and how."""

from collections import Counter
from typing import Any

import pytest
from scrapy import Request, signals

from scrapy_dedup.crawl.shared import Shared

from .conftest import Serve
from .crawling import Crawl, Links, crawl, crawler_of, in_reactor, run
from .server import Answer, Asked, Server, page, prose, redirect

PAGES = 300
ON = {"DEDUP_LEARN": "live", "DEDUP_STARTER": 12}


class Numbered:
    """A start page that links *pages* pages, all with a text of their own; what was asked for is kept in order."""

    def __init__(self, pages: int = PAGES) -> None:
        self.pages = pages
        self.asked: list[Asked] = []
        self.again: Any = None

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            return 404
        first = asked.target not in {each.target for each in self.asked}
        self.asked.append(asked)
        if not first and self.again is not None:
            return self.again
        if asked.path == "/":
            return page("start", *(f"/p/{number}" for number in range(self.pages)))
        return page(prose(asked.target))


class Backwards(Links):
    """Fetches what was linked first at first."""

    custom_settings = {
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }


def refetched(server: Server) -> list[str]:
    """Return the targets that were asked for more than once."""
    return sorted(target for target, count in server.hits.items() if count > 1)


async def suggested(
    server: Server, numbers: "range", after: int, spider: type[Links] = Links, **settings: Any
) -> Crawl:
    """Crawl, with a learning that names some pages when so many responses have come."""
    crawler = crawler_of(spider, **{**ON, "CONCURRENT_REQUESTS": 1, **settings})
    site = f"127.0.0.1:{server.port}"
    came = Counter[str]()

    def suggest() -> None:
        came["responses"] += 1
        if came["responses"] == after:
            urls = [server.url(f"/p/{number}") for number in numbers]
            Shared.of(crawler).extras.starter.suggest([site], {site: urls})

    crawler.signals.connect(suggest, signals.response_received, weak=False)
    return await run(crawler, server.url("/"))


@in_reactor
async def test_pages_are_fetched_again_while_much_is_queued(serve: Serve) -> None:
    site = Numbered()
    server = serve(site)
    done = await suggested(server, range(3), after=60, spider=Backwards)
    assert done.dedup()["starter/requests"] == done.dedup()["revisits"] == done.dedup()["revisits/recorded"] == 3
    assert refetched(server) == ["/p/0", "/p/1", "/p/2"]
    order = [asked.target for asked in site.asked]
    last = max(number for number, target in enumerate(order) if target in order[:number])
    assert last < PAGES / 2, "and not when nothing else is left"
    assert len(done.items) == PAGES + 1, "callbacks never see them"


@in_reactor
@pytest.mark.parametrize(("after", "most", "number"), [(60, 12, 4), (260, 12, 5), (260, 2, 2), (60, 0, 0)])
async def test_the_budget_is_kept(serve: Serve, after: int, most: int, number: int) -> None:
    """2 % of the pages that have come and 4 in any case, as the setting allows; counted at the server."""
    server = serve(Numbered())
    done = await suggested(server, range(20), after=after, spider=Backwards, DEDUP_STARTER=most)
    assert server.downloads == PAGES + 1 + number
    assert done.dedup().get("starter/requests", 0) == number


@in_reactor
async def test_a_refetch_is_the_request_that_fetched_the_page(serve: Serve) -> None:
    class Named(Backwards):
        async def start(self) -> Any:
            yield Request(
                self.start_urls[0], headers={"X-Name": "a"}, cookies={"who": "b"}, meta={"download_slot": "c"}
            )

        def start_requests(self) -> Any:
            yield Request(
                self.start_urls[0], headers={"X-Name": "a"}, cookies={"who": "b"}, meta={"download_slot": "c"}
            )

        def parse(self, response: Any) -> Any:
            for request in super().parse(response):
                yield request.replace(headers={"X-Name": "d"}) if isinstance(request, Request) else request

    site = Numbered(80)
    server = serve(site)
    await suggested(server, range(2), after=50, spider=Named)
    for target in refetched(server):
        first, again = (asked.headers for asked in site.asked if asked.target == target)
        assert first == again
    assert len(refetched(server)) == 2


@in_reactor
@pytest.mark.parametrize("again", [503, 429, Answer(hang_up=True)])
async def test_a_site_that_answers_with_an_error_is_left_alone(serve: Serve, again: Any) -> None:
    site = Numbered(100)
    site.again = again
    server = serve(site)
    done = await suggested(server, range(4), after=60, spider=Backwards)
    assert len(refetched(server)) == 1
    assert len(done.items) == 101


@in_reactor
async def test_redirects_and_what_is_not_known_are_not_fetched_again(serve: Serve) -> None:
    pages = Numbered(60)

    def answer(asked: Asked) -> Any:
        return redirect("/p/9") if asked.path == "/p/0" else pages(asked)

    server = serve(answer)
    crawler = crawler_of(Backwards, **ON)
    site = f"127.0.0.1:{server.port}"

    def suggest() -> None:
        urls = [server.url(path) for path in ("/p/0", "/never/linked")]
        Shared.of(crawler).extras.starter.suggest([site], {site: urls})

    crawler.signals.connect(suggest, signals.scheduler_empty, weak=False)
    await run(crawler, server.url("/"))
    assert server.hits["/p/0"] == 1
    assert server.hits["/never/linked"] == 0


@in_reactor
async def test_nothing_is_fetched_again_where_a_cache_answers(serve: Serve) -> None:
    server = serve(Numbered(100))
    await suggested(server, range(4), after=60, spider=Backwards, HTTPCACHE_ENABLED=True)
    assert not refetched(server)


@in_reactor
async def test_nothing_is_fetched_again_where_texts_are_not_stored(serve: Serve) -> None:
    server = serve(Numbered(100))
    await suggested(server, range(4), after=60, spider=Backwards, DEDUP_STORE_TEXTS=False)
    assert not refetched(server)


@in_reactor
async def test_they_count_towards_the_number_of_pages_after_which_a_spider_closes(serve: Serve) -> None:
    server = serve(Numbered(200))
    done = await suggested(server, range(4), after=60, spider=Backwards, CLOSESPIDER_PAGECOUNT=80)
    assert done.stats["finish_reason"] == "closespider_pagecount"
    assert server.downloads <= 82


class Ticking(Numbered):
    """Every response shows teasers drawn anew; every page is linked under two session ids."""

    TEASERS = [
        f"{one} {other} today" for one in "Ten Why How Our Best Meet".split() for other in "lamps boats hats".split()
    ]

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            return 404
        self.asked.append(asked)
        shift = 7 * len(self.asked) % len(self.TEASERS)
        drawn = [self.TEASERS[(shift + step * (1 + shift % 5)) % len(self.TEASERS)] for step in range(3)]
        block = "<ul class=teasers>" + "".join(f"<li><a>{text}</a></li>" for text in drawn) + "</ul>"
        links = [f"/p/{k}?sid={k}{name}" for k in range(self.pages) for name in "xy"] if asked.path == "/" else []
        body = page(f"the page {asked.path} " + prose(asked.path), *links)
        return body.replace("<body>", "<body>" + block)


@in_reactor
@pytest.mark.parametrize("learn", ["live", "close"])
async def test_a_site_that_draws_teasers_anew_is_learned_in_its_first_crawl(serve: Serve, learn: str) -> None:
    """Nothing is equal, nothing is fetched twice; what to fetch again is found from pages that are alike."""
    server = serve(Ticking(60))
    done = await crawl(Backwards, server.url("/"), **{**ON, "DEDUP_LEARN": learn, "CONCURRENT_REQUESTS": 2})
    stats = done.dedup()
    assert 0 < stats["starter/requests"] <= 4
    assert {item["url"].partition("?")[0] for item in done.items} >= {server.url(f"/p/{k}") for k in range(60)}, (
        "no page is lost"
    )
    downloads = server.downloads
    again = await crawl(Backwards, server.url("/"), **{**ON, "DEDUP_LEARN": learn})
    assert {item["url"].partition("?")[0] for item in again.items} >= {server.url(f"/p/{k}") for k in range(60)}
    assert server.downloads - downloads <= 61 + 12, "the second crawl downloads each page once"
