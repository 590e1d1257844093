"""Taking text out of a field: lines stay lines, paragraphs paragraphs, lists lists, and no two words become one."""

import re
from typing import Any

import pytest
import scrapy
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.crawl.composition import CrawlComponents
from scrapy_dedup.masks.fields.text_cuts import removed
from scrapy_dedup.masks.model import Mask, TransientPath

from .conftest import Serve
from .crawling import Links, crawler_of, in_reactor, run
from .server import Asked


def without_numbers(text: str) -> str:
    return removed(text, [number.span() for number in re.finditer(r"\d+", text)])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("* You are visitor number 45768\n\n* 354 readers online", "* You are visitor number\n\n* readers online"),
        ("a 1 2 b", "a b"),
        ("a  1  b", "a b"),
        ("a(1) b", "a() b"),
        ("a 1", "a "),
        ("1 b", "b"),
        ("  1 b", "  b"),
        ("a\n1\nb", "a\nb"),
        ("a\r\n1\r\nb", "a\r\nb"),
        ("a\n\n1\n\nb", "a\n\nb"),
        ("a\n\n1\nb", "a\n\nb"),
        ("a\n1\n\nb", "a\n\nb"),
        ("a\n\n1\n\n2\n\nb", "a\n\nb"),
        ("a\n\n\n1\nb", "a\n\n\nb"),
        ("1\n\na", "a"),
        ("\n1\n\na", "\na"),
        ("a\n\n1", "a"),
        ("a\n\n1\n", "a\n"),
        ("a\n1", "a"),
        ("1", ""),
        (" 1\n\n2 ", ""),
        # Two blanks at the end of a line break it in Markdown; one that was before the cut would be one too many.
        ("a 1  \nb", "a  \nb"),
        ("a 1\nb", "a\nb"),
        ("- 1\n- a\n1. b", "-\n- a\n. b"),
        ("| 1 | a |\n|---|---|\n| b | 2 |", "| | a |\n|---|---|\n| b | |"),
        ("1\ta\t2\tb", "\ta\t\tb"),
    ],
)
def test_lines_stay_lines(text: str, left: str) -> None:
    assert without_numbers(text) == left


def test_a_cut_over_several_lines() -> None:
    assert removed("a Buy more\nshoes now b", [(2, 20)]) == "a\nb"
    assert removed("a\nBuy\n\nmore\nb", [(2, 11)]) == "a\n\nb"
    assert removed("a1 2b", [(1, 4)]) == "a b", "the blank was all that stood between two words"
    assert removed("(1 2)", [(1, 4)]) == "()"
    assert removed("<p>a</p><i\nid=x>1</i><p>b</p>", [(8, 21)]).split() == ["<p>a</p>", "<p>b</p>"]


def test_a_line_of_many_cuts_takes_linear_time() -> None:
    text = "x" * 1_000_000 + " 1 2" * 50_000
    left = without_numbers(text)
    assert left == "x" * 1_000_000 + " "


TEXTS = st.lists(
    st.sampled_from(["a", "bc", "* ", "| ", "12", " ", "  ", "\t", "\n", "\n\n", "\r\n", "é", "- ", "\u2028", "\xa0"]),
    max_size=25,
).map("".join)
PLACES = st.lists(st.integers(0, 45), max_size=8)


def cuts_of(text: str, places: list[int]) -> list[tuple[int, int]]:
    ends = sorted({min(place, len(text)) for place in places})
    return list(zip(ends[::2], ends[1::2], strict=False))


def lines_of(text: str, cuts: list[tuple[int, int]]) -> list[tuple[str, str]]:
    """(Line, what is left of it if only characters that are no white space go) of each line."""
    gone = {at for start, end in cuts for at in range(start, end) if not text[at].isspace()}
    lines = []
    at = 0
    for line in text.splitlines(keepends=True):
        lines.append((line, "".join(char for place, char in enumerate(line, at) if place not in gone)))
        at += len(line)
    return lines


def solid(text: str) -> str:
    return "".join(text.split())


