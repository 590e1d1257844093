"""What is said of a site beside its rules: why there are none, the best pattern that was found, answers that many pages have in common."""

from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest

from scrapy_dedup import Observation
from scrapy_dedup.learning.deadline import Deadline
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.learning.learning_options import LearningOptions
from scrapy_dedup.observation import ObservationError

from .learning import SITE, Rows, check, drawn, observed

ODD = [
    "no url", "http://", "http:///x", "//example.com/a", "http://[::1", "http://example.com:99999999/", "mailto:a@b.c",
    "http://example.com/%zz?%=%&&;;=", "http://\udcff/", "http://example.com/\x00?a=\x00", "javascript:alert(1)", "?", "#",
]  # fmt: skip
SESSIONS = [(f"/p?id={i}&sid={drawn(i, n)}", f"page {i}") for i in range(40) for n in range(4)]
IGNORED = f"/p?id=99&sid={drawn(-1)} == /p?id=99&sid={drawn(-2)}", "/p?id=98 != /p?id=99"


def timed(urls: Sequence[str], page: str = "page {}") -> list[Observation]:
    return [Observation(url, page.format(number), words=50, time=1e9 + number) for number, url in enumerate(urls)]


def views(pages: int, wrong: int) -> Rows:
    """Pages under two values of ``v``, which is another page for *wrong* of them."""
    return [(f"/view?id={n}&v={v}", f"page {n} {v if n < wrong else ''}") for n in range(pages) for v in range(2)]


NUMBERS = [f"{SITE}/a?id={i}" for i in range(300)]
URLS = [f"{SITE}/{i}" for i in range(50)]
UNIQUE, FEW, POOR = "no two URLs led to the same page", "insufficient evidence", "no page with enough text"
NOTHING: dict[str, tuple[list[Observation], str]] = {
    "one URL": (timed([f"{SITE}/a"]), UNIQUE),
    "all pages unique": (timed(NUMBERS), UNIQUE),
    "all pages unique, without times": (observed([(f"/{i}", f"page {i}") for i in range(50)]), UNIQUE),
    "the same URL again and again": (timed([f"{SITE}/a"] * 50, "one page"), UNIQUE),
    "all pages the same": (timed(NUMBERS, "one page"), FEW),
    "all pages the same, without times": (observed([(f"/{i}", "same") for i in range(50)]), FEW),
    "bare values": (observed([(f"/?{i}", "same") for i in range(20)]), FEW),
    "one cluster": ([*timed(NUMBERS[:40], "one"), *timed([f"{SITE}/b{i}" for i in range(40)])], FEW),
    **{
        f"{pages} pages": (
            observed([(f"/v?id={i}&sid={drawn(i, n)}", f"page {i}") for i in range(pages) for n in range(3)]),
            f"{FEW}: {2 * pages} duplicates, but their patterns have too few witness groups, or counterexamples",
        )
        for pages in (1, 2)
    },
    "hardly any text": ([Observation(url, "e", words=1) for url in URLS], POOR),
    "errors": ([Observation(url, "", status=500) for url in URLS], POOR),
    "redirects": ([Observation(url, "", status=301, redirect=f"{url}1") for url in URLS], POOR),
    "hardly any text, whose pages are told": (observed(SESSIONS, words=3), "not used as evidence: "),
    "errors whose pages are told": (observed(SESSIONS, status=404), "not used as evidence: "),
    "redirects whose pages are told": (observed(SESSIONS, status=302, redirect=SITE), "not used as evidence: "),
    "the best pattern": (
        observed(views(40, 12), words=200),
        "without the parameter v, 28 of 40 groups of URLs show one page; 12 do not, such as ",
    ),
}


@pytest.mark.parametrize("name", NOTHING)
def test_a_plain_answer_and_no_rule(name: str) -> None:
    seen, answer = NOTHING[name]
    found = learn(seen)
    assert len(found.book) == 0
    (report,) = found.reports
    assert report.rules == 0
    (told,) = [note for note in report.notes if answer in note]
    if "such as " in told:
        one, other = told.partition("such as ")[2].split(" and ")
        assert one.partition("&v=")[0] == other.partition("&v=")[0]
        assert int(one.partition("id=")[2].partition("&")[0]) < 12


@pytest.mark.parametrize("rows", [views(60, 0), [row for row in views(40, 40) if row[0].endswith("v=0")]])
def test_no_pattern_is_told_where_a_rule_acts_or_no_page_was_seen_twice(rows: Rows) -> None:
    (report,) = learn(observed(rows)).reports
    assert not [note for note in report.notes if "best pattern" in note]


def test_answers_that_pages_have_in_common_are_told() -> None:
    names = ("stock", "rating", "promotion", "delivery", "gift")
    rows = [(f"/api/{name}?sku={i}", f"{name}: yes") for name in names for i in range(80)]
    (report,) = learn(observed([*rows, *SESSIONS])).reports
    (note,) = [note for note in report.notes if "show one answer" in note]
    assert f"80 URLs of {SITE}/api/rating?sku=..." in note or "and 2 more" in note
    assert "nothing is filtered on account of them" in note
    assert not learn(observed(SESSIONS)).reports[0].one_answer


# Odd input


def test_an_empty_log() -> None:
    found = learn([])
    assert (len(found.book), found.reports) == (0, ())


@pytest.mark.parametrize("fingerprint", ["", None])
def test_a_page_without_a_fingerprint_is_no_observation(fingerprint: Any) -> None:
    with pytest.raises(ObservationError, match="fingerprint"):
        Observation(f"{SITE}/a", fingerprint)


@pytest.mark.parametrize("page", ["page {}", "one page"])
def test_urls_that_do_not_parse_give_no_rule_and_do_not_spoil_the_rest(page: str) -> None:
    odd = timed([url + more for url in ODD for more in ("", "a", "b")], page)
    assert len(learn(odd).book) == 0
    check(learn([*odd, *observed(SESSIONS)]).book, *IGNORED)


def test_pages_that_could_not_be_had_are_no_counterexamples() -> None:
    """What is not known of half of the URLs takes no rule away that the other half shows."""
    failed = [Observation(each.url, "", status=503) for each in observed(SESSIONS)[::2]]
    check(learn([*failed, *observed(SESSIONS[1::2])]).book, *IGNORED)


@pytest.mark.parametrize("patience", [1, 1_000_000])
def test_what_is_found_in_time_counts(patience: int) -> None:
    """What is not looked for any more leaves no page lost, and that there was no time for it is told."""
    apart = [(f"/q?id={i}&v={v}{x}", f"page {i} {v}") for i in range(60) for v in "ab" for x in ("", "&x=1")]
    asked = count()
    deadline = Deadline(patience, lambda: float(next(asked)))
    found = learn(observed([*SESSIONS, *apart]), LearningOptions(deadline=deadline))
    check(found.book, *IGNORED, "/q?id=7&v=a != /q?id=7&v=b")
    assert any("out of time" in note for note in found.reports[0].notes) is (patience == 1)
