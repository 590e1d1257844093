"""Workers of one job: what one of them has seen, the others know, whatever happens to it or to Redis."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from random import Random
from threading import Event, Thread, current_thread
from time import monotonic
from typing import Any, ClassVar

import pytest
from scrapy import Request
from scrapy.settings import BaseSettings
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

from scrapy_dedup.crawl.seen.journal_lines import JournalPage
from scrapy_dedup.crawl.seen.rekeying import Rekeying
from scrapy_dedup.crawl.seen.seen import Waiting
from scrapy_dedup.crawl.support.compatibility import sleep
from scrapy_dedup.crawl.support.components import components_of
from scrapy_dedup.crawl.support.faults import Faults as CrawlFaults
from scrapy_dedup.rules import Ignore, Rule, RuleBook, Status

from .conftest import Serve
from .crawling import Links, close, crawler_of, in_reactor, rule, run, write_rules
from .crawling_parts import crawler
from .server import Asked, Server, page, prose
from .servers import RedisServer
from .waiting import PATIENCE, wait_until

LISTS, LENGTH = 4, 12
EVERY = {f"/list?of={i}&page={j}" for i in range(LISTS) for j in range(1, LENGTH + 1)}
#: Requests that plain Scrapy makes.
PLAIN = 1 + 3 * LISTS * LENGTH


def linked_once(asked: Asked) -> Any:
    """Lists of several pages, each under three session ids, linked by the first page alone."""
    if asked.path == "/":
        return page("start", *(f"/list?of={i}&page=1&sid=0" for i in range(LISTS)))
    number, at = asked.query["of"], int(asked.query["page"])
    links = [f"/list?of={number}&page={other}&sid={sid}" for other in range(1, LENGTH + 1) for sid in range(3)]
    return page(prose(f"{number} {at}"), *(links if at == 1 else ()))


def learned(server: Server, *keys: str) -> list[Rule]:
    return [rule(f"127.0.0.1:{server.port}", {f"q.{key}": Ignore()}, status=Status.ACTIVE) for key in keys]


def status(server: Server) -> dict[str, Status]:
    found = RuleBook.load("dedup-rules").for_site(f"127.0.0.1:{server.port}")
    return {key: each.status for each in found for key in each.ops}


def pages_of(urls: list[str]) -> Counter[str]:
    return Counter(url.rpartition("&sid")[0] for url in urls if url.startswith("/list"))


pytest.importorskip("scrapy_redis")
redis = pytest.importorskip("redis")

from redis.backoff import NoBackoff
from redis.retry import Retry
from scrapy_redis.dupefilter import RFPDupeFilter
from scrapy_redis.scheduler import Scheduler
from scrapy_redis.spiders import RedisSpider

from scrapy_dedup.crawl.fleet.log_data import SharedRuleTexts
from scrapy_dedup.crawl.fleet.members import BUSY, IDLE, Members
from scrapy_dedup.crawl.fleet.shared_lines import page_of, taken_line
from scrapy_dedup.crawl.fleet.shared_log import BUCKETS, FRESH, NOTHING, SharedLog
from scrapy_dedup.crawl.fleet.shared_rules import RuleVersions
from scrapy_dedup.crawl.fleet.shared_seen import SharedSeen

pytestmark = [pytest.mark.redis, pytest.mark.filterwarnings("ignore::scrapy.exceptions.ScrapyDeprecationWarning")]


#: With a queue that blocks where it is empty.
FLEET: dict[str, Any] = {
    "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.FifoQueue",
    "SCHEDULER_PERSIST": True,
    "SCHEDULER_IDLE_BEFORE_CLOSE": 1,
    "DEDUP_FLEET": PATIENCE,  # on a busy machine a worker is silent for long
}


class Faults:
    """Notes the faults that are reported."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def report(self, where: str, what: str) -> None:
        self.told.append(what)

    def count(self, where: str) -> None:
        self.told.append(where)


class Stats:
    def inc_value(self, name: str, count: int = 1) -> None:
        """Count nothing."""


class Worker(SharedSeen):
    """A worker without a crawl, whose slots are the hash of the URL's path."""

    def __init__(self, server: RedisServer) -> None:
        self.faults = Faults()
        log = SharedLog(BaseSettings({"REDIS_URL": server.url, "REDIS_PARAMS": {"socket_timeout": 5}}), "links")
        super().__init__(self.faults, Stats(), log)  # type: ignore[arg-type]

    def began(self, digest: str = "digest") -> "Worker":
        self.open(None, digest, lambda page: page.slot)
        return self

    def take_if_free(self, number: int) -> bool:
        """Take the page of that number, unless another worker has it, as the dupe filter does."""
        made = page_numbered(number)
        if made.slot in self or not self.claim(made):
            return False
        self.take(made.slot, made.url, made.callback)
        return True


def page_numbered(number: int) -> JournalPage:
    return JournalPage(number, f"http://shop.test/viewtopic.php?f=3&t={number}&start=20", "parse")


@pytest.fixture(name="worker")
def _worker(redis_server: RedisServer) -> Iterator[Callable[..., Worker]]:
    made: list[Worker] = []

    def began(**kwargs: Any) -> Worker:
        made.append(Worker(redis_server).began(**kwargs))
        return made[-1]

    yield began
    for each in made:
        each.close()
        each.log.close()


