"""A few of the URLs that a rule filters are fetched all the same: a duplicate stops before the callback, another page suspends the rule."""

import itertools
import threading
from collections.abc import Callable
from typing import Any

import pytest
import scrapy
from scrapy.http import HtmlResponse

from .conftest import Serve
from .crawling import (
    Links,
    crawl_again,
    crawl_site,
    crawl_sites,
    ignore,
    in_reactor,
    ledger,
    let_days_pass,
    messages,
    observed,
    rule_toml,
    rules_of,
    save_mask,
    save_rules,
    spot_checks,
    statuses,
    without,
)
from .server import Answer, Asked, page, prose, redirect

PAGES = 24
SID = ignore("q.sid", "active")
#: A rule that was checked in earlier crawls.
KNOWN = ignore("q.v", "active", samples=40)


def shop(asked: Asked) -> Any:
    """Every page links to two others, under session ids of its own."""
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&sid=0" for i in range(PAGES)))
    number = int(asked.query["id"])
    return page(prose(number), *(f"/p?id={(number + step) % PAGES}&sid={number}" for step in (1, 2)))


class Errs(Links):
    """Keeps what its errback gets."""

    def __init__(self, *start: str) -> None:
        super().__init__(*start)
        self.failures: list[Any] = []

    def parse(self, response: Any) -> Any:
        for each in super().parse(response):
            yield each.replace(errback=self.failed) if isinstance(each, scrapy.Request) else each

    def failed(self, failure: Any) -> None:
        self.failures.append(failure.value)


@in_reactor
async def test_duplicates_stop_before_the_callback(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        done = await crawl_site(serve, shop, SID, spider=Errs, DEDUP_SAMPLE=0.02)
    samples, avoided = done.stat("samples"), done.stat("avoided")
    assert len(done.items) == 1 + PAGES, "each page once"
    # Of a rule of which nothing is known the first ones are checked, one and all; then ever fewer are.
    assert 3 <= samples == done.stat("samples/confirmed") <= PAGES
    assert done.fetched.total() == done.stat("recorded") == 1 + PAGES + samples
    assert avoided == 3 * PAGES - 2 - PAGES - samples
    assert done.stat("avoided/bytes") > 100 * avoided
    assert set(observed()) == {done.server.url(target) for target in done.fetched}, "they are seen like any other"
    assert not done.crawler.spider.failures, "a duplicate is no failure"  # type: ignore[union-attr]
    assert "downloader/exception_count" not in done.stats
    assert not messages(caplog)
    assert not done.faults()
    told = "\n".join(messages(caplog, 20))
    assert f"{avoided} downloads avoided" in told
    assert f"spot checks: {samples} of {avoided + samples} filtered URLs were fetched to check: all duplicates" in told
    assert (spot_checks()["samples"], spot_checks()["refuted"]) == (samples, 0)
    assert statuses(done.server.site) == {"q.sid": "active"}
    # Each of them is a download, so that a crawl that is limited makes no more than it would without.
    limited = await done.again(SID, DEDUP_SAMPLE=1, CLOSESPIDER_PAGECOUNT=30, CONCURRENT_REQUESTS=1)
    assert limited.stats["finish_reason"] == "closespider_pagecount"
    assert limited.stats["response_received_count"] == limited.fetched.total() <= 31
    assert len(limited.items) == limited.fetched.total() - limited.stat("samples/confirmed")
    assert limited.stat("samples/confirmed") > 3
    later = await done.again(DEDUP_SAMPLE=0.02)
    assert later.stat("samples") <= samples


class Opens:
    """A downloader middleware that puts into the meta of each request what its callback has to close, as a browser does."""

    opened: set[object] = set()

    def process_response(self, request: scrapy.Request, response: Any, spider: Any = None) -> Any:
        if "driver" not in request.meta:  # one that is tried again goes on with it
            request.meta["driver"] = handle = object()
            self.opened.add(handle)
        return response


class Closes(Links):
    def parse(self, response: Any) -> Any:
        Opens.opened.remove(response.meta["driver"])
        yield {"url": response.url, "key": None}
        for url in response.css("a::attr(href)").getall():
            yield response.follow(url)


@in_reactor
async def test_what_a_request_holds_open_comes_to_its_callback(serve: Serve) -> None:
    """Also where the first response was an error, and the request was tried again."""
    asked_before = set[str]()

    def busy(asked: Asked) -> Any:
        is_first = asked.target not in asked_before
        asked_before.add(asked.target)
        return 503 if is_first else shop(asked)

    opens = {"DOWNLOADER_MIDDLEWARES": {Opens: 900}}
    done = await crawl_site(serve, busy, SID, spider=Closes, DEDUP_SAMPLE=0.02, **opens)
    assert not Opens.opened, "all is closed"
    samples = done.stat("samples/confirmed")
    assert samples >= 3, "such requests are checked, too"
    assert len(without("sid", done.urls)) == 1 + PAGES
    assert len(done.items) == len(done.fetched) == done.stat("recorded") == 1 + PAGES + samples < 3 * PAGES


LISTS, LENGTH = 3, 10


def lists(asked: Asked) -> Any:
    """Lists of several pages."""
    if asked.path == "/":
        return page("start", *(f"/list?of={i}&page=1" for i in range(LISTS)))
    number, at = asked.query["of"], int(asked.query["page"])
    return page(prose(f"{number} {at}"), *(f"/list?of={number}&page={other}" for other in range(1, LENGTH + 1)))


class Copies(Links):
    """Hands on response.meta: no link is a spot check by that."""

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "key": None}
        if isinstance(response, HtmlResponse):
            for link in response.css("a::attr(href)").getall():
                yield response.follow(link, meta=response.meta)


