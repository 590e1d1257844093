"""Sites that behave badly: nothing false is learned of them, and never are more requests made than without.

Each site is crawled by plain Scrapy, then by a crawl that learns, then by one that uses what was learned. The site
forgets in between what it has been asked for. All is counted at the server.
"""

import random
import threading
from typing import Any

import pytest
import scrapy
from scrapy import signals
from scrapy.core.engine import ExecutionEngine
from scrapy.utils.asyncio import call_later
from twisted.internet.defer import ensureDeferred, gatherResults

from scrapy_dedup import RuleBook
from scrapy_dedup.crawl.learn import schedule as times
from scrapy_dedup.rules import Ignore, Status

from .conftest import Serve
from .crawling import SWAPPED, Crawl, Links, crawl, crawler_of, in_reactor, rule, run, when_counted, write_rules
from .server import Answer, Asked, Server, page, prose, redirect
from .waiting import PATIENCE

IDS, COPIES = 30, 3
BREADTH = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
}


@pytest.fixture(autouse=True)
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExecutionEngine, "_SLOT_HEARTBEAT_INTERVAL", 0.05)


class Site:
    """Pages ``/p?id=N``, each under several session ids; a page links to the next ones, and some to the start.

    *truth* says which page a target is.
    """

    #: Whether each URL always leads to the same page, whatever was asked for before, and the crawl goes to the end.
    steady = True
    #: Whether a crawl that gets further finds no more links than another one.
    bounded = True
    settings: dict[str, Any] = {}

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        self.count = 0
        self.asked: set[str] = set()

    def __call__(self, asked: Asked) -> Any:
        with self.lock:
            self.count += 1
            first = asked.target not in self.asked
            self.asked.add(asked.target)
            return self.answer(asked, self.count, first=first)

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        return self.ordinary(asked)

    def ordinary(self, asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), *self.links(range(0, IDS, 2)))
        number = int(asked.query["id"])
        return page(prose(number), *self.links(n % IDS for n in (number + 1, number + 7)))

    def links(self, numbers: Any) -> list[str]:
        return [f"/p?id={number}&sid=s{number}x{copy}" for number in numbers for copy in range(COPIES)]

    def urls(self) -> list[str]:
        """Targets, among them some that were not seen."""
        return [f"/p?id={number}&sid={sid}" for number in range(2 * IDS) for sid in ("s1x1", "s2x2", f"s{number}x0")]

    def truth(self, target: str) -> str:
        return target.partition("&sid")[0]


class Errors(Site):
    """Some pages fail once, some always, in several ways."""

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        number = int(asked.query.get("id", "-1"))
        if number % 5 == 1:
            return (404, 500, 503, 403)[number // 5 % 4]
        if number % 5 == 2 and first:
            return Answer("try again", 503)
        return self.ordinary(asked)


class TooMany(Site):
    """Answers 429 to the first request for each URL of every third page."""

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        if first and int(asked.query.get("id", "1")) % 3 == 0:
            return Answer("too many requests", 429)
        return self.ordinary(asked)


class LogIn(Site):
    """Half of the pages lead to a log-in page that names them."""

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        if asked.path == "/login":
            return page("Please log in with your name and your password to go on with what you wanted to see")
        if int(asked.query.get("id", "0")) % 2:
            return redirect(f"/login?next={asked.query['id']}")
        return self.ordinary(asked)


class Expires(Site):
    """After some requests, everything leads to the log-in page."""

    steady = bounded = False

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        if asked.path == "/login":
            return page("Please log in with your name and your password to go on with what you wanted to see")
        return redirect("/login") if count > 50 else self.ordinary(asked)


class Bans(Site):
    """After some requests, it answers 403."""

    steady = bounded = False

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        return 403 if count > 50 else self.ordinary(asked)


class Known(Site):
    """The start page leads to everything, so that every crawl finds the same links."""

    bounded = True

    def ordinary(self, asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), *self.links(range(IDS)))
        return page(prose(int(asked.query["id"])), "/")


