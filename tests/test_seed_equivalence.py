"""The examples of "url-normalization-rule-inference", whole, each by its place in the document.

The document is a scan; letters that it garbles are set by sense (``I`` for ``1``, ``1SIN`` for ``ASIN``,
``puid`` for ``guid``, the slash that ends the Amazon URLs printed as ``1``).
"""

from collections import Counter
from itertools import product
from random import Random

import pytest

from scrapy_dedup import Observation, learn_rules
from scrapy_dedup.learning.data.clusters import clusters
from scrapy_dedup.learning.methods.equivalence import Index, Observed, inferred, outcomes, within_window
from scrapy_dedup.learning.methods.options import EquivalenceOptions
from scrapy_dedup.learning.methods.rewriting import (
    Fixed,
    Method,
    VariableKind,
    by_intersection,
    by_prefix_and_suffix,
    kind_of,
)
from scrapy_dedup.learning.methods.shingles import near_identical
from scrapy_dedup.pages.versions import Version

from .rewrite_rules import class_rules, representative, shared

# -- Background, and FIG. 1, step 110: the sixteen URLs of one page

GUID = "%7B5D426EE8%2DBB62%2D457C%2DA82E%2D05EE3F6F16C8%7D"
OPTIONAL = ("source=blq/yhoo&", "siteid=yhoo&", "dist=yhoo&")


def marketwatch(guid: str) -> list[str]:
    """All sixteen URLs of a page."""
    found = []
    for brand, *chosen in product(("yhoo/", ""), *((part, "") for part in OPTIONAL)):
        found.append(f"http://www.marketwatch.com/news/{brand}story.asp?{''.join(chosen)}guid={guid}")
    return found


def test_background_the_sixteen_urls() -> None:
    urls = marketwatch(GUID)
    assert len(set(urls)) == 16
    assert urls[0] == (
        f"http://www.marketwatch.com/news/yhoo/story.asp?source=blq/yhoo&siteid=yhoo&dist=yhoo&guid={GUID}"
    )
    assert urls[-1] == f"http://www.marketwatch.com/news/story.asp?guid={GUID}"


def test_step_110_what_identifies_the_page() -> None:
    urls = marketwatch(GUID)
    assert shared(urls) == Counter({"news": 1, "story.asp": 1, f"guid={GUID}": 1})
    assert representative(urls) == f"http://www.marketwatch.com/news/story.asp?guid={GUID}"


def test_step_110_every_url_is_rewritten_to_the_one() -> None:
    urls = marketwatch(GUID)
    rules = class_rules(urls)
    assert len(rules) == 15
    for url in urls[:-1]:
        assert {rule.rewrite(url) for rule in rules} - {None} == {urls[-1]}
    texts = {str(rule) for rule in rules}
    assert (
        f"http://www.marketwatch.com/news/yhoo/story.asp?siteid=*&guid={GUID}"
        f" -> http://www.marketwatch.com/news/story.asp?guid={GUID}" in texts
    )
    assert not any("/yahoo/" in text for text in texts)


def test_step_120_many_urls_of_a_site_follow_the_pattern() -> None:
    pages = [GUID.replace("6C8", f"{number:03X}") for number in range(20)]
    seen = [Observed(url, number) for number, guid in enumerate(pages) for url in marketwatch(guid)]
    found = inferred(seen)
    assert len(found.active) == 15
    assert not found.refuted
    unseen = marketwatch("%7B00000000%2D0000%2D0000%2D0000%2D000000000000%7D")
    assert {found.normalized(url) for url in unseen} == {unseen[-1]}


# -- Detailed description, steps (a) to (d)

SESSION = (
    "http://www.informationweek.com/showArticle.jhtml;jsessionid=05YISK4QOPJQCQSNDBCCKHOCJUMEKJVN?articleID=60401364"
)
TOPIC = "http://www.informationweek.com/showArticle.jhtml?articleID=60401364&tid=5999"
ARTICLE = "http://www.informationweek.com/showArticle.jhtml?articleID=60401364"


@pytest.mark.parametrize(
    ("urls", "segments"),
    [
        ([SESSION], ["showArticle.jhtml", "jsessionid=05YISK4QOPJQCQSNDBCCKHOCJUMEKJVN", "articleID=60401364"]),
        ([TOPIC], ["showArticle.jhtml", "articleID=60401364", "tid=5999"]),
        ([SESSION, TOPIC], ["showArticle.jhtml", "articleID=60401364"]),
    ],
)
def test_steps_a_and_b_segment_multisets_and_their_intersection(urls: list[str], segments: list[str]) -> None:
    assert shared(urls) == Counter(segments)


