"""What of a field passes is told by where it stands in the page, never by its words alone; lines stay lines, and no lasting word goes."""

import re
from collections.abc import Sequence
from html import escape, unescape
from random import Random
from typing import Any

import pytest
from parsel import Selector

from scrapy_dedup.masks.cutting import marked, removed
from scrapy_dedup.masks.fields import TransientPage
from scrapy_dedup.masks.model import Mask, Place

from .growth import worse_than_linear

#: Of all elements of the class "t" everything passes.
PASSES = Place(".t", "*", state="strip")
DAY = Place("p.day::text", slot=("Today is Sunday", "and it rains."), state="strip")


def found_in(html: str, field: Any, kind: str = "text", places: Sequence[Place] = (PASSES, DAY)) -> tuple[Any, bool]:
    """What is left of a field of a page, and whether something could not be told."""
    page = TransientPage(Mask(places=tuple(places)).stripping, html, None)
    strings = field if isinstance(field, list) else [field]
    found = page.find(strings, kind)
    left = [removed(text, cuts) for text, cuts in zip(strings, found.cuts, strict=True)]
    return (left if isinstance(field, list) else left[0]), found.ambiguous


PAGE = """<!DOCTYPE html><html><head><title>A chair</title></head><body>
<ul id=top><li class="day t">Sunday 22 November<li class="online t">12 users online</ul>
<DIV class='main' id="main"><h1>A chair of oak &amp; ash</h1>
 <p>Seen <b class=t>12</b> times since <i class=t>Sunday 22 November</i> by those who like it.</p>
 <p class=price>Price: 12.00 &euro;<br>Delivery on Sunday 22 November at the earliest.</p>
 <script>var now = "12 users online";</script>
 <div class="ad"><p class=t>Buy more<br>shoes now</p></div>
 <p class=last>The chair of which 12 users online spoke is a good one, they say.</p></DIV>
</body></html>"""
SEEN = ["Seen ", "12", " times since ", "Sunday 22 November", " by those who like it."]
TITLE, LAST = "A chair of oak & ash", "The chair of which 12 users online spoke is a good one, they say."
LEFT = "Seen times since by those who like it."


@pytest.mark.parametrize(
    ("field", "left"),
    [
        (LAST, LAST),
        (Selector(PAGE).css("p.price ::text, p.last::text").getall(), None),
        (Selector(PAGE).css("#top ::text").getall(), ["", ""]),
        (SEEN, ["Seen ", "", "times since ", "", "by those who like it."]),
        ("".join(SEEN), LEFT),
        (f"{TITLE}\n{''.join(SEEN)}\n{LAST}", f"{TITLE}\n{LEFT}\n{LAST}"),
        # Nobody knows what stood in front of it.
        (f"{LAST} {TITLE} Buy more shoes now", f"{LAST} {TITLE} Buy more "),
        (f"By us: {''.join(SEEN)} {LAST}", f"By us: {LEFT} {LAST}"),
        # Nobody knows what is cut off.
        ("Seen 12 times since Sunday 22 Novem", "Seen times since Sunday 22 Novem"),
        ("22 November by those who like it.", None),
        ("22 Nov", None),
        ("", None),
    ],
)
def test_text_of_a_page(field: Any, left: Any) -> None:
    found, _ = found_in(PAGE, field)
    expected = field if left is None else left
    if isinstance(field, list) and len(found) == len(expected):
        found, expected = ([" ".join(text.split()) for text in each] for each in (found, expected))
    assert found == expected


@pytest.mark.parametrize(
    ("html", "field", "left", "is_told"),
    [
        ("<p class=t>12</p><p>a chair</p><p>12</p>", "12", "12", False),
        ("<p class=t>12</p><p>a chair</p><p class=t>12</p>", "12", "12", False),
        ("<div>one two three four <i>12</i> five six seven eight</div><p class=t>12</p>", "one two three four 12 five six seven eight", None, True),
        ("<p class=t>12</p><p>a chair</p>", "chair 12 and more of what the page has not", None, False),
        ("<p class=t>3124 visitors</p><p>A text</p>", "312", "312", True),
        ('<meta content="22 Nov 2026"><p class=day>Today is Sunday 22 Nov 2026 and it rains.</p>', "22 Nov 2026", None, False),
        ("<p>Tom &amp; Jerry&#39;s caf&eacute; is open for <b class=t>&lt;12&gt;</b> guests &nbsp; a day</p>",
         "Tom & Jerry's café is open for <12> guests \xa0 a day", "Tom & Jerry's café is open for guests \xa0 a day", True),
        ("<p class=t>a b</p><p>a b c</p>", "a b c d", None, False),
    ],
)  # fmt: skip
def test_what_is_uncertain_stays(html: str, field: str, left: str | None, is_told: bool) -> None:
    assert found_in(f"<html><body>{html}</body></html>", field) == (field if left is None else left, not is_told)


