"""What passes in attributes, scripts and comments: learned as texts are, and taken out of pages that are compared as ever."""

import json
import re
from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html
from parsel import Selector

from scrapy_dedup import Mask, learn_mask
from scrapy_dedup.content.versions import version_of
from scrapy_dedup.masks.model import TransientPath

from .exporting import mask_of, place

PAGE = """<!doctype html><html><head><meta name="csrf-token" content="4f2a"><meta property=og:title content="A chair">
<script nonce=q1>s = {"page": "news", "request": "r7", "at": 1700};</script>
<script type="application/ld+json">{"n": 5, "offers": {"price": "12.99", "m": 6}}</script></head>
<body data-request=d9 data-sku="S1"><!-- cache: 2026-11-24 5123 --><p>Text</p><img src="/x.jpg?v=1" alt="A chair"></body></html>"""
HEAD, BODY = "html/head", "html/body"


def at(where: str, attribute: str, text: str = "{…}", **keys: str) -> str:
    return place(where, text, attribute=attribute, **keys)


@pytest.mark.parametrize(
    ("where", "attribute", "text", "before", "after"),
    [
        (f"{HEAD}/meta", "content[name=csrf-token]", "{…}", 'content="4f2a"', 'content=""'),
        (f"{HEAD}/script", "nonce", "{…}", "nonce=q1", "nonce"),
        (f"{HEAD}/script", "#script[request]", "{…}", '"request": "r7"', '"request": ""'),
        (f"{HEAD}/script", "#script[at]", "{…}", ', "at": 1700}', "}"),
        (f"{HEAD}/script", "#script[n]", "{…}", '{"n": 5,', "{"),
        (f"{HEAD}/script", "#script[m]", "{…}", ', "m": 6', ""),
        (BODY, "data-request", "{…}", "data-request=d9 data", "data-request data"),
        (BODY, "#comment[cache]", "cache: {…}", "2026-11-24 5123", ""),
        (BODY, "#comment[cache]", "… {…} 5123", "2026-11-24 5123", "2026-11-24 5123"),
        (BODY, "#comment[cache]", "{…}", "cache: 2026-11-24 5123", ""),
        (BODY, "#comment[other]", "{…}", "cache", "cache"),
        (f"{BODY}/img", "src", "/x.jpg?v={…}", "?v=1", "?v="),
    ],
)
def test_what_is_taken_out(where: str, attribute: str, text: str, before: str, after: str) -> None:
    """By itself, by kind and by what the user says; where another version is known, only what differs from that."""
    mask = mask_of(at(where, attribute, text))
    assert before in PAGE
    stripped = PAGE.replace(before, after)
    assert mask.strip(PAGE) == stripped
    assert mask.strip(PAGE, markup=False) == mask.strip(PAGE, other=PAGE) == PAGE
    assert mask.strip(PAGE, other="") == stripped
    for keys in ({"kind": "volatile"}, {"kind": "undecided"}, {"state": "keep"}):
        assert mask_of(at(where, attribute, text, **keys)).strip(PAGE) == PAGE
    assert bool(mask.version) is (attribute == "src"), "pages are never compared by what nobody sees"


@pytest.mark.parametrize(
    ("where", "attribute", "shown"),
    [
        (f"{HEAD}/meta", "content[name=csrf-token]", ["4f2a"]),
        (f"{HEAD}/meta", "content[property=og:title]", ["A chair"]),
        (f"{HEAD}/script", "nonce", ["q1"]),
        (BODY, "#comment[cache]", ["<!-- cache: 2026-11-24 5123 -->"]),
    ],
)
def test_css_and_xpath_find_it(where: str, attribute: str, shown: list[str]) -> None:
    (path,) = mask_of(at(where, attribute)).paths
    assert Selector(PAGE).xpath(path.xpath).getall() == shown
    if attribute.startswith("#"):
        assert Selector(PAGE).css(path.css).xpath("name()").get() == "body", "that it stands in"
    else:
        assert Selector(PAGE).css(path.css).getall() == shown


def test_a_value_without_quotes_leaves_the_next_attribute_alone() -> None:
    """Also one that is content."""
    page = "<body><input value=4f2a name=token><i data-x=1>"
    mask = mask_of(at("body/input", "value"), at("body/i", "data-x"))
    assert mask.strip(page) == "<body><input value name=token><i data-x>"


