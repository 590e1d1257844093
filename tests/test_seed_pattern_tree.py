"""The paper "pattern-tree" (Lei et al., WWW 2010), section by section: equations, algorithms, figures."""

from dataclasses import replace
from math import log2

import numpy as np
import pytest

from scrapy_dedup.learning.data.url_table import encode
from scrapy_dedup.learning.methods.options import PatternTreeOptions
from scrapy_dedup.learning.methods.pattern_tree.rules import (
    IgnoreKey,
    KeepKey,
    NormalizationRule,
    ReplaceKey,
    candidate_rules,
    common_duplicates,
    duplicate_nodes,
    duplicate_rate,
    false_positives,
    key_mappings,
    nested,
    rewritten,
    share_differing,
    sigma,
)
from scrapy_dedup.learning.methods.pattern_tree.selection import (
    Graph,
    PatternTreeRules,
    concatenated,
    destinations,
    energy,
    graph_of,
    learn,
    select_by_graph,
    select_naively,
    transitions,
)
from scrapy_dedup.learning.methods.pattern_tree.tree import (
    Distribution,
    Node,
    Pattern,
    PatternTree,
    Varied,
    build_pattern_tree,
    choice,
    composed,
    entropy,
    salient_values,
    view_of,
)
from tests.benchmarks.scoring.score import Score, score_of
from tests.benchmarks.sites.crawl import training_split

from .work import work_of

Site = tuple[list[str], list[int]]


def tree_of(urls: list[str], content: list[int] | None = None) -> PatternTree:
    content = list(range(len(urls))) if content is None else content
    return build_pattern_tree(encode(urls, [view_of(url) for url in urls], content))


def leaves(tree: PatternTree) -> list[Node]:
    return [node for node in tree.nodes if not node.children]


def figure_3(*absent: str) -> Site:
    """U1 to U8: values of K3 and K5 are diverse, U5 and U6 (U7 and U8) differ in K3 alone."""
    values = {
        "U1": ("r", "w"), "U2": ("s", "x"), "U3": ("t", "y"), "U4": ("u", "z"),
        "U5": ("p", "m"), "U6": ("q", "m"), "U7": ("p", "n"), "U8": ("q", "n"),
    }  # fmt: skip
    urls = [f"http://example.com/a/b/{k3}/c/{k5}" for name, (k3, k5) in values.items() if name not in absent]
    return urls, [0] * len(urls)


def figure_4() -> Site:
    """Pages under two formations, A and B: the archive is a mirror, pageid and path_1 are one number."""
    urls, content = [], []
    for page in range(40):
        urls.append(f"http://www.example.com/archive{page % 4}/display?pageid={10 + page}")
        urls.append(f"http://www.example.com/archive{(page * 3 + 1) % 4}/{10 + page}/display?sid={1000 + page * 7}")
        content += [page, page]
    return urls, content


def node_of(tree: PatternTree, key: str, value: str) -> Node:
    (found,) = [node for node in leaves(tree) if node.pattern.literals.get(key) == value]
    return found


# Section 2


def test_figure_2_keys_of_a_url() -> None:
    assert view_of("http://www.bing.example/images/results.aspx?q=hp") == {
        "scheme": "http",
        "host.1": "www",
        "path.0": "images",
        "path.1": "results.aspx",
        "q.q": "hp",
    }


def test_figure_2_repeated_keys_and_slashes_are_no_loss() -> None:
    """What the paper's view does not name keeps URLs apart all the same."""
    urls = [
        "http://e.com/a?x=1&x=2",
        "http://e.com/a?x=2",
        "http://e.com/a/?x=1&x=2",
        "http://e.com/a.html?x=1&x=2",
    ]
    assert len({str(view_of(url)) for url in urls}) == len(urls)


@pytest.mark.parametrize("absent", [(), ("U6",), ("U5", "U8"), ("U1", "U2")])
def test_figure_3_the_tree_finds_the_rule_that_pairs_need_all_urls_for(absent: tuple[str, ...]) -> None:
    urls, content = figure_3(*absent)
    rules = learn(urls, content)
    assert {rules.canonical(url) for url in figure_3()[0]} == {"http://example.com/a/b/*/c/*"}
    (rule,) = rules.rules
    assert rule.ignored == {"path.2", "path.4"}
    assert rule.source.literals == {"scheme": "http", "path.0": "a", "path.1": "b", "path.3": "c"}


# Section 3


def test_equation_1_compression_rate() -> None:
    assert Score(1000, 655, 655, 655).compression == pytest.approx(0.345)


