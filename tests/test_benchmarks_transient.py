"""The benchmark of transient content counts what it says: its scores under masks made by hand, its cases, and crawls at known times."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

import pytest

from scrapy_dedup import Mask

from .benchmarks import transient
from .benchmarks.masks import crawls
from .benchmarks.masks.cases import CASES, STRANGE, case_of, moments
from .benchmarks.masks.crawls import CRAWLS, MOMENTS, Fetched, fetched, pieces
from .benchmarks.scoring.masking import Counts, compared, lasting, passing_words, removed, score
from .benchmarks.sites.markup import Kind, Page, Writer
from .benchmarks.sites.parts import LASTING, VOLATILE
from .benchmarks.timing import hostile

URL = "http://a.example/page/1"


def page(clock: str, *comments: str, main: str = "all the words", stock: int = 7, box: bool = False) -> Page:
    out = Writer()
    out.open("body")
    out.element("a", "home", Kind.TEMPLATE)
    out.element("p", f"Today is {clock}", Kind.TRANSIENT, "X1", classes="clock")
    out.element("p", main, Kind.MAIN)
    out.element("b", f"{stock}", Kind.TEMPLATE, "stock figure")
    if box:
        out.open("div", "help")
        out.say("Questions? Ask us", Kind.TRANSIENT, "help box", whole=True)
        out.close()
    for comment in comments:
        out.element("li", comment, Kind.GROWING, "X8")
    out.value('<i data-request="', "a1b2" if box else "c3d4", '"></i>', "data-request", passes=True)
    out.value("<i ", 'data-id="77"', "></i>", "data-id", passes=False)
    out.close()
    return out.page()


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


def scores(*texts: str) -> Counts:
    return score(Removes(texts), VERSIONS, PASSING)


def test_only_words_that_differ_somewhere_must_go_and_what_lasts_is_wrong_as_soon_as_one_goes() -> None:
    assert PASSING == {("body/p.clock", "X1"): frozenset({2})}  # nobody can know that the hour passes
    assert scores("Monday", "Sunday").f1 == scores("Today is Monday, 9:00", "Today is Sunday, 9:00").f1 == 1
    assert (scores("Today is").recall, scores("Monday", "Sun").recall) == (0, 0.5)
    found = scores("Monday", "Sunday", "words")
    assert (found.found, found.missed, found.wrong, found.right) == (2, 0, 2, 6)
    assert (found.precision, found.recall) == (0.5, 1)
    found = scores("home", "nice", "the")
    assert (found.words, found.words_lost, found.wrong) == (9, 4, 6)
    assert (found + found).words == 18
    assert (Counts().precision, Counts().recall, Counts().f1, Counts().equal_share) == (None,) * 4
    both = [page("one", box=True), page("one")]
    whole = [score(Removes((text,)), {URL: both}, passing_words(both)).recall for text in ("Questions? Ask us", "Ask")]
    assert whole == [1, 0], "of what comes and goes every word must go"


def test_removed_characters_are_those_of_the_escaped_text() -> None:
    out = Writer()
    out.element("p", "Fish & <Chips> now", Kind.TRANSIENT)
    (token,), html = out.tokens, "".join(out.parts)

    def gone(text: str) -> Sequence[int]:
        start = html.index(text)
        return bytes(start <= i < start + len(text) for i in range(len(html)))

    assert removed(token, gone("now")) == ({3}, {3})
    assert removed(token, gone("hips")) == ({2}, set())
    assert removed(token, gone("</p>")) == (set(), set())


def test_fingerprints_are_compared_by_what_really_changed() -> None:
    grown = {URL: [ONE, page("Sunday, 9:00"), TWO], "other": [page("Monday, 9:00", main="other words")]}
    best = compared({URL: ["a", "a", "b"], "other": ["c"]}, grown)
    assert (best.pairs, best.equal, best.changes, best.told, best.pages, best.distinct) == (1, 1, 1, 1, 2, 2)
    worst = compared({URL: ["a", "b", "b"], "other": ["a"]}, grown)
    assert (worst.equal_share, worst.told_share, worst.distinct_share) == (0, 0, 0.5)
    restocked = {URL: [page("one", stock=7), page("one", stock=8), page("two", stock=8)]}
    found = compared({URL: ["a", "a", "a"]}, restocked, VOLATILE)
    assert (found.pairs, found.equal, found.changes) == (1, 1, 0), "of what is always new no change is to be told"


@pytest.mark.parametrize("name", ["none", "X5", "X9", "all", "E3", "stay"])
def test_a_case_has_what_its_slots_say(name: str) -> None:
    case = case_of(name, 0, 2, 4)
    every = [each for pages in (*case.seen.values(), *case.unseen.values()) for each in pages]
    assert {token.slot for each in every for token in each.tokens} - {""} == set(CASES[name]) - {"X5"}  # no text
    assert bool(passing_words(every)) == bool({"X1", "X2", "X3", "X4", "X10"} & set(CASES[name]))
    assert {len(pages) for pages in case.seen.values()} == {4 if name == "X9" else 2}
    assert not case.seen.keys() & case.unseen.keys()
    assert all(f"/{case.site.endpoints[STRANGE].place.directory}/" in url for url in case.strange)
    for each in every[:4]:
        assert all(each.html[token.start :].startswith(escape(token.text)) for token in each.tokens)
    assert all(list(moments(5, number)) == sorted(moments(5, number)) for number in range(40))


@pytest.mark.parametrize("name", ["visitors today in one order on 2 days", "html with each page twice on 3 days"])
def test_a_crawl_at_known_times_sees_what_its_truth_says(name: str) -> None:
    case, plan = fetched(name, 0), CRAWLS[name]
    versions = {**case.seen, **case.unseen}
    every = [each for pages in versions.values() for each in pages]
    parts = (part for part in plan.parts if "values" not in part)
    assert {token.slot for each in every for token in each.tokens} - {""} == {*LASTING, *parts}
    assert {slot for (_, slot), places in passing_words(every).items() if places} == {
        token.slot for each in every for token in each.tokens if token.kind is Kind.TRANSIENT
    }
    assert all(value.html in each.html for each in every for value in each.values)
    for url, (first, second, *_) in case.seen.items():
        if plan.others == plan.starts == 2:
            assert case.times[url][1] - case.times[url][0] == MOMENTS
            assert lasting(first) == lasting(second)
            assert first.html != second.html


def test_pieces_of_html_are_gone_or_stay() -> None:
    class Strips(Mask):
        def strip(self, html: str, *, url: str | None = None, other: str | None = None) -> str:
            return html.replace("a1b2", "").replace('data-id="77"', "data-id")

    case = Fetched({URL: [page("one", box=True), page("one")]}, {}, {URL: [0.0, 1.0]})
    kept, gone = pieces(Mask(), case), pieces(Strips(), case)
    assert (kept.passing, kept.lasting) == ({"data-request": 2}, {"data-id": 2})
    assert (kept.passing_gone.total(), kept.lasting_gone.total()) == (0, 0)
    assert (gone.passing_gone.total(), gone.lasting_gone.total()) == (1, 2)
    checks = crawls.checks([crawls.Result("html", *[compared({}, {})] * 2, pieces=gone)])
    assert [check.holds for check in checks] == [True, False, False]


def test_safe_checks_hold_a_mask_to_the_little_it_may_lose() -> None:
    good = Counts(found=5, words=1000, pages=4, distinct=4, changes=2, told=2)

    def holds(counts: Counts, touched: int = 0) -> bool:
        found = [transient.Result("E2", 0, 2, "default", 1, Counts(words=1), counts, touched)]
        return all(check.holds for check in transient.safe_checks(found, "2 versions"))

    assert holds(good)
    assert not any(holds(replace(good, **{name: n})) for name, n in (("words_lost", 6), ("distinct", 3), ("wrong", 1)))
    assert not holds(replace(good, told=1))
    assert not holds(good, touched=1)


def test_slopes_and_what_raises_on_a_hostile_page() -> None:
    for seconds, slope in (((1, 10, 100), 1), ((1, 100, 10_000), 2)):
        assert hostile.Growth("", "", (10, 100, 1000), seconds).slope == pytest.approx(slope)

    def work(html: str) -> None:
        if len(html) > 20:
            raise RecursionError("too deep")

    growth = hostile.growth("deep", "tokens", work, iter(["x" * 10, "x" * 20, "x" * 30]), quick=True)
    assert (growth.sizes, growth.stopped) == ((10, 20), "RecursionError('too deep')")
    assert not transient.growth_checks([growth])[0].holds
