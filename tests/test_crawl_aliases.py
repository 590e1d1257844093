"""URLs of posts, and those that a page declares, are the pages on which they stand: once a kind of them is proven they are not fetched, and no page is lost."""

import threading
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import pytest
from scrapy import Request, signals

from .benchmarks.sites.forum import STYLES, Forum
from .conftest import Project, Serve
from .crawling import (
    LEARNED,
    Crawl,
    Links,
    Outcome,
    close,
    crawl_site,
    crawl_sites,
    crawler_of,
    in_reactor,
    ledger,
    rule_toml,
    rules_of,
    run,
    statuses,
    when_counted,
)
from .server import Answer, Asked, Server
from .waiting import PATIENCE

#: Breadth first: pages before their posts.
BREADTH = {
    "DEPTH_PRIORITY": 1,
    "CONCURRENT_REQUESTS": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}


def words(name: object, number: int = 30) -> str:
    return " ".join(f"w{name}x{n}" for n in range(number))


def link(target: str) -> str:
    return f'<a href="{target.replace("&", "&amp;")}">link</a>'


# Of generated forums


@pytest.mark.parametrize("style", STYLES)
@in_reactor
async def test_a_forum_is_crawled_again_without_its_posts(
    serve: Serve, project: Project, monkeypatch: pytest.MonkeyPatch, style: str
) -> None:
    monkeypatch.chdir(project.folder)
    forum = Forum(style, threads=10, most_posts=12, boards=2, users=12, recent=2)
    told = style == "path"
    cold = await crawl_site(
        serve, lambda asked: forum.html(asked.target) or 404, DEDUP_LEARN="off" if told else "close"
    )
    plain = cold.fetched.total()
    if told:
        learned = project.scrapy("learn-rules").stdout
        assert "kinds of aliases:" in learned
        assert 'holds id="post-N"' in learned
        shown = project.scrapy("dedup", "explain", cold.server.url(forum.post_url(next(iter(forum.posts))))).stdout
        assert "alias of " in shown
        assert "a URL like this is the page that holds" in shown
        assert project.scrapy("dedup", "check").returncode == 0
    # Which of several requests is answered first would say how many posts are asked for before their page is known.
    warm = await cold.again(CONCURRENT_REQUESTS=1)
    for done in (cold, warm):
        assert {forum.page_of(url) for url in done.urls} == forum.pages(), "a page is lost"
    assert warm.fetched.total() < 0.75 * plain
    base = cold.server.url("")
    ids = {rule["id"] for rule in rules_of(cold.server.site) if any(key.startswith("alias.") for key in rule["ops"])}
    rows = [row for row in ledger() if row.rule in ids]
    assert rows
    for row in rows:
        assert forum.page_of(row.url.replace(base, "")) == forum.page_of(row.taken_for.replace(base, ""))


# A kind in a rule file


def kind(status: str = "manual") -> str:
    match = ['"path.0" = "x"', '"q.m" = { class = "int", length = [1, 9] }']
    return rule_toml('"alias.q.m" = { anchor = "msg" }', match=match, status=status)


class Threads:
    """Pages that name themselves; each is listed before it is fetched, and links its other URL."""

    def __init__(self, number: int, *, other: int = 0, early: bool = False) -> None:
        self.numbers, self.other, self.early = range(1, number + 1), other, early

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/":
            return "".join(link(f"/thread/{n}") for n in self.numbers) + (link("/x?m=1") if self.early else "")
        number = self.other + int(asked.query["m"]) if asked.query else int(asked.path.rpartition("/")[2])
        return f'<p id="msg{number}">{words(number)}</p>{link(f"/x?m={number}")}'

    @property
    def threads(self) -> list[str]:
        return ["/", *sorted(f"/thread/{n}" for n in self.numbers)]


@in_reactor
async def test_a_kind_acts_as_its_status_says(serve: Serve) -> None:
    site, every = Threads(3), [*Threads(3).threads, *(f"/x?m={n}" for n in (1, 2, 3))]
    given = {status: (site, kind(status)) for status in ("manual", "active", "off", "suspended", "candidate")}
    done = await crawl_sites(serve, given)
    assert {status: each.urls == site.threads for status, each in done.items()} == {
        **dict.fromkeys(("manual", "active"), True),
        **dict.fromkeys(("off", "suspended", "candidate"), False),
    }
    assert all(done[status].urls == every for status in ("off", "suspended", "candidate"))
    one = done["manual"]
    assert one.stat("discarded/urls") == 6
    assert {row.taken_for for row in ledger() if row.site == one.server.site} == {
        one.server.url(f"/thread/{n}") for n in (1, 2, 3)
    }
    for mode, stats in {
        "shadow": {"shadow/discarded": 3},
        "observe": {"aliases/sighted": 3, "aliases/known": 0},
    }.items():
        other = await one.again(DEDUP_MODE=mode)
        assert other.urls == every
        assert {name: other.stat(name) for name in stats} == stats
    queued = await crawl_site(serve, Threads(3, early=True), kind(), **BREADTH, SCRAPER_SLOT_MAX_ACTIVE_SIZE=1)
    assert queued.urls == site.threads
    assert queued.stat("discarded/gate") == 1, "it was found before its page came"


