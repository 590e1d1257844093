"""Workers of one job: what one of them has seen, the others know, whatever happens to it or to Redis."""

import json
import threading
from typing import Any

import pytest
from scrapy import Request
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import ensureDeferred, gatherResults

from .conftest import Serve
from .crawling import (
    SWAPPED,
    Crawl,
    Links,
    Outcome,
    close,
    crawl,
    crawler_of,
    ignore,
    in_reactor,
    messages,
    rules_of,
    run,
    save_rules,
    statuses,
    until,
    when_counted,
    without,
)
from .server import Asked, page, prose
from .servers import RedisServer
from .test_crawl_learning import EVERY as LEARNED_PAGES
from .test_crawl_learning import Shop
from .test_crawl_retraction import RIGHT, WRONG
from .waiting import PATIENCE, wait_until

redis = pytest.importorskip("redis")
pytest.importorskip("scrapy_redis")

from redis.backoff import NoBackoff
from redis.retry import Retry
from scrapy_redis.dupefilter import RFPDupeFilter
from scrapy_redis.spiders import RedisSpider

pytestmark = [pytest.mark.redis, pytest.mark.filterwarnings("ignore::scrapy.exceptions.ScrapyDeprecationWarning")]

SID = ignore("q.sid")
#: The last one is linked by the start page alone, once.
NUMBER = 12
PAGES = {f"/p?id={number}" for number in (*range(NUMBER), 99)}
#: What the workers of a job share, as the documentation says.
SHARED = "links:requests:dedup:"
NO_SCRIPTS, SCRIPTS = "ACL SETUSER default -@scripting", "ACL SETUSER default +@scripting"


def fleet(server: RedisServer, **settings: Any) -> dict[str, Any]:
    """Settings of a worker."""
    return {
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.FifoQueue",
        "SCHEDULER_PERSIST": True,
        "DEDUP_FLEET": PATIENCE,  # on a busy machine a worker is silent for long
        "REDIS_URL": server.url,
        **settings,
    }


@pytest.fixture(name="client")
def _client(redis_server: RedisServer) -> Any:
    with redis.Redis.from_url(redis_server.url, decode_responses=True) as client:
        yield client


def shop(asked: Asked) -> Any:
    """Pages that link to each other, under a session id of the page that has the link."""
    if asked.path == "/":
        links = [f"/p?id={i}&sid={j}" for i in range(4) for j in range(3)]
        return page("start", links[0], "/p?id=99&sid=0", *links[1:])
    number = int(asked.query["id"])
    return page(prose(number), "/", *(f"/p?id={(number + step) % NUMBER}&sid={step}x{number}" for step in (1, 5, 7)))


def other_visit(asked: Asked) -> Any:
    """The same with other session ids, of which the filter of scrapy-redis knows nothing."""
    return shop(asked).replace("sid=", "sid=other")


LISTS, LENGTH = 3, 12
LISTED = {f"/list?of={i}&page={j}" for i in range(LISTS) for j in range(1, LENGTH + 1)}
#: Requests that plain Scrapy makes.
PLAIN = 1 + 3 * LISTS * LENGTH


def lists(asked: Asked) -> Any:
    """Lists of several pages, each under three session ids, linked by the first page alone."""
    if asked.path == "/":
        return page("start", *(f"/list?of={i}&page=1&sid=0" for i in range(LISTS)))
    number, at = asked.query["of"], int(asked.query["page"])
    links = [f"/list?of={number}&page={other}&sid={sid}" for other in range(1, LENGTH + 1) for sid in range(3)]
    return page(prose(f"{number} {at}"), *(links if at == 1 else ()))


def counts(server: Any) -> Any:
    """How often each page was fetched, but for the start page."""
    found = without("sid", server.hits)
    del found["/"]
    return found


async def workers(*crawlers: Any, start: tuple[str, ...] = ()) -> list[Crawl]:
    """Run workers at once to their ends, none of which fails."""
    done: list[Crawl] = await gatherResults([ensureDeferred(run(each, *start)) for each in crawlers])
    assert [each.stats["finish_reason"] for each in done] == ["finished"] * len(crawlers)
    assert not [fault for each in done for fault in each.faults()]
    return done


