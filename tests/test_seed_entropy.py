"""The examples of url-parameter-relevance, named after its sections; entropies in bits."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup import RuleBook
from scrapy_dedup.learning.asking.probe_outcomes import Strength, head_fingerprint
from scrapy_dedup.learning.methods.entropy import (
    DOCUMENT_NAMES,
    PARTS,
    FingerprintedUrl,
    HostRules,
    Information,
    ParameterRule,
    Relevance,
    analysed,
    case_information,
    clusters,
    columns,
    conditional_entropy,
    entropy,
    host_rules,
    information,
    keys_inside,
    proposals_of,
    relevance,
    relevant_tuples,
    settled_keys,
)
from scrapy_dedup.learning.methods.options import EntropyOptions
from scrapy_dedup.learning.opinions.other_sites import Priors, learned_priors
from scrapy_dedup.learning.proposals.combining import rules_of
from scrapy_dedup.rules import Ignore, Lower, Nested, Rule, Status
from scrapy_dedup.urls import normal_form

ACCEPT, IGNORE = Relevance.ACCEPT, Relevance.IGNORE


def pages(*rows: tuple[str, object]) -> list[FingerprintedUrl]:
    return [FingerprintedUrl(url, str(fingerprint)) for url, fingerprint in rows]


def book(*sites: tuple[str, HostRules]) -> RuleBook:
    return RuleBook([rule for site, rules in sites for rule in rules_of(site, proposals_of(rules))])


def ignoring(*keys: str) -> HostRules:
    return HostRules({key: ParameterRule(key, IGNORE) for key in keys})


# Equations (9) to (11), Tables 1 to 4


@pytest.mark.parametrize(
    ("values", "fingerprints", "of_value", "of_fingerprint", "relevant"),
    [
        ("ABCD", [1, 1, 1, 1], 2, 0, IGNORE),
        # The document prints H(V|F) = 2 and H(F|V) = 0 in Table 2, which are those of Case 1: by (9) it is the reverse.
        ("AAAA", [1, 3, 2, 4], 0, 2, IGNORE),
        ("ABAB", [1, 1, 2, 2], 1, 1, IGNORE),
        ("ACBD", [1, 3, 2, 4], 0, 0, ACCEPT),
    ],
    ids=["Table 1", "Table 2", "Table 3", "Table 4"],
)
def test_tables_1_to_4_at_thresholds_of_half_a_bit(
    values: str, fingerprints: list[int], of_value: float, of_fingerprint: float, relevant: Relevance
) -> None:
    found = information(values, fingerprints)
    assert (found.value_given_fingerprint, found.fingerprint_given_value) == (of_value, of_fingerprint)
    assert relevance(found, EntropyOptions()) is relevant


def test_relevant_means_below_the_threshold_not_at_it() -> None:
    assert relevance(Information(1.0, 0.0), EntropyOptions(fingerprint_given_value=1.0)) is IGNORE
    assert relevance(Information(1.0, 0.0), EntropyOptions(fingerprint_given_value=1.1)) is ACCEPT


def test_relative_thresholds_mean_the_same_on_small_and_large_sites() -> None:
    """Each page seen twice under each of two values of ref: half of what can be known of V is open."""
    in_bits, relative = (EntropyOptions(value_given_fingerprint=1.1, relative=relative) for relative in (False, True))
    for size in (4, 400):
        numbers = [number for number in range(size) for _ in range(2)]
        some_noise = [number if number % 4 else -1 for number in numbers]
        found = information(numbers, some_noise)
        assert relevance(found, relative) is ACCEPT
        assert relevance(found, in_bits) is (ACCEPT if size == 4 else IGNORE)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40))
def test_laws_of_the_conditional_entropy(rows: list[tuple[int, int]]) -> None:
    values, fingerprints = [row[0] for row in rows], [row[1] for row in rows]
    given_values = conditional_entropy(fingerprints, values)
    assert 0 <= given_values <= entropy(fingerprints) + 1e-9
    assert entropy(values) + given_values == pytest.approx(entropy(rows))
    assert conditional_entropy(values, values) == 0


def test_entropies_of_nothing_are_zero_and_odd_numbers_are_refused() -> None:
    assert information([], []) == Information(0, 0, 0, 0)
    with pytest.raises(ValueError, match="longer"):
        information("ab", [1])


def test_the_marker_of_an_unused_parameter() -> None:
    """URLs (7) and (8): one of them lacks junk."""
    both = pages(("http://xyz.com/video?junk=123&file=news.mpeg", 1), ("http://xyz.com/video?file=news.mpeg", 1))
    assert columns(both) == {"q.file": ["news.mpeg", "news.mpeg"], "q.junk": ["123", None]}
    assert analysed(both)["q.junk"].relevance is IGNORE


def test_an_empty_value_is_not_an_unused_one() -> None:
    assert columns(pages(("http://a.com/?x=", 1), ("http://a.com/?y=1", 2)))["q.x"] == ["", None]


# Equations (4) to (6): parameters in alphabetical order


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://xyz.com/video?z=1&m=2&a=3", "http://xyz.com/video?a=3&m=2&z=1"),
        # Printed as ?m=2&z=3&z=1, from which no a=3 can come.
        ("http://xyz.com/video?m=2&a=3&z=1", "http://xyz.com/video?a=3&m=2&z=1"),
        ("http://xyz.com/video?z=1&q=4&a=3", "http://xyz.com/video?a=3&q=4&z=1"),
    ],
)
def test_equations_4_to_6(url: str, canonical: str) -> None:
    assert normal_form(url) == canonical


def test_urls_1_to_3_are_one_page() -> None:
    rules = host_rules(
        pages(
            ("http://xyz.com/content/video?file=news20080115&player=small", 1),
            ("http://xyz.com/content/video?player=small&file=news20080115", 1),
            ("http://xyz.com/content/video?player=small&file=news20080115&irrelevantparam=1", 1),
            ("http://xyz.com/content/video?player=small&file=news20080116&irrelevantparam=2", 2),
        ),
        EntropyOptions(minimum=1),
    )
    assert rules.everywhere["q.irrelevantparam"].relevance is IGNORE
    assert rules.everywhere["q.file"].relevance is ACCEPT
    keys = book(("xyz.com", rules))
    assert keys.equivalent(
        "http://xyz.com/content/video?file=news20080115&player=small",
        "http://xyz.com/content/video?player=small&file=news20080115&irrelevantparam=1",
    )


def test_unescaping() -> None:
    assert normal_form("http://xyz.com/a%7eb?q=a%20b&r=%61") == normal_form("http://xyz.com/a~b?q=a+b&r=a")


# Clusters, minimum size, merging, conflicts, manual rules


def test_clusters_by_host_and_path_host_domain_and_any() -> None:
    seen = pages(
        ("http://a.site.com/x?i=1", 1),
        ("http://a.site.com/y?i=1", 2),
        ("http://b.site.com/x?i=1", 3),
        ("http://c.com/x", 4),
    )
    assert {scope: sorted(clusters(seen, scope, minimum=1)) for scope in ("host/path", "host", "domain", "any")} == {
        "host/path": ["a.site.com/x", "a.site.com/y", "b.site.com/x", "c.com/x"],
        "host": ["a.site.com", "b.site.com", "c.com"],
        "domain": ["c.com", "site.com"],
        "any": [""],
    }
    assert sorted(clusters(seen, "host", minimum=2)) == ["a.site.com"]


def sessions(path: str = "view", count: int = 12) -> list[FingerprintedUrl]:
    return pages(*((f"http://h.com/{path}?id={i // 3}&s={path}{i}", f"{path} {i // 3}") for i in range(count)))


def test_no_rules_of_a_cluster_below_the_minimum_size() -> None:
    assert host_rules(sessions(), EntropyOptions(minimum=13)) == HostRules()
    assert host_rules(sessions(), EntropyOptions(minimum=12)).everywhere["q.s"].relevance is IGNORE


def test_a_host_as_one_cluster_needs_no_merging() -> None:
    rules = host_rules([*sessions("a"), *sessions("b")], EntropyOptions("host", minimum=12))
    assert not rules.by_path
    # The same id is another page under the other path: alone it leaves one bit open.
    assert rules.everywhere["q.id"].relevance is IGNORE
    rules = host_rules([*sessions("a"), *sessions("b")], EntropyOptions("host", minimum=12, parts=("query", "path")))
    assert rules.everywhere["q.id"].relevance is ACCEPT


def conflicting() -> list[FingerprintedUrl]:
    """``v`` is the page under /report, and noise under /news and /blog."""
    rows: list[tuple[str, str]] = []
    for i in range(8):
        rows += [(f"http://h.com/report?v={i}", f"report {i}")]
        rows += [(f"http://h.com/{path}?id={i // 2}&v={i}", f"{path} {i // 2}") for path in ("news", "blog")]
    return pages(*rows)


def test_conflict_path_specific() -> None:
    rules = host_rules(conflicting(), EntropyOptions(minimum=8, conflict="path-specific"))
    assert rules.by_path["h.com/report"]["q.v"].relevance is ACCEPT
    assert rules.by_path["h.com/news"]["q.v"].relevance is IGNORE
    keys = book(("h.com", rules))
    assert keys.equivalent("http://h.com/news?id=1&v=2", "http://h.com/news?id=1&v=9")
    assert not keys.equivalent("http://h.com/report?v=2", "http://h.com/report?v=3")
    assert not keys.equivalent("http://h.com/other?v=2", "http://h.com/other?v=3")


@pytest.mark.parametrize(
    ("conflict", "ratio", "relevant"),
    [("ratio", 0.4, ACCEPT), ("ratio", 0.5, IGNORE), ("ratio", 1.0, IGNORE), ("relevant-anywhere", 1.0, ACCEPT)],
)
def test_conflict_by_ratio_and_relevant_anywhere(conflict: str, ratio: float, relevant: Relevance) -> None:
    """Relevant under one path, irrelevant under two: a ratio of one half, at which it is irrelevant."""
    rules = host_rules(conflicting(), EntropyOptions(minimum=8, conflict=conflict, ratio=ratio))
    assert rules.everywhere["q.v"].relevance is relevant


def test_manual_rules_trump() -> None:
    rules = host_rules(sessions(), EntropyOptions(minimum=12, relevant=("s",), irrelevant=("id",)))
    assert rules.everywhere["q.s"].relevance is ACCEPT
    assert rules.everywhere["q.id"].relevance is IGNORE


def test_names_that_are_generally_relevant_or_irrelevant() -> None:
    named = {name: DOCUMENT_NAMES.relevance(f"q.{name}") for name in ("vid", "file", "path", "sessionid", "other")}
    assert named == {"vid": ACCEPT, "file": ACCEPT, "path": ACCEPT, "sessionid": IGNORE, "other": None}


def test_lists_are_all_there_is_for_a_host_too_small_for_rules() -> None:
    few = pages(("http://h.com/?vid=1&SessionId=2&x=3", 1))
    rules = host_rules(few, EntropyOptions(relevant=("vid", "file", "path"), irrelevant=("sessionid",)))
    assert {key: rule.relevance for key, rule in rules.everywhere.items()} == {"q.vid": ACCEPT, "q.SessionId": IGNORE}


# Clusters of any host: priors


def test_priors_are_learned_on_some_sites() -> None:
    learned = [host_rules([FingerprintedUrl(page.url.replace("h.com", f"h{n}.com"), page.fingerprint) for page in sessions()],
                          EntropyOptions(minimum=12)) for n in range(4)]  # fmt: skip
    priors = learned_priors(learned[:2]) + learned_priors(learned[2:])
    assert priors.sites == {"id": (4, 0), "s": (0, 4)}
    assert (priors.relevance("id"), priors.relevance("s")) == (ACCEPT, IGNORE)


def test_priors_of_too_few_or_divided_sites_decide_nothing() -> None:
    priors = Priors({"a": (0, 2), "b": (3, 3), "c": (0, 3), "d": (3, 0)})
    assert priors.relevance("a") is None
    assert priors.relevance("b") is None
    assert (priors.relevance("c"), priors.relevance("d")) == (IGNORE, ACCEPT), "three sites of one mind"


# Equations (12) to (14): nested URLs


def test_equations_12_to_14_nested_urls() -> None:
    nested = HostRules(
        {"q.irrelevant": ParameterRule("q.irrelevant", IGNORE), "q.url": ParameterRule("q.url", ACCEPT, inner=Nested())}
    )
    keys = book(("xyz.com", nested), ("abc.com", ignoring("q.irrelevant2")))
    first = "http://xyz.com/video?irrelevant=1&url=http://abc.com/video?irrelevant2=2"
    second = "http://xyz.com/video?irrelevant=2&url=http://abc.com/video?irrelevant2=3"
    assert (
        keys.canonical_key(first)
        == keys.canonical_key(second)
        == normal_form("http://xyz.com/video?url=http://abc.com/video")
    )


def test_certain_characters_show_a_nested_url() -> None:
    found = analysed(pages(("http://xyz.com/v?url=http://abc.com/a&x=a://b&file=http", 1)))
    assert {key: rule.inner is not None for key, rule in found.items()} == {
        "q.file": False,
        "q.url": True,
        "q.x": False,
    }
    proposed = proposals_of(HostRules({"q.url": ParameterRule("q.url", ACCEPT, inner=Nested())}))
    assert [proposal.operation for proposal in proposed] == [Nested()]


# URLs (15) to (18): tuples

TUPLES = pages(
    ("http://xyz.com/video?path=cats/kittens&file=a.mpg", 15),
    ("http://xyz.com/video?path=cats/kittens&file=b.mpg", 16),
    ("http://xyz.com/video?path=cats/tigers&file=a.mpg", 17),
    ("http://xyz.com/video?path=cats/tigers&file=b.mpg", 18),
)


def test_urls_15_to_18_alone_and_as_a_tuple() -> None:
    """The document says H(V|F) = 1 of each alone; by its formula that is H(F|V), and H(V|F) is 0."""
    found = columns(TUPLES)
    fingerprints = [page.fingerprint for page in TUPLES]
    pairs = list(zip(found["q.path"], found["q.file"], strict=True))
    for values, of_fingerprint in ((found["q.path"], 1), (found["q.file"], 1), (pairs, 0)):
        one = information(values, fingerprints)
        assert (one.fingerprint_given_value, one.value_given_fingerprint) == (of_fingerprint, 0)
    alone, together = analysed(TUPLES, EntropyOptions(largest_tuple=1)), analysed(TUPLES)
    assert {key: rule.relevance for key, rule in alone.items()} == {"q.path": IGNORE, "q.file": IGNORE}
    assert {key: rule.relevance for key, rule in together.items()} == {"q.path": ACCEPT, "q.file": ACCEPT}


def test_triples() -> None:
    rows = [
        (f"http://h.com/?a={a}&b={b}&c={c}&s={a}{b}{c}{s}", f"{a}{b}{c}")
        for a in "01"
        for b in "01"
        for c in "01"
        for s in "01"
    ]
    seen = pages(*rows)
    assert {key for key, rule in analysed(seen).items() if rule.relevance is ACCEPT} == {"q.a", "q.b", "q.c"}
    assert not any(rule.relevance is ACCEPT for rule in analysed(seen, EntropyOptions(largest_tuple=2)).values())


def test_tuples_of_parameters_that_are_all_relevant_alone_are_not_asked() -> None:
    seen = pages(*((f"http://h.com/?a={i}&b=x{i}", i) for i in range(4)))
    found = columns(seen)
    fingerprints = [page.fingerprint for page in seen]
    alone = {key: information(values, fingerprints) for key, values in found.items()}
    assert not list(relevant_tuples(found, fingerprints, alone, EntropyOptions()))


# Case sensitivity


@pytest.mark.parametrize(
    ("values", "bits", "lower"),
    [
        ({"video.mpg": 1, "VIDEO.mpg": 1}, 0, True),
        ({"video.mpg": 1, "VIDEO.mpg": 2, "video2.mpg": 3, "VIDEO2.mpg": 4}, 1, False),
        ({"a": 1, "b": 2}, 0, None),
    ],
    ids=["insensitive", "sensitive", "no capitals"],
)
def test_case(values: dict[str, int], bits: float, lower: bool | None) -> None:
    seen = pages(*((f"http://h.com/?v={value}", page) for value, page in values.items()))
    assert case_information(columns(seen)["q.v"], [*values.values()]) == bits
    assert analysed(seen)["q.v"].lower is lower


def test_case_of_an_insensitive_parameter_is_dropped() -> None:
    rules = HostRules({"q.v": ParameterRule("q.v", ACCEPT, lower=True)})
    assert [proposal.operation for proposal in proposals_of(rules)] == [Lower()]
    assert book(("h.com", rules)).equivalent("http://h.com/?v=video.mpg", "http://h.com/?v=VIDEO.mpg")


# Paths and hosts as parameters


@pytest.mark.parametrize(
    ("form", "part", "key"),
    [
        ("http://site.com/path{n}?video={page}.mpeg", "path", "path.0"),
        ("http://www{n}.site.com/watch?video={page}", "host", "host.1"),
    ],
)
def test_path_components_and_the_prefix_of_the_host_as_parameters(form: str, part: str, key: str) -> None:
    seen = pages(*((form.format(n=n, page=page), page) for page in "ab" for n in (1, 2)))
    rules = host_rules(seen, EntropyOptions("domain", minimum=4, parts=("query", part)))
    assert rules.everywhere[key].relevance is IGNORE
    assert rules.everywhere["q.video"].relevance is ACCEPT
    assert book(("site.com", rules)).equivalent(seen[0].url, seen[1].url)


def test_a_path_that_is_irrelevant_alone_is_relevant_with_the_query() -> None:
    seen = pages(*((f"http://site.com/{p}?video={v}", f"{p}{v}") for p in ("x", "y") for v in ("a", "b")))
    assert analysed(seen, EntropyOptions(parts=("query", "path"), largest_tuple=1))["path.0"].relevance is IGNORE
    assert analysed(seen, EntropyOptions(parts=("query", "path")))["path.0"].relevance is ACCEPT


def test_keys_inside_a_significant_prefix_are_skipped() -> None:
    seen = pages(*((f"http://www.site.com/app/show?lang=en&id={i}", i) for i in range(4)))
    inside = keys_inside("http://www.site.com/app/show?lang=en&id=")
    assert inside >= {"host.1", "path.0", "path.1", "q.lang"}
    assert list(columns(seen, PARTS, skipped=inside)) == ["q.id"]


def test_only_what_is_not_part_of_a_significant_prefix_is_analysed() -> None:
    """A constant is in relevant tuples with whatever is relevant alone, so that it seems relevant where it is analysed."""
    seen = pages(*((f"http://www.site.com/app/show?lang=en&page={i}", i) for i in range(20)))
    plain = host_rules(seen)
    assert {key: rule.relevance for key, rule in plain.everywhere.items()} == {"q.lang": ACCEPT, "q.page": ACCEPT}
    skipping = host_rules(seen, EntropyOptions(prefixes=True))
    assert {key: rule.relevance for key, rule in skipping.everywhere.items()} == {"q.page": ACCEPT}
    assert settled_keys(seen) >= {"host.1", "path.0", "path.1", "q.lang"}
    assert settled_keys([*seen, FingerprintedUrl("http://www.site.com/app/other?page=1", 7)]) == {
        "host.1",
        "path.0",
        "scheme",
    }
    assert settled_keys([]) == frozenset()


def test_any_host_as_one_cluster() -> None:
    """URLs of any host and path: what is irrelevant on all is a rule everywhere, as far as the sites are alike."""
    seen = [
        FingerprintedUrl(
            f"http://h{host}.com/{path}?id={host}{path}{i // 3}&s={host}{path}{i}", f"{host} {path} {i // 3}"
        )
        for host in range(2)
        for path in "ab"
        for i in range(12)
    ]
    rules = host_rules(seen, EntropyOptions("any", minimum=48))
    assert {key: rule.relevance for key, rule in rules.everywhere.items()} == {"q.id": ACCEPT, "q.s": IGNORE}
    assert not rules.by_path
    keys = book(("h0.com", rules), ("h1.com", rules), ("new.com", rules))
    assert keys.equivalent("http://new.com/c?id=1&s=2", "http://new.com/c?id=1&s=3")


def test_manual_rules_that_order_parameters_and_drop_all_case() -> None:
    """The document's other heuristics: the order is part of the normal form, the case a rule like any other."""
    keys = RuleBook([Rule("h.com", {}, {"q.*": Lower()}, Status.MANUAL)])
    assert keys.canonical_key("http://h.com/v?b=X&a=Y") == "http://h.com/v?a=y&b=x"