class Mixed(Links):
    """Has another callback for one URL of the kind, and asks for another one without a filter."""

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "key": None}
        for target in response.css("a::attr(href)").getall():
            own = self.other if target.endswith("m=1") else self.parse
            yield Request(
                response.urljoin(target), own, dont_filter=target.endswith("m=2") and "/x" not in response.url
            )

    def other(self, response: Any) -> Any:
        yield {"url": response.url, "key": None}


@in_reactor
async def test_what_a_spider_wants_is_fetched(serve: Serve) -> None:
    done = await crawl_site(serve, Threads(3), kind(), spider=Mixed)
    assert done.urls == [*Threads(3).threads, "/x?m=1", "/x?m=2"]


@in_reactor
async def test_a_kind_that_a_spot_check_refutes_is_withdrawn_as_a_rule_is(serve: Serve) -> None:
    """The URLs lead to pages of their own now: the kind is suspended, in its file too, and no page is lost."""
    site = Threads(24, other=1000)
    done = await crawl_site(serve, site, kind("active"), DEDUP_SAMPLE=0.1, DEPTH_LIMIT=2)
    assert {url for url in done.urls if url.startswith("/x")} == {f"/x?m={n}" for n in site.numbers}
    assert done.stat("refuted") == 1
    assert done.stat("retracted") > 0
    assert statuses(done.server.site) == {"alias.q.m": "suspended"}
    assert max(done.fetched.values()) == 1
    second = await done.again(DEDUP_SAMPLE=0.1, DEPTH_LIMIT=2)
    assert second.stat("discarded/urls") == 0, "it does not act again"


@in_reactor
async def test_urls_that_a_page_declares(serve: Serve) -> None:
    """No rule can compute a title from a number. Both kinds of declarations, in elements and in headers."""
    titles = "ash beech cedar date elm fir gorse hazel ivy juniper kapok larch maple nutmeg".split()

    def site(asked: Asked) -> Answer:
        n = int(asked.query["p"]) if "p" in asked.query else titles.index(asked.path.rpartition("-")[2])
        head = (
            f"<LINK href='/?x=1&amp;p={n}' rel='shortlink'/><meta property=\"og:url\" content=\"/title-{titles[n]}\">"
        )
        found = link(f"/?x=1&p={n}") + link(f"/?p={n}") + "".join(link(f"/title-{title}") for title in titles)
        headers = {"Link": f"</?p={n}>; rel=shortlink"}
        return Answer(f"<html><head>{head}</head><body><p>{words(n)}</p>{found}</body></html>", headers=headers)

    cold = await crawl_site(serve, site, start=("/title-ash",), DEDUP_LEARN="close")
    assert len(set(cold.urls)) == 3 * len(titles)
    (rule,) = [rule for rule in rules_of(cold.server.site) if "alias.shortlink" in rule["ops"]]
    assert (rule["status"], rule["ops"]) == ("active", {"alias.shortlink": "declared"})
    warm = await cold.again(start=("/title-ash",))
    assert set(warm.urls) == {f"/title-{title}" for title in titles}
    assert rule["id"] in {row.rule for row in ledger()}


# Kinds that come into use when their pages are fetched already

#: Topics of each board: most boards have few.
BOARDS = {"core": 9, "web": 7, "docs": 4, "mobile": 3, "games": 2, "music": 2, "art": 1, "sale": 1}
POSTS, PAGES = 6, 2
"""Posts of a topic, and pages that show them: by the URL of a post nobody knows which page it is."""
EVIDENCE = 60
"""Posts that the server answers before it waits for a kind to be learned."""


class Shape(NamedTuple):
    """The URLs of a board of topics, and the names of its posts' elements; without one topics declare the URLs of their posts, one each."""

    topic: str
    post: str
    element: str = ""
    redirects: bool = False
    members: bool = False
    """Whether lists of a member's posts hold the same elements."""


SHAPES = {
    "parameter": Shape("/forum/{board}/{topic}", "/forum/{board}/{topic}?post={post}", "post-{post}", members=True),
    "permalink": Shape("/{board}/{topic}", "/post/{post}", "post-{post}", redirects=True),
    "short": Shape("/t/{topic}", "/p/{post}", "p{post}"),
    "script": Shape("/showthread?t={topic}", "/showthread?p={post}#post{post}", "post{post}", members=True),
    "shortlink": Shape("/blog/{board}/title-{topic}", "/?p={post}"),
}


