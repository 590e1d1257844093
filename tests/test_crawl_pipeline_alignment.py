"""What of a field passes is told by where it stands in the page, never by its words alone; lines stay lines, and no lasting word goes."""

import html as entities
import re
from collections.abc import Callable
from random import Random
from typing import Any

from .conftest import Serve
from .crawling import in_reactor
from .exporting import export, passing, place, stripped

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


def joined(css: str, by: str = "") -> Callable[[Any], str]:
    return lambda response: by.join(response.css(css).getall())


#: Fields of text of PAGE, and what is left of them.
FIELDS: dict[str, tuple[Any, Any]] = {
    "elsewhere": (joined("p.price ::text, p.last::text", " "), None),
    "the last one": (LAST, None),
    "all that passes": (joined("#top ::text"), ""),
    "a list": (SEEN, ["Seen ", "times since ", "by those who like it."]),
    "a paragraph": ("".join(SEEN), "Seen times since by those who like it."),
    "what the spider left out": (
        f"{TITLE}\n{''.join(SEEN)}\n{LAST}",
        f"{TITLE}\nSeen times since by those who like it.\n{LAST}",
    ),
    "in another order than the page": (
        f"{LAST} {TITLE} Buy more shoes now",
        f"{LAST} {TITLE} ",
    ),
    "cut off": ("Seen 12 times since Sunday 22 Novem", "Seen times since "),
    "cut off before": ("22 November by those who like it.", "by those who like it."),
    "a part of a word": ("22 Nov", "22 Nov"),
}


@in_reactor
async def test_text_of_a_page(serve: Serve) -> None:
    found = await stripped(serve, PAGE, {name: value for name, (value, _) in FIELDS.items()})
    plain = await stripped(serve, PAGE, {name: value for name, (value, _) in FIELDS.items()}, DEDUP_STRIP="off")
    for name, (_, left) in FIELDS.items():
        shown = [" ".join(each.split()) for each in found[name]] if isinstance(left, list) else found[name]
        expected = [" ".join(each.split()) for each in left] if isinstance(left, list) else left
        assert shown == (plain[name] if expected is None else expected), name


#: Pages of which nobody knows where a field is from, or everybody: (page, field, what is left).
DOUBTS = {
    "one of two": ("<p class=t>12</p><p>a chair</p><p>12</p>", "12", "12"),
    "all of them": ("<p class=t>12</p><p>a chair</p><p class=t>12</p>", "12", ""),
    "other words around it": (
        "<div>one two three four <i>12</i> five six seven eight</div><p class=t>12</p>",
        "one two three four 12 five six seven eight",
        None,
    ),
    "what the page has not": ("<p class=t>12</p><p>a chair</p>", "chair 12 and more of what the page has not", None),
    "a word of which it is a part": ("<p class=t>3124 visitors</p><p>A text</p>", "312", "312"),
    "a date from elsewhere": (
        '<meta content="22 Nov 2026"><p class=day>Today is Sunday 22 Nov 2026 and it rains.</p>',
        "22 Nov 2026",
        None,
    ),
    "entities": (
        "<p>Tom &amp; Jerry&#39;s caf&eacute; is open for <b class=t>&lt;12&gt;</b> guests &nbsp; a day</p>",
        "Tom & Jerry's café is open for <12> guests \xa0 a day",
        "Tom & Jerry's café is open for guests \xa0 a day",
    ),
}


@in_reactor
async def test_what_is_uncertain_stays(serve: Serve) -> None:
    for name, (html, field, left) in DOUBTS.items():
        places = [
            *passing(f"<html><body>{html}</body></html>"),
            place("html/body/p.day", "Today is Sunday {…} and it rains."),
        ]
        found = await stripped(serve, f"<html><body>{html}</body></html>", {"text": field}, *places)
        assert found["text"] == (field if left is None else left), name


HTML_FIELDS: dict[str, Any] = {
    "as it stands": lambda response: response.text[response.text.index("<DIV") : response.text.index("</DIV>") + 6],
    "by lxml": joined("#main"),
    "paragraphs": lambda response: response.css("#main p").getall(),
    "the page": joined("html"),
}


@in_reactor
async def test_html(serve: Serve) -> None:
    """Only what passes goes, and what is left is nested as before; marks say what would go, and change nothing else."""
    plain = await stripped(serve, PAGE, HTML_FIELDS, kind="html", DEDUP_STRIP="off")
    found = await stripped(serve, PAGE, HTML_FIELDS, kind="html")
    for name, left in found.items():
        shown, before = (text if isinstance(text, str) else "|".join(text) for text in (left, plain[name]))
        gone = ((r">12</b>", "></b>"), (r">Sunday 22 November</i>", "></i>"), (r">Buy more<br>shoes now<", "><"))
        for pattern, instead in (*gone, (r"day t\">[^<]*", 'day t">'), (r"online t\">[^<]*", 'online t">')):
            before = re.sub(pattern, instead, before)
        assert re.sub(r"<br>|\s", "", shown) == re.sub(r"<br>(?!Deliv)|\s", "", before).replace("<br>", ""), name
    marks = await stripped(serve, PAGE, HTML_FIELDS, kind="html", DEDUP_STRIP="mark")
    for name, text in marks.items():
        one, other = (each if isinstance(each, str) else "|".join(each) for each in (text, plain[name]))
        assert '<span data-dedup="transient">12</span></b>' in one
        assert one.replace('<span data-dedup="transient">', "").replace("</span>", "") == other


