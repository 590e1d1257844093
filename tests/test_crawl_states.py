"""Whatever a site answers and whatever becomes of rules and crawls: each page that stock Scrapy reaches is fetched, or stands in the ledger behind a good one.

Sites and programs are drawn by hypothesis: pages under several URLs, of which some are answered badly, and crawls
with rules that come, are narrowed, are wrong and go, with spot checks, pauses, kills and several workers.
``--hypothesis-profile=other`` draws others, and more of them.
"""

import os
import signal
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scrapy.crawler import Crawler
from twisted.internet.defer import Deferred, ensureDeferred, gatherResults
from twisted.internet.threads import blockingCallFromThread, deferToThread

from .conftest import Project
from .crawling import BASE, Crawl, Links, close, crawler_of, discarded, in_reactor, run
from .server import Answer, Asked, Server, page, prose, redirect
from .servers import RedisServer

Page = tuple[int, int]
"""The number and the version of a page."""
Copies = Mapping[tuple[int, int, str], str]
"""(number, version, session) of URLs -> how they are answered; the others simply show the page."""

#: Operations of the rule: "v" is the version of the page, "s" the session.
RULES = {
    "none": "",
    "right": '"q.s" = "ignore"',
    "narrow": '"q.s" = { ignore = ["a", "b"] }',
    "wrong": '"q.s" = "ignore"\n"q.v" = "ignore"',
}
#: What is sent in the place of a page, or before it.
ANSWERS = ("failed", "missing", "retried", "thin", "walled", "moved", "login", "raises")
WALLS = ("walled", "login")
SHOWS = {"good", "retried", "moved", "raises"}


@dataclass(frozen=True)
class Site:
    """Pages by number, each in so many *versions*, under URLs with each of the *sessions*.

    The start page leads to the first ones, as many as are *listed*; each further one is linked from one of its *parents* only.
    """

    listed: int
    parents: tuple[int, ...]
    versions: int
    sessions: str

    @property
    def pages(self) -> list[Page]:
        return [(n, v) for n in range(self.listed + len(self.parents)) for v in range(self.versions)]

    def links(self, numbers: Sequence[int]) -> list[str]:
        """The URLs of pages: all of them under one session first, then under the next."""
        return [url(n, v, s) for s in self.sessions for n in numbers for v in range(self.versions)]

    def children(self, number: int) -> list[int]:
        return [self.listed + at for at, parent in enumerate(self.parents) if parent == number]


@dataclass(frozen=True)
class Visit:
    """A crawl: its rules, and those in the file *then*, from request *at* on; *stop*: paused after so many requests, and resumed."""

    rules: str
    then: str
    at: int
    sample: float
    learn: str
    stop: int
    concurrent: int
    answers: Copies = field(default_factory=dict)


def url(number: int, version: int, session: str) -> str:
    return f"/p?id={number}&v={version}&s={session}"


def place(target: str) -> tuple[int, int, str]:
    """Where a URL leads, whole or not."""
    query = Asked("GET", "", target.rpartition("/")[2], {}).query
    return int(query["id"]), int(query["v"]), query["s"]