class Board:
    """The index lists boards, a board its topics, a topic its posts; posts are numbered as they were written."""

    def __init__(self, shape: Shape, serve: Serve) -> None:
        self.shape = shape
        names = [board for board, topics in BOARDS.items() for _ in range(topics)]
        self.topics = dict(enumerate(names, 101))
        self.posts = {
            str(5000 + place * len(names) + topic * 3 % len(names)): (topic, place % PAGES)
            for place in range(POSTS if shape.element else 1)
            for topic in self.topics
        }
        self.pages: dict[str, list[str]] = {}
        for post, at in self.posts.items():
            self.pages.setdefault(self.page(*at), []).append(post)
        self.of_post = {self.post(post).partition("#")[0]: self.page(*at) for post, at in self.posts.items()}
        self.allowed = EVIDENCE if shape.element else 15
        self.answered = 0
        self.released = False
        self.changed = threading.Condition()
        self.server: Server = serve(self.answer)

    def page(self, topic: int, number: int = 0) -> str:
        target = self.shape.topic.format(board=self.topics[topic], topic=topic)
        return target + ("" if not number else f"&page={number}" if "?" in target else f"?page={number}")

    def post(self, post: str) -> str:
        topic = self.posts[post][0]
        return self.shape.post.format(board=self.topics[topic], topic=topic, post=post)

    def answer(self, asked: Asked) -> Any:
        target = asked.target
        if target in self.of_post:
            self.answered += 1
            number = self.answered
            with self.changed:
                self.changed.wait_for(lambda: self.released or number <= self.allowed, PATIENCE)
            target = self.of_post[target]
            if self.shape.redirects:
                return Answer("", status=302, headers={"Location": target})
        return f"<html>{parts}</html>" if (parts := "".join(self.body(target))) else 404

    def body(self, target: str) -> Iterator[str]:
        _, folder, name, *_ = [*target.split("/"), "", ""]
        if target == "/":
            yield from map(link, Random(1).sample(list(self.pages), len(self.pages)))
            yield from (link(f"/in/{board}") for board in BOARDS)
            yield from (link(f"/member/{member}/posts/") for member in range(5) if self.shape.members)
        elif folder == "in":
            yield words(name, 15)
            yield from (
                link(page) for page, posts in self.pages.items() if self.topics[self.posts[posts[0]][0]] == name
            )
        elif folder == "member":
            yield words(name, 15)
            for post in list(self.posts)[int(name) :: 20]:
                yield f'<div id="{self.shape.element.format(post=post)}">{link(self.post(post))}</div>'
        elif target in self.pages:
            posts = self.pages[target]
            if not self.shape.element:
                yield f'<head><link rel="shortlink" href="{self.post(posts[0])}"></head>'
            for post in posts:
                yield f'<div id="{self.shape.element.format(post=post)}">{words(post, 15)}{link(self.post(post))}</div>'

    def kinds(self) -> list[dict[str, Any]]:
        rules = [rule for rule in rules_of(self.server.site) if rule["status"] == "active"]
        return [rule for rule in rules if any(key.startswith("alias.") for key in rule["ops"])]

    def check(self, *crawls: Crawl) -> None:
        """Nothing is lost or taken for another page, and of the posts hardly more are fetched than the kind is learned from."""
        found = {url.partition("#")[0] for done in crawls for url in Outcome(done, self.server).urls}
        assert {self.of_post.get(url, url) for url in found} >= {*self.pages, *(f"/in/{board}" for board in BOARDS)}
        base = self.server.url("")
        rows = ledger("pending")  # a kind may have had another id when it filtered
        for row in rows:
            url, page = (each.removeprefix(base).partition("#")[0] for each in (row.url, row.taken_for))
            assert self.of_post.get(url, url) == self.of_post.get(page, page)
        fetched = sum(target in self.of_post for target in self.server.hits)
        assert fetched <= self.allowed + 8, "queued links of posts are known to be their topics"
        assert len({row.url for row in rows}) >= len(self.of_post) - self.allowed - 8
        assert not [fault for done in crawls for fault in done.faults()]


@pytest.mark.parametrize("shape", ["short", "script"])
@in_reactor
async def test_a_kind_learned_in_the_crawl_stops_queued_posts(serve: Serve, shape: str) -> None:
    board = Board(SHAPES[shape], serve)
    crawler = crawler_of(Links, DEDUP_LEARN="live", **BREADTH)

    def go_on() -> None:
        with board.changed:
            if any(kind["evidence"]["groups"] > EVIDENCE / POSTS for kind in board.kinds()):
                board.released = True
            else:  # it was learned from fewer posts than there may be
                board.allowed = max(board.allowed, board.answered + EVIDENCE * 2 // 3)
            board.changed.notify_all()

    when_counted(crawler, LEARNED, go_on)
    board.check(await run(crawler, board.server.url("/")))


@pytest.mark.parametrize("shape", ["parameter", "permalink", "shortlink"])
@in_reactor
async def test_a_job_that_is_resumed_knows_what_its_earlier_runs_have_seen(serve: Serve, shape: str) -> None:
    board = Board(SHAPES[shape], serve)
    board.released = True
    crawler = crawler_of(Links, DEDUP_LEARN="close", JOBDIR="job", **BREADTH)

    def pause() -> None:
        if board.answered == board.allowed:
            close(crawler, "paused")

    crawler.signals.connect(pause, signals.response_downloaded)
    first = await run(crawler, board.server.url("/"))
    assert board.kinds(), "the kind is learned as the first run ends"
    board.check(first, await run(crawler_of(Links, JOBDIR="job", **BREADTH), board.server.url("/")))
