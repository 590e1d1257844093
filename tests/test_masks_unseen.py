"""What passes in attributes, scripts and comments: learned as texts are, and taken out of pages that are compared as ever."""

import json
import re
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html
from parsel import Selector

from scrapy_dedup import Mask, learn_mask
from scrapy_dedup.content.tokenizer.tokens import blocks
from scrapy_dedup.content.tokenizer.unseen import unseen_blocks
from scrapy_dedup.content.versions import version_of
from scrapy_dedup.masks.files.reading import read_mask
from scrapy_dedup.masks.files.writing import written_mask
from scrapy_dedup.masks.model import TransientPath
from scrapy_dedup.urls.templates import template_of

PAGE = """<!doctype html><html><head><meta name="csrf-token" content="4f2a"><meta property=og:title content="A chair">
<script nonce=q1>s = {"page": "news", "request": "r7", "at": 1700};</script>
<script type="application/ld+json">{"n": 5, "offers": {"price": "12.99", "m": 6}}</script></head>
<body data-request=d9 data-sku="S1"><!-- cache: 2026-11-24 5123 --><p>Text</p><img src="/x.jpg?v=1" alt="A chair"></body></html>"""
HEAD, BODY = "html/head", "html/body"


def stripped(*paths: TransientPath, page: str = PAGE, **more: object) -> str:
    return Mask("shop.example", paths).strip(page, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (TransientPath(f"{HEAD}/meta", "content[name=csrf-token]"), 'content="4f2a"', 'content=""'),
        (TransientPath(f"{HEAD}/script", "nonce"), "nonce=q1", "nonce"),
        (TransientPath(f"{HEAD}/script", "#script[request]"), '"request": "r7"', '"request": ""'),
        (TransientPath(f"{HEAD}/script", "#script[at]"), ', "at": 1700}', "}"),
        (TransientPath(f"{HEAD}/script", "#script[n]"), '{"n": 5,', "{"),
        (TransientPath(f"{HEAD}/script", "#script[m]"), ', "m": 6', ""),
        (TransientPath(BODY, "data-request"), "data-request=d9 data", "data-request data"),
        (TransientPath(BODY, "#comment[cache]", slot=("cache:", "")), "2026-11-24 5123", ""),
        (TransientPath(BODY, "#comment[cache]", slot=("…", "")), "2026-11-24 5123", "2026-11-24 5123"),
        (TransientPath(BODY, "#comment[cache]"), "cache: 2026-11-24 5123", ""),
        (TransientPath(BODY, "#comment[other]"), "cache", "cache"),
    ],
)
def test_what_is_taken_out(path: TransientPath, before: str, after: str) -> None:
    assert before in PAGE
    assert stripped(path) == PAGE.replace(before, after)
    assert stripped(path, markup=False) == PAGE
    assert stripped(replace(path, kind="volatile")) == stripped(replace(path, kind="undecided")) == PAGE
    assert stripped(replace(path, state="keep")) == PAGE


def test_sources_of_images_belong_to_it() -> None:
    path = TransientPath(f"{BODY}/img", "src", slot=("/x.jpg?v=", ""))
    assert stripped(path) == PAGE.replace("?v=1", "?v=")
    assert stripped(path, markup=False) == PAGE


def test_a_value_without_quotes_leaves_the_next_attribute_alone() -> None:
    """Also one that is content."""
    page = "<body><input value=4f2a name=token><i data-x=1>"
    found = stripped(TransientPath("body/input", "value"), TransientPath("body/i", "data-x"), page=page)
    assert found == "<body><input value name=token><i data-x>"


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
    separators = (",", ":") if space == "|" else (", ", ": ")
    text = json.dumps(value, indent=indent, separators=separators)
    mask = Mask(paths=tuple([TransientPath("script", f"#script[{key}]") for key in sorted(keys)]))
    left = mask.strip(f"<script>{text}</script>").removeprefix("<script>").removesuffix("</script>")
    if not isinstance(value, dict | list):
        return
    json.loads(left)
    in_attribute = Mask(paths=tuple([TransientPath("p", f"data-x[{key}]") for key in sorted(keys)]))
    once = in_attribute.strip(f"<p data-x='{text}'>")
    if value and re.search('["]', text):
        assert json.loads(once.removeprefix("<p data-x='").removesuffix("'>")) == json.loads(left)