@given(TEXTS, PLACES)
def test_no_word_is_lost_and_none_are_joined(text: str, places: list[int]) -> None:
    cuts = cuts_of(text, places)
    new = removed(text, cuts)
    left = "".join(line for _, line in lines_of(text, cuts))
    assert solid(new) == solid(left)
    assert re.findall(r"\w+", new) == re.findall(r"\w+", left)


@given(TEXTS, PLACES)
def test_lines_keep_their_order_and_what_was_not_touched_is_as_it_was(text: str, places: list[int]) -> None:
    cuts = cuts_of(text, places)
    new = removed(text, cuts)
    lines = lines_of(text, cuts)
    assert [solid(line) for line in new.splitlines() if line.strip()] == [
        solid(line) for _, line in lines if line.strip()
    ]
    rest = iter(new.splitlines())
    for line, left in lines:
        if line == left and line.strip():
            assert line.splitlines()[0] in rest
    if all(line == left for line, left in lines):
        assert new == text


@given(TEXTS, PLACES)
def test_paragraphs_stay_apart_and_whole(text: str, places: list[int]) -> None:
    cuts = cuts_of(text, places)
    # For each line that is left, whether a blank line stood between it and the one before.
    expected = []
    apart = False
    for line, left in lines_of(text, cuts):
        apart = apart or not line.strip()
        if left.strip():
            expected.append(apart)
            apart = False
    found = []
    apart = False
    for line in removed(text, cuts).splitlines():
        apart = apart or not line.strip()
        if line.strip():
            found.append(apart)
            apart = False
    assert found[1:] == expected[1:]


@given(st.lists(st.sampled_from(["a", "b", "12", " ", "\n"]), max_size=25).map("".join))
def test_no_blanks_are_doubled_within_a_line(text: str) -> None:
    if re.search(" {2}", text) is None:
        assert re.search(r"\S {2,}\S", without_numbers(text)) is None
        assert re.search(r" {2}\S", without_numbers(text)) is None


class Markdown(Links):
    """Gives an item whose text is a page in Markdown, and one with its lines as they are."""

    def parse(self, response: Any) -> Any:
        parts = []
        for element in response.css("h1, p, li, tr"):
            text = " ".join(element.css("::text").getall())
            if element.root.tag == "tr":
                text = f"| {' | '.join(element.css('td::text').getall())} |"
            parts.append({"h1": "# ", "li": "* "}.get(element.root.tag, "") + text)
        yield {"url": response.url, "markdown": "\n\n".join(parts), "lines": "\n".join(parts)}
        yield from response.follow_all(css="a")


@in_reactor
async def test_a_crawl_whose_items_are_markdown(serve: Serve) -> None:
    def site(asked: Asked) -> str:
        number = {"/": 45768, "/2": 17}[asked.path]
        return (
            f"<html><body><h1>Chairs of oak</h1><ul><li>You are visitor number <b>{number}</b><li><i>{number * 3}</i> readers online</ul>"
            f"<p class=clock>{number % 24}:00</p><p>The text of page {asked.path} stays.</p>"
            f"<table><tr><td>{number}</td><td>sold</td></tr><tr><td>12</td><td>left</td></tr></table><a href=/2>2</a></body></html>"
        )

    places = ("html/body/ul/li/b", "html/body/ul/li/i", "html/body/p.clock")
    paths = [*map(TransientPath, places), TransientPath("html/body/table/tr/td", position=1, of=4)]
    server = serve(site)
    made = crawler_of(Markdown, DEDUP_CONTENT_FIELDS={"markdown": "text", "lines": "text"})

    def use() -> None:
        CrawlComponents.of(made).masks.use({f"127.0.0.1:{server.port}": Mask(paths=tuple(paths))})

    made.signals.connect(use, scrapy.signals.spider_opened, weak=False)
    done = await run(made, server.url("/"))
    assert done.urls == ["/", "/2"]
    for item in done.items:
        path = item["url"].removeprefix(server.url("/")[:-1])
        lines = [
            "# Chairs of oak",
            "* You are visitor number",
            "* readers online",
            f"The text of page {path} stays.",
            "| | sold |",
            "| 12 | left |",
        ]
        assert item["lines"].split("\n") == lines
        assert item["markdown"].split("\n\n") == lines
    assert done.dedup()["transient/blocks"] == 16
