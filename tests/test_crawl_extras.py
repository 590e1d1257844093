"""Probes and revisits: what they ask for, what they find out, what they may cost, and who never sees them."""

import itertools
import re
from dataclasses import replace
from typing import Any

import pytest
import scrapy
from scrapy.http import HtmlResponse

from scrapy_dedup.commands.probing import in_doubt
from scrapy_dedup.content.resemblance import Difference
from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.crawl.identity.suspended_rules import Suspension
from scrapy_dedup.crawl.own_requests import revisits
from scrapy_dedup.crawl.own_requests.probe_spider import probe_spider
from scrapy_dedup.crawl.settings.dedup_settings import DedupSettingError, DedupSettings
from scrapy_dedup.crawl.verify.rule_trials import Case
from scrapy_dedup.learning.lifetime.refutation import Noise
from scrapy_dedup.masks.model import Mask, TransientPath
from scrapy_dedup.rules import Ignore, Status
from scrapy_dedup.rules.evidence import Evidence
from scrapy_dedup.store.store import Store

from .conftest import Serve
from .crawling import STORE, Links, crawl, crawler_of, in_reactor, messages, observed, rule, run, write_rules
from .mask_files import save_mask
from .server import Answer, Asked, Server, page, prose, redirect

PAGES = 40
KINDS = 10
#: Folder, parameter, and what the values begin with.
KIND = (("req", "tok", "x"), ("rel", "v", "y"), ("irr", "w", "z"))
LINKED = {f"/{name}/show?id={i}&{key}={lead}{i}" for name, key, lead in KIND for i in range(KINDS)}


def learned(server: Server, key: str = "q.sid") -> Any:
    return rule(f"127.0.0.1:{server.port}", {key: Ignore()}, status=Status.ACTIVE)