def test_the_tokens_that_lose_something() -> None:
    mask = Mask(
        paths=(
            TransientPath(f"{HEAD}/script", "#script[at]"),
            TransientPath(BODY, "#comment[cache]"),
            TransientPath(BODY, "data-request"),
        )
    )
    assert len(mask.spans(PAGE)) == 3
    assert mask.spans(PAGE, markup=False) == []
    other = PAGE.replace("1700", "1800")
    assert mask.strip(PAGE, other=other) == PAGE.replace(', "at": 1700', ""), (
        "what differs from the other version alone"
    )
    assert mask.strip(PAGE, other=PAGE) == PAGE


def test_only_pages_of_known_templates() -> None:
    of = template_of("http://shop.example/p/1")
    path = TransientPath(BODY, "data-request")
    known = Mask("shop.example", (path,), templates=frozenset([of]))
    assert known.strip(PAGE, url="http://shop.example/p/2") != PAGE
    assert known.strip(PAGE, url="http://shop.example/other/b/2") == PAGE
    everywhere = replace(path, everywhere=True, typed=True)
    mask = Mask("shop.example", (everywhere,), templates=frozenset([of]))
    assert mask.strip(PAGE, url="http://shop.example/p/2") != PAGE
    assert mask.strip(PAGE, url="http://shop.example/other/b/2") == PAGE, "nobody has seen it change there"
    mask = Mask(
        "shop.example", (everywhere,), templates=mask.templates, layouts=frozenset([Mask().layout(blocks(PAGE).rows())])
    )
    assert mask.strip(PAGE, url="http://shop.example/other/b/2") != PAGE


@pytest.mark.parametrize(
    "attribute", ["content[name=csrf-token]", "content[property=og:title]", "#script[at]", "nonce", "type"]
)
def test_css_and_xpath_find_it(attribute: str) -> None:
    found = next(block for block in unseen_blocks(PAGE) if block.attribute == attribute)
    path = TransientPath(found.selector, attribute)
    for selected in (Selector(PAGE).css(path.css), Selector(PAGE).xpath(path.xpath)):
        assert any(found.text in each for each in selected.getall())
    comment = TransientPath(BODY, "#comment[cache]")
    assert Selector(PAGE).xpath(comment.xpath).getall() == ["<!-- cache: 2026-11-24 5123 -->"]
    assert Selector(PAGE).css(comment.css).xpath("name()").get() == "body"


def test_mask_files_keep_it() -> None:
    mask = Mask(
        "shop.example", tuple([TransientPath(block.selector, block.attribute) for block in unseen_blocks(PAGE)])
    )
    found, errors = read_mask(written_mask(mask.data), __file__)  # type: ignore[arg-type]
    assert (found, errors) == (mask.data, [])


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


LASTING = {
    *(
        "content[property=og:title]",
        "#script[kind]",
        "#script[@type]",
        "#script[name]",
        "#script[price]",
        "#script[stock]",
    ),
    *("data-sku", "data-price", "data-stock", "alt", "#comment[end]"),
}
PASSING = {
    *("content[name=csrf-token]", "nonce", "#script[request]", "data-request", "#comment[made]", "src[?r]"),
}


def test_learned() -> None:
    shown, times = versions()
    mask = learn_mask(shown, times=times)
    places = {block.attribute for block in unseen_blocks(shown["http://shop.example/p/3"][0])}
    assert LASTING | PASSING < places
    hidden = {path.attribute for path in mask.paths if path.is_hidden and path.is_unseen}
    assert PASSING <= hidden
    assert not hidden & LASTING
    # The style sheet of the day is the site's.
    assert hidden <= PASSING | {"href[rel=stylesheet][?v]"}
    url = "http://shop.example/p/77"
    one, other = (mask.strip(news_page(77, 1, Random(seed)), url=url) for seed in (1, 2))
    assert one == other
    page = news_page(77, 1, Random(1))
    assert json.loads(Selector(one).css("[type='application/ld+json']::text").get()) == json.loads(
        Selector(page).css("[type='application/ld+json']::text").get()
    )
    for css in (
        "[property='og:title']::attr(content)",
        "::attr(data-sku)",
        "::attr(data-price)",
        "img::attr(alt)",
        "h1::text",
    ):
        assert Selector(one).css(css).getall() == Selector(page).css(css).getall() != []
    assert [each for each in re.findall("<!-- .*? -->", one) if each.startswith("<!-- end")] == ["<!-- end of 77 -->"]


