"""Samples of what rules discard: compared with the page they were taken for, whatever the rule says."""

import itertools
import logging
import threading
from dataclasses import replace
from typing import Any

import pytest
import scrapy
from scrapy.http import HtmlResponse

from scrapy_dedup import RuleBook
from scrapy_dedup.crawl import SampleGate
from scrapy_dedup.crawl.decide.filtering_rules import deciding_rules
from scrapy_dedup.crawl.verify.spot_check_rates import SpotCheckRate
from scrapy_dedup.crawl.verify.unchecked import PER_RULE, STRETCHES, stretches
from scrapy_dedup.learning.lifetime.running_counts import checks_in, with_checks
from scrapy_dedup.masks.model import Mask, TransientPath
from scrapy_dedup.rules import Ignore, SetOfValues, Status
from scrapy_dedup.rules.canonical import NORMAL_FORM
from scrapy_dedup.rules.evidence import Evidence
from scrapy_dedup.store.rows import DiscardState
from scrapy_dedup.store.store import Store
from scrapy_dedup.urls.templates import template_of

from . import crawling
from .conftest import Serve
from .crawling import STORE, Links, crawl, in_reactor, messages, observed, rule, scenario, write_rules
from .mask_files import save_mask
from .server import Answer, Asked, Server, page, prose, redirect
from .store_rows import discarded

PAGES = 40


def learned(server: Server, key: str = "q.sid") -> Any:
    """A rule as it would be learned."""
    return rule(f"127.0.0.1:{server.port}", {key: Ignore()}, status=Status.ACTIVE)


def shop(asked: Asked) -> Any:
    """Every page links to two others, under session ids of its own."""
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&sid=0" for i in range(PAGES)))
    number = int(asked.query["id"])
    links = [f"/p?id={(number + step) % PAGES}&sid={number}" for step in (1, 2)]
    return page(prose(number), *links)


class Errs(Links):
    """Keeps what its errback gets."""

    def __init__(self, *start: str, **kwargs: Any) -> None:
        super().__init__(*start, **kwargs)
        self.failures: list[Any] = []

    def parse(self, response: Any) -> Any:
        for each in super().parse(response):
            yield each.replace(errback=self.failed) if isinstance(each, scrapy.Request) else each

    def failed(self, failure: Any) -> None:
        self.failures.append(failure.value)


def of_file(server: Server) -> Any:
    (found,) = RuleBook.load("dedup-rules").for_site(f"127.0.0.1:{server.port}")
    return found


def checked(server: Server) -> Evidence:
    """What is known of the rule in its file: the snapshot there, and what the store has counted since."""
    book = with_checks(RuleBook.load("dedup-rules"), checks_in(str(STORE), ""))
    (found,) = book.for_site(f"127.0.0.1:{server.port}")
    return found.evidence or Evidence()


def never_more(server: Server, most: int) -> None:
    assert server.downloads <= most, "never more requests than without"
    assert max(count for target, count in server.hits.items() if target != "/") <= 2