def test_lines_say_what_a_page_is() -> None:
    for made in (
        JournalPage(7, "http://shop.test/?a=b c", "parse", current=False),
        JournalPage(1 << 59, "http://shop.test/ü\udcff", "parse[a rule]", "digest", plain=False, current=False),
    ):
        assert page_of(taken_line(made)) == made


def test_one_of_two_takes_a_page(worker: Callable[..., Worker]) -> None:
    one, two = worker(), worker()
    assert one.job == two.job
    assert one.take_if_free(7)
    assert not two.take_if_free(7)
    assert two.url(7) == page_numbered(7).url
    assert not two.is_fetched(7)
    one.fetched(7, links=True)
    assert one.exchange()
    assert two.exchange()
    assert two.is_fetched(7)
    assert [change.slot for change in two.changes if change.fetched] == [7]


def test_what_waits_elsewhere_is_next_where_a_page_has_failed(worker: Callable[..., Worker]) -> None:
    one, two = worker(), worker()
    one.take_if_free(7)
    two.take_if_free(7)
    waiting = Waiting(Request("http://shop.test/7?sid=1"), None)
    assert two.wait(7, waiting)
    assert one.release(7) is None
    one.exchange()
    two.exchange()
    assert [change.next for change in two.changes] == [waiting]
    assert two.take_if_free(7)
    assert not one.take_if_free(7)


def test_what_was_claimed_and_does_not_go_out_is_free_again(worker: Callable[..., Worker]) -> None:
    one, two = worker(), worker()
    assert one.claim(page_numbered(7))
    one.unclaim(7)
    one.exchange()
    assert two.take_if_free(7)


def test_a_worker_that_joins_knows_all_even_what_is_packed(
    worker: Callable[..., Worker], redis_server: RedisServer
) -> None:
    one = worker()
    number = 5 * FRESH
    for each in range(number):
        one.take_if_free(each)
        if each % 2:
            one.fetched(each)
    one.exchange()
    while one.log.pack():
        pass
    with redis.Redis.from_url(redis_server.url) as client:
        keys = list(client.scan_iter(f"{one.log.prefix}*"))
        assert client.xlen(f"{one.log.prefix}log") < 2 * FRESH
        log = [key for key in keys if b":slots:" not in key]
        assert sum(client.memory_usage(key) for key in log) / number < 80, "bytes per page"
    two = worker()
    assert len(two) == number
    assert {each for each in range(number) if two.is_fetched(each)} == set(range(1, number, 2))
    assert not two.take_if_free(3)
    three = worker()
    three.last = "1-0"  # it was away while all that was packed
    assert three.exchange()
    assert three.lags
    assert 3 not in three, "nothing is filtered before it has caught up"
    three.catch_up(list(three.log.packed(three.last)))
    three.exchange()
    assert 3 in three


def test_claims_of_other_rules_are_not_decided_before_they_are_taken_over(worker: Callable[..., Worker]) -> None:
    one, two = worker(), worker()
    one.take_if_free(7)
    two.exchange()
    one.log.write_slots(2, [7 + 100])
    assert one.log.publish(
        1, one.last, SharedRuleTexts(2, "other", {"shop.test": "text"}, {"shop.test x": "{}"}), [200]
    ) == (
        True,
        2,
    )
    assert two.take_if_free(8), "by the rules of before"
    assert (two.version, two.newest) == (1, 2)
    assert two.log.rules(1) == SharedRuleTexts(2, "other", {"shop.test": "text"}, {"shop.test x": "{}"})
    for each in (one, two):
        each.exchange()
        move = each.move("other", lambda page: page.slot + 100)
        assert move is not None
        assert move.some(60)
        each.moved(move)
        each.use_version(2, lambda page: int(page.url.split("t=")[1].split("&")[0]) + 100, agrees=True)
    assert {107, 108} == {slot for slot in (7, 8, 107, 108) if slot in two}
    two.exchange()
    three = worker(digest="other")
    three._slot_of = lambda page: page.slot  # the slots that it is asked for below are those of now
    assert not three.claim(JournalPage(108, "http://shop.test/8", "parse")) or 108 not in three
    with pytest.raises(KeyError):
        three.url(200)
    assert one.log.publish(1, one.last, SharedRuleTexts(2, "late", {}, {}), []) == (False, 2)


def test_what_was_taken_as_other_rules_began_to_count_has_its_slot_by_them(
    worker: Callable[..., Worker], redis_server: RedisServer
) -> None:
    one, two = worker(), worker()
    assert two.log.publish(1, two.last, SharedRuleTexts(2, "other", {}, {}), []) == (True, 2)
    made = page_numbered(8)
    one.take(made.slot, made.url, made.callback)  # passes no filter, so that it is not claimed
    assert one.exchange(), "it hears of the rules with this answer"
    move = one.move("other", lambda page: page.slot + 100)
    assert move is not None
    assert move.some(60)
    one.moved(move)
    one.use_version(2, lambda page: page.slot + 100, agrees=True)
    assert one.exchange()
    with redis.Redis.from_url(redis_server.url) as client:
        assert client.smembers(f"{one.log.prefix}slots:2:108") == {b"108"}


