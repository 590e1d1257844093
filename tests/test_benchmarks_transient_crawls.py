"""The benchmark of crawls at known times: its pages are what their truth says, and its scores count what is gone."""

import json
from dataclasses import dataclass
from html import escape

import pytest

from scrapy_dedup import Mask
from tests.benchmarks import transient
from tests.benchmarks.masks import crawls as transient_crawls
from tests.benchmarks.masks.crawls import CRAWLS, MOMENTS, Fetched, fetched, pieces
from tests.benchmarks.scoring.masking import compared, lasting, passing_words, score
from tests.benchmarks.sites.markup import Kind, Page, Writer
from tests.benchmarks.sites.parts import LASTING, VOLATILE

URL = "http://a.example/page/1"
ONE_OF_EACH = [
    "start page twice on 3 days",
    "front six times a day on 4 days",
    "online 10 to 60 on 3 days",
    "visitors today in one order on 2 days",
    "come and go on 12 days",
    "teasers with each page twice on 3 days",
    "few tokens on 3 days",
    "html with each page twice on 3 days",
]


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_pages_are_what_their_truth_says(name: str) -> None:
    case = fetched(name, 0)
    plan = CRAWLS[name]
    versions = {**case.seen, **case.unseen}
    every = [page for pages in versions.values() for page in pages]
    assert {token.slot for page in every for token in page.tokens} - {""} == {
        *LASTING,
        *(part for part in plan.parts if "values" not in part),
    }
    passing = passing_words(every)
    # Every part that passes shows something that differs.
    assert {slot for (_, slot), places in passing.items() if places} == {
        token.slot for page in every for token in page.tokens if token.kind is Kind.TRANSIENT
    }
    for page in every[:8]:
        for token in page.tokens:
            assert page.html[token.start :].startswith(escape(token.text))
    for pages in versions.values():
        # What lasts is the page's own: versions of moments apart agree, and what is always new is known.
        for name_of in {value.name for page in pages for value in page.values}:
            shown = [value.html for page in pages for value in page.values if value.name == name_of]
            if any(value.passes for value in pages[0].values if value.name == name_of):
                assert len(set(shown)) == len(shown), name_of
        for page in pages:
            assert all(value.html in page.html for value in page.values)


def test_what_lasts_does_not_change_within_moments() -> None:
    for name in ("html with each page twice on 3 days", "teasers with each page twice on 3 days"):
        case = fetched(name, 1)
        for url, pages in case.seen.items():
            first, second = pages[:2]
            assert case.times[url][1] - case.times[url][0] == MOMENTS
            assert lasting(first) == lasting(second)
            assert [value for value in first.values if not value.passes] == [
                value for value in second.values if not value.passes
            ]
            assert first.html != second.html


def test_the_same_pages_are_seen_in_more_and_more_versions() -> None:
    few, many = (fetched(f"online 80 to 400 on {days} days", 2) for days in (2, 5))
    assert few.seen.keys() == many.seen.keys()
    assert not few.seen.keys() & few.unseen.keys()
    for url, pages in few.seen.items():
        assert list(pages) == list(many.seen[url])[:2]
        assert list(many.times[url]) == sorted(many.times[url])
    start = next(iter(few.seen))
    assert len(fetched("start page twice on 3 days", 0).seen["http://www.visitors-0.example/"]) == 6
    assert start.endswith("/")


def test_a_counter_that_begins_anew_shows_hardly_more_on_the_next_day() -> None:
    case = fetched("visitors today in one order on 5 days", 0)
    for pages in case.seen.values():
        counts = [
            int(token.text.split()[4]) for page in pages for token in page.tokens if token.slot == "visitors today"
        ]
        assert max(counts) <= 1.2 * min(counts)


@dataclass(frozen=True)
class Removes:
    """A mask that removes a text wherever it stands."""

    text: str

    def spans(self, html: str, *, url: str | None = None) -> list[tuple[int, int]]:
        start = html.find(self.text)
        return [(start, start + len(self.text))] if start >= 0 else []


def page(*, box: bool, stock: int = 7) -> Page:
    out = Writer()
    out.open("body")
    out.element("p", f"{stock} in stock", Kind.MAIN, "stock figure")
    if box:
        out.open("div", "help")
        out.say("Questions? Ask us", Kind.TRANSIENT, "help box", whole=True)
        out.close()
    out.value('<i data-request="', "a1b2" if box else "c3d4", '"></i>', "data-request", passes=True)
    out.value("<i ", 'data-id="77"', "></i>", "data-id", passes=False)
    out.close()
    return out.page()


def test_of_what_comes_and_goes_every_word_must_go() -> None:
    versions = {URL: [page(box=True), page(box=False)]}
    passing = passing_words(versions[URL])
    assert score(Removes("Questions? Ask us"), versions, passing).recall == 1
    assert score(Removes("Ask us"), versions, passing).recall == 0


def test_pairs_that_differ_only_in_what_is_always_new_do_not_count() -> None:
    versions = {URL: [page(box=True, stock=7), page(box=True, stock=8), page(box=False, stock=8)]}
    assert compared({URL: ["a", "a", "a"]}, versions).changes == 1
    found = compared({URL: ["a", "a", "a"]}, versions, VOLATILE)
    assert (found.pairs, found.equal, found.changes) == (1, 1, 0)


def test_pieces_of_html_are_gone_or_stay() -> None:
    case = Fetched({URL: [page(box=True), page(box=False)]}, {}, {URL: [0.0, 1.0]})
    kept = pieces(Mask(), case)
    assert (kept.passing, kept.lasting) == ({"data-request": 2}, {"data-id": 2})
    assert kept.passing_gone.total() == kept.lasting_gone.total() == 0

    class Strips(Mask):
        def strip(self, html: str, *, url: str | None = None, other: str | None = None) -> str:
            return html.replace("a1b2", "").replace('data-id="77"', "data-id")

    gone = pieces(Strips(), case)
    assert (gone.passing_gone.total(), gone.lasting_gone.total()) == (1, 2)
    both = transient_crawls.checks([transient_crawls.Result("html", *[compared({}, {})] * 2, pieces=gone)])
    assert [check.holds for check in both] == [True, False, False]


def test_the_command_prints_cases_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--cases", "online 1000 to 3000 on 5 days", "--only", "crawls", "--sites", "1"]
    assert transient.main([*options, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["crawls"]["online 1000 to 3000 on 5 days"]
    assert shown["seen"]["f1"] >= 0.9
    assert shown["unseen"]["wrong"] == 0
    assert transient.main(options) == 0
    assert "online 1000 to 3000 on 5 days" in capsys.readouterr().out
