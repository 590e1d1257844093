"""Noisy sites: what is odd everywhere alike is noise, what is odd in one place is a page."""

import random
from collections.abc import Callable

import numpy as np
import pytest

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.learning.emission import proposals
from scrapy_dedup.learning.guards import PRESENT, Node
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.learning.passing import Passing, kinds_of, repeated
from scrapy_dedup.learning.table import Table, encode
from scrapy_dedup.learning.values import SegmentGone
from scrapy_dedup.urls import values_of

SITE = "http://example.com"
KINDS = ("news", "shop", "wiki", "blog", "docs", "tags")
MOST_KINDS = len(KINDS) - 2
Row = tuple[str, str, str]
"""URL, what it showed, and the page."""
Page = Callable[[str, int, dict[str, str]], str]


def visits(rng: random.Random, noise: float, page_of: Page, pages: int = 80) -> list[Row]:
    """Two to six URLs of each page of six kinds; *noise* is the share that shows an error or something else once."""
    rows = []
    for kind in KINDS:
        for number in range(pages):
            for _ in range(rng.choice((2, 3, 3, 4, 6))):
                query = {"lang": rng.choice(("de", "en", "fr", "it")), "sid": f"{rng.getrandbits(64):016x}"}
                page = page_of(kind, number, query)
                odd = rng.choice(("error", f"{page} at {rng.random()}")) if rng.random() < noise else page
                text = "&".join(f"{key}={value}" for key, value in query.items())
                rows.append((f"{SITE}/{kind}/{number}?{text}", odd, page))
    rng.shuffle(rows)
    return rows


def plain(kind: str, number: int, query: dict[str, str]) -> str:
    return f"{kind} {number}"


def learned(rows: list[Row]) -> RuleBook:
    return learn([Observation(url, shown) for url, shown, _ in rows], learners=["difference_sets"]).book


def merged(book: RuleBook, kind: str, one: str = "lang=en", other: str = "lang=de") -> bool:
    return book.equivalent(f"{SITE}/{kind}/7?{one}&sid={7:016x}", f"{SITE}/{kind}/7?{other}&sid={8:016x}")


@pytest.mark.parametrize("noise", [0.01, 0.03])
def test_noise_in_all_kinds_of_pages_takes_no_rule_away(noise: float) -> None:
    book = learned(visits(random.Random(1), noise, plain))
    # By chance one kind or another shows more noise than most; it is learned strictly then.
    assert sum(merged(book, kind) for kind in KINDS) >= MOST_KINDS


def test_where_much_is_noise_nothing_is_taken_for_it() -> None:
    """A parameter that matters for a tenth of the pages would be lost in it."""
    book = learned(visits(random.Random(1), 0.1, plain))
    assert not any(merged(book, kind) for kind in KINDS)


@pytest.mark.parametrize("noise", [0.01, 0.03])
def test_a_kind_with_more_than_noise_keeps_its_parameter(noise: float) -> None:
    """On 16 of 80 tags every ``sid`` is another page."""

    def page_of(kind: str, number: int, query: dict[str, str]) -> str:
        return plain(kind, number, query) + query["sid"] * (kind == "tags" and number < 16)

    book = learned(visits(random.Random(2), noise, page_of))
    assert not merged(book, "tags")
    assert sum(merged(book, kind) for kind in KINDS[:-1]) >= MOST_KINDS - 1


def test_a_value_with_more_than_noise_is_kept() -> None:
    """On 12 of 80 pages of each kind ``lang=de`` is a page of its own, and everywhere is as much noise."""

    def page_of(kind: str, number: int, query: dict[str, str]) -> str:
        return plain(kind, number, query) + " de" * (query["lang"] == "de" and number < 12)

    rows = visits(random.Random(3), 0.03, page_of)
    book = learned(rows)
    assert not merged(book, "news", "lang=en", "lang=de")
    assert merged(book, "news", "lang=de", "lang=de")


def test_one_kind_of_pages_has_nothing_to_be_compared_with() -> None:
    rows = [row for row in visits(random.Random(4), 0.03, plain, 300) if "/news/" in row[0]]
    assert not merged(learned(rows), "news")


def test_kinds_that_differ_in_noise_excuse_nothing() -> None:
    """Two kinds are clean, and four are lists of which each shows other things now and then."""

    def page_of(kind: str, number: int, query: dict[str, str]) -> str:
        share = {"news": 0, "shop": 0, "wiki": 4, "blog": 8, "docs": 12, "tags": 16}[kind]
        odd = int(query["sid"][-2:], 16) < 4 * share
        return plain(kind, number, query) + query["sid"] * odd

    book = learned(visits(random.Random(5), 0.0, page_of))
    assert [merged(book, kind) for kind in KINDS] == [True, True, False, False, False, False]


