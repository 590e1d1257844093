"""Pages of each kind that are fetched again for the fields that are named: how many, which, when, and where none are."""

import threading
from collections import Counter
from typing import Any

import pytest
from scrapy import signals
from scrapy.http.request import NO_CALLBACK

from scrapy_dedup.content.retention import MOMENTS
from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.crawl.own_requests import revisits
from scrapy_dedup.store.page_queries import fetched_within
from scrapy_dedup.store.store import Store

from .conftest import Serve
from .crawling import LEARNED, STORE, Crawl, Links, crawl, crawler_of, in_reactor, run, when_counted
from .server import Answer, Asked, Server, page, prose
from .test_crawl_starter import Backwards, refetched
from .waiting import PATIENCE

FIELDS = {"text": "text"}
ON = {"DEDUP_LEARN": "live", "DEDUP_STARTER": 12, "DEDUP_CONTENT_FIELDS": FIELDS, "CONCURRENT_REQUESTS": 1}
#: Folder -> pages. Those of the first two give items with the field.
KINDS = {"news": 40, "shop": 20, "tag": 30}
#: Where nothing else tells whether texts change, the latest of the first 50 pages is fetched again.
EARLY = {"news": 1}
NO_SHOP = "User-agent: *\nDisallow: /shop/\n"


class Texts(Backwards):
    """Gives an item for each page, with its text where it is a news page or a product."""

    def parse(self, response: Any) -> Any:
        for found in super().parse(response):
            if isinstance(found, dict):
                named = any(f"/{kind}/" in response.url for kind in ("news", "shop"))
                found["text" if named else "words"] = " ".join(response.css("body ::text").getall())
            yield found


class Kinds:
    """A start page that links pages of several kinds in turn; what was asked for is kept in order."""

    def __init__(self, kinds: dict[str, int] = KINDS, robots: str = "") -> None:
        self.kinds = kinds
        self.robots = robots
        self.asked: list[str] = []

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            return Answer(self.robots, content_type="text/plain") if self.robots else 404
        self.asked.append(asked.target)
        if asked.path == "/":
            most = max(self.kinds.values())
            links = [f"/{kind}/{number}" for number in range(most) for kind, of in self.kinds.items() if number < of]
            return page("start", *links)
        return page(prose(asked.target))

    def again(self) -> list[int]:
        """How many requests there were before each that was made again."""
        return [number for number, target in enumerate(self.asked) if target in self.asked[:number]]