class ExpiresKnown(Known, Expires):
    """What is left when the log-in expires is known before."""

    bounded = True


class BansKnown(Known, Bans):
    """What is left when the ban comes is known before."""

    bounded = True


class Wall(Site):
    """After some requests, every URL is one and the same page, as if all were well."""

    steady = bounded = False

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        if count > 50:
            return page("Our systems have detected unusual traffic from your network, so prove that you are human")
        return self.ordinary(asked)


class EarlyWall(Wall):
    """As before, and hardly any page was seen until then."""

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        return super().answer(asked, count + 45, first=first)


class Calendar(Site):
    """Without an end, almost without events, in two views with the same words."""

    steady = bounded = False
    settings = {"CLOSESPIDER_PAGECOUNT": 70}

    def ordinary(self, asked: Asked) -> Any:
        month = int(asked.query.get("month", "0"))
        views = [f"/cal?month={other}&view={view}" for other in (month + 1, month - 1) for view in ("list", "grid")]
        event = prose(f"event {month}", 12) if month % 10 == 5 else "There are no events in this month, come again"
        return page(f"Month {month} {event}", *views, title="Calendar")

    def urls(self) -> list[str]:
        return ["/", *(f"/cal?month={month}&view={view}" for month in range(-99, 99) for view in ("list", "grid"))]

    def truth(self, target: str) -> str:
        return target.partition("&view")[0]


class Random(Site):
    """No page is ever the same again: nothing shows that any two URLs are one page."""

    def reset(self) -> None:
        super().reset()
        self.rng = random.Random(1)

    def ordinary(self, asked: Asked) -> Any:
        text = super().ordinary(asked)
        return text.replace("<ul>", f"<p>{prose(self.rng.random())}</p><ul>")

    def truth(self, target: str) -> str:
        return target


class LongPages(Site):
    """Pages of which more is equal than is looked at; what is different comes at the end, and is longer or shorter."""

    settings = {"DEDUP_MAX_BODY": 20_000}
    frame = "".join(f"<p>{prose(('frame', number))}</p>" for number in range(60))

    def ordinary(self, asked: Asked) -> Any:
        part = asked.query.get("sid", "")
        end = prose(part, 10 + sum(map(ord, part)))
        return super().ordinary(asked).replace("</ul>", f"</ul>{self.frame}<p>{end}</p>")

    def truth(self, target: str) -> str:
        return target


SITES: list[type[Site]] = [
    *(Errors, TooMany, LogIn, Expires, ExpiresKnown, Bans, BansKnown, Wall, EarlyWall, Calendar, Random, LongPages),
]


def false_rules(server: Server, site: Site) -> list[set[str]]:
    """Different pages that active rules take for one."""
    book = RuleBook.load("dedup-rules", missing_ok=True)
    pages: dict[str, set[str]] = {}
    for target in {*site.urls(), *server.hits}:
        pages.setdefault(book.canonical_key(server.url(target)), set()).add(site.truth(target))
    return [merged for merged in pages.values() if len(merged) > 1]


def found(done: Crawl, site: Site) -> set[str]:
    return {site.truth(url) for url in done.urls}


def never_more(server: Server, site: Site, done: Crawl, plain: int) -> None:
    """Never more requests than plain Scrapy makes, or would make: one that gets further finds more links."""
    if site.bounded:
        assert server.downloads <= plain
        return
    retried = done.stats.get("retry/count", 0)
    assert server.downloads - len(server.hits) <= retried, "nothing is fetched twice"
    assert not set(server.hits) - set(done.crawler.spider.linked), "nothing is fetched that no page leads to"  # type: ignore[union-attr]


