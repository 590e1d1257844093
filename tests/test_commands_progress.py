"""What standard error shows of a long work: rate and time left, of reading as of learning."""

import io
import sys

import pytest

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.commands.terminal import progress as module
from scrapy_dedup.commands.terminal.progress import learning_progress, reading_progress
from scrapy_dedup.learning.alternation import StoredEvidence, learn_rules_and_masks
from scrapy_dedup.learning.imported import ImportedEvidence
from scrapy_dedup.learning.learning_options import LearningOptions
from scrapy_dedup.sources.spill import Spill
from scrapy_dedup.store.store import Store

from .store_rows import seen


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "monotonic", made)
    return made


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told_lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the lines but for the one that a slow machine is told after a second."""
    return [line for line in capsys.readouterr().err.splitlines() if not line.endswith(" ...")]


def test_learning_tells_rate_and_time_left_now_and_then(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with learning_progress("learning from seen.jsonl") as show:
        show("learning a.test", 0, 10_000)
        clock.now += 4
        show("learning b.test", 1_000, 10_000)  # too soon for a guess
        clock.now += 16
        show("learning c.test", 5_000, 10_000)
        clock.now += 4
        show("learning d.test", 5_500, 10_000)
        clock.now += 16
        show("learned", 10_000, 10_000)
    assert told_lines(capsys) == [
        "learning from seen.jsonl: 5,000 observations, 250 a second, 20 seconds left",
        "learning from seen.jsonl: 10,000 observations, 250 a second",
    ]


def test_reading_tells_no_time_left_where_nobody_knows_the_size(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with reading_progress("learning from cache") as show:
        clock.now += 10
        show(2_000, 0, 0)
        clock.now += 10
        show(2_500, 0, 0)
        clock.now += 10
        show(6_000, 600, 900)
    assert told_lines(capsys) == [
        "learning from cache: 2,000 records, 200 a second",
        "learning from cache: 6,000 records, 200 a second, 15 seconds left",
    ]


@pytest.mark.parametrize("unit", ["observations", "records"])
def test_a_terminal_shows_the_rate(clock: Clock, monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    for name, value in {"TERM": "xterm", "COLUMNS": "160", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    if unit == "observations":
        with learning_progress("learning from seen.jsonl") as learning:
            learning("learning a.test", 0, 900)
            clock.now += 10
            learning("learning b.test", 500, 900)
        assert "learning b.test: 500 observations, 50 a second" in terminal.getvalue()
    else:
        with reading_progress("learning from seen.jsonl") as reading:
            clock.now += 10
            reading(500, 50, 90)
        assert "reading: 500 records, 50 a second" in terminal.getvalue()


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
