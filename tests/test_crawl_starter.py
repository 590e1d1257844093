"""Starter refetches: how many pages are fetched again before anything is saved, when, and how."""

import logging
import threading
from collections import Counter
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.crawl.learn.schedule import LearningSchedule
from scrapy_dedup.crawl.own_requests.request_budgets import STARTER_SHARE

from .conftest import Serve
from .crawling import LEARNED, Crawl, Links, close, crawl, crawler_of, in_reactor, messages, run, when_counted
from .server import Answer, Asked, Server, page, prose, redirect
from .waiting import PATIENCE

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
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    }


def refetched(server: Server) -> list[str]:
    """Return the targets that were asked for more than once."""
    return sorted(target for target, count in server.hits.items() if count > 1)


async def suggested(
    server: Server, numbers: "range", after: int, spider: type[Links] = Links, **settings: Any
) -> Crawl:
    """Crawl, with a learning that names some pages when so many responses have come, and none of its own before the end."""
    crawler = crawler_of(spider, **{**ON, "DEDUP_LEARN": "close", "CONCURRENT_REQUESTS": 1, **settings})
    site = f"127.0.0.1:{server.port}"
    came = Counter[str]()

    def suggest() -> None:
        came["responses"] += 1
        if came["responses"] == after:
            urls = [server.url(f"/p/{number}") for number in numbers]
            CrawlComponents.of(crawler).starter.suggest([site], {site: urls})

    crawler.signals.connect(suggest, signals.response_received, weak=False)
    return await run(crawler, server.url("/"))


@in_reactor
async def test_pages_are_fetched_again_while_much_is_queued(serve: Serve, caplog: Any) -> None:
    caplog.set_level("INFO")
    site = Numbered()
    server = serve(site)
    done = await suggested(server, range(3), after=60, spider=Backwards)
    assert done.dedup()["starter/requests"] == done.dedup()["revisits"] == done.dedup()["revisits/recorded"] == 3
    assert refetched(server) == ["/p/0", "/p/1", "/p/2"]
    order = [asked.target for asked in site.asked]
    last = max(number for number, target in enumerate(order) if target in order[:number])
    assert last < PAGES / 2, "and not when nothing else is left"
    assert len(done.items) == PAGES + 1, "callbacks never see them"
    assert "scrapy-dedup: extra requests: 3 refetches" in messages(caplog, logging.INFO)


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
        CrawlComponents.of(crawler).starter.suggest([site], {site: urls})

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
    server = serve(Numbered())
    done = await suggested(server, range(4), after=60, spider=Backwards, CLOSESPIDER_PAGECOUNT=80)
    assert done.stats["finish_reason"] == "closespider_pagecount"
    assert server.downloads <= 82


@in_reactor
async def test_a_site_that_answers_with_an_error_leaves_the_others_theirs(serve: Serve) -> None:
    pages = Numbered(45)
    failed: list[Asked] = []

    def answer(asked: Asked) -> Any:
        known = {(each.host, each.target) for each in pages.asked}
        if asked.host.startswith("localhost") and (asked.host, asked.target) in known:
            failed.append(asked)
            return 503
        return Numbered.__call__(pages, asked)

    server = serve(answer)
    hosts = ("127.0.0.1", "localhost")
    crawler = crawler_of(Backwards, **ON)

    def suggest() -> None:
        starter = CrawlComponents.of(crawler).starter
        urls = {f"{host}:{server.port}": [server.url(f"/p/{n}", host) for n in range(9)] for host in hosts}
        if server.downloads == 2 * 46:
            starter.suggest(urls.keys(), urls)

    crawler.signals.connect(suggest, signals.scheduler_empty, weak=False)
    done = await run(crawler, *(server.url("/", host) for host in hosts))
    assert server.downloads == 2 * 46 + 3 + 1, "4 in any case, of a crawl, too"
    assert len(failed) == 1
    assert done.dedup()["starter/requests"] == 4


