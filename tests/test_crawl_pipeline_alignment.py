"""What of a field is transient: told by where it stands in the page, never by its words alone."""

import html as entities

from hypothesis import given, settings
from hypothesis import strategies as st
from parsel import Selector

from scrapy_dedup.content.tokenizer.tokens import tokens
from scrapy_dedup.masks.fields.text_alignment import alignments
from scrapy_dedup.masks.fields.text_cuts import marked, removed
from scrapy_dedup.masks.fields.transient_page import TransientPage
from scrapy_dedup.masks.fields.visible_text import Stream

PAGE = """<!DOCTYPE html><html><head><title>A chair</title></head><body>
<ul id=top><li>Sunday 22 November<li>12 users online</ul>
<DIV class='main' id="main"><h1>A chair of oak &amp; ash</h1>
 <p>Seen <b>12</b> times since Sunday 22 November by those who like it.</p>
 <p class=price>Price: 12.00 &euro;<br>Delivery on Sunday 22 November at the earliest.</p>
 <img src=a.png><script>var now = "12 users online";</script>
 <div class="ad"><p>Buy more<br>shoes now</p></div>
 <p>The chair of which 12 users online spoke is a good one, they say.</p></DIV>
</body></html>"""


def page_with(*texts: str, html: str = PAGE) -> TransientPage:
    """PAGE, in which the n-th occurrence of a text is transient: ``"12#2"`` is the second one, from 0."""
    spans = []
    for text in texts:
        text, _, number = text.partition("#")
        at = -1
        for _ in range(int(number or 0) + 1):
            at = html.index(text, at + 1)
        spans.append((at, at + len(text)))
    return TransientPage(html, sorted(spans))


def lasting(page: TransientPage, *field: str, kind: str = "text") -> str:
    found = page.find(list(field), kind)
    assert not found.ambiguous
    return "|".join(removed(string, cuts) for string, cuts in zip(field, found.cuts, strict=True))


def select(css: str, html: str = PAGE) -> list[str]:
    return Selector(html).css(css).getall()


def test_text_of_a_whole_region():
    page = page_with("12 users online", "Sunday 22 November#1", "12#1")
    joined = "".join(select("#main :not(script)::text, #main::text"))
    assert lasting(page, joined) == joined.replace("Seen 12 times since Sunday 22 November by", "Seen times since by")
    with_script = "".join(select("#main ::text"))
    (cuts,) = page.find([with_script], "text").cuts
    assert (
        removed(with_script, cuts).replace('var now = "12 users online";', "").split() == lasting(page, joined).split()
    )
    squeezed = " ".join(joined.split())
    assert lasting(page, squeezed) == squeezed.replace(
        "Seen 12 times since Sunday 22 November by", "Seen times since by"
    )


def test_the_same_words_elsewhere_stay():
    page = page_with("12 users online", "Sunday 22 November")
    for css in ("#main p ::text", "p.price::text", "#main p:last-child::text"):
        text = " ".join(select(css))
        assert lasting(page, text) == text
    assert lasting(page, " ".join(select("#top ::text"))) == ""


def test_a_list_of_strings_is_one_field():
    page = page_with("12#1", "Sunday 22 November#1")
    texts = select("#main > p:nth-of-type(1) ::text")
    assert texts == ["Seen ", "12", " times since Sunday 22 November by those who like it."]
    assert lasting(page, *texts) == "Seen || times since by those who like it."


def test_elements_that_were_left_out():
    """Stretches before and after what the spider skipped; and what the page skips has other words."""
    page = page_with("12#1", "Buy more", "shoes now")
    text = "A chair of oak & ash\nSeen 12 times since Sunday 22 November by those who like it."
    text += "\nThe chair of which 12 users online spoke is a good one, they say."
    assert lasting(page, text) == text.replace("Seen 12 times", "Seen times")
    text += " Buy more shoes now"
    assert page.find([text], "text").cuts[0][1:] == [(text.index("Buy"), len(text))], "in another order than the page"


def test_what_is_uncertain_stays():
    html = "<p>12</p><p>a chair</p><p>12</p><div>one two three four <i>12</i> five six seven eight</div>"
    page = page_with("12", html=html)
    assert page.find(["12"], "text") == ([[]], True)
    assert page.find(["one two three four 12 five six seven eight"], "text") == ([[]], False)
    assert page.find(["chair 12 and more of what the page has not"], "text") == ([[]], True)
    both = page_with("12", "12#1", "12#2", html=html)
    assert both.find(["12"], "text") == ([[(0, 2)]], False), "all of them are transient"


def test_a_part_of_a_word_is_no_place_of_a_field():
    page = page_with("3124 visitors", html="<p>3124 visitors</p><p>A text of the page.</p>")
    assert lasting(page, "12") == "12"
    assert lasting(page, "312") == "312"
    assert lasting(page, "3124 visitors") == ""


def test_a_date_that_comes_from_elsewhere_stays():
    html = '<meta content="22 Nov 2026"><p>Today is Sunday, 22 Nov 2026, and it rains.</p>'
    assert page_with("22 Nov 2026#1", html=html).find(["22 Nov 2026"], "text") == ([[]], True)


