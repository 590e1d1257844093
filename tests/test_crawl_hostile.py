"""Sites that behave badly: nothing false is learned of them, and never are more requests made than without.

The sites are crawled by plain Scrapy, then by a crawl that learns, then by one that uses what was learned. They
forget in between what they have been asked for. All is counted at the servers.
"""

import random
import threading
from typing import Any

import pytest
from scrapy.core.engine import ExecutionEngine
from twisted.internet.defer import ensureDeferred, gatherResults

from scrapy_dedup import RuleBook

from .conftest import Serve
from .crawling import Links, Outcome, crawl_again, crawl_site, ignore, in_reactor, without
from .server import Answer, Asked, Server, page, prose, redirect

IDS, COPIES = 18, 2
#: Requests after which a log-in expires, a ban or a wall comes.
EARLY = 24
#: Links of a page beyond the next one, to those that are not linked otherwise.
STEP = 5
LOGIN = page("Please log in with your name and your password to go on with what you wanted to see")
BREADTH = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
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
        return page(prose(number), *self.links(n % IDS for n in (number + 1, number + STEP)))

    def links(self, numbers: Any) -> list[str]:
        return [f"/p?id={number}&sid=s{number}x{copy}" for number in numbers for copy in range(COPIES)]

    def urls(self) -> list[str]:
        """Targets, among them some that were not seen."""
        return [f"/p?id={number}&sid={sid}" for number in range(2 * IDS) for sid in ("s1x1", "s2x2", f"s{number}x0")]

    def truth(self, target: str) -> str:
        return target.partition("&sid")[0]


class Errors(Site):
    """Some pages fail once, or are too many for once, some always, in several ways."""

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        number = int(asked.query.get("id", "-1"))
        if number % 6 == 1:
            return (404, 500, 403)[number // 6 % 3]
        if number % 6 in {2, 3} and first:
            return Answer("try again", (503, 429)[number % 2])
        return self.ordinary(asked)


class LogIn(Site):
    """Half of the pages lead to a log-in page that names them."""

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        if asked.path == "/login":
            return LOGIN
        if int(asked.query.get("id", "0")) % 2:
            return redirect(f"/login?next={asked.query['id']}")
        return self.ordinary(asked)


class Known(Site):
    """The start page leads to everything, so that every crawl finds the same links."""

    steady = False

    def ordinary(self, asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), *self.links(range(IDS)))
        return page(prose(int(asked.query["id"])), "/")


class Expires(Known):
    """After some requests, everything leads to the log-in page."""

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        if asked.path == "/login":
            return LOGIN
        return redirect("/login") if count > EARLY else self.ordinary(asked)


class Bans(Known):
    """After some requests, it answers 403."""

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        return 403 if count > EARLY else self.ordinary(asked)


class Wall(Site):
    """After some requests, every URL is one and the same page, as if all were well."""

    steady = bounded = False

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        if count > EARLY:
            return page("Our systems have detected unusual traffic from your network, so prove that you are human")
        return self.ordinary(asked)


class EarlyWall(Wall):
    """As before, and hardly any page was seen until then."""

    def answer(self, asked: Asked, count: int, *, first: bool) -> Any:
        return super().answer(asked, count + EARLY - 5, first=first)