class Site:
    """Pages under session ids, which a rule drops; and pages with parameters of which nothing is known.

    ``/req/show?id=&tok=``: tok must be there, and is irrelevant; ``/rel/show?id=&v=``: v matters;
    ``/irr/show?id=&w=``: w is irrelevant. Every link has a value of its own.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        self.robots = ""
        self.finished = False

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/robots.txt":
            return Answer(self.robots, content_type="text/plain") if self.robots else 404
        if asked.path == "/":
            return page("start", *(f"/p?id={i}&sid=0" for i in range(PAGES)), *sorted(LINKED))
        query = asked.query
        if asked.path == "/p":
            number = int(query["id"])
            links = [f"/p?id={(number + step) % PAGES}&sid={number}" for step in (1, 2)]
            return page(prose(number), *links)
        return self.other(asked.path.split("/")[1], query)

    def other(self, kind: str, query: dict[str, str]) -> Any:
        if self.status and self.finished:
            return self.status
        number = query.get("id")
        if kind == "req":
            return page(prose(f"q{number}")) if "tok" in query else 404
        if kind == "rel":
            return page(prose(f"r{number}v{query.get('v')}"))
        return page(prose(f"i{number}"))


def plain_downloads(server: Server) -> int:
    """What Scrapy alone would download."""
    return 1 + 3 * PAGES + 3 * KINDS


async def probed(server: Server, **settings: Any) -> dict[str, str]:
    """Crawl, and ask the site as ``learn-rules --probe`` does; return what each parameter is."""
    await crawl(Links, server.url("/"), **settings)
    crawler = crawler_of(probe_spider(None), **settings)
    found = in_doubt(DedupSettings.from_crawler_settings(crawler.settings), [])
    done = await run(crawler, found=found, most=300)
    assert not [name for name in done.dedup() if name.startswith("errors")]
    return {each.doubt.key: each.said for each in done.crawler.spider.tried}  # type: ignore[union-attr]


def extra(server: Server) -> list[str]:
    """The targets that were asked for beyond those that the spider has found, each once."""
    return [target for target, count in server.hits.items() for _ in range(count - 1)]


@in_reactor
async def test_probes_tell_what_must_be_there_from_what_matters(serve: Serve) -> None:
    server = serve(Site())
    write_rules(learned(server))
    said = await probed(server)
    assert {key: said[key] for key in ("q.id", "q.tok", "q.v", "q.w")} == {
        "q.id": "relevant",
        "q.tok": "required",
        "q.v": "relevant",
        "q.w": "irrelevant",
    }
    # What shows another page, or the same, is an observation; a URL that only lacks what must be there is none.
    seen = observed()
    made_up = {"/" + url.partition("//")[2].partition("/")[2] for url in seen if "/show" in url} - LINKED
    assert any(each.startswith("/rel/") for each in made_up)
    assert any(each.startswith("/irr/") and "w=" not in each for each in made_up), "dropped, and the same page"
    assert not [each for each in made_up if each.startswith("/req/") and "tok" not in each]
    assert all(observation.status == 200 for observation in seen.values())


class NeverActs(Site):
    """Parameters in doubt on URLs that do something."""

    def other(self, kind: str, query: dict[str, str]) -> Any:
        return page(prose(f"{kind}{query.get('id')}"))

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/":
            start = super().__call__(asked)
            links = [f"/cart/show?do=addToCart&id={i}&n={i}x" for i in range(KINDS)]
            links += [f"/log-out/show?id={i}&n={i}x" for i in range(KINDS)]
            return start.replace("<ul>", "<ul>" + "".join(f'<li><a href="{link}">l</a></li>' for link in links))
        return super().__call__(asked)


@in_reactor
async def test_what_may_do_something_is_never_asked_for_again(serve: Serve) -> None:
    server = serve(NeverActs())
    write_rules(learned(server))
    assert await probed(server, DEDUP_REVISITS=5)
    acting = {target: count for target, count in server.hits.items() if "addToCart" in target or "log-out" in target}
    assert len(acting) == 2 * KINDS, "no other URL than those that the spider has found"
    assert set(acting.values()) == {1}


@in_reactor
async def test_probes_respect_robots(serve: Serve) -> None:
    """The URL without its parameter is forbidden: it is never asked for."""
    site = Site()
    site.robots = "User-agent: *\nDisallow: /req/show?id=*x$\nDisallow: /irr/show?w=\nDisallow: /rel/\n"
    server = serve(site)
    write_rules(learned(server))
    assert await probed(server, ROBOTSTXT_OBEY=True)
    assert not [target for target in server.hits if target.startswith(("/rel/", "/irr/show?w="))]


@in_reactor
async def test_what_robots_would_have_forbidden_is_no_saving(serve: Serve) -> None:
    site = Site()
    site.robots = "User-agent: *\nDisallow: /p?*sid=1\nDisallow: /p?*sid=2\nDisallow: /p?*sid=3\n"
    server = serve(site)
    write_rules(learned(server))
    done = await crawl(Links, server.url("/"), DEDUP_EXTRA=0.5, ROBOTSTXT_OBEY=True)
    stats = done.dedup()
    forbidden = 2 * (1 + 10 + 1 + 10 + 1 + 10)
    assert 0 < stats["extra/requests"] <= 0.5 * (stats["avoided"] - forbidden)


@pytest.mark.parametrize("status", [429, 500, 403])
@in_reactor
async def test_a_site_that_complains_is_left_alone(serve: Serve, status: int) -> None:
    site = Site()
    site.status = status
    server = serve(site)
    write_rules(learned(server))

    class Tells(Links):
        """Has the site answer with errors once the spider is done."""

        @classmethod
        def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
            def empty() -> None:
                site.finished = site.finished or crawler.engine.spider_is_idle()

            spider = super().from_crawler(crawler, *args, **kwargs)
            spider.told = empty
            crawler.signals.connect(empty, scrapy.signals.scheduler_empty)
            return spider

    done = await crawl(Tells, server.url("/"), DEDUP_EXTRA=0.9, RETRY_TIMES=3)
    stats = done.dedup()
    assert stats["extra/stopped"] == 1
    answers = [target for target in extra(server) if "/show" in target]
    assert len(answers) == 1, "not even a retry"
    assert all(observation.status == 200 for observation in observed().values()), "what was seen is not forgotten"


@pytest.mark.parametrize("share", [0.05, 0.2])
@in_reactor
async def test_the_budget_is_kept(serve: Serve, share: float) -> None:
    server = serve(Site())
    write_rules(learned(server))
    done = await crawl(Links, server.url("/"), DEDUP_EXTRA=share, DEDUP_SAMPLE=0.02)
    stats = done.dedup()
    assert 0 < stats["extra/requests"] <= share * stats["avoided"]
    assert server.downloads == len(done.items) + stats["extra/requests"] + stats.get("samples", 0)
    assert server.downloads <= plain_downloads(server)


@in_reactor
async def test_without_savings_nothing_is_asked_for(serve: Serve) -> None:
    server = serve(Site())
    done = await crawl(Links, server.url("/"), DEDUP_EXTRA=1)
    assert (
        server.downloads
        == len(done.items)
        == plain_downloads(server) - PAGES * 3 + len([target for target in server.hits if target.startswith("/p?")])
    )
    assert "extra/requests" not in done.dedup()


class Clock(Site):
    """Its pages say how often they were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.count = itertools.count()

    def other(self, kind: str, query: dict[str, str]) -> Any:
        return page(f"{prose(f'{kind}{query}')} seen {next(self.count)} times")


