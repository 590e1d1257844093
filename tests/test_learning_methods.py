"""Published methods that decide alone: ``learn_rules(method=..., options=...)``, by the documents' own examples."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.learning.alternation import LearnedRulesAndMasks, StoredEvidence, learn_rules_and_masks
from scrapy_dedup.learning.data.by_site import observations_by_site
from scrapy_dedup.learning.data.clusters import clusters
from scrapy_dedup.learning.data.judgement import SiteUrls
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.learning.learning_options import LearningOptions
from scrapy_dedup.learning.methods.options import (
    METHODS,
    EquivalenceOptions,
    MethodOptions,
    WrongOption,
    described,
    options_of,
)
from scrapy_dedup.learning.methods.policy import MethodPolicy, policy_of
from scrapy_dedup.learning.methods.shingles import near_identical
from scrapy_dedup.learning.saving import save
from scrapy_dedup.pages.response import fingerprint_body, version_of
from scrapy_dedup.pages.versions import Version
from scrapy_dedup.rules import Ignore, Keep, Rule, Status
from scrapy_dedup.rules.lifecycle import Reason
from scrapy_dedup.store.rows import ObservationRow
from scrapy_dedup.store.store import Store

WEEK = "http://www.informationweek.com/showArticle.jhtml"


def seen(url: str, page: object, time: float | None = None) -> Observation:
    return Observation(url, f"page {page}", words=200, time=time)


def articles(count: int = 12) -> list[Observation]:
    """The second example of url-normalization-rule-inference: articles under topics."""
    return [seen(f"{WEEK}?articleID={60401364 + n}&tid={tid}", n) for n in range(count) for tid in (5999, 6001)]


def archive() -> list[Observation]:
    """Figure 4 of the pattern-tree paper: two formations of one page."""
    rows = []
    for page in range(40):
        rows.append(seen(f"http://www.example.com/archive{page % 4}/display?pageid={10 + page}", page))
        rows.append(
            seen(f"http://www.example.com/archive{(page * 3 + 1) % 4}/{10 + page}/display?sid={page * 7}", page)
        )
    return rows


def lines(*rows: tuple[str, int]) -> list[Observation]:
    return [seen(url, page) for url, page in rows]


def reports(observations: list[Observation], method: str, **options: Any) -> tuple[str, ...]:
    (report,) = learn(observations, LearningOptions(policy=policy_of(method, options))).reports
    return report.notes


# Each decides as its document does


def test_equivalence_one_counterexample_refutes_whatever_speaks_for_it() -> None:
    rows = articles(400)
    assert learn_rules(rows, method="equivalence").equivalent(f"{WEEK}?articleID=7&tid=1", f"{WEEK}?articleID=7")
    odd = seen(f"{WEEK}?articleID=60401364&tid=7", "odd")
    assert not learn_rules([*rows, odd], method="equivalence")
    by_the_judge = learn_rules([*rows, odd])
    assert by_the_judge.equivalent(rows[0].url, rows[1].url), "the judge takes one odd response for noise"


def test_equivalence_support_is_a_number_of_urls() -> None:
    rows = articles(12)
    assert len(learn_rules(rows, method="equivalence", options={"min_urls": 23})) == 1
    assert not learn_rules(rows, method="equivalence", options={"min_urls": 24})


def test_equivalence_what_was_seen_before_the_window_does_not_count() -> None:
    rows = [seen(row.url, row.fingerprint, time=1e9) for row in articles()]
    old = seen(f"{WEEK}?articleID=60401364&tid=7", "another page", time=1e9 - 10 * 86_400)
    assert not learn_rules([old, *rows], method="equivalence", options={"window_days": 11})
    assert len(learn_rules([old, *rows], method="equivalence", options={"window_days": 9})) == 1


def test_equivalence_case_and_ends() -> None:
    rows = [
        seen(f"http://a.example/{name}?id={n}", n) for n in range(9) for name in ("Show.asp", "show.asp", "SHOW.asp")
    ]
    folded = learn_rules(rows, method="equivalence", options={"fold_case": "true"})
    assert folded.canonical_key("http://a.example/SHOW.asp?id=77") == "http://a.example/show.asp?id=77"
    dropped = learn_rules(rows, method="equivalence").canonical_key("http://a.example/SHOW.asp?id=77")
    assert dropped == "http://a.example/?id=77", "without the heuristic no class has the segment in common"
    middle = [seen(f"http://a.example/x/{n}/{'print/' * copy}p{n}/end", n) for n in range(12) for copy in (0, 1)]
    cut = learn_rules(middle, method="equivalence", options={"representative": "ends"})
    assert cut.equivalent("http://a.example/x/7/print/p7/end", "http://a.example/x/7/p7/end")


def almanacs(*, texts: bool = True) -> list[Observation]:
    """Pages of 400 words under two session ids each, one word of which was another one each time."""
    rows = []
    for number in range(12):
        words = page_of_words(number)
        for session in (5, 6):
            words[200] = f"visit{session}"
            url = f"http://h.example/almanac?day={number}&sid={number * 7 + session}"
            text = " ".join(words)
            version = Version((("html/body/p", "", text), ("html/body/a", "href", url))) if texts else None
            rows.append(Observation(url, text, words=400, version=version, time=1e9 + number))
    return rows


def page_of_words(number: int) -> list[str]:
    random = Random(number)
    return [f"{random.getrandbits(40):x}" for _ in range(400)]


@pytest.mark.parametrize("pages", ["shingles", "rare words"])
def test_equivalence_of_near_identical_pages(pages: str) -> None:
    """Pages are one by shingles or rare words, as the document has it; by equal text they are not."""
    assert len(learn_rules(almanacs(), method="equivalence")) == 0
    (rule,) = learn_rules(almanacs(), method="equivalence", options={"pages": pages})
    assert rule.ops == {"q.sid": Ignore()}


def test_equivalence_of_pages_that_are_not_near_identical() -> None:
    """One page under a third session id that is another one speaks against the rule."""
    text = " ".join(page_of_words(100))
    other = Observation(
        "http://h.example/almanac?day=3&sid=9",
        text,
        words=400,
        version=Version((("html/body/p", "", text),)),
        time=1e9,
    )
    assert len(learn_rules([*almanacs(), other], method="equivalence", options={"pages": "shingles"})) == 0


def test_equivalence_of_near_identical_pages_whose_texts_are_not_kept(caplog: pytest.LogCaptureFixture) -> None:
    rows = [*articles(), *almanacs(texts=False)]
    assert len(learn_rules(rows, method="equivalence", options={"pages": "shingles"})) == 1
    assert [record.message for record in caplog.records if "shingles" in record.message] == [
        f"{site}: no page has its texts in the store, so that none is compared by shingles"
        for site in ("h.example", "informationweek.com")
    ]


def test_near_identical_pages_of_a_store(tmp_path: Path) -> None:
    rows = []
    for row in almanacs():
        html = f"<html><body><p>{row.fingerprint}</p></body></html>"
        page = ObservationRow("", "h.example", row.url, row.time or 0.0, 200, version=version_of(html).to_bytes())
        rows.append(page._replace(fingerprints=fingerprint_body(html.encode(), "text/html")))
    with Store.open(tmp_path / "store.sqlite") as store:
        store.add(rows)
        counts = []
        for options in ({}, {"pages": "shingles"}):
            policy = policy_of("equivalence", options)
            found = learn_rules_and_masks(StoredEvidence(store), LearningOptions(policy=policy), known=RuleBook())
            counts.append(len(found.learned.book))
    assert counts == [0, 1]


def test_near_identical_pages_of_clusters_that_are_no_evidence() -> None:
    rows = [*almanacs(), Observation("http://h.example/gone", "", status=404, time=1e9)]
    found = clusters(rows)
    joined = near_identical(found, reversed(rows))
    assert (found.pages, joined.pages) == (24, 12)
    assert joined.urls == found.urls
    assert near_identical(clusters([]), []) == clusters([])


def test_equivalence_of_a_session_in_the_path() -> None:
    """The first part of the second example: ;jsessionid."""
    rows = [seen(f"{WEEK};jsessionid=05YISK4QOPJ{n * 7 + s}?articleID={n}", n) for n in range(9) for s in (0, 1)]
    book = learn_rules(rows, method="equivalence")
    assert book.canonical_key(f"{WEEK};jsessionid=x?articleID=17") == f"{WEEK}?articleID=17"


def test_equivalence_an_optional_segment_moves_the_others_up() -> None:
    """The first example, of a part of the path: /news/yhoo/story.asp is /news/story.asp."""
    site = "http://www.marketwatch.com/news"
    rows = [seen(f"{site}/{brand}story.asp?guid=a{n}f", n) for n in range(9) for brand in ("", "yhoo/", "archive/")]
    book = learn_rules(rows, method="equivalence")
    assert book.canonical_key(f"{site}/yhoo/story.asp?guid=b7e") == f"{site}/story.asp?guid=b7e"


def test_equivalence_of_two_rules_the_first_that_matches_acts() -> None:
    """What one form of URLs drops and another keeps, no URL drops by both."""
    rows = [seen(f"http://a.example/x?id={n}&sid={n * 7 + s}", n) for n in range(9) for s in (0, 1)]
    rows += [
        seen(f"http://a.example/x?id={n}&lang={lang}&sid={n * 9 + s}", 100 + 10 * n + len(lang))
        for n in range(9)
        for s in (0, 1)
        for lang in ("de", "fra")
    ]
    book = learn_rules(rows, method="equivalence")
    assert not book.equivalent("http://a.example/x?id=3&lang=de&sid=1", "http://a.example/x?id=3&lang=fra&sid=1")
    assert book.equivalent("http://a.example/x?id=3&lang=de&sid=1", "http://a.example/x?id=3&lang=de&sid=2")
    assert book.equivalent("http://a.example/x?id=3&sid=1", "http://a.example/x?id=3&sid=2")


def values_and_pages(values: str, *pages: int) -> list[Observation]:
    """Tables 1 to 4: the values of a parameter, and the pages that they led to."""
    return lines(
        *((f"http://a.com/v?v={v}&n={n}", page) for n, (v, page) in enumerate(zip(values, pages, strict=True)))
    )


def test_entropy_small_clusters_have_no_rules() -> None:
    rows = lines(*((f"http://xyz.com/video?file=f{n // 2}&junk={n}", n // 2) for n in range(19)))
    assert not learn_rules(rows, method="entropy")
    (rule,) = learn_rules(rows, method="entropy", options={"minimum": "19"})
    assert (rule.ops, rule.evidence.method if rule.evidence else None) == ({"q.junk": Ignore()}, "entropy")


def of_two_parameters() -> list[Observation]:
    """URLs (15) to (18): path and file are relevant together only."""
    return lines(*((f"http://xyz.com/v?path={p}&file={f}", 2 * p + f) for p in (0, 1) for f in (0, 1)))


def conflicting() -> list[Observation]:
    """``id`` is the page under /a and under /b, and nothing under /c."""
    rows = [
        (f"http://xyz.com/{path}?id={n}&x={x}", hash_of(path, n)) for path in "ab" for n in range(8) for x in (1, 2, 3)
    ]
    return lines(*rows, *((f"http://xyz.com/c?id={n}", 7) for n in range(24)))


def hash_of(path: str, number: int) -> int:
    return 100 * (1 + "abc".index(path)) + number


def of_two_hosts() -> list[Observation]:
    """``id`` is the page on www, and nothing on m; clusters of all URLs of the site know no such difference."""
    return lines(
        *((f"http://www.xyz.com/{n % 3}?id={n}&x={x}", 100 + n) for n in range(12) for x in (1, 2)),
        *((f"http://m.xyz.com/{n % 3}?id={n}", 1) for n in range(24)),
    )


def of_two_spellings() -> list[Observation]:
    return lines(*((f"http://xyz.com/video?file={name}{n}.MPG&s=1", n) for n in range(12) for name in ("news", "NEWS")))


def of_paths() -> list[Observation]:
    return lines(*((f"http://xyz.com/{n}/t{n}-{s}", n) for n in range(12) for s in (1, 2, 3)))


ALONE = {"minimum": 1, "largest_tuple": 1}
PATHS = {"scope": "host", "parts": "query,path", "largest_tuple": 1}
ONE_BIT = {"fingerprint_given_value": 1.1, "value_given_fingerprint": 1.1}


@pytest.mark.parametrize(
    ("rows", "options", "one", "other", "equal"),
    [
        (values_and_pages("ABCD", 1, 1, 1, 1), ALONE, "a.com/v?v=x&n=1", "a.com/v?v=y&n=1", True),
        (values_and_pages("AAAA", 1, 3, 2, 4), ALONE, "a.com/v?v=x&n=1", "a.com/v?v=y&n=1", True),
        (values_and_pages("ABAB", 1, 1, 2, 2), ALONE, "a.com/v?v=x&n=1", "a.com/v?v=y&n=1", True),
        (values_and_pages("ACBD", 1, 3, 2, 4), ALONE, "a.com/v?v=x&n=1", "a.com/v?v=y&n=1", False),
        # Thresholds are bits: both entropies of Table 3 are one.
        (values_and_pages("ABAB", 1, 1, 2, 2), ALONE | ONE_BIT, "a.com/v?v=x&n=1", "a.com/v?v=y&n=1", False),
        (of_two_parameters(), {"minimum": 1}, "xyz.com/v?path=0&file=0", "xyz.com/v?path=1&file=1", False),
        (of_two_parameters(), ALONE, "xyz.com/v?path=0&file=0", "xyz.com/v?path=1&file=1", True),
        # Three ways out of a conflict.
        (conflicting(), {}, "xyz.com/c?id=77", "xyz.com/c?id=78", True),
        (conflicting(), {}, "xyz.com/a?id=77", "xyz.com/a?id=78", False),
        (conflicting(), {"conflict": "relevant-anywhere"}, "xyz.com/c?id=77", "xyz.com/c?id=78", False),
        (conflicting(), {"conflict": "ratio", "ratio": 1}, "xyz.com/c?id=77", "xyz.com/c?id=78", False),
        (conflicting(), {"conflict": "ratio", "ratio": 2}, "xyz.com/c?id=77", "xyz.com/c?id=78", True),
        (conflicting(), {"conflict": "ratio", "ratio": 2}, "xyz.com/a?id=77", "xyz.com/a?id=78", True),
        # Clusters of hosts have rules of their own.
        (of_two_hosts(), {"scope": "host"}, "www.xyz.com/1?id=77", "www.xyz.com/1?id=78", False),
        (of_two_hosts(), {"scope": "host"}, "m.xyz.com/1?id=77", "m.xyz.com/1?id=78", True),
        (of_two_hosts(), {"scope": "host"}, "www.xyz.com/1?id=77&x=1", "www.xyz.com/1?id=77&x=2", True),
        (of_two_hosts(), {"scope": "any"}, "www.xyz.com/1?id=77", "www.xyz.com/1?id=78", True),
        # Case, parts of URLs, and names.
        (
            of_two_spellings(),
            {"value_given_fingerprint": 1.5},
            "xyz.com/video?file=News1.mpg",
            "xyz.com/video?file=news1.mpg",
            True,
        ),
        (
            of_two_spellings(),
            {"value_given_fingerprint": 1.5, "case": 0},
            "xyz.com/video?file=News1.mpg",
            "xyz.com/video?file=news1.mpg",
            False,
        ),
        (of_paths(), PATHS, "xyz.com/7/a", "xyz.com/7/b", True),
        (of_paths(), {**PATHS, "relevant": "path.1"}, "xyz.com/7/a", "xyz.com/7/b", False),
    ],
)
def test_entropy_options(rows: list[Observation], options: dict[str, Any], one: str, other: str, equal: bool) -> None:
    book = learn_rules(rows, method="entropy", options=options)
    assert book.equivalent(f"http://{one}", f"http://{other}") is equal


def test_pattern_tree_two_formations_become_one() -> None:
    """Figure 4: archiveN/display?pageid=P is archiveM/P/display?sid=S."""
    book = learn_rules(archive(), method="pattern-tree")
    one, other = "http://www.example.com/archive2/display?pageid=12", "http://www.example.com/archive0/12/display?sid=5"
    assert book.equivalent(one, other)
    assert not book.equivalent(one, other.replace("12", "13"))


def wrong_for_some() -> list[Observation]:
    """``ref`` says nothing, but for one page in eight."""
    return [
        seen(f"http://example.com/item?id={n}&ref={ref}", f"{n} {ref if n % 8 == 0 else ''}")
        for n in range(80)
        for ref in range(4)
    ]


@pytest.mark.parametrize(("fpr_max", "equal"), [("0.5", True), (0.0, False)])
def test_pattern_tree_the_filter_is_a_rate_of_pairs(fpr_max: Any, equal: bool) -> None:
    """Each eighth page shows something else under each value."""
    book = learn_rules(wrong_for_some(), method="pattern-tree", options={"fpr_max": fpr_max})
    assert book.equivalent("http://example.com/item?id=3&ref=0", "http://example.com/item?id=3&ref=2") is equal


@pytest.mark.parametrize("selection", ["graph", "naive", "naive by fpr"])
def test_pattern_tree_each_selection(selection: str) -> None:
    rows = [seen(f"http://example.com/item?id={n}&sid={n * 7 + v}", n) for n in range(30) for v in range(3)]
    book = learn_rules(rows, method="pattern-tree", options={"selection": selection})
    assert book.equivalent("http://example.com/item?id=77&sid=1", "http://example.com/item?id=77&sid=2")


# What is written says what the method decides, and no more


def nested_sites() -> list[Observation]:
    """Optional parameters, directories that differ, suffixes and slashes: many formations."""
    rows = []
    for n in range(60):
        rows += [
            seen(f"http://e.com/{'abc'[n % 3]}/item{n}.html{junk}", n) for junk in ("", f"?s={n * 7}", f"?s={n}&r=x")
        ]
        rows += [seen(f"http://e.com/list/{'abc'[n % 3]}/?page={n % 5}&v={v}", f"{n % 3} {n % 5}") for v in (n, n + 1)]
        rows.append(seen(f"http://e.com/old/story?id={n}&x={n % 2}", n))
    return rows


VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("entropy", {}),
    ("entropy", {"scope": "host", "parts": "query,path,host"}),
    ("equivalence", {}),
    ("equivalence", {"fold_case": True, "representative": "ends"}),
    ("pattern-tree", {}),
    ("pattern-tree", {"selection": "naive"}),
]


@pytest.mark.parametrize(("method", "options"), VARIANTS)
@pytest.mark.parametrize("made", [articles, archive, nested_sites, conflicting, wrong_for_some])
def test_rule_files_merge_nothing_that_the_method_keeps_apart(
    made: Callable[[], list[Observation]], method: str, options: dict[str, Any]
) -> None:
    rows = made()
    policy = policy_of(method, options)
    assert policy is not None
    ((site, observed),) = observations_by_site(rows, None)[0].items()  # in the order in which they are learned
    decision = policy.decide(SiteUrls.of(site, clusters(observed), None))
    book = learn_rules(rows, method=method, options=options)
    by_key: dict[str, set[str]] = {}
    for row in rows:
        by_key.setdefault(book.canonical_key(row.url), set()).add(decision.canonical(row.url))
    assert all(len(own) == 1 for own in by_key.values())
    own_keys = {decision.canonical(row.url) for row in rows}
    removed, by_files = len(rows) - len(own_keys), len(rows) - len(by_key)
    assert by_files >= 0.9 * removed, "and hardly less than the method"


def test_a_method_that_finds_nothing_says_so_in_its_own_words() -> None:
    (note,) = reports(wrong_for_some(), "equivalence")
    assert note == "decided by the method equivalence alone: 1 candidate, 0 passed its test, 0 act"


# The life of its rules


def test_what_decided_stands_in_the_rule_file(tmp_path: Path) -> None:
    learned = learn(articles(), LearningOptions(policy=policy_of("equivalence")))
    save(LearnedRulesAndMasks(learned), tmp_path)
    text = (tmp_path / "informationweek.com.toml").read_text()
    assert 'method = "equivalence"' in text
    (rule,) = RuleBook.load(tmp_path)
    assert rule.status is Status.ACTIVE
    assert rule.evidence is not None
    assert (rule.evidence.method, rule.evidence.learners) == ("equivalence", ("equivalence",))
    assert rule.evidence.groups == 12


def test_a_rule_without_a_witness_group_acts(tmp_path: Path) -> None:
    """Table 2, a constant: its document calls it irrelevant, on no evidence at all."""
    rows = lines(*((f"http://a.com/v?v=A&n={n}", n) for n in range(24)))
    learned = learn(rows, LearningOptions(policy=policy_of("entropy", {"largest_tuple": 1})))
    save(LearnedRulesAndMasks(learned), tmp_path)
    (rule,) = RuleBook.load(tmp_path)
    assert (rule.ops, rule.status.acts) == ({"q.v": Ignore()}, True)


def test_rules_of_the_judge_leave_and_those_of_the_user_stay(tmp_path: Path) -> None:
    rows = articles()
    by_hand = Rule("informationweek.com", {}, {"q.mine": Ignore()}, Status.MANUAL)
    off = Rule("informationweek.com", {}, {"q.kept": Keep()}, Status.OFF)
    before = learn(rows, known=RuleBook([by_hand, off]))
    save(LearnedRulesAndMasks(before), tmp_path)
    (old,) = (rule for rule in before.book if rule.status is Status.ACTIVE)
    book = RuleBook([*before.book])
    learned = learn(rows, LearningOptions(policy=policy_of("pattern-tree")), known=book)
    assert [(each.rule.id, each.reason) for each in learned.departures] == [(old.id, Reason.METHOD)]
    assert str(learned.departures[0]).endswith(": the method that decides now does not make it")
    assert {by_hand.id, off.id} < {rule.id for rule in learned.book}
    again = learn(rows, LearningOptions(policy=policy_of("pattern-tree")), known=learned.book)
    assert (again.book, again.departures) == (learned.book, ())


def test_what_is_suspended_or_off_is_not_decided_back() -> None:
    rows = articles()
    (rule,) = learn_rules(rows, method="equivalence")
    for status in (Status.SUSPENDED, Status.OFF):
        known = RuleBook([Rule(rule.site, rule.match, rule.ops, status, rule.evidence)])
        assert [each.status for each in learn_rules(rows, known=known, method="equivalence")] == [status]


def test_the_judge_keeps_what_a_method_decided_until_something_speaks_against_it() -> None:
    rows = articles()
    book = learn_rules(rows, method="equivalence")
    assert {rule.id for rule in book} <= {rule.id for rule in learn_rules(rows, known=book)}


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_observations_makes_no_difference(method: str) -> None:
    rows = nested_sites()
    one, other = (learn_rules(some, method=method) for some in (rows, rows[::-1]))
    assert {rule.id for rule in one} == {rule.id for rule in other} != set()


@pytest.mark.parametrize("method", METHODS)
def test_nothing_and_odd_input_give_no_rules(method: str) -> None:
    assert not learn_rules([], method=method)
    odd = [
        seen(url, n)
        for n, url in enumerate(("http://a.example/", "http://a.example/%", "http://a.example//?&&=;", "x"))
    ]
    same = [
        seen(f"http://b.example/{text}", 1) for text in ("?", "?a", "?=", "?a=1&a=2", "a;b;c=1/?x;y", "k=v/", "a//b.")
    ]
    learn_rules([*odd, *same], method=method)


# Options


def test_options_as_a_dataclass_a_dict_and_texts() -> None:
    assert policy_of("judge") is None
    one = MethodPolicy("equivalence", EquivalenceOptions(min_urls=3, fold_case=True))
    assert policy_of("equivalence", {"min_urls": 3, "fold_case": True}) == one
    assert policy_of("equivalence", {"min_urls": "3", "fold_case": "true"}) == one
    assert policy_of("equivalence", EquivalenceOptions(min_urls=3, fold_case=True)) == one
    assert len(learn_rules(articles(), method="equivalence", options=EquivalenceOptions(min_urls=3))) == 1


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("odd", {}, "there is no method 'odd'; there are judge, entropy, equivalence, pattern-tree"),
        ("judge", {"min_urls": 1}, "the method judge has no options; entropy, equivalence, pattern-tree have"),
        ("equivalence", {"minimum": 1}, "the method equivalence has no option 'minimum'; it has min_urls, "),
        ("equivalence", {"min_urls": 1.5}, "min_urls is 1.5: it must be a whole number of at least 0"),
        ("equivalence", {"min_urls": True}, "min_urls is True: it must be a whole number of at least 0"),
        ("equivalence", {"window_days": "soon"}, "window_days is 'soon': it must be a number of at least 0, or none"),
        ("equivalence", {"fold_case": "maybe"}, "fold_case is 'maybe': it must be one of true, false"),
        ("entropy", {"scope": "path"}, "scope is 'path': it must be one of host/path, host, domain, any"),
        ("entropy", {"ratio": "nan"}, "ratio is 'nan': it must be a number of at least 0"),
        ("entropy", {"parts": ""}, "parts is '': it must be some of query, path, host, parted by commas"),
        ("entropy", {"relevant": 3}, "relevant is 3: it must be names, parted by commas"),
        ("pattern-tree", {"fpr_max": 2}, "fpr_max is 2: it must be a number from 0 to 1"),
        ("pattern-tree", {"selection": "best"}, "selection is 'best': it must be one of graph, naive, naive by fpr"),
        ("pattern-tree", {"min_overlap": "much"}, "min_overlap is 'much': it must be a number from 0 to 1"),
        ("pattern-tree", {"evaluation": "everything"}, "the method pattern-tree has no option 'evaluation'; "),
        ("entropy", EquivalenceOptions(), "it must be a dict, or EntropyOptions"),
        ("entropy", ["scope"], "options is ['scope']: it must be a dict, or EntropyOptions"),
    ],
)
def test_a_wrong_option_is_one_line_that_says_what_is_right(method: str, options: Any, message: str) -> None:
    with pytest.raises(WrongOption) as raised:
        learn_rules([], method=method, options=options)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("method", METHODS)
def test_every_option_is_described_and_read_as_it_is_described(method: str) -> None:
    defaults: MethodOptions = options_of(method, {})
    for name, right, default, text in described(method):
        assert right
        assert text
        read = options_of(method, {name: "" if default == "none" and "," in right else default})
        assert read == defaults
