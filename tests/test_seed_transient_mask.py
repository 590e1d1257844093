"""Transient paths applied, in both of the document's ways: where they exist, and where a comparison verifies them.

Paragraphs on FIG. 2 ("accompanied by analysis of the content associated with the path") and FIG. 7.
"""

import re
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parsel import Selector

from scrapy_dedup import learn_mask
from scrapy_dedup.masks.cutting import marked, removed
from scrapy_dedup.masks.fields import TransientPage
from scrapy_dedup.masks.model import Mask, Place
from scrapy_dedup.masks.token_changes import Options
from scrapy_dedup.pages.tokens import TokenKind, tokens

from .seed_bits import verified_bits
from .test_seed_transient_changes import FIRST, SECOND, entries
from .token_paths import path_of


def page(weather: str, visitors: str, title: str = "Title") -> str:
    return (
        f"<html><body><h1>{title}</h1><div><b>Weather</b> {weather}</div><p>{visitors}</p>"
        "<i>home</i><i>news</i><i>help</i></body></html>"
    )


SITE = {
    f"http://news.example/{n}": [page(f"sun {n} {k}", f"{10 * n + k} here", f"Title {n}") for k in range(3)]
    for n in range(4)
}


@pytest.fixture(scope="module")
def mask() -> Mask:
    found = learn_mask(SITE, "seed")
    assert found.mode == "seed"
    assert [place.selector for place in found.places] == ["html/body/div", "html/body/p"]
    return found


NOW = page("rain", "12 here")


@pytest.mark.parametrize(
    ("other", "left"),
    [
        # FIG. 7: "if path exists in related web pages, content associated with the path is labeled as transient".
        pytest.param(None, "Title home news help", id="by existence only"),
        # A path whose content is the same in another version of the page is left alone; a changed one goes as a whole.
        pytest.param(page("rain", "13 here"), "Title Weather rain home news help", id="other visitors"),
        pytest.param(page("snow", "12 here"), "Title 12 here home news help", id="other weather"),
        pytest.param(page("snow", "13 here"), "Title home news help", id="both"),
        pytest.param(NOW, "Title Weather rain 12 here home news help", id="the same"),
        pytest.param(
            "<table><tr><td>all<td>is<td>new</table>",
            "Title Weather rain 12 here home news help",
            id="a reorganised page",
        ),
    ],
)
def test_seed_paths_by_existence_or_verified_by_comparison(mask: Mask, other: str | None, left: str) -> None:
    assert mask.text(NOW, other=other) == left
    assert (mask.strip(NOW, other=other) == NOW) is ("Weather rain 12" in left)
    gone = mask.spans(NOW, other=other)
    assert len(gone) == ("Weather" not in left) * 2 + ("12" not in left)


@pytest.mark.parametrize(
    ("other", "left"),
    [
        (None, "here"),
        ("<body><div>rain</div><p>13 here</p>", "rain here"),
        ("<body><div>snow</div>", "here"),  # what came differs, too
        ("<body><div>rain</div><p>12 here</p>", "rain 12 here"),
        ("", "here"),
    ],
)
def test_seed_both_ways_in_the_default_mode(other: str | None, left: str) -> None:
    mask = Mask(places=(Place("html/body/p", slot=("", "here")), Place("html/body/div")))
    assert mask.text("<body><div>rain</div><p>12 here</p>", other=other) == left


HTML = st.lists(
    st.sampled_from(["<p>", "</p>", "<div>", "</div>", "<b>", "rain", "12 here", "<h1>", "</h1>", "\n", "<", "&amp;"])
).map("".join)


@given(HTML, HTML)
def test_seed_verified_is_part_of_what_exists(one: str, other: str) -> None:
    for mask in (
        Mask(places=tuple([Place(f"html/body/{path}", "*") for path in ("p", "div", "p/b")]), mode="seed"),
        Mask(places=(Place("html/body/p"), Place("html/body/div", slot=("", "here")))),
    ):
        verified, all_ = mask.spans(one, other=other), mask.spans(one)
        assert all(any(low <= start and end <= high for low, high in all_) for start, end in verified)
        assert mask.spans(one, other=one) == []


@given(HTML, HTML)
def test_seed_verified_tokens_are_those_of_the_paths(one: str, other: str) -> None:
    bits = verified_bits(("html/body/p", "html/body/div"), one, other)[0]
    marked = {token.start for token, bit in zip(entries(one), bits, strict=True) if bit and token.text}
    mask = Mask(places=(Place("html/body/p", "*"), Place("html/body/div", "*")), mode="seed")
    spans = mask.spans(one, other=other)
    assert all(any(start <= at < end for start, end in spans) for at in marked if one[at].strip())