@in_reactor
async def test_a_manual_rule_is_warned_of_and_goes_on_to_act(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        done = await crawl_site(serve, lists, ignore("q.page"), spider=Copies, DEDUP_SAMPLE=0.2)
    differing = done.stat("samples/differing")
    assert differing > 2
    assert len(done.items) == done.fetched.total() == 1 + LISTS + done.stat("samples") < 2 + LISTS * LENGTH
    assert (done.stat("refuted"), done.stat("refuted/manual")) == (0, 1)
    (warned,) = [text for text in messages(caplog) if "is manual" in text]
    (rule,) = rules_of(done.server.site)
    assert (rule["status"], rule["ops"]) == ("manual", {"q.page": "ignore"}), "the file is the user's"
    # Each spot check that differs is told of, with both URLs and the rule.
    rows = ledger("differing")
    told = [text for text in messages(caplog, 20) if text.startswith("The spot check ")]
    assert len(told) == len(rows) == differing
    assert set(told) == {
        f"The spot check {row.url} is not the same page as {row.taken_for}, which it was taken for by rule {row.rule}"
        for row in rows
    }
    assert rows[0].rule in warned
    assert not done.faults()


def fails() -> Callable[[Asked], Any]:
    """What is asked for again is no page: the rule says which page a URL is, and that does not contradict it."""
    answers = itertools.cycle([404, 500, redirect("/"), Answer(hang_up=True), Answer("few words")])
    lock = threading.Lock()
    came = set[str]()

    def site(asked: Asked) -> Any:
        with lock:
            if asked.path == "/" or asked.query["id"] not in came:
                came.add(asked.query.get("id", ""))
                return shop(asked)
            return next(answers)

    return site


def bans() -> Callable[[Asked], Any]:
    """It answers every request with one page from some new page on."""
    known = set[str]()
    lock = threading.Lock()

    def site(asked: Asked) -> Any:
        with lock:
            known.add(asked.path + asked.query.get("id", ""))
            return page("You have asked for too much, come again tomorrow") if len(known) > 12 else shop(asked)

    return site


def logs_out(asked: Asked) -> Any:
    if asked.path == "/":  # the last link is followed first
        return page("start", *(f"/p?id={i}&sid={sid}" for sid in (0, 1) for i in range(PAGES)), "/login")
    if asked.path == "/login" or asked.query["sid"] == "1":
        return page("Your session is over, so please log in again here")
    return page(prose(asked.query["id"]))


SHOWN, UNIQUE = 16, 2


def languages(asked: Asked) -> Any:
    """Pages in two languages; those of one are also there under a folder of their own, but for the last ones."""
    if asked.path == "/":
        english = [f"/p?id={i}" for i in range(SHOWN + UNIQUE)]
        # The last link is followed first.
        return page("start", *english, *(f"{each}&sid=de" for each in english), *(f"/de?id={i}" for i in range(SHOWN)))
    language = "de" if asked.path == "/de" else asked.query.get("sid", "en")
    return page(prose(f"{language} {asked.query['id']}"))


def repeated(asked: Asked) -> Any:
    """A value that comes twice says something."""
    if asked.path == "/":
        return page("start", *(f"/p?tag={i}{more}" for i in range(12) for more in ("", f"&tag={i}")))
    return page(prose(asked.target))


def rare(asked: Asked) -> Any:
    """A parameter says nothing on most pages, and everything on a few."""
    if asked.path == "/":
        return page("start", *(f"/list/a/{i}?v=0" for i in range(40)), *(f"/item/{i}?v=0" for i in range(5)))
    number, value = asked.path.rsplit("/", 1)[1], asked.query["v"]
    if asked.path.startswith("/item"):
        return page(prose(f"item {number} {value}"), f"/item/{number}?v=7")
    return page(prose(f"list {number}"), f"/list/a/{number}?v=7")


FOLDERS = "abcdefghijklmnopqrst"


def many_kinds(asked: Asked) -> Any:
    if asked.path == "/":
        links = (f"/{name}/x?id={i}&v={value}" for name in FOLDERS for i in range(4) for value in "01")
        return page("start", *links)
    return page(prose(asked.path + asked.query["id"]))


@in_reactor
async def test_which_rules_are_suspended(serve: Serve) -> None:
    """A wrong one is, on whichever few pages it is wrong, and no page is lost; what is no page refutes no rule."""
    right = {"fails": fails(), "bans": bans(), "logs out": logs_out}
    sites: dict[str, Any] = {
        **{name: (site, SID) for name, site in (right | {"languages": languages}).items()},
        "repeated": (repeated, rule_toml('"q.tag" = "set-of-values"', status="active")),
        "rare": (rare, KNOWN),
        "many kinds": (many_kinds, KNOWN),
    }
    done = await crawl_sites(serve, sites, DEDUP_SAMPLE=0.02, CONCURRENT_REQUESTS=1, JOBDIR="job")
    found = {name: "".join(statuses(each.server.site).values()) for name, each in done.items()}
    wrong = {"languages", "repeated", "rare"}
    assert found == {name: "suspended" if name in wrong else "active" for name in sites}
    shown = {name: set(each.urls) for name, each in done.items()}
    assert set(without("sid", shown["fails"])) >= {f"/p?id={i}" for i in range(PAGES)}
    assert shown["languages"] >= {f"/p?id={SHOWN + i}&sid=de" for i in range(UNIQUE)}, "no page is lost"
    assert shown["repeated"] >= {f"/p?tag={i}{more}" for i in range(12) for more in ("", f"&tag={i}")}
    assert shown["rare"] >= {f"/item/{i}?v={value}" for i in range(5) for value in "07"}
    most = {"languages": 1 + 3 * SHOWN + 2 * UNIQUE, "repeated": 25, "rare": 91, "logs out": 2 + PAGES + 2 * 15}
    for name, each in done.items():
        assert each.fetched.total() <= most.get(name, 1 + 3 * PAGES + 4 * len(FOLDERS)), f"{name}: never more"
        # What a connection hangs up on that has answered before, Twisted asks for once more.
        assert name == "fails" or max(count for target, count in each.fetched.items() if target != "/") <= 2, name
    # Of many kinds of pages of a right rule each may get a check before the end, but of no rule more than a few.
    pages = 1 + 4 * len(FOLDERS)
    assert pages + 5 <= done["many kinds"].fetched.total() <= pages + 24
    assert not done["rare"].faults()


CLOCK_AND_AD = {"body > p.clock::text": "It is {…} now", "body > div.ad::text": "{…}"}
LINKED = 4


def passing(site: Callable[[Asked], Any]) -> Callable[[Asked], Any]:
    """A site with a clock and an advertisement, of which no two responses show the same."""
    ticks = itertools.count()

    def answer(asked: Asked) -> Any:
        now = next(ticks)
        shown = f'<p class="clock">It is {now} now</p><div class="ad">{prose(f"ad{now}", 20)}</div></body>'
        return site(asked).replace("</body>", shown)

    return answer


def under_sids(is_right: bool) -> Callable[[Asked], Any]:
    """Pages that were seen twice, and that lead to others under session ids, which were not."""

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/p?id={number}" for number in range(PAGES)))
        number, sid = int(asked.query["id"]), asked.query.get("sid", "")
        links = [f"/p?id={(number + step) % PAGES}&sid={step}" for step in range(1, LINKED + 1)]
        return page(prose(number if is_right else f"{number} {sid}"), *links)

    return passing(site)


@in_reactor
async def test_with_transient_content(serve: Serve) -> None:
    """Another clock and another advertisement are no other page; what was not seen to pass on pages of a kind tells nothing."""
    wrong = ignore("q.page", "active")
    footed = f'<div class="foot">{prose("foot")}</div></body>'
    sites = {
        "right": (passing(shop), SID),
        "wrong": (passing(lists), wrong),
        "hidden": (lambda asked: lists(asked).replace("</body>", footed), wrong),
        "untested": (under_sids(True), SID),
        "untested, wrong": (under_sids(False), SID),
    }
    servers = {name: serve(site) for name, (site, _) in sites.items()}
    for name, server in servers.items():
        save_rules(server.site, sites[name][1])
        untested = name.startswith("untested")
        hides = {"body > p::text": "{…}", "head > title::text": "{…}"} if name == "hidden" else CLOCK_AND_AD
        save_mask(server.site, hides, *(['on = ["/elsewhere/*"]'] * untested))
    done = await crawl_again(servers, DEDUP_SAMPLE=0.2)
    found = {name: statuses(server.site) for name, server in servers.items()}
    assert {name for name, each in found.items() if "suspended" in each.values()} == {"wrong", "untested, wrong"}
    checks = {name: spot_checks(server.site) for name, server in servers.items()}
    assert (checks["right"]["samples"] > 3, checks["right"]["refuted"]) == (True, 0)
    assert len(done["right"].items) == 1 + PAGES
    assert len(done["wrong"].items) == 1 + LISTS * LENGTH, "nothing is lost"
    assert len(done["untested, wrong"].items) == 1 + PAGES + LINKED * PAGES
    assert checks["hidden"]["samples"] == 0, "what all pages of a site have in common tells nothing"
    assert len(done["hidden"].items) == done["hidden"].fetched.total() > 1 + LISTS + 3
    assert checks["untested"]["undecided"] > 3
    # A fifth of it is checked, one of each kind of difference, the first ten, and some more of what nothing was checked of.
    assert done["untested"].fetched.total() < 1 + PAGES + LINKED * PAGES * 2 / 3, "a part of what it filters is saved"


def application(*, sids: bool) -> Callable[[Asked], Any]:
    """Items that show one text, as the frame of an application does; what they are stands in a script."""

    def answer(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", "/p?id=1")
        number = int(asked.query["id"])
        links = [f"/p?id={(number + step) % PAGES}" + f"&sid={number}" * sids for step in (1, 2)]
        data = f'<script>item = {{"name": "{prose(number)[:40]}"}}</script>'
        return page("frame", *links).replace("</body>", f"<p>{prose('frame')}</p>{data}</body>")

    return answer


@in_reactor
@pytest.mark.parametrize(("op", "sids"), [("q.sid", True), ("q.id", False)])
async def test_frames_of_an_application_are_told_apart_by_what_nobody_sees(serve: Serve, op: str, sids: bool) -> None:
    """Once a page was fetched twice: a rule that takes all items for one loses none, and one that ignores session ids saves."""
    server = serve(application(sids=sids))
    await crawl_again({"": server}, DEPTH_LIMIT=1)
    let_days_pass(1)
    save_rules(server.site, ignore(op, "active"))
    done = (await crawl_again({"": server}, DEDUP_SAMPLE=0.2))[""]
    assert statuses(server.site) == {op: "active" if sids else "suspended"}
    assert len(done.items) == 1 + PAGES, "nothing is lost"
    if sids:
        assert done.fetched.total() < 1.7 * PAGES, "most of what it filters is saved"
