"""The pattern tree as a learner of the pipeline: proposals, odd input, laws."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup.learning.data.judgement import Judgement, SiteUrls, book_of, judged
from scrapy_dedup.learning.decision.validation import validated
from scrapy_dedup.learning.methods.pattern_tree import FAITHFUL, IMPROVED, PatternTreeChoices, learn, proposals
from scrapy_dedup.learning.proposals.combining import rules_of
from scrapy_dedup.learning.proposals.proposal import Proposal
from scrapy_dedup.learning.site_evidence import evidence_of, used_splits
from scrapy_dedup.rules import Ignore, Literal, RuleBook
from scrapy_dedup.urls import normal_form

MODES = pytest.mark.parametrize("options", [FAITHFUL, IMPROVED], ids=["faithful", "improved"])
Site = tuple[list[str], list[int]]


def sample_of(urls: list[str], content: list[int], site: str = "example.com") -> SiteUrls:
    seen = {normal_form(url): number for url, number in zip(urls, content, strict=True) if number >= 0}
    return SiteUrls(site, list(seen), list(seen.values()))


def deployed(sample: SiteUrls) -> tuple[list[Proposal], RuleBook, Judgement]:
    """What the proposals come to when they pass the shared validation."""
    deep = evidence_of(sample).deep
    found = validated(proposals(sample, deep), sample, deep)
    book = book_of(rules_of(sample.site, found), sample, used_splits(found, deep))
    return found, book, judged(book, sample)


def duplicates(sample: SiteUrls) -> int:
    return len(sample.urls) - len(set(sample.content))


def two_formations(pages: int = 60) -> Site:
    urls, content = [], []
    for page in range(pages):
        urls.append(f"http://www.example.com/archive{page % 4}/display?pageid={10 + page}")
        urls.append(f"http://www.example.com/archive{(page * 3 + 1) % 4}/{10 + page}/display?sid={1000 + page * 7}")
        content += [page, page]
    return urls, content


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


def test_keys_that_matter_nowhere_are_proposed_without_a_pattern() -> None:
    found, _, _ = deployed(sample_of(*guarded()))
    assert any(p.match == () and p.key == "q.sid" and isinstance(p.operation, Ignore) for p in found)


def test_keys_that_matter_somewhere_are_proposed_under_a_pattern() -> None:
    found, book, judgement = deployed(sample_of(*guarded()))
    (ref,) = [p for p in found if p.key == "q.ref"]
    assert dict(ref.match)["path.0"] == Literal("view")
    assert not judgement.bad
    assert judgement.removed == duplicates(judgement.sample)
    same = {book.canonical_key(f"http://example.com/view?id=5&ref={ref}&sid=123") for ref in "af"}
    other = {book.canonical_key(f"http://example.com/search?q=5&ref={ref}&sid=123") for ref in "af"}
    assert (len(same), len(other)) == (1, 2)


def test_two_formations_are_joint_proposals() -> None:
    found, book, judgement = deployed(sample_of(*two_formations()))
    assert found
    assert all(p.joint for p in found if dict(p.match).get("path.len") == Literal("3"))
    assert judgement.removed == duplicates(judgement.sample)
    assert not judgement.bad
    unseen = [
        "http://www.example.com/archive2/display?pageid=88",
        "http://www.example.com/archive1/88/display?sid=2345",
    ]
    assert len({book.canonical_key(url) for url in unseen}) == 1


def test_affixes_and_lower_case_are_proposed() -> None:
    urls, content = [], []
    for n in range(60):
        name = f"{'ABCDE'[n % 5]}x{n}"
        urls += [f"http://example.com/story?id={name}", f"http://example.com/story_{name.lower()}/all"]
        content += [n, n]
    _, _, judgement = deployed(sample_of(urls, content))
    assert judgement.removed == 60
    assert not judgement.bad


def test_values_of_shapes_never_seen_do_not_match() -> None:
    _, book, _ = deployed(sample_of(*guarded()))
    numbers = {book.canonical_key(f"http://example.com/view?id=5&ref=a&sid={sid}") for sid in (1234567, 7654321)}
    words = {book.canonical_key(f"http://example.com/view?id=5&ref=a&sid={sid}") for sid in ("the-first", "the-second")}
    assert (len(numbers), len(words)) == (1, 2)


def test_session_ids_are_nothing_that_a_pattern_rests_on() -> None:
    """A value that may be secret, or is another one tomorrow, stands in no match."""
    token = "d41d8cd98f00b204e9800998ecf8427e"
    urls = [f"http://example.com/v?k={k}&id={n}&x={v}{n}" for k in (token, "home") for n in range(80) for v in range(3)]
    content = [n + (1000 if k == token else 0) for k in (token, "home") for n in range(80) for v in range(3)]
    sample = sample_of(urls, content)
    assert all(token not in repr(proposal.match) for proposal in proposals(sample, {}))


def test_deep_tokens_are_keys() -> None:
    """A thread's address with the number of a post behind the point."""
    urls = [f"http://example.com/t?topic={n + 100}.{post}" for n in range(60) for post in (0, 15, 30)]
    content = [n for n in range(60) for post in (0, 15, 30)]
    _, book, judgement = deployed(sample_of(urls, content))
    assert judgement.removed == 120
    assert len({book.canonical_key(f"http://example.com/t?topic=777.{post}") for post in (15, 30)}) == 1