@in_reactor
async def test_an_unstable_page_says_nothing(serve: Serve) -> None:
    server = serve(Clock())
    write_rules(learned(server))
    said = await probed(server)
    assert {said[key] for key in ("q.tok", "q.v", "q.w")} == {"undecided"}
    made_up = [target for target in server.hits if "/show" in target and server.hits[target] == 1]
    assert len(made_up) <= 3 * KINDS, "after a control that differs nothing else is asked for"


@in_reactor
async def test_revisits_give_two_versions(serve: Serve) -> None:
    server = serve(Clock())
    done = await crawl(Links, server.url("/"), DEDUP_REVISITS=2)
    stats = done.dedup()
    assert stats["revisits"] == stats["revisits/recorded"] > 0
    assert server.downloads == len(done.items) + stats["revisits"]
    twice = extra(server)
    per_kind = {kind: [target for target in twice if target.startswith(f"/{kind}/")] for kind in ("req", "rel", "irr")}
    assert {kind: len(targets) for kind, targets in per_kind.items()} == {"req": 2, "rel": 2, "irr": 2}
    assert max(server.hits.values()) == 2
    with Store.open(STORE, readonly=True) as store:
        changed = store.unstable_urls()
    assert changed == {server.url(target) for targets in per_kind.values() for target in targets}


@in_reactor
async def test_a_revisit_is_the_request_that_fetched_the_page(serve: Serve) -> None:
    """The same headers and cookies; where its meta cannot be made again there is none."""

    class Mine(scrapy.Spider):
        name = "mine"

        async def start(self) -> Any:
            for i in range(3):
                yield scrapy.Request(
                    server.url(f"/a/x?id={i}"), headers={"X-Mine": "yes"}, cookies={"who": "me"}, meta={"cookiejar": 1}
                )
            yield scrapy.Request(server.url("/b/x?id=1"), meta={"browser_page": object()})

        def parse(self, response: Any) -> Any:
            yield {"url": response.url}

    server = serve(lambda asked: page(prose(asked.target)))
    done = await crawl(Mine, DEDUP_REVISITS=1, COOKIES_ENABLED=True)
    assert len(done.items) == 4
    (target,) = extra(server)
    first, again = [asked for asked in server.asked if asked.target == target]
    assert (again.headers["x-mine"], again.headers["cookie"]) == ("yes", "who=me")
    assert first.headers["user-agent"] == again.headers["user-agent"]
    assert target.startswith("/a/x?")