@pytest.fixture
def nothing_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Earlier crawls are not looked up, for which a crawl would not wait."""

    async def nothing(self: revisits.Revisits, site: str) -> None:
        pass

    monkeypatch.setattr(revisits.Revisits, "_look_up", nothing)


def kinds_of(server: Server) -> Counter[str]:
    return Counter(target.split("/")[1] for target in refetched(server))


async def crawled(server: Server, **settings: Any) -> Crawl:
    return await crawl(Texts, server.url("/"), **{**ON, **settings})


@pytest.mark.parametrize(
    ("site", "settings", "again", "anew"),
    [
        pytest.param(Kinds(), {}, {"news": 2, "shop": 2}, 4, id="those with items first, and four in any case"),
        pytest.param(Kinds(), {"DEDUP_EXTRA": 1}, {"news": 2, "shop": 2}, 4, id="without savings there are no more"),
        pytest.param(Kinds(robots=NO_SHOP), {"ROBOTSTXT_OBEY": True}, {"news": 3, "tag": 1}, 4, id="robots.txt"),
        pytest.param(
            Kinds(), {"DEDUP_REVISITS": 1}, dict.fromkeys(("", *KINDS), 1), 0, id="the number that is asked for"
        ),
        pytest.param(Kinds({"news": 10}), {}, {}, 0, id="a small crawl costs nothing"),
        *(
            pytest.param(Kinds(), {name: value}, EARLY, 0, id=f"{name} is {value}")
            for name, value in {"DEDUP_CONTENT_FIELDS": {}, "DEDUP_STRIP": "off"}.items()
        ),
        *(
            pytest.param(Kinds(), {name: value}, {}, 0, id=f"{name} is {value}")
            for name, value in {
                "DEDUP_STARTER": 0,
                "DEDUP_LEARN": "off",
                "DEDUP_STORE_TEXTS": False,
                "HTTPCACHE_ENABLED": True,
                "DEDUP_MODE": "observe",
            }.items()
        ),
    ],
)
@in_reactor
async def test_pages_of_each_kind_that_are_fetched_again(
    serve: Serve, site: Kinds, settings: dict[str, Any], again: dict[str, int], anew: int
) -> None:
    server = serve(site)
    done = await crawled(server, **settings)
    stats = done.dedup()
    assert kinds_of(server) == again
    assert stats.get("starter/anew", 0) == anew
    if anew:
        assert stats["starter/requests"] == stats["revisits/recorded"] == anew
    assert max(server.hits.values()) <= 2
    assert len(done.items) == len(server.hits), "callbacks see each page once"
    assert not [name for name in stats if name.startswith("errors")]


@pytest.mark.usefixtures("nothing_before")
@in_reactor
async def test_they_are_spread_over_the_crawl(serve: Serve) -> None:
    """Half of the budget while it goes on, and what learning has left of the other half at its end."""
    site = Kinds({"news": 200, "shop": 120})
    server = serve(site)
    await crawled(server)
    times = site.again()
    assert len(times) == 6, "2 % of 321 pages"
    early, late = times[:2], times[2:]
    assert 20 <= early[0] < early[1] < 60
    assert 300 <= late[0] < 320, "at 300 pages there may be a third one"


@in_reactor
async def test_several_crawls_in_a_row_pay_less_and_less(serve: Serve) -> None:
    """What is left is one page that tells whether texts change, as in any crawl of a site without duplicates."""
    server = serve(Kinds())
    spent, anew = [], []
    for _ in range(4):
        server.reset()
        done = await crawled(server)
        spent.append(server.downloads - 1 - sum(KINDS.values()))
        anew.append(done.dedup().get("starter/anew", 0))
    assert spent == [4, 4, 1, 1]
    assert anew == [4, 4, 0, 0]
    with Store.open(STORE, readonly=True) as store:
        found = list(fetched_within(store, "", f"127.0.0.1:{server.port}", MOMENTS, before=1e12))
    assert Counter(url.split("/")[3] for url in found if url.count("/") > 3).keys() == KINDS.keys()


@pytest.mark.usefixtures("nothing_before")
@in_reactor
async def test_what_learning_asks_for_has_half_of_the_budget(serve: Serve) -> None:
    """It comes first, and both together are no more than there may be."""
    server = serve(Kinds())
    crawler = crawler_of(Texts, **ON)
    came = Counter[str]()

    def suggest() -> None:
        came["responses"] += 1
        if came["responses"] == 70:
            urls = [server.url(f"/tag/{number}") for number in range(9)]
            CrawlComponents.of(crawler).starter.suggest(
                [f"127.0.0.1:{server.port}"], {f"127.0.0.1:{server.port}": urls}
            )

    crawler.signals.connect(suggest, signals.response_received, weak=False)
    done = await run(crawler, server.url("/"))
    assert kinds_of(server) == {"news": 1, "shop": 1, "tag": 2}
    assert (done.dedup()["starter/anew"], done.dedup()["starter/requests"]) == (2, 4)


@in_reactor
async def test_they_tell_whether_texts_change(serve: Serve) -> None:
    """No page repeats what another one shows: the site is learned in mid-crawl since those that were fetched again have changed."""
    once = threading.Event()
    pages = Kinds()
    waited: list[bool] = []

    def answer(asked: Asked) -> Any:
        said = pages(asked)
        if asked.path == "/news/39":
            waited.append(once.wait(PATIENCE))
        return page(f"{prose(asked.target)} {len(pages.asked)} visitors") if asked.path.count("/") > 1 else said

    crawler = crawler_of(Texts, **ON)
    when_counted(crawler, LEARNED, once.set)
    done = await run(crawler, serve(answer).url("/"))
    assert waited == [True]
    assert done.dedup()["starter/requests"] == 4


@in_reactor
async def test_a_page_that_came_long_ago_shows_nothing_that_is_drawn_anew(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What differs then may have been edited."""
    monkeypatch.setattr(revisits, "MOMENTS", -1.0)
    server = serve(Kinds())
    done = await crawled(server)
    assert "starter/anew" not in done.dedup()
    assert kinds_of(server) == EARLY
    kinds = CrawlComponents.of(done.crawler).revisits._kinds.values()
    assert len(kinds) == len(KINDS)
    last = {url.rpartition("/")[2] for kind in kinds for url in kind.waiting}
    assert min(map(int, last)) >= min(KINDS.values()) - revisits.FEW, "later pages take their places"


@in_reactor
async def test_the_spider_closes_after_them(serve: Serve) -> None:
    server = serve(Kinds())
    crawler = crawler_of(Texts, **ON)
    events: list[str] = []
    connect = crawler.signals.connect
    connect(lambda: events.append("closed"), signals.spider_closed, weak=False)

    def received(request: Any) -> None:
        if request.callback is NO_CALLBACK:
            events.append("again")

    connect(received, signals.response_received, weak=False)
    done = await run(crawler, server.url("/"))
    assert events == ["again"] * 4 + ["closed"]
    assert done.stats["finish_reason"] == "finished"


@in_reactor
async def test_a_store_that_cannot_be_read_ends_no_crawl(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("scrapy_dedup.store.page_queries.fetched_within", fails)
    server = serve(Kinds())
    done = await crawled(server)
    assert not refetched(server)
    assert done.dedup()["errors/starter"] == 1
    assert done.stats["finish_reason"] == "finished"


@in_reactor
async def test_it_goes_on_where_the_start_page_is_linked(serve: Serve) -> None:
    """Scrapy fetches it twice by itself."""
    pages = Kinds()

    def answer(asked: Asked) -> Any:
        said = pages(asked)
        return page(prose(asked.target), "/") if asked.path.startswith("/news/") else said

    server = serve(answer)
    await crawl(Links, server.url("/"), **ON)
    assert server.hits["/"] == 2
    assert sum(count - 1 for target, count in server.hits.items() if target.count("/") > 1) == 4