# Smaller fingerprints


@pytest.mark.parametrize(
    ("headers", "alike", "strength"),
    [
        ({"Content-Length": "12", "ETag": '"x"'}, {"content-length": "13", "etag": '"x"'}, Strength.VALIDATOR),
        ({"ETag": 'W/"x"'}, {"etag": 'W/"x"'}, Strength.LENGTH),
        ({"Content-Type": "text/html", "Content-Length": "chunked"}, {}, None),
    ],
)
def test_head_fingerprints(headers: dict[str, str], alike: dict[str, str], strength: Strength | None) -> None:
    found = head_fingerprint(headers)
    assert found == head_fingerprint(alike)
    assert (found.strength if found else None) is strength


def test_head_fingerprints_serve_the_entropies() -> None:
    lengths = [head_fingerprint({"Content-Length": str(100 + i // 2)}) for i in range(8)]
    seen = [FingerprintedUrl(f"http://h.com/?id={i // 2}&s={i}", length) for i, length in enumerate(lengths)]
    found = analysed(seen)
    assert (found["q.id"].relevance, found["q.s"].relevance) == (ACCEPT, IGNORE)


# Odd input


@pytest.mark.parametrize("rows", [[], [("http://h.com/", 1)], [("no url", 1), ("", 2)], [("http://[::1", 1)]])
def test_odd_input_gives_no_rules(rows: Iterable[tuple[str, object]]) -> None:
    assert proposals_of(host_rules(pages(*rows), EntropyOptions(minimum=1))) == []


def test_rules_of_a_host_are_rules_of_its_site() -> None:
    (rule,) = rules_of("h.com", proposals_of(ignoring("q.a")))
    assert rule == Rule("h.com", {}, {"q.a": Ignore()})