@in_reactor
async def test_nothing_is_asked_for_once_the_spider_closes(serve: Serve) -> None:
    server = serve(Site())
    done = await crawl(Links, server.url("/"), DEDUP_REVISITS=50, CLOSESPIDER_PAGECOUNT=20, CONCURRENT_REQUESTS=1)
    assert "revisits" not in done.dedup()
    assert not extra(server)


@in_reactor
async def test_faults_of_refetches_end_no_crawl(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("scrapy_dedup.crawl.own_requests.revisits.Revisits.run", fails)
    server = serve(Site())
    write_rules(learned(server))
    done = await crawl(Links, server.url("/"), DEDUP_EXTRA=0.9)
    assert done.stats["finish_reason"] == "finished"
    assert done.dedup()["errors/extra"] == 1
    assert len(messages(caplog)) == 1


@in_reactor
async def test_long_pages_are_asked_for_by_head_first(serve: Serve) -> None:
    """Where HEAD shows that pages differ no body is fetched; where it shows nothing GET decides."""

    class Long(Site):
        def other(self, kind: str, query: dict[str, str]) -> Any:
            value = query.get("v", "") if kind == "rel" else ""
            number = int(query.get("id", 0))
            return page(prose(f"{kind}{number}{value}", words=15_000 + 100 * number + sum(map(ord, value))))

    server = serve(Long())
    write_rules(learned(server))
    said = await probed(server)
    assert (said["q.v"], said["q.w"]) == ("relevant", "irrelevant")
    heads = server.counted(method="HEAD")
    assert any(target.startswith("/irr/") for target in heads)
    assert any(target.startswith("/rel/") for target in heads)
    gets = server.counted(method="GET")
    assert not [target for target in gets if target.startswith("/rel/") and target not in LINKED]


class Cached(Links):
    """Asks for each page under a session id of its own."""

    def __init__(self, start: str, sid: str) -> None:
        super().__init__(start)
        self.sid = sid

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "asked": response.request.url, "flags": list(response.flags)}
        if response.url.endswith("/"):
            for i in range(10):
                yield response.follow(f"/p?id={i}&sid={self.sid}")
                yield response.follow(f"/p?sid={self.sid}b&id={i}")


CACHE = {"HTTPCACHE_ENABLED": True, "DEDUP_SHARE_CACHE": True}


def numbered(asked: Asked) -> Any:
    if asked.path == "/":
        return page("start")
    if asked.path == "/p" and asked.query["id"] == "9" and asked.query["sid"] != "canon":
        return redirect("/p?id=9&sid=canon")
    return page(prose(asked.query["id"]))


@pytest.mark.parametrize("storage", ["FilesystemCacheStorage", "DbmCacheStorage"])
@in_reactor
async def test_equivalent_urls_share_one_cached_copy(serve: Serve, storage: str) -> None:
    settings = {**CACHE, "HTTPCACHE_STORAGE": f"scrapy.extensions.httpcache.{storage}"}
    server = serve(numbered)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    first = await crawl(Cached, server.url("/"), "one", **settings)
    assert len(first.items) == 11
    server.reset()
    second = await crawl(Cached, server.url("/"), "two", **settings)
    assert len(second.items) == 11
    assert not [target for target in server.hits if not target.startswith("/p?id=9")]
    assert second.dedup()["cache/shared"] == 9 + 1, "of the page behind the redirect, too"
    assert not [name for name in second.dedup() if name.startswith("errors")]
    shared = [item for item in second.items if item["url"] != item["asked"]]
    assert all("cached" in item["flags"] for item in shared)
    assert not [url for url in observed() if "sid=two" in url and "id=9" not in url], "it is no evidence"