@pytest.mark.parametrize("concurrency", [1, 100])
@in_reactor
async def test_confirmed_samples_stop_before_the_callback(
    serve: Serve, concurrency: int, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(shop)
    write_rules(learned(server))
    with caplog.at_level("INFO"):
        done = await crawl(Errs, server.url("/"), DEDUP_SAMPLE=0.02, CONCURRENT_REQUESTS=concurrency)
    stats = done.dedup()
    assert len(done.items) == 1 + PAGES, "each page once"
    samples = stats["samples"]
    # 15 of 78 are drawn at most, and one of each 10 of the others is looked into.
    assert 3 <= samples == stats["samples/confirmed"] <= 15 + 6
    assert server.downloads == len(done.items) + samples
    assert not done.crawler.spider.failures, "a duplicate is no failure"  # type: ignore[union-attr]
    assert "downloader/exception_count" not in done.stats
    assert not messages(caplog, logging.WARNING, "")
    assert stats["recorded"] == server.downloads, "samples are observations like any other"
    assert set(observed()) == {server.url(target) for target in server.hits}
    assert (checked(server).samples, checked(server).refuted) == (samples, 0)
    assert of_file(server).status is Status.ACTIVE
    told = "\n".join(messages(caplog, 20, "scrapy_dedup.crawl.report.closing"))
    avoided = stats["avoided"]
    assert f"{avoided} downloads avoided" in told
    assert f"spot checks: {samples} of {avoided + samples} filtered URLs were fetched to check: all duplicates" in told
    assert avoided == 3 * PAGES - 2 - PAGES - samples
    assert stats["avoided/bytes"] > 100 * avoided
    assert not [name for name in stats if name.startswith("errors")]


class Opens:
    """A downloader middleware that puts into the meta of each request what its callback has to close, as a browser does."""

    opened: set[object] = set()

    def process_response(self, request: scrapy.Request, response: Any, spider: Any = None) -> Any:
        if "driver" not in request.meta:  # one that is tried again goes on with it
            request.meta["driver"] = handle = object()
            self.opened.add(handle)
        return response


@pytest.mark.parametrize("fails", [False, True])
@in_reactor
async def test_what_a_request_holds_open_comes_to_its_callback(serve: Serve, fails: bool) -> None:
    """Also where the first response was an error, and the request was tried again."""

    class Closes(Links):
        def parse(self, response: Any) -> Any:
            Opens.opened.remove(response.meta["driver"])
            yield {"url": response.url, "page": response.url.partition("&sid")[0]}
            for url in response.css("a::attr(href)").getall():
                yield response.follow(url)

    asked = set[str]()

    def busy(request: Asked) -> Any:
        first = request.target not in asked
        asked.add(request.target)
        return 503 if fails and first else shop(request)

    server = serve(busy)
    write_rules(learned(server))
    done = await crawl(Closes, server.url("/"), DEDUP_SAMPLE=0.02, DOWNLOADER_MIDDLEWARES={Opens: 900})
    assert not Opens.opened, "all is closed"
    samples = done.dedup()["samples/confirmed"]
    assert samples >= 3, "such requests are checked, too"
    assert len({item["page"] for item in done.items}) == 1 + PAGES
    assert len(done.items) == len(server.hits) == 1 + PAGES + samples < 3 * PAGES
    assert done.dedup()["recorded"] == len(server.hits), "each page once"


@in_reactor
async def test_confirmed_samples_count_for_closespider_pagecount(serve: Serve) -> None:
    """They are downloads that stop before the callback: a crawl that is limited makes no more than it would without."""
    server = serve(shop)
    write_rules(learned(server))
    limit = {"CLOSESPIDER_PAGECOUNT": 60, "CONCURRENT_REQUESTS": 1}
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=1, **limit)
    assert done.stats["finish_reason"] == "closespider_pagecount"
    assert done.stats["dedup/samples/confirmed"] > 3
    assert done.stats["response_received_count"] == server.downloads <= 61
    assert len(done.items) == server.downloads - done.stats["dedup/samples/confirmed"]


@pytest.mark.parametrize(
    ("settings", "listed"),
    [
        ({"DEDUP_SAMPLE": 0.02}, False),
        ({"DEDUP_SAMPLE": 0.02, "DEDUP_LEARN": "live"}, True),
        ({"DEDUP_SAMPLE": 0, "DEDUP_LEARN": "live"}, False),
        ({"DEDUP_SAMPLE": 0.02, "DEDUP_LEARN": "live", "DEDUP_MODE": "observe"}, False),
    ],
)
@in_reactor
async def test_responses_pass_by_no_gate_where_nothing_can_be_a_sample(
    serve: Serve, settings: dict[str, Any], listed: bool
) -> None:
    class Looks(Links):
        def parse(self, response: Any) -> Any:
            yield {"url": str(self.crawler.get_downloader_middleware(SampleGate) is not None)}

    done = await crawl(Looks, serve({"/": page("start")}).url("/"), **settings)
    assert [item["url"] for item in done.items] == [str(listed)]


@in_reactor
async def test_without_samples_no_request_is_made_for_them(serve: Serve) -> None:
    server = serve(shop)
    write_rules(learned(server))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0)
    assert server.downloads == len(done.items) == 1 + PAGES