def test_step_b_normalized_url() -> None:
    assert representative([SESSION, TOPIC]) == ARTICLE


def test_step_b_order_of_the_shortest_url() -> None:
    urls = ["http://a.example/x?b=2&a=1&longer=yes", "http://a.example/x?c=3&a=1&b=2"]
    assert representative(urls) == "http://a.example/x?a=1&b=2"


def test_step_c_rewrite_rules() -> None:
    assert [str(rule) for rule in class_rules([SESSION, TOPIC])] == [
        f"http://www.informationweek.com/showArticle.jhtml;jsessionid=*?articleID=60401364 -> {ARTICLE}",
        f"http://www.informationweek.com/showArticle.jhtml?articleID=60401364&tid=* -> {ARTICLE}",
    ]


def informationweek(article: int) -> list[str]:
    page = f"http://www.informationweek.com/showArticle.jhtml?articleID={article}"
    return [page.replace("?", f";jsessionid={article * 7:X}?"), f"{page}&tid={article % 6000}"]


def test_step_d_parameterized_over_classes() -> None:
    """Another class with a similar canonical URL, but a different articleID, makes it a variable."""
    seen = [Observed(SESSION, 0), Observed(TOPIC, 0)]
    seen += [Observed(url, 1) for url in informationweek(60401999)]
    found = inferred(seen, EquivalenceOptions(min_urls=3))
    page = "http://www.informationweek.com/showArticle.jhtml"
    assert [str(rule) for rule in found.active] == [
        f"{page};jsessionid=*?articleID=a -> {page}?articleID=a",
        f"{page}?articleID=a&tid=* -> {page}?articleID=a",
    ]
    unseen = informationweek(17)
    assert {found.normalized(url) for url in unseen} == {
        "http://www.informationweek.com/showArticle.jhtml?articleID=17"
    }


def test_step_d_a_rule_of_one_class_serves_the_similar_ones() -> None:
    """Similarity is one of right sides: a topic id met in one class only is dropped in all."""
    seen = [Observed(SESSION, 0), Observed(TOPIC, 0), Observed(ARTICLE.replace("60401364", "7"), 1)]
    seen += [Observed(ARTICLE.replace("?", f";jsessionid={n}?").replace("60401364", "7"), 1) for n in range(3)]
    rules = inferred(seen, EquivalenceOptions(min_urls=1)).active
    (topic,) = [rule for rule in rules if "tid" in str(rule)]
    assert topic.rewrite(TOPIC.replace("60401364", "7")) == ARTICLE.replace("60401364", "7")


def test_other_heuristics_case_insensitive_segments() -> None:
    urls = [f"http://a.example/{name}?id=7" for name in ("Show.asp", "show.asp", "SHOW.ASP")]
    assert representative(urls) == "http://a.example/?id=7".replace("/?", "?"), "without the heuristic"
    assert representative(urls, fold_case=True) == "http://a.example/show.asp?id=7"
    seen = [Observed(url.replace("7", str(number)), number) for number in range(10, 20) for url in urls]
    found = inferred(seen, EquivalenceOptions(fold_case=True))
    assert [str(rule) for rule in found.active] == [
        "http://a.example/lower(show.asp)?id=a -> http://a.example/lower(show.asp)?id=a"
    ]
    assert found.normalized("http://a.example/sHOW.asp?id=99") == "http://a.example/show.asp?id=99"


# -- The embodiment with shared prefixes and suffixes

AMAZON = "http://www.amazon.fr:80/exec/obidos/ASIN/"
TWO = [
    AMAZON + "2011679095/qid=1038378294/br=1-13/ref=br_lf_b_12/",
    AMAZON + "2011679095/ref=br_lf_b_12/",
]
SIX = [
    AMAZON + "270960681X/qid=1038383073/sr=1-12/ref=sr_1_3_12/",
    AMAZON + "270960681X/qid=1038383104/sr=1-12/ref=sr_1_3_12/",
    AMAZON + "270960681X/qid=1038383420/br=1-12/ref=br_lf_b_11/",
    AMAZON + "270960681X/qid=1038383490/br=1-12/ref=br_lf_b_11/",
    AMAZON + "270960681X/qid=1038383596/sr=1-10/ref=sr_1_2_10/",
    AMAZON + "270960681X/ref=br_lf_b_11/",
]