def test_a_cluster_that_is_everywhere_teaches_nothing_of_other_pages() -> None:
    """An error page answers for every third URL of two templates."""
    urls = [f"http://example.com/{kind}/{n}?v={n % 9}" for kind in "ab" for n in range(300)]
    content = [0 if n % 3 == 0 else 1 + n + 1000 * (kind == "a") for kind in "ab" for n in range(300)]
    _, _, judgement = deployed(sample_of(urls, content))
    assert not judgement.bad


@MODES
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
def test_odd_input(urls: list[str], content: list[int], options: PatternTreeChoices) -> None:
    for selection in ("naive", "graph"):
        rules = learn(urls, content, options, selection=selection)
        assert all(isinstance(rules.canonical(url), str) for url in urls)
    proposals(sample_of(urls, content), {})


@pytest.mark.parametrize("options", [FAITHFUL, IMPROVED, replace(FAITHFUL, nested_pairs=True, walk="printed")])
def test_all_urls_are_one_page(options: PatternTreeChoices) -> None:
    urls = [f"http://example.com/login?returnto={n}&k={n % 3}" for n in range(400)]
    rules = learn(urls, [0] * 400, options)
    assert all(isinstance(rules.canonical(url), str) for url in urls)
    _, _, judgement = deployed(sample_of(urls, [0] * 400))
    assert not judgement.bad


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match="2 URLs and 1 duplicate clusters"):
        learn(["http://example.com/", "http://example.com/a"], [0])
    with pytest.raises(ValueError, match="fpr_max"):
        learn([], [], fpr_max=5)
    with pytest.raises(ValueError, match="'naive', 'naive by fpr' or 'graph'"):
        learn([], [], selection="best")  # type: ignore[arg-type]


def test_a_huge_cluster_takes_part_like_any_other() -> None:
    """A page under 3,000 URLs, and 200 pages under 3."""
    urls = [f"http://example.com/item?id=0&sid={n}" for n in range(3000)]
    urls += [f"http://example.com/item?id={page}&sid={page * 9 + v}" for page in range(1, 201) for v in range(3)]
    content = [0] * 3000 + [page for page in range(1, 201) for v in range(3)]
    for options in (FAITHFUL, IMPROVED):
        rules = learn(urls, content, options)
        assert len({rules.canonical(url) for url in urls}) == 201


def test_the_same_urls_give_the_same_rules_in_any_order() -> None:
    urls, content = guarded(40)
    order = list(range(len(urls)))
    Random(3).shuffle(order)
    for options in (FAITHFUL, IMPROVED):
        once = learn(urls, content, options)
        again = learn([urls[i] for i in order], [content[i] for i in order], options)
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
@given(
    seed=st.integers(0, 10**6), selection=st.sampled_from(["naive", "naive by fpr", "graph"]), improved=st.booleans()
)
def test_law_every_rule_set_gives_every_url_one_form(seed: int, selection: str, improved: bool) -> None:
    urls, content = _site(seed)
    rules = learn(urls, content, IMPROVED if improved else FAITHFUL, selection=selection)  # type: ignore[arg-type]
    assert rules.raw >= rules.qualified >= 0
    sources = [rule.nodes[0] for rule in rules.rules]
    assert len(sources) == len(set(sources)), "one rule for a source"
    for rule in rules.rules:
        assert set(rule.operations) <= set(rule.target.parts), "operations are on the keys of the target"
    for url in urls:
        assert rules.canonical(url) == rules.canonical(normal_form(url))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_law_the_improved_mode_stays_within_its_gate(seed: int) -> None:
    urls, content = _site(seed)
    sample = sample_of(urls, content)
    rules = learn(list(sample.urls), list(sample.content), IMPROVED)
    by_form: dict[str, set[int]] = {}
    for url, page in zip(sample.urls, sample.content, strict=True):
        by_form.setdefault(rules.canonical(url), set()).add(page)
    assert all(len(pages) == 1 for pages in by_form.values())
