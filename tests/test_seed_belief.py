"""The combination of sources of url-parameter-relevance: its 90/95/80 example, its band, and what we add."""

from collections.abc import Iterable
from itertools import product
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup import Observation
from scrapy_dedup.learning.methods.entropy import KNOWN_NAMES, NameList, ParameterRule, Relevance
from scrapy_dedup.learning.opinions.belief import (
    DEFAULT_WEIGHTS,
    Belief,
    Opinion,
    Source,
    belief,
    is_uncertain,
    log_odds,
)
from scrapy_dedup.learning.opinions.declared import Declarations, linked_opinions, stated_opinions
from scrapy_dedup.learning.opinions.other_sites import Priors

ACCEPT, IGNORE = Relevance.ACCEPT, Relevance.IGNORE
SOURCES = (Source.ENTROPY, Source.MANUAL, Source.NAMES)
ACCURACIES = (0.90, 0.95, 0.80)


def test_the_documents_accuracies_are_the_default_weights() -> None:
    assert tuple(DEFAULT_WEIGHTS[source] for source in SOURCES) == ACCURACIES


@pytest.mark.parametrize("said", list(product((ACCEPT, IGNORE), repeat=3)))
def test_the_example_by_bayes_theorem(said: tuple[Relevance, ...]) -> None:
    """Entropies right 90 % of the time, manual rules 95 %, lists 80 %, whatever each of them says."""
    if_relevant = if_irrelevant = 0.5
    for accuracy, relevance in zip(ACCURACIES, said, strict=True):
        if_relevant *= accuracy if relevance is ACCEPT else 1 - accuracy
        if_irrelevant *= 1 - accuracy if relevance is ACCEPT else accuracy
    found = Belief(tuple(map(Opinion, SOURCES, said)))
    assert found.relevant == pytest.approx(if_relevant / (if_relevant + if_irrelevant))


@pytest.mark.parametrize(
    ("said", "relevant", "uncertain"),
    [
        (zip(SOURCES, (ACCEPT, ACCEPT, ACCEPT), strict=True), 684 / 685, False),
        (zip(SOURCES, (IGNORE, ACCEPT, IGNORE), strict=True), 0.019 / (0.019 + 0.036), True),
        (zip(SOURCES, (IGNORE, IGNORE, IGNORE), strict=True), 1 / 685, False),
        ([(Source.NAMES, IGNORE)], 0.2, True),
        ([], 0.5, True),
        # Right 95 times of a hundred each.
        ([(Source.NO_VARY_SEARCH, IGNORE), (Source.CLEAN_PARAM, IGNORE)], 1 / (1 + 19 * 19), False),
    ],
    ids=range(6),
)
def test_the_example_in_figures(said: Iterable[tuple[Source, Relevance]], relevant: float, uncertain: bool) -> None:
    found = Belief(tuple(Opinion(*each) for each in said))
    assert found.relevant == pytest.approx(relevant)
    assert is_uncertain(found.relevant) is uncertain


def test_only_what_is_uncertain_is_tested() -> None:
    """10 % < p < 90 %."""
    assert [p for p in (0.0, 0.1, 0.11, 0.5, 0.89, 0.9, 1.0) if is_uncertain(p)] == [0.11, 0.5, 0.89]
    assert is_uncertain(0.95, 0.01, 0.99)


opinions = st.lists(st.builds(Opinion, st.sampled_from(Source), st.sampled_from(Relevance)), max_size=30)


@given(opinions, st.integers(1, 10))
def test_priors_never_outvote_a_counterexample(said: list[Opinion], groups: int) -> None:
    """Of so few groups, one that is several pages is more than noise explains."""
    found = Belief(tuple(said), groups, 1)
    assert found.refuted
    assert found.relevant == 1


@pytest.mark.parametrize(
    ("groups", "several", "relevant"),
    [(0, 0, 0.5), (1, 0, 0.5), (10, 0, 0.259), (59, 0, 0.05), (299, 0, 0.01), (2000, 2, 0.003)],
)
def test_groups_of_one_page_count_by_what_they_may_have_missed(groups: int, several: int, relevant: float) -> None:
    """And what noise explains is no refutation."""
    found = Belief((), groups, several)
    assert found.relevant == pytest.approx(relevant, abs=0.001)
    assert not found.refuted


@given(opinions)
def test_a_source_counts_once(said: list[Opinion]) -> None:
    assert Belief(tuple(said) * 3).relevant == pytest.approx(Belief(tuple(said)).relevant)


def test_all_that_is_known_of_a_key() -> None:
    found = belief(
        "q.utm_source",
        entropy={"q.utm_source": ParameterRule("q.utm_source", IGNORE)},
        manual=NameList(relevant=["id"]),
        names=KNOWN_NAMES,
        priors=Priors({"utm_source": (0, 9)}),
        declared={"q.utm_source": [Opinion(Source.CANONICAL, IGNORE)]},
        tested=(3, 0),
    )
    assert [opinion.source for opinion in found.opinions] == [
        Source.ENTROPY,
        Source.NAMES,
        Source.SITES,
        Source.CANONICAL,
    ]
    assert found.groups == 3
    assert found.relevant < 0.01
    assert belief("q.other", names=KNOWN_NAMES).opinions == ()


def test_weights_can_be_given() -> None:
    assert belief("q.sessionid", names=KNOWN_NAMES, weights={Source.NAMES: 0.6}).relevant == pytest.approx(0.4)


@pytest.mark.parametrize("probability", [0.0, 1.0, -1])
def test_no_source_is_certain(probability: float) -> None:
    with pytest.raises(ValueError, match="no probability"):
        log_odds(probability)
    assert log_odds(0.9) == pytest.approx(log(9))


def test_declared_by_canonical_and_redirect() -> None:
    declarations = Declarations.of(
        [
            Observation("http://h.com/a?id=1&ref=x", "f", canonical="http://h.com/a?id=1"),
            Observation("http://h.com/b?sid=2&id=1", "", status=301, redirect="http://h.com/b?id=1"),
            # Another path, another site, another value: these say nothing of a parameter.
            Observation("http://h.com/c?x=1", "f", canonical="http://h.com/d"),
            Observation("http://h.com/c?y=1", "f", canonical="http://other.com/c"),
            Observation("http://h.com/c?z=1", "f", canonical="http://h.com/c?z=2"),
        ]
    )
    assert linked_opinions(declarations) == {
        "q.id": (Opinion(Source.CANONICAL, ACCEPT), Opinion(Source.REDIRECT, ACCEPT)),
        "q.ref": (Opinion(Source.CANONICAL, IGNORE),),
        "q.sid": (Opinion(Source.REDIRECT, IGNORE),),
    }


def test_declared_by_headers_and_robots() -> None:
    url = "http://h.com/a?id=1&sid=2"
    declarations = Declarations.of(
        [Observation(url, "f", headers={"no-vary-search": 'params, except=("id")'})], robots=["Clean-param: sid /a"]
    )
    stated, cleaned = Opinion(Source.NO_VARY_SEARCH, IGNORE), Opinion(Source.CLEAN_PARAM, IGNORE)
    assert stated_opinions(declarations, "q.sid", [url]) == (stated, cleaned)
    assert stated_opinions(declarations, "q.id", [url]) == (Opinion(Source.NO_VARY_SEARCH, ACCEPT),)
    assert stated_opinions(declarations, "q.sid", ["http://h.com/b?sid=2"]) == ()