@pytest.mark.parametrize("method", [by_intersection, by_prefix_and_suffix])
# The document omits ``qid=1038378294/`` and forgets ``br=1-13/``, which the second of two lacks, too.
@pytest.mark.parametrize(("urls", "one"), [(TWO, TWO[1]), (SIX, AMAZON + "270960681X/")])
def test_prefixes_all_become_one(method: Method, urls: list[str], one: str) -> None:
    assert representative(urls, method) == one


def test_prefixes_multisets_of_fields() -> None:
    assert shared(SIX) == Counter(["exec", "obidos", "ASIN", "270960681X", ""])


def amazon(number: int) -> list[str]:
    """The six URLs, of another book."""
    asin = f"27096{number:05d}"
    return [url.replace("270960681X", asin).replace("qid=10383", f"qid={20000 + number}") for url in SIX]


def test_prefixes_learned_for_the_whole_site() -> None:
    """``ASIN/some-number`` is a page; qid=some-number and ref=some-string have no influence."""
    seen = [Observed(url, 0) for url in SIX]
    seen += [Observed(url, number) for number in range(1, 20) for url in amazon(number)]
    found = inferred(seen)
    assert {str(rule) for rule in found.active} == {
        f"{AMAZON}a/qid=*/sr=*/ref=*/ -> {AMAZON}a/",
        f"{AMAZON}a/qid=*/br=*/ref=*/ -> {AMAZON}a/",
        f"{AMAZON}a/ref=*/ -> {AMAZON}a/",
    }
    for rule in found.active:
        kinds = {key: slot for key, slot in zip(rule.form.keys, rule.slots, strict=True) if not isinstance(slot, Fixed)}
        assert kinds["/ref"].kind is VariableKind.STRING
        assert kinds.get("/qid") is None or kinds["/qid"].kind is VariableKind.NUMBER
        assert [slot.kind for slot in kinds.values() if slot.name != "*"] == [VariableKind.NUMBER]
    assert found.normalized(AMAZON + "2011679095/qid=1038378294/br=1-13/ref=br_lf_b_12/") == AMAZON + "2011679095/"


def test_typed_variables() -> None:
    assert kind_of(["1038383073", "270960681X"]) is VariableKind.NUMBER
    assert kind_of(["1038383073", "sr_1_3_12"]) is VariableKind.STRING
    assert (str(VariableKind.NUMBER), str(VariableKind.STRING)) == ("some-number", "some-string")


# -- FIG. 1, step 130; FIG. 2, steps 250 and 260: testing, validation


def pages_with_sessions(pages: int, urls: int) -> list[Observed]:
    return [
        Observed(f"http://a.example/view;jsessionid={page * 100 + n}?id={page}", page)
        for page in range(pages)
        for n in range(urls)
    ]


@pytest.mark.parametrize(
    ("odd", "urls", "bad", "active"),
    [
        (None, 200, 0, True),
        # A single counterexample rejects.
        ("http://a.example/view;jsessionid=999999?id=7", 196, 1, False),
        # What is no number is nothing that a rule with ``some-number`` speaks of, for it or against it.
        ("http://a.example/view;jsessionid=new?id=7", 200, 0, True),
    ],
)
def test_steps_130_and_250_the_test_of_a_rule(odd: str | None, urls: int, bad: int, active: bool) -> None:
    seen = pages_with_sessions(pages=50, urls=4)
    found = inferred([*seen, *([Observed(odd, 1000)] if odd else [])])
    (test,) = found.rules
    assert (test.urls, test.bad) == (urls, bad)
    assert test.activates(urls - 1) is active
    assert not test.activates(urls), "more than the threshold, says the document"
    of_number, of_text = (f"http://a.example/view;jsessionid={session}?id=7" for session in ("1", "x"))
    assert found.normalized(of_number) == ("http://a.example/view?id=7" if active else of_number)
    assert found.normalized(of_text) == of_text


def test_step_250_a_bounded_interval_of_time() -> None:
    """Naming schemes change: what contradicts a rule may be too old to count."""
    old = Observed("http://a.example/view;jsessionid=999999?id=7", 1000, time=100.0)
    new = [Observed(row.url, row.content, time=5000.0 + n) for n, row in enumerate(pages_with_sessions(20, 3))]
    assert not inferred([old, *new]).active
    assert len(inferred([old, *new], EquivalenceOptions(window_days=1000 / 86_400)).active) == 1
    timeless = Observed(old.url, old.content)
    assert timeless in within_window([timeless, *new], 1 / 86_400)