@in_reactor
async def test_a_version_counts_although_the_others_never_rest(
    worker: Callable[..., Worker], redis_server: RedisServer
) -> None:
    one, two = worker(), worker()
    one.take_if_free(0)
    numbers = iter(range(1, 10_000))

    class Move(Rekeying):
        """Whenever all pages are moved the other worker takes further ones, more of them than are written at once."""

        def some(self, seconds: float) -> bool:
            done = super().some(seconds)
            for number in islice(numbers, 600 if done else 0):
                two.take(number, page_numbered(number).url, "parse")
            two.exchange()
            return done

    assert one._journal is not None
    move = Move(one._journal, "other", lambda page: page.slot + 1_000_000)
    components = components_of(crawler())
    versions = RuleVersions(components.stats, one, components.identities, components.suspended, components.faults)
    taken_over = await deferred_from_coro(versions.publish(RuleBook(), ["shop.test"], "other", move))
    assert taken_over is not None
    assert one.moved(move)[0] == []
    taken_over()
    assert (one.version, one.newest) == (2, 2)
    for each in (one, two):
        each.exchange()
    assert two.newest == 2
    with redis.Redis.from_url(redis_server.url) as client:
        assert client.sismember(f"{one.log.prefix}slots:2:{1_000_000 % BUCKETS}", 1_000_000)
        written = sum(client.scard(key) for key in client.scan_iter(f"{one.log.prefix}slots:2:*"))
    assert written >= 1801, "what had come before each try"


class CountsTries(NoBackoff):
    """A user's own way to wait between tries, which counts them."""

    waits: ClassVar[int] = 0

    def compute(self, failures: int) -> float:
        CountsTries.waits += 1
        return 0.0


def test_tries_are_those_of_the_user(redis_server: RedisServer) -> None:
    CountsTries.waits = 0
    params = {"socket_timeout": 5, "retry": Retry(CountsTries(), 7)}
    log = SharedLog(BaseSettings({"REDIS_URL": redis_server.url, "REDIS_PARAMS": params}), "links")
    redis_server.kill()
    with pytest.raises(redis.ConnectionError):
        log.join("job", "digest")
    assert CountsTries.waits >= 7
    log.close()


def test_nothing_is_filtered_while_redis_is_away(worker: Callable[..., Worker], redis_server: RedisServer) -> None:
    one, two = worker(), worker()
    one.take_if_free(7)
    two.exchange()
    assert 7 in two
    redis_server.kill()
    assert two.take_if_free(8), "it is fetched, whatever the others do"
    assert 7 not in two
    assert two.faults.told == ["Redis does not answer, so that nothing is filtered"]
    redis_server.start()  # it has kept nothing
    assert not two.exchange()
    assert two.is_lost
    assert two.take_if_free(7)


@pytest.mark.parametrize("redis_server", [True], indirect=True)
def test_what_redis_has_kept_is_known_again(worker: Callable[..., Worker], redis_server: RedisServer) -> None:
    one, two = worker(), worker()
    one.take_if_free(7)
    redis_server.kill()
    two.take_if_free(8)
    redis_server.start()
    assert two.exchange()
    assert not two.is_lost
    assert 7 in two
    one.exchange()
    assert 8 in one
    assert not two.take_if_free(7)


@in_reactor
async def test_a_log_that_has_lost_its_end_is_read_anew(
    worker: Callable[..., Worker], redis_server: RedisServer
) -> None:
    one = worker()
    one.take_if_free(7)
    one.take_if_free(8)
    with redis.Redis.from_url(redis_server.url) as client:
        client.xdel(f"{one.log.prefix}log", one.last)  # as if Redis had begun with what it had written before
        client.srem(f"{one.log.prefix}slots:1:8", 8)
    assert not one.exchange()
    assert one.is_lost

    async def entries() -> Any:
        for entry in one.log.packed(NOTHING):
            yield entry

    await one.begin_anew(one.join("digest"), "digest", entries())
    assert 7 in one
    assert one.take_if_free(8)


def test_a_silent_worker_is_dead_and_another_one_leads(worker: Callable[..., Worker]) -> None:
    one, two = worker(), worker()
    first, second = Members(one.log, PATIENCE), Members(two.log, PATIENCE)
    assert first.look()
    assert second.look()
    assert (first.leads, second.leads) == (True, False)
    assert second.others == [BUSY]
    assert not second.are_idle
    second.become(IDLE)
    assert first.look()
    assert first.others == [IDLE]
    silent = Members(one.log, 0.001)
    assert silent.look(), "it is the last time that it shows that it is alive"
    wait_until(lambda: second.look() and second.leads)
    assert second.dead == [one.log.worker]
    assert second.forget_dead() == 1
    assert (second.dead, second.others, second.are_idle) == ([], [], True)
    assert second.state == IDLE
    assert silent.look(), "it was slow, and is to be taken for dead again"
    wait_until(lambda: second.look() and second.dead == [one.log.worker])
    assert second.forget_dead() == 0, "it is counted once"
    assert second.close() == 0


