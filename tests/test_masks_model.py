"""A mask applied: what is stripped, and the laws that hold for any mask and any text."""

import copy
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parsel import Selector

from scrapy_dedup import Mask
from scrapy_dedup.content.sketch import sketch_of_html
from scrapy_dedup.content.tokenizer.tokens import blocks
from scrapy_dedup.content.versions import version_of
from scrapy_dedup.masks.model import TransientPath
from scrapy_dedup.masks.slots import hidden, joined, pieces, places, slot_problem
from scrapy_dedup.urls.templates import template_of

PAGE = """<!DOCTYPE html><html><head><title>Shop</title><script>var a = "12 users online"</script></head><body class=x>
<div id=top class="bar wide"><p class=clock>Today is <b>Mon</b> &amp; 10:00<p class=online>12&nbsp;users online</div>
<div class="col-3"><a href="/p/1?sid=f00&amp;x=1">A &lt;thing&gt;</a><a href=/p/2>B</a></div>
<div class=box>one</div><div class=box>two<br>more</div><div class=box>three</div>
<p>12 users online</p></body></html>"""


def path(selector: str, *slot: str, **more: object) -> TransientPath:
    return TransientPath(selector, slot=slot or None, **more)  # type: ignore[arg-type]


def mask_of(*paths: TransientPath, **more: object) -> Mask:
    return Mask("shop.example", paths, **more)  # type: ignore[arg-type]


TOP = "html/body/div#top.bar.wide"


def test_slots_and_whole_texts() -> None:
    mask = mask_of(
        path(f"{TOP}/p.online", "", "users online"), path(f"{TOP}/p.clock/b"), path(f"{TOP}/p.clock", "&", "")
    )
    assert mask.strip(PAGE) == PAGE.replace("12&nbsp;", "&nbsp;").replace("<b>Mon</b> &amp; 10:00", "<b></b> &amp; ")
    assert mask.text(PAGE) == "Shop Today is & users online A <thing> B one two more three 12 users online"


def test_tokens_that_pass() -> None:
    mask = mask_of(
        path(f"{TOP}/p.online", "", "users online"),
        TransientPath("html/body/div.col-0/a", "href", ("…?sid=", "&x=1")),
    )
    assert [PAGE[start:end] for start, end in mask.spans(PAGE)] == ["12", "f00"]
    assert '<a href="/p/1?sid=&amp;x=1">' in mask.strip(PAGE)


def test_one_of_several_blocks_by_position() -> None:
    mask = mask_of(path("html/body/div.box", position=2, of=4))
    assert mask.strip(PAGE) == PAGE.replace("two", "")
    assert mask.strip(PAGE.replace("three", "")) == PAGE.replace("three", "")


def test_positions_do_not_act_on_what_others_have_left() -> None:
    mask = mask_of(path("html/body/div.box", position=2, of=4), path("html/body/div.box", position=2, of=3))
    once = mask.strip(PAGE)
    assert "more" in once
    assert mask.strip(once) == once


def test_kinds_of_pages() -> None:
    item, tag = "http://shop.example/item/1/", "http://shop.example/tag/1/"
    mask = mask_of(path("html/body/p"), templates=frozenset({template_of(item)}))
    assert mask.spans(PAGE, url=item) == mask.spans(PAGE) != []
    assert mask.strip(PAGE, url=tag) == PAGE
    both = mask_of(
        path("html/body/p", templates=(template_of(item),)), templates=frozenset(map(template_of, (item, tag)))
    )
    assert both.spans(PAGE, url=item)
    assert not both.spans(PAGE, url=tag)
    assert not both.spans(PAGE)


def test_states() -> None:
    assert not mask_of(path("html/body/p", state="keep")).version
    assert mask_of(path("html/body/p", kind="undecided", state="strip")).strip(PAGE) != PAGE
    assert not mask_of(
        path("html/body/p", kind="undecided"), path("html/body/p", kind="growing", position=1, of=1)
    ).version
    # All blocks of a selector are kept if the user says so, also one that was learned by its position.
    assert not mask_of(path("html/body/p", position=1, of=1), path("html/body/p", state="keep")).version


def test_volatile_content_is_left_out_of_comparisons_only() -> None:
    volatile = mask_of(path("html/body/p", kind="volatile"))
    both = mask_of(path("html/body/p", kind="volatile"), path("html/body/b"))
    hides = mask_of(path("html/body/p"))
    page = version_of(PAGE)
    assert hides.spans(PAGE)
    assert (volatile.spans(PAGE), volatile.strip(PAGE)) == ([], PAGE)
    assert volatile.text(PAGE) == Mask().text(PAGE) != hides.text(PAGE)
    assert volatile.version == hides.version
    assert volatile.masked(page) == hides.masked(page) != Mask().masked(page)
    assert volatile.parted(page) == hides.parted(page)
    assert both.strip(PAGE) == mask_of(path("html/body/b")).strip(PAGE)
    # What the user says counts in both.
    assert mask_of(path("html/body/p", kind="volatile", state="strip")).strip(PAGE) == hides.strip(PAGE)
    assert not mask_of(path("html/body/p", kind="volatile", state="keep")).version


