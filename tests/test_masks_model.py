"""A mask takes out of a page what its places say, on the pages on which they act, and nothing else."""

import copy
from html import escape
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parsel import Selector

from scrapy_dedup.masks.kinds import kind_of, matches, path_of
from scrapy_dedup.masks.model import Mask, Place
from scrapy_dedup.masks.selectors import Selects, css_of
from scrapy_dedup.masks.slots import hidden, pieces, plain_slot, slot_in, slot_text
from scrapy_dedup.pages.response import version_of

from .growth import worse_than_linear

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = """<!DOCTYPE html><html><head><title>Shop</title><script>var a = "12 users online"</script></head><body class=x>
<div id=top class="bar wide"><p class=clock>Today is <b>Mon</b> &amp; 10:00<p class=online>12&nbsp;users online</div>
<div class="col-3"><a href="/p/1?sid=f00&amp;x=1">A &lt;thing&gt;</a><a href=/p/2>B</a></div>
<div class=box>one</div><div class=box>two<br>more</div><div class=box>three</div>
<p>12 users online</p></body></html>"""
TOP, BOX, TEXT = "html/body/div#top.bar.wide", "html/body/div.box", "html/body/p"
ONLINE = Place(f"{TOP}/p.online", slot=("", "users online"))
GONE = {"12 users online</p>": "</p>"}


@pytest.mark.parametrize(
    ("places", "left"),
    [
        ([ONLINE], {"12&nbsp;": "&nbsp;"}),
        ([Place(f"{TOP}/p.clock/b"), Place(f"{TOP}/p.clock", slot=("&", ""))], {"Mon": "", "10:00": ""}),
        ([Place("html/body/div.col-0/a", "href", slot=("…?sid=", "&x=1"))], {"f00": ""}),
        ([Place("html/body/div.col-0/a", "href", position=2)], {"=/p/2": ""}),
        ([Place(BOX, position=2)], {"two": ""}),
        ([Place(BOX, position=-1)], {"three": ""}),
        ([Place(BOX, position=5)], {}),
        ([Place(BOX, slot=("three", ""))], {}),
        ([Place("html/head/script", "#script[a]", slot=("", "users online"))], {'"12 users': '" users'}),
        ([Place(TEXT, typed=True)], {"12 users online</p>": " users online</p>"}),
        ([Place(BOX, typed=True)], {}),
        ([Place(TEXT, act="compare")], {}),
        ([Place(TEXT, act="compare", state="strip")], GONE),
        ([Place(TEXT, state="keep")], {}),
        ([Place(TEXT, position=1), Place(TEXT, state="keep")], {}),
        ([Place(TEXT), Place("p::text", state="keep")], {}),
        ([Place("body p:not([class])::text", state="strip")], GONE),
        ([Place("div.col-7 > a::attr(href)", "href", position=2)], {"=/p/2": ""}),
        ([Place("div.box", "*")], {"one": "", "two": "", "more": "", "three": ""}),
        ([Place("html/body/div", "*"), Place("div#top", "*", state="keep"), Place("div a", "*", state="keep")],
         {"one": "", "two": "", "more": "", "three": ""}),
        ([], {}),
    ],
)  # fmt: skip
def test_what_is_taken_out(places: list[Place], left: dict[str, str]) -> None:
    mask, expected = Mask(places=tuple(places)), PAGE
    for text, instead in left.items():
        head, _, tail = expected.rpartition(text)
        expected = head + instead + tail
    assert mask.strip(PAGE) == expected
    assert bool(mask.spans(PAGE)) is bool(left)
    assert mask.text(PAGE).split() == Mask().text(expected).split()
    again = copy.deepcopy(mask)
    assert (again, again.version, again.strip(PAGE)) == (mask, mask.version, expected)


ROWS = [
    ("html/body/p.online", "", "12 users online"),
    ("html/body/p.stock", "", "7 in stock"),
    ("html/body/p.day", "", "Monday, 5 May"),
    ("$.offers[].price", "", "12.50"),
    ("html/body/img", "src[?v]", "77"),
]
COUNTER = Place("html/body/p.online", slot=("", "users online"))