def test_a_worker_whose_event_loop_waits_is_alive(worker: Callable[..., Worker], redis_server: RedisServer) -> None:
    one = worker()
    members = Members(one.log, 0.05)
    members.open()
    with redis.Redis.from_url(redis_server.url) as client:
        client.delete(f"{one.log.prefix}alive:{one.log.worker}")
        wait_until(lambda: client.exists(f"{one.log.prefix}alive:{one.log.worker}"))
        assert members.close() == 0
        assert not members.look(), "it does not come back"
        assert not client.exists(f"{one.log.prefix}alive:{one.log.worker}")


def test_no_answer_about_the_others_takes_the_place_of_a_later_one(
    worker: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = worker(), worker()
    first, second = Members(one.log, PATIENCE), Members(two.log, PATIENCE)
    assert second.look()
    ask, asked, later = one.log.beat, Event(), Event()

    def beat(*args: Any) -> Any:
        found = ask(*args)
        if current_thread() is slow:
            asked.set()  # Redis has answered, but that is not read yet
            later.wait(0.5)  # unless the other one has to wait for its turn
        else:
            later.set()
        return found

    monkeypatch.setattr(one.log, "beat", beat)
    slow, quick = Thread(target=first.look), Thread(target=first.look)
    slow.start()
    asked.wait(PATIENCE)
    second.become(IDLE)
    quick.start()
    slow.join(PATIENCE)
    quick.join(PATIENCE)
    assert first.others == [IDLE]


def test_slots_need_few_bytes_in_a_large_job(worker: Callable[..., Worker], redis_server: RedisServer) -> None:
    one = worker()
    number = 200_000
    chance = Random(1)
    one.log.write_slots(1, [chance.getrandbits(60) for _ in range(number)])
    with redis.Redis.from_url(redis_server.url) as client, client.pipeline(transaction=False) as pipe:
        for key in client.scan_iter(f"{one.log.prefix}slots:*", count=1000):
            pipe.memory_usage(key)
        assert sum(pipe.execute()) / number < 20, "bytes per page"


def test_slots_by_rules_of_before_are_forgotten(worker: Callable[..., Worker], redis_server: RedisServer) -> None:
    one = worker()
    one.take_if_free(7)
    with redis.Redis.from_url(redis_server.url) as client:
        for version in (1, 2):
            one.log.write_slots(version + 1, [7])
            rules = SharedRuleTexts(version + 1, f"digest {version}", {}, {})
            assert one.log.publish(version, one.last, rules, [8]) == (True, version + 1)
        versions = {key.split(b":slots:")[1].split(b":")[0] for key in client.scan_iter(f"{one.log.prefix}slots:*")}
        assert versions == {b"3"}
        one.log.write_slots(1, [7])  # by somebody who comes late
        one.log.clear()
        assert not list(client.scan_iter(f"{one.log.prefix}slots:*"))


def test_a_worker_that_was_taken_for_dead_is_seen_again(worker: Callable[..., Worker]) -> None:
    one, two = worker(), worker()
    first, second = Members(one.log, PATIENCE), Members(two.log, PATIENCE)
    assert Members(one.log, 0.001).look()
    wait_until(lambda: second.look() and second.dead)
    assert second.forget_dead() == 1
    assert second.look()
    assert (second.others, second.dead) == ([], [])
    assert first.look()
    assert second.look()
    assert second.others == [BUSY]


def test_dead_workers_are_not_left(worker: Callable[..., Worker]) -> None:
    one, _, three = worker(), worker(), worker()
    first, third = Members(one.log, 5), Members(three.log, 5)
    assert first.look()
    assert third.look()
    assert first.close() == 1, "the second one has joined, and shown nothing since"
    assert third.close() == 0


def test_another_job_is_not_followed(worker: Callable[..., Worker], redis_server: RedisServer) -> None:
    one = worker()
    one.take_if_free(7)
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    two = Worker(redis_server)
    two.log.join("another job", "digest")
    for number in range(2 * FRESH):
        two.log.exchange(NOTHING, 1, [taken_line(page_numbered(number + 100))])
    while two.log.pack():
        pass
    two.log.close()
    assert not one.exchange()
    assert one.is_lost


def test_another_job_gets_no_rules_of_this_one(worker: Callable[..., Worker], redis_server: RedisServer) -> None:
    one = worker()
    one.take_if_free(7)
    members = Members(one.log, PATIENCE)
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
        two = Worker(redis_server)
        two.log.join("another job", "digest")
        assert one.log.publish(1, NOTHING, SharedRuleTexts(2, "old", {"shop.test": "old"}, {}), [7]) == (False, 0)
        members.finish(one.last)
        assert members.leads, "it is alive"
        assert client.hgetall(f"{one.log.prefix}meta") == {
            b"job": b"another job",
            b"format": b"1",
            b"version": b"1",
            b"digest": b"digest",
            b"trimmed": b"0-0",
        }
        assert not client.exists(f"{one.log.prefix}rules")
        # The same job, begun anew by a worker that was quicker to see that Redis has lost it.
        client.flushall()
        two.log.join(one.job, "digest")
        assert one.log.publish(1, one.last, SharedRuleTexts(2, "old", {"shop.test": "old"}, {}), [7]) == (False, 0)
        assert not client.exists(f"{one.log.prefix}rules")
    two.log.close()


def test_another_format_is_left_alone(
    worker: Callable[..., Worker], redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    one = worker()
    one.take_if_free(7)
    with redis.Redis.from_url(redis_server.url) as client:
        client.hset(f"{one.log.prefix}meta", "format", 2)
        held = {key: client.dump(key) for key in client.scan_iter()}
        two = Worker(redis_server)
        two._faults = CrawlFaults(two._stats)
        two.began()
        assert two.adrift
        assert two.take_if_free(7), "nothing is filtered"
        two.fetched(7)
        assert not two.has_lines, "they would be held for nothing"
        members = Members(two.log, PATIENCE)
        assert not members.look()
        assert not members.leads
        assert {key: client.dump(key) for key in client.scan_iter()} == held
    (warning,) = [each.getMessage() for each in caplog.records if "cannot join" in each.getMessage()]
    assert "format 2" in warning
    assert "format 1" in warning
    assert "links:requests:dedup:*" in warning
    two.close()
    two.log.close()


def test_it_is_known_who_is_about_to_fetch_a_page(worker: Callable[..., Worker]) -> None:
    one, two, three = worker(), worker(), worker()
    for number in (7, 8, 9):
        assert one.take_if_free(number)
    assert two.exchange()
    for number in (7, 8, 9):
        two.note_sent(number)  # whoever has taken them
    two.fetched(8)
    two.exchange()
    three.exchange()
    three.note_sent(9)  # two has given it back to the queue
    three.exchange()
    assert one.exchange()
    late = worker()
    for each in (one, late):
        assert each.slots_sent_by([one.log.worker]) == set(), "what it has taken is in the queue"
        assert each.slots_sent_by([two.log.worker]) == {7}
        assert each.slots_sent_by([two.log.worker, three.log.worker]) == {7, 9}
    move = one.move("other", lambda page: page.slot + 100)
    assert move is not None
    assert move.some(60)
    one.moved(move)
    assert one.slots_sent_by([two.log.worker]) == {107}
    one.release(107)
    assert one.slots_sent_by([two.log.worker]) == set()


def test_what_is_packed_while_it_is_read_is_read(worker: Callable[..., Worker], monkeypatch: Any) -> None:
    one, two = worker(), worker()
    number = 3 * FRESH
    for each in range(number):
        one.take_if_free(each)
    read = two.log._client.xrange

    def packed_before(*args: Any, **kwargs: Any) -> Any:
        one.log.pack()
        return read(*args, **kwargs)

    monkeypatch.setattr(two.log._client, "xrange", packed_before)
    assert len(list(two.log.packed(NOTHING))) == number


def test_lines_of_another_form_are_skipped_and_counted(worker: Callable[..., Worker]) -> None:
    one, two = worker(), worker()
    one.log.exchange(one.last, 1, ["+7", "=what", "!", "-", "?{", taken_line(page_numbered(9))])
    assert two.exchange()
    assert two.faults.told == ["fleet"] * 4
    assert 9 in two
    three = worker()
    assert three.faults.told == ["fleet"] * 4
    assert 9 in three


def shop(asked: Asked) -> Any:
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&sid={j}" for i in range(8) for j in range(3)))
    number = int(asked.query["id"])
    return page(prose(str(number)), "/", *(f"/p?id={(number + step) % 24}&sid={step}x{number}" for step in (1, 5, 7)))


def said_in(log: SharedLog, sign: str) -> set[str]:
    """What lines of one kind say."""
    lines = [line for entry in log.packed(NOTHING) for line in entry.lines]
    return {line[1:].rstrip("+") for line in lines if line[0] == sign}


class Other(Links):
    """A worker that finds the pages by itself only if nobody else does."""


@in_reactor
async def test_two_crawls_fetch_what_one_would(serve: Serve, redis_server: RedisServer) -> None:
    server = serve(shop)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    settings = {**FLEET, "REDIS_URL": redis_server.url}
    crawlers = [crawler_of(Links, **settings), crawler_of(Other, **settings)]
    begun = [Deferred.fromCoroutine(run(each, server.url("/"))) for each in crawlers]
    done = [await each for each in begun]
    pages = {hit.partition("&")[0] for hit in server.hits if hit != "/"}
    assert pages == {f"/p?id={number}" for number in range(24)}
    assert server.downloads == 24 + 3, "each page once, the start page by each worker, and by a link to it"
    assert all(each.stats["finish_reason"] == "finished" for each in done)
    assert not [name for each in done for name in each.dedup() if name.startswith("errors")]
    assert sum(each.dedup().get("fleet/led", 0) for each in done) >= 1
    log = SharedLog(BaseSettings(settings), "links")
    assert len(said_in(log, ">")) == 24 + 1
    assert said_in(log, ">") == said_in(log, "="), "who is about to fetch a page tells it"
    log.close()


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


class OtherPushed(Pushed):
    """Another worker of that job."""


def push(client: Any, *urls: str) -> None:
    client.rpush("links:start_urls", *(json.dumps({"url": url}) for url in urls))


@in_reactor
@pytest.mark.parametrize("filters", [True, False])
async def test_urls_that_are_pushed_into_redis(
    serve: Serve, redis_server: RedisServer, filters: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pushed, "filters", filters)
    server = serve(shop)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    settings = {**FLEET, "REDIS_URL": redis_server.url, "MAX_IDLE_TIME_BEFORE_CLOSE": 1}
    one, same, other = (f"/p?id={number}&sid=pushed" for number in ("3", "3&sid=again", "20"))
    with redis.Redis.from_url(redis_server.url) as client:
        push(client, *map(server.url, ("/", one, same, other)))
    crawlers = [crawler_of(spider, **settings) for spider in (Pushed, OtherPushed)]
    begun = [Deferred.fromCoroutine(run(each)) for each in crawlers]
    done = [await each for each in begun]
    assert (server.hits["/"], server.hits[one], server.hits[same], server.hits[other]) == (
        (1, 1, 0, 1) if filters else (2, 1, 1, 1)  # the start page by a link to it, too
    )
    assert {hit.partition("&")[0] for hit in server.hits if hit != "/"} == {f"/p?id={number}" for number in range(24)}
    assert server.downloads == server.hits["/"] + server.hits[same] + 24, "links lead to no page again"
    assert all(each.stats["finish_reason"] == "finished" for each in done)
    assert not [name for each in done for name in each.dedup() if name.startswith("errors")]
    log = SharedLog(BaseSettings(settings), "links")
    assert len(said_in(log, ">")) == 24 + 1
    assert said_in(log, ">") == said_in(log, "="), "who is about to fetch a page tells it"
    log.close()


@in_reactor
async def test_what_is_left_is_done_although_spiders_wait_for_urls(serve: Serve, redis_server: RedisServer) -> None:
    server = serve(linked_once)
    write_rules(*learned(server, "page", "sid"))
    settings = {**FLEET, "REDIS_URL": redis_server.url, "DEDUP_SAMPLE": 0.02}
    dead = SharedLog(BaseSettings(settings), "links")
    crawlers = [crawler_of(spider, **settings) for spider in (Pushed, OtherPushed)]
    begun = [Deferred.fromCoroutine(run(each)) for each in crawlers]

    async def until(happened: Callable[[], object]) -> None:
        end = monotonic() + PATIENCE
        while not happened():
            assert not any(each.called for each in begun), "the spiders stay open"
            assert monotonic() < end, "what was waited for has not happened"
            await deferred_from_coro(sleep(0.01))

    with redis.Redis.from_url(redis_server.url, decode_responses=True) as client:

        def nothing_is_left() -> bool:
            log = client.xrevrange(f"{dead.prefix}log", count=1)
            return bool(log) and client.hget(f"{dead.prefix}meta", "finished") == log[0][0]

        push(client, server.url("/"))
        await until(lambda: set(pages_of(list(server.hits))) == EVERY and nothing_is_left())
        assert status(server)["q.page"] is Status.SUSPENDED

        # A worker joins, takes a page, pops its request, and leaves without a word.
        components = components_of(crawlers[0])
        url = server.url("/list?of=9&page=2&sid=dead")
        slot = components.identities.of(Request(url)).slot
        joined = dead.join("job", components.identities.digest())
        dead.exchange(NOTHING, joined.version, (), (), (slot, taken_line(JournalPage(slot, url, "parse"))))
        dead.leave()
        await until(lambda: server.hits["/list?of=9&page=2&sid=dead"] and nothing_is_left())

        # Whoever fetches what is pushed then, the one that leads sees to what that leaves.
        leader = next(each for each in crawlers if components_of(each).learning.is_own())
        engine: Any = leader.engine
        engine.pause()
        fetched = len(said_in(dead, "="))
        push(client, server.url("/list?of=9&page=3&sid=pushed"))
        await until(lambda: len(said_in(dead, "=")) > fetched)
        engine.unpause()
        await until(nothing_is_left)
    dead.close()
    for each in crawlers:
        close(each, "over")
    done = [await each for each in begun]
    assert not [name for each in done for name in each.dedup() if name.startswith("errors")]
    assert server.downloads < PLAIN * 0.75, "the right rule goes on to save"


class Teaches(Links):
    """A worker that learns in the middle of its crawl: others are to use its rules, and know its pages by them."""

    learned = False

    async def parse(self, response: Any) -> Any:
        if "&sid=" in response.url and not Teaches.learned:
            Teaches.learned = True
            write_rules(rule(response.url.split("/")[2], {"q.sid": Ignore()}))
            components = components_of(self.crawler)
            assert await components.rule_reload.reload([response.url.split("/")[2]])
        for each in super().parse(response):
            yield each


@in_reactor
async def test_rules_of_one_worker_are_those_of_the_others(serve: Serve, redis_server: RedisServer) -> None:
    server = serve(shop)
    settings = {**FLEET, "REDIS_URL": redis_server.url}
    Teaches.learned = False
    crawlers = [crawler_of(spider, **settings) for spider in (Teaches, Other)]
    begun = [Deferred.fromCoroutine(run(each, server.url("/"))) for each in crawlers]
    done = [await each for each in begun]
    assert [each.dedup().get("learned/swaps") for each in done] == [1, 1]
    assert {each.dedup().get("fleet/published") for each in done} == {1, None}
    books = [components_of(each.crawler).identities.book for each in done]
    assert books[0].digest() == books[1].digest()
    pages = {hit.partition("&")[0] for hit in server.hits if hit != "/"}
    assert pages == {f"/p?id={number}" for number in range(24)}
    assert not [name for each in done for name in each.dedup() if name.startswith("errors")]
    with redis.Redis.from_url(redis_server.url) as client:
        assert client.hget("links:requests:dedup:meta", "version") == b"2"
        slots = list(client.scan_iter("links:requests:dedup:slots:*"))
        taken = sum(client.scard(key) for key in slots if b":slots:2:" in key)
        assert taken >= 24 + 1, "all pages have their slots by the rules that count"


@in_reactor
async def test_a_worker_that_joins_knows_pages_by_the_rules_that_were_learned_since(
    serve: Serve, redis_server: RedisServer
) -> None:
    server = serve(shop)
    settings = {**FLEET, "REDIS_URL": redis_server.url}
    Teaches.learned = False
    await run(crawler_of(Teaches, **settings), server.url("/"))
    server.reset()
    done = await run(crawler_of(Links, **settings), server.url("/"))
    assert set(server.hits) == {"/"}, "nothing is fetched again, and nothing is taken for lost"
    assert not [name for name in done.dedup() if name.startswith("errors")]


class LosesRedis(Scheduler):  # type: ignore[misc]
    """A scheduler whose Redis is away when the spider opens."""

    redis_server: ClassVar[RedisServer]

    def open(self, spider: Any) -> None:
        super().open(spider)
        self.redis_server.kill()


class WaitsForRedis(Links):
    """Starts when Redis is there again, the job is joined, and its rules are in use."""

    async def start(self) -> Any:
        components = components_of(self.crawler)
        assert not components.seen.is_joined
        joined: Deferred[None] = Deferred()
        components.fleet.joined.subscribe(lambda: joined.callback(None), "fleet", "It cannot go on")
        LosesRedis.redis_server.start()
        await maybe_deferred_to_future(joined)
        while components.rule_versions.are_behind:
            await sleep(0.01)
        async for request in super().start():
            yield request


@in_reactor
async def test_a_job_is_joined_when_redis_answers(serve: Serve, redis_server: RedisServer) -> None:
    server = serve(shop)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    LosesRedis.redis_server = redis_server
    done = await run(
        crawler_of(WaitsForRedis, **FLEET | {"SCHEDULER": LosesRedis}, REDIS_URL=redis_server.url), server.url("/")
    )
    assert server.downloads == 24 + 2, "each page once, and the start page by a link to it"
    assert done.dedup()["errors/fleet"] >= 1
    assert done.dedup()["fleet/led"] == 1
    assert "fleet/lost" not in done.dedup()
    components = components_of(done.crawler)
    assert components.spot_checks.run == components.seen.job
    log = SharedLog(BaseSettings({"REDIS_URL": redis_server.url}), "links")
    taken = [line for entry in log.packed(NOTHING) for line in entry.lines if line.startswith("+")]
    assert len(taken) == 24 + 1, "others hear of all pages"
    assert log.join("another", "digest").job == components.seen.job
    log.close()


@in_reactor
@pytest.mark.parametrize("redis_server", [True], indirect=True)
async def test_rules_of_a_job_that_is_joined_late_are_taken_over(serve: Serve, redis_server: RedisServer) -> None:
    server = serve(shop)
    settings = {**FLEET, "REDIS_URL": redis_server.url}
    Teaches.learned = False
    done = await run(crawler_of(Teaches, **settings), server.url("/"))
    learned_book = components_of(done.crawler).identities.book
    server.reset()
    write_rules()  # this one knows no rules of its own
    LosesRedis.redis_server = redis_server
    done = await run(crawler_of(WaitsForRedis, **settings | {"SCHEDULER": LosesRedis}), server.url("/"))
    assert components_of(done.crawler).identities.book.digest() == learned_book.digest()
    assert set(server.hits) == {"/"}


@in_reactor
@pytest.mark.parametrize("dies", [True, False])
async def test_what_a_worker_had_taken_and_lost_is_fetched_by_the_next(
    serve: Serve, redis_server: RedisServer, dies: bool
) -> None:
    server = serve(shop)
    settings = {**FLEET, "REDIS_URL": redis_server.url}
    dead = SharedLog(BaseSettings({"REDIS_URL": redis_server.url}), "links")
    # It has joined, taken a page, popped its request from the queue, and never came back, nor told that it had popped it.
    components = components_of(crawler(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}), **settings))
    one = crawler_of(Links, **settings)
    number = 3 if dies else 99  # no page has a link to that
    url = server.url(f"/p?id={number}&sid=dead")
    identity = components.identities.of(Request(url))
    joined = dead.join("job", components.identities.digest())
    dead.exchange(
        NOTHING, joined.version, (), (), (identity.slot, taken_line(JournalPage(identity.slot, url, "parse")))
    )
    if not dies:  # the answer of Redis to the pop was lost
        dead.leave()
    dead.close()
    done = await run(one, server.url("/"))
    assert ("fleet/dead" in done.dedup()) == dies
    pages = {hit.partition("&")[0] for hit in server.hits if hit != "/"}
    assert pages == {f"/p?id={each}" for each in {*range(24), number}}
    assert server.downloads == len(pages) + 2, "each page once, and the start page by a link to it"
    assert not [name for name in done.dedup() if name.startswith("errors")]