def test_version_is_of_what_is_hidden() -> None:
    one = mask_of(path("html/body/p", pages=3, examples=(("a", "b"),)), path("html/body/b", kind="growing"))
    assert one.version == mask_of(path("html/body/p")).version != ""
    others = [
        mask_of(path("html/body/p", "x", "")),
        mask_of(path("html/body/p", position=1, of=2)),
        mask_of(path("html/body/b")),
        mask_of(path("html/body/p"), templates=frozenset({(5, "a")})),
    ]
    assert len({one.version, *[other.version for other in others]}) == 5
    assert Mask().version == ""
    assert mask_of(path("html/body/p"), path("html/body/b")) == mask_of(path("html/body/b"), path("html/body/p"))
    assert copy.deepcopy(one) == one
    assert copy.deepcopy(one).strip(PAGE) == one.strip(PAGE)


def test_masked_fingerprint() -> None:
    mask = mask_of(path(f"{TOP}/p.online", "", "users online"))
    same = (
        PAGE.replace("12&nbsp;", "99 ")
        .replace("<div class=box>one</div>", "")
        .replace("three", "three</div><div class=box>one")
    )
    other = PAGE.replace("one", "One")
    url = "http://shop.example/a/"
    fingerprint = mask.masked(version_of(PAGE), url=url)
    assert mask.masked(version_of(same), url=url) == fingerprint
    assert mask.masked(version_of(other), url=url) != fingerprint
    assert mask.masked_sketch(version_of(PAGE)).words == sketch_of_html(PAGE).words - 3
    without = PAGE.replace("12&nbsp;users online", "")
    assert mask.masked(version_of(without), url=url) == fingerprint, "a page without the counter"
    # Without anything to hide it is the fingerprint of any sketch.
    assert Mask().masked(version_of(PAGE)) == sketch_of_html(PAGE).bag


@pytest.mark.parametrize(
    ("selector", "attribute"),
    [
        (f"{TOP}/p.clock", ""),
        (f"{TOP}/p.clock/b", ""),
        (f"{TOP}/p.online", ""),
        ("html/body/div.col-0/a", "href"),
        ("html/body/div.box", ""),
        ("html/body/p", ""),
        ("html/head/title", ""),
    ],
)
def test_css_and_xpath_select_what_is_stripped(selector: str, attribute: str) -> None:
    one = TransientPath(selector, attribute)
    stripped = [block.text for block in blocks(PAGE) if (block.selector, block.attribute) == (selector, attribute)]
    assert stripped
    tree = Selector(text=PAGE)
    for selected in (tree.css(one.css), tree.xpath(one.xpath)):
        assert [" ".join(text.split()) for text in selected.getall() if text.strip()] == stripped
    spans = mask_of(one).spans(PAGE)
    assert len(spans) == len(stripped)


def test_xpath_of_a_position_selects_one() -> None:
    one = path("html/body/div.box", position=3, of=4)
    assert Selector(text=PAGE).xpath(one.xpath).getall() == ["more"]
    assert mask_of(one).strip(PAGE) == PAGE.replace("more", "")
    last = path("html/body/div.box", "th", "", position=-1)
    assert Selector(text=PAGE).xpath(last.xpath).getall() == ["three"]
    assert Selector(text=PAGE).xpath(path("html/body/div.box", position=-2).xpath).getall() == ["more"]
    assert mask_of(path("html/body/div.box", "", "e", position=-1)).strip(
        PAGE.replace("three", "thr ee e")
    ) == PAGE.replace("three", " e")


@pytest.mark.parametrize(
    ("text", "slot", "ranges"),
    [
        ("a b c", ("a", "c"), [(1, 2)]),
        ("a c", ("a", "c"), []),
        ("a", ("a", "a"), None),
        ("x a y a z", ("", "a", ""), [(0, 1), (2, 5)]),
        ("x a y b z", ("", "a … b", ""), [(0, 1), (4, 5)]),
        ("b a", ("a", "b"), None),
        ("a b a b", ("a", "a b"), [(1, 2)]),
        ("one two", ("… two", ""), []),
        ("", ("a", ""), None),
    ],
)
def test_gaps_of_slots(text: str, slot: tuple[str, ...], ranges: list[tuple[int, int]] | None) -> None:
    assert hidden(text.split(), slot) == ranges