def test_a_field_that_was_cut_off():
    page = page_with("Sunday 22 November#1")
    text = "Seen 12 times since Sunday 22 Novem"
    assert lasting(page, text) == "Seen 12 times since "
    assert lasting(page, "22 November by those who like it.") == "by those who like it."


def test_entities():
    html = "<p>Tom &amp; Jerry&#39;s caf&eacute; is open for &lt;12&gt; guests &nbsp; a day</p>"
    page = page_with("&lt;12&gt;", html=html)
    assert lasting(page, "Tom & Jerry's café is open for <12> guests \xa0 a day") == (
        "Tom & Jerry's café is open for guests \xa0 a day"
    )
    page = page_with("12", html=html)
    assert lasting(page, "Tom & Jerry's café is open for <12> guests a day").count("<>") == 1


def test_html_as_it_stands_in_the_page():
    page = page_with("12#1", '<div class="ad"><p>Buy more<br>shoes now</p></div>')
    html = PAGE[PAGE.index("<DIV") : PAGE.index("</DIV>") + 6]
    expected = html.replace("<b>12</b>", "<b></b>").replace('<div class="ad"><p>Buy more<br>shoes now</p></div>\n ', "")
    assert lasting(page, html, kind="html") == expected


def test_html_as_parsel_writes_it():
    page = page_with("12#1", '<div class="ad"><p>Buy more<br>shoes now</p></div>', "Sunday 22 November#1")
    (html,) = select("#main")
    assert html not in PAGE
    expected = html.replace("<b>12</b>", "<b></b>").replace("since Sunday 22 November ", "since ")
    expected = expected.replace('<div class="ad"><p>Buy more<br>shoes now</p></div>\n ', "")
    assert lasting(page, html, kind="html") == expected
    (html,) = select("html")
    assert "12 times" not in Selector(lasting(page, html, kind="html")).xpath("string()").get("")
    paragraphs = select("#main p")
    stripped = lasting(page, *paragraphs, kind="html").split("|")
    assert stripped[0] == "<p>Seen <b></b> times since by those who like it.</p>"
    assert stripped[1] == paragraphs[1]
    assert stripped[3] == paragraphs[3]


def test_an_attribute():
    html = '<div><A HREF="/p/1?token=abc" class=x>A chair of oak and ash</A> and some more text</div>'
    page = page_with("/p/1?token=abc", html=html)
    (field,) = select("div", html)
    assert lasting(page, field, kind="html") == field.replace("/p/1?token=abc", "")
    html = "<DIV><A HREF='/p?a=1&b=2'>A chair of oak and ash</A> and some more text</DIV>"
    (field,) = select("div", html)
    assert lasting(page_with("/p?a=1&b=2", html=html), field, kind="html") == field.replace("/p?a=1&amp;b=2", "")


def test_elements_without_text():
    html = "<DIV><p>A text of some length is here</p><a href=x><img src=ad.png></a><p>and another one there</p></DIV>"
    page = page_with("<a href=x><img src=ad.png></a>", html=html)
    (field,) = select("div", html)
    assert lasting(page, field, kind="html") == field.replace('<a href="x"><img src="ad.png"></a>', "")


def test_marks():
    page = page_with("12#1", '<div class="ad"><p>Buy more<br>shoes now</p></div>')
    (html,) = select("#main")
    (cuts,) = page.find([html], "html").cuts
    new = marked(html, cuts, "html")
    assert '<b><span data-dedup="transient">12</span></b>' in new
    assert '<div class="ad" data-dedup="transient"><p>Buy more<br>shoes now</p></div>' in new
    text = "Seen 12 times since Sunday 22 November by those who like it."
    (cuts,) = page.find([text], "text").cuts
    assert marked(text, cuts, "text").startswith("Seen ⟦12⟧ times")
    bare = new.replace('<span data-dedup="transient">12</span>', "12").replace(' data-dedup="transient"', "")
    assert bare == html


def test_marks_keep_the_nesting():
    html = "<table><tr><td>1</td></tr></table><select><option>2</option></select><title>3</title><br/>4"
    new = marked(html, [(0, len(html))], "html")
    without = new.replace(' data-dedup="transient"', "").replace("<span>4</span>", "4")
    assert without == html
    assert new.startswith('<table data-dedup="transient">')
    assert '<br data-dedup="transient"/>' in new
    inner = marked(html, [(html.index("2"), html.index("2") + 1)], "html")
    assert inner == html, "an option holds no span"


def test_white_space_goes_with_what_stood_in_it():
    assert removed("a 12 b", [(2, 4)]) == "a b"
    assert removed("12 b", [(0, 2)]) == "b"
    assert removed("a(12) b", [(2, 4)]) == "a() b"
    assert removed("a 1 2 b", [(2, 3), (4, 5)]) == "a b"
    assert removed("a", []) == "a"


WORDS = st.lists(st.sampled_from("a b c 12 users online x1 &amp; é".split()), max_size=8).map(" ".join)
BLOCKS = st.lists(
    st.tuples(st.sampled_from(["p", "b", "td", "li", "div", "br"]), WORDS, st.booleans()), min_size=1, max_size=12
)