class Notes(Links):
    """Notes what pages lead to."""

    def __init__(self, *start: str) -> None:
        super().__init__(*start)
        self.linked = {"/", "/login"}

    def parse(self, response: Any) -> Any:
        self.linked.update(response.css("a::attr(href)").getall())
        yield from super().parse(response)


async def three_crawls(serve: Serve, site: Site, **settings: Any) -> None:
    """Crawl *site* with plain Scrapy, and twice with the plug-in; check what is learned and what is asked for."""
    server = serve(site)
    given = {**site.settings, **settings}
    plain = await crawl(Notes, server.url("/"), **given, ADDONS={})
    requests = server.downloads
    for learn in ("live", "off"):
        server.reset()
        site.reset()
        done = await crawl(Notes, server.url("/"), **given, DEDUP_LEARN=learn, DEDUP_SAMPLE=0.05)
        assert not [name for name in done.stats if name.startswith("dedup/errors")]
        assert done.stats["finish_reason"] == plain.stats["finish_reason"]
        assert not false_rules(server, site)
        never_more(server, site, done, requests)
        if site.steady:
            assert found(plain, site) <= found(done, site), "no page is lost"


@pytest.mark.parametrize("kind", SITES)
@in_reactor
async def test_nothing_false_is_learned(serve: Serve, kind: type[Site]) -> None:
    await three_crawls(serve, kind(), CONCURRENT_REQUESTS=4)


@pytest.mark.parametrize(("concurrent", "order"), [(1, BREADTH), (100, {}), (100, BREADTH)])
@in_reactor
async def test_in_any_order(serve: Serve, concurrent: int, order: dict[str, Any]) -> None:
    most = {"CONCURRENT_REQUESTS": concurrent, "CONCURRENT_REQUESTS_PER_DOMAIN": concurrent}
    await three_crawls(serve, Errors(), **most, **order)


@in_reactor
async def test_several_spiders(serve: Serve) -> None:
    """Bad sites beside each other, in one process and with one store."""
    kinds = (Errors(), LogIn(), Random())
    await gatherResults([ensureDeferred(three_crawls(serve, site, CONCURRENT_REQUESTS=4)) for site in kinds])


def sids(server: Server) -> Any:
    return rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}, status=Status.ACTIVE)


@in_reactor
async def test_pages_of_ten_megabytes(serve: Serve) -> None:
    long = b" a word and another and more" * 360_000

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/p?id={i}&sid={copy}" for i in range(3) for copy in range(2)))
        return Answer(b"<!doctype html><p>" + asked.query["id"].encode() + long)

    class Start(Links):
        def parse(self, response: Any) -> Any:
            if len(response.body) < 1_000_000:
                yield from super().parse(response)
            else:
                yield {"url": response.url}

    server = serve(site)
    plain = await crawl(Start, server.url("/"), ADDONS={})
    server.reset()
    done = await crawl(Start, server.url("/"), DEDUP_LEARN="live")
    assert done.urls == plain.urls
    assert set(server.hits.values()) == {1}
    write_rules(sids(server))
    server.reset()
    done = await crawl(Start, server.url("/"), DEDUP_SAMPLE=1)
    assert {url.partition("&")[0] for url in done.urls} == {"/", "/p?id=0", "/p?id=1", "/p?id=2"}
    assert len(done.urls) == 4
    assert done.stats["dedup/samples/confirmed"] == server.downloads - 4 > 0


class Wrong(Site):
    """Lists of several pages, so that a rule that leaves the page out is refuted; some are forbidden."""

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        if asked.path == "/robots.txt":
            return Answer("User-agent: *\nDisallow: /private\n", content_type="text/plain")
        return super().answer(asked, count, first=first)

    def links(self, numbers: Any) -> list[str]:
        pages = [f"/p?id={number}&page={other}" for number in numbers for other in range(1, 4)]
        return pages + [each.replace("/p", "/private", 1) for each in pages]

    def ordinary(self, asked: Asked) -> Any:
        if asked.path == "/":
            return super().ordinary(asked)
        return super().ordinary(asked).replace("<ul>", f"<p>{prose(asked.query['page'])}</p><ul>")