class Calendar(Site):
    """Almost without events, in two views with the same words."""

    def ordinary(self, asked: Asked) -> Any:
        month = int(asked.query.get("month", "0"))
        others = [other for other in (month + 1, month - 1) if abs(other) <= IDS // 2]
        views = [f"/cal?month={other}&view={view}" for other in others for view in ("list", "grid")]
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

    frame = "".join(f"<p>{prose(('frame', number))}</p>" for number in range(60))

    def ordinary(self, asked: Asked) -> Any:
        part = asked.query.get("sid", "")
        end = prose(part, 10 + sum(map(ord, part)))
        return super().ordinary(asked).replace("</ul>", f"</ul>{self.frame}<p>{end}</p>")

    def truth(self, target: str) -> str:
        return target


SITES: list[type[Site]] = [Errors, LogIn, Expires, Bans, Wall, EarlyWall, Calendar, Random, LongPages]


class Notes(Links):
    """Notes what pages lead to."""

    def __init__(self, *start: str) -> None:
        super().__init__(*start)
        self.linked: set[str] = set()

    def parse(self, response: Any) -> Any:
        self.linked.update(map(response.urljoin, response.css("a::attr(href)").getall()))
        yield from super().parse(response)


def false_rules(server: Server, site: Site) -> list[set[str]]:
    """Different pages that rules take for one."""
    book = RuleBook.load("dedup-rules", missing_ok=True)
    pages: dict[str, set[str]] = {}
    for target in {*site.urls(), *server.hits}:
        pages.setdefault(book.canonical_key(server.url(target)), set()).add(site.truth(target))
    return [merged for merged in pages.values() if len(merged) > 1]


def found(done: Outcome, site: Site) -> set[str]:
    return {site.truth(url) for url in done.urls}


async def three_crawls(serve: Serve, kinds: list[type[Site]], **settings: Any) -> None:
    """Crawl sites with plain Scrapy, and twice with the plug-in; check what is learned and what is asked for."""
    sites = {kind.__name__: kind() for kind in kinds}
    servers = {name: serve(site) for name, site in sites.items()}
    settings["DEDUP_MAX_BODY"] = 20_000
    plain = await crawl_again(servers, spider=Notes, **settings, ADDONS={})
    requests = sum(each.fetched.total() for each in plain.values())
    for learn in ("live", "off"):
        for site in sites.values():
            site.reset()
        crawls = await crawl_again(servers, spider=Notes, **settings, DEDUP_LEARN=learn, DEDUP_SAMPLE=0.05)
        if learn == "off":  # what was learned is used
            assert sum(each.fetched.total() for each in crawls.values()) < requests
        for name, done in crawls.items():
            site, server = sites[name], servers[name]
            assert not done.faults()
            assert done.stats["finish_reason"] == "finished"
            assert not false_rules(server, site), name
            if site.steady:
                assert found(plain[name], site) <= found(done, site), f"{name}: no page is lost"
            if site.bounded:
                assert done.fetched.total() <= plain[name].fetched.total(), name
            else:  # one that gets further finds more links
                assert max(done.fetched.values()) == 1, f"{name}: nothing is fetched twice"
                linked = {server.url("/"), server.url("/login"), *done.crawler.spider.linked}  # type: ignore[union-attr]
                assert not {server.url(target) for target in done.fetched} - linked, name


@pytest.mark.parametrize(
    ("kinds", "concurrent", "order"),
    [(SITES, 4, {}), ([Errors, LogIn, LongPages], 100, BREADTH)],
    ids=["depth", "breadth"],
)
@in_reactor
async def test_nothing_false_is_learned(
    serve: Serve, kinds: list[type[Site]], concurrent: int, order: dict[str, Any]
) -> None:
    """Of bad sites beside each other, by two spiders in one process and with one store."""
    most = {"CONCURRENT_REQUESTS": concurrent, "CONCURRENT_REQUESTS_PER_DOMAIN": concurrent}
    groups = (kinds[::2], kinds[1::2])
    await gatherResults([ensureDeferred(three_crawls(serve, group, **most, **order)) for group in groups])


@in_reactor
async def test_pages_of_megabytes(serve: Serve) -> None:
    """Of which more is equal than is looked at."""
    long = b" a word and another and more" * 60_000

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/p?id={i}&sid={copy}" for i in range(3) for copy in range(2)))
        return Answer(b"<!doctype html><p>" + asked.query["id"].encode() + long)

    class Start(Links):
        def parse(self, response: Any) -> Any:
            yield {"url": response.url}
            if len(response.body) < 1_000_000:
                yield from response.follow_all(css="a")

    done = await crawl_site(serve, site, ignore("q.sid", "active"), spider=Start, DEDUP_SAMPLE=1)
    assert without("sid", done.urls) == dict.fromkeys(("/", *(f"/p?id={i}" for i in range(3))), 1)
    assert done.stat("samples/confirmed") == done.fetched.total() - 4 > 0
