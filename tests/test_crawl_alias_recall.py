"""Aliases of kinds that come into use when their pages are fetched already: queued links of posts are stopped, no page is lost."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from scrapy import signals

from scrapy_dedup import RuleBook
from scrapy_dedup.store.rows import DiscardState

from .conftest import Serve
from .crawling import LEARNED, Crawl, Links, close, crawler_of, discarded, in_reactor, run, when_counted
from .server import Answer, Asked, Server
from .waiting import PATIENCE

#: Topics of each board: most boards have few.
BOARDS = {"core": 9, "web": 7, "docs": 4, "mobile": 3, "games": 2, "music": 2, "art": 1, "sale": 1}
POSTS, PAGES = 6, 2
"""Posts of a topic, and pages that show them: by the URL of a post nobody knows which page it is."""
EVIDENCE = 60
"""Posts that the server answers before it waits for a kind to be learned."""


@dataclass(frozen=True)
class Shape:
    """The URLs of a forum, and the names of its posts' elements."""

    topic: str
    post: str
    element: str = ""
    redirects: bool = False
    members: bool = False
    """Whether lists of a member's posts hold the same elements."""
    shortlink: bool = False
    """Whether topics declare the URLs of their posts, one each."""


SHAPES = {
    "parameter": Shape("/forum/{board}/topic/{topic}", "/forum/{board}/topic/{topic}?post={post}", "post-{post}"),
    "parameter, members": Shape(
        "/forum/{board}/topic/{topic}", "/forum/{board}/topic/{topic}?post={post}", "post-{post}", members=True
    ),
    "permalink": Shape("/{board}/{topic}", "/post/{post}", "post-{post}", redirects=True),
    "permalink, members": Shape("/{board}/{topic}", "/post/{post}", "post-{post}", redirects=True, members=True),
    "short": Shape("/t/{topic}", "/p/{post}", "p{post}"),
    "script": Shape("/showthread.php?t={topic}", "/showthread.php?p={post}#post{post}", "post{post}"),
    "script, members": Shape(
        "/showthread.php?t={topic}", "/showthread.php?p={post}#post{post}", "post{post}", members=True
    ),
    "shortlink": Shape("/blog/{board}/title-{topic}", "/?p={post}", shortlink=True),
}


