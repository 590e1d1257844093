"""What DEDUP_CONTENT_FIELDS names wrongly is told once, with what would be right; and where nothing is named, what could be."""

from typing import Any

import pytest

from .conftest import Serve
from .crawling import Links, crawl, in_reactor, messages
from .server import page, prose

HTML = "<html><body><p>A <b>chair</b> of oak</p>{}</body></html>"
QUOTES = "<p>Write &lt;b&gt;bold&lt;/b&gt; for a bold word</p>"


class Fields(Links):
    """Gives three items of each page, with fields of all kinds."""

    def parse(self, response: Any) -> Any:
        for number in range(3):
            yield {
                "body": response.text,
                "parts": response.css("p").getall(),
                "text": " ".join(response.css("p ::text").getall()),
                "quoting": "Write <b>bold</b> for a bold word",
                "price": number,
                "seller": {"name": "Bob", "about": [{"words": "long words of a text"}]},
                "none": None,
                "empty": [],
                "mixed": "text" if number else None,
                "seldom": "Some words of a text, " + ("<b>bold</b>" if number else "plain"),
            }


MISTAKEN = "the field '{0}' is named as \"{1}\", and "
HTML_FIELDS = ["body", "parts", "mixed", "seller.name", "none", "empty", "seldom"]
TEXT_FIELDS = ["text", "quoting", "mixed", "seller.name", "seller.about.words", "none", "empty"]
RIGHT = [dict.fromkeys(HTML_FIELDS, "html"), dict.fromkeys(TEXT_FIELDS, "text")]
WRONG: dict[str, tuple[str, str]] = {
    "boddy": ("html", "no item has the field 'boddy': is 'body' meant?"),
    "words": ("html", "no item has the field 'words': is 'seller.about.words' meant?"),
    "seller.nam": ("text", "no item has the field 'seller.nam': is 'seller.name' meant?"),
    "seller.words": ("html", "is 'seller.about.words' or "),
    "qqq": ("text", "no item has the field 'qqq': items have body, empty, mixed, none, parts, price, "),
    "price": ("html", "the field 'price' holds int and not a string or a list of strings: take it out of the setting"),
    "seller": ("html", "the field 'seller' holds dict and not a string or a list of strings: name a field in it, such"),
    "text": ("html", MISTAKEN.format("text", "html") + "none of its values has a tag: {'text': 'text'} is right"),
    "seller.about.words": ("html", MISTAKEN.format("seller.about.words", "html") + "none of its values has a tag"),
    "body": ("text", MISTAKEN.format("body", "text") + "its values are HTML: {'body': 'html'} is right"),
    "parts": ("text", MISTAKEN.format("parts", "text") + "its values are HTML"),
}


@pytest.mark.parametrize("fields", RIGHT, ids=["html", "text"])
@in_reactor
async def test_what_is_right_is_not_told(serve: Serve, caplog: pytest.LogCaptureFixture, fields: Any) -> None:
    done = await crawl(Fields, serve({"/": HTML.format(QUOTES)}).url("/"), DEDUP_CONTENT_FIELDS=fields)
    assert len(done.items) == 3
    assert messages(caplog) == []


@in_reactor
async def test_all_that_is_wrong_is_told_once_and_counted(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    fields = {name: kind for name, (kind, _) in WRONG.items()}
    done = await crawl(Fields, serve({"/": HTML.format("")}).url("/"), DEDUP_CONTENT_FIELDS=fields)
    assert len(done.items) == 3
    (told,) = messages(caplog)
    assert told.startswith("DEDUP_CONTENT_FIELDS is to be corrected: ")
    assert [said for _, said in WRONG.values() if said not in told] == []
    assert told.count("; ") == len(WRONG) - 1
    assert (done.stat("content_fields/missing"), done.stat("content_fields/mistaken")) == (5, 6)


@in_reactor
async def test_a_page_that_shows_what_only_looks_like_a_quotation(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve({"/": HTML.format("<p>Write <b>bold</b> for a bold word</p>")})
    await crawl(Fields, server.url("/"), DEDUP_CONTENT_FIELDS={"quoting": "text"})
    assert "'quoting' is named as \"text\", and its values are HTML" in "".join(messages(caplog))


class Wordy(Links):
    def parse(self, response: Any) -> Any:
        yield {
            "url": response.url,
            "title": "A chair",
            "body": response.text,
            "paragraph": response.css("p").get(),
            "parts": [{"text": " ".join(response.css("p ::text").getall() * 2)}],
            "elsewhere": "words that stand in no page " * 20,
        }


class Silent(Links):
    def parse(self, response: Any) -> Any:
        return ()


BRACKETS = "Alice <a@example.org> said: <Alice> a < b and c > d, </Alice> an <br> and <b>bold</b>. "


@pytest.mark.parametrize(
    ("spider", "settings", "told"),
    [
        (Wordy, {}, "DEDUP_CONTENT_FIELDS = {'body': 'html', 'paragraph': 'html', 'parts.text': 'text'} would strip"),
        (Wordy, {"DEDUP_STRIP": "off"}, ""),
        (Wordy, {"DEDUP_CONTENT_FIELDS": {"body": "html"}}, ""),
        (Links, {}, ""),
        (Silent, {"DEDUP_CONTENT_FIELDS": {"body": "html"}}, ""),
    ],
)
@in_reactor
async def test_fields_that_look_like_page_content_are_named(
    serve: Serve, caplog: pytest.LogCaptureFixture, spider: Any, settings: dict[str, Any], told: str
) -> None:
    """Text with angle brackets, and text that quotes tags, is told from HTML by what the page has."""
    caplog.set_level("INFO")
    server = serve({"/": page(BRACKETS + prose(1), title="A")})
    done = await crawl(spider, server.url("/"), **settings)
    assert len(done.items) == (spider is not Silent)
    named = [line for line in messages(caplog, 20) if "DEDUP_CONTENT_FIELDS" in line]
    assert [told in line for line in named] == [True] * bool(told)