@in_reactor
async def test_a_later_crawl_takes_fewer_samples(serve: Serve) -> None:
    server = serve(shop)
    write_rules(learned(server))
    first = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.02)
    second = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.02)
    assert 1 <= second.stats["dedup/samples"] <= first.stats["dedup/samples"]
    assert checked(server).samples == first.stats["dedup/samples"] + second.stats["dedup/samples"]


@in_reactor
async def test_a_sample_that_fails_says_nothing(serve: Serve) -> None:
    """The rule says which page a URL is, and an answer that is none does not contradict it."""
    answers = itertools.cycle([404, 500, redirect("/"), Answer(hang_up=True), Answer("few words")])
    lock = threading.Lock()
    first: set[str] = set()

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return shop(asked)
        with lock:
            if asked.query["id"] not in first:
                first.add(asked.query["id"])
                return shop(asked)
            return next(answers)

    server = serve(site)
    write_rules(learned(server))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.3, CONCURRENT_REQUESTS=1)
    assert {f"/p?id={i}" for i in range(PAGES)} == {url.partition("&")[0] for url in done.urls if url.startswith("/p")}
    assert of_file(server).status is Status.ACTIVE
    assert "dedup/samples/confirmed" not in done.stats
    assert "dedup/samples/differing" not in done.stats
    assert "dedup/errors" not in str(done.dedup())


@in_reactor
async def test_a_manual_rule_is_warned_of_and_goes_on_to_act(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(lists)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.page": Ignore()}))
    with caplog.at_level("INFO"):
        done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.2)
    (warned,) = [text for text in messages(caplog) if "is manual" in text]
    assert of_file(server).id in warned
    assert of_file(server).status is Status.MANUAL
    assert of_file(server).evidence is None, "the file is the user's"
    assert done.stats["dedup/refuted/manual"] == 1
    assert "dedup/refuted" not in done.stats
    assert len(done.items) == server.downloads < 2 + LISTS * LENGTH, "differing samples are ordinary responses"
    differing = done.stats["dedup/samples/differing"]
    assert differing > 2
    told = {
        text for text in messages(caplog, logging.INFO) if "is not the same page as" in text and "spot check" in text
    }
    rows = crawling.discarded(state=DiscardState.DIFFERING)
    name = of_file(server).id
    assert len(told) == len(rows) == differing, "each spot check that differs is told of, with both URLs and the rule"
    assert told == {
        f"The spot check {row.url} is not the same page as {row.taken_for}, which it was taken for by rule {name}"
        for row in rows
    }


LISTS, LENGTH = 4, 12


def lists(asked: Asked) -> Any:
    """Lists of several pages."""
    if asked.path == "/":
        return page("start", *(f"/list?of={i}&page=1" for i in range(LISTS)))
    number, at = asked.query["of"], int(asked.query["page"])
    links = [f"/list?of={number}&page={other}" for other in range(1, LENGTH + 1)]
    return page(prose(f"{number} {at}"), *links)


@in_reactor
async def test_spiders_that_hand_on_meta_hand_on_no_sample(serve: Serve) -> None:
    class Copies(Links):
        def parse(self, response: Any) -> Any:
            yield {"url": response.url, "key": response.meta.get("dedup_sample")}
            if isinstance(response, HtmlResponse):
                for link in response.css("a::attr(href)").getall():
                    yield response.follow(link, meta=response.meta)

    done = await scenario(serve, lists, "q.page", spider=Copies, DEDUP_SAMPLE=0.2)
    assert done.stats["dedup/samples"] == done.fetched.total() - 1 - LISTS
    assert "dedup/errors" not in str(done.dedup())


def test_a_rule_of_sets_of_values_is_to_blame_where_a_value_comes_twice() -> None:
    """Otherwise none of what it discards would ever be a sample."""
    sets = rule("a.test", {"q.tag": SetOfValues()})
    book = RuleBook([sets])
    once, twice = "http://a.test/?tag=1", "http://a.test/?tag=1&tag=1"
    assert deciding_rules(book, twice, once) == deciding_rules(book, once, twice) == (sets.id,)
    assert deciding_rules(book, "http://a.test/?tag=2&tag=1", "http://a.test/?tag=1&tag=2") == (NORMAL_FORM,)