json_values = st.recursive(
    st.sampled_from(["a1", "b", 1, -2.5, 17, "x y", None, True, "}", "a, 5"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b-c", "d", "at"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(
    json_values,
    st.sets(st.sampled_from(["a", "b-c", "d", "at", ""])),
    st.sampled_from([None, 1]),
    st.sampled_from(" |"),
)
@settings(max_examples=200)
def test_json_stays_json(value: object, keys: set[str], indent: int | None, space: str) -> None:
    """In a script, and in an attribute, which loses the same."""
    separators = (",", ":") if space == "|" else (", ", ": ")
    text = json.dumps(value, indent=indent, separators=separators)
    paths = [(TransientPath("script", f"#script[{key}]"), TransientPath("p", f"data-x[{key}]")) for key in sorted(keys)]
    mask = Mask(paths=tuple(path for both in paths for path in both))
    if isinstance(value, dict | list):
        left = json.loads(mask.strip(f"<script>{text}</script>").removeprefix("<script>").removesuffix("</script>"))
        once = mask.strip(f"<p data-x='{text}'>").removeprefix("<p data-x='").removesuffix("'>")
        assert not value or '"' not in text or json.loads(once) == left


def test_only_pages_of_known_kinds() -> None:
    product, other = "http://shop.test/p/2", "http://shop.test/other/b/2"
    for keys in ({}, {"everywhere": True, "typed": True}):
        mask = mask_of(place(BODY, attribute="data-request", **keys), kinds='product = "/p/*"')
        assert [mask.strip(PAGE, url=url) == PAGE for url in (product, other)] == [False, True], (
            "nobody has seen it there"
        )
    page = version_of(PAGE)
    everywhere = Mask("", mask.paths, templates=mask.templates, layouts=frozenset([Mask().layout(page.blocks)]))
    assert everywhere.strip(PAGE, url=other) != PAGE, "a page with the same places was seen"


# -- pages are compared as without

WORDS = [f"word{number}" for number in range(40)]


def token(rng: Random) -> str:
    return f"{rng.getrandbits(128) | 1 << 127:032x}"


def news_page(number: int, day: int, rng: Random) -> str:
    own = Random(number)
    text = " ".join(own.choices(WORDS, k=30))
    price, stock = f"{own.randint(10, 99) + day % 3}.99", own.randint(3, 60) - day
    product = {"@type": "Product", "name": f"Chair {number}", "offers": {"price": price, "stock": stock}}
    return (
        f'<!doctype html><html><head><title>Chair {number}</title><meta name="csrf-token" content="{token(rng)}">'
        f'<meta property="og:title" content="Chair {number} {text[:20]}"><link rel=stylesheet href="/a.css?v={day * 7 + 100}">'
        f'<script nonce="{token(rng)}">s = {{"kind": "shop", "request": "{token(rng)}"}}</script>'
        f'<script type="application/ld+json">{json.dumps(product)}</script></head><body data-request="{token(rng)}">'
        f"<p class=day>Day {day} of {token(rng)[:9]}</p><h1>Chair {number}</h1><p>{text}</p>"
        f'<p data-sku="S{number}" data-price="{price}" data-stock="{stock}">{price} EUR</p>'
        f'<img src="/{number}.jpg" alt="Chair {number}"><!-- made {day}:{token(rng)} --><!-- end of {number} -->'
        f'<img src="http://t.example/p.gif?r={rng.randint(10**9, 10**10)}" alt=""></body></html>'
    )


def versions(days: int = 4, pages: int = 12) -> tuple[dict[str, list[str]], dict[str, list[float]]]:
    """Pages fetched on some days, each twice within moments on the first one."""
    rng = Random(7)
    moments = [0.0, 30.0, *[86_400.0 * day for day in range(1, days)]]
    shown = {
        f"http://shop.example/p/{number}": [news_page(number, int(at // 86_400), rng) for at in moments]
        for number in range(pages)
    }
    return shown, {url: [at + number for at in moments] for number, url in enumerate(shown)}


LASTING = "content[property=og:title] #script[kind] #script[@type] #script[name] #script[price] #script[stock]".split()
LASTING += "data-sku data-price data-stock alt #comment[end]".split()
PASSING = {"content[name=csrf-token]", "nonce", "#script[request]", "data-request", "#comment[made]", "src[?r]"}
SELECTED = (
    "[property='og:title']::attr(content)",
    "::attr(data-sku)",
    "::attr(data-price)",
    "img::attr(alt)",
    "h1::text",
)


def test_learned() -> None:
    shown, times = versions()
    mask = learn_mask(shown, times=times)
    hidden = {path.attribute for path in mask.paths if path.is_hidden and path.is_unseen}
    # The style sheet of the day is the site's.
    assert PASSING <= hidden <= PASSING | {"href[rel=stylesheet][?v]"}
    assert not hidden & set(LASTING)
    url = "http://shop.example/p/77"
    page = news_page(77, 1, Random(1))
    one, other = (mask.strip(news_page(77, 1, Random(seed)), url=url) for seed in (1, 2))
    assert one == other
    product = "[type='application/ld+json']::text"
    assert json.loads(Selector(one).css(product).get() or "") == json.loads(Selector(page).css(product).get() or "")
    for css in SELECTED:
        assert Selector(one).css(css).getall() == Selector(page).css(css).getall() != []
    assert re.findall("<!-- end.*? -->", one) == ["<!-- end of 77 -->"]


def test_what_pages_show_is_learned_and_compared_as_without() -> None:
    shown, times = versions()
    mask, without = (learn_mask(shown, times=times, markup=markup) for markup in (True, False))
    assert [path for path in mask.paths if not path.is_unseen] == list(without.paths)
    assert any(path.is_left_out for path in without.paths)
    assert (mask.version, mask.templates, mask.layouts) == (without.version, without.templates, without.layouts)
    for url, found in shown.items():
        for page in found:
            assert mask.masked(version_of(page, markup=True), url=url) == without.masked(version_of(page), url=url)
            assert mask.text(page, url=url) == without.text(page, url=url)
            assert mask.strip(page, url=url, markup=False) == without.strip(page, url=url, markup=False)


def test_of_a_page_that_is_all_new_each_time_it_says_nothing() -> None:
    """Neither tokens nor what it shows, whatever is the same of what nobody sees."""
    rng = Random(1)

    def words() -> str:
        return "".join(f"<p>{' '.join(rng.choices(WORDS, k=6))} {token(rng)}</p>" for _ in range(12))

    same = "".join(f'<i data-n="{number}"></i>' for number in range(300))
    shown = {
        f"http://a.example/{n}": [f'<body data-r="{token(rng)}">{same}{words()}</body>' for _ in range(4)]
        for n in range(6)
    }
    assert learn_mask(shown).paths == learn_mask(shown, markup=False).paths == ()


# -- laws

MARKUP = (
    '<p data-x=1>|<p data-x=\'a b\'>|<p data-x="a12" title="12 b">|</p>|<meta name=a content=4f>|<meta name=b content=4f>|a|12 b|'
    '<script>a = {"b": 12, "c": \'d\'}</script>|<script>[1, 2, {"a": 3}]; f(4, "x?y=5")</script>|<!-- a 12 -->|<!-- 12 -->|'
    '<b data-j=\'{"k": 5, "l": "m"}\'>|<img srcset="/a?v=1 1x, /b?v=2 2x">|<img src="/a?v=1&amp;w=b">|<link rel=c href=/d?5>|<b data-x=1 data-y=2>|&amp;|<'
)
pages = st.lists(st.sampled_from(MARKUP.split("|")), min_size=1, max_size=12).map("".join)
paths = st.builds(
    lambda place, slot, at: TransientPath(*place, slot=slot, position=at[0], of=at[1]),
    st.sampled_from(
        [
            *[("p", name) for name in ("data-x", "title")],
            *[("meta", f"content[name={name}]") for name in "ab"],
            *[("script", f"#script[{name}]") for name in ("b", "c", "a", "")],
            *[("", "#comment[a]"), ("b", "data-j[k]"), ("b", "data-x"), ("b", "data-y"), ("img", "srcset[?v]")],
            *[("p/b", "data-x"), ("p/script", "#script[b]"), ("p", "#comment[a]")],
        ]
    ),
    st.sampled_from([None, None, ("a", ""), ("", "b"), ("…", "b")]),
    st.sampled_from([(0, 0), (0, 0), (1, 1), (1, 2), (2, 2), (2, 3)]),
)
masks = st.lists(paths, min_size=1, max_size=5, unique_by=lambda path: path.key).map(
    lambda found: Mask("", tuple(found))
)


def elements(text: str) -> list[tuple[Any, list[str], str]]:
    """The elements of a page with the names of their attributes and what they show."""
    root = lxml_html.document_fromstring(f"<body>{text}</body>")
    found = [each for each in root.iter() if isinstance(each.tag, str)]
    return [(each.tag, sorted(each.attrib), each.text or "" if each.tag != "script" else "") for each in found]


@given(masks, pages)
@settings(max_examples=300)
def test_any_page_under_any_mask(mask: Mask, page: str) -> None:
    """Stripped twice is stripped once; elements, attributes and what is shown stay; no word comes, and without markup none goes."""
    once = mask.strip(page)
    assert mask.strip(once) == once
    assert mask.strip(page, markup=False) == page
    assert elements(once) == elements(page)
    words, left = (Counter(re.findall(r"\w+", text)) for text in (page, once))
    assert left <= words
