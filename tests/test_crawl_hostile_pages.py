"""Pages and headers that are written to keep a crawl busy: what the event loop does for one grows with its length, and no faster.

Each page is made of one piece many times, in a short and in a long form. A crawl with the add-on fetches them one by one; the
time that the processor spends on a page is what passes between it and the next one, with all that Scrapy does for it.
"""

import gc
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from scrapy import signals

from .conftest import Serve
from .crawling import Links, crawl, crawler_of, ignore, in_reactor, messages, rule_toml, run, save_rules
from .growth import TIMES, is_linear
from .server import Answer, Asked, page, prose, redirect

#: Characters of the short pages; the long ones are as long as those that are looked at at once may be.
SIZE = 8_000
#: Of headers, whose lines have a limit in Twisted, and of what had taken the third power of its length.
FEW = 1_800
REPEATS = 2
#: Seconds that Scrapy itself may need for any page.
LEAST = 0.004


def in_head(word: str, piece: str) -> Callable[[int], Answer]:
    return lambda size: Answer(f"<html><head><p>{word}</p>" + piece * (size // len(piece)))


def in_body(piece: str, before: str = "<html><head><title>t</title></head><body>") -> Callable[[int], Answer]:
    return lambda size: Answer(before + piece * (size // len(piece)))


def in_header(name: str, before: str, piece: str) -> Callable[[int], Answer]:
    return lambda size: Answer(page("a page"), headers={name: before + piece * (size // len(piece))})


def as_type(content_type: str, before: str, piece: str, after: str = "") -> Callable[[int], Answer]:
    return lambda size: Answer(before + piece * (size // len(piece)) + after, content_type=content_type)


def link(address: str, piece: str) -> Callable[[int], Answer]:
    """A page with one link, which names an element that it holds."""
    return lambda size: Answer(
        f'<i id="msg178">{prose(size)}</i><a href="{address}{piece * (size // len(piece))}!">t</a>'
    )


OF_HEADS = ("<link rel=", "<link rel='", '<link rel="', "<meta name=", "<meta property=", "<link ", "<", " rel = ")
OF_LINK_HEADERS = (
    ("</a>; rel=", "canonical "), ('</a>; rel="', "canonical "), ('</a>; rel="', "shortlink "), ("", "<"), ("", "</a>;"), ("</a>", " "),
    ("</a>; rel", " "), ("</a>;", "rel="), ("</a>;", 'rel="'), ("", "</a>; rel=next, "),
)  # fmt: skip
OF_BODIES = (
    "<div>", "<p>a ", "<a href=x>", "<b><i>", "</x>", "<table><tr><td>", "<li>", "<svg>", "<select>", "<", "</", "<!", "<!--",
    "<![CDATA[", "<?", "<script>", "<script><!--", "<style>", "<title>", "<textarea>", "<template>", "&", "&#1", "&a", "\\", '"', "=",
    "a", "a ", "1", "1 ", "12:", "deadbeef", "é", "\n", "-", '<i id="m1">', ' id="a', " name='m1'", "<img srcset='a 1x,",
)  # fmt: skip
BODIES = (
    ("<p ", "a=b "), ("<p a='", "b "), ("<img srcset='", "/a.png?v=1 1x, "), ("<script>s = ", '"'), ("<script>s = ", '\\"'),
    ("<script>s = '", "\\'"), ("<script>", "/*"), ("<script>", '{"a":'), ("<script>", "1,"), ("<!-- ", "--!"), ("<!-- ", "a"),
    ("<a href='", "?"), ("<a href='", "%2F"), ("<meta name=generator content='", "a "), ("<input type='", "password "),
)  # fmt: skip
OTHERS = (
    ("application/json", "", "[", ""), ("application/json", "", '{"a":', ""), ("application/json", '["', '\\"', '"]'),
    ("application/json", "[1", ",1", "]"), ("text/plain", "", "<", ""), ("application/xml", "<a>", "<b>", ""),
    ("application/xml", "<a>", "&lt;", "</a>"),
)  # fmt: skip
LINKS = (
    ("/x?m=178&a=", "/"), ("/x?m=178&", "/"), ("/x?m=178&a=", "1"), ("/x?m=178&a=", "a"), ("/x?m=178&a=", "1a"), ("/x?m=178&", "a&"),
    ("/x?m=178&", "a;"), ("/x?m=178&", "x=%2Fa&"), ("/x?m=178&u=", "http://a.test/?u="), ("/msg178/", "a/"), ("/x?m=178&", ";v=1/"),
)  # fmt: skip
PAGES: dict[str, tuple[int, Callable[[int], Answer]]] = {
    **{
        f"{piece} in a head with {word}": (FEW, in_head(word, piece))
        for word in ("shortlink", "canonical", "og:url")
        for piece in OF_HEADS
    },
    **{
        f"{before}{piece} in a Link header": (FEW, in_header("Link", before, piece))
        for before, piece in OF_LINK_HEADERS
    },
    **{f"{piece} in a body": (SIZE, in_body(piece)) for piece in OF_BODIES},
    **{f"{before}{piece}": (SIZE, in_body(piece, before)) for before, piece in BODIES},
    **{
        f"{before}{piece} as {kind}": (SIZE, as_type(kind, before, piece, after))
        for kind, before, piece, after in OTHERS
    },
    **{f"a link to {address}{piece}": (SIZE, link(address, piece)) for address, piece in LINKS},
}


class OneByOne(Links):
    """Fetches pages in their order; of links it follows those that name an element."""

    custom_settings = {
        "CONCURRENT_REQUESTS": 1,
        "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        "URLLENGTH_LIMIT": 0,
        "DEPTH_LIMIT": 1,
    }

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        if b"msg178" in response.body:
            yield from response.follow_all(css="a")


@pytest.fixture
def _no_garbage() -> Iterator[None]:
    """A collection of garbage falls on whichever page makes objects at that moment."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_garbage")
@in_reactor
async def test_the_work_for_a_page_grows_with_its_length(serve: Serve) -> None:
    names = list(PAGES)

    def answer(asked: Asked) -> Answer:
        if not asked.path.startswith("/p/"):
            return Answer(page("another page"))
        size, make = PAGES[names[int(asked.path[3:])]]
        return make(int(asked.query["times"]) * size)

    server = serve(answer)
    save_rules(server.site, ignore("q.sid"), rule_toml('"alias.canonical" = "declared"'))
    urls = {
        server.url(f"/p/{number}?times={times}&n={n}"): (name, times)
        for n in range(REPEATS)
        for number, name in enumerate(names)
        for times in (1, TIMES)
    }
    spent: dict[tuple[str, int], list[float]] = defaultdict(list)
    last: list[Any] = []

    def note(response: Any) -> None:
        now = time.thread_time()
        if last and last[0] in urls:
            spent[urls[last[0]]].append(now - last[1])
        last[:] = response.url, now

    crawler = crawler_of(OneByOne)
    crawler.signals.connect(note, signals.response_received)
    done = await run(crawler, server.url("/first"), *urls, server.url("/last"))
    assert {item["url"] for item in done.items} >= set(urls)
    assert not done.faults()
    assert [
        f"{name}: {min(spent[name, 1]) * 1000:.1f} ms -> {min(spent[name, TIMES]) * 1000:.1f} ms"
        for name in names
        if not is_linear(spent[name, 1], spent[name, TIMES], LEAST)
    ] == []


@in_reactor
async def test_addresses_that_are_none(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """They are as if nothing had been said, in a header, in the head of a page or in its links."""
    broken = "http://[::1"
    server = serve({
        "/": page("start", "/moved", "/linked", "/declared"),
        "/moved": redirect(broken),
        "/linked": Answer(page("linked"), headers={"Link": f"<{broken}>; rel=shortlink, <{broken}>; rel=canonical"}),
        "/declared": page("declared", head=f'<link rel="shortlink" href="{broken}"><meta property="og:url" content="{broken}">'),
    })  # fmt: skip
    done = await crawl(Links, server.url("/"))
    assert done.urls == ["/", "/declared", "/linked"]
    assert not done.faults()
    assert messages(caplog, logging.ERROR) == []