def test_which_discards_are_samples() -> None:
    def taken(sampling: SpotCheckRate, rule: str = "1", number: int = 2_000) -> list[int]:
        return [i for i in range(number) if sampling.takes(rule, f"http://a.test/{i}")]

    young = taken(SpotCheckRate.of(0.02, 0))
    assert young == taken(SpotCheckRate.of(0.02, 0)), "the same in every crawl"
    assert young != taken(SpotCheckRate.of(0.02, 0), "2")
    assert young[:5] == [0, 1, 2, 3, 4], "of a rule of which nothing is known each is checked at first"
    assert 8 <= len([i for i in young if i < 60]) <= 20
    assert 45 <= len(young) <= 65
    assert len(taken(SpotCheckRate.of(0.02, 10, 1), number=60)) > 2 * len(taken(SpotCheckRate.of(0.02, 10), number=60))
    old = taken(SpotCheckRate.of(0.02, 100))
    assert len([i for i in old if i < 50]) <= 2
    assert 36 <= len(old) <= 44
    assert taken(SpotCheckRate.of(1, 100), number=20) == list(range(20))
    gaps = [b - a for a, b in itertools.pairwise(old)]
    assert max(gaps) <= 100, "there is never a long stretch without"


def test_each_kind_of_pages_has_samples_of_its_own() -> None:
    sampling = SpotCheckRate.of(0.02, 0)
    usual = sum(sampling.takes("1", f"http://a.test/list/{n}", "list") for n in range(400))
    taken = [n for n in range(200) if sampling.takes("1", f"http://a.test/item/{n}", "item")]
    assert usual < 30
    assert taken[0] < 10
    assert taken[1] - taken[0] <= 40
    # There may be as many kinds as pages.
    many = SpotCheckRate.of(0.02, 0)
    assert sum(many.takes("1", f"http://a.test/{n}", n) for n in range(400)) < 30


@in_reactor
async def test_a_site_that_bans(serve: Serve) -> None:
    """It answers every request with one page from some new page on: that refutes no rule."""
    known: set[str] = set()
    lock = threading.Lock()

    def site(asked: Asked) -> Any:
        with lock:
            known.add(asked.path + asked.query.get("id", ""))
            if len(known) > 20:
                return page("You have asked for too much, come again tomorrow", f"/p?id={len(known)}&sid=0")
        return shop(asked)

    server = serve(site)
    write_rules(learned(server))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.3, CONCURRENT_REQUESTS=1, CLOSESPIDER_PAGECOUNT=60)
    assert done.stats["dedup/samples"] > 1
    assert of_file(server).status is Status.ACTIVE


# What no sample has told anything of

SHOWN, UNIQUE = 24, 2
"""Pages in another language that a second URL shows, too, and such that none does."""


def languages(asked: Asked) -> Any:
    """Pages in two languages; those of one are also there under a folder of their own, but for the last ones."""
    if asked.path == "/":
        english = [f"/p?id={i}" for i in range(SHOWN + UNIQUE)]
        # The last link is followed first.
        return page("start", *english, *(f"{each}&lang=de" for each in english), *(f"/de?id={i}" for i in range(SHOWN)))
    language = "de" if asked.path == "/de" else asked.query.get("lang", "en")
    return page(prose(f"{language} {asked.query['id']}"))


@in_reactor
async def test_samples_that_other_urls_have_shown_refute_together(serve: Serve) -> None:
    """By itself one may be an error. Others of the pages that the rule costs no URL shows but theirs."""
    server = serve(languages)
    write_rules(learned(server, "q.lang"))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.02, CONCURRENT_REQUESTS=1)
    assert of_file(server).status is Status.SUSPENDED
    assert {f"/p?id={SHOWN + i}&lang=de" for i in range(UNIQUE)} <= set(done.urls), "no page is lost"
    never_more(server, 1 + 3 * SHOWN + 2 * UNIQUE)
    assert "dedup/errors" not in str(done.dedup())