@in_reactor
async def test_two_workers_fetch_what_one_would(serve: Serve, redis_server: RedisServer) -> None:
    """Where the page fails that stands for others, wherever these were filtered, one of them is next."""
    failing, tried = "/p?id=3", []

    def site(asked: Asked) -> Any:
        if asked.target.startswith(f"{failing}&"):
            tried.append(asked.target)
        return 404 if len(tried) == 1 and tried == [asked.target] else shop(asked)

    server = serve(site)
    save_rules(server.site, SID)
    done = await workers(*(crawler_of(Links, **fleet(redis_server)) for _ in range(2)), start=(server.url("/"),))
    assert counts(server) == {**dict.fromkeys(PAGES, 1), failing: 2}
    assert server.hits["/"] == 3, "by each worker, and by a link to it"
    assert sum(each.stat("fleet/led") for each in done) >= 1
    assert all(each.stat("fleet/exchanges") for each in done)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"SCHEDULER_PERSIST": False}, id="scrapy-redis empties the queue"),
        pytest.param({"DEDUP_FLEET": 0}, id="without a fleet"),
    ],
)
@in_reactor
async def test_a_next_run_that_begins_anew(
    serve: Serve, redis_server: RedisServer, client: Any, settings: dict[str, Any]
) -> None:
    server = serve(shop)
    save_rules(server.site, SID)
    settings = fleet(redis_server, **settings)
    for _ in range(2):
        await workers(crawler_of(Links, **settings), start=(server.url("/"),))
        assert counts(server) == dict.fromkeys(PAGES, 1)
        assert bool(client.keys("*")) is settings["SCHEDULER_PERSIST"]
        server.routes = {"*": other_visit}
        server.reset()


def followed(crawler: Any) -> Any:
    """A Deferred that fires when a worker has followed the others again, after what Redis may have lost."""
    latest = crawler.stats.get_value("dedup/fleet/exchanges", 0) + 2
    return until(lambda: crawler.stats.get_value("dedup/fleet/exchanges", 0) >= latest)