@pytest.mark.parametrize("mode", ["default", "seed"])
@pytest.mark.parametrize("name", ["threshold", "max_marked", "max_share", "max_path"])
@pytest.mark.parametrize("value", [0, -1, 1.5, float("nan"), float("inf"), True, "1", None])
def test_thresholds_that_are_out_of_range(mode: Any, name: str, value: Any) -> None:
    right = "at least 1" if name == "max_path" else "it is a number over 0, and 1 at most"
    with pytest.raises(ValueError, match=rf"^{name} is {re.escape(repr(value))}: .*{right}$"):
        learn_mask({}, mode, options={name: value})
    for fine in (1, 1.0):
        assert learn_mask({}, mode, options={name: fine}).places == ()
    with pytest.raises(ValueError, match=f"^there is no option '{name}s': there are threshold, max_marked, "):
        learn_mask({}, mode, options={f"{name}s": 1})


def test_the_values_of_the_document() -> None:
    assert asdict(Options()) == {"threshold": 0.5, "max_marked": 0.5, "max_share": 0.5, "max_path": 1000}


def test_without_the_guards_a_page_may_go_as_a_whole() -> None:
    versions = {"http://news.example/": [f"<html><body><h1>{n}</h1><p>{n + 5} here</body></html>" for n in range(3)]}
    assert learn_mask(versions, "seed").places == ()
    mask = learn_mask(versions, "seed", options={"max_marked": 1, "max_share": 1})
    assert [place.selector for place in mask.places] == ["html"]
    assert mask.strip(versions["http://news.example/"][0]) == "<html><body><h1></h1><p></body></html>"


def test_the_pages_of_the_document() -> None:
    mask = learn_mask({"http://news.example/": [FIRST, SECOND]}, "seed")
    (place,) = mask.places
    assert (place.css, place.changes, place.opportunities) == ("body > p", 2, 2)
    left = FIRST.replace("\nToday is Sunday, June 24th, 2007.\n", "")
    assert [mask.strip(html) for html in (FIRST, SECOND)] == [left] * 2
    assert [mask.strip(html, other=SECOND) for html in (FIRST, SECOND)] == [left, SECOND]
    unseen = FIRST.replace("First section", "Another").replace("Sunday, June 24th", "Friday, June 29th")
    assert mask.strip(unseen, url="http://news.example/another") == left.replace("First section", "Another")


# What stands outside texts


def shop(n: int, day: int, *, own: str = "") -> str:
    """A page whose head, footer and image pass: a nonce and state, a csrf token, a build number, a pixel."""
    return (
        f'<!doctype html><html><head><title>Chair {n}</title><meta name="csrf" content="tok{n}x{day}">'
        f'<script nonce="non{n}x{day}">var state = "{n}-{day}";</script></head><body class=shop><h1>Chair {n}</h1>'
        f"<article><p>A chair of wood, {n} kg.</p><em>of oak</em>{own}</article><div id=box class=c{n} data-ad='ad{n}x{day}'>"
        f"Ad {n} {day}<br><!-- build {n} {day} --><a href='/go?{n}{day}'>go {n} {day}</a></div>"
        f'<img src="/px?{n}{day}" alt="">\n<i>home</i><b>help</b></body></html>'
    )


@pytest.fixture(scope="module")
def outside() -> Mask:
    found = learn_mask({f"http://shop.example/{n}": [shop(n, day) for day in range(3)] for n in range(4)}, "seed")
    assert [place.selector for place in found.places] == [
        *("html/body/div", "html/body/img", "html/head/meta", "html/head/script")
    ]
    return found


def test_paths_outside_the_body_act(outside: Mask) -> None:
    """Tags, scripts and comments are tokens to the document: what they say goes, and what structures the page stays."""
    left = outside.strip(shop(17, 5))
    assert left == (
        '<!doctype html><html><head><title>Chair 17</title><meta name="csrf" content="">'
        '<script nonce="">var state = "";</script></head><body class=shop><h1>Chair 17</h1>'
        "<article><p>A chair of wood, 17 kg.</p><em>of oak</em></article><div id=box class=c17 data-ad=''>"
        '<br><!--  --><a href=\'\'></a></div><img src="" alt="">\n<i>home</i><b>help</b></body></html>'
    )
    assert outside.strip(shop(17, 6)) == left, "a page that did not change is the same on another day"
    assert outside.strip(left) == left


def test_two_lines_never_become_one() -> None:
    mask = Mask(places=(Place("html/body/div", "*"),), mode="seed")
    html = "<div>a<br class=x data-n=1>b<hr id=y><wbr><img src=z>c</div>"
    assert mask.strip(html) == "<div><br class=x data-n><hr id=y><wbr><img src></div>"


def test_only_what_has_changed_goes_with_another_version(outside: Mask) -> None:
    now = shop(3, 7)
    assert outside.strip(now, other=now) == now
    assert outside.strip(now, other=now.replace("tok3x7", "tok3x8")) == now.replace("tok3x7", "")


def serialised(html: str) -> str:
    """The page as lxml writes it: other quotes, and other void tags."""
    return Selector(text=html).css("html").get() or ""


