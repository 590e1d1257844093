"""Aliases in real crawls of generated forums: downloads saved, no page lost."""

from typing import Any

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse

from scrapy_dedup import RuleBook
from scrapy_dedup.crawl.decide.known_aliases import declared_in
from scrapy_dedup.rules import Anchored, Declared, Literal, OfClass, Rule, Status
from scrapy_dedup.store.store import Store
from scrapy_dedup.urls import ValueClass

from .benchmarks.sites.forum import STYLES, Forum
from .conftest import Project, Serve
from .crawling import STORE, Crawl, Links, crawl, discarded, in_reactor, write_rules
from .server import Answer, Asked, Server


def answers(forum: Forum) -> dict[str, Any]:
    def answer(asked: Asked) -> Answer:
        html = forum.html(asked.target)
        return Answer("", status=404) if html is None else Answer(html)

    return {"*": answer}


def pages_of(forum: Forum, done: Crawl) -> set[Any]:
    return {forum.page_of(url) for url in done.urls}


def kinds() -> list[Rule]:
    return [rule for rule in RuleBook.load("dedup-rules") if rule.is_alias]


@pytest.mark.parametrize("style", STYLES)
@in_reactor
async def test_a_forum_is_crawled_again_without_its_posts(serve: Serve, style: str) -> None:
    forum = Forum(style, threads=16, most_posts=14, boards=2, users=20, recent=2)
    server = serve(answers(forum))
    cold = await crawl(Links, server.url("/"), DEDUP_LEARN="close")
    first = server.downloads
    assert pages_of(forum, cold) == forum.pages()
    assert any(rule.status.acts for rule in kinds())
    server.reset()
    warm = await crawl(Links, server.url("/"), DEDUP_LEARN="off")
    assert pages_of(forum, warm) == forum.pages(), "a page is lost"
    assert server.downloads < 0.75 * first
    ids = {rule.id for rule in kinds()}
    rows = [row for row in discarded() if row.rule in ids]
    assert rows
    for row in rows:
        base = server.url("")
        assert forum.page_of(row.url.replace(base, "")) == forum.page_of(row.taken_for.replace(base, ""))


def page(number: int, links: str = "") -> str:
    words = " ".join(f"w{number}x{n}" for n in range(30))
    return f'<html><body><p id="msg{number}">{words}</p><a href="/x?m={number}">this</a>{links}</body></html>'


def numbered() -> dict[str, Any]:
    """Three pages that name themselves, listed twice: before and after they are fetched."""

    def found(asked: Asked) -> Answer:
        return Answer(page(int(asked.query["m"])))

    def thread(asked: Asked) -> Answer:
        return Answer(page(int(asked.path.rpartition("/")[2])))

    index = "".join(f'<a href="/thread/{n}">t</a>' for n in (1, 2, 3))
    return {"/": f"<html><body>{index}</body></html>", "/thread/*": thread, "/x": found}


def site_of(server: Server) -> str:
    return server.url("").partition("//")[2].rstrip("/")


def kind(server: Server, status: Status = Status.MANUAL) -> Rule:
    match = {"path.0": Literal("x"), "q.m": OfClass(ValueClass("int", 1, 9))}
    return Rule(site_of(server), match, {"alias.q.m": Anchored("msg")}, status)


@in_reactor
async def test_a_kind_of_the_user_acts_at_once(serve: Serve) -> None:
    server = serve(numbered())
    rule = kind(server)
    write_rules(rule)
    done = await crawl(Links, server.url("/"))
    assert done.urls == ["/", "/thread/1", "/thread/2", "/thread/3"]
    assert done.dedup()["discarded/urls"] == 3
    assert done.dedup()[f"discarded/rule/{rule.id}"] == 3
    assert {row.taken_for for row in discarded()} == {server.url(f"/thread/{n}") for n in (1, 2, 3)}


class TwoCallbacks(Links):
    """Has another callback for the URLs of the kind."""

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "key": None}
        for link in response.css("a::attr(href)").getall():
            callback = self.parse_post if "m=" in link else self.parse
            yield Request(response.urljoin(link), callback=callback)

    def parse_post(self, response: Any) -> Any:
        yield {"url": response.url, "key": None}


class Insisting(Links):
    """Asks for the URLs of the kind without a filter."""

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "key": None}
        for link in response.css("a::attr(href)").getall():
            yield Request(response.urljoin(link), dont_filter="m=" in link and "x?" not in response.url)


@pytest.mark.parametrize(
    ("status", "settings", "spider", "stats"),
    [
        pytest.param(Status.OFF, {}, Links, {}, id="off"),
        pytest.param(Status.SUSPENDED, {}, Links, {}, id="suspended"),
        pytest.param(Status.CANDIDATE, {}, Links, {}, id="candidate"),
        pytest.param(Status.MANUAL, {"DEDUP_MODE": "shadow"}, Links, {"shadow/discarded": 3}, id="shadow mode"),
        pytest.param(
            Status.MANUAL, {"DEDUP_MODE": "observe"}, Links, {"aliases/sighted": 3, "aliases/known": None}, id="observe"
        ),
        pytest.param(Status.MANUAL, {}, TwoCallbacks, {}, id="another callback is another page"),
        pytest.param(Status.MANUAL, {}, Insisting, {}, id="requests that are to be left alone"),
    ],
)
@in_reactor
async def test_a_kind_discards_nothing(
    serve: Serve, status: Status, settings: dict[str, Any], spider: type[Links], stats: dict[str, int | None]
) -> None:
    server = serve(numbered())
    write_rules(kind(server, status))
    done = await crawl(spider, server.url("/"), **settings)
    assert {"/", *(f"/{form}{n}" for form in ("thread/", "x?m=") for n in (1, 2, 3))} == set(done.urls)
    assert {name: done.dedup().get(name) for name in stats} == stats