@in_reactor
async def test_a_form_that_is_shown_for_many_urls_refutes_nothing(serve: Serve) -> None:
    def site(asked: Asked) -> Any:
        if asked.path == "/":  # the last link is followed first
            return page("start", *(f"/p?id={i}&sid={sid}" for sid in (0, 1) for i in range(PAGES)), "/login")
        if asked.path == "/login" or asked.query["sid"] == "1":
            return page("Your session is over, so please log in again here")
        return page(prose(asked.query["id"]))

    server = serve(site)
    write_rules(learned(server))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.02, CONCURRENT_REQUESTS=1)
    assert 3 <= done.stats["dedup/samples"] <= 16 + STRETCHES
    assert of_file(server).status is Status.ACTIVE


RIGHT, WRONG = 60, 5


def rare(asked: Asked) -> Any:
    """A parameter says nothing on most pages, and everything on a few."""
    if asked.path == "/":
        return page("start", *(f"/list/a/{i}?v=0" for i in range(RIGHT)), *(f"/item/{i}?v=0" for i in range(WRONG)))
    number, value = asked.path.rsplit("/", 1)[1], asked.query["v"]
    if asked.path.startswith("/item"):
        return page(prose(f"item {number} {value}"), f"/item/{number}?v=7")
    return page(prose(f"list {number}"), f"/list/a/{number}?v=7")


def known(server: Server) -> Any:
    """A rule that was sampled in earlier crawls."""
    return replace(learned(server, "q.v"), evidence=Evidence(samples=40))


@pytest.mark.parametrize("settings", [{}, {"JOBDIR": "job"}, {"CONCURRENT_REQUESTS": 1}])
@in_reactor
async def test_a_kind_of_pages_that_no_sample_was_of_is_looked_for_at_the_end(
    serve: Serve, settings: dict[str, Any]
) -> None:
    server = serve(rare)
    write_rules(known(server))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.02, **settings)
    assert of_file(server).status is Status.SUSPENDED
    assert len([url for url in done.urls if url.startswith("/item")]) == 2 * WRONG, "no page is lost"
    never_more(server, 1 + 2 * (RIGHT + WRONG))
    assert "dedup/errors" not in str(done.dedup())


@in_reactor
async def test_what_is_looked_for_at_the_end_is_little(serve: Serve) -> None:
    """Of many kinds of a right rule each gets a sample, but of no rule more than a few."""

    def site(asked: Asked) -> Any:
        folders = "abcdefghijklmnopqrstuvwxyz"
        if asked.path == "/":
            return page(
                "start", *(f"/{name}/x?id={i}&v={value}" for name in folders for i in range(6) for value in "01")
            )
        return page(prose(asked.path + asked.query["id"]))

    server = serve(site)
    write_rules(known(server))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.02)
    pages = 1 + 26 * 6
    # One that is drawn before other pages of its folder have come tells nothing, and goes on.
    assert len(done.items) == pages + done.stats.get("dedup/samples/undecided", 0)
    assert done.stats["dedup/samples/confirmed"] >= PER_RULE
    assert done.stats["dedup/samples"] <= PER_RULE + 12
    assert server.downloads == pages + done.stats["dedup/samples"]
    assert of_file(server).status is Status.ACTIVE


def test_long_stretches_without_a_sample() -> None:
    rows = [discarded(f"{number}", time=float(number)) for number in range(100)]

    def of(told: list[float]) -> list[tuple[float, float]]:
        return [(each[0].time, each[-1].time) for each in stretches(rows, told)]

    assert of([]) == [(start, start + 11) for start in range(0, 96, 12)]
    assert of([10.5, 21.0, 30.0]) == [(30, 41), (42, 53), (54, 65), (66, 77), (78, 89)]
    assert of([99.0]) == of([])
    assert not list(stretches(rows[:9], []))
    assert not of([11.0 * number for number in range(10)])


# Sites with passing content

ADVERTISEMENT = TransientPath("html/body/div.ad")
CLOCK = TransientPath("html/body/p.clock", slot=("It is", "now"))
MASK_PATHS = (CLOCK, ADVERTISEMENT)
LINKED = 6