VALUES = (
    '<html><head><meta name=csrf content=f00><script nonce=\'aa\'>s = {"kind": "chair", "id": \'b7\', "at": 12}</script></head>'
    '<body data-r=77><aside><a href="/x?sid=9&amp;y=1">x</a><a href="/news">n</a></aside><main><a href="/news">n</a>'
    '<p title="Made at 9:30">text</p><!-- cache: 9:30 --></main><img src="/a.png?v=5" alt="A"></body></html>'
)
PLACES = [
    Place("meta[name=csrf]::attr(content)", "content"),
    Place("script::attr(nonce)", "nonce"),
    Place("script::text", "#script[id]"),
    Place("script::text", "#script[at]"),
    Place("body::attr(data-r)", "data-r"),
    Place("aside a::attr(href)", "href", slot=("/x?sid=", "&y=1")),
    Place("aside a::attr(href)", "href", position=2),
    Place("p::attr(title)", "title", slot=("Made at", "")),
    Place("main", "#comment[cache]", slot=("cache:", "")),
    Place("img::attr(src)", "src[?v]"),
]
GONE = {"=f00": "", "'aa'": "''", ", \"id\": 'b7', \"at\": 12": ", \"id\": ''", "=77": "", "sid=9": "sid=", 'at 9:30"': 'at "',
        ": 9:30 ": ":  ", "v=5": "v="}  # fmt: skip


@pytest.mark.parametrize("select", ["html", "body", "head", "aside", "main", "meta", "img", "script", "p"])
@pytest.mark.parametrize("is_written_anew", [False, True])
def test_values_in_html(select: str, is_written_anew: bool) -> None:
    """As it stands there, or as lxml writes it."""
    field = Selector(VALUES).css(select).get() if is_written_anew or select != "html" else VALUES
    assert field is not None
    left, _ = found_in(
        VALUES,
        field,
        "html",
        [Place(each.selector, each.attribute, each.position, each.slot, state="strip") for each in PLACES],
    )
    for gone in ("f00", "'aa'", '"aa"', "b7", '"at"', "77", "sid=9", "9:30", "v=5"):
        assert gone not in left
    for stays in ("chair", "csrf", "/x?sid=&amp;y=1", "Made at", "cache:", "/a.png?v=", 'alt="A"', "text"):
        assert (stays in left) is (stays.replace("sid=", "sid=9") in field or stays in field), stays
    assert left.count('href="/news"') == field.count('href="/news"') - (select in ("html", "body", "aside"))


def test_a_value_that_may_come_from_two_places_is_told_by_the_elements() -> None:
    """A text is not: the same one stands at both."""
    html = "<html><body><ul><li><a href=/n>7</a></ul><main><a href=/n>7</a></main></body></html>"
    places = [Place("ul", "*", state="strip")]
    for field, left in {
        "<li><a href=/n>7</a>": "<li><a href>7</a>",
        "<main><a href=/n>7</a>": None,
        "<a href=/n>7</a>": None,
    }.items():
        assert found_in(html, field, "html", places)[0] == (left or field)


def longer(text: str) -> str:
    return text.replace("some", "some lasting text in front").replace("words", "words that last behind it")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("* You are visitor number 45768\n\n* 354 readers online", "* You are visitor number\n\n* readers online"),
        ("some 1 2 words", "some words"),
        ("some  1  words", "some words"),
        ("some(1) words", "some() words"),
        ("some words 1", "some words "),
        ("1 some words", "some words"),
        ("some\n1\nwords", "some\nwords"),
        ("some\r\n1\r\nwords", "some\r\nwords"),
        ("some\n\n1\n\nwords", "some\n\nwords"),
        ("some\n\n1\nwords", "some\n\nwords"),
        ("some\n1\n\nwords", "some\n\nwords"),
        ("some\n\n1\n\n2\n\nwords", "some\n\nwords"),
        ("some\n\n\n1\nwords", "some\n\n\nwords"),
        ("1\n\nsome words", "some words"),
        ("some words\n\n1", "some words"),
        ("some words\n\n1\n", "some words\n"),
        (" 1\n\n2 ", ""),
        # Two blanks at the end of a line break it in Markdown; one that was before the cut would be one too many.
        ("some 1  \nwords", "some  \nwords"),
        ("- 1\n- some\n1. words", "-\n- some\n. words"),
        ("| 1 | some |\n|---|---|\n| words | 2 |", "| | some |\n|---|---|\n| words | |"),
        ("1\tsome\t2\twords", "\tsome\t\twords"),
    ],
)
def test_lines_stay_lines(text: str, left: str) -> None:
    text, left = longer(text), longer(left)
    html = re.sub(r"(\d+)", r"<b class=t>\1</b>", f"<html><body><pre>{text}</pre>")
    assert found_in(html, text)[0] == left


