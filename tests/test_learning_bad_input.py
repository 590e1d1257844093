"""Logs from which nothing can be learned: a plain answer, no traceback, no rule."""

from collections.abc import Sequence

import pytest

from scrapy_dedup import Observation
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.observation import ObservationError

SITE = "http://example.com"


def pages(urls: Sequence[str], page: str = "page {}") -> list[Observation]:
    return [Observation(url, page.format(number), words=50, time=1e9 + number) for number, url in enumerate(urls)]


ODD = [
    "no url", "http://", "http:///x", "//example.com/a", "http://[::1", "http://example.com:99999999/", "mailto:a@b.c",
    "http://example.com/%zz?%=%&&;;=", "http://\udcff/", "http://example.com/\x00?a=\x00", "javascript:alert(1)", "?", "#",
]  # fmt: skip
CASES: dict[str, tuple[list[Observation], str]] = {
    "one URL": (pages([f"{SITE}/a"]), "no two URLs led to the same page"),
    "all pages unique": (pages([f"{SITE}/a?id={i}" for i in range(300)]), "no two URLs led to the same page"),
    "all pages the same": (pages([f"{SITE}/a?id={i}" for i in range(300)], "one page"), "insufficient evidence"),
    "one cluster": (
        [*pages([f"{SITE}/a?id={i}" for i in range(40)], "one"), *pages([f"{SITE}/b{i}" for i in range(40)])],
        "insufficient evidence",
    ),
    "the same URL again and again": (pages([f"{SITE}/a"] * 50, "one page"), "no two URLs led to the same page"),
    "hardly any text": ([Observation(f"{SITE}/{i}", "e", words=1) for i in range(50)], "no page with enough text"),
    "errors": ([Observation(f"{SITE}/{i}", "", status=500) for i in range(50)], "no page with enough text"),
    "redirects": (
        [Observation(f"{SITE}/{i}", "", status=301, redirect=f"{SITE}/{i + 1}") for i in range(50)],
        "no page with enough text",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_plain_answer_and_no_rule(case: str) -> None:
    seen, answer = CASES[case]
    found = learn(seen)
    assert len(found.book) == 0
    (report,) = found.reports
    assert any(answer in note for note in report.notes), report.notes


@pytest.mark.parametrize("fingerprint", ["", None])
def test_a_page_without_a_fingerprint_is_no_observation(fingerprint: str | None) -> None:
    with pytest.raises(ObservationError, match="fingerprint"):
        Observation(f"{SITE}/a", fingerprint)  # type: ignore[arg-type]


def test_an_empty_log() -> None:
    found = learn([])
    assert len(found.book) == 0
    assert found.reports == ()


@pytest.mark.parametrize("page", ["page {}", "one page"])
def test_urls_that_do_not_parse(page: str) -> None:
    found = learn(pages([url + extra for url in ODD for extra in ("", "a", "b")], page))
    assert len(found.book) == 0


def test_what_does_not_parse_does_not_spoil_the_rest() -> None:
    rows = [
        Observation(f"{SITE}/p?id={i}&sid={i * 7 + step:016x}", f"page {i}") for i in range(40) for step in (0, 1, 2)
    ]
    book = learn([*pages(ODD), *rows, *pages(ODD, "one page")]).book
    assert book.equivalent(f"{SITE}/p?id=99&sid={1:016x}", f"{SITE}/p?id=99&sid={2:016x}")


def test_pages_that_could_not_be_had_are_no_counterexamples() -> None:
    """What is not known of half of the URLs takes no rule away that the other half shows."""
    rows = [
        Observation(
            f"{SITE}/p?id={i}&sid={i * 7 + step:016x}", "" if step % 2 else f"page {i}", status=503 if step % 2 else 200
        )
        for i in range(40)
        for step in range(4)
    ]
    book = learn(rows).book
    assert book.equivalent(f"{SITE}/p?id=99&sid={1:016x}", f"{SITE}/p?id=99&sid={2:016x}")
    assert not book.equivalent(f"{SITE}/p?id=99&sid={1:016x}", f"{SITE}/p?id=98&sid={1:016x}")