def test_equation_2_dup_reduction_rate() -> None:
    # The average duplicate rate of the paper, 63.36 %; a compression of 34.5 % that loses no page.
    assert Score(10_000, 3_664, 6_550, 3_664).dup_reduction == pytest.approx(0.305, abs=0.001)
    assert Score(10, 4, 4, 4).dup_reduction == 1.0
    assert Score(10, 10, 10, 10).dup_reduction is None


@pytest.mark.parametrize(
    ("sizes", "rate", "pages"),
    # A thousand URLs of one page with three other pages: 0.6 % of the pairs, three of four pages.
    [((1000, 1, 1, 1), 0.006, 4), ((2, 2), 4 / 6, 2), ((5,), 0.0, 1)],
)
def test_equation_3_false_positive_rate(sizes: tuple[int, ...], rate: float, pages: int) -> None:
    content = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    found = false_positives(np.zeros(len(content), dtype=np.uint64), content)
    assert found.rate == pytest.approx(rate, abs=0.0001)
    assert found.support == len(content) * (len(content) - 1) // 2
    names = [f"http://e.com/{i}" for i in range(len(content))]
    assert score_of(names, content.tolist(), lambda url: "one").lost_rate == pytest.approx(1 - 1 / pages)


def test_figure_4b_tree() -> None:
    tree = tree_of(*figure_4())
    assert len(tree.nodes) == 3
    a, b = node_of(tree, "path.1", "display"), node_of(tree, "path.2", "display")
    assert a.parent is b.parent is tree.nodes[0]
    assert "q.pageid" in a.pattern.varied
    assert "q.sid" in b.pattern.varied
    assert a.pattern.parts.keys() | b.pattern.parts.keys() <= tree.nodes[0].pattern.parts.keys()


def test_figure_4c_operations() -> None:
    (rule,) = learn(*figure_4()).rules
    assert rule.operations == {
        "scheme": KeepKey("http"),
        "host.1": KeepKey("www"),
        "path.0": IgnoreKey(),
        "path.1": ReplaceKey("q.pageid"),
        "path.2": KeepKey("display"),
        "q.sid": IgnoreKey(),
    }
    assert rule.fpr == 0.0
    url = "http://www.example.com/archive0/display?pageid=10"
    assert rule.source.matches(view_of(url))
    assert composed(rewritten(view_of(url), rule.operations), url) == "http://www.example.com/*/10/display?sid=*"
    assert not rule.source.matches(view_of("http://www.example.com/archive0/10/display?sid=1"))


@pytest.mark.parametrize("selection", ["naive", "graph"])
def test_figure_4_two_formations_become_one(selection: str) -> None:
    urls, content = figure_4()
    rules = learn(urls, content, PatternTreeOptions(selection=selection))
    assert score_of(urls, content, rules.canonical).dup_reduction == 1.0
    unseen = [
        "http://www.example.com/archive2/display?pageid=77",
        "http://www.example.com/archive3/77/display?sid=2345",
    ]
    assert len(set(map(rules.canonical, unseen))) == 1
    assert rules.canonical(unseen[0]) != rules.canonical(urls[0])


# Section 5.1


def test_equation_4_entropy() -> None:
    assert entropy([2, 1, 1], 4) == 1.5
    # Absent keys count in N and are no value: a rare key with 100 values seems more certain than eight directories.
    assert entropy([1] * 100, 10_000) == pytest.approx(100 * 1e-4 * log2(1e4))
    assert entropy([1] * 100, 10_000) < entropy([1250] * 8, 10_000) == 3.0


def distribution(key: str, counts: list[int], total: int) -> Distribution:
    return Distribution(key, np.arange(1, len(counts) + 1, dtype=np.int32), np.array(counts), total)


def test_equation_4_rare_keys_are_not_split_by_first() -> None:
    """Absence is a value, and a key that most URLs lack goes last."""
    assert choice(distribution("path.0", [1250] * 8, 10_000)) < choice(distribution("q.junk", [1] * 100, 10_000))


@pytest.mark.parametrize(
    ("counts", "total", "salient"),
    [
        # Figure 6: three directories and a long tail.
        ([9000, 8000, 7000, 40, 40, 39, 30, 20], 24_169, 3),
        ([3] * 3 + [2] * 12 + [1] * 3, 36, 15),
        # Without a decline: keys denoting directories have only a few values, which should be explicitly recorded.
        ([500, 500], 1000, 2),
        ([1] * 1000, 1000, 0),
        ([7], 7, 0),
    ],
)
def test_equation_5_and_figure_6_salient_values(counts: list[int], total: int, salient: int) -> None:
    assert len(salient_values(distribution("path.0", counts, total))) == salient