def write_mask(server: Server, *paths: TransientPath) -> None:
    save_mask("dedup-rules", Mask(f"127.0.0.1:{server.port}", paths))


def passing(said: Any, ticks: Any) -> Any:
    """What a page says, with a clock and an advertisement."""
    now = next(ticks)
    shown = f'<p class="clock">It is {now} now</p><div class="ad">{prose(f"ad{now}", 40)}</div></body>'
    return said.replace("</body>", shown)


@in_reactor
async def test_under_a_mask_a_right_rule_is_confirmed(serve: Serve) -> None:
    """Another clock and another advertisement are no other page."""
    ticks = itertools.count()
    server = serve(lambda asked: passing(shop(asked), ticks))
    write_rules(learned(server))
    write_mask(server, *MASK_PATHS)
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.2)
    stats = done.dedup()
    assert len(done.items) == 1 + PAGES
    assert stats["samples"] == stats["samples/confirmed"] > 3
    assert of_file(server).status is Status.ACTIVE
    assert checked(server).refuted == 0
    with Store.open(STORE, readonly=True) as store:
        kept = {url for url, _, _ in store.versions("", f"127.0.0.1:{server.port}")}
    assert kept == {server.url(target) for target in server.hits}, "the texts of samples are kept, too"


@in_reactor
async def test_under_a_mask_a_wrong_rule_is_suspended(serve: Serve) -> None:
    ticks = itertools.count()
    server = serve(lambda asked: passing(lists(asked), ticks))
    write_rules(learned(server, "q.page"))
    write_mask(server, *MASK_PATHS)
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.2)
    assert of_file(server).status is Status.SUSPENDED
    assert len({url for url in done.urls if url.startswith("/list")}) == LISTS * LENGTH, "nothing is lost"


@in_reactor
@pytest.mark.parametrize("is_right", [True, False])
async def test_what_was_not_seen_to_pass_on_pages_of_a_kind_is_no_other_page(serve: Serve, is_right: bool) -> None:
    """An advertisement passes on all kinds of pages that were seen twice; those with ``sid`` were not. Their own texts count."""
    ticks = itertools.count()

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/p?id={number}" for number in range(PAGES)))
        number, sid = int(asked.query["id"]), asked.query.get("sid", "")
        links = [f"/p?id={(number + step) % PAGES}&sid={step}" for step in range(1, LINKED + 1)]
        return passing(page(prose(number if is_right else f"{number} {sid}"), *links), ticks)

    server = serve(site)
    write_rules(learned(server))
    everywhere = [replace(path, everywhere=True) for path in MASK_PATHS]
    seen_twice = frozenset([template_of(server.url("/p?id=1"))])
    save_mask("dedup-rules", Mask(f"127.0.0.1:{server.port}", tuple(everywhere), templates=seen_twice))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.2)
    stats = done.dedup()
    assert stats["samples"] > 3
    if is_right:
        assert stats["samples"] == stats["samples/undecided"]
        assert of_file(server).status is Status.ACTIVE
        assert server.downloads == 1 + PAGES + stats["samples"]
        # 54 of 240 are drawn at most, and up to 15 more are looked into at the end.
        assert stats["samples"] < LINKED * PAGES / 3, "most of what it filters is saved"
    else:
        assert of_file(server).status is Status.SUSPENDED
        assert len(done.items) == 1 + PAGES + LINKED * PAGES, "nothing is lost"


@in_reactor
async def test_a_mask_that_hides_what_pages_are_confirms_nothing(serve: Serve) -> None:
    """It leaves what all pages of the site have in common; that tells nothing of a rule."""

    def site(asked: Asked) -> Any:
        return lists(asked).replace("</body>", f'<div class="foot">{prose("foot")}</div></body>')

    server = serve(site)
    write_rules(learned(server, "q.page"))
    write_mask(server, TransientPath("html/body/p"), TransientPath("html/head/title"))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.2)
    stats = done.dedup()
    assert stats["samples"] > 3
    assert "samples/confirmed" not in stats
    assert of_file(server).status is Status.ACTIVE
    assert len(done.items) == server.downloads, "they go on as ordinary responses"