@pytest.mark.parametrize("form", [str, serialised])
def test_fields_of_html_lose_it_too(outside: Mask, form: Any) -> None:
    html = shop(17, 5)
    page = TransientPage(outside.stripping, html, None)
    field = form(html)
    found = page.find([field], "html")
    assert not found.ambiguous
    left = removed(field, found.cuts[0])
    for gone in ("tok17x5", "non17x5", "17-5", "ad17x5", "/px", "Ad 17", "go 17", "/go", "build 17"):
        assert gone in field
        assert gone not in left, gone
    for stays in (
        "<title>Chair 17</title>",
        "A chair of wood, 17 kg.",
        "of oak",
        "<i>home</i>",
        "c17",
        "id=",
        "<script",
        "<meta",
    ):
        assert stays in left, stays
    for part in ("script", "meta", "div", "body"):
        fragment = Selector(text=html).css(part).get() or ""
        cut = removed(fragment, page.find([fragment], "html").cuts[0])
        assert not re.search("(tok|non|ad)17x5|Ad 17|17-5", cut), part


def test_texts_are_marked(outside: Mask) -> None:
    html = shop(17, 5)
    found = marked(html, outside.spans(html), "html")
    for text in ("Ad 17 5", "go 17 5"):
        assert f'<span data-dedup="transient">{text}</span>' in found
    assert found.replace('<span data-dedup="transient">', "").replace("</span>", "") == html


BELOW = Place("html/body/div", "*")


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ([], "<body><div class=ad data-n><p class=price data-x></p><p></p></div><u>b</u></body>"),
        # Its CSS says what is meant: the text of the element, or all of it.
        (
            [Place("html/body/div.ad/p.price", state="keep")],
            "<body><div class=ad data-n><p class=price data-x>12</p><p></p></div><u>b</u></body>",
        ),
        (
            [Place("div.ad > p.price", "*", state="keep")],
            "<body><div class=ad data-n><p class=price data-x=2>12</p><p></p></div><u>b</u></body>",
        ),
        (
            [Place("html/body/div.ad/img", "src", state="keep")],
            "<body><div class=ad data-n><p class=price data-x></p><p></p><img src=/a></div><u>b</u></body>",
        ),
        (
            [Place("html/body/div/p", "*", state="keep")],
            "<body><div class=ad data-n><p class=price data-x=2>12</p><p>old</p></div><u>b</u></body>",
        ),
        # What the user strips elsewhere goes, too.
        (
            [Place("html/body/u", state="strip")],
            "<body><div class=ad data-n><p class=price data-x></p><p></p></div><u></u></body>",
        ),
    ],
)
def test_what_the_user_keeps_stays_below_a_path(said: list[Place], left: str) -> None:
    html = "<body><div class=ad data-n=1>Ad<p class=price data-x=2>12</p><p>old</p><img src=/a></div><u>b</u></body>"
    mask = Mask(places=(BELOW, *said), mode="seed")
    assert mask.strip(html).replace("<img src>", "") == left
    assert (mask.version == Mask(places=(BELOW,), mode="seed").version) is not bool(said)
    # The path itself may be kept.
    assert Mask(places=(Place("html/body/div", "*", state="keep"),), mode="seed").strip(html) == html


MARKUP = st.lists(
    st.sampled_from(
        (
            *(
                "<p>",
                "</p>",
                "<div data-a=1 id='x' b=\"2\">",
                "</div>",
                "<b c>",
                "<br>",
                "<br/>",
                "<img src=a>",
                "<img/x=1/>",
            ),
            *(
                "<script nonce=1>a<p>",
                "</script>",
                "<!--x-->",
                "<!--",
                "text",
                " ",
                "<",
                "</",
                "<p a='",
                "'>",
                "&amp;",
                "</b a=1>",
            ),
            *("<style>", "</style>", "<title>", "</title>", "<textarea>", "<template><p>", "</template>", "<svg/a=2>"),
        )
    )
).map("".join)


@given(MARKUP)
def test_any_page_keeps_its_structure(html: str) -> None:
    roots = ("p", "div", "p/b", "br", "img")
    mask = Mask(places=tuple([Place(f"html/body/{path}", "*") for path in roots]), mode="seed")
    spans = mask.spans(html)
    assert all(start < end for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    gone = {at for start, end in spans for at in range(start, end)}
    for token in tokens(html):
        path = path_of(token).removeprefix("html/body/")
        on = path.partition("/")[0] in roots
        here = gone & set(range(token.start, token.end))
        if not on or token.kind is TokenKind.CLOSE:
            assert not here
        elif token.kind is TokenKind.TEXT and token.text:
            assert len(here) == token.end - token.start


def test_a_hostile_page_costs_one_pass() -> None:
    """Of deep paths, each another one, no more is looked at than the paths of the mask are long."""
    mask = Mask(places=(Place("html/body/p", "*"),), mode="seed")
    page = "<html><body><p data-n=5>gone</p>" + "<div>" * 200 + "".join([f"<x{n} a=1>t</x{n}>" for n in range(2_000)])
    assert mask.strip(page) == page.replace(" data-n=5>gone", " data-n>")