class Acts(Links):
    """Gives commands to Redis after so many pages, and waits until the others have been followed again."""

    custom_settings = {"CONCURRENT_REQUESTS": 1, "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1}
    number = 0
    server: RedisServer
    acts: dict[int, str]

    async def parse(self, response: Any) -> Any:
        self.number += 1
        if act := self.acts.get(self.number):
            if act == "KILL":
                self.server.kill()
                self.server.start()
            else:
                with redis.Redis.from_url(self.server.url) as client:
                    client.execute_command(*act.split(" "))
            await maybe_deferred_to_future(followed(self.crawler))
        for each in super().parse(response):
            yield each


FAULTY = f"XADD {SHARED}log * e other\n+7\n=what\n!\n-\n?{{"


@pytest.mark.parametrize(
    ("acts", "again", "told"),
    [
        pytest.param({6: "CLIENT KILL TYPE normal"}, 0, {}, id="connections are closed"),
        pytest.param({6: FAULTY}, 0, {"errors/fleet": 4}, id="lines of another form"),
        pytest.param({2: "RPOP links:requests"}, 0, {"fleet/recovered": 1}, id="an answer of Redis is lost"),
        pytest.param({3: NO_SCRIPTS, 6: SCRIPTS}, 3 * 3, {"fleet/lost": 0}, id="Redis does not answer"),
        pytest.param({6: "FLUSHALL"}, 12, {"fleet/lost": 1}, id="Redis begins anew"),
        pytest.param({3: "SAVE", 6: "KILL"}, 12, {"fleet/lost": 1}, id="Redis begins with what it had saved"),
    ],
)
@in_reactor
async def test_what_fails(
    serve: Serve, redis_server: RedisServer, *, acts: dict[int, str], again: int, told: dict[str, int], caplog: Any
) -> None:
    """No page is lost, few are fetched twice, and the next worker knows all of them."""
    server = serve(shop)
    save_rules(server.site, SID)
    settings = fleet(redis_server)
    done = Outcome(await crawl(Acts, server.url("/"), server=redis_server, acts=acts, **settings), server)
    assert set(counts(server)) == PAGES
    assert bool(again) <= server.downloads - len(PAGES) - 2 <= again
    assert done.stats["finish_reason"] == "finished"
    assert {name: done.stat(name) for name in told} == told
    away = NO_SCRIPTS in acts.values()
    assert bool(done.faults()) is (away or "errors/fleet" in told)
    assert len([text for text in messages(caplog) if "nothing is filtered" in text]) == away
    server.routes = {"*": other_visit}
    second = await done.again(**settings)
    assert second.fetched == {"/": 1}
    assert second.stat("errors/fleet") == told.get("errors/fleet", 0)


@pytest.mark.parametrize(
    ("command", "warned"),
    [
        pytest.param(f"HSET {SHARED}meta format 2", ("format 2", "format 1", f"{SHARED}*"), id="another format"),
        pytest.param(f"RPUSH {SHARED}packed nonsense", (), id="what cannot be read"),
    ],
)
@in_reactor
async def test_a_fleet_that_cannot_be_joined(
    serve: Serve, redis_server: RedisServer, client: Any, *, command: str, warned: tuple[str, ...], caplog: Any
) -> None:
    """The crawl goes on, filters nothing, and leaves alone what another release has written."""
    server = serve({"/": page("start", "/p?sid=1", "/p?sid=2"), "/p": page(prose("p"))})
    save_rules(server.site, SID)
    settings = fleet(redis_server)
    await crawl(Links, **settings)
    client.execute_command(*command.split())

    def held() -> dict[str, Any]:
        with redis.Redis.from_url(redis_server.url) as raw:
            return {key: raw.dump(key) for key in raw.scan_iter(f"{SHARED}*")}

    before = held()
    assert before
    done = await crawl(Links, server.url("/"), **settings)
    assert len(done.items) == server.downloads == 3, "nothing is filtered"
    assert done.stats["finish_reason"] == "finished"
    assert done.stat("errors/fleet") >= 1
    if warned:
        assert held() == before
        (warning,) = [text for text in messages(caplog) if "cannot join" in text]
        assert [part for part in warned if part not in warning] == []


class WaitsForRedis(Links):
    """Starts when Redis answers again, and what says that the job is joined is counted."""

    client: Any
    counted: str
    #: Of the connections of the fleet, as Redis knows them.
    names: set[str]

    async def start(self) -> Any:
        stats: Any = self.crawler.stats
        assert stats.get_value("dedup/errors/fleet")
        assert not stats.get_value(self.counted)
        self.client.execute_command(*SCRIPTS.split())
        await maybe_deferred_to_future(until(lambda: stats.get_value(self.counted)))
        self.names = {each["name"] for each in self.client.client_list() if each["cmd"] == "evalsha"}
        async for request in super().start():
            yield request


async def late(client: Any, url: str, counted: str, **settings: Any) -> Crawl:
    """Run a worker that cannot join its job as its spider opens."""
    client.execute_command(*NO_SCRIPTS.split())
    done = await crawl(WaitsForRedis, url, client=client, counted=counted, **settings)
    assert "fleet/lost" not in done.dedup()
    return done


class Tries(NoBackoff):
    """A user's own way to wait between tries, which counts them."""

    waits = 0

    def compute(self, failures: int) -> float:
        Tries.waits += 1
        return super().compute(failures)


@in_reactor
async def test_a_job_is_joined_when_redis_answers(serve: Serve, redis_server: RedisServer, client: Any) -> None:
    """Connections are as REDIS_PARAMS says: also in how often they try."""
    server = serve(shop)
    save_rules(server.site, SID)
    retry = Retry(Tries(), 7, (redis.exceptions.NoPermissionError,))
    settings = fleet(redis_server, REDIS_PARAMS={"retry": retry, "client_name": "ours"})
    done = await late(client, server.url("/"), "dedup/fleet/exchanges", **settings)
    assert Tries.waits >= 7
    assert done.crawler.spider.names == {"ours"}  # type: ignore[union-attr]
    assert counts(server) == dict.fromkeys(PAGES, 1)
    server.routes = {"*": other_visit}
    server.reset()
    await workers(crawler_of(Links, **settings), start=(server.url("/"),))
    assert server.hits == {"/": 1}, "others hear of all pages"


@in_reactor
async def test_rules_that_one_worker_learns(serve: Serve, redis_server: RedisServer, client: Any) -> None:
    """The others use them, have them from Redis, and know by them what was fetched before, also those that join later."""
    # What three URLs in a row show may be an odd response, whose page is free again.
    shop = Shop(serve, copies=2)
    url = shop.server.url("/")
    settings = fleet(redis_server)
    learner = crawler_of(Links, DEDUP_LEARN="live", DEDUP_DIR="learned", **settings)
    other = crawler_of(Links, DEDUP_DIR="other", **settings)
    when_counted(other, SWAPPED, shop.released.set)
    begun = ensureDeferred(run(learner, url))
    await until(lambda: shop.server.hits and learner.stats.get_value("dedup/fleet/led"))
    done = [*await workers(other, start=(url,)), await begun]
    for each in done:
        shop.check(each)
    assert set(counts(shop.server)) == {"/more", *LEARNED_PAGES}
    assert shop.server.downloads < len(LEARNED_PAGES) * 2 * 0.8
    assert done[1].stat("fleet/published") >= 1
    assert not rules_of(shop.server.site, "other")
    taken = sum(client.scard(key) for key in client.scan_iter(f"{SHARED}*") if client.type(key) == "set")
    assert taken == 1 + 1 + len(LEARNED_PAGES), "by the rules that count"
    shop.server.reset()
    shop.server.routes = {"*": lambda asked: shop.answer(asked).replace("sid=s", "sid=t")}
    await late(client, url, SWAPPED, DEDUP_DIR="late", **settings)
    await workers(crawler_of(Links, DEDUP_DIR="learned", **settings), start=(url,))
    assert shop.server.hits == {"/": 2}


class Pushed(RedisSpider):  # type: ignore[misc]
    """Starts with what is pushed into Redis, when it is idle, and waits for more."""

    name = "links"
    parse = Links.parse
    #: Whether what is pushed is filtered as links are.
    filters = False

    async def start(self) -> Any:  # earlier versions of Scrapy would begin with what stands in Redis then
        for request in ():
            yield request

    def make_request_from_data(self, data: bytes) -> Any:
        request = super().make_request_from_data(data)
        return request.replace(dont_filter=False) if self.filters else request


def push(client: Any, *urls: str) -> None:
    client.rpush("links:start_urls", *(json.dumps({"url": url}) for url in urls))


@pytest.mark.parametrize("filters", [True, False])
@in_reactor
async def test_urls_that_are_pushed_into_redis(
    serve: Serve, redis_server: RedisServer, client: Any, filters: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pushed, "filters", filters)
    server = serve(shop)
    save_rules(server.site, SID)
    one, same, other = (f"/p?id={number}&sid=pushed" for number in ("3", "3&sid=again", "9"))
    push(client, *map(server.url, ("/", one, same, other)))
    settings = fleet(redis_server, MAX_IDLE_TIME_BEFORE_CLOSE=1)
    await workers(*(crawler_of(Pushed, **settings) for _ in range(2)))
    assert [server.hits[each] for each in ("/", one, same, other)] == (
        [1, 1, 0, 1] if filters else [2, 1, 1, 1]  # the start page by a link to it, too
    )
    assert counts(server) == {**dict.fromkeys(PAGES, 1), "/p?id=3": 1 if filters else 2}, "links lead to none again"


@in_reactor
async def test_what_is_left_is_done_although_spiders_wait_for_urls(
    serve: Serve, redis_server: RedisServer, client: Any
) -> None:
    """What wrong rules have filtered is fetched whenever all are idle: a rule of the first URLs, then one of later ones."""
    servers = [serve(lists) for _ in range(2)]
    for server in servers:
        save_rules(server.site, WRONG, RIGHT)
    crawlers = [crawler_of(Pushed, **fleet(redis_server, DEDUP_SAMPLE=0.02)) for _ in range(2)]
    begun = [ensureDeferred(run(each)) for each in crawlers]
    for server in servers:
        push(client, server.url("/"))
        await until(lambda: any(each.called for each in begun) or set(without("sid", server.hits)) >= LISTED)  # noqa: B023
        assert not any(each.called for each in begun), "the spiders stay open"
        assert statuses(server.site)["q.page"] == "suspended"
    for each in crawlers:
        close(each, "over")
    done = [await each for each in begun]
    assert not [fault for each in done for fault in each.faults()]
    assert all(server.downloads < PLAIN * 0.75 for server in servers), "the right rule goes on to save"


@in_reactor
async def test_a_worker_that_falls_silent(serve: Serve, redis_server: RedisServer, client: Any) -> None:
    """What it was about to fetch another one fetches while it goes on, and once; a worker that was only slow ends as any other."""
    answers = threading.Event()

    def site(asked: Asked) -> Any:
        if asked.path != "/" and asked.headers["user-agent"] == "silent":
            answers.wait(PATIENCE)
        return shop(asked)

    def hits(worker: str) -> Any:
        return without("sid", [asked.target for asked in server.asked if asked.headers["user-agent"] == worker])

    class NeverIdle(Links):
        """Is at work until the pages are fetched that the other one has lost."""

        async def parse(self, response: Any) -> Any:
            if response.url.endswith("/"):
                await maybe_deferred_to_future(until(lambda: lost <= set(hits("second"))))
            for each in super().parse(response):
                yield each

    server = serve(site)
    save_rules(server.site, SID)
    client.acl_setuser("silent", enabled=True, passwords="+secret", keys="*", channels="*", commands=["+@all"])
    url = redis_server.url.replace("//", "//silent:secret@")
    silent = crawler_of(
        Links, **fleet(redis_server, DEDUP_FLEET=1, REDIS_URL=url, USER_AGENT="silent", CONCURRENT_REQUESTS=2)
    )
    first = ensureDeferred(run(silent, server.url("/")))
    await until(lambda: hits("silent").total() == 3)
    lost = set(hits("silent")) - {"/"}
    await followed(silent)
    # As long as the event loop waits a thread shows that the worker is alive: by keys that expire.
    client.delete(*(key for key in client.scan_iter(f"{SHARED}*") if client.ttl(key) >= 0))
    wait_until(lambda: [key for key in client.scan_iter(f"{SHARED}*") if client.ttl(key) >= 0])
    client.acl_setuser("silent", enabled=False)
    client.execute_command("CLIENT", "KILL", "USER", "silent")
    (second,) = await workers(
        crawler_of(NeverIdle, **fleet(redis_server, DEDUP_FLEET=1, USER_AGENT="second")), start=(server.url("/"),)
    )
    found = hits("second")
    del found["/"]
    assert found == dict.fromkeys(PAGES, 1)
    assert (second.stat("fleet/dead"), second.stat("fleet/recovered"), second.stat("fleet/led")) == (1, 1, 1)
    client.acl_setuser("silent", enabled=True)
    await followed(silent)
    answers.set()
    slow = await first
    assert slow.stats["finish_reason"] == "finished"
    assert set(hits("silent")) == {"/", *lost}


@in_reactor
async def test_what_a_refuted_rule_has_filtered_in_any_worker_is_fetched(
    serve: Serve, redis_server: RedisServer
) -> None:
    """The rule acts in none of them any more, nor in one that comes later, though they have no folder in common."""
    server = serve(lists)
    folders = "one", "other"
    for folder in folders:
        save_rules(server.site, WRONG, RIGHT, directory=folder)
    settings = fleet(redis_server, DEDUP_SAMPLE=0.02)
    done = await workers(*(crawler_of(Links, DEDUP_DIR=each, **settings) for each in folders), start=(server.url("/"),))
    assert set(without("sid", [url for each in done for url in Outcome(each, server).urls])) >= LISTED, "none is lost"
    assert sum(each.stat("refuted") for each in done) >= 1
    assert {statuses(server.site, folder)["q.page"] for folder in folders} == {"suspended"}
    assert server.downloads < PLAIN * 0.9, "also where both have refuted it the right rule goes on to save"
    assert sum(each.stat("fleet/published") for each in done) >= 1
    server.reset()
    server.routes = {"*": lambda asked: lists(asked) if asked.query else page("start", "/list?of=9&page=1&sid=0")}
    more = fleet(redis_server, DEDUP_DIR="other", DEDUP_SAMPLE=0)
    third = await workers(crawler_of(Links, **more), start=(server.url("/"),))
    assert counts(server) == {f"/list?of=9&page={number}": 1 for number in range(1, LENGTH + 1)}
    assert third[0].stat("refuted") == 0


@in_reactor
async def test_what_a_dead_worker_had_filtered_from_the_queue_is_fetched(
    serve: Serve, redis_server: RedisServer, client: Any
) -> None:
    """It had popped them, and was killed before the store had their rows: the filter of scrapy-redis knows them, nobody else."""
    server = serve(lists)
    save_rules(server.site, WRONG, RIGHT)
    scrapy_redis = RFPDupeFilter(client, "links:dupefilter")
    popped = [server.url(f"/list?of=1&page={at}&sid={sid}") for at in range(2, LENGTH + 1) for sid in range(3)]
    assert not any(scrapy_redis.request_seen(Request(url)) for url in popped)
    await workers(crawler_of(Links, **fleet(redis_server, DEDUP_SAMPLE=0.1)), start=(server.url("/"),))
    assert statuses(server.site)["q.page"] == "suspended"
    assert set(without("sid", server.hits)) >= LISTED, "no page is lost"
    assert server.downloads < PLAIN * 0.75, "the right rule goes on to save"