@in_reactor
async def test_a_crawl_of_many_small_hosts_costs_hardly_more_than_without(serve: Serve) -> None:
    """At most 2 % of the pages of the crawl are fetched again, however many sites there are to learn."""
    servers = [serve(Numbered(20 + 3 * number)) for number in range(10)]
    pages = sum(21 + 3 * number for number in range(10))
    crawler = crawler_of(Backwards, **ON)

    def suggest() -> None:
        urls = {f"127.0.0.1:{server.port}": [server.url(f"/p/{k}") for k in range(4)] for server in servers}
        CrawlComponents.of(crawler).starter.suggest(urls.keys(), urls)

    crawler.signals.connect(suggest, signals.scheduler_empty, weak=False)
    done = await run(crawler, *(server.url("/") for server in servers))
    assert len(done.items) == pages
    assert pages + 4 <= sum(server.downloads for server in servers) <= 1.02 * pages
    assert all(len(refetched(server)) <= 4 for server in servers)


@in_reactor
@pytest.mark.parametrize(("after", "number"), [(45, 0), (60, 1), (160, 3)])
async def test_a_run_that_goes_on_with_a_job_may_spend_a_share_of_its_pages(
    serve: Serve, after: int, number: int
) -> None:
    """What earlier runs have spent is not known."""
    server = serve(Numbered())
    job = {"JOBDIR": "job", "spider": Backwards}
    first = await suggested(server, range(9), after=60, CLOSESPIDER_PAGECOUNT=80, **job)
    assert first.dedup()["starter/requests"] == 4
    server.reset()
    second = await suggested(server, range(100, 120), after=after, **job)
    assert second.stats["finish_reason"] == "finished"
    assert second.dedup().get("starter/requests", 0) == number
    assert len(refetched(server)) == number


@in_reactor
async def test_what_robots_txt_forbids_is_not_fetched(serve: Serve) -> None:
    pages = Numbered(100)

    def answer(asked: Asked) -> Any:
        return "User-agent: *\nDisallow: /p/0" if asked.path == "/robots.txt" else pages(asked)

    server = serve(answer)
    done = await suggested(server, range(2), after=60, spider=Backwards, ROBOTSTXT_OBEY=True)
    assert server.hits["/p/0"] == 0
    assert refetched(server) == ["/p/1"]
    assert done.dedup()["starter/requests"] == 1


class Refuses:
    """A downloader middleware that lets no request of the plug-in's own pass."""

    def process_request(self, request: Request, spider: Any = None) -> None:
        if request.callback is NO_CALLBACK:
            raise IgnoreRequest


@in_reactor
async def test_what_a_middleware_refuses_costs_nothing(serve: Serve) -> None:
    server = serve(Numbered(100))
    middlewares = {Refuses: 50}
    done = await suggested(server, range(3), after=60, spider=Backwards, DOWNLOADER_MIDDLEWARES=middlewares)
    assert not refetched(server)
    assert done.dedup()["starter/requests"] == 0


@in_reactor
async def test_a_spider_that_is_closed_is_not_kept_by_them(serve: Serve) -> None:
    class Stops(Backwards):
        @classmethod
        def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
            spider = super().from_crawler(crawler, *args, **kwargs)
            crawler.signals.connect(spider.received, signals.response_received)
            return spider

        def received(self, request: Request) -> None:
            if request.callback is NO_CALLBACK:
                close(self.crawler, "enough")

    server = serve(Numbered())
    done = await suggested(server, range(4), after=60, spider=Stops)
    assert done.stats["finish_reason"] == "enough"
    assert len(refetched(server)) == 1


@in_reactor
async def test_the_site_is_learned_again_soon(serve: Serve) -> None:
    """As soon as a page that is fetched again has shown another text: no page repeats what another one shows."""
    once = threading.Event()
    pages = Numbered()
    pages.again = page(prose("another text"))
    waited: list[bool] = []

    def answer(asked: Asked) -> Any:
        if asked.path == "/p/100":
            waited.append(once.wait(PATIENCE))
        return pages(asked)

    server = serve(answer)
    crawler = crawler_of(Backwards, **ON, CONCURRENT_REQUESTS=1)

    def note() -> None:
        once.set()

    when_counted(crawler, LEARNED, note)
    done = await run(crawler, server.url("/"))
    assert waited == [True]
    assert done.dedup()["starter/requests"] <= 12


