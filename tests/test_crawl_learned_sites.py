"""Sites that are hard to learn from: what looks the same and is not stays apart, what looks different and is the same is saved, and no page is lost."""

import itertools
import json
import re
import threading
from collections import deque
from typing import Any
from urllib.parse import quote

import pytest

from .conftest import Serve
from .crawling import (
    LEARNED,
    Links,
    Outcome,
    crawl_site,
    crawler_of,
    ignore,
    in_reactor,
    messages,
    observed,
    rules_of,
    run,
    statuses,
    when_counted,
)
from .server import Answer, Asked, page, prose
from .waiting import PATIENCE

# Blocks of what was viewed before

THINGS = 42
#: Of these the tint matters: it is another page.
TINTED = range(28, THINGS)


class Viewed:
    """Every thing stands under its URL, under one with a campaign, and some in two tints, which are two pages.

    A block of what was viewed before is the visit's: a page shows another one under each of its URLs.
    """

    def __init__(self) -> None:
        self.viewed: deque[str] = deque(maxlen=6)
        self.lock = threading.Lock()
        tinted = [f"/thing/{number}?tint={tint}" for number in TINTED for tint in ("red", "blue")]
        self.pages = [*(f"/thing/{number}" for number in range(THINGS)), *tinted]

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/":
            # Those of the campaign come after all others, in another order.
            more = [f"/thing/{number}?campaign=c{number % 3}" for number in range(THINGS - 1, -1, -1)]
            return page(prose("start"), *self.pages, *more)
        number = asked.path.rpartition("/")[2]
        own = "".join(f"<p>{prose((number, asked.query.get('tint'), part), 2)}</p>" for part in range(200))
        with self.lock:
            block = "".join(map(self.item, self.viewed))
            self.viewed.append(f"thing {number}")
        return f"<nav>Home Things Help</nav><h1>thing {number}</h1><div class=own>{own}</div><div class=viewed><ul>{block}</ul></div>"

    @staticmethod
    def item(name: str) -> str:
        stock = "<s>Out of stock</s>" if name.endswith("7") else "<u>In stock</u>"
        new = f"<small>{name} is new</small>" if name.endswith("13") else ""
        return f"<li><b>{name}</b><i>maker of {name}</i><em>price of {name}</em><q>hue of {name}</q>{stock}{new}</li>"

    def check(self, done: Outcome) -> None:
        found = {re.sub(r"\?campaign=.*", "", target) for target in done.fetched}
        assert found == {"/", *self.pages}, "no page is lost"
        assert max(done.fetched.values()) <= 2
        assert not done.faults()


# Pages that answer in the place of others

TOPICS = 90
FORM = '<form action="/login"><input name="user"><input type="password" name="pass"></form>'


class Forum:
    """Topics that link to each other, and each to the log-in page under a URL of its own. From some on they wait for a rule."""

    def __init__(self, key: str, form: str) -> None:
        self.key, self.form = key, form
        self.topics = [f"/topic/{number}-{prose(number).split()[0]}" for number in range(TOPICS)]
        self.answered, self.allowed, self.known = 0, 40, threading.Event()

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), *self.topics[:3])
        if asked.path == "/login":
            shown = page("Please log in with the name and the password of your account", "/")
            return shown.replace("</body>", f"{self.form}</body>")
        self.answered += 1
        if self.answered > self.allowed:
            self.known.wait(PATIENCE)
        place = self.topics.index(asked.path)
        following = self.topics[2 * place + 1 : 2 * place + 5]
        return page(prose(asked.path), f"/login?{self.key}={quote(asked.path, safe='')}", *following)


@in_reactor
@pytest.mark.parametrize(("key", "form"), [("zurueck_nach", FORM), ("return_url", "")])
async def test_the_first_crawl_learns_a_log_in_page(serve: Serve, key: str, form: str) -> None:
    forum = Forum(key, form)
    server = serve(forum)
    crawler = crawler_of(Links, DEDUP_LEARN="live", DEDUP_SAMPLE=0.02, CONCURRENT_REQUESTS=4)

    def learned() -> None:
        if f"q.{key}" in statuses(server.site):
            forum.known.set()
        else:
            forum.allowed = forum.answered + 20

    when_counted(crawler, LEARNED, learned)
    done = Outcome(await run(crawler, server.url("/")), server)
    again_most = TOPICS / 5
    for each, most in ((done, TOPICS * 3 / 4), (await done.again(DEDUP_LEARN="live", DEDUP_SAMPLE=0.02), again_most)):
        assert set(forum.topics) <= set(each.urls), "no page is lost"
        log_ins = sum(target.startswith("/login") for target in each.fetched)
        assert 1 <= log_ins < most, "most URLs of the log-in page are not fetched"
    assert list(statuses(server.site)) == [f"q.{key}"]
    assert {each.password for url, each in observed().items() if "/login" in url} == {bool(form)}


