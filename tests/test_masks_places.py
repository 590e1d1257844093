"""What a mask says of a page, place by place: all that is hidden stands there, and what is done about it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup import Mask
from scrapy_dedup.content.versions import version_of
from scrapy_dedup.crawl.observe.site_masks import with_links
from scrapy_dedup.masks.model import TransientPath
from scrapy_dedup.masks.page_report import marked_text, places_on, texts_at
from scrapy_dedup.masks.slots import pieces
from scrapy_dedup.urls.templates import template_of

URL = "http://a.example/item/7"
PAGE = (
    "<html><body><p class=clock>Today is Monday</p><p>One</p><p>Two</p><p>Three</p><b>12 online</b>"
    "<a href='/cart?sid=5'>Cart</a><em>words <i>more</i></em></body></html>"
)


def acts(*paths: TransientPath, url: str = URL, **fields: object) -> list[tuple[str, list[str]]]:
    mask = Mask("a.example", paths, **fields)
    found = places_on(mask, version_of(PAGE), url=url, acting=with_links(mask))
    return [(place.act, place.marked) for place in found]


CLOCK = TransientPath("html/body/p.clock", slot=("Today is", ""))
SECOND = TransientPath("html/body/p", position=2, of=3)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (CLOCK, [("stripped", ["Today is ⟦Monday⟧"])]),
        (TransientPath("html/body/p.clock", slot=("It is", "")), [("elsewhere", ["Today is Monday"])]),
        (TransientPath("html/body/p.clock", slot=("Today is", ""), kind="volatile"), [("left out", ["Today is ⟦Monday⟧"])]),
        (TransientPath("html/body/p.clock", slot=("Today is", ""), kind="undecided"), [("undecided", ["Today is ⟦Monday⟧"])]),
        (TransientPath("html/body/p.clock", slot=("Today is", ""), state="keep"), [("kept", ["Today is Monday"])]),
        (TransientPath("html/body/p.clock", kind="growing", state="strip"), [("stripped", ["⟦Today is Monday⟧"])]),
        (TransientPath("html/body/p", kind="growing"), [("growing", ["One", "Two", "Three"])]),
        (SECOND, [("stripped", ["⟦Two⟧"])]),
        (TransientPath("html/body/p", position=-1, slot=("", "ree")), [("elsewhere", ["Three"])]),
        (TransientPath("html/body/h1", position=-1, slot=("x", "")), []),
        (TransientPath("html/body/p", position=2, of=4), []),
        (TransientPath("html/body/b", typed=True, kind="volatile"), [("left out", ["⟦12⟧ online"])]),
        (TransientPath("html/body/a", "href", ("/cart?sid=", "")), [("stripped", ["/cart?sid=⟦5⟧"])]),
        (TransientPath("html/body/a", "href", kind="undecided"), [("undecided", ["/cart?sid=5"])]),
        (TransientPath("html/body/h1"), []),
        (TransientPath("html/body/b", templates=((9, "x"),)), [("elsewhere", ["12 online"])]),
    ],
)  # fmt: skip
def test_what_is_done_about_a_place(path: TransientPath, found: list[tuple[str, list[str]]]) -> None:
    assert acts(path) == found


def test_the_address_goes_with_the_whole_text_of_its_link() -> None:
    address = TransientPath("html/body/a", "href", kind="undecided")
    assert acts(TransientPath("html/body/a"), address) == [("stripped", ["⟦Cart⟧"]), ("stripped", ["⟦/cart?sid=5⟧"])]


def test_all_that_stands_in_an_element() -> None:
    assert acts(TransientPath("html/body/em/*"), mode="seed") == [("stripped", ["⟦words⟧", "⟦more⟧"])]


def test_pages_of_an_unknown_kind() -> None:
    assert acts(CLOCK, templates=frozenset({(4, "", "")})) == [("elsewhere", ["Today is ⟦Monday⟧"])]
    assert acts(CLOCK, templates=frozenset({template_of(URL)})) == [("stripped", ["Today is ⟦Monday⟧"])]


def test_what_stood_there_before() -> None:
    before = version_of(PAGE.replace("Monday", "Sunday").replace("<p>Two</p>", ""))
    assert texts_at(CLOCK, before) == ("Today is Sunday",)
    assert texts_at(SECOND, before) == (), "it had another number of texts"


words = st.lists(st.sampled_from(["a", "b", "12", "Mon"]), min_size=1, max_size=3).map(" ".join)
pages = st.lists(st.tuples(st.sampled_from(["p", "b", "i"]), words), max_size=5).map(
    lambda found: "<html><body>" + "".join(f"<{tag}>{text}</{tag}>" for tag, text in found) + "</body></html>"
)
paths = st.builds(
    lambda tag, slot, kind, state, position, typed, everywhere: TransientPath(
        f"html/body/{tag}",
        slot=slot,
        kind=kind,
        state=state,
        position=position[0],
        of=position[1],
        typed=typed,
        everywhere=everywhere,
    ),
    st.sampled_from(["p", "b", "i"]),
    st.sampled_from([None, ("a", ""), ("", "b"), ("a", "b")]),
    st.sampled_from(["transient", "volatile", "growing", "undecided"]),
    st.sampled_from(["", "", "keep", "strip"]),
    st.sampled_from([(0, 0), (0, 0), (1, 2), (2, 3)]),
    st.booleans(),
    st.booleans(),
)


@given(st.lists(paths, max_size=4, unique_by=lambda path: path.key), pages, st.booleans())
@settings(max_examples=200)
def test_all_that_is_hidden_is_among_the_places(found: list[TransientPath], page: str, known: bool) -> None:
    mask = Mask("a.example", tuple(found), templates=frozenset({template_of(URL) if known else (4, "", "")}))
    version = version_of(page)
    places = places_on(mask, version, url=URL)
    for act, hidden in (
        ("stripped", mask.hidden_of(version, url=URL)),
        ("left out", mask.hidden_of(version, url=URL, compared=True)),
    ):
        texts = {version.blocks[index][:1] + version.blocks[index][2:] for index in hidden}
        shown = {
            (place.path.selector, text) for place in places if place.act in {act, "stripped"} for text in place.texts
        }
        assert texts <= shown
    # What is stripped of a page is what its marks say.
    lasting = mask.text(page, url=URL)
    hidden = mask.hidden_of(version, url=URL)
    marks = [marked_text(text, hidden.get(index)) for index, (_, _, text) in enumerate(version.blocks)]
    assert " ".join(word for word in _without_marks(" ".join(marks)).split()) == lasting


def _without_marks(text: str) -> str:
    while "⟦" in text:
        before, _, rest = text.partition("⟦")
        text = before + rest.partition("⟧")[2]
    return text


@given(words, st.integers(0, 3), st.integers(0, 3))
def test_marks_stand_around_whole_pieces(text: str, start: int, length: int) -> None:
    found = pieces(text)
    end = min(start + length, len(found))
    ranges = [(start, end)] if start < end else None
    marked = marked_text(text, ranges)
    assert marked.replace("⟦", "").replace("⟧", "") == text
    assert ("⟦" in marked) == (start < end)