def table_of(urls: list[str], content: list[int]) -> Table:
    lone = {number for number in content if content.count(number) == 1}
    return encode(urls, (values_of(SITE + url) for url in urls), content, lone)


def test_what_shows_at_one_url_or_anywhere_does_not_show_again() -> None:
    urls = [f"/{kind}/{number}?sid={copy}" for kind in "ab" for number in range(20) for copy in range(3)]
    content = [place // 3 for place in range(120)]
    content[0] = 500
    for place in (4, 31, 62, 100):
        content[place] = 600
    kept = repeated(table_of(urls, content))
    assert sorted(set(range(120)) - set(kept.tolist())) == [0, 4, 31, 62, 100]


def test_kinds_are_told_by_their_first_segment_where_it_is_frequent() -> None:
    urls = [f"/shop/{number}" for number in range(30)] + [f"/view.php?id={n}" for n in range(30)]
    urls += [f"/page-{number}" for number in range(30)]
    kinds = kinds_of(table_of(urls, list(range(90)))).tolist()
    assert [len(set(kinds[start : start + 30])) for start in (0, 30, 60)] == [1, 1, 1]
    assert len(set(kinds)) == 3


def of_groups(sizes: list[int], odd: dict[int, list[int]]) -> Passing:
    """Groups of so many URLs, of three kinds in turn; *odd* are the contents of some URLs of a group."""
    urls, content, numbers = [], [], []
    for group, size in enumerate(sizes):
        for copy in range(size):
            urls.append(f"/{'abc'[group % 3]}/{group}?sid={100 * group + copy}")
            content.append(odd.get(group, [])[copy] if copy < len(odd.get(group, [])) else group)
            numbers.append(group)
    table = table_of(urls, content)
    return Passing.of(table, kinds_of(table), np.array(numbers))


def noise_of(passing: Passing) -> list[str]:
    return [passing.table.urls[row] for row in np.flatnonzero(passing.noise()).tolist()]


def test_odd_urls_are_noise_where_all_kinds_have_as_many() -> None:
    passing = of_groups([4] * 90, {group: [1000 + group] for group in range(0, 90, 7)})
    assert passing.rate() == pytest.approx(13 / 360, rel=0.1)
    assert noise_of(passing) == [f"/{'abc'[group % 3]}/{group}?sid={100 * group}" for group in range(0, 90, 7)]


def test_odd_urls_of_one_kind_are_none() -> None:
    passing = of_groups([4] * 90, {group: [1000 + group] for group in range(0, 90, 6)})
    assert passing.rate() == 0.0
    assert noise_of(passing) == []


def test_an_error_is_no_page_though_it_shows_at_many_urls() -> None:
    odd = {group: [1000 + group if group % 2 else 999] for group in range(0, 90, 7)}
    assert len(noise_of(of_groups([4] * 90, odd))) == 13


def test_pages_of_which_nothing_shows_again_are_too_many() -> None:
    """At 4 % noise one group of four in ten thousand is shattered."""
    odd = {group: [1000 + group] for group in range(0, 90, 7)}
    shattered = {1: [2000, 2001, 2002, 2003]}
    found = noise_of(of_groups([4] * 90, {**odd, **shattered}))
    assert found
    assert not any(url.startswith("/b/") for url in found)


def test_a_content_that_shows_again_beside_a_page_is_a_page() -> None:
    odd = {group: [1000 + group] for group in range(0, 90, 7)}
    odd[1] = [5000, 5000]
    found = noise_of(of_groups([4] * 90, odd))
    assert len(found) == 13
    assert not any("/1?" in url for url in found)


def test_a_pattern_asks_for_a_key_once() -> None:
    urls = [f"/shop/{number}/shoes/x{number}" for number in range(9)]
    table = table_of(urls, list(range(9)))
    node = Node((("path.2", PRESENT),), recodings=[SegmentGone("path.2", "shoes", 9, 0)])
    (found,) = proposals(table, np.arange(9), node, ())
    asked = [key for key, _ in found.match]
    assert asked == sorted(set(asked))
    assert dict(found.match)["path.2"].holds("shoes")
    assert not dict(found.match)["path.2"].holds("boots")