def test_what_is_no_slot() -> None:
    assert slot_problem(["a", ""]) is None
    assert "two literals" in (slot_problem(["a"]) or "")
    assert "whole text" in (slot_problem(["", ""]) or "")


# -- laws

literals = st.lists(st.sampled_from(["a", "b", "…", "12", "a b"]), max_size=2).map(" ".join)
slots = st.none() | st.lists(literals, min_size=2, max_size=4).map(tuple).filter(
    lambda slot: slot_problem(slot) is None
)
selectors = st.sampled_from(["html/body/p", "p", "p.a", "p.a/b", "div.box", "div", "a", "title", ""])
paths = st.builds(
    lambda selector, attribute, slot, kind, state, at, templates: TransientPath(
        selector, attribute, slot, kind, position=at[0], of=at[1], templates=templates, state=state
    ),
    selectors,
    st.sampled_from(["", "href"]),
    slots,
    st.sampled_from(["transient", "volatile", "growing", "undecided"]),
    st.sampled_from(["", "", "", "keep", "strip"]),
    st.sampled_from(
        [(0, 0), (0, 0), (1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (3, 3), (4, 4), (1, 0), (2, 0), (-1, 0), (-2, 0)]
    ),
    st.sampled_from([(), (), ((4, ""),)]),
)
masks = st.lists(paths, max_size=6, unique_by=lambda one: one.key).map(lambda found: Mask("a.example", tuple(found)))
MARKUP = (
    "<p>|<p class=a>|</p>|<b>|</b>|<div class=box>|<div>|</div>|<a href='/x?y=1&amp;z'>|</a>|a|b|a 12 b| |&nbsp;|&amp;|&#8195;x|<|>|"
    "< 5|12|<!-- c -->|<script>a</script>|<title>|<br>|\0|</|<![CDATA[a b]]>|<svg>|&#x41; b|\u2003|\x1c"
)
pieces_of_html = st.sampled_from(MARKUP.split("|"))
pages = st.lists(pieces_of_html, max_size=25).map("".join) | st.text(max_size=40)
urls = st.none() | st.sampled_from(["http://a.example/x", "nothing"])


@given(masks, pages, urls)
@settings(max_examples=150)
def test_spans_are_sorted_disjoint_and_inside(mask: Mask, html: str, url: str | None) -> None:
    at = 0
    for start, end in mask.spans(html, url=url):
        assert at <= start < end <= len(html)
        at = end


@given(masks, pages, urls)
@settings(max_examples=150)
def test_stripped_twice_is_stripped_once(mask: Mask, html: str, url: str | None) -> None:
    once = mask.strip(html, url=url)
    assert mask.strip(once, url=url) == once


@given(masks, pages)
@settings(max_examples=150)
def test_text_of_what_is_stripped_is_the_text(mask: Mask, html: str) -> None:
    assert mask.masked(version_of(html)) == mask.masked_sketch(version_of(html)).bag
    assert len(mask.text(html).split()) <= len(Mask().text(html).split())


@given(pages)
def test_an_empty_mask_strips_nothing(html: str) -> None:
    assert Mask().strip(html) is html


@given(st.text(max_size=60), st.sampled_from(["", "href"]))
def test_pieces_are_where_they_are_said_to_be(text: str, attribute: str) -> None:
    found = places(text, attribute)
    assert all(0 <= start < end <= len(text) for _, start, end in found)
    if "&" not in text:
        assert [piece for piece, _, _ in found] == pieces(text, attribute)
        assert joined(pieces(text, attribute), attribute).split() == text.split()


def test_what_is_carried_over_without_a_page_that_changed_stays_in_items() -> None:
    """Pages are compared without it; whether it passes there nobody has seen."""
    clock = TransientPath("html/body/p", typed=True, everywhere=True)
    mask = Mask(paths=(clock,), templates=frozenset({template_of("http://a.example/")}))
    html = "<html><body><p>{}</p><div>Recorded on this day</div></body></html>"
    url = "http://a.example/archive?n=7"
    versions = [version_of(html.format(shown)) for shown in ("3 May 2019", "4 May 2019")]
    assert len({mask.masked(version, url=url) for version in versions}) == 1
    assert mask.text(html.format("3 May 2019"), url=url) == "3 May 2019 Recorded on this day"
    assert mask.text(html.format("3 May 2019"), url="http://a.example/") == "Recorded on this day"
    said = replace(mask, paths=(replace(clock, state="strip"),))
    assert said.text(html.format("3 May 2019"), url=url) == "Recorded on this day"