@in_reactor
async def test_copies_are_shared_once_a_sample_has_confirmed_the_rule(serve: Serve) -> None:
    """What has the copy of another URL is not compared with it: a wrong rule would never be refuted."""
    server = serve(numbered)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.id": Ignore(), "q.sid": Ignore()}, status=Status.ACTIVE))
    await crawl(Cached, server.url("/"), "one", **CACHE)
    second = await crawl(Cached, server.url("/"), "two", DEDUP_SAMPLE=0.02, **CACHE)
    assert second.dedup().get("cache/shared", 0) == 0
    pages = {item["asked"]: item["url"].partition("id=")[2][:1] for item in second.items if "/p?" in item["asked"]}
    assert all(f"id={page}" in asked for asked, page in pages.items())


@in_reactor
async def test_when_a_rule_goes_no_copy_is_wrong(serve: Serve) -> None:
    """Every copy stays its own URL's: a wrong rule leaves nothing behind."""
    server = serve(numbered)
    site = f"127.0.0.1:{server.port}"
    write_rules(rule(site, {"q.id": Ignore(), "q.sid": Ignore()}))
    first = await crawl(Cached, server.url("/"), "one", **CACHE)
    assert len(first.items) == 2
    write_rules(rule(site, {"q.sid": Ignore()}))
    second = await crawl(Cached, server.url("/"), "two", **CACHE)
    assert len(second.items) == 11
    pages = {item["asked"]: re.search("id=([0-9])", item["url"]) for item in second.items if "/p?" in item["asked"]}
    assert all(found and found[0] in asked for asked, found in pages.items())


@in_reactor
async def test_without_the_setting_the_cache_keeps_to_urls(serve: Serve) -> None:
    server = serve(numbered)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    for sid in ("one", "two"):
        done = await crawl(Cached, server.url("/"), sid, HTTPCACHE_ENABLED=True)
    assert "cache/shared" not in done.dedup()
    assert all(item["url"] == item["asked"] for item in done.items)


@in_reactor
async def test_samples_never_read_the_copy_of_another_url(serve: Serve) -> None:
    server = serve(numbered)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}, status=Status.ACTIVE))
    await crawl(Cached, server.url("/"), "one", **CACHE)
    server.reset()
    done = await crawl(Cached, server.url("/"), "two", DEDUP_SAMPLE=1, **CACHE)
    assert done.dedup()["samples"] >= 9, "the tenth is a redirect to what has come"
    assert {f"/p?sid=twob&id={i}" for i in range(9)} <= set(server.hits), "each came from the site"
    assert not [item for item in done.items if "sid=twob" in item["asked"] and "cached" in item["flags"]]


@in_reactor
async def test_revisits_never_read_a_cached_copy(serve: Serve) -> None:
    server = serve(numbered)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    done = await crawl(Cached, server.url("/"), "one", DEDUP_REVISITS=4, **CACHE)
    assert done.dedup()["revisits"] == len(extra(server)) >= 4
    server.reset()
    again = await crawl(Cached, server.url("/"), "one", DEDUP_REVISITS=4, **CACHE)
    assert "revisits" not in again.dedup(), "of what came from the cache none is made"


@in_reactor
async def test_a_crawl_from_a_cache_alone_makes_no_request(serve: Serve) -> None:
    server = serve(Site())
    await crawl(Links, server.url("/"), HTTPCACHE_ENABLED=True)
    server.reset()
    done = await crawl(Links, server.url("/"), HTTPCACHE_ENABLED=True, DEDUP_EXTRA=1)
    assert len(done.items) > PAGES
    assert server.downloads == 0


@pytest.mark.parametrize("wrapped", ["no.such.Storage", "scrapy_dedup.crawl.SharedCacheStorage"])
@in_reactor
async def test_a_storage_that_cannot_be_wrapped_stops_the_start(serve: Serve, wrapped: str) -> None:
    server = serve({"*": page("x")})
    by_hand = {
        "HTTPCACHE_STORAGE": "scrapy_dedup.crawl.SharedCacheStorage",
        "DEDUP_FALLBACK_HTTPCACHE_STORAGE": wrapped,
    }
    with pytest.raises(DedupSettingError, match="DEDUP_FALLBACK_HTTPCACHE_STORAGE"):
        await crawl(Links, server.url("/"), **CACHE, **by_hand)
    assert server.downloads == 0


