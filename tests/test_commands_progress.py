"""What standard error shows of a long work, and what it is told of learning."""

import io
import sys

import pytest

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.commands.terminal.progress import progress
from scrapy_dedup.learning.alternation import StoredEvidence, learn_rules_and_masks
from scrapy_dedup.learning.imported import ImportedEvidence
from scrapy_dedup.learning.learning_options import LearningOptions
from scrapy_dedup.sources.spill import Spill
from scrapy_dedup.store.store import Store

from .store_rows import seen


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_shows_what_is_done(monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> None:
    stream = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    for name, value in {"TERM": "xterm", "COLUMNS": "160", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    with progress("learning from seen.jsonl") as show:
        show("learning b.test", 500, 900)
    assert ("learning b.test" in stream.getvalue()) is is_terminal


def pages(site: str, number: int) -> list[Observation]:
    return [Observation(f"http://{site}/p?id={each}", f"{site} {each}", words=100) for each in range(number)]


@pytest.fixture
def steps() -> list[tuple[str, int, int]]:
    return []


@pytest.fixture
def options(steps: list[tuple[str, int, int]]) -> LearningOptions:
    return LearningOptions(progress=lambda *step: steps.append(step))


def test_each_site_counts_as_many_observations_as_it_has(
    steps: list[tuple[str, int, int]], options: LearningOptions
) -> None:
    with Spill() as spill:
        spill.add_all([*pages("small.test", 10), *pages("large.test", 300), *pages("middle.test", 40)])
        learn_rules_and_masks(ImportedEvidence(spill, most_of_site=200), options, known=RuleBook())
    assert steps == [
        ("learning large.test", 0, 250),
        ("learning middle.test", 200, 250),
        ("learning small.test", 240, 250),
        ("learned", 250, 250),
    ]


def test_a_store_tells_it_of_the_sites_that_are_learned(
    store_target: str, steps: list[tuple[str, int, int]], options: LearningOptions
) -> None:
    with Store.open(store_target) as store:
        store.add([seen(str(number)) for number in range(7)])
        store.add(
            [seen(str(number))._replace(site="other.test", url=f"http://other.test/{number}") for number in range(3)]
        )
        learn_rules_and_masks(StoredEvidence(store, sites=["other.test"]), options, known=RuleBook())
        learn_rules_and_masks(StoredEvidence(store), options, known=RuleBook())
    assert steps == [
        ("learning other.test", 0, 3),
        ("learned", 3, 3),
        ("learning example.com", 0, 10),
        ("learning other.test", 7, 10),
        ("learned", 10, 10),
    ]


def test_a_site_that_is_learned_again_counts_again(steps: list[tuple[str, int, int]], options: LearningOptions) -> None:
    """Of two sites that name each other, one comes before what it needs."""

    def named(site: str, other: str) -> list[Observation]:
        return [
            Observation(f"http://{site}/go?to=http%3A%2F%2F{other}%2F{each}", f"{site} {each}", words=9)
            for each in range(9)
        ]

    with Spill() as spill:
        spill.add_all([*named("a.test", "b.test"), *named("b.test", "a.test")])
        learn_rules_and_masks(ImportedEvidence(spill), options, known=RuleBook())
    first, second, again, end = steps
    assert {first[0], second[0]} == {"learning a.test", "learning b.test"}
    assert again == (first[0], 18, 27)
    assert end == ("learned", 27, 27)
