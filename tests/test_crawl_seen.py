"""Which keys are taken, and what that costs."""

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request

from scrapy_dedup.crawl.identity.identities import slot_of
from scrapy_dedup.crawl.seen.seen import MOST_WAITING, MOST_WAITING_PER_SLOT, Seen, Waiting


class NoFaults:
    def report(self, where: str, what: str) -> None:
        raise AssertionError(what)


def seen(path: Path | None = None) -> Seen:
    made = Seen(NoFaults())  # type: ignore[arg-type]
    made.open(path, "digest", lambda page: page.slot)
    return made


def waiting(number: int = 0) -> Waiting:
    return Waiting(Request(f"http://shop.test/{number}"), None)


def test_the_life_of_a_slot() -> None:
    made = seen()
    assert 7 not in made
    made.take(7, "http://shop.test/7", "parse")
    assert 7 in made
    assert not made.is_fetched(7)
    assert made.url(7) == "http://shop.test/7"
    first, second = waiting(1), waiting(2)
    made.wait(7, first)
    made.wait(7, second)
    assert made.release(7) is first
    assert 7 not in made
    made.take(7, "http://shop.test/1", "parse")
    made.fetched(7)
    made.fetched(7)
    assert made.is_fetched(7)
    assert made.url(7) == "http://shop.test/1"
    made.wait(7, second)
    assert not made.release_waited_for(), "nothing waits for what is fetched"
    assert made.release(7) is None
    assert not made.lacking
    made.close()


def test_what_waits_is_bounded() -> None:
    made = seen()
    for slot in range(MOST_WAITING):
        made.take(slot, "http://shop.test/", "parse")
        made.wait(slot, waiting())
    made.wait(0, waiting())
    assert len(made.release_waited_for()) == MOST_WAITING
    made.take(0, "http://shop.test/", "parse")
    for number in range(MOST_WAITING_PER_SLOT + 1):
        made.wait(0, waiting(number))
    for number in range(MOST_WAITING_PER_SLOT):
        discarded = made.release(0)
        assert discarded is not None
        assert discarded.request.url.endswith(str(number))
        assert not made.lacking
        made.take(0, "http://shop.test/", "parse")
    assert made.release(0) is None
    assert made.lacking, "more may be in the ledger"
    made.close()


@pytest.mark.parametrize("persistent", [False, True])
def test_a_page_costs_about_a_hundred_bytes(tmp_path: Path, persistent: bool) -> None:
    made = seen(tmp_path / "seen" if persistent else None)
    number = 40_000
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for i in range(number):
            slot = slot_of("parse", b"http://shop.test/page-%d" % i)
            made.take(slot, f"http://shop.test/page-{i}?sid=0123456789", "parse")
            if not persistent:  # otherwise each is written at once
                made.fetched(slot)
        cost = (tracemalloc.get_traced_memory()[0] - before) / number
    finally:
        tracemalloc.stop()
    assert len(made) == number, "no two pages have one slot"
    assert cost < 130, "about 105 on average; a dictionary that has just grown holds room for more"
    made.close()


def test_slots() -> None:
    slots: Any = {slot_of(*pair) for pair in (("a", b"b"), ("a", b"c"), ("b", b"b"), ("ab", b""), ("", b"ab"))}
    assert len(slots) == 5
    assert all(0 <= slot < 1 << 60 for slot in slots)