@in_reactor
async def test_robots_txt_and_the_delay_hold_for_all_requests(serve: Serve) -> None:
    """Samples, and what is fetched after all when a rule is refuted, go the way that every request goes."""
    server = serve(Wrong())
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.page": Ignore()}, status=Status.ACTIVE))
    crawler = crawler_of(Links, DEDUP_SAMPLE=0.1, ROBOTSTXT_OBEY=True, DOWNLOAD_DELAY=0.001)
    ways: list[tuple[str, float]] = []

    def reached(request: scrapy.Request) -> None:
        name = request.meta["download_slot"]
        ways.append((name, crawler.engine.downloader.slots[name].delay))  # type: ignore[union-attr]

    crawler.signals.connect(reached, signals.request_reached_downloader)
    done = await run(crawler, server.url("/"))
    assert not [target for target in server.hits if target.startswith("/private")]
    assert len(server.asked) == len(ways)
    assert set(ways) == {("127.0.0.1", 0.001)}
    assert done.stats["dedup/refuted"] == 1
    assert done.stats["dedup/samples"] > 1
    assert done.stats["dedup/retracted"] > 0
    assert {target for target in server.hits if target != "/"} == {
        f"/p?id={number}&page={other}" for number in range(IDS) for other in range(1, 4)
    }, "no page is lost"


@in_reactor
async def test_download_async_is_never_gated(serve: Serve) -> None:
    class Asks(Links):
        def __init__(self, *start: str) -> None:
            super().__init__(*start)
            self.got: list[int] = []

        async def parse(self, response: Any) -> Any:
            for each in super().parse(response):
                yield each
            if "id=" in response.url:
                for sid in ("s1x0", response.url.rpartition("=")[2]):  # an equivalent URL, and the page's own
                    url = response.url.rpartition("=")[0] + f"={sid}"
                    again = await self.crawler.engine.download_async(scrapy.Request(url))
                    self.got.append(again.status)

    server = serve(Site())
    write_rules(sids(server))
    done = await crawl(Asks, server.url("/"), DEDUP_SAMPLE=0.1)
    pages = len([item for item in done.items if "id=" in item["url"]])
    assert pages == IDS
    assert done.crawler.spider.got == [200] * (2 * pages)  # type: ignore[union-attr]
    assert server.downloads == len(done.items) + 2 * pages + done.stats["dedup/samples"]


@in_reactor
async def test_download_async_of_a_copy_is_not_gated(serve: Serve) -> None:
    """A copy of the response's own request has the mark of that one, of rules that have changed since."""

    class AsksAgain(Links):
        got: list[int] = []

        async def parse(self, response: Any) -> Any:
            for each in super().parse(response):
                yield each
            if response.url.endswith("=2"):
                shared = self.crawler._scrapy_dedup  # type: ignore[attr-defined]
                write_rules(rule(f"127.0.0.1:{server.port}", {"q.x": Ignore()}))
                assert await shared.rule_reload.reload([f"127.0.0.1:{server.port}"])
                for _ in range(2):
                    again = await self.crawler.engine.download_async(response.request.copy())
                    self.got.append(again.status)

    server = serve(lambda asked: page(prose("one page"), "/p?x=1") if asked.path == "/" else page(prose("p"), "/p?x=2"))
    done = await crawl(AsksAgain, server.url("/"), DEDUP_SAMPLE=0, DEDUP_LEARN="off", DEDUP_EXTRA=0)
    assert AsksAgain.got == [200, 200]
    assert "log_count/ERROR" not in done.stats
    assert not done.stats.get("dedup/discarded")