def longer(text: str) -> str:
    return text.replace("some", "some lasting text in front").replace("words", "words that last behind it")


#: Lines of a field whose numbers pass, and what is left.
LINES = [
    (longer(text), longer(left))
    for text, left in (
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
    )
]


@in_reactor
async def test_lines_stay_lines(serve: Serve) -> None:
    """A page for each text, with its numbers in elements that pass."""
    pages = {
        str(n): re.sub(r"(\d+)", r"<b class=t>\1</b>", f"<html><body><pre>{text}</pre>")
        for n, (text, _) in enumerate(LINES)
    }

    def give(response: Any) -> Any:
        number = response.url.rpartition("/")[2]
        yield {"n": int(number), "text": LINES[int(number)][0]}

    done, _ = await export(serve, pages, give, place("html/body/pre/b.t"), fields={"text": "text"})
    assert {LINES[item["n"]][0]: item["text"] for item in done.items} == dict(LINES)
    assert not done.faults()


RNG = Random(7)
WORDS = "a b c 12 users online x1 &amp; é".split()
BLOCKS = [
    [
        (RNG.choice(["p", "td", "li", "div"]), " ".join(RNG.choices(WORDS, k=RNG.randint(1, 8))), RNG.random() < 0.4)
        for _ in range(RNG.randint(1, 12))
    ]
    for _ in range(60)
]


@in_reactor
async def test_nothing_but_what_passes_goes(serve: Serve) -> None:
    """Of any selection of the texts of any page all lasting words stay, in their order; of the whole page no other ones do."""
    pages = {
        str(number): "<html><body>"
        + "".join(f"<{n}><b class={'t' if t else 'u'}>{text}</b></{n}>\n" for n, text, t in blocks)
        for number, blocks in enumerate(BLOCKS)
    }
    chosen = [[block for block in blocks if RNG.random() < 0.7] or blocks[:1] for blocks in BLOCKS]

    def give(response: Any) -> Any:
        number = int(response.url.rpartition("/")[2])
        some = [entities.unescape(text) for _, text, _ in chosen[number]]
        whole = "\n".join(entities.unescape(text) for _, text, _ in BLOCKS[number])
        yield {"n": number, "list": some, "text": "\n".join(some), "whole": whole}

    places = sorted({each for html in pages.values() for each in passing(html)})
    done, _ = await export(serve, pages, give, *places, fields=dict.fromkeys(("list", "text", "whole"), "text"))
    assert len(done.items) == len(BLOCKS)
    whole = 0
    for item in done.items:
        lasting = [entities.unescape(text).split() for _, text, passes in chosen[item["n"]] if not passes]
        texts = [entities.unescape(text) for _, text, passes in BLOCKS[item["n"]] if not passes]
        left = iter(item["list"])
        assert all(passes or entities.unescape(text) in left for _, text, passes in chosen[item["n"]])
        words = iter(item["text"].split())
        assert all(word in words for words_of in lasting for word in words_of), "in their order"
        whole += item["whole"].split() == " ".join(texts).split()
    assert whole > len(BLOCKS) * 0.7
    assert not done.faults()


@in_reactor
async def test_hostile_fields(serve: Serve) -> None:
    """Words that repeat without end, thousands of places, and elements that end nowhere: the items come, and no word is lost that lasts."""
    pages = {
        "words": "<p>" + "same words again and again " * 2000 + "<b class=t>12</b></p>",
        "places": "<p class=t>1</p>" * 20_000 + "<p>A text</p>",
        "open": "<template>a" * 3000 + "<p class=t>1</p><p>A text</p>",
        "tags": "<b class=t>1</b>" + "<a x='" * 50_000,
    }

    def give(response: Any) -> Any:
        text = "one " + "same words again and again " * 500 + " two 12"
        every = " ".join(response.css("::text").getall())
        yield {"text": text, "body": response.text, "same": text, "all": every, "before": every}

    places = (place("html/body/p.t"), place("html/body/p/b.t"), place("html/body/b.t"))
    fields = {"text": "text", "body": "html", "all": "text"}
    pages = {name: f"<html><body>{html}" for name, html in pages.items()}
    done, _ = await export(serve, pages, give, *places, fields=fields, LOG_LEVEL="CRITICAL")
    assert len(done.items) == len(pages)
    assert all(item["text"] == item["same"] for item in done.items)
    assert ["A text" in item["all"] for item in done.items] == ["A text" in item["before"] for item in done.items]
    assert not done.faults()