def test_claim_8_rules_of_single_classes_are_tested_first() -> None:
    """A chance class (two pages without hits) gives no variable to a rule that holds elsewhere."""
    sound = pages_with_sessions(10, 3)
    chance = [
        Observed("http://a.example/find?q=axolotl&page=1", 500),
        Observed("http://a.example/find?q=axolotl&page=2", 500),
    ]
    other = [
        Observed(f"http://a.example/find?q={word}&page={n}", 600 + 10 * i + n)
        for i, word in enumerate("abc")
        for n in (1, 2)
    ]
    contradicting = Observed("http://a.example/find?q=axolotl&page=3", 700)
    found = inferred([*sound, *chance, *other, contradicting])
    assert [str(rule) for rule in found.refuted] == [
        "http://a.example/find?q=axolotl&page=* -> http://a.example/find?q=axolotl"
    ]
    assert len(found.active) == 1


def test_claim_4_the_rule_over_classes_is_tested_over_all_of_them() -> None:
    """What two classes share is refuted by the pages that only differ in what it drops."""
    same = [Observed(f"http://a.example/list?id={i}&page={n}", i) for i in range(2) for n in (1, 2)]
    different = [Observed(f"http://a.example/list?id={i}&page={n}", 10 * i + n) for i in range(2, 9) for n in (1, 2)]
    assert len(inferred(same, EquivalenceOptions(min_urls=2)).active) == 1
    (test,) = inferred([*same, *different], EquivalenceOptions(min_urls=2)).rules
    assert not test.activates(2)
    assert test.bad == 7


def test_background_rules_are_per_web_server() -> None:
    seen = pages_with_sessions(10, 3)
    seen += [Observed(row.url.replace("a.example", "b.example"), -1 - n) for n, row in enumerate(seen)]
    found = inferred(seen)
    assert found.normalized("http://a.example/view;jsessionid=1?id=3") == "http://a.example/view?id=3"
    assert found.normalized("http://b.example/view;jsessionid=1?id=3") == "http://b.example/view;jsessionid=1?id=3"


def test_a_rule_applied_by_itself() -> None:
    (rule,) = class_rules([ARTICLE, TOPIC])
    assert rule.rewrite(TOPIC) == ARTICLE
    assert rule.rewrite(TOPIC + "#comments") == ARTICLE
    assert rule.rewrite(TOPIC.replace("5999", "1")) == ARTICLE
    for other in (ARTICLE, SESSION, TOPIC.replace("60401364", "7"), TOPIC.replace("http:", "https:"), ""):
        assert rule.rewrite(other) is None
    for content, urls, bad in ((1, 2, 0), (2, 0, 1)):
        (test,) = outcomes([rule], Index([Observed(TOPIC, 1), Observed(ARTICLE, content)]))
        assert (test.urls, test.bad) == (urls, bad)


# -- FIG. 2, steps 200 to 260: the whole method, from pages to rules


def downloaded(clock: bool) -> list[Observation]:
    """Return twelve articles of 300 words under three sessions each; with a *clock* no two downloads are the same."""
    found = []
    for number in range(12):
        rng = Random(number)
        words = [f"word{rng.randrange(10**6)}" for _ in range(300)]
        for visit in range(3):
            text = " ".join([*words, f"clock{number}-{visit}"] if clock else words)
            url = f"http://a.example/view;jsessionid={number * 7 + visit}?id={number}"
            found.append(Observation(url, text, words=300, version=Version((("html/body/p", "", text),)), time=1e9))
    return found


@pytest.mark.parametrize(
    ("pages", "clock", "rules"),
    [
        ("text", False, 1),
        ("text", True, 0),
        ("rare words", False, 1),
        ("rare words", True, 0),
        ("shingles", False, 1),
        ("shingles", True, 1),
    ],
)
def test_steps_200_to_260_from_pages_to_rules(pages: str, clock: bool, rules: int) -> None:
    """Pages that are nearly the same are told by shingles."""
    book = learn_rules(downloaded(clock), method="equivalence", options={"pages": pages})
    assert len(book) == rules
    if rules:
        assert book.canonical_key("http://a.example/view;jsessionid=9?id=77") == "http://a.example/view?id=77"


def test_step_200_pages_of_different_servers_are_in_different_classes() -> None:
    text = " ".join(f"word{number}" for number in range(300))
    seen = [
        Observation(
            f"http://{host}.example.com/", f"{text} {host}", words=300, version=Version((("p", "", text),)), time=1e9
        )
        for host in "ab"
    ]
    found = clusters(seen)
    assert near_identical(found, seen) == found
