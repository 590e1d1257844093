"""When it is drawn which filtered requests are spot checks: as a page has come, not as they are filtered."""

from collections import Counter
from typing import Any

import pytest
from scrapy import Request
from scrapy.utils.defer import deferred_from_coro

from scrapy_dedup import RuleBook
from scrapy_dedup.crawl.decide.dupefilter import DupeFilter
from scrapy_dedup.crawl.support import tally
from scrapy_dedup.crawl.verify import choosing
from scrapy_dedup.rules import Ignore

from .crawling import in_reactor, rule
from .crawling_parts import dupe_filter

SITE = "http://shop.test/"
SID = rule("shop.test", {"q.sid": Ignore()})


def filtered(made: DupeFilter, number: int) -> list[Request]:
    """Requests for as many pages, each of which is filtered in favour of one before it."""
    made._components.spot_checks.has_gate = True
    requests = [Request(f"{SITE}c?id={page}&sid={sid}") for page in range(number) for sid in (1, 2)]
    assert [made.request_seen(request) for request in requests] == [False, True] * number
    return requests


def under_way(made: DupeFilter) -> list[tuple[str, str]]:
    return [(check.url, check.page) for check in made._components.spot_checks.under_way.values()]


def test_it_is_drawn_as_the_page_has_come() -> None:
    with dupe_filter(SID, DEDUP_SAMPLE=1.0) as made:
        first, second, *_ = filtered(made, 2)
        assert under_way(made) == []
        made._components.outcomes.fetched(first)
        assert under_way(made) == [(second.url, first.url)]


def test_it_is_drawn_early_where_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []

    def noted(url: str) -> tuple[object, ...]:
        drawn.append(url)
        return ()

    monkeypatch.setattr(choosing, "template_of", noted)
    monkeypatch.setattr(choosing, "MOST_UNDRAWN", 3)
    with dupe_filter(SID, DEDUP_SAMPLE=1.0) as made:
        requests = filtered(made, 5)
    assert drawn == [request.url for request in requests[1:6:2]]


@in_reactor
async def test_it_is_drawn_before_the_rules_change(monkeypatch: pytest.MonkeyPatch) -> None:
    books = []
    drawn = choosing.SpotChecks._drawn

    def noted(self: choosing.SpotChecks, *args: Any) -> Any:
        books.append(self._identities.book)
        return drawn(self, *args)

    monkeypatch.setattr(choosing.SpotChecks, "_drawn", noted)
    with dupe_filter(SID, DEDUP_SAMPLE=1.0) as made:
        filtered(made, 1)
        before = made._components.identities.book
        RuleBook([SID, rule("shop.test", {"q.ref": Ignore()})]).save("dedup-rules")
        reload = made._components.rule_reload.reload({"shop.test"})
        assert await deferred_from_coro(reload)
        assert made._components.identities.book is not before
    assert books == [before]


def test_a_fault_costs_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(choosing, "template_of", broken)
    with dupe_filter(SID, DEDUP_SAMPLE=1.0) as made:
        first, *_ = filtered(made, 2)
        made._components.outcomes.fetched(first)
        assert made._components.stats.get_value("dedup/errors/filtered") == 2


def test_sites_past_the_bound_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "MOST_SITES", 2)
    counts = tally.Tally()
    for number, site in enumerate("abcd", 1):
        counts.page(site, number, 0.0)
        counts.sites[site].by_rules[site,] += number
    assert {site: each.size for site, each in counts.sites.items()} == {"a": 1, "b": 2, tally.OTHERS: 7}
    assert (counts.sites["a"].discarded, counts.sites["d"].discarded) == (1, 7)
    assert counts.total.by_rules == Counter({("a",): 1, ("b",): 2, ("c",): 3, ("d",): 4})
