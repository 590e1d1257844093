"""A shop whose pages show what was viewed before, crawled twice: a rule that is right stays, one that is wrong goes.

What was viewed is a block of seven places, and the visit's: a page shows another one under each of its URLs. What
stands there hides for a while that two URLs are one page, and never that they are two.
"""

import re
import threading
from collections import deque
from typing import Any

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.masks.loading import load_masks
from scrapy_dedup.rules import Ignore, Status

from .conftest import Serve
from .crawling import Crawl, Links, crawl, in_reactor, rule, write_rules
from .server import Asked, Server, prose

THINGS = 42
#: Of these the tint matters: it is another page.
TINTED = range(28, THINGS)


@pytest.fixture(autouse=True)
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrapy.core.engine.ExecutionEngine._SLOT_HEARTBEAT_INTERVAL", 0.05)


class Shop:
    """Every thing stands under its URL, under one with a campaign, and some in two tints, which are two pages."""

    def __init__(self, serve: Serve) -> None:
        self._viewed: deque[str] = deque(maxlen=6)
        self._lock = threading.Lock()
        self.server: Server = serve(self.answer)

    @property
    def site(self) -> str:
        return f"127.0.0.1:{self.server.port}"

    def answer(self, asked: Asked) -> Any:
        if asked.path == "/":
            plain = [f"/thing/{number}" for number in range(THINGS)]
            tinted = [f"/thing/{number}?tint={tint}" for number in TINTED for tint in ("red", "blue")]
            # Those of the campaign come after all others, in another order.
            more = [f"/thing/{number}?campaign=c{number % 3}" for number in range(THINGS - 1, -1, -1)]
            links = "".join(f'<a href="{target}">thing</a>' for target in (*plain, *tinted, *more))
            return f"<html><body><h1>All things</h1><p>{prose('start')}</p>{links}</body></html>"
        number = asked.path.rpartition("/")[2]
        name = f"thing {number}"
        tint = asked.query.get("tint", "")
        own = "".join(f"<p>{prose(f'{number}{tint}x{part}', 2)}</p>" for part in range(200))
        with self._lock:
            viewed = self._block()
            self._viewed.append(name)
        return f"<html><body><nav>Home Things Help</nav><h1>{name}</h1><div class=own>{own}</div>{viewed}</body></html>"

    def _block(self) -> str:
        items = "".join(
            f"<li><b>{name}</b><i>maker of {name}</i><em>price of {name}</em><q>hue of {name}</q>"
            + ("<s>Out of stock</s>" if name.endswith("7") else "<u>In stock</u>")
            + (f"<small>{name} is new</small>" if name.endswith("13") else "")
            + "</li>"
            for name in self._viewed
        )
        return f"<div class=viewed><h2>Viewed before</h2><ul>{items}</ul></div>" if items else ""

    @property
    def pages(self) -> set[str]:
        """The pages that were downloaded."""
        return {re.sub(r"\?campaign=.*", "", target) for target in self.server.hits if target != "/"}

    def check(self, done: Crawl) -> None:
        tinted = {f"/thing/{number}?tint={tint}" for number in TINTED for tint in ("red", "blue")}
        assert self.pages == {f"/thing/{number}" for number in range(THINGS)} | tinted
        assert max(self.server.hits.values()) <= 2
        assert done.stats["finish_reason"] == "finished"
        assert not [name for name in done.stats if name.startswith("dedup/errors")]


async def crawled(shop: Shop, **settings: Any) -> Crawl:
    shop.server.hits.clear()
    shop.server.asked.clear()
    settings = {"DEDUP_LEARN": "live", "DEDUP_SAMPLE": 0.02, "CONCURRENT_REQUESTS": 1, **settings}
    return await crawl(Links, shop.server.url("/"), **settings)


@in_reactor
async def test_what_was_learned_of_visits_stays_in_the_next_crawl_and_a_wrong_rule_beside_it_goes(serve: Serve) -> None:
    """The next one learns while it runs, too, from pages of which it discards the duplicates."""
    shop = Shop(serve)
    shop.check(await crawled(shop, DEDUP_LEARN="close"))
    plain = shop.server.downloads
    book = RuleBook.load("dedup-rules")
    (mask,) = load_masks(["dedup-rules"]).values()
    hidden = {path.selector.rpartition("/")[2] for path in mask.paths if path.is_hidden}
    assert {"b", "i", "em", "q", "s", "u", "small"} <= hidden
    key = book.canonical_key
    url = shop.server.url
    assert key(url("/thing/3?campaign=c0")) == key(url("/thing/3"))
    assert key(url("/thing/31?tint=red")) != key(url("/thing/31?tint=blue"))
    done = await crawled(shop)
    shop.check(done)
    stats = done.dedup()
    assert stats["learned/times"] >= 1
    assert "refuted" not in stats
    assert "replayed" not in stats
    assert stats["samples"] == stats["samples/confirmed"] >= 1
    assert shop.server.downloads <= plain - THINGS + stats["samples"]
    # And a third one, with a rule that is wrong.
    right = [each for each in RuleBook.load("dedup-rules") if each.status.acts]
    wrong = rule(shop.site, {"q.tint": Ignore()}, status=Status.ACTIVE)
    masks = load_masks(["dedup-rules"])
    write_rules(*right, wrong)
    for mask in masks.values():
        mask.save(f"dedup-rules/{shop.site.replace(':', '_')}.mask.toml")
    done = await crawled(shop)
    shop.check(done)
    assert done.stats["dedup/refuted"] == 1
    assert done.stats["dedup/samples/differing"] <= 3
    assert shop.server.downloads < plain
    states = {each.id: each.status for each in RuleBook.load("dedup-rules")}
    assert states[wrong.id] is Status.SUSPENDED
    assert all(states[each.id] is Status.ACTIVE for each in right)