def shop() -> list[str]:
    urls = [f"http://www.example.com/album/show.php?b={n}&i={n * n}" for n in range(400)]
    urls += [f"http://www.example.com/blog/{n % 90}x{n}" for n in range(100)]
    return [*urls, "http://www.example.com/about", "http://www.example.com/help"]


def test_algorithm_1_salient_tokens_are_nodes_and_trivial_ones_wildcards() -> None:
    tree = tree_of(shop())
    assert any(node.pattern.literals.get("path.0") == "album" for node in tree.nodes)
    assert sum("i" in node.pattern.literals for node in tree.nodes) == 0
    for node in tree.nodes:
        if node.children:
            rows = np.sort(np.concatenate([child.rows for child in node.children]))
            assert rows.tolist() == node.rows.tolist(), "the members of a parent are the union of its children's"
        for row in node.rows.tolist():
            assert node.pattern.matches(view_of(tree.table.urls[row]))


def test_algorithm_1_line_14_ends_when_no_key_has_salient_values() -> None:
    """The first segment has too many values for that, the second one has a decline."""
    urls = [f"http://example.com/{n // 4}/{'abc'[(n * n) % 3]}{n % 7}" for n in range(1000)]
    assert len(tree_of(urls).nodes) > 1


def test_algorithm_1_optional_keys_double_the_leaves() -> None:
    """Four optional junk parameters are sixteen leaves."""
    urls, content = [], []
    for page in range(60):
        for mask in range(16):
            junk = "".join(f"&j{bit}={page * 31 + mask}" for bit in range(4) if mask >> bit & 1)
            urls.append(f"http://example.com/view?id={page}{junk}")
            content.append(page)
    assert len(leaves(tree_of(urls, content))) >= 16


def test_the_whole_method_is_linear_in_the_number_of_urls() -> None:
    """Tree, index, mappings, filter and selection, counted in lines that are run."""

    def lines(pages: int) -> int:
        urls = [f"http://www.example.com/archive{n % 4}/display?pageid={n}" for n in range(pages)]
        urls += [f"http://www.example.com/archive{n % 3}/{n}/display?sid={n * 7}" for n in range(pages)]
        return work_of(lambda: learn(urls, [*range(pages), *range(pages)]), "pattern_tree")

    assert lines(1_200) <= 8 * 1.3 * lines(150)


# Section 5.2


def overlap(one: list[int], other: list[int]) -> float:
    """Equation 6 of two nodes given as the duplicate clusters of their URLs, a URL counted once for each node it is in."""
    common = set(one) & set(other)
    return sum(number in common for number in [*one, *other]) / (len(one) + len(other))


def test_equation_6_overlap_counts_with_multiplicity() -> None:
    """So a node overlaps itself by 1, as the text says."""
    assert overlap([1, 1, 2, 3], [1, 1, 2, 3]) == 1.0
    assert overlap([1, 1, 9], [1, 8]) == 3 / 5


def test_algorithm_2_finds_what_comparing_every_pair_finds() -> None:
    rng = np.random.default_rng(3)
    kinds = ["a", "a/b", "c", "c/d/e"]
    urls = sorted({f"http://e.com/{kinds[rng.integers(4)]}/{rng.integers(9)}?k={rng.integers(40)}" for _ in range(300)})
    content = rng.integers(0, 60, len(urls)).tolist()
    tree = tree_of(urls, content)
    found = duplicate_nodes(tree, 0.5)
    pages = [[content[row] for row in node.rows] for node in tree.nodes]
    expected = {}
    for s in tree.nodes:
        for t in tree.nodes:
            if s is not t and nested(s, t):
                continue
            value = duplicate_rate(tree, s) if s is t else overlap(pages[s.number], pages[t.number])
            if value >= 0.5:
                expected[s.number, t.number] = value
    assert len(tree.nodes) > 3
    assert any(one != other for one, other in found)
    assert found == pytest.approx(expected)


