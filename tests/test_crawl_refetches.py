"""Pages are fetched again to see what changes on them: as few as the settings say, where it tells most, as they were fetched at first, and unseen by the spider."""

import threading
from collections import Counter
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider, IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from .conftest import Serve
from .crawling import (
    LEARNED,
    Crawl,
    Links,
    Outcome,
    close,
    crawl,
    crawl_site,
    crawl_sites,
    crawler_of,
    ignore,
    in_reactor,
    messages,
    run,
    save_rules,
    when_counted,
)
from .server import Answer, Asked, Server, page, prose, redirect
from .waiting import PATIENCE

FIELDS = {"text": "text"}
#: Starter refetches, and those that tell what is drawn anew in fields that are named.
STARTER: dict[str, Any] = {"DEDUP_LEARN": "live", "DEDUP_STARTER": 12, "CONCURRENT_REQUESTS": 1}
ON: dict[str, Any] = {**STARTER, "DEDUP_CONTENT_FIELDS": FIELDS}
#: Folder -> pages. Those of the first two give items with the field.
KINDS = {"news": 40, "shop": 20, "tag": 30}
NUMBER = 1 + sum(KINDS.values())
#: Where nothing else tells whether texts change, the latest of the first 50 pages is fetched again.
EARLY = {"news": 1}


class Forwards(Links):
    """Fetches what was linked first at first; gives an item for each page, with its text where it is a news page or a product."""

    custom_settings = {
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    }

    def parse(self, response: Any) -> Any:
        for found in super().parse(response):
            if isinstance(found, dict):
                named = any(f"/{kind}/" in response.url for kind in ("news", "shop"))
                found["text" if named else "words"] = " ".join(response.css("body ::text").getall())
            yield found


class Kinds:
    """A start page that links pages of several kinds in turn; what was asked for is kept in order."""

    def __init__(
        self, kinds: dict[str, int] = KINDS, *, again: Any = None, robots: Any = 404, moved: str = "-"
    ) -> None:
        self.kinds, self.changed, self.robots, self.moved = kinds, again, robots, moved
        self.asked: list[tuple[str, str]] = []

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            return self.robots
        first = (asked.host, asked.target) not in self.asked
        self.asked.append((asked.host, asked.target))
        if (
            not first
            and self.changed is not None
            and (not isinstance(self.changed, tuple) or "localhost" in asked.host)
        ):
            return self.changed[0] if isinstance(self.changed, tuple) else self.changed
        if asked.path.startswith(self.moved):
            return redirect(f"/moved{asked.path}")
        if asked.path == "/":
            most = max(self.kinds.values())
            links = [f"/{kind}/{number}" for number in range(most) for kind, of in self.kinds.items() if number < of]
            return page("start", *links)
        return page(prose(asked.target))

    def again(self) -> list[int]:
        """How many requests there were before each that was made again."""
        return [number for number, target in enumerate(self.asked) if target in self.asked[:number]]


class Refuses:
    """A downloader middleware that lets no request of the plug-in's own pass."""

    def process_request(self, request: Request, spider: Any = None) -> None:
        if request.callback is NO_CALLBACK:
            raise IgnoreRequest


def refetched(server: Server) -> list[str]:
    """The targets that were asked for more than once."""
    return sorted(target for target, count in server.hits.items() if count > 1)


def kinds_of(server: Server) -> Counter[str]:
    return Counter(target.split("/")[1] for target in refetched(server))


