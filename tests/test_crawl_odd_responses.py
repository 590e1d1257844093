"""Odd responses with status 200 (hardly any text, a wall, a soft block) stand for no page: another URL of it is fetched."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Serve
from .crawling import Outcome, crawl_site, crawl_sites, ignore, in_reactor, messages, spot_checks, statuses
from .server import Asked, as_json, page, prose

SID = ignore("q.sid", "active")
PAGES, COPIES = 16, 3
ORDINARY = 2 + PAGES * COPIES
_FRAME = "<!doctype html><html><head><title>{}</title></head><body>{}</body></html>"
_WAIT = "<h1>One moment please</h1><p>" + prose("wait", 50) + "</p>"

#: What is sent in the place of a page: of the number of the request and its target.
HARDLY_ANY_TEXT: dict[str, Callable[[int, str], Any]] = {
    "three words": lambda number, target: _FRAME.format("Busy", "<h1>Service busy</h1>"),
    "empty body": lambda number, target: _FRAME.format("", ""),
    "blanks": lambda number, target: " " * 200,
    "blank": lambda number, target: "",
    "shell": lambda number, target: _FRAME.format("Shop", "<div id=app></div><noscript>Switch on scripts</noscript>"),
}
LIKE_OTHERS: dict[str, Callable[[int, str], Any]] = {
    "error": lambda number, target: page("Sorry, something went wrong on our side " + prose("error", 20), "/"),
    "soft block": lambda number, target: _FRAME.format("Wait", _WAIT),
    "soft block with a clock": lambda number, target: _FRAME.format("Wait", f"{_WAIT}<p>It is 12:{number:02}:00</p>"),
    "soft block with the URL": lambda number, target: _FRAME.format("Wait", f"{_WAIT}<p>You asked for {target}</p>"),
    "JSON": lambda number, target: as_json({"error": "busy"}),
}
CLOCK = LIKE_OTHERS["soft block with a clock"]


class Shop:
    """Pages under several session ids; *bad* says which requests for a page get the odd response, of their number and time."""

    def __init__(self, odd: Callable[[int, str], Any], bad: Callable[[int, int], bool] = lambda *_: True) -> None:
        self._odd = odd
        self._bad = bad
        self._number = 0
        self.asked: Counter[str] = Counter()
        self.shown: set[str] = set()

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/p?id={i}&sid=s{i}x{copy}" for copy in range(COPIES) for i in range(PAGES)))
        name = asked.query["id"]
        self._number += 1
        self.asked[name] += 1
        if self._bad(self._number, self.asked[name]):
            return self._odd(self._number, asked.target)
        self.shown.add(name)
        return page(prose(name), "/")


async def crawl_shops(serve: Serve, shops: dict[str, Shop], **settings: Any) -> dict[str, Outcome]:
    done = await crawl_sites(serve, shops, SID, CONCURRENT_REQUESTS=1, **settings)
    for name, each in done.items():
        assert statuses(each.server.site) == {"q.sid": "active"}, f"{name}: the rule is right, and stays"
        assert not each.faults()
    return done


def first_time(_: int, time: int) -> bool:
    return time == 1


@pytest.mark.parametrize(
    ("kinds", "bad", "sample", "most"),
    [
        # The first URL of every page is answered so; the site answers well from then on.
        pytest.param(HARDLY_ANY_TEXT, first_time, 0, 2 + 2 * PAGES, id="hardly any text"),
        *[pytest.param({name: odd}, first_time, 0.02, 2 + 2 * PAGES + 6, id=name) for name, odd in LIKE_OTHERS.items()],
        pytest.param(
            HARDLY_ANY_TEXT, lambda number, time: number % 5 == 2 and time < 3, 0.1, ORDINARY, id="one answer in five"
        ),
        # The first URLs of two pages: nothing but the other pages tells that they are none.
        pytest.param(LIKE_OTHERS, lambda number, _: number % 8 == 2, 0, 1 + PAGES + 4, id="one answer in eight"),
    ],
)
@in_reactor
async def test_an_odd_response_stands_for_no_page(
    serve: Serve, kinds: dict[str, Any], bad: Callable[[int, int], bool], sample: float, most: int
) -> None:
    shops = {name: Shop(odd, bad) for name, odd in kinds.items()}
    done = await crawl_shops(serve, shops, DEDUP_SAMPLE=sample)
    for name, each in done.items():
        assert len(shops[name].shown) == PAGES, f"{name}: no page is lost"
        checks = spot_checks(each.server.site) if sample else Counter()
        assert each.fetched.total() <= min(most + checks["samples"] + checks["undecided"], ORDINARY), name
    assert sum(each.fetched.total() for each in done.values()) < 0.9 * ORDINARY * len(shops), "duplicates are saved"


def odd_again() -> Callable[[int, int], bool]:
    """Of three pages that are tried the second shows it again, and the others show pages: those speak of its first URL."""
    tried: list[int] = []

    def bad(number: int, time: int) -> bool:
        if time == 2:
            tried.append(number)
        return number in {2, 5, 9} or (time == 2 and len(tried) == 2)

    return bad


def in_turn() -> Callable[[int, str], Any]:
    """One of two walls, then the other: the last two pages show what was odd of the other one when they are tried again."""
    shown: dict[str, int] = {}

    def odd(number: int, target: str) -> Any:
        name = target.partition("&")[0]
        shown[name] = 1 - shown.get(name, number % 2)
        return _FRAME.format("Busy", f"<h1>{('Service busy', 'Come back later')[shown[name]]}</h1>")

    return odd


def name_of(target: str) -> int:
    return int(target.partition("id=")[2].partition("&")[0])


def nothing_found(number: int, target: str) -> Any:
    return page("Nothing was found: " + prose("none", 30))


#: What a site shows -> it, and how many requests are made at least and at most.
SITES: dict[str, tuple[Shop, int, int]] = {
    # Once one of them is known, those that come later are released at once.
    "several times": (Shop(CLOCK, lambda number, time: time < 3 and number in {2, 5, 9, 13, 18, 20}), 2 + PAGES, 2 + PAGES + 6),
    "again under another URL": (Shop(CLOCK, odd_again()), 2 + PAGES + 4, 2 + PAGES + 4),
    "two walls in turn": (
        Shop(in_turn(), lambda number, _: PAGES - 2 < number <= PAGES + 2), 2 + PAGES + 4, 2 + PAGES + 4,
    ),
}  # fmt: skip
#: As above, of pages that are like that.
PAGES_LIKE_THAT: dict[str, tuple[Shop, int, int]] = {
    "some alike are tried three times": (
        Shop(lambda number, target: nothing_found(0, "") if name_of(target) % 3 == 1 else page(prose(name_of(target)))),
        1 + PAGES + 3, 1 + PAGES + 3,
    ),
    "most alike": (Shop(nothing_found, lambda number, _: number % 3 > 0), 1 + PAGES, 2 + PAGES),
    "all with hardly any text": (Shop(lambda number, target: page(str(name_of(target)))), 2 + PAGES, 2 + PAGES),
    "short ones among others": (
        Shop(lambda number, target: page(f"stub {name_of(target)}" if name_of(target) % 2 else prose(name_of(target)))),
        2 + PAGES, 1 + PAGES + PAGES // 2,
    ),
    "short answers of JSON": (Shop(lambda number, target: as_json({"ok": name_of(target)})), 1 + PAGES, 1 + PAGES),
}  # fmt: skip


@in_reactor
async def test_what_is_tried_again(serve: Serve) -> None:
    """Odd responses until their pages have come; pages that are like that hardly ever."""
    sites = SITES | PAGES_LIKE_THAT
    for name, each in (await crawl_shops(serve, {name: shop for name, (shop, *_) in sites.items()})).items():
        shop, least, most = sites[name]
        assert least <= each.fetched.total() <= most, name
        if name in SITES:
            assert len(shop.shown) == PAGES, f"{name}: no page is lost"
        else:
            assert max(shop.asked.values()) <= 2


@in_reactor
async def test_undecided_spot_checks_may_be_other_pages(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """A spot check that gets no page says nothing of the rule, and nothing good: no figure may leave it out."""
    shop = Shop(HARDLY_ANY_TEXT["three words"], lambda _, time: time > 1)
    with caplog.at_level("INFO"):
        done = await crawl_site(serve, shop, SID, CONCURRENT_REQUESTS=1, DEDUP_SAMPLE=0.2)
    assert done.stat("samples/undecided") == done.stat("samples") >= 5
    assert done.stat("avoided/lost_at_most") > 0.9 * done.stat("avoided")
    told = "\n".join(messages(caplog, 20))
    assert f"0 duplicates, {done.stat('samples')} of which nobody can tell" in told
    assert "may be other pages" not in told
    assert spot_checks()["undecided"] == done.stat("samples")