class Shop:
    """The site on a visit, and what becomes of that; *events* are called by the number of the request."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._lock = threading.Lock()
        self.begin({})

    def begin(self, answers: Copies) -> None:
        """Begin a visit."""
        self.answers = answers
        self.since = time.time()
        self.asked: Counter[str] = Counter()
        self.shown: set[Page] = set()
        self.events: dict[int, Callable[[Asked], object]] = {}

    def __call__(self, asked: Asked) -> Any:
        with self._lock:
            self.asked[asked.target] += 1
            event = self.events.pop(self.asked.total(), None)
        if event is not None:
            event(asked)
        if asked.path != "/p":
            return page(prose(asked.path), *(self.site.links(range(self.site.listed)) if asked.path == "/" else ()))
        number, version, session = place(asked.target)
        kind = self.answers.get((number, version, session), "good")
        if kind in ("failed", "missing") or (kind == "retried" and self.asked[asked.target] == 1):
            return Answer("Sorry", status=404 if kind == "missing" else 503)
        if kind == "thin":
            return page("Busy")
        if kind == "walled":
            return page(prose("wall", 50))
        if kind in ("moved", "login"):
            return redirect(url(number, version, "z") if kind == "moved" else "/login")
        self.shown.add((number, version))
        body = page(prose(f"{number}v{version}"), *self.site.links(self.site.children(number)))
        return Answer(body, headers={"X-Raises": "yes"} if kind == "raises" else {})

    def stock(self, without: frozenset[Page] = frozenset()) -> tuple[set[Page], Counter[str]]:
        """The pages that stock Scrapy reaches, and its requests; the links of pages *without* which it does are not followed."""
        found: set[Page] = set()
        numbers = list(range(self.site.listed))
        requests = Counter({"/": 1})
        for number in numbers:
            for version in range(self.site.versions):
                kinds = {s: self.answers.get((number, version, s), "good") for s in self.site.sessions}
                for session, kind in kinds.items():
                    requests[url(number, version, session)] = 2 if kind in ("failed", "retried") else 1
                    if kind in ("moved", "login"):
                        requests[url(number, version, "z") if kind == "moved" else "/login"] = 1
                if SHOWS & {*kinds.values()}:
                    found.add((number, version))
                if (SHOWS - {"raises"}) & {*kinds.values()} and (number, version) not in without:
                    numbers += [child for child in self.site.children(number) if child not in numbers]
        return found, requests

    def behind_good(self) -> frozenset[Page]:
        """The pages that stand in the ledger of this visit behind a URL that has shown a page, or behind one that took its place."""
        rows = (
            [row for row in discarded() if row.time >= self.since]
            if Path(".scrapy/dedup/store.sqlite").exists()
            else []
        )
        shown: defaultdict[str, set[str]] = defaultdict(set)
        for row in rows:
            shown[row.key] |= {row.taken_for, *([row.url] if row.state.value == "released" else [])}
        return frozenset(place(row.url)[:2] for row in rows if any(map(self._has_shown, shown[row.key])))

    def _has_shown(self, whole: str) -> bool:
        at = place(whole)
        return self.asked[url(*at)] > 0 and self.answers.get(at, "good") in SHOWS

    def check(self, done: Sequence[Crawl]) -> None:
        """What must hold of every visit."""
        hidden = self.behind_good() - self.shown
        lost = self.stock(hidden)[0] - self.shown - hidden
        assert not lost, f"pages {sorted(lost)} are lost"
        assert not [name for each in done for name in each.dedup() if name.startswith("errors")]


class Careful(Links):
    """A spider whose callback raises where the site says so."""

    def parse(self, response: Any) -> Any:
        if b"X-Raises" in response.headers:
            raise ValueError("on purpose")
        yield from super().parse(response)


class Other(Careful):
    """Another worker."""


def write(server: Server, rules: str) -> None:
    """Write the rule file as a user does, or remove it."""
    path = Path("dedup-rules", f"127.0.0.1_{server.port}.toml")
    path.parent.mkdir(exist_ok=True)
    if RULES[rules]:
        head = f'format = "dedup-rules/1"\nsite = "127.0.0.1:{server.port}"\n'
        path.write_text(f"{head}[[rule]]\n[rule.ops]\n{RULES[rules]}\n", encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


# -- what is drawn

sites = st.builds(
    Site,
    listed=st.integers(2, 5),
    parents=st.lists(st.integers(0, 1), max_size=3).map(tuple),
    versions=st.integers(1, 2),
    sessions=st.sampled_from(["ab", "abc"]),
)


@st.composite
def answers(draw: st.DrawFn, site: Site, *, odd: bool = True, any_walls: bool = False) -> Copies:
    """URLs that are not simply answered; *odd* answers are those that are not errors, and show no page.

    Missing yet: a wall is known for what it is only where two pages have shown it, and most of what was fetched has not, and a
    log-in page where three have led there (what two lead to may be their page, which has moved): the URLs that are fetched first
    of so many pages. With *any_walls* any URL may be answered so.
    """
    places = [(n, v, s) for n, v in site.pages for s in site.sessions]
    kinds = [kind for kind in ANSWERS if (odd or kind != "thin") and (any_walls or kind not in WALLS)]
    found = draw(st.dictionaries(st.sampled_from(places), st.sampled_from(kinds), max_size=5))
    if odd and site.listed >= 4 and (wall := draw(st.sampled_from([None, *WALLS]))):
        many = 2 if wall == "walled" else 3
        numbers = draw(st.lists(st.integers(0, site.listed - 1), min_size=many, max_size=many, unique=True))
        found |= {(n, v, site.sessions[0]): wall for n in numbers for v in range(site.versions)}
    return found


@st.composite
def visits(draw: st.DrawFn, site: Site, *, odd_before_pause: bool = False) -> Visit:
    """A crawl of a site.

    Missing yet: a crawl that is resumed does not know what was odd before the pause, or the kill; with *odd_before_pause* that is drawn.
    """
    names, at = st.sampled_from(list(RULES)), st.integers(1, len(site.pages) * len(site.sessions))
    rules, stop = draw(names), draw(st.just(0) | at)
    return Visit(
        rules=rules,
        then=draw(st.just(rules) | names),
        at=draw(at),
        sample=draw(st.sampled_from([0, 0.3, 1])),
        learn=draw(st.sampled_from(["off", "off", "off", "close", "live"])),
        stop=stop,
        concurrent=draw(st.sampled_from([1, 4])),
        answers=draw(answers(site, odd=odd_before_pause or not stop)),
    )


def programs(most: int = 2) -> st.SearchStrategy[tuple[Site, list[Visit]]]:
    """A site and crawls of it, one after the other."""
    return sites.flatmap(lambda site: st.tuples(st.just(site), st.lists(visits(site), min_size=1, max_size=most)))


# -- how it is crawled


def crawling(law: Callable[[], None]) -> Deferred[None]:
    """Try the examples of a law in a thread, from where their crawls are waited for."""
    return deferToThread(law)


def awaited(crawl: Awaitable[Any]) -> Any:
    """What came of a crawl."""
    from twisted.internet import reactor

    return blockingCallFromThread(reactor, lambda: ensureDeferred(crawl))  # type: ignore[arg-type]


def in_own_folder(example: Callable[[Server, Shop], None], site: Site) -> None:
    """Try an example with a server of its own, in a folder of its own."""
    shop, before = Shop(site), Path.cwd()
    with tempfile.TemporaryDirectory(dir=before) as folder, Server(shop) as server:
        os.chdir(folder)
        try:
            example(server, shop)
        finally:
            os.chdir(before)


def share(part: float) -> settings:
    """That part of the examples that the profile asks for."""
    return settings(max_examples=max(2, round(part * settings().max_examples)))


async def crawl_once(server: Server, crawler: Crawler) -> Crawl:
    return await run(crawler, server.url("/"))


async def visited(server: Server, shop: Shop, visit: Visit) -> list[Crawl]:
    """Do a visit."""
    from twisted.internet import reactor

    shop.begin(visit.answers)
    write(server, visit.rules)
    options: dict[str, Any] = {"DEDUP_SAMPLE": visit.sample, "DEDUP_LEARN": visit.learn}
    options["CONCURRENT_REQUESTS"] = visit.concurrent
    if visit.stop:
        options["JOBDIR"] = tempfile.mkdtemp(dir=".")
    crawler = crawler_of(Careful, **options)
    if visit.then != visit.rules:
        shop.events[visit.at] = lambda _: write(server, visit.then)
    if visit.stop:
        shop.events[visit.stop] = lambda _: reactor.callFromThread(close, crawler, "stopped")
    done = [await crawl_once(server, crawler)]
    if done[0].stats["finish_reason"] != "finished":
        done.append(await crawl_once(server, crawler_of(Careful, **options)))
    return done


# -- the law


@in_reactor
async def test_no_page_is_lost() -> None:
    @share(0.25)
    @given(programs())
    def law(program: tuple[Site, list[Visit]]) -> None:
        def example(server: Server, shop: Shop) -> None:
            for visit in program[1]:
                shop.check(awaited(visited(server, shop, visit)))

        in_own_folder(example, program[0])

    await crawling(law)


@in_reactor
async def test_a_right_rule_saves_what_it_can() -> None:
    """Beside the law: of each page that is answered well under all its URLs one is fetched, but for spot checks."""

    @share(0.1)
    @given(sites.flatmap(lambda site: st.tuples(st.just(site), answers(site))), st.sampled_from([0, 0.3]))
    def law(drawn: tuple[Site, Copies], sample: float) -> None:
        def example(server: Server, shop: Shop) -> None:
            (done,) = awaited(visited(server, shop, Visit("right", "right", 0, sample, "off", 0, 1, drawn[1])))
            shop.check([done])
            reached, requests = shop.stock()
            spoiled = {at[:2] for at in drawn[1]}
            saved = (len(site.sessions) - 1) * len(reached - spoiled)
            assert shop.asked.total() <= requests.total() - saved + done.stats.get("dedup/samples", 0)

        site = drawn[0]
        in_own_folder(example, site)

    await crawling(law)


@in_reactor
async def test_stock_scrapy_reaches_what_it_is_said_to() -> None:
    @share(0.05)
    @given(sites.flatmap(lambda site: st.tuples(st.just(site), answers(site, any_walls=True))))
    def law(drawn: tuple[Site, Copies]) -> None:
        def example(server: Server, shop: Shop) -> None:
            shop.begin(drawn[1])
            awaited(crawl_once(server, crawler_of(Careful, ADDONS={})))
            assert (shop.shown, shop.asked) == shop.stock()

        in_own_folder(example, drawn[0])

    await crawling(law)


@pytest.mark.redis
@pytest.mark.skipif(not find_spec("scrapy_redis"), reason="scrapy-redis is not installed")
@pytest.mark.filterwarnings("ignore::scrapy.exceptions.ScrapyDeprecationWarning")
@in_reactor
async def test_two_workers_lose_no_page(redis_server: RedisServer) -> None:
    import redis

    fleet = {
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.FifoQueue",
        "SCHEDULER_PERSIST": True,
        "SCHEDULER_IDLE_BEFORE_CLOSE": 1,
        "DEDUP_FLEET": BASE["DOWNLOAD_TIMEOUT"],
        "REDIS_URL": redis_server.url,
    }

    async def both(server: Server, **options: Any) -> list[Crawl]:
        crawlers = [crawler_of(spider, **fleet, **options) for spider in (Careful, Other)]
        return list(await gatherResults([ensureDeferred(crawl_once(server, each)) for each in crawlers]))

    @share(0.05)
    @given(sites.flatmap(lambda site: st.tuples(st.just(site), visits(site))))
    def law(drawn: tuple[Site, Visit]) -> None:
        def example(server: Server, shop: Shop) -> None:
            shop.begin(visit.answers)
            write(server, visit.rules)
            shop.check(awaited(both(server, DEDUP_SAMPLE=visit.sample)))

        site, visit = drawn
        with redis.Redis.from_url(redis_server.url) as client:
            client.flushdb()
        in_own_folder(example, site)

    await crawling(law)


SPIDER = """\
import os