class NeverIdle(Links):
    """Is at work until the page is fetched that a dead worker has lost."""

    found: "Deferred[None]"

    async def parse(self, response: Any) -> Any:
        if "id=3&" in response.url:
            self.found.callback(None)
        for each in super().parse(response):
            yield each
        if response.url.endswith("/"):
            await maybe_deferred_to_future(self.found)


@in_reactor
async def test_what_a_dead_worker_was_about_to_fetch_is_free_while_others_are_at_work(
    serve: Serve, redis_server: RedisServer
) -> None:
    server = serve(lambda asked: page("start", "/p?id=3&sid=1") if asked.path == "/" else page(prose("3")))
    settings = {
        **FLEET,
        "REDIS_URL": redis_server.url,
        "DEDUP_FLEET": 1,
    }  # there is no other worker to be taken for dead
    components = components_of(crawler(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}), **settings))
    dead = SharedLog(BaseSettings({"REDIS_URL": redis_server.url}), "links")
    joined = dead.join("job", components.identities.digest())
    taken = []
    for number in (3, 4):  # that of 4 is not out of the queue
        url = server.url(f"/p?id={number}&sid=dead")
        taken.append(JournalPage(components.identities.of(Request(url)).slot, url, "parse"))
    dead.exchange(
        NOTHING,
        joined.version,
        [*map(taken_line, taken), f">{taken[0].slot:x}"],
        [("+", each.slot) for each in taken],
    )
    dead.close()
    NeverIdle.found = Deferred()
    done = await run(crawler_of(NeverIdle, **settings), server.url("/"))
    assert server.hits == {"/": 1, "/p?id=3&sid=1": 1, "/p?id=4&sid=dead": 1}, "the other one at the end"
    assert done.dedup()["fleet/dead"] == 1
    assert not [name for name in done.dedup() if name.startswith("errors")]