def test_what_pages_show_is_learned_and_compared_as_without() -> None:
    shown, times = versions()
    mask, without = (learn_mask(shown, times=times, markup=markup) for markup in (True, False))
    assert [path for path in mask.paths if not path.is_unseen] == list(without.paths)
    assert any(path.is_left_out for path in without.paths)
    assert any(path.is_unseen for path in mask.paths)
    assert (mask.version, mask.templates, mask.layouts) == (without.version, without.templates, without.layouts)
    for url, found in shown.items():
        for page in found:
            full, plain = version_of(page, markup=True), version_of(page)
            assert mask.masked(full, url=url) == without.masked(plain, url=url)
            assert mask.left_of(full, url=url) == without.left_of(plain, url=url)
            assert mask.layout(full.blocks) == without.layout(plain.blocks)
            assert mask.is_verified(full, url=url) == without.is_verified(plain, url=url)
            assert mask.text(page, url=url) == without.text(page, url=url)
            assert mask.strip(page, url=url, markup=False) == without.strip(page, url=url, markup=False)
    assert Mask(paths=tuple([path for path in mask.paths if path.is_unseen])).version == ""


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
slots = st.sampled_from([None, None, ("a", ""), ("", "b"), ("…", "b")])
positions = st.sampled_from([(0, 0), (0, 0), (1, 1), (1, 2), (2, 2), (2, 3)])


@st.composite
def masked_pages(draw: st.DrawFn) -> tuple[Mask, str]:
    """A page, and a mask of places that it has."""
    page = draw(pages)
    places = sorted({(block.selector, block.attribute) for block in unseen_blocks(page)}) or [("p", "data-x")]
    taken = draw(st.lists(st.sampled_from(places), min_size=1, max_size=4, unique=True))
    found = []
    for place in taken:
        position, of = draw(positions)
        found.append(TransientPath(*place, slot=draw(slots), position=position, of=of))
    return Mask("a.example", tuple(found)), page


def by_place(page: str) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for block in unseen_blocks(page):
        found.setdefault((block.selector, block.attribute), []).append(block.text)
    return found


@given(masked_pages())
@settings(max_examples=300)
def test_stripped_twice_is_stripped_once(given_: tuple[Mask, str]) -> None:
    mask, page = given_
    once = mask.strip(page)
    assert mask.strip(once) == once


@given(masked_pages())
@settings(max_examples=300)
def test_nothing_but_named_places_changes(given_: tuple[Mask, str]) -> None:
    mask, page = given_
    once = mask.strip(page)
    assert [row for row in blocks(once).rows() if not row[1]] == [row for row in blocks(page).rows() if not row[1]]
    before, after = by_place(page), by_place(once)
    named = {(path.selector, path.attribute) for path in mask.paths}
    for place in before.keys() | after.keys():
        if place not in named:
            assert after.get(place) == before.get(place)
        else:
            words = (Counter(" ".join(found.get(place, [])).split()) for found in (after, before))
            left, all_ = words
            assert left <= all_
    if once != page:
        assert after != before


@given(masked_pages())
def test_without_markup_nothing_changes(given_: tuple[Mask, str]) -> None:
    mask, page = given_
    assert mask.strip(page, markup=False) == page


@given(pages)
def test_elements_and_attributes_stay(page: str) -> None:
    places = {(block.selector, block.attribute) for block in unseen_blocks(page)}
    mask = Mask("a.example", tuple([TransientPath(*place) for place in sorted(places)]))

    def elements(text: str) -> list[tuple[str, list[str]]]:
        root = lxml_html.document_fromstring(f"<body>{text}</body>")
        return [(each.tag, sorted(each.attrib)) for each in root.iter() if isinstance(each.tag, str)]

    assert elements(mask.strip(page)) == elements(page)