@in_reactor
@pytest.mark.parametrize(
    "text", ["Please verify that you are a human being", "Sorry, we have sold out of this product today"]
)
async def test_a_wall_before_pages_for_a_while(serve: Serve, text: str) -> None:
    """It has answered for most of them when the site is learned."""
    until, met, learned = TOPICS * 3 // 4, itertools.count(), threading.Event()
    products = [f"/buy?product={number}" for number in range(TOPICS)]

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), *(f"/shelf/{number}" for number in range(TOPICS // 10)))
        if asked.path.startswith("/shelf"):
            number = int(asked.path.rpartition("/")[2])
            return page(prose(asked.path), *products[10 * number : 10 * number + 10])
        if next(met) < until:
            return page(text)
        learned.wait(PATIENCE)
        return page(prose(asked.target))

    server = serve(site)
    crawler = crawler_of(Links, DEDUP_LEARN="live", DEDUP_SAMPLE=0.02, CONCURRENT_REQUESTS=4)
    when_counted(crawler, LEARNED, learned.set)
    done = Outcome(await run(crawler, server.url("/")), server)
    assert set(products) <= set(done.urls), "no page is lost"
    assert not rules_of(server.site)


# Pages that say little

ARTICLES, NUMBER = 20, 16
SECTIONS = ("products", "news", "jobs", "events", "people")
FRAME = (
    "Home Products About us Contact Help Terms of use Privacy Please wait while the page is loading in a moment " * 2
)


class Little:
    """Sections that show one answer: frames, whose pages stand in a script, or end points; and articles under three session ids each."""

    def __init__(self, *, frames: bool) -> None:
        self.frames = frames
        self.form = "/{section}/{number}" if frames else "/api/{section}?sku={number}"

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/article":
            return page(prose(asked.query["id"]))
        if asked.path == "/":
            little = [self.form.format(section=each, number=n) for n in range(NUMBER) for each in SECTIONS]
            sids = [f"/article?id={i}&sid={i * 7919 + n:032x}" for n in range(3) for i in range(ARTICLES)]
            return page("start", *little, *sids)
        section = asked.path.split("/")[1 if self.frames else 2]
        if not self.frames:
            return Answer(json.dumps({section: True, "text": FRAME}), content_type="application/json")
        data = f"<script id='__NEXT_DATA__' type='application/json'>{json.dumps({'page': asked.path})}</script>"
        end = "</html>" if section in SECTIONS[:2] else "</body>"  # of some it stands behind the page
        return page(f"{section} {FRAME}", "/").replace(end, end + data if end == "</html>" else data + end)


@in_reactor
@pytest.mark.parametrize("frames", [True, False], ids=["frames", "end points"])
async def test_what_shows_one_answer_is_fetched_and_told_of(serve: Serve, caplog: Any, frames: bool) -> None:
    """Session ids beside it are ignored. A spot check of such an answer is undecided: the user's rule goes on to filter, and nothing is called a duplicate."""
    caplog.set_level("INFO", logger="scrapy_dedup")
    done = await crawl_site(serve, Little(frames=frames), DEDUP_LEARN="live", DEDUP_SAMPLE=0.05)
    again = await done.again(DEDUP_LEARN="live", DEDUP_SAMPLE=0.05)
    for each in (done, again):
        little = {url for url in each.urls if url != "/" and not url.startswith("/article")}
        assert len(little) == len(SECTIONS) * NUMBER, "no page is lost"
    assert sum(target.startswith("/article") for target in again.fetched) < 2 * ARTICLES
    told = [line for line in messages(caplog, 20) if "show one answer" in line]
    assert f"{NUMBER} URLs of {done.server.url('/')}" in told[0]
    assert f"and {len(SECTIONS) - 3} more templates" in told[0]
    for key in () if frames else ("sku", "sid"):
        checked = await done.again(ignore(f"q.{key}"), DEDUP_SAMPLE=1)
        assert checked.stat("samples") >= len(SECTIONS)
        assert bool(checked.stat("samples/confirmed")) is (key == "sid")
