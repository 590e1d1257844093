"""The benchmark of transient content counts what it says: its scores under masks made by hand, and its cases."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

import pytest

from tests.benchmarks import transient
from tests.benchmarks.masks.cases import CASES, STRANGE, case_of, moments, shape_of
from tests.benchmarks.scoring.masking import Counts, compared, passing_words, removed, score
from tests.benchmarks.sites.render import Kind, Page, Writer
from tests.benchmarks.timing import masks as transient_speed

URL = "http://a.example/page/1"


def page(clock: str, *comments: str, main: str = "all the words") -> Page:
    out = Writer()
    out.raw("<!doctype html>")
    out.open("body")
    out.element("a", "home", Kind.TEMPLATE)
    out.element("p", f"Today is {clock}", Kind.TRANSIENT, "X1", classes="clock")
    out.element("p", main, Kind.MAIN)
    for comment in comments:
        out.element("li", comment, Kind.GROWING, "X8")
    out.close()
    return Page("".join(out.parts), tuple(out.tokens))


@dataclass(frozen=True)
class Removes:
    """A mask that removes these texts wherever they stand."""

    texts: tuple[str, ...]

    def spans(self, html: str, *, url: str | None = None) -> list[tuple[int, int]]:
        found = []
        for text in map(escape, self.texts):
            start = html.find(text)
            while start >= 0:
                found.append((start, start + len(text)))
                start = html.find(text, start + 1)
        return sorted(found)


ONE, TWO = page("Monday, 9:00"), page("Sunday, 9:00", "nice", "very nice")
VERSIONS = {URL: [ONE, TWO]}
PASSING = passing_words([ONE, TWO])


def scores(*texts: str, versions: dict[str, list[Page]] = VERSIONS) -> Counts:
    return score(Removes(texts), versions, PASSING)


def test_only_words_that_differ_somewhere_must_go() -> None:
    assert PASSING == {("body/p.clock", "X1"): frozenset({2})}
    # The hour is the same in both, so nobody can know that it passes.
    assert scores("Monday,", "Sunday,").recall == 1
    assert scores("Monday", "Sunday").f1 == 1
    assert scores("Today is Monday, 9:00", "Today is Sunday, 9:00").f1 == 1
    assert scores("Today is").recall == 0
    assert scores("Monday", "Sun").recall == 0.5


def test_what_lasts_is_wrong_as_soon_as_a_word_goes() -> None:
    found = scores("Monday", "Sunday", "words")
    assert (found.found, found.missed, found.wrong, found.right) == (2, 0, 2, 4)
    assert (found.precision, found.recall) == (0.5, 1)
    assert found.f1 == pytest.approx(2 / 3)


def test_main_text_is_counted_in_words_with_the_comments_and_without_the_template() -> None:
    found = scores("home", "nice", "the")
    assert found.words == 3 + 3 + 1 + 2
    assert found.words_lost == 1 + 1 + 1 + 1
    assert scores("home").main_lost == 0
    assert scores("home").wrong == 2


def test_paths_pass_if_most_of_their_tokens_do() -> None:
    found = scores("Monday", "Sunday", "very nice", "home")
    # body/p.clock is found; the template's link is wrong; one comment of two is no path.
    assert (found.paths_found, found.paths_missed, found.paths_wrong) == (1, 0, 1)
    assert (found.path_precision, found.path_recall) == (0.5, 1)
    assert (scores().paths_missed, scores().path_f1) == (1, 0)


def test_nothing_removed_and_nothing_passing_have_no_share() -> None:
    still = {URL: [page("never", main="a b")]}
    found = score(Removes(()), still, passing_words(still[URL]))
    assert (found.precision, found.recall, found.f1, found.main_lost) == (None, None, None, 0)
    assert Counts().equal_share is None


def test_removed_characters_are_those_of_the_escaped_text() -> None:
    out = Writer()
    out.element("p", "Fish & <Chips> now", Kind.TRANSIENT)
    (token,) = out.tokens
    html = "".join(out.parts)
    assert html[token.start :].startswith("Fish &amp; &lt;Chips&gt; now")

    def gone(text: str) -> Sequence[int]:
        start = html.index(text)
        return bytes(start <= i < start + len(text) for i in range(len(html)))

    assert removed(token, gone("now")) == ({3}, {3})
    assert removed(token, gone("hips")) == ({2}, set())
    assert removed(token, gone("&lt;Chips&gt; ")) == ({2}, {2})
    assert removed(token, gone("</p>")) == (set(), set())


def test_fingerprints_are_compared_by_what_really_changed() -> None:
    grown = {URL: [ONE, page("Sunday, 9:00"), TWO], "other": [page("Monday, 9:00", main="other words")]}
    best = compared({URL: ["a", "a", "b"], "other": ["c"]}, grown)
    assert (best.pairs, best.equal, best.changes, best.told, best.pages, best.distinct) == (1, 1, 1, 1, 2, 2)
    worst = compared({URL: ["a", "b", "b"], "other": ["a"]}, grown)
    assert (worst.equal_share, worst.told_share, worst.distinct_share) == (0, 0, 0.5)


def test_pooled_counts_are_counts_of_the_pool() -> None:
    other = {"other": [page("Monday, 9:00", main="all other words")]}
    parts = scores("Monday", "the"), scores("Monday", "the", versions=other)
    both = scores("Monday", "the", versions={**VERSIONS, **other})
    for name in ("found", "missed", "wrong", "right", "words", "words_lost"):
        assert getattr(both, name) == sum(getattr(part, name) for part in parts)


# -- cases


@pytest.mark.parametrize("name", CASES)
def test_cases_have_what_their_slots_say(name: str) -> None:
    case = case_of(name, 0, 2, 4)
    every = [page for pages in (*case.seen.values(), *case.unseen.values()) for page in pages]
    slots = {token.slot for page in every for token in page.tokens} - {""}
    # X5 shows no text.
    assert slots == set(CASES[name]) - {"X5"}
    assert bool(passing_words(every)) == bool({"X1", "X2", "X3", "X4", "X10"} & set(CASES[name]))
    assert {len(pages) for pages in case.seen.values()} == {4 if name == "X9" else 2}
    for page in every[:4]:
        for token in page.tokens:
            assert page.html[token.start :].startswith(escape(token.text))


def test_a_case_is_learned_from_other_pages_than_it_is_scored_on() -> None:
    case = case_of("all", 1, 3, 6)
    assert not case.seen.keys() & case.unseen.keys()
    assert {shape_of(url) for url in case.seen} == {shape_of(url) for url in case.unseen}
    strange = case.site.endpoints[STRANGE].place.directory
    assert all(f"/{strange}/" in url for url in case.strange)
    assert not any(f"/{strange}/" in url for url in (*case.seen, *case.unseen))
    assert case_of("all", 1, 3, 6).html() == case.html()


def test_versions_are_minutes_to_weeks_apart_and_within_a_month() -> None:
    for number in range(40):
        times = list(moments(5, number))
        assert times == sorted(times)
        assert times[-1] < 30 * 86400
    assert len({times[1] - times[0] for times in (list(moments(2, number)) for number in range(8))}) == 4


# -- the command


def test_the_benchmark_runs_and_names_what_is_missed(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--only", "cases", "--cases", "X4,E2", "--pages", "8", "--sites", "1", "--json"]
    assert transient.main([*options, "--check"]) == 0
    shown = json.loads(capsys.readouterr().out)["cases"]
    ours = shown["default"]["3"]
    assert ours["unseen"]["f1"] >= 0.95
    assert ours["cases"]["E2"]["wrong"] == 0
    assert ours["unseen"]["words"] > ours["few"]["words"] > 0
    assert shown["seed"]["3"]["unseen"]["found"] + shown["seed"]["3"]["unseen"]["missed"] == (
        ours["unseen"]["found"] + ours["unseen"]["missed"]
    )


def test_safe_checks_hold_a_mask_to_the_little_it_may_lose() -> None:
    good = Counts(found=5, words=1000, pages=4, distinct=4, changes=2, told=2)
    assert all(check.holds for check in transient.safe_checks([result_of("E2", good)], "2 versions"))
    for worse in (
        replace(good, words_lost=6),
        replace(good, distinct=3),
        replace(good, told=1),
        replace(good, wrong=1),
    ):
        checks = transient.safe_checks([result_of("E2", worse)], "2 versions")
        assert any(not check.holds for check in checks), worse
    assert not all(check.holds for check in transient.safe_checks([result_of("X1", good, touched=1)], "2 versions"))


def result_of(case: str, counts: Counts, touched: int = 0) -> transient.Result:
    return transient.Result(case, 0, 2, "default", 1, Counts(words=1), counts, touched)


def test_slopes() -> None:
    def slope(*seconds: float) -> float | None:
        return transient_speed.Growth("", "", (10, 100, 1000)[: len(seconds)], seconds).slope

    assert slope(1, 10, 100) == pytest.approx(1)
    assert slope(1, 100, 10_000) == pytest.approx(2)
    assert slope(1) is None


def test_what_raises_on_a_hostile_page_is_a_missed_figure() -> None:
    def work(html: str) -> None:
        if len(html) > 20:
            raise RecursionError("too deep")

    growth = transient_speed.growth("deep", "tokens", work, iter(["x" * 10, "x" * 20, "x" * 30]), quick=True)
    assert (growth.sizes, growth.stopped) == ((10, 20), "RecursionError('too deep')")
    (check,) = transient.speed_checks([], [growth])
    assert not check.holds
