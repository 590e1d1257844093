"""Candidate rules of all keys in a crawl: what they would make a duplicate is postponed, whatever part of the URL it is in."""

import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from scrapy import Request, signals

from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.crawl.learn.learner import LearningOutcome
from scrapy_dedup.crawl.postpone.release import FIRST
from scrapy_dedup.rules import AnyOrder, Ignore, IgnoreValue, Literal, Rule, Set, SiteRules, Status
from scrapy_dedup.rules.writing import written_rules

from .conftest import Serve
from .crawling import LEARNED, Crawl, Links, crawler_of, in_reactor, run, when_counted, write_rules
from .server import Asked, page, prose
from .waiting import PATIENCE

NUMBERS = range(100, 120)
ON = {"DEDUP_LEARN": "live", "CONCURRENT_REQUESTS": 1}
DOCS = {"path.0": Literal("docs")}
CURRENT = {"path.1": Set({"current": "16"})}
#: Rules, and two forms of a page.
FORMS: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "a segment": ({"path.2": Ignore()}, DOCS, "/docs/{}/any-title", "/docs/{}/other"),
    "the value of a segment": ({"path.1": IgnoreValue()}, DOCS, "/docs/a/{}", "/docs/b/{}"),
    "a linked directory": (CURRENT, DOCS, "/docs/16/{}", "/docs/current/{}"),
    "the directory that it is": (CURRENT, DOCS, "/docs/current/{}", "/docs/16/{}"),
    "a host": ({"host.1": Ignore()}, {}, "/docs/{}", "http://www.shop.test:PORT/docs/{}"),
    "an order": ({"path": AnyOrder(["color-", "size-"])}, {}, "/{}/color-red/size-9", "/{}/size-9/color-red"),
    "a value where there is none": ({"q.view": Set({None: "all"})}, {}, "/docs/{}?view=all", "/docs/{}"),
    "a value that is dropped": ({"q.view": Ignore()}, {}, "/docs/{}", "/docs/{}?view=all"),
    "a form that comes after the one with a value": ({"q.view": Ignore()}, {}, "/docs/{}?view=all", "/docs/{}"),
    "a name with escapes": ({"q.my view": Ignore()}, {}, "/docs/{}?my%20view=1", "/docs/{}?my%20view=2"),
    "two keys": ({"q.src": Ignore(), "path.2": Ignore()}, DOCS, "/docs/{}/a?src=1", "/docs/{}/b?src=2"),
}


class Later(Links):
    """Leaves a link to ``/more`` to the end."""

    def parse(self, response: Any) -> Any:
        for each in super().parse(response):
            is_more = isinstance(each, Request) and each.url.endswith("/more")
            yield each.replace(priority=-1) if is_more else each


class Forms:
    """Pages, and links to them under a second form when all of them came under the first; that one may be another page."""

    def __init__(self, first: str, second: str, *, matters: bool) -> None:
        self.first, self.second, self.matters = first, second, matters
        self.asked: list[str] = []

    def __call__(self, asked: Asked) -> Any:
        if asked.path in {"/", "/more"}:
            port = asked.host.partition(":")[2]
            form = self.second if asked.path == "/more" else self.first
            targets = [form.replace("PORT", port).format(number) for number in NUMBERS]
            return page(asked.path, *targets, *(["/more"] if asked.path == "/" else []))
        number = re.findall(r"\b1\d\d\b", asked.target)
        if not number:  # robots.txt
            return 404
        url = f"http://{asked.host}{asked.target}"
        self.asked.append(url)
        return page(prose(url if self.matters else number[0]))

    @property
    def numbers(self) -> set[int]:
        return {int(number) for url in self.asked for number in re.findall(r"\b1\d\d\b", url)}