@in_reactor
async def test_what_a_refuted_rule_has_filtered_in_any_worker_is_fetched(
    serve: Serve, redis_server: RedisServer
) -> None:
    server = serve(linked_once)
    write_rules(*learned(server, "page", "sid"))
    settings = {**FLEET, "REDIS_URL": redis_server.url, "DEDUP_SAMPLE": 0.02}
    crawlers = [crawler_of(spider, **settings) for spider in (Links, Other)]
    begun = [Deferred.fromCoroutine(run(each, server.url("/"))) for each in crawlers]
    done = [await each for each in begun]
    assert set(pages_of([url for each in done for url in each.urls])) == EVERY, "no page is lost"
    assert status(server)["q.page"] is Status.SUSPENDED
    assert sum(each.dedup().get("refuted", 0) for each in done) >= 1
    for each in done:
        rules = components_of(each.crawler).identities.book.for_site(f"127.0.0.1:{server.port}")
        assert {key: each.status for each in rules for key in each.ops} == status(server), "in both of them"
        assert not [name for name in each.dedup() if name.startswith("errors")]
    assert server.downloads < PLAIN * 0.75, "the right rule goes on to save"


@in_reactor
async def test_what_a_dead_worker_had_filtered_from_the_queue_is_fetched(
    serve: Serve, redis_server: RedisServer
) -> None:
    """It had popped them, and was killed before the store had their rows: the filter of scrapy-redis knows them, nobody else."""
    server = serve(linked_once)
    write_rules(*learned(server, "page", "sid"))
    settings = {**FLEET, "REDIS_URL": redis_server.url, "DEDUP_SAMPLE": 0.1}
    popped = [server.url(f"/list?of=1&page={at}&sid={sid}") for at in range(2, LENGTH + 1) for sid in range(3)]
    with redis.Redis.from_url(redis_server.url) as client:
        scrapy_redis = RFPDupeFilter(client, "links:dupefilter")
        assert not any(scrapy_redis.request_seen(Request(url)) for url in popped)
    done = await run(crawler_of(Links, **settings), server.url("/"))
    assert status(server)["q.page"] is Status.SUSPENDED
    assert set(pages_of(done.urls)) == EVERY, "no page is lost"
    assert server.downloads < PLAIN * 0.75, "the right rule goes on to save"
    assert not [name for name in done.dedup() if name.startswith("errors")]


@in_reactor
async def test_what_scrapy_redis_forgets_is_forgotten(serve: Serve, redis_server: RedisServer) -> None:
    server = serve(shop)
    settings = {**FLEET, "REDIS_URL": redis_server.url, "SCHEDULER_PERSIST": False}
    await run(crawler_of(Links, **settings), server.url("/"))
    with redis.Redis.from_url(redis_server.url) as client:
        assert client.keys("*") == []


@in_reactor
async def test_a_crawl_goes_on_without_a_fleet_that_it_cannot_join(serve: Serve, redis_server: RedisServer) -> None:
    server = serve(shop)
    one = crawler_of(Links, **FLEET, REDIS_URL=redis_server.url)
    with redis.Redis.from_url(redis_server.url) as client:
        client.rpush("links:requests:dedup:packed", b"of another release")
    done = await run(one, server.url("/"))
    assert done.dedup()["errors/fleet"] >= 1
    assert {hit.partition("&")[0] for hit in server.hits if hit != "/"} == {f"/p?id={n}" for n in range(24)}
    assert done.stats["finish_reason"] == "finished"