@in_reactor
async def test_the_storage_is_listed_by_hand(serve: Serve) -> None:
    by_hand = {**CACHE, "HTTPCACHE_STORAGE": "scrapy_dedup.crawl.SharedCacheStorage"}
    server = serve(numbered)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}))
    await crawl(Cached, server.url("/"), "one", **by_hand)
    assert "cache/shared" in (await crawl(Cached, server.url("/"), "two", **by_hand)).dedup()
    off = await crawl(Cached, server.url("/"), "three", **{**by_hand, "DEDUP_SHARE_CACHE": False})
    assert "cache/shared" not in off.dedup()


@in_reactor
async def test_a_broad_crawl_remembers_few_kinds(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept of a further kind, nor of the site that it is of."""
    monkeypatch.setattr(revisits, "MOST_KINDS", 2)
    server = serve(lambda asked: page(prose(asked.target), *(f"/k{name}/x?id=1" for name in "abcdef")))
    done = await crawl(Links, server.url("/"), DEDUP_REVISITS=1)
    assert len(done.items) == 7
    assert len(extra(server)) == done.dedup()["revisits"] == 2
    found = CrawlComponents.of(done.crawler).revisits
    response = HtmlResponse("http://other.example/")
    found.note(scrapy.Request("http://other.example/"), response, "other.example")
    assert len(found._kinds) == 2
    assert set(found._waiting) == {f"127.0.0.1:{server.port}"}


class Fails(Site):
    """Nobody can tell whether the rule is right: under a second session id there is nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.first: dict[str, str] = {}

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/p" and self.first.setdefault(asked.query["id"], asked.query["sid"]) != asked.query["sid"]:
            return 404
        return super().__call__(asked)


@pytest.mark.parametrize(
    ("status", "evidence", "pays"),
    [
        (Status.ACTIVE, None, False),
        (Status.ACTIVE, Evidence(groups=12, samples=3, refuted=3), False),
        (Status.ACTIVE, Evidence(samples=3, refuted=1), True),
        (Status.MANUAL, None, True),
    ],
)
@in_reactor
async def test_a_rule_pays_when_it_is_confirmed(
    serve: Serve, status: Status, evidence: Evidence | None, pays: bool
) -> None:
    """What its discards have saved may be taken back before."""
    server = serve(Fails())
    write_rules(replace(learned(server), status=status, evidence=evidence))
    done = await crawl(Links, server.url("/"), DEDUP_EXTRA=0.9, DEDUP_SAMPLE=0.02)
    stats = done.dedup()
    assert stats["samples"] > 0
    assert "samples/confirmed" not in stats
    assert stats["avoided"] > PAGES
    assert ("extra/requests" in stats) is pays


@in_reactor
async def test_nothing_is_paid_while_discards_are_in_doubt(serve: Serve) -> None:
    server = serve(Site())
    write_rules(learned(server))
    done = await crawl(Links, server.url("/"), DEDUP_EXTRA=0.5, DEDUP_SAMPLE=0.02)
    site = f"127.0.0.1:{server.port}"
    shared = CrawlComponents.of(done.crawler)
    assert done.dedup()["samples/confirmed"] > 0
    assert shared.savings_budget.saved_for_good(site) == done.dedup()["avoided"]
    assert shared.savings_budget.saved_for_good("other.example") == 0
    shared.rescheduler.is_due = True
    assert shared.savings_budget.saved_for_good(site) == 0
    shared.rescheduler.is_due = False
    case = Case(("a", "b"), Difference.NEAR, "", Noise(), server.url("/p?id=1&sid=1"), server.url("/p?id=1&sid=2"))
    shared.spot_checks.trials[site].accuse(case)
    assert shared.savings_budget.saved_for_good(site) == 0
    shared.spot_checks.trials[site].settle()
    assert shared.savings_budget.saved_for_good(site) > 0
    shared.suspended.found[site, learned(server).id] = Suspension("", "", 0.0)
    assert shared.savings_budget.saved_for_good(site) == 0


class Drifts(Site):
    """Session ids say nothing until revisits were made; from then on every URL is a page of its own."""

    drifted = False

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/p" and (self.drifted or int(asked.query["id"]) >= PAGES):
            return page(prose((asked.query["id"], asked.query["sid"])))
        return super().__call__(asked)


class GoesOn(Links):
    """Finds further pages when it was idle, and extras were made."""

    more = [f"/p?id={number}&sid={sid}" for number in range(PAGES, PAGES + 10) for sid in range(3)]

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, scrapy.signals.spider_idle)
        return spider

    def idle(self) -> None:
        stats = self.crawler.stats
        if (
            stats.get_value("dedup/extra/requests")
            and not CrawlComponents.of(self.crawler).idle_work._at_work
            and self.more
        ):
            self.site.drifted = True  # type: ignore[attr-defined]
            more, self.more = self.more, []
            for target in more:
                self.crawler.engine.crawl(scrapy.Request(self.start_urls[0].rstrip("/") + target))  # type: ignore[union-attr]
            raise scrapy.exceptions.DontCloseSpider


