"""A mask takes out of a page what its file says, on the pages of which that is true, and nothing else."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parsel import Selector

from scrapy_dedup import Mask
from scrapy_dedup.content.versions import version_of
from scrapy_dedup.masks.model import TransientPath

from .exporting import mask_of, place

PAGE = """<!DOCTYPE html><html><head><title>Shop</title><script>var a = "12 users online"</script></head><body class=x>
<div id=top class="bar wide"><p class=clock>Today is <b>Mon</b> &amp; 10:00<p class=online>12&nbsp;users online</div>
<div class="col-3"><a href="/p/1?sid=f00&amp;x=1">A &lt;thing&gt;</a><a href=/p/2>B</a></div>
<div class=box>one</div><div class=box>two<br>more</div><div class=box>three</div>
<p>12 users online</p></body></html>"""
TOP, BOX, TEXT = "html/body/div#top.bar.wide", "html/body/div.box", "html/body/p"
ONLINE = place(f"{TOP}/p.online", "{…} users online")
ADDRESS = place("html/body/div.col-0/a", "…?sid={…}&x=1", attribute="href")
GONE = {"12 users online</p>": "</p>"}


@pytest.mark.parametrize(
    ("places", "left"),
    [
        pytest.param([ONLINE], {"12&nbsp;": "&nbsp;"}, id="words around a gap"),
        pytest.param([place(f"{TOP}/p.clock/b"), place(f"{TOP}/p.clock", "& {…}")], {"Mon": "", "10:00": ""}, id="texts"),
        pytest.param([ADDRESS], {"f00": ""}, id="an address"),
        pytest.param([place(BOX, position="2 of 4")], {"two": ""}, id="one of some"),
        pytest.param([place(BOX, position="2 of 5")], {}, id="another number of them"),
        pytest.param([place(BOX, position="2 of 4"), place(BOX, position="2 of 3")], {"two": ""}, id="not what others left"),
        pytest.param([place(BOX, slot=["three", ""], position="-1 of any")], {}, id="the last, with an empty gap"),
        pytest.param([place(TEXT, state="keep")], {}, id="kept"),
        pytest.param([place(TEXT, position="1 of 1"), place(TEXT, state="keep")], {}, id="all of them kept"),
        pytest.param([place(TEXT, kind="undecided")], {}, id="undecided"),
        pytest.param([place(TEXT, kind="growing")], {}, id="growing"),
        pytest.param([place(TEXT, kind="undecided", state="strip")], GONE, id="the user strips it"),
        pytest.param([place(TEXT, kind="volatile")], {}, id="volatile"),
        pytest.param([place(TEXT, kind="volatile", state="strip")], GONE, id="the user strips it all the same"),
        pytest.param([], {}, id="nothing"),
    ],
)  # fmt: skip
def test_what_is_taken_out(places: list[str], left: dict[str, str]) -> None:
    mask, expected = mask_of(*places), PAGE
    for text, instead in left.items():
        head, _, tail = expected.rpartition(text)
        expected = head + instead + tail
    assert mask.strip(PAGE) == expected
    assert bool(mask.spans(PAGE)) is bool(left)
    assert mask.text(PAGE).split() == mask_of().text(expected).split()
    assert mask.strip(expected) == expected, "what is left loses nothing more"


@pytest.mark.parametrize(
    ("text", "slot", "left"),
    [
        ("a b c", ["a", "c"], "a c"),
        ("a c", ["a", "c"], "a c"),
        ("a", ["a", "a"], "a"),
        ("x a y a z", ["", "a", ""], "a"),
        ("x a y b z", ["", "a … b", ""], "a y b"),
        ("b a", ["a", "b"], "b a"),
        ("a b a b", ["a", "a b"], "a a b"),
        ("one two", ["… two", ""], "one two"),
        ("three words end", ["", "end"], "end"),
    ],
)
def test_gaps(text: str, slot: list[str], left: str) -> None:
    assert mask_of(place("p", slot=slot)).text(f"<p>{text}</p>") == left


def test_kinds_of_pages() -> None:
    item, tag = "http://shop.test/item/1/", "http://shop.test/tag/1/"
    everywhere = mask_of(place(TEXT), kinds='item = "/item/*/*"')
    assert everywhere.spans(PAGE, url=item) == everywhere.spans(PAGE) != []
    assert everywhere.strip(PAGE, url=tag) == PAGE
    one = mask_of(place(TEXT, on=["item"]), kinds='item = "/item/*/*"\ntag = "/tag/*/*"')
    assert [bool(one.spans(PAGE, url=url)) for url in (item, tag, None)] == [True, False, False]


def test_what_pages_are_compared_without() -> None:
    """Fingerprints compare under equal versions, which depend on what is hidden and on nothing else."""
    page = version_of(PAGE)
    volatile, hides, counter = mask_of(place(TEXT, kind="volatile")), mask_of(place(TEXT)), mask_of(ONLINE)
    assert volatile.version == hides.version == mask_of(place(TEXT, pages=3, before="a", after="b")).version
    assert volatile.masked(page) == hides.masked(page) != Mask().masked(page)
    others = [place(TEXT, "x {…}"), place(TEXT, position="1 of 2"), place("html/body/b"), place(TEXT, kind="growing")]
    assert len({hides.version, *(mask_of(each).version for each in others)}) == 5
    assert mask_of(place(TEXT, kind="growing")).version == mask_of().version == ""
    assert copy.deepcopy(counter) == counter != hides
    moved = PAGE.replace("<div class=box>one</div>", "").replace("three", "three</div><div class=box>one")
    for same in (PAGE.replace("12&nbsp;", "99 "), moved, PAGE.replace("12&nbsp;users online", "")):
        assert counter.masked(version_of(same)) == counter.masked(page)
    assert counter.masked(version_of(PAGE.replace("one", "One"))) != counter.masked(page)


def test_what_is_carried_over_without_a_page_that_changed_stays_in_items() -> None:
    """Pages are compared without it; whether it passes there nobody has seen."""
    html, url = "<html><body><p>{}</p><div>Recorded on this day</div></body></html>", "http://shop.test/archive?n=7"
    mask = mask_of(place(TEXT, typed=True, everywhere=True), kinds='home = "/*"')
    versions = [version_of(html.format(shown)) for shown in ("3 May 2019", "4 May 2019")]
    assert len({mask.masked(version, url=url) for version in versions}) == 1
    assert mask.text(html.format("3 May 2019"), url=url) == "3 May 2019 Recorded on this day"
    assert mask.text(html.format("3 May 2019"), url="http://shop.test/") == "Recorded on this day"
    said = mask_of(place(TEXT, typed=True, everywhere=True, state="strip"), kinds='home = "/*"')
    assert said.text(html.format("3 May 2019"), url=url) == "Recorded on this day"


@pytest.mark.parametrize(
    ("selector", "keys", "texts"),
    [
        (f"{TOP}/p.clock", {}, ["Today is", "& 10:00"]),
        (f"{TOP}/p.clock/b", {}, ["Mon"]),
        ("html/body/div.col-0/a", {"attribute": "href"}, ["/p/1?sid=f00&x=1", "/p/2"]),
        (BOX, {}, ["one", "two", "more", "three"]),
        (BOX, {"position": "3 of 4"}, ["more"]),
        (BOX, {"position": "-1 of any", "typed": True}, ["three"]),
        ("html/head/title", {}, ["Shop"]),
    ],
)
def test_css_and_xpath_select_what_is_stripped(selector: str, keys: dict[str, Any], texts: list[str]) -> None:
    (path,) = mask_of(place(selector, **keys)).paths
    tree = Selector(text=PAGE)
    for selected in [tree.xpath(path.xpath), *([] if path.position else [tree.css(path.css)])]:
        assert [" ".join(text.split()) for text in selected.getall() if text.strip()] == texts
    if "typed" not in keys:
        assert len(mask_of(place(selector, **keys)).spans(PAGE)) == len(texts)


# -- laws

literals = st.lists(st.sampled_from(["a", "b", "…", "12", "a b"]), max_size=2).map(" ".join)
slots = (
    st.none()
    | st.sampled_from([None, ("a", ""), ("", "b")])
    | st.lists(literals, min_size=2, max_size=4).map(tuple).filter(lambda slot: any(set("ab1") & set("".join(slot))))
)
paths = st.builds(
    lambda selector, attribute, slot, kind, state, at, templates: TransientPath(
        selector, attribute, slot, kind, position=at[0], of=at[1], templates=templates, state=state
    ),
    st.sampled_from(["p", "p", "p.a", "p.a/b", "div.box", "div.box/p", "a", "title", ""]),
    st.sampled_from(["", "href"]),
    slots,
    st.sampled_from(["transient", "transient", "transient", "volatile", "growing", "undecided"]),
    st.sampled_from(["", "", "", "keep", "strip"]),
    st.sampled_from(
        [*[(0, 0)] * 6, (1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (3, 3), (4, 4), (1, 0), (2, 0), (-1, 0), (-2, 0)]
    ),
    st.sampled_from([(), (), (), (), ((4, ""),)]),
)
masks = st.lists(paths, min_size=1, max_size=6, unique_by=lambda one: one.key).map(
    lambda found: Mask("a.example", tuple(found))
)
MARKUP = (
    "<p>|<p class=a>|</p>|<b>|</b>|<div class=box>|<div>|</div>|<a href='/x?y=1&amp;z'>|</a>|a|b|a 12 b| |&nbsp;|&amp;|&#8195;x|<|>|"
    "< 5|12|<!-- c -->|<script>a</script>|<title>|<br>|\0|</|<![CDATA[a b]]>|<svg>|&#x41; b|\u2003|\x1c"
)
WHOLE = "<p>a 12 b</p>|<p>12 b</p>|<p>a</p>|<p class=a>a 12<b>a b</b></p>|<a href='/x?y=1'>a 12</a>|<div class=box>a 12<p>a x b</p></div>"
markup = st.lists(st.sampled_from(MARKUP.split("|")), max_size=12).map("".join)
whole = st.lists(st.sampled_from(WHOLE.split("|")), min_size=1, max_size=6).map("".join)
pages = st.builds(str.__add__, whole, markup) | markup | st.text(max_size=40)


@given(masks, pages, st.none() | st.sampled_from(["http://a.example/x", "nothing"]))
@settings(max_examples=400)
def test_any_page_under_any_mask(mask: Mask, html: str, url: str | None) -> None:
    """Spans are sorted, disjoint and in the page; stripped twice is stripped once; no word comes, and under no mask none goes."""
    at = 0
    for start, end in mask.spans(html, url=url):
        assert at <= start < end <= len(html)
        at = end
    once = mask.strip(html, url=url)
    assert mask.strip(once, url=url) == once
    assert len(mask.text(html).split()) <= len(Mask().text(html).split())
    assert Mask().strip(html) is html