@in_reactor
@pytest.mark.parametrize("learn", ["live", "close"])
async def test_the_site_is_learned_again_with_what_was_fetched(serve: Serve, learn: str) -> None:
    """The spider closes after that."""
    server = serve(Numbered(45))
    crawler = crawler_of(Backwards, **{**ON, "DEDUP_LEARN": learn})
    site = f"127.0.0.1:{server.port}"
    events: list[str] = []

    def suggest() -> None:
        if server.downloads == 46 and "suggested" not in events:
            events.append("suggested")
            CrawlComponents.of(crawler).starter.suggest([site], {site: [server.url("/p/7"), server.url("/")]})

    def received(request: Request) -> None:
        if request.callback is NO_CALLBACK:
            events.append("refetch")

    def closed() -> None:
        events.append("closed, and something new" if CrawlComponents.of(crawler).learning.schedule.news else "closed")

    connect = crawler.signals.connect
    connect(suggest, signals.scheduler_empty, weak=False)
    connect(received, signals.response_received, weak=False)
    when_counted(crawler, LEARNED, lambda: events.append("learned"))
    connect(closed, signals.spider_closed, weak=False)
    await run(crawler, server.url("/"))
    assert refetched(server) == ["/", "/p/7"]
    assert events.count("refetch") == 2
    assert events[-2:] == ["learned", "closed"]


@in_reactor
@pytest.mark.parametrize("learn", ["live", "close"])
async def test_a_small_crawl_costs_nothing(serve: Serve, learn: str) -> None:
    server = serve(Numbered(6))
    done = await crawl(Links, server.url("/"), **{**ON, "DEDUP_LEARN": learn})
    assert server.downloads == 7
    assert CrawlComponents.of(done.crawler).learning_runs.has_learner is False, "no process was started"


@in_reactor
@pytest.mark.parametrize("learn", ["live", "close"])
async def test_a_quiet_site_is_learned_once_and_not_in_each_crawl(serve: Serve, learn: str, caplog: Any) -> None:
    """It is asked what to fetch again before the spider is idle; where that is nothing, this was the last learning."""
    caplog.set_level("INFO")
    server = serve(Numbered(30))
    times = []
    for number in range(4):
        caplog.clear()
        done = await crawl(Links, server.url("/"), **{**ON, "DEDUP_LEARN": learn})
        times.append(done.dedup().get("learned/times", 0))
        told = [message for message in messages(caplog, logging.INFO) if message.startswith("Learned ")]
        assert len(told) == times[-1], number
        assert all(message == "Learned 0 rules of 1 site: no rules; scrapy learn-rules says why" for message in told)
    assert times == [1, 1, 1, 0], "the fourth one adds less than half"
    assert server.downloads == 4 * 31


@in_reactor
@pytest.mark.parametrize("learn", ["live", "close"])
async def test_nothing_is_asked_where_it_is_switched_off(serve: Serve, learn: str) -> None:
    server = serve(Numbered(30))
    events: list[str] = []
    crawler = crawler_of(Links, **{**ON, "DEDUP_LEARN": learn, "DEDUP_STARTER": 0})
    when_counted(crawler, LEARNED, lambda: events.append("learned"))
    crawler.signals.connect(lambda: events.append("idle"), signals.spider_idle, weak=False)
    done = await run(crawler, server.url("/"))
    assert events == ["idle", "learned"], "it is learned when the spider has closed"
    assert done.dedup()["learned/times"] == 1


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


