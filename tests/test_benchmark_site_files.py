"""The made-up sites as pages, as a server and as files say the same as their rows."""

from collections import defaultdict

import pytest

from scrapy_dedup.content.sketch import sketch_of_html
from tests.benchmarks.sites.crawl import crawl
from tests.benchmarks.sites.levels import sites_of
from tests.benchmarks.sites.model import DAY, START, TURN, Knobs
from tests.benchmarks.sites.render import EDITS, SLOTS, Kind, Page, main_words, render
from tests.benchmarks.sites.site import Site

SMALL = Knobs(pages=12, mega=20, ratio=0.4)


def one_site(level: str = "L3", only: tuple[str, ...] = (), knobs: Knobs = SMALL) -> Site:
    return sites_of(level, 0, knobs, only)[0]


def seen(site: Site, url: str, time: float = START, nonce: int = 0, slots: tuple[str, ...] = SLOTS) -> Page:
    page = render(site, url, time, nonce, slots)
    assert page is not None
    return page


# -- pages


def test_main_text_is_equal_where_fingerprints_are() -> None:
    site = one_site()
    texts = defaultdict(set)
    prints = defaultdict(set)
    for row in crawl(site):
        if row.status == 200:
            text = seen(site, row.url, row.time, slots=()).text(Kind.MAIN)
            texts[row.fingerprint].add(text)
            prints[text].add(row.fingerprint)
    assert {len(found) for found in texts.values()} == {1}
    assert {len(found) for found in prints.values()} == {1}


def test_one_request_is_one_page_and_the_next_one_differs_in_passing_parts_only() -> None:
    site = one_site(only=("D1",))
    url = crawl(site)[0].url
    assert seen(site, url, nonce=1) == seen(site, url, nonce=1)
    first, second = seen(site, url, nonce=1), seen(site, url, nonce=2)
    assert first.html != second.html
    assert first.text(Kind.TEMPLATE) == second.text(Kind.TEMPLATE)
    assert sorted(first.text(Kind.MAIN).split()) == sorted(second.text(Kind.MAIN).split())
    assert seen(site, url, nonce=1, slots=()) == seen(site, url, nonce=2, slots=())


def test_tokens_are_the_visible_text_in_order() -> None:
    site = one_site(only=("D1",))
    page = seen(site, crawl(site)[0].url)
    assert sketch_of_html(page.html).words == len(page.text().split())


def slot(page: Page, name: str) -> list[tuple[str, Kind]]:
    return [(token.text, token.kind) for token in page.tokens if token.slot == name]


def test_passing_slots() -> None:
    site = one_site(only=("D1",))
    url = crawl(site)[0].url

    def versions(name: str, *moments: tuple[float, int]) -> list[list[tuple[str, Kind]]]:
        return [slot(seen(site, url, START + after, nonce), name) for after, nonce in moments]

    requests = [(0.0, nonce) for nonce in range(30)]
    days = [(day * DAY, 0) for day in range(12)]
    for name, moments in (("X1", [(0.0, 0), (1.0, 0)]), ("X2", days), ("X3", requests), ("X4", requests)):
        found = versions(name, *moments)
        assert len({texts[-1] for texts in found}) > 1
        assert {texts[-1][1] for texts in found} == {Kind.TRANSIENT}
    # The label of the weather stays, and the advertisement comes back.
    assert {texts[0] for texts in versions("X2", *days)} == {("Weather:", Kind.TEMPLATE)}
    assert len({texts[0] for texts in versions("X3", *requests)}) < 21
    related = versions("X6", *requests)
    assert len({tuple(texts) for texts in related}) > 1
    assert len({frozenset(texts) for texts in related}) == 1
    swapped = {tuple(texts) for texts in versions("X7", *requests)}
    assert len(swapped) == 2
    assert tuple(reversed(next(iter(swapped)))) in swapped
    boxes = versions("X10", *days)
    assert [len({texts[box] for texts in boxes}) > 1 for box in range(5)] == [False, False, True, False, False]
    paths = {token.path for token in seen(site, url).tokens if token.slot == "X10"}
    assert len(paths) == 1


def test_nonces_in_attributes_are_no_text() -> None:
    site = one_site(only=("D1",))
    url = crawl(site)[0].url
    one, two = (seen(site, url, nonce=nonce, slots=("X5",)) for nonce in (1, 2))
    assert one.html != two.html
    assert one.tokens == two.tokens


def test_comments_grow_and_the_redesign_comes_at_the_turn() -> None:
    site = one_site(only=("D1",))
    url = crawl(site)[0].url
    counts = []
    before: list[tuple[str, Kind]] = []
    for day in range(0, 30, 3):
        comments = slot(seen(site, url, START + day * DAY), "X8")
        assert set(before) <= set(comments)
        assert all(kind is Kind.GROWING for _, kind in comments)
        before = comments
        counts.append(len(comments))
    assert counts[0] < counts[-1]
    assert "X9" not in {token.slot for token in seen(site, url, TURN - 1).tokens}
    assert "X9" in {token.slot for token in seen(site, url, TURN).tokens}


def test_prices_and_stock_figures_change_and_are_main_text() -> None:
    site = one_site(only=("D1",))
    urls = list({row.page: row.url for row in crawl(site) if row.status == 200}.values())
    found = {}
    for name in EDITS:
        for url in urls:
            versions = [slot(seen(site, url, START + day * DAY, slots=(name,)), name) for day in range(30)]
            found[name, url] = [text for tokens in versions for text, kind in tokens if kind is Kind.MAIN]
    prices = [len(set(found["E1", url])) for url in urls]
    assert len(prices) > 10
    assert {len(texts) for texts in found.values()} == {30}
    assert set(prices) == {1, 2}
    assert 1 < prices.count(2) < len(prices) - 1
    for url in urls:
        left = [int(text.split()[0]) for text in found["E2", url]]
        assert left == sorted(left, reverse=True)
        assert 4 <= len(set(left)) <= 20
        for name in EDITS[2:]:
            assert len(set(found[name, url])) >= 3, "another one each day, but for chance"


@pytest.mark.parametrize(("share", "least", "most"), [(0.0, 0, 0.05), (0.5, 0.35, 0.65), (0.95, 0.85, 0.99)])
def test_siblings_share_as_many_words_as_asked_for(share: float, least: float, most: float) -> None:
    site = one_site(only=("D1",))
    one, two = (main_words(site, ("D1", name), 300, share) for name in "ab")
    assert least <= sum(a == b for a, b in zip(one, two, strict=True)) / 300 <= most
    assert one != two