async def crawled(serve: Serve, monkeypatch: pytest.MonkeyPatch, name: str, *, matters: bool) -> tuple[Forms, Crawl]:
    """Crawl with a rule that is a candidate until a batch of what it postpones has come, and acts then if it is right."""
    ops, match, first, second = FORMS[name]
    forms = Forms(first, second, matters=matters)
    server = serve(forms)
    site = f"shop.test:{server.port}"
    rule = Rule(site, match, ops, Status.CANDIDATE)
    told = {site: written_rules(SiteRules(site, (rule,)))}

    def learn(*_: Any) -> LearningOutcome:
        if matters or len(forms.asked) < len(NUMBERS) + FIRST:
            return LearningOutcome({"candidates": told})
        write_rules(Rule(site, match, ops, Status.MANUAL))
        return LearningOutcome({})

    monkeypatch.setattr("scrapy_dedup.crawl.learn.learner.Learner.learn", learn)
    crawler = crawler_of(Later, **ON)

    async def opened() -> None:
        await CrawlComponents.of(crawler).postponing.use([site], told)

    crawler.signals.connect(opened, signals.spider_opened, weak=False)
    done = await run(crawler, server.url("/", host="shop.test"))
    assert not any("errors" in each for each in done.dedup())
    return forms, done


@in_reactor
@pytest.mark.usefixtures("loopback_names")
@pytest.mark.parametrize("name", FORMS)
async def test_what_differs_in_any_key_is_postponed(serve: Serve, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    forms, done = await crawled(serve, monkeypatch, name, matters=False)
    stats = done.dedup()
    assert stats["postponed"] == len(NUMBERS)
    assert stats["postponed/fetched"] == FIRST
    assert stats["postponed/discarded"] == len(NUMBERS) - FIRST
    assert len(forms.asked) == len(NUMBERS) + FIRST
    assert forms.numbers == set(NUMBERS), "no page is lost"


@in_reactor
@pytest.mark.usefixtures("loopback_names")
@pytest.mark.parametrize("name", ["a segment", "the directory that it is", "a host"])
async def test_a_candidate_of_any_key_that_is_wrong_costs_no_page(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    forms, done = await crawled(serve, monkeypatch, name, matters=True)
    assert done.dedup()["postponed"] == done.dedup()["postponed/fetched"] == len(NUMBERS)
    assert len(forms.asked) == len(set(forms.asked)) == 2 * len(NUMBERS)


def told_of(site: str, *keys: str) -> dict[str, str]:
    """Candidates of a site, as a learning tells them."""
    rule = Rule(site, {}, dict.fromkeys(keys, Ignore()), Status.CANDIDATE)
    return {site: written_rules(SiteRules(site, (rule,)))}


async def with_views(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, learn: Callable[[str, int], LearningOutcome]
) -> Crawl:
    """Crawl pages under ``?sid=..&view=all`` and then without, ``view`` a candidate; *learn* is told the site and the downloads.

    It is learned when half of them have come, and the links of the second form come after that.
    """
    asked: list[str] = []
    is_learned = threading.Event()

    def answer(one: Asked) -> Any:
        if one.path in {"/", "/more"}:
            if one.path == "/more":
                assert is_learned.wait(PATIENCE)
            form = "/docs/{0}?sid={0}&view=all" if one.path == "/" else "/docs/{0}"
            return page(one.path, *map(form.format, NUMBERS), *(["/more"] if one.path == "/" else []))
        if one.path == "/robots.txt":
            return 404
        asked.append(one.target)
        return page(prose(one.path))

    server = serve(answer)
    site = f"127.0.0.1:{server.port}"
    monkeypatch.setattr("scrapy_dedup.crawl.learn.learner.Learner.learn", lambda *_: learn(site, len(asked)))
    crawler = crawler_of(Later, **ON)

    async def opened() -> None:
        await CrawlComponents.of(crawler).postponing.use([site], told_of(site, "q.view", "q.sid"))

    def half(response: Any) -> None:
        if len(asked) == len(NUMBERS) // 2:
            learning = CrawlComponents.of(crawler).learning.at_once(site)
            assert learning is not None
            learning.addCallback(lambda _: is_learned.set())

    crawler.signals.connect(opened, signals.spider_opened, weak=False)
    crawler.signals.connect(half, signals.response_received, weak=False)
    done = await run(crawler, server.url("/"))
    assert {one.partition("?")[0] for one in asked} == {f"/docs/{number}" for number in NUMBERS}, "no page is lost"
    return done


@in_reactor
async def test_what_came_first_is_known_by_the_rules_that_act_now(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session id comes to be ignored in mid-crawl, so that pages have other keys than when they were fetched."""

    def learn(site: str, downloads: int) -> LearningOutcome:
        write_rules(Rule(site, {}, {"q.sid": Ignore()}, Status.MANUAL))
        if downloads < len(NUMBERS) + FIRST:
            return LearningOutcome({"candidates": told_of(site, "q.view")})
        write_rules(Rule(site, {}, {"q.sid": Ignore(), "q.view": Ignore()}, Status.MANUAL))
        return LearningOutcome({})

    stats = (await with_views(serve, monkeypatch, learn)).dedup()
    assert stats["postponed"] == len(NUMBERS)
    assert (stats["postponed/fetched"], stats["postponed/discarded"]) == (FIRST, len(NUMBERS) - FIRST)


@in_reactor
async def test_a_candidate_that_is_gone_postpones_nothing_more(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    done = await with_views(
        serve, monkeypatch, lambda site, _: LearningOutcome({"candidates": told_of(site, "q.other")})
    )
    assert "postponed" not in done.dedup()


@in_reactor
async def test_a_fault_while_a_request_waits_sends_it(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    async def wait(*_: Any) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr("scrapy_dedup.crawl.postpone.postponing.Postponing.wait", wait)
    learn = lambda site, _: LearningOutcome({"candidates": told_of(site, "q.view", "q.sid")})
    stats = (await with_views(serve, monkeypatch, learn)).dedup()
    assert stats["postponed"] == stats["postponed/fetched"] == stats["errors/postponing"] == len(NUMBERS)


TITLES = ("a-title", "another", "one-more")


@in_reactor
@pytest.mark.parametrize("matters", [False, True])
async def test_what_is_learned_of_one_section_postpones_segments_of_the_next(serve: Serve, matters: bool) -> None:
    """From the pages to the candidates, by the learning process itself."""
    is_learned = threading.Event()
    asked: list[str] = []

    def answer(one: Asked) -> Any:
        section, _, rest = one.path[1:].partition("/")
        if section not in {"shop", "blog"}:
            if one.path == "/more":
                assert is_learned.wait(PATIENCE)
            name = {"/": "shop", "/more": "blog"}.get(one.path)
            if name is None:
                return 404
            targets = [f"/{name}/{number}/{title}" for number in range(30) for title in TITLES]
            return page(one.path, *targets, *(["/more"] if name == "shop" else []))
        asked.append(one.path)
        return page(prose(one.path if matters and section == "blog" else f"{section}-{rest.partition('/')[0]}"))

    server = serve(answer)
    crawler = crawler_of(Links, **{**ON, "CONCURRENT_REQUESTS": 4})

    def learned() -> None:
        if any(rule.status.acts for rule in CrawlComponents.of(crawler).identities.book):
            is_learned.set()

    when_counted(crawler, LEARNED, learned)
    done = await run(crawler, server.url("/"))
    stats = done.dedup()
    blog = [path for path in asked if path.startswith("/blog/")]
    assert stats["postponed"] == 60, "all but the first URL of each of the 30 pages"
    if matters:
        assert stats["postponed/fetched"] == 60
        assert len(blog) == len(set(blog)) == 90
    else:
        assert stats["postponed/fetched"] <= 2 * FIRST
        assert len(blog) == 30 + stats["postponed/fetched"]
    pages = {f"/{name}/{number}" for name in ("shop", "blog") for number in range(30)}
    assert {path.rpartition("/")[0] for path in asked} == pages, "no page is lost"