@in_reactor
async def test_a_kind_that_a_sample_refutes_is_withdrawn_as_a_rule_is(serve: Serve) -> None:
    """The URLs lead to pages of their own now: the kind is suspended, in its file too, and no page is lost."""
    threads = range(1, 25)

    def thread(asked: Asked) -> Answer:
        return Answer(page(int(asked.path.rpartition("/")[2])))

    def other(asked: Asked) -> Answer:
        return Answer(page(1000 + int(asked.query["m"])))

    index = "".join(f'<a href="/thread/{n}">t</a>' for n in threads)
    server = serve({"/": f"<html><body>{index}</body></html>", "/thread/*": thread, "/x": other})
    write_rules(kind(server, Status.ACTIVE))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.1, DEPTH_LIMIT=2)
    assert {url for url in done.urls if url.startswith("/x")} == {f"/x?m={n}" for n in threads}
    assert done.stats["dedup/refuted"] == 1
    assert done.stats["dedup/retracted"] > 0
    assert [rule.status for rule in kinds()] == [Status.SUSPENDED]
    assert max(server.hits.values()) == 1
    second = await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.1, DEPTH_LIMIT=2)
    assert "discarded/urls" not in second.dedup(), "it does not act again"


@in_reactor
async def test_what_was_queued_is_stopped_at_the_gate(serve: Serve) -> None:
    routes = numbered()
    # /x?m=1 is found on the start page, which does not hold its element, before /thread/1 is fetched.
    routes["/"] = '<html><body><a href="/thread/1">t</a><a href="/thread/2">t</a><a href="/x?m=1">x</a></body></html>'
    server = serve(routes)
    write_rules(kind(server))

    class Slowly(Links):
        custom_settings = {
            "CONCURRENT_REQUESTS": 1,
            "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1,
            "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        }

    done = await crawl(Slowly, server.url("/"))
    assert done.urls == ["/", "/thread/1", "/thread/2"]
    assert done.dedup()["discarded/gate"] == 1


@in_reactor
async def test_declared_urls(serve: Serve) -> None:
    # No rule can compute a title from a number.
    titles = "ash beech cedar date elm fir gorse hazel ivy juniper kapok larch maple nutmeg".split()

    def titled(asked: Asked) -> Answer:
        n = int(asked.query["p"]) if "p" in asked.query else titles.index(asked.path.rpartition("-")[2])
        words = " ".join(f"w{n}x{k}" for k in range(30))
        head = f'<link rel="shortlink" href="/?p={n}"><meta property="og:url" content="/title-{titles[n]}">'
        links = f'<a href="/?p={n}">short</a>' + "".join(f'<a href="/title-{title}">t</a>' for title in titles)
        return Answer(f"<html><head>{head}</head><body><p>{words}</p>{links}</body></html>")

    server = serve({"*": titled})
    cold = await crawl(Links, server.url("/title-ash"), DEDUP_LEARN="close")
    assert len(set(cold.urls)) == 28
    (rule,) = [rule for rule in kinds() if "alias.shortlink" in rule.ops]
    assert rule.status is Status.ACTIVE
    assert rule.ops == {"alias.shortlink": Declared()}
    server.reset()
    warm = await crawl(Links, server.url("/title-ash"))
    assert len(set(warm.urls)) == 14
    assert {row.rule for row in discarded()} == {rule.id}


@pytest.mark.parametrize("rest", [b"", b"<p>a</p>" * 10_000])
def test_what_a_page_declares(rest: bytes) -> None:
    body = (
        b"<html><head><LINK href='/?p=7&amp;x=1' rel='shortlink'/><meta property=\"og:url\" content=\"/a\">"
        b'<link title="canonical"><link rel="canonical" href="/b"></head>' + rest
    )
    response = HtmlResponse(
        "http://h.test/x/y", body=body, encoding="utf-8", headers={"Link": "</?p=9>; rel=shortlink"}
    )
    assert dict(declared_in(response, ["og:url", "canonical"])) == {
        "og:url": "http://h.test/a",
        "canonical": "http://h.test/b",
    }
    assert list(declared_in(response, ["shortlink"])) == [
        ("shortlink", "http://h.test/?p=7&x=1"),
        ("shortlink", "http://h.test/?p=9"),
    ]


@in_reactor
async def test_sightings_are_bounded_and_forgotten(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrapy_dedup.crawl.decide.known_aliases.MOST_OF_A_KIND", 2)
    server = serve(numbered())
    done = await crawl(Links, server.url("/"))
    assert done.dedup()["aliases/sighted"] == 2
    with Store.open(STORE, readonly=True) as store:
        rows = list(store.sightings())
        assert len(rows) == 2
    with Store.open(STORE) as store:
        assert store.forget(site_of(server))
        assert not list(store.sightings())


@in_reactor
async def test_the_commands_show_kinds_and_aliases(serve: Serve, project: Project) -> None:
    forum = Forum("path", threads=14, most_posts=10, boards=1, users=12, recent=1)
    server = serve(answers(forum))
    store = project.folder / ".scrapy/dedup/store.sqlite"
    await crawl(Links, server.url("/"), DEDUP_STORE=str(store))
    learned = project.scrapy("learn-rules")
    assert "kinds of aliases:" in learned.stdout, learned.stdout + learned.stderr
    assert 'holds id="post-N"' in learned.stdout
    post = next(iter(forum.posts))
    shown = project.scrapy("dedup", "explain", server.url(forum.post_url(post)))
    assert "alias of " in shown.stdout, shown.stderr
    assert "a URL like this is the page that holds" in shown.stdout
    again = project.scrapy("dedup", "check")
    assert again.returncode == 0