@in_reactor
async def test_a_rule_that_is_refuted_when_extras_were_paid_costs_no_request_more(serve: Serve) -> None:
    """As many of its discards as were spent are left to the next crawl: a delay instead of a page or a request."""
    site = Drifts()
    server = serve(site)
    write_rules(replace(learned(server), evidence=Evidence(samples=5, refuted=0)))
    spider = type("Spider", (GoesOn,), {"site": site})
    done = await crawl(spider, server.url("/"), DEDUP_EXTRA=0.9, DEDUP_SAMPLE=0.3)
    stats = done.dedup()
    assert stats["extra/requests"] > 5
    assert stats["refuted"] == 1
    linked = {f"/p?id={(i + step) % PAGES}&sid={i}" for i in range(PAGES) for step in (1, 2)}
    linked |= {f"/p?id={i}&sid=0" for i in range(PAGES)} | set(GoesOn.more)
    assert server.downloads <= 1 + len(LINKED) + len(linked), "what plain Scrapy makes"
    assert stats["owed"] >= stats["extra/requests"] - stats["avoided"]
    assert linked - set(server.hits), "some are left"
    site.drifted = True
    await crawl(Links, DEDUP_EXTRA=0, DEDUP_SAMPLE=0)
    assert not linked - set(server.hits), "the next crawl begins with them"


# Under a mask that hides what pages are


class Hidden(Site):
    """On each page there is an advertisement; on some, what the page is stands there, and the rest is the site's frame."""

    frame = f"<p>{prose('the frame of all pages', 60)}</p>"

    def __call__(self, asked: Asked) -> Any:
        found = super().__call__(asked)
        if not isinstance(found, str):
            return found
        hidden = prose(asked.target, 20)
        return found.replace("<body>", f"<body>{self.frame}").replace(
            "</body>", f'<div class="ad">{hidden}</div></body>'
        )

    def other(self, kind: str, query: dict[str, str]) -> Any:
        return super().other(kind, query) if kind != "rel" else page("", title="the same")


@in_reactor
async def test_a_mask_that_hides_what_pages_are_makes_no_parameter_irrelevant(serve: Serve) -> None:
    """That the frame of the site lasts is no evidence: several pages tell what it is."""
    server = serve(Hidden())
    write_rules(learned(server))
    save_mask("dedup-rules", Mask(f"127.0.0.1:{server.port}", (TransientPath("html/body/div.ad"),)))
    said = await probed(server)
    assert said.get("q.v") not in ("irrelevant", "required")
    assert said["q.w"] == "irrelevant"