def test_marks() -> None:
    html = "<div><p class=t>Buy<br>now</p><select><option class=t>7</select><b class=t title=x>12</b> &amp; more</div>"
    page = TransientPage(Mask(places=(PASSES,)).stripping, html, None)
    span = '<span data-dedup="transient">'
    assert marked(html, page.cuts, "html") == (
        f"<div><p class=t>{span}Buy</span><br>{span}now</span></p><select><option class=t>7</select>"
        f"<b class=t title=x>{span}12</span></b> &amp; more</div>"
    )
    text = "Seen: Buy now 12 & more"
    assert marked(text, page.find([text], "text").cuts[0], "text") == text, "it is not found"
    text = "Buy now\n12 & more"
    assert marked(text, [(0, 7), (8, 10)], "text") == "⟦Buy now⟧\n⟦12⟧ & more"


WORDS = "a b c 12 users online x1 & é".split()


def test_nothing_but_what_passes_goes() -> None:
    """Of any selection of the texts of any page all lasting words stay, in their order; of the whole page no other ones do."""
    rng = Random(7)
    for _ in range(100):
        blocks = [
            (
                rng.choice(["p", "td", "li", "div"]),
                " ".join(rng.choices(WORDS, k=rng.randint(1, 8))),
                rng.random() < 0.4,
            )
            for _ in range(rng.randint(1, 12))
        ]
        html = "".join(f"<{tag}><b class={'t' if t else 'u'}>{escape(text)}</b></{tag}>\n" for tag, text, t in blocks)
        chosen = [block for block in blocks if rng.random() < 0.7] or blocks[:1]
        html, texts = f"<html><body>{html}", [text for _, text, _ in chosen]
        lasting = [text for _, text, passes in chosen if not passes]
        left = iter(found_in(html, texts)[0])
        assert all(text in left for text in lasting)
        words = iter(found_in(html, "\n".join(texts))[0].split())
        assert all(word in words for text in lasting for word in text.split())
        whole = found_in(html, "\n".join(text for _, text, _ in blocks))[0]
        assert whole.split() == " ".join(text for _, text, passes in blocks if not passes).split()


def test_hostile_fields_cost_no_more() -> None:
    inputs = {
        "words": lambda n: ("<p>" + "same words again and again " * n + "<b class=t>12</b></p>", "same words again and " * n),
        "places": lambda n: ("<p class=t>1</p>" * n, "1" * n),
        "values": lambda n: ("<p class=t><a href=/x>1</a>" * n, "<a href=/x>1</a>" * n),
        "many words": lambda n: (f"<p>{' '.join(map(str, range(n)))}<b class=t>12</b>", " ".join(map(str, range(n, 0, -1)))),
        "references": lambda n: ("<p class=t>" + "&lt;" * n, "<" * n),
        "members": lambda n: (f"<script class=t>{[{'a': 1}] * n}</script>", f"<script class=t>{[{'a': 1}] * n}</script>"),
        "blanks": lambda n: (f"<p>{' ' * n}<b class=t>1</b>{' ' * n}</p>x", f"{' ' * n}1{' ' * n}x"),
    }  # fmt: skip

    def find(case: tuple[str, str]) -> None:
        html, field = case
        for kind in ("text", "html"):
            found_in(f"<html><body>{html}", field, kind)

    assert not worse_than_linear(find, inputs, 200)


def test_texts_of_any_form_are_told() -> None:
    """However white space and references are written."""
    html = f"<html><body><p>{escape('Tom & Jerry')} have <b class=t>12&nbsp;friends</b> now, they say</p></body></html>"
    for field in ("Tom & Jerry have 12\xa0friends now, they say", "Tom&Jerry\nhave 12 friends\tnow, they say"):
        assert "12" not in found_in(html, field)[0]
        assert "they say" in found_in(html, field)[0]
    assert unescape(found_in(html, html, "html")[0]).count("friends") == 0
