"""That a canonical key costs at most half of w3lib's canonical URL, on URLs never seen before."""

from collections.abc import Callable, Iterator, Sequence
from time import thread_time

import pytest
from w3lib.url import canonicalize_url

from scrapy_dedup.rules import Absent, Ignore, IgnoreValue, Literal, OfClass, Rule, RuleBook, Set
from scrapy_dedup.urls import ValueClass

SITE = "example.com"
HEX = ValueClass("hex", 32, 32)
RULES = [
    Rule(SITE, {}, {"q.sid": Ignore(HEX), "q.utm_*": Ignore()}),
    Rule(SITE, {"path.0": Literal("shop"), "q.page[1]": Absent()}, {"q.page": Ignore(["1"])}),
    Rule(SITE, {"path.0": Literal("shop"), "q.view": OfClass(ValueClass("alnum", 1, 9))}, {"q.view": IgnoreValue()}),
    Rule(SITE, {"host.1": Literal("www")}, {"host.1": Ignore()}),
    *[Rule(SITE, {"path.0": Literal(f"area-{n}")}, {"q.ref": Set({"a": "b"})}) for n in range(50)],
]
QUERIES = {
    "without a query": "",
    "with two parameters": "?id={n}&page=1",
    "with five parameters": "?sid={n:032x}&id={n}&page=2&utm_source=mail&view=list",
}


def urls(query: str) -> Iterator[list[str]]:
    """URLs in rounds, none of them twice."""
    for start in range(0, 40_000, 1000):
        yield [f"http://www.example.com/shop/item-{n}.html{query.format(n=n)}" for n in range(start, start + 1000)]


def seconds(function: Callable[[str], str], some: Sequence[str]) -> float:
    start = thread_time()
    for url in some:
        function(url)
    return thread_time() - start


@pytest.mark.parametrize("rules", [[], RULES], ids=["no rules", "54 rules"])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_half_of_w3lib(query: str, rules: list[Rule]) -> None:
    book = RuleBook(rules)
    ours, theirs = [], []
    for some in urls(query):
        ours.append(seconds(book.canonical_key, some))
        theirs.append(seconds(canonicalize_url, some))
        # The least of several rounds, and of more where the machine is busy: what else it does only adds to them.
        if len(ours) >= 5 and min(ours) <= 0.5 * min(theirs):
            break
    assert min(ours) <= 0.5 * min(theirs)