@pytest.mark.parametrize(
    ("place", "url", "compared", "stripped"),
    [
        (COUNTER, None, {0: ()}, {0: [(0, 1)]}),
        (Place("html/body/p.stock", act="compare"), None, {1: ()}, {}),
        (Place("html/body/p.online", slot=("… users", "")), None, {0: [(2, 3)]}, {0: [(2, 3)]}),
        (Place("html/body/p.day", typed=True), None, {2: ()}, {2: ()}),
        (Place("html/body/p.online", typed=True), None, {0: [(0, 1)]}, {0: [(0, 1)]}),
        (Place("html/body/p.online", slot=("12", "online"), typed=True), None, {}, {}),
        (Place("$.offers[].price"), None, {3: ()}, {3: ()}),
        (Place("html/body/img", "src[?v]"), None, {4: ()}, {4: ()}),
        (Place("img::attr(src)", "src[?v]"), None, {4: ()}, {4: ()}),
        (Place("html/body/p.stock", on=("/item/*",)), None, {}, {}),
        (Place("html/body/p.stock", on=("/item/*",)), "http://a.test/item/5?x=1", {1: ()}, {1: ()}),
        (Place("html/body/p.stock", on=("/item/*",)), "http://a.test/news/5", {}, {}),
        (Place("html/body/p.stock", not_on=("/item/**",)), "http://a.test/item/5/6", {}, {}),
        (Place("html/body/p.stock", not_on=("/item/**",)), None, {1: ()}, {1: ()}),
    ],
)
def test_what_is_hidden_of_rows(place: Place, url: str | None, compared: Any, stripped: Any) -> None:
    mask = Mask(places=(place,))
    assert mask.comparing.hidden(ROWS, url) == compared
    assert mask.stripping.hidden(ROWS, url) == stripped
    assert mask.comparing.applies_to(url) or not compared


def test_pages_are_compared_without_it() -> None:
    page = "<html><body><p class=online>{} users online</p><p>Chair</p></body></html>"
    one, other, without = (
        version_of(html) for html in (page.format(12), page.format(15), "<html><body><p>Chair</p></body></html>")
    )
    mask = Mask(places=(COUNTER,))
    assert {mask.sketch(each, None) for each in (one, other, without)} == {Mask().sketch(without, None)}
    assert mask.lasting(one, None).seen == without.seen
    assert Mask().lasting(one, None) is one
    assert Mask().version == Mask(places=(Place("p", state="keep"),)).version == ""
    assert (
        len({mask.version, Mask(places=(Place("html/body/p"),)).version, Mask(places=(COUNTER,), mode="seed").version})
        == 3
    )


@pytest.mark.parametrize(
    ("other", "left"), [("12 users", "12 users 10:00"), ("15 users", "users 10:00"), ("", "users 10:00")]
)
def test_with_another_version_only_what_differs_goes(other: str, left: str) -> None:
    page = "<html><body><p class=online>{}</p><p class=clock>10:00</p></body></html>"
    mask = Mask(places=(Place("p.online::text", slot=("", "users")), Place("p.clock::text")))
    assert mask.text(page.format("12 users"), other=page.format(other)) == left


@pytest.mark.parametrize(
    ("text", "slot", "left"),
    [
        ("a b c", ("a", "c"), "a c"),
        ("a c", ("a", "c"), "a c"),
        ("a", ("a", "a"), "a"),
        ("x a y a z", ("", "a", ""), "a"),
        ("x a y b z", ("", "a … b", ""), "a y b"),
        ("b a", ("a", "b"), "b a"),
        ("a b a b", ("a", "a b"), "a a b"),
        ("one two", ("… two", ""), "one two"),
        ("three words end", ("", "end"), "end"),
    ],
)
def test_gaps(text: str, slot: tuple[str, ...], left: str) -> None:
    assert Mask(places=(Place("p::text", slot=slot),)).text(f"<p>{text}</p>") == left


literals = st.lists(st.sampled_from(["a", "b:", "…", "{…}", "{...}", "x=", "/", "&", "12", "ü", " "]), max_size=3)


@given(st.lists(literals.map(" ".join), min_size=2, max_size=4), st.sampled_from(["", "href", "data-x"]))
@settings(max_examples=200)
def test_a_text_with_gaps_is_read_as_its_slot(found: list[str], attribute: str) -> None:
    slot = plain_slot(tuple(found), attribute)
    assert slot_in(slot_text(slot, attribute), attribute) == slot
    text = pieces("a b: x 12", attribute)
    assert slot is None or hidden(text, slot, attribute) is None or len(text) <= 12