def test_algorithm_3_mappings_and_section_5_2_2_fake_replace() -> None:
    """The archives share all values; that duplicates differ in them shows that they do not matter."""
    tree = tree_of(*figure_4())
    a, b = node_of(tree, "path.1", "display"), node_of(tree, "path.2", "display")
    common = common_duplicates(tree, a, b)
    archive, page = ReplaceKey("path.0"), ReplaceKey("q.pageid")
    assert key_mappings(tree, a, b, common, 0.5) == {"path.0": archive, "path.1": page}
    assert share_differing(tree, common, archive, "path.0") > 0.5
    assert share_differing(tree, common, page, "path.1") == 0.0
    assert sigma(np.array([1, 2, 3, 0]), np.array([2, 3, 4, 4])) == 0.5


def test_section_5_2_3_unqualified_rules() -> None:
    """All values of one page number are shared with another key, so that pages would be merged."""
    urls = [f"http://example.com/{kind}?id={n}&part={part}" for kind in "ab" for n in range(40) for part in (1, 2)]
    content = [n if part == 1 or n % 2 else 1000 + n for _ in "ab" for n in range(40) for part in (1, 2)]
    strict, loose = (learn(urls, content, PatternTreeOptions(fpr_max=limit)) for limit in (0.0, 1.0))
    assert strict.raw == loose.raw
    assert strict.qualified < loose.qualified
    assert score_of(urls, content, strict.canonical).false_pairs == 0
    assert score_of(urls, content, loose.canonical).false_pairs > 0


def test_section_5_2_3_single_pages_are_counterexamples() -> None:
    """Pages that were seen once are a part of the training set: they speak against a rule, too."""
    urls = [f"http://example.com/x?id={n}&lang={lang}" for n in range(60) for lang in range(3)]
    content = [n if n < 50 else 3 * n + lang for n in range(60) for lang in range(3)]
    assert not learn(urls, content).rules


# Section 5.3


def rule(source: int, target: int, tree: PatternTree, fpr: float = 0.0) -> NormalizationRule:
    nodes = tree.nodes
    copied = {key: ReplaceKey(key) for key in nodes[target].pattern.parts}
    return NormalizationRule(
        nodes[source].pattern,
        nodes[target].pattern,
        copied,
        (source, target),
        support=nodes[source].volume,
        fpr=fpr,
    )


def hand_made(*volumes: int, parents: dict[int, int] | None = None) -> PatternTree:
    """A tree of nodes with the given numbers of URLs, under the root unless *parents* says otherwise."""
    total = sum(volumes)
    table = encode(
        [f"http://example.com/{n}" for n in range(total)], [{"path.0": str(n)} for n in range(total)], range(total)
    )
    tree = PatternTree(table)
    tree.nodes = [Node(0, np.arange(total))]
    start = 0
    for number, volume in enumerate(volumes, 1):
        tree.nodes.append(Node(number, np.arange(start, start + volume)))
        start += volume
    for node in tree.nodes[1:]:
        node.parent = tree.nodes[(parents or {}).get(node.number, 0)]
        node.depth = node.parent.depth + 1
        node.pattern = Pattern({"path.0": Varied()})
    return tree


@pytest.mark.parametrize(
    ("volumes", "parents", "rules", "by_fpr", "kept"),
    [
        # (a) Of two rules of one source the one with the smaller rate.
        ((10, 10, 10), {}, {(1, 2): 0.02, (1, 3): 0.01}, False, {(1, 3)}),
        # (b) The rule of the ancestor covers that of the descendant,
        ((10, 5, 10, 10), {2: 1}, {(1, 3): 0.0, (2, 4): 0.0}, False, {(1, 3)}),
        # or the one with the smaller rate is applied first: that of the deeper node goes where it is no better.
        ((10, 5, 10, 10), {2: 1}, {(1, 3): 0.02, (2, 4): 0.01}, True, {(1, 3), (2, 4)}),
        ((10, 5, 10, 10), {2: 1}, {(1, 3): 0.02, (2, 4): 0.02}, True, {(1, 3)}),
        ((10, 5, 10, 10), {2: 1}, {(1, 3): 0.02, (2, 4): 0.03}, True, {(1, 3)}),
        # (c) A circle is broken at the least support, and what is left of it is one chain.
        ((10, 30, 20), {}, {(1, 2): 0.0, (2, 3): 0.0, (3, 1): 0.0}, False, {(2, 1), (3, 1)}),
    ],
)
def test_figure_7(
    volumes: tuple[int, ...],
    parents: dict[int, int],
    rules: dict[tuple[int, int], float],
    by_fpr: bool,
    kept: set[tuple[int, int]],
) -> None:
    tree = hand_made(*volumes, parents=parents)
    found = select_naively([rule(*nodes, tree, fpr=fpr) for nodes, fpr in rules.items()], tree, by_fpr=by_fpr)
    assert {r.nodes for r in found} == kept