import scrapy


class Killed(scrapy.Spider):
    name = "killed"
    custom_settings = {"USER_AGENT": str(os.getpid()), "RETRY_TIMES": 1, "DEDUP_LEARN": "off", "DEDUP_STARTER": 0, "DEDUP_EXTRA": 0}

    def __init__(self, start, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [start]

    def parse(self, response):
        if b"X-Raises" in response.headers:
            raise ValueError("on purpose")
        yield from response.follow_all(css="a")
"""


@share(0.05)
@given(
    sites.flatmap(lambda site: st.tuples(st.just(site), visits(site).filter(lambda visit: visit.stop > 0))),
    st.booleans(),
)
def kill_law(project: Project, codes: list[int], drawn: tuple[Site, Visit], job: bool) -> None:
    """Kill a crawl after some requests, then crawl to the end: the same job, or anew, where what comes after the kill must be all."""
    site, visit = drawn

    def example(server: Server, shop: Shop) -> None:
        made = Project(Path.cwd())
        for name in ("scrapy.cfg", "shop/__init__.py", "shop/settings.py", "shop/spiders/__init__.py"):
            made.write(name, (project.folder / name).read_text(encoding="utf-8"))
        made.write("shop/spiders/killed.py", SPIDER)
        command = ["crawl", "killed", "-a", f"start={server.url('/')}", "-s", f"DEDUP_SAMPLE={visit.sample}"]
        command += ["-s", f"CONCURRENT_REQUESTS={visit.concurrent}", *(["-s", "JOBDIR=job"] if job else [])]
        shop.begin(visit.answers)
        write(server, visit.rules)
        shop.events[visit.stop] = lambda asked: os.kill(int(asked.headers["user-agent"]), signal.SIGKILL)
        killed = made.scrapy(*command)
        assert killed.returncode in (0, -signal.SIGKILL), killed.stderr
        codes.append(killed.returncode)
        # A queue file that was made and not written yet: stock Scrapy cannot go on with such a job either.
        assume(all(file.stat().st_size for file in Path("job/requests.queue").glob("*/*")))
        if not job:
            shop.begin(visit.answers)
        write(server, visit.then)
        done = made.scrapy(*command)
        assert done.returncode == 0, done.stderr
        assert "dedup/errors" not in done.stderr
        shop.check([])

    in_own_folder(example, site)


def test_kill_9_loses_no_page(project: Project) -> None:
    codes: list[int] = []
    kill_law(project, codes)
    assert -signal.SIGKILL in codes
