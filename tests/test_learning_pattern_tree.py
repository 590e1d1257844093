"""The rules of the pattern tree: odd input, laws."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup.learning.methods.options import PatternTreeOptions
from scrapy_dedup.learning.methods.pattern_tree.selection import learn
from scrapy_dedup.urls import normal_form

Site = tuple[list[str], list[int]]


def guarded(pages: int = 120) -> Site:
    """A key that is junk under /view and the page itself under /search; session ids under both."""
    rng = Random(1)
    urls, content = [], []
    for page in range(pages):
        for _ in range(3):
            sid = rng.randrange(10**8)
            urls.append(f"http://example.com/view?id={page}&ref={rng.choice('abcdef')}&sid={sid}")
            content.append(page)
            ref = rng.choice("abcdef")
            urls.append(f"http://example.com/search?q={page}&ref={ref}&sid={sid}")
            content.append(1000 + 10 * page + "abcdef".index(ref))
    return urls, content


@pytest.mark.parametrize(
    ("urls", "content"),
    [
        ([], []),
        (["http://example.com/"], [0]),
        (["http://example.com/", "http://example.com/a"], [0, 0]),
        ([f"http://example.com/{n}" for n in range(50)], list(range(50))),
        ([f"http://example.com/{n}" for n in range(50)], [-1] * 50),
        ([f"http://example.com/x?y={n}&y=2;z&&=&a=%zz" for n in range(50)], [n // 2 for n in range(50)]),
        (["mailto:x", "", "http://", "not a url", "http://example.com:99999/"], [0, 0, 0, 1, 1]),
        (["http://[::1]/a", "http://[::1]/b", "http://127.0.0.1/a"], [0, 0, 1]),
        (["http://example.com/a"] * 20, [0] * 20),
    ],
)
def test_odd_input(urls: list[str], content: list[int]) -> None:
    for selection in ("naive", "graph"):
        rules = learn(urls, content, PatternTreeOptions(selection=selection))
        assert all(isinstance(rules.canonical(url), str) for url in urls)


def test_all_urls_are_one_page() -> None:
    urls = [f"http://example.com/login?returnto={n}&k={n % 3}" for n in range(400)]
    rules = learn(urls, [0] * 400)
    assert all(isinstance(rules.canonical(url), str) for url in urls)


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match="2 URLs and 1 duplicate clusters"):
        learn(["http://example.com/", "http://example.com/a"], [0])


def test_a_huge_cluster_takes_part_like_any_other() -> None:
    """A page under 3,000 URLs, and 200 pages under 3."""
    urls = [f"http://example.com/item?id=0&sid={n}" for n in range(3000)]
    urls += [f"http://example.com/item?id={page}&sid={page * 9 + v}" for page in range(1, 201) for v in range(3)]
    content = [0] * 3000 + [page for page in range(1, 201) for v in range(3)]
    rules = learn(urls, content)
    assert len({rules.canonical(url) for url in urls}) == 201


def test_the_same_urls_give_the_same_rules_in_any_order() -> None:
    urls, content = guarded(40)
    order = list(range(len(urls)))
    Random(3).shuffle(order)
    once = learn(urls, content)
    again = learn([urls[i] for i in order], [content[i] for i in order])
    assert {once.canonical(url) for url in urls} == {again.canonical(url) for url in urls}


def _site(seed: int) -> Site:
    rng = Random(seed)
    urls, content = [], []
    for page in range(rng.randint(1, 25)):
        for _ in range(rng.randint(1, 4)):
            path = "/".join(rng.choice(["a", "b", str(page), "x.html", ""]) for _ in range(rng.randint(1, 3)))
            query = "&".join(
                f"{k}={rng.choice([page, rng.randrange(9), ''])}" for k in rng.sample("pqrs", rng.randint(0, 3))
            )
            urls.append(f"http://{rng.choice(['', 'www.'])}example.com/{path}?{query}")
            content.append(rng.choice([page, page, page, rng.randrange(60)]))
    return urls, content


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), selection=st.sampled_from(["naive", "naive by fpr", "graph"]))
def test_law_every_rule_set_gives_every_url_one_form(seed: int, selection: str) -> None:
    urls, content = _site(seed)
    rules = learn(urls, content, PatternTreeOptions(selection=selection))
    assert rules.raw >= rules.qualified >= 0
    sources = [rule.nodes[0] for rule in rules.rules]
    assert len(sources) == len(set(sources)), "one rule for a source"
    for rule in rules.rules:
        assert set(rule.operations) <= set(rule.target.parts), "operations are on the keys of the target"
    for url in urls:
        assert rules.canonical(url) == rules.canonical(normal_form(url))
