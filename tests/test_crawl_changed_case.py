"""Fields in another case than their page: stripped by the same places, and left alone for the same doubts."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.masks.fields.text_cuts import removed
from scrapy_dedup.masks.fields.transient_page import TransientPage
from scrapy_dedup.masks.fields.visible_text import Stream, folded

from .conftest import Serve
from .crawling import in_reactor, run
from .test_crawl_pipeline import Shop, shop, with_masks
from .test_crawl_pipeline_alignment import PAGE, page_with, select

Change = Callable[[str], str]
CHANGES = [str.upper, str.lower, str.title, str.casefold, str.capitalize, str.swapcase]
EVERY_CHANGE = pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)


def stripped(page: TransientPage, text: str, kind: str = "text") -> str:
    found = page.find([text], kind)
    assert not found.ambiguous
    return removed(text, found.cuts[0])


def test_folding_is_the_same_for_every_character_in_any_case() -> None:
    for number in range(sys.maxunicode + 1):
        if not 0xD800 <= number < 0xE000:
            char = chr(number)
            changed = {change(char) for change in CHANGES}
            assert changed == {char} or set(map(folded, changed)) == {folded(char)}


@given(st.lists(st.text("aBß ŉİıſΣﬁé12\u0345\n", max_size=12), max_size=3), st.sampled_from(CHANGES))
def test_folding_goes_character_by_character(strings: list[str], change: Change) -> None:
    stream = Stream(strings, html=False, fold=True)
    assert stream.text == "".join("".join(map(folded, "".join(string.split()))) for string in strings)
    assert stream.text == Stream(list(map(change, strings)), html=False, fold=True).text
    for node in stream.nodes:
        for at in range(node.at, node.at + node.length):
            start, end = stream.source(node, at, at + 1)
            assert stream.text[at] in folded(strings[node.string][start:end])
            low, high = stream.range_of(node, start, end)
            assert low <= at < high


@EVERY_CHANGE
@pytest.mark.parametrize("join", [" ", "", "\n\n"])
def test_text_of_several_elements(change: Change, join: str) -> None:
    page = page_with("12#1", "Sunday 22 November#1")
    text = join.join(each.strip() for each in select("#main p ::text"))
    expected = text.replace("12", "", 1).replace("Sunday 22 November", "", 1)
    assert stripped(page, change(text)).casefold().split() == expected.casefold().split()


@EVERY_CHANGE
def test_characters_that_become_several(change: Change) -> None:
    html = "<p>Straße ŉ &eacute; <b>Zwölf Füße</b> sind online, Ağustos</p><p>Ein anderer Text, ﬁne</p>"
    text = "Straße ŉ é Zwölf Füße sind online, Ağustos Ein anderer Text, ﬁne"
    page = page_with("Zwölf Füße", html=html)
    assert stripped(page, change(text)) == change(text.replace("Zwölf Füße ", ""))
    assert stripped(page, change("Zwölf Füße")) == ""


@EVERY_CHANGE
def test_what_is_uncertain_stays(change: Change) -> None:
    page = page_with("12 users online", "Sunday 22 November")
    for css in ("#main p ::text", "p.price::text", "#main p:last-child::text"):
        text = change(" ".join(select(css)))
        assert stripped(page, text) == text
    html = "<p>Twelve</p><p>A chair of oak</p><p>TWELVE</p>"
    page = page_with("Twelve", html=html)
    assert page.find(["Twelve"], "text") == ([[(0, 6)]], False), "the case tells"
    assert page.find(["TWELVE"], "text") == ([[]], False)
    assert page.find(["twelve"], "text") == ([[]], True)
    assert page.find(["elve"], "text") == ([[]], False)


def test_html_in_another_case() -> None:
    page = page_with("12#1", '<div class="ad"><p>Buy more<br>shoes now</p></div>')
    (html,) = select("#main")
    text = html.replace("Seen", "SEEN").replace("like it", "LIKE it").replace("A chair of", "a CHAIR of")
    expected = text.replace("<b>12</b>", "<b></b>").replace('<div class="ad"><p>Buy more<br>shoes now</p></div>\n ', "")
    assert stripped(page, text, "html") == expected
    assert "12 users online" in PAGE


@in_reactor
async def test_a_crawl(serve: Serve) -> None:
    class Upper(Shop):
        def parse(self, response):  # type: ignore[no-untyped-def]
            for each in super().parse(response):
                if isinstance(each, dict):
                    text = each["text"]
                    each.update(text=text.upper(), lower=[part.lower() for part in text.split(".")], title=text.title())
                yield each

    server = serve(shop)
    fields = dict.fromkeys(("text", "lower", "title"), "text")
    done = await run(with_masks(server, Upper, DEDUP_CONTENT_FIELDS=fields), server.url("/"))
    assert len(done.items) == 9
    for item in done.items:
        assert item["text"].startswith("USERS ONLINE A CHAIR THAT 12 USERS BOUGHT AT 10:00 FOR  12.00  €.")
        assert item["lower"][0] == "users online a chair that 12 users bought at 10:00 for  12"
        assert item["title"].startswith("Users Online A Chair That 12 Users")
    assert done.dedup()["transient/fields"] == 27
