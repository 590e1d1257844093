"""Sites on which few groups, or few pages of one kind, hide what a rule would lose."""

from collections.abc import Iterable, Sequence

import numpy as np
import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.learning.data.frame import Frame, Level
from scrapy_dedup.learning.data.url_table import RARE, encode
from scrapy_dedup.learning.proposals.combining import rules_of
from scrapy_dedup.learning.proposals.proposal import Proposal
from scrapy_dedup.rules import Absent, Ignore, Literal
from scrapy_dedup.urls import values_of

SITE = "http://shop.example"


def learned(rows: Iterable[tuple[str, str]]) -> RuleBook:
    return learn_rules([Observation(SITE + url, page) for url, page in rows])


def lost(book: RuleBook, rows: Iterable[tuple[str, str]]) -> int:
    """Return the pages that no first URL of a key leads to."""
    reached: dict[str, str] = {}
    pages = set()
    for url, page in rows:
        reached.setdefault(book.canonical_key(SITE + url), page)
        pages.add(page)
    return len(pages - set(reached.values()))


def versions(pages: int, documents: int, again: Sequence[str] = ("",)) -> list[tuple[str, str]]:
    """``v`` says nothing of products, and everything of documents."""
    rows = [(f"/p?id={i}{v}", f"page {i}") for i in range(pages) for v in ("", "&v=1", "&v=2")]
    return rows + [(f"/doc?v={j}{x}", f"document {j}") for j in range(documents) for x in again]


def test_one_bad_group_of_many_pages() -> None:
    """Documents are one group of a thousand, and a sixth of all pages."""
    rows = versions(1000, 200)
    book = learned(rows)
    assert lost(book, rows) == 0


@pytest.mark.parametrize(("pages", "documents"), [(1000, 200), (3000, 200)])
def test_it_is_guarded_and_not_given_up(pages: int, documents: int) -> None:
    rows = versions(pages, documents, ("", "&z=1"))
    book = learned(rows)
    assert lost(book, rows) == 0
    assert book.equivalent(f"{SITE}/p?id=9999&v=1", f"{SITE}/p?id=9999&v=2")


def test_blame_is_not_divided_among_the_values_of_a_key() -> None:
    values = ("", *(f"&v={j}" for j in range(1, 9)))
    rows = [(f"/p?id={i}{v}", f"page {i}") for i in range(100) for v in values]
    rows += [(f"/doc?v={j}", f"document {j}") for j in range(1, 9)]
    assert lost(learned(rows), rows) == 0


def test_what_is_lost_in_one_section_only() -> None:
    rows = [(f"/p?id={i}{v}", f"page {i}") for i in range(1000) for v in ("", "&print=1")]
    rows += [(f"/legal?doc={i}{v}", f"text {i}{v}") for i in range(5) for v in ("", "&print=1")]
    assert not learned(rows).equivalent(f"{SITE}/legal?doc=9", f"{SITE}/legal?doc=9&print=1")


def test_a_free_title_says_nothing_of_another_section() -> None:
    rows = [(f"/product/{i}-{title}{i}", f"page {i}") for i in range(200) for title in ("red-shoe", "blue-")]
    book = learned([*rows, ("/", "home"), ("/about", "about"), ("/contact", "contact")])
    assert book.equivalent(f"{SITE}/product/900-a-title", f"{SITE}/product/900-b-title")
    assert not book.equivalent(f"{SITE}/news/2024-summer", f"{SITE}/news/2024-winter")


def test_a_constant_is_kept_where_it_was_never_put_to_the_test() -> None:
    rows = [(f"/p/{i}?id={i}&v={v}", f"page {i}") for i in range(100) for v in (1, 2, 3)]
    rows += [(f"/q/{i}?id={i}&v={v}", f"other {i}") for i in range(100) for v in (1, 2, 3)]
    rows += [(f"/r/{i}?id={i}&v=1&s={s}", f"third {i}") for i in range(20) for s in "ab"]
    book = learned(rows)
    assert book.equivalent(f"{SITE}/p/7777?id=7777&v=1", f"{SITE}/p/7777?id=7777&v=2")
    assert not book.equivalent(f"{SITE}/r/7?id=7&v=1", f"{SITE}/r/7?id=7&v=2")


def test_one_page_everywhere_is_no_evidence() -> None:
    assert len(learned([(f"/a?x={i}", "1") for i in range(100)])) == 0


def test_names_made_up_for_each_url_are_one_column() -> None:
    urls = [f"{SITE}/p?id={i}&k{i:x}f=1" for i in range(300)]
    table = encode(urls, [values_of(url) for url in urls], list(range(300)))
    assert RARE in table.columns
    assert len(table.columns) < 10
    everything = Frame(table, np.arange(300))
    assert everything.groups({}).informative == 0
    assert everything.groups({"q.id": Level.DROPPED}).informative == 0
    assert everything.groups({"q.id": Level.DROPPED, RARE: Level.DROPPED}).informative == 1


def test_made_up_names_hide_no_rule() -> None:
    rows = [(f"/p?id={i // 2}&sid={i:032x}", f"page {i // 2}") for i in range(400)]
    rows += [(f"/odd?k{i:x}f={i}", f"odd {i}") for i in range(200)]
    book = learned(rows)
    assert lost(book, rows) == 0
    assert book.equivalent(f"{SITE}/p?id=7&sid={7:032x}", f"{SITE}/p?id=7&sid={8:032x}")


def test_two_learners_that_say_the_same_in_another_order() -> None:
    one, other = ("path.0", Literal("p")), ("path.1", Absent())
    proposals = [Proposal((one, other), "q.a", Ignore()), Proposal((other, one), "q.b", Ignore())]
    assert proposals[0].match == proposals[1].match
    (rule,) = rules_of("shop.example", proposals)
    assert set(rule.ops) == {"q.a", "q.b"}


def orders(prices: int) -> list[tuple[str, str]]:
    """Threads by date, which is the default, and some by price, of each of which one URL is known."""
    rows = [(f"/thread?tid={i}{order}", f"thread {i}") for i in range(40) for order in ("", "&sort=date")]
    return rows + [(f"/thread?tid={i}&sort=price", f"prices {i}") for i in range(900, 900 + prices)]


@pytest.mark.parametrize("prices", [2, 20])
def test_a_default_says_nothing_of_another_value(prices: int) -> None:
    book = learned(orders(prices))
    assert book.equivalent(f"{SITE}/thread?tid=999&sort=date", f"{SITE}/thread?tid=999")
    assert not book.equivalent(f"{SITE}/thread?tid=999&sort=price", f"{SITE}/thread?tid=999")


def test_an_empty_value_says_nothing_of_words() -> None:
    rows = [(f"/find?id={i}{more}", f"item {i}") for i in range(20) for more in ("", "&q=")]
    rows += [(f"/find?id={i}&q=word{i}", f"found {i}") for i in range(100, 120)]
    assert not learned(rows).equivalent(f"{SITE}/find?id=7&q=other", f"{SITE}/find?id=7")


def test_a_mirror_is_kept_apart_in_a_section_that_was_not_compared() -> None:
    rows = [(f"http://{host}.shop.example/news/{i}", f"news {i}") for i in range(12) for host in ("de", "us")]
    rows += [(f"http://{host}.shop.example/imprint/{host}", f"imprint {host}") for host in ("de", "us")]
    book = learn_rules([Observation(url, page) for url, page in rows])
    assert book.equivalent("http://de.shop.example/news/99", "http://us.shop.example/news/99")
    assert not book.equivalent("http://de.shop.example/imprint/x", "http://us.shop.example/imprint/x")