@pytest.mark.parametrize(
    ("site", "settings", "again", "anew"),
    [
        pytest.param(Kinds(), {}, {"news": 2, "shop": 2}, 4, id="those with items first, and four in any case"),
        pytest.param(Kinds(), {"DEDUP_STARTER": 2}, {"news": 1, "shop": 1}, 2, id="as the setting allows"),
        pytest.param(Kinds(), {"DEDUP_EXTRA": 1}, {"news": 2, "shop": 2}, 4, id="without savings there are no more"),
        pytest.param(
            Kinds(robots="User-agent: *\nDisallow: /shop/\n"),
            {"ROBOTSTXT_OBEY": True},
            {"news": 3, "tag": 1},
            4,
            id="not what robots.txt forbids",
        ),
        pytest.param(Kinds(), {"DEDUP_REVISITS": 1}, dict.fromkeys(("", *KINDS), 1), 0, id="the number asked for"),
        pytest.param(Kinds({"news": 10}), {}, {}, 0, id="a small crawl costs nothing"),
        pytest.param(Kinds(), {"DOWNLOADER_MIDDLEWARES": {Refuses: 50}}, {}, 0, id="what is refused costs nothing"),
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
async def test_which_pages_are_fetched_again(
    serve: Serve, caplog: Any, *, site: Kinds, settings: dict[str, Any], again: dict[str, int], anew: int
) -> None:
    site.asked.clear()
    with caplog.at_level("INFO"):
        done = await crawl_site(serve, site, spider=Forwards, **{**ON, **settings})
    assert kinds_of(done.server) == again
    assert done.stat("starter/anew") == anew
    if anew:
        assert done.stat("starter/requests") == done.stat("revisits/recorded") == anew
        assert f"scrapy-dedup: extra requests: {anew} refetches" in messages(caplog, 20)
    assert max(done.fetched.values()) <= 2
    assert len(done.items) == len(done.fetched), "callbacks see each page once"
    assert not done.faults()


@pytest.mark.parametrize("again", [503, 429, Answer(hang_up=True)], ids=["503", "429", "nothing"])
@in_reactor
async def test_a_site_that_answers_with_an_error_is_left_alone(serve: Serve, again: Any) -> None:
    done = await crawl_site(serve, Kinds(again=again), spider=Forwards, **ON)
    assert len(refetched(done.server)) == 1 == done.stat("extra/stopped")
    assert len(done.items) == NUMBER


@in_reactor
async def test_other_sites_keep_theirs_and_all_of_a_crawl_have_a_share(serve: Serve) -> None:
    """2 % of the pages of a crawl, and 4 in any case: however many sites there are, and if one of them complains."""
    server = serve(Kinds({"news": 30}, again=(503,)))
    crawler = crawler_of(Forwards, **ON)
    done = await run(crawler, *(server.url("/", host) for host in ("127.0.0.1", "localhost")))
    assert len(done.items) == 2 * 31
    assert done.stat("starter/requests") == server.downloads - 2 * 31 == 4
    assert sum(count - 1 for count in server.counted(host="localhost").values()) <= 1, "it has answered with an error"
    many = await crawl_sites(serve, {str(n): Kinds({"news": 20 + 3 * n}) for n in range(8)}, spider=Forwards, **ON)
    pages = sum(21 + 3 * n for n in range(8))
    assert pages + 4 <= sum(each.fetched.total() for each in many.values()) <= 1.02 * pages
    assert all(len(refetched(each.server)) <= 4 for each in many.values())


@in_reactor
async def test_they_are_spread_over_the_crawl_that_closes_after_them(serve: Serve) -> None:
    """Half of the budget while it goes on, and what learning has left of the other half at its end, when it is learned again."""
    site = Kinds({"news": 200, "shop": 120})
    server = serve(site)
    crawler = crawler_of(Forwards, **ON)
    events: list[str] = []
    crawler.signals.connect(lambda: events.append("closed"), signals.spider_closed, weak=False)
    when_counted(crawler, LEARNED, lambda: events.append("learned"))
    done = await run(crawler, server.url("/"))
    times = site.again()
    assert len(times) == 6, "2 % of 321 pages"
    assert 20 <= times[0] < times[1] < 100
    assert min(times[-2:]) >= 300
    assert events[-1] == "closed" or events[-2:] == ["closed", "learned"]
    assert done.stats["finish_reason"] == "finished"


@in_reactor
async def test_crawls_in_a_row_pay_less_and_less(serve: Serve) -> None:
    """What is left is one page that tells whether texts change, as in any crawl of a site without duplicates."""
    done = await crawl_site(serve, Kinds(), spider=Forwards, **ON)
    spent = [(done.fetched.total() - NUMBER, done.stat("starter/anew"))]
    for _ in range(3):
        done = await done.again(spider=Forwards, **ON)
        spent.append((done.fetched.total() - NUMBER, done.stat("starter/anew")))
    assert spent == [(4, 4), (4, 4), (1, 0), (1, 0)]


@in_reactor
async def test_runs_that_close_before_all_is_fetched(serve: Serve) -> None:
    """Refetches count where a spider closes after a number of pages; a run that goes on with a job has a share of its own pages only; and none keeps a spider that closes."""
    site = Kinds({"news": 200})
    job = {**ON, "spider": Forwards, "JOBDIR": "job"}
    first = await crawl_site(serve, site, CLOSESPIDER_PAGECOUNT=80, **job)
    assert first.stats["finish_reason"] == "closespider_pagecount"
    assert first.fetched.total() <= 82
    assert 1 <= first.stat("starter/requests") <= 4
    second = await first.again(**job)
    assert second.stats["finish_reason"] == "finished"
    assert second.stat("starter/requests") == len(refetched(second.server)) <= 0.02 * len(second.items)

    class Stops(Forwards):
        @classmethod
        def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
            spider = super().from_crawler(crawler, *args, **kwargs)
            crawler.signals.connect(spider.received, signals.response_received)
            return spider

        def received(self, request: Request) -> None:
            if request.callback is NO_CALLBACK:
                close(self.crawler, "enough")

    stopped = await crawl_site(serve, Kinds(), spider=Stops, **ON)
    assert stopped.stats["finish_reason"] == "enough"
    assert len(refetched(stopped.server)) == 1
    closed = await crawl_site(serve, Kinds(), DEDUP_REVISITS=50, CLOSESPIDER_PAGECOUNT=20, CONCURRENT_REQUESTS=1)
    assert closed.stat("revisits") == len(refetched(closed.server)) == 0


class Named(Forwards):
    """Gives requests of its own; the meta of those of products cannot be made again."""

    def parse(self, response: Any) -> Any:
        for each in super().parse(response):
            if isinstance(each, Request):
                more: dict[str, Any] = {"browser_page": object()} if "/shop/" in each.url else {"cookiejar": 1}
                each = each.replace(headers={"X-Mine": "yes"}, cookies={"who": "me"}, meta=more)
            yield each


@in_reactor
async def test_a_refetch_is_the_request_that_fetched_the_page(serve: Serve) -> None:
    """The same headers and cookies; what redirects is not fetched again."""
    server = serve(Kinds(moved="/tag/"))
    done = await crawl(Named, server.url("/"), DEDUP_REVISITS=2, COOKIES_ENABLED=True)
    assert done.stat("revisits") == len(refetched(server)) >= 2
    assert not [target for target in refetched(server) if target.startswith(("/shop/", "/tag/"))]
    for target in {*refetched(server)} - {"/"}:
        first, again = (asked.headers for asked in server.asked if asked.target == target)
        assert first == again
        assert (again["x-mine"], again["cookie"]) == ("yes", "who=me")


# What they are for


@pytest.mark.parametrize("learn", ["live", "close"])
@in_reactor
async def test_a_quiet_site_is_learned_once_and_not_in_each_crawl(serve: Serve, learn: str, caplog: Any) -> None:
    """It is asked what to fetch again before the spider is idle; where that is nothing, this was the last learning."""
    caplog.set_level("INFO")
    server = serve(Kinds({"news": 30}))
    times = []
    for _ in range(4):
        caplog.clear()
        done = await crawl(Links, server.url("/"), **{**STARTER, "DEDUP_LEARN": learn})
        times.append(done.stat("learned/times"))
        told = [message for message in messages(caplog, 20) if message.startswith("Learned ")]
        assert told == ["Learned 0 rules of 1 site: no rules; scrapy learn-rules says why"] * times[-1]
    assert times == [1, 1, 1, 0], "the fourth one adds less than half"
    assert server.downloads == 4 * 31


@pytest.mark.parametrize("content_type", ["text/html", "application/json"])
@in_reactor
async def test_texts_that_change_are_found_although_pages_with_one_answer_lie_between(
    serve: Serve, content_type: str
) -> None:
    """No page repeats what another one shows: the site is learned in mid-crawl since one that was fetched again has changed."""
    once, asked_for, waited = threading.Event(), list[str](), list[bool]()

    def site(asked: Asked) -> Any:
        asked_for.append(asked.target)
        if asked.path == "/":
            return page("start", *(f"/{kind}/{number}" for number in range(60) for kind in ("article", "answer")))
        if asked.path == "/article/59":
            waited.append(once.wait(PATIENCE))
        if asked.path.startswith("/answer/"):
            return Answer(page(prose("answer")) if "html" in content_type else "true " * 9, content_type=content_type)
        return page(f"{prose(asked.target)} {len(asked_for)} visitors")

    server = serve(site)
    crawler = crawler_of(Forwards, **STARTER)
    when_counted(crawler, LEARNED, once.set)
    done = await run(crawler, server.url("/"))
    again = next(number for number, target in enumerate(asked_for) if target in asked_for[:number])
    assert asked_for[again].startswith("/article/")
    assert again <= 50 + 3, asked_for[again]
    assert waited == [True]
    assert done.stat("starter/requests") <= 4


class Ticking:
    """Every response shows teasers drawn anew; every page is linked under two session ids."""

    TEASERS = [
        f"{one} {other} today" for one in "Ten Why How Our Best Meet".split() for other in ("lamps", "boats", "hats")
    ]

    def __init__(self) -> None:
        self.answers = 0

    def __call__(self, asked: Asked) -> Any:
        self.answers += 1
        shift = 7 * self.answers % len(self.TEASERS)
        drawn = [self.TEASERS[(shift + step * (1 + shift % 5)) % len(self.TEASERS)] for step in range(3)]
        block = "<ul class=teasers>" + "".join(f"<li><a>{text}</a></li>" for text in drawn) + "</ul>"
        links = [f"/p/{k}?sid={k}{name}" for k in range(60) for name in "xy"] if asked.path == "/" else []
        return page(f"the page {asked.path} {prose(asked.path)}", *links).replace("<body>", "<body>" + block)


@pytest.mark.parametrize("learn", ["live", "close"])
@in_reactor
async def test_a_site_that_draws_teasers_anew_is_learned_in_its_first_crawl(serve: Serve, learn: str) -> None:
    """Nothing is equal, nothing is fetched twice; what to fetch again is found from pages that are alike."""
    settings = {**STARTER, "DEDUP_LEARN": learn, "spider": Forwards}
    first = await crawl_site(serve, Ticking(), **settings)
    assert 0 < first.stat("starter/requests") <= 4
    second = await first.again(**settings)
    if learn == "live" and second.fetched.total() > 61 + 12:
        # Four refetches are few: on a busy machine they may be of pages that happened to draw the same teasers.
        second = await first.again(**settings)
    for done in (first, second):
        assert {url.partition("?")[0] for url in done.urls} == {"/", *(f"/p/{k}" for k in range(60))}, "no page is lost"
    assert second.fetched.total() <= 61 + 12, "the second crawl downloads each page once"


class Radio:
    """The time of the response on all pages but those of episodes, which have the time of theirs in its place, and nothing else.

    The start page is linked, and so fetched twice.
    """

    def __init__(self, shows: int) -> None:
        self.shows, self.seconds = shows, 0

    def __call__(self, asked: Asked) -> Any:
        self.seconds += 1
        shown = f"22 Nov 2026 {self.seconds // 3600:02}:{self.seconds // 60 % 60:02}:{self.seconds % 60:02}"
        links = []
        if asked.path == "/":
            others = [f"/{kind}/{number}" for number in range(20) for kind in ("news", "help", "about")]
            links = ["/", *others, *(f"/show/{n}?ep={ep}" for n in range(self.shows) for ep in range(1, 6))]
        elif asked.path.startswith("/show/"):
            shown = f"{asked.query['ep']:0>2} Aug 2026 20:00:00"
        return page(prose(asked.path), *links).replace("<body>", f"<body><div class=time>{shown}</div>")


@pytest.mark.parametrize("held", [0, 60, 80])
@in_reactor
async def test_what_stands_in_the_place_of_a_clock_is_looked_at_before_pages_are_lost(serve: Serve, held: int) -> None:
    """A page of the rule's own URL template is fetched again, and what was discarded by then is fetched after all.

    One answer waits until the site was learned, which then acts on most episodes.
    """
    radio, learned = Radio(60), threading.Event()

    def site(asked: Asked) -> Any:
        if radio.seconds == held > 0:
            learned.wait(PATIENCE)
        return radio(asked)

    server = serve(site)
    crawler = crawler_of(Forwards, **{**STARTER, "CONCURRENT_REQUESTS": 2})
    when_counted(crawler, LEARNED, learned.set)
    done = Outcome(await run(crawler, server.url("/")), server)
    assert len(set(done.urls)) == 1 + 60 + 5 * 60, "no page is lost"
    assert 1 <= done.stat("starter/requests") <= 12


@in_reactor
async def test_an_odd_response_is_asked_for_again_before_it_counts(serve: Serve) -> None:
    """The first answer for one of two URLs of a page is another text. The last page waits until the site was learned."""
    once, asked_for, odd = threading.Event(), list[str](), "/p/3?s=x00003ab"

    def site(asked: Asked) -> Any:
        asked_for.append(asked.target)
        if asked.path == "/":
            twice = [f"/p/{k}?s={name}{k:05}ab" for k in range(6) for name in "xy"]
            return page("start", *twice, *(f"/once/{k}" for k in range(36)))
        if asked.path == "/once/35":
            once.wait(PATIENCE)
        return page(prose("a fault" if asked.target == odd and asked_for.count(odd) == 1 else asked.path))

    server = serve(site)
    crawler = crawler_of(Forwards, **STARTER)
    when_counted(crawler, LEARNED, once.set)
    done = Outcome(await run(crawler, server.url("/")), server)
    assert odd in refetched(server)
    assert done.stat("starter/requests") <= 4
    assert {url.partition("?")[0] for url in done.urls} >= {f"/p/{k}" for k in range(6)} | {
        f"/once/{k}" for k in range(36)
    }


# What savings pay for

PAGES = 40
SIDS = {f"/p?id={(n + step) % PAGES}&sid={n if step else 0}" for n in range(PAGES) for step in (0, 1, 2)}


class Saving:
    """Pages under session ids, which a rule drops, linked from one to the next, and ten of another kind."""

    #: Whether each session id has come to show a page of its own.
    drifted = False

    def __init__(self, *, fails: bool = False) -> None:
        self.fails, self.first = fails, dict[str, str]()

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            return "User-agent: *\nDisallow: /p?*sid=1\nDisallow: /p?*sid=2\nDisallow: /p?*sid=3\n"
        if asked.path != "/p":
            links = (*(f"/p?id={i}&sid=0" for i in range(PAGES)), *(f"/other/show?id={i}" for i in range(10)))
            return page(prose(asked.target), *(links if asked.path == "/" else ()))
        number, sid = asked.query["id"], asked.query["sid"]
        if self.fails and self.first.setdefault(number, sid) != sid:
            return 404
        if self.drifted or int(number) >= PAGES:
            return page(prose((number, sid)))
        return page(prose(number), *(f"/p?id={(int(number) + step) % PAGES}&sid={number}" for step in (1, 2)))


PLAIN = 1 + 10 + len(SIDS)


@pytest.mark.parametrize(
    ("settings", "unpaid"),
    [
        pytest.param({"DEDUP_EXTRA": 0.05, "DEDUP_SAMPLE": 0.02}, 0, id="a small share"),
        pytest.param({"DEDUP_EXTRA": 0.5}, 0, id="half of the savings"),
        # 2 links each to pages 1, 2, 3, and 10-39, which are not made by a spider that obeys
        pytest.param({"DEDUP_EXTRA": 0.5, "ROBOTSTXT_OBEY": True}, 2 * 33, id="what is forbidden is no saving"),
    ],
)
@in_reactor
async def test_savings_pay_for_a_share(serve: Serve, settings: dict[str, Any], unpaid: int) -> None:
    done = await crawl_site(serve, Saving(), ignore("q.sid", "active"), **settings)
    assert done.stat("extra/requests") <= settings["DEDUP_EXTRA"] * max(0, done.stat("avoided") - unpaid)
    assert done.stat("extra/requests") > 0 or done.stat("avoided") < unpaid + 20
    assert done.fetched.total() == len(done.items) + done.stat("extra/requests") + done.stat("samples/confirmed")
    assert done.fetched.total() + done.stat("avoided") == PLAIN + done.stat("extra/requests")
    assert {url.partition("&")[0] for url in done.urls} >= {f"/p?id={i}" for i in range(PAGES)}


@pytest.mark.parametrize(
    ("rule", "pays"),
    [
        pytest.param(ignore("q.sid", "active"), False, id="learned"),
        pytest.param(ignore("q.sid", "active", groups=12, samples=3, refuted=3), False, id="never confirmed"),
        pytest.param(ignore("q.sid", "active", samples=3, refuted=1), True, id="confirmed before"),
        pytest.param(ignore("q.sid"), True, id="the user's own"),
    ],
)
@in_reactor
async def test_a_rule_pays_when_it_is_confirmed(serve: Serve, rule: str, pays: bool) -> None:
    """What it has filtered may be taken back before; nobody can tell here, since under a second session id there is nothing."""
    done = await crawl_site(serve, Saving(fails=True), rule, DEDUP_EXTRA=0.9, DEDUP_SAMPLE=0.02)
    assert done.stat("samples") > 0
    assert done.stat("samples/confirmed") == 0
    assert done.stat("avoided") > PAGES
    assert bool(done.stat("extra/requests")) is pays


class GoesOn(Links):
    """Finds further pages when it was idle, and refetches were made."""

    site: Saving
    more = [f"/p?id={number}&sid={sid}" for number in range(PAGES, PAGES + 10) for sid in range(3)]

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    def idle(self) -> None:
        if self.crawler.stats.get_value("dedup/extra/requests", 0) > 5 and self.more:  # type: ignore[union-attr]
            self.site.drifted = True
            more, self.more = self.more, []
            for target in more:
                self.crawler.engine.crawl(Request(self.start_urls[0].rstrip("/") + target))  # type: ignore[union-attr]
            raise DontCloseSpider


@in_reactor
async def test_a_rule_that_is_refuted_when_refetches_were_paid_costs_no_request_more(serve: Serve) -> None:
    """As many of its discards as were spent are left to the next crawl: a delay instead of a page or a request."""
    site = Saving()
    spider = type("Spider", (GoesOn,), {"site": site})
    rule = ignore("q.sid", "active", samples=5, refuted=0)
    done = await crawl_site(serve, site, rule, spider=spider, DEDUP_EXTRA=0.9, DEDUP_SAMPLE=0.3)
    linked = SIDS | set(GoesOn.more)
    assert done.stat("extra/requests") > 5
    assert done.stat("refuted") == 1
    assert done.fetched.total() <= 1 + 10 + len(linked), "what plain Scrapy makes"
    assert done.stat("owed") >= done.stat("extra/requests") - done.stat("avoided")
    before = set(done.fetched)
    assert linked - before, "some are left"
    save_rules(done.server.site)
    rest: Crawl = await crawl(spider)
    assert not linked - {*before, *done.server.hits}, "the next crawl begins with them"
    assert not rest.faults()