def made(blocks):
    """A page, its spans, and the spans' texts."""
    html = ""
    spans = []
    for name, text, transient in blocks:
        html += f"<{name}>"
        if transient and text:
            spans.append((len(html), len(html) + len(text)))
        html += f"{text}</{name}>\n" if name != "br" else f"{text}\n"
    return TransientPage(html, spans)


@given(BLOCKS, st.randoms())
def test_nothing_but_transient_content_goes(blocks, random):
    """Of any selection of a page's texts, all lasting words stay, in their order."""
    page = made(blocks)
    chosen = [(entities.unescape(text), transient) for _, text, transient in blocks if random.random() < 0.7]
    field = [text for text, _ in chosen]
    found = page.find(field, "text")
    assert len(found.cuts) == len(field)
    transient = {word for _, text, passing in blocks if passing for word in entities.unescape(text).split()}
    for string, cuts in zip(field, found.cuts, strict=True):
        for start, end in cuts:
            assert 0 <= start < end <= len(string)
            assert set(string[start:end].split()) <= transient
    whole = "\n".join(entities.unescape(text) for _, text, _ in blocks)
    found = page.find([whole], "text")
    if not found.ambiguous and len("".join(whole.split())) >= 20:
        expected = [word for _, text, passing in blocks if not passing for word in entities.unescape(text).split()]
        assert removed(whole, found.cuts[0]).split() == expected


@given(BLOCKS)
@settings(max_examples=30)
def test_html_is_as_well_nested_as_before(blocks):
    page = made(blocks)
    field = "".join(Selector(page.html).css("body > *").getall())
    found = page.find([field], "html")
    for new in (removed(field, found.cuts[0]), marked(field, found.cuts[0], "html")):
        names = [token.name for token in tokens(new) if token.name and token.name != "span"]
        assert names == [token.name for token in tokens(field) if token.name]


@given(st.text(max_size=60), st.text(max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_it_never_fails(html, field, places):
    ends = sorted({min(place, len(html)) for place in places})
    page = TransientPage(html, list(zip(ends[::2], ends[1::2], strict=False)))
    for kind in ("html", "text"):
        for strings in ([field], [field, html], [html]):
            found = page.find(strings, kind)
            for string, cuts in zip(strings, found.cuts, strict=True):
                removed(string, cuts)
                marked(string, cuts, kind)


def test_places_in_the_source():
    source = "a &amp;&lt;b c&nbsp;d <b>e &amp x</b>"
    stream = Stream([source], html=True)
    assert stream.text == "a&<bcde&x"
    for node in stream.nodes:
        for at in range(node.at, node.at + node.length):
            start, end = stream.source(node, at, at + 1)
            assert entities.unescape(source[start:end]) == stream.text[at]
            assert stream.range_of(node, start, end) == (at, at + 1)


@given(
    st.text("a &;#x1é9\u00a0")
    | st.lists(st.sampled_from("a b &amp; &#1; &notit; &#x41 &no; &#0; &nbsp;".split(" "))).map(" ".join)
)
def test_runs_tile_a_text(source):
    stream = Stream([source], html=True)
    for node in stream.nodes:
        assert stream.source(node, node.at, node.at + node.length)[1] <= len(source)
        places = [stream.source(node, at, at + 1) for at in range(node.at, node.at + node.length)]
        assert places == sorted(places)
        text = "".join(entities.unescape(source[start:end]) for start, end in dict.fromkeys(places))
        assert "".join(text.split()) == stream.text[node.at : node.at + node.length]
    assert [(at, stream.text[at : at + len(word)]) for at, word in stream.words] == stream.words


def test_a_field_that_stands_everywhere():
    html = "<p>a</p>" * 100
    assert TransientPage(html, [(3, 4)]).find(["<p>a</p>"], "html") == ([[]], True)
    spans = [(at + 3, at + 4) for at in range(0, len(html), 8)]
    assert TransientPage(html, spans).find(["<p>a</p>"], "html") == ([[]], True), "too often to look at all"
    assert TransientPage(html[:80], spans[:10]).find(["<p>a</p>"], "html") == ([[(3, 4)]], False)


def test_alignments_are_linear_in_the_page():
    """The number of places that are compared is bounded, however often words repeat."""
    page = Stream(["<p>" + "same words again and again " * 2000 + "</p>"], html=True)
    assert alignments(Stream(["same words again and again " * 3], html=False), page) == []
    field = Stream(["one " + "same words again and again " * 500 + " two"], html=False)
    assert alignments(field, page) == []


def test_marks_read_the_cuts_once():
    """A page may have tens of thousands of them: a copy for each token would take minutes."""

    class Cuts(list):
        read = 0

        def __iter__(self):
            self.read += 1
            return super().__iter__()

    html = "<p>1</p>" * 500
    cuts = Cuts((at + 3, at + 4) for at in range(0, len(html), 8))
    assert marked(html, cuts, "html").count("<span") == 500
    assert cuts.read <= 1