class Forum:
    """A forum: the index lists boards, a board its topics, a topic its posts; posts are numbered as they were written."""

    def __init__(self, shape: Shape, serve: Serve) -> None:
        self.shape = shape
        names = [board for board, topics in BOARDS.items() for _ in range(topics)]
        self.board_of = dict(enumerate(names, 101))
        self.posts: dict[str, tuple[int, int]] = {}
        for place in range(1 if shape.shortlink else POSTS):
            for topic in self.board_of:
                self.posts[str(5000 + place * len(names) + topic * 3 % len(names))] = topic, place % PAGES
        self.pages: dict[str, list[str]] = {}
        for post, at in self.posts.items():
            self.pages.setdefault(self._page(*at), []).append(post)
        self.of_post = {self._post(post).partition("#")[0]: self._page(*at) for post, at in self.posts.items()}
        self.allowed = EVIDENCE if not shape.shortlink else 15
        self.answered = 0
        self.released = threading.Event()
        self.server: Server = serve({"*": self.answer})

    def _page(self, topic: int, number: int = 0) -> str:
        target = self.shape.topic.format(board=self.board_of[topic], topic=topic)
        return target + ("" if not number else f"&page={number}" if "?" in target else f"?page={number}")

    def _post(self, post: str) -> str:
        topic = self.posts[post][0]
        return self.shape.post.format(board=self.board_of[topic], topic=topic, post=post)

    def answer(self, asked: Asked) -> Answer:
        target = asked.target
        if target in self.of_post:
            self.answered += 1
            if self.answered > self.allowed:
                self.released.wait(PATIENCE)
            if self.shape.redirects:
                return Answer("", status=302, headers={"Location": self.of_post[target]})
            target = self.of_post[target]
        parts = "".join(self.body(target))
        return Answer(f"<html>{parts}</html>") if parts else Answer("", status=404)

    def body(self, target: str) -> Iterator[str]:
        kind, _, name = target.strip("/").partition("/")
        if target == "/":
            yield link("/latest")
            yield from (link(f"/board/{board}") for board in BOARDS)
            yield from (link(f"/member/{member}/posts/") for member in range(5) if self.shape.members)
        elif kind == "board" and name in BOARDS:
            yield prose(name)
            yield from map(
                link, (page for page in self.pages if self.board_of[self.posts[self.pages[page][0]][0]] == name)
            )
        elif kind == "latest":
            yield from map(link, Random(1).sample(list(self.pages), len(self.pages)))
        elif kind == "member":
            yield prose(name)
            for post in list(self.posts)[int(name.partition("/")[0]) :: 20]:
                yield f'<div id="{self.shape.element.format(post=post)}">{link(self._post(post))}</div>'
        elif target in self.pages:
            posts = self.pages[target]
            if self.shape.shortlink:
                yield f'<head><link rel="shortlink" href="{self._post(posts[0])}"></head>'
            for post in posts:
                name = self.shape.element.format(post=post)
                yield f'<div id="{name}">{prose(post)}{link(self._post(post))}</div>'

    def page_of(self, target: str) -> str:
        return self.of_post.get(target, target)

    def check(self, *crawls: Crawl) -> None:
        """Nothing is lost or taken for another page, and of the posts hardly more are fetched than the kind is learned from."""
        found = {self.page_of(url.partition("#")[0]) for done in crawls for url in done.urls}
        assert found >= {*self.pages, *(f"/board/{board}" for board in BOARDS)}
        base = self.server.url("").rstrip("/")
        # A kind may have had another id when it filtered.
        rows = [row for row in discarded() if row.state is DiscardState.PENDING]
        for row in rows:
            url, page = (each.removeprefix(base).partition("#")[0] for each in (row.url, row.taken_for))
            assert self.page_of(url) == self.page_of(page)
        fetched = sum(target in self.of_post for target in self.server.hits)
        assert fetched <= self.allowed + 8, "queued links of posts are known to be their topics"
        assert len({row.url for row in rows}) >= len(self.of_post) - self.allowed - 8
        assert not [name for done in crawls for name in done.stats if name.startswith("dedup/errors")]


def link(target: str) -> str:
    return f'<a href="{target.replace("&", "&amp;")}">link</a>'


def prose(name: object) -> str:
    return " ".join(f"w{name}x{n}" for n in range(15))


def kinds() -> list[Any]:
    return [rule for rule in RuleBook.load("dedup-rules", missing_ok=True) if rule.is_alias and rule.status.acts]


class BreadthFirst(Links):
    """Fetches all topics before their posts."""

    custom_settings = {
        "DEPTH_PRIORITY": 1,
        "CONCURRENT_REQUESTS": 1,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }


@pytest.mark.parametrize("shape", ["short", "script, members"])
@in_reactor
async def test_a_kind_learned_in_the_crawl_stops_queued_posts(serve: Serve, shape: str) -> None:
    forum = Forum(SHAPES[shape], serve)
    crawler = crawler_of(BreadthFirst, DEDUP_LEARN="live")

    def go_on() -> None:
        if any(rule.evidence and rule.evidence.groups > EVIDENCE / POSTS for rule in kinds()):
            forum.released.set()
        else:  # it was learned from fewer posts than there may be
            forum.allowed = max(forum.allowed, forum.answered + EVIDENCE * 2 // 3)

    when_counted(crawler, LEARNED, go_on)
    forum.check(await run(crawler, forum.server.url("/")))


@pytest.mark.parametrize("shape", SHAPES)
@in_reactor
async def test_a_job_that_is_resumed_knows_what_its_earlier_runs_have_seen(serve: Serve, shape: str) -> None:
    forum = Forum(SHAPES[shape], serve)
    forum.released.set()
    job = {"JOBDIR": "job"}
    crawler = crawler_of(BreadthFirst, DEDUP_LEARN="close", **job)

    def pause() -> None:
        if forum.answered == forum.allowed:
            close(crawler, "paused")

    crawler.signals.connect(pause, signals.response_downloaded)
    first = await run(crawler, forum.server.url("/"))
    assert kinds(), "the kind is learned as the first run ends"
    forum.check(first, await run(crawler_of(BreadthFirst, **job), forum.server.url("/")))