def test_equation_7_rows_are_normalised() -> None:
    graph = Graph([10, 5, 5], {(0, 1): 0.5, (0, 2): 0.0, (1, 2): 0.9})
    matrix = transitions(graph)
    assert matrix[0].tolist() == pytest.approx([0, 1 / 3, 2 / 3])
    assert matrix[1].tolist() == [0, 0, 1.0], "a bad rule alone moves all the energy"


def test_equation_7_damped_does_not_degenerate() -> None:
    """Undamped, energy leaves at a node without edges, and swings for ever in a circle of two; popular nodes have more."""
    first, sink = energy(Graph([100, 10], {(0, 1): 0.0})).tolist()
    assert first + sink == pytest.approx(110)
    assert sink > first / 2
    one, other = energy(Graph([100, 10], {(0, 1): 0.0, (1, 0): 0.0})).tolist()
    assert one / other < 1.3
    star = energy(Graph([10, 10, 10, 10], {(1, 0): 0.0, (2, 0): 0.0, (3, 0): 0.0, (0, 3): 0.0})).tolist()
    assert star.index(max(star)) in {0, 3}
    assert star[0] > star[1]


def test_figure_8_one_destination_and_direct_rules() -> None:
    """(a) and (b) a tree with rules 1 to 3 and links; (c) the destination; (d), (e) a chain made direct."""
    tree = hand_made(10, 20, 30, 90)
    rules = [rule(1, 2, tree), rule(2, 3, tree), rule(3, 4, tree), rule(4, 1, tree)]
    nodes, graph = graph_of(rules, tree)
    assert [node.number for node in nodes] == [1, 2, 3, 4]
    assert len(graph.rules) == 4
    (destination,) = destinations(rules, tree)
    chosen = select_by_graph(rules, tree)
    assert {r.nodes for r in chosen} == {(n, destination) for n in range(1, 5) if n != destination}
    assert all(r.target == tree.nodes[destination].pattern for r in chosen), "a chain of three among them"


def test_figure_8_links_bring_descendants_to_the_destination_above() -> None:
    tree = hand_made(10, 30, 60, parents={1: 3})
    rules = [rule(2, 3, tree), rule(1, 2, tree)]
    _, graph = graph_of(rules, tree)
    assert graph.links == [(0, 2)]
    found = destinations(rules, tree)
    assert set(found) == {3}
    assert set(found[3]) == {1, 2, 3}


def test_figure_8e_a_direct_rule_does_what_its_chain_does() -> None:
    tree = hand_made(1, 1, 1)
    first = replace(
        rule(1, 2, tree), operations={"path.0": ReplaceKey("q.id"), "path.1": KeepKey("x"), "path.2": IgnoreKey()}
    )
    second = replace(
        rule(2, 3, tree),
        operations={
            "q.n": ReplaceKey("path.0"),
            "q.x": ReplaceKey("path.1"),
            "q.w": ReplaceKey("path.2"),
        },
    )
    direct = concatenated(first, second)
    assert direct.operations == {"q.n": ReplaceKey("q.id"), "q.x": KeepKey("x"), "q.w": IgnoreKey()}
    assert direct.nodes == (1, 3)


def test_section_5_3_self_rules_of_destinations_stay() -> None:
    """Else a site whose only duplicates are session ids would have no rule at all."""
    urls = [f"http://example.com/item?id={page}&sid={page * 7 + v}" for page in range(30) for v in range(3)]
    content = [page for page in range(30) for v in range(3)]
    assert score_of(urls, content, learn(urls, content).canonical).dup_reduction == 1.0


# Section 6.1


def test_section_6_1_training_sets() -> None:
    content = [n // 4 for n in range(1000)]
    training, test = training_split(content)
    assert len(training) == 200
    assert len(test) == 1000
    training, test = training_split(content, unseen_pages=True)
    assert {content[i] for i in training}.isdisjoint(content[i] for i in test)
    assert len(training) + len(test) == 1000


def test_rules_are_counted_on_the_way() -> None:
    rules = learn(*figure_4())
    assert isinstance(rules, PatternTreeRules)
    assert rules.raw >= rules.qualified >= rules.deployed >= 1


def test_candidates_in_both_directions() -> None:
    tree = tree_of(*figure_4())
    assert {r.nodes for r in candidate_rules(tree, PatternTreeOptions()) if not r.of_one_node} == {(1, 2), (2, 1)}