@pytest.mark.parametrize(
    ("path", "kind", "patterns", "others"),
    [
        ("", "/", ["/", "/**"], ["/*", "/news/**"]),
        ("/about", "/*", ["/*", "/about", "/**"], ["/team", "/*/*"]),
        ("/about/", "/*", ["/about", "/about/"], []),
        ("/news/5", "/news/*", ["/news/*", "/news/**", "/*/*", "/new*/*", "/news/5"], ["/news", "/new/*", "/news/*/*", "/news/6"]),
        ("/2024/05/a", "/0/*/*", ["/2023/*/*", "/0/**", "/*/*/*"], ["/news/*/*"]),
        ("/item?id=5", "/item", ["/item", "/**", "/it*"], ["/*", "/items"]),
        ("/viewtopic.php", "/viewtopic.php", ["/*.php", "/viewtopic.php"], ["/*", "/x.php", "/viewtopicxphp"]),
        ("/a-page.html?x=1", "/*.html", ["/*.html", "/a-page.html"], ["/*"]),
        ("//x", "/*", ["/*"], []),
    ],
)  # fmt: skip
def test_kinds_of_pages(path: str, kind: str, patterns: list[str], others: list[str]) -> None:
    url = f"http://a.test{path}"
    assert kind_of(url) == kind
    assert [pattern for pattern in patterns if not matches(pattern, kind, path_of(url))] == []
    assert [pattern for pattern in others if matches(pattern, kind, path_of(url))] == []


def test_what_is_no_url_has_a_kind() -> None:
    assert kind_of("http://[") == "/"


NAMES = (
    "",
    "box",
    "col-2",
    "post-12-wide",
    "md:flex",
    "w-1/2",
    "-x",
    "--z",
    "é",
    "a.b",
    "12",
    'q"r',
    "x\\y",
    "[x]",
    "\u2028",
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["div", "span", "my-tag", "o:p"]),
            st.sampled_from(NAMES),
            st.lists(st.sampled_from(NAMES), max_size=3),
        ),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=200)
def test_css_of_a_row_selects_it(steps: list[tuple[str, str, list[str]]]) -> None:
    """In parsel, on the page that the row is of; and asked of the row itself."""
    opened = "".join(f'<{tag} id="{escape(name)}" class="{escape(" ".join(names))}">' for tag, name, names in steps)
    page = f"<html><body>{opened}12 users"
    (selector, _, text), *_ = version_of(page).seen
    css = css_of(selector)
    assert [found.strip() for found in Selector(page).css(css).getall()] == [text]
    assert Selects(css)(selector)
    for place in (Place(selector), Place(css, state="strip")):
        assert Mask(places=(place,)).comparing.hidden([(selector, "", text)], None) == {0: ()}


@pytest.mark.parametrize(
    ("css", "row", "is_selected"),
    [
        ("p.a::text", ("html/body/main/p.a.b", ""), True),
        ("main p.a::text", ("html/body/main/div/p.a.b", ""), True),
        ("main > p.a::text", ("html/body/main/div/p.a.b", ""), False),
        ("body > main p::text, p.x::text", ("html/body/p.x", ""), True),
        ("p.col-7::text", ("html/body/p.col-0", ""), True),
        ('p[class^="col-12"]::text', ("html/body/p.col-0", ""), True),
        ("p:not(.a)::text", ("html/body/p.a", ""), False),
        ("p:is(.a, .b)::text", ("html/body/p.b", ""), True),
        ("p::text", ("html/body/p", "title"), False),
        ("a::attr(href)", ("html/body/a", "href"), True),
        ('meta[name="csrf"]::attr(content)', ("html/head/meta", "content[name=csrf]"), True),
        ('meta[name="csrf"]::attr(content)', ("html/head/meta", "content[name=other]"), False),
        ("div.ad", ("html/body/div.ad/p/a", "href"), True),
        ("div.ad", ("html/body/div/p", ""), False),
        ("p::text", ("$.p", ""), False),
    ],
)
def test_any_css_is_asked_of_rows(css: str, row: tuple[str, str], is_selected: bool) -> None:
    attribute = "*" if "::" not in css else css.rpartition("attr(")[2].removesuffix(")") if "attr(" in css else ""
    mask = Mask(places=(Place(css, attribute, state="strip"),))
    assert bool(mask.stripping.hidden([(*row, "12")], None)) is is_selected


def test_hostile_pages_cost_no_more() -> None:
    def hide(case: tuple[Place, str]) -> None:
        place, text = case
        rows = [
            ("html/body" + "/div.a" * 99, "", text),
            *[(f"html/body/p.a{at}", "", "12") for at in range(len(text) // 20)],
        ]
        Mask(places=(place,)).stripping.hidden(rows, "http://a.test/" + text.replace(" ", "a"))

    inputs: dict[str, Callable[[int], Any]] = {
        "words": lambda n: (Place("div::text", slot=("", "a", "a a a b", ""), state="strip"), "a " * n),
        "css": lambda n: (Place("div div p::text, div div div::text", state="strip"), "a" * n),
        "stars": lambda n: (Place("html/body/p", on=("/" + "*a" * (n // 400), "/****b")), "a" * n),
    }
    assert not worse_than_linear(hide, inputs, 400)
