"""The gate: what came through the dupe filter before the rules that are used now."""

from typing import Any

from scrapy import Request

from scrapy_dedup.crawl.decide.gate import Gate
from scrapy_dedup.crawl.support.request_meta import CHECKED, DUPLICATE
from scrapy_dedup.rules import Ignore

from .crawling import rule
from .crawling_parts import dupe_filter

SID = rule("shop.test", {"q.sid": Ignore()})


def one(sid: int) -> Request:
    return Request(f"http://shop.test/c?sid={sid}")


def mark(shared: Any, request: Request) -> None:
    """Mark a request as the dupe filter does."""
    identity = shared.identities.of(request)
    shared.marks.mark(request, identity.slot, identity.context)


def old(request: Request) -> Request:
    """The request as it comes from the queue of an earlier run."""
    request.meta[CHECKED] = "0" * 8 + " " + request.meta[CHECKED].partition(" ")[2]
    return request


def test_the_gate() -> None:
    with dupe_filter(SID) as made:
        shared = made._components
        gate = Gate(shared)
        first, second = one(1), one(2)
        for request in (first, second):
            mark(shared, request)
            old(request)
        assert gate.process_request(first) is None, "nobody stands for the key"
        assert shared.marks.is_fresh(first.meta[CHECKED])
        assert gate.process_request(old(first)) is None, "it stands for the key itself"
        stopped = gate.process_request(second)
        assert isinstance(stopped, Request)
        assert gate.process_request(stopped) is None, "whoever calls the downloader himself gets it"
        assert made.request_seen(stopped), "the dupe filter drops it"
        assert DUPLICATE not in second.meta, "it may be scheduled after all"
        assert gate.process_request(one(3)) is None, "no dupe filter was asked about it"

        copied = Request("http://shop.test/c?sid=4", meta=dict(old(second).meta))
        assert gate.process_request(copied) is None
        assert CHECKED not in copied.meta, "the mark was that of another request"

        retried = old(first).replace(url=first.url, dont_filter=True)
        assert gate.process_request(retried) is None
        asked_again = second.copy()
        asked_again.dont_filter = True
        mark(shared, asked_again)
        assert gate.process_request(old(asked_again)) is None

        redirected = Request("http://shop.test/c", meta={"redirect_urls": [first.url]})
        mark(shared, redirected)
        assert gate.process_request(old(redirected)) is None
        stranger = Request("http://shop.test/c", meta={"redirect_urls": ["http://shop.test/other"]})
        mark(shared, stranger)
        assert isinstance(gate.process_request(old(stranger)), Request)


def test_in_shadow_mode_nothing_is_discarded() -> None:
    with dupe_filter(SID, DEDUP_MODE="shadow") as made:
        shared = made._components
        for number in (1, 2):
            request = one(number)
            mark(shared, request)
            assert Gate(shared).process_request(old(request)) is None


def test_a_mark_that_is_none() -> None:
    with dupe_filter(SID) as made:
        request = one(1)
        request.meta[CHECKED] = 7
        assert Gate(made._components).process_request(request) is None