@in_reactor
async def test_errbacks_hear_of_failures_only(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is queued before there is a rule: of what the gate stops then no errback hears, as of what fails it does."""
    monkeypatch.setattr(times, "LEAST", 40)  # pages enough, whatever comes before it is learned from them
    used = threading.Event()

    class Queues(Site):
        def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
            if asked.path == "/":
                return page(prose("start"), *self.links(range(IDS)))
            return 404 if asked.query["id"] == "3" else page(prose(asked.query["id"]))

        def __call__(self, asked: Asked) -> Any:
            answer = super().__call__(asked)
            if self.count > 45:
                used.wait(PATIENCE)
            return answer

    class Errs(Links):
        def __init__(self, *start: str) -> None:
            super().__init__(*start)
            self.failed: list[Any] = []

        def parse(self, response: Any) -> Any:
            for each in super().parse(response):
                yield each.replace(errback=self.errs) if isinstance(each, scrapy.Request) else each

        def errs(self, failure: Any) -> None:
            self.failed.append(failure.value)

    server = serve(Queues())
    crawler = crawler_of(Errs, DEDUP_LEARN="live", CONCURRENT_REQUESTS=4)

    def changed() -> None:
        used.set()

    when_counted(crawler, SWAPPED, changed)
    done = await run(crawler, server.url("/"))
    assert done.stats["dedup/discarded/gate"] > IDS // 2
    assert {each.response.status for each in crawler.spider.failed} == {404}  # type: ignore[union-attr]
    assert "downloader/exception_count" not in done.stats
    assert {url.partition("&")[0] for url in done.urls if url != "/"} == {f"/p?id={i}" for i in range(IDS) if i != 3}


@pytest.mark.parametrize(
    "condition",
    [
        {"CLOSESPIDER_PAGECOUNT": 40},
        {"CLOSESPIDER_ERRORCOUNT": 1},
        {"CLOSESPIDER_ITEMCOUNT": 30},
        {"CLOSESPIDER_TIMEOUT": 0.3},
    ],
)
@in_reactor
async def test_close_conditions_with_a_wrong_rule(serve: Serve, condition: dict[str, float]) -> None:
    """What a closed spider still owes is fetched by the next crawl, and nothing twice."""

    class Fails(Links):
        def parse(self, response: Any) -> Any:
            yield from super().parse(response)
            if self.crawler.stats.get_value("dedup/refuted"):  # type: ignore[union-attr]
                raise ValueError("on purpose")

    server = serve(Wrong())
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.page": Ignore()}, status=Status.ACTIVE))
    first = await crawl(Fails, server.url("/"), DEDUP_SAMPLE=0.1, CONCURRENT_REQUESTS=1, **condition)
    (name,) = condition
    # How far a crawl comes in some time, nobody knows.
    assert first.stats["finish_reason"] in {name.lower(), *(["finished"] if "TIMEOUT" in name else [])}
    assert max(server.hits.values()) == 1
    second = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.1)
    assert "dedup/errors" not in str(second.dedup())
    assert max(server.hits.values()) <= 2
    pages = {f"/p?id={number}&page={other}" for number in range(IDS) for other in range(1, 4)}
    assert pages <= set(server.hits), "no page is lost"


@in_reactor
async def test_a_pause_while_a_rule_is_refuted(serve: Serve) -> None:
    server = serve(Wrong())
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.page": Ignore()}, status=Status.ACTIVE))
    crawler = crawler_of(Links, DEDUP_SAMPLE=0.1, CONCURRENT_REQUESTS=4)
    paused: list[bool] = []

    def changed() -> None:  # the rule is suspended
        paused.append(True)
        engine: Any = crawler.engine
        engine.pause()
        call_later(0.05, engine.unpause)

    when_counted(crawler, SWAPPED, changed)
    done = await run(crawler, server.url("/"))
    assert paused
    assert done.stats["dedup/refuted"] == 1
    assert {f"/p?id={number}&page={other}" for number in range(IDS) for other in range(1, 4)} <= set(server.hits)
    assert max(server.hits.values()) == 1