class Radio(Numbered):
    """The time of the response on all pages but those of episodes, which have the time of theirs in its place, and nothing else.

    The start page is linked, and so fetched twice.
    """

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            return 404
        self.asked.append(asked)
        seconds = len(self.asked)
        shown = f"22 Nov 2026 {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        links = []
        if asked.path == "/":
            others = [f"/{kind}/{number}" for number in range(20) for kind in ("news", "help", "about")]
            links = ["/", *others, *(f"/show/{n}?ep={ep}" for n in range(self.pages) for ep in range(1, 6))]
        elif asked.path.startswith("/show/"):
            shown = f"{asked.query['ep']:0>2} Aug 2026 20:00:00"
        return page(prose(asked.path), *links).replace("<body>", f"<body><div class=time>{shown}</div>")


@in_reactor
async def test_what_stands_in_the_place_of_a_clock_is_looked_at_before_pages_are_lost(serve: Serve) -> None:
    """A page of the rule's own URL template is fetched again, and what was discarded by then is fetched after all."""
    server = serve(Radio(120))
    done = await crawl(Backwards, server.url("/"), **{**ON, "CONCURRENT_REQUESTS": 2})
    assert len({item["url"] for item in done.items}) == 1 + 60 + 5 * 120, "no page is lost"
    assert 1 <= done.dedup()["starter/requests"] <= 12


@in_reactor
async def test_a_learning_that_cannot_begin_is_not_waited_for(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: LearningSchedule, *sites: Any) -> Any:
        raise KeyError(sites)

    monkeypatch.setattr(LearningSchedule, "begun", fails)
    server = serve(Ticking(60))
    done = await crawl(Links, server.url("/"), **ON)
    assert len(done.items) == 121
    assert server.downloads == 121 + done.dedup().get("starter/requests", 0)
    assert done.dedup()["errors/learning"] == 1


class Faulty(Numbered):
    """Some pages are linked under two session ids; the first answer for one of these is another text."""

    ODD = "/p/3?s=x00003ab"

    def __init__(self, wait: threading.Event) -> None:
        super().__init__(6)
        self.wait = wait

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            return 404
        first = asked.target not in {each.target for each in self.asked}
        self.asked.append(asked)
        if asked.path == "/":
            twice = [f"/p/{k}?s={name}{k:05}ab" for k in range(self.pages) for name in "xy"]
            return page("start", *twice, *(f"/once/{k}" for k in range(36)))
        if asked.path == "/once/35":
            self.wait.wait(PATIENCE)
        return page(prose("a fault of the server" if asked.target == self.ODD and first else asked.path))


@in_reactor
async def test_an_odd_response_is_asked_for_again_before_it_counts(serve: Serve) -> None:
    """The last page waits until the site was learned."""
    once = threading.Event()
    server = serve(Faulty(once))
    crawler = crawler_of(Backwards, **ON, CONCURRENT_REQUESTS=1)
    when_counted(crawler, LEARNED, once.set)
    done = await run(crawler, server.url("/"))
    assert Faulty.ODD in refetched(server)
    assert done.dedup()["starter/requests"] <= 4
    assert len(done.items) <= 49
    found = {item["url"].partition("?")[0] for item in done.items}
    assert found >= {server.url(f"/p/{k}") for k in range(6)} | {server.url(f"/once/{k}") for k in range(36)}


@in_reactor
@pytest.mark.parametrize("content_type", ["text/html", "application/json"])
async def test_one_answer_of_different_pages_does_not_hide_that_texts_change(serve: Serve, content_type: str) -> None:
    """Whether texts of the others are kept, with which their duplicates are found, is no race with the first learning."""
    asked_for: list[str] = []

    def site(asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            return 404
        asked_for.append(asked.target)
        if asked.path == "/":
            return page("start", *(f"/{kind}/{number}" for number in range(40) for kind in ("article", "answer")))
        if asked.path.startswith("/answer/"):
            return Answer(page(prose("answer")) if "html" in content_type else "true " * 9, content_type=content_type)
        return page(f"{prose(asked.target)} {len(asked_for)} visitors")

    server = serve(site)
    await crawl(Links, server.url("/"), **ON, CONCURRENT_REQUESTS=1)
    again = next(number for number, target in enumerate(asked_for) if target in asked_for[:number])
    assert asked_for[again].startswith("/article/")
    assert again <= 1 / STARTER_SHARE + 3, asked_for[again]
