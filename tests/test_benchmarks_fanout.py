"""The fan-out baseline, and the paper's order: graph selection, naive selection, fan-out."""

from random import Random
from statistics import mean

from scrapy_dedup.learning.methods.options import PatternTreeOptions
from scrapy_dedup.learning.methods.pattern_tree.selection import learn

from .benchmarks.methods.fanout import learn_fanout
from .benchmarks.scoring.score import score_of

Site = tuple[list[str], list[int]]


def nested_parameters(seed: int) -> Site:
    """Products with nested optional parameters under two formations; search pages, which need one of them."""
    rng = Random(seed)
    urls, content = [], []
    for page in range(150):
        for _ in range(rng.randint(1, 4)):
            query = [f"id={page}"]
            if rng.random() < 0.5:
                query.append(f"sid={rng.randrange(10**6)}")
                if rng.random() < 0.5:
                    query.append(f"ref={rng.choice('abcd')}")
            urls.append(f"http://example.com/{rng.choice(['view', 'print'])}?{'&'.join(query)}")
            content.append(page)
        for ref in rng.sample("abcd", 2):
            for _ in range(rng.randint(1, 6)):
                sid = f"&sid={rng.randrange(10**6)}" if rng.random() < 0.7 else ""
                urls.append(f"http://example.com/search?q={page}&ref={ref}{sid}")
                content.append(1000 + 10 * page + "abcd".index(ref))
    return urls, content


def test_the_fan_out_is_the_number_of_values_that_a_rule_needs() -> None:
    urls = [f"http://example.com/item?id={page}&sid={page * 7 + visit}x" for page in range(12) for visit in range(6)]
    content = [page for page in range(12) for _ in range(6)]
    learned = learn_fanout(urls, content, fan_out=5)
    assert learned.raw >= learned.qualified >= learned.deployed == 1
    assert learned.canonical("http://example.com/item?id=99&sid=new") == "http://example.com/item?id=99&sid=*"
    assert learn_fanout(urls, content, fan_out=10).deployed == learn_fanout([], []).deployed == 0


def test_figure_3_pairs_need_urls_that_the_tree_does_not() -> None:
    """R3 comes of R1 and R2, and these of (U5, U6) and (U7, U8): without U6 no pair says anything of its values."""
    whole = [f"http://example.com/a/b/{k3}/c/{k5}" for k3, k5 in ("rw", "sx", "ty", "uz", "pm", "qm", "pn", "qn")]
    broken = [*whole[:5], *whole[6:]]
    for urls in (whole, broken):
        assert {learn(urls, [0] * len(urls)).canonical(url) for url in whole} == {"http://example.com/a/b/*/c/*"}
    complete, torn = (learn_fanout(urls, [0] * len(urls), fan_out=2) for urls in (whole, broken))
    assert {complete.canonical(url) for url in whole} == {"http://example.com/a/b/*/c/*"}
    for url in (whole[5], *whole[:4]):
        assert torn.canonical(url) == url, "U1 to U4 are of no use to it, although they show that both keys vary"


def test_the_papers_order_on_nested_optional_parameters() -> None:
    """Table 4: compression of graph > naive > fan-out 5 > fan-out 10.

    The site was chosen to tell the selections apart: on most made-up sites graph and naive come out equal.
    """
    methods = {
        "graph": lambda urls, content: learn(urls, content).canonical,
        "naive": lambda urls, content: learn(urls, content, PatternTreeOptions(selection="naive")).canonical,
        "fan-out 5": lambda urls, content: learn_fanout(urls, content, 5).canonical,
        "fan-out 10": lambda urls, content: learn_fanout(urls, content, 10).canonical,
    }
    sites = [nested_parameters(seed) for seed in range(2)]
    graph, naive, five, ten = (
        mean(score_of(*site, method(*site)).compression for site in sites) for method in methods.values()
    )
    assert graph > naive + 0.01
    assert naive > five + 0.01
    assert five > ten
