"""Versions of pages: what was seen at which place, stored as it is; damage is refused."""

import json
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.content.tokenizer.tokens import blocks
from scrapy_dedup.content.versions import Version, packed_version, version_of, with_table

PAGE = '<body><h1>Title</h1><p class="price">&pound;5</p><a href="/x">more</a><img src="i.png"><script>1</script>'
VERSION = Version(
    (
        ("body/h1", "", "Title"),
        ("body/p.price", "", "£5"),
        ("body/a", "href", "/x"),
        ("body/a", "", "more"),
        ("body/img", "src", "i.png"),
    ),
)
# Long enough to be compressed.
LONG = Version(tuple((f"body/ul/li.n{number}", "", f"Entry {number} of the list") for number in range(40)))
# With a token table, of which nothing is known here.
TABLED = replace(VERSION, table=b"\x00a table\xff")
html = st.lists(
    st.sampled_from(
        (
            *(
                "<p>",
                "</p>",
                "<a href='",
                "'>",
                '<div class="',
                '" id="',
                '">',
                "<title>",
                "</title>",
                "<svg>",
                "</svg>",
            ),
            *("<![CDATA[", "]]>", "\0", "&#0;", "&#x0", "&amp;", "&", "<", "text", " ", "\ud800", "\x85"),
        )
    )
).map("".join)
written = st.text() | st.sampled_from(["one\0two", "\0"])
rows = st.lists(st.tuples(st.sampled_from(["html/p", "", "é"]) | st.text(), st.text(), written)).map(tuple)


def test_a_version_holds_the_blocks_of_its_page() -> None:
    assert version_of(PAGE) == VERSION
    assert version_of(PAGE).blocks == tuple((block.selector, block.attribute, block.text) for block in blocks(PAGE))


@given(html | st.text())
def test_the_version_of_a_page_is_packed_as_it_is(page: str) -> None:
    stored = packed_version(page)
    assert Version.from_bytes(stored) == version_of(page)
    assert stored == version_of(page).to_bytes()
    assert stored[0] == 2, "no text of a page holds a NUL"


@given(rows, rows)
def test_what_nobody_sees_is_stored_beside(
    some: tuple[tuple[str, str, str], ...], more: tuple[tuple[str, str, str], ...]
) -> None:
    version = Version(some, more)
    stored = version.to_bytes()
    assert Version.from_bytes(stored) == version
    assert tuple(version.rows()) == some + more
    assert (stored == Version(some).to_bytes()) == (not more)
    has_nul = "\0" in "".join("".join(row) for row in some + more)
    assert stored[0] == (1 if has_nul else 3 if more else 2)


@pytest.mark.parametrize("page", ["<p>\ud800", "<p>one&#0;two", "", "\0"])
def test_any_page_has_a_version(page: str) -> None:
    assert Version.from_bytes(version_of(page).to_bytes()) == version_of(page)


def test_it_is_small() -> None:
    page = "<ul>" + "".join(f"<li class=entry><a href=/p/{i}>Entry {i}</a>" for i in range(500))
    assert len(version_of(page).to_bytes()) < len(zlib.compress(page.encode()))
    assert b"Title" in VERSION.to_bytes(), "a short one is not compressed"


def test_a_version_with_the_token_table_of_its_page() -> None:
    stored = TABLED.to_bytes()
    assert stored == with_table(VERSION.to_bytes(), TABLED.table)
    assert Version.from_bytes(stored) == TABLED
    assert Version.from_bytes(stored) != VERSION
    # Those of earlier formats may have one, too, but no version has two.
    older = b"\x01" + zlib.compress(json.dumps([["p"], [0], [""], ["x"]]).encode())
    assert Version.from_bytes(with_table(older, b"t")) == Version((("p", "", "x"),), table=b"t")
    with pytest.raises(ValueError, match="damaged page version"):
        Version.from_bytes(with_table(stored, b"t"))


@pytest.mark.parametrize("version", [VERSION, LONG, TABLED], ids=["short", "long", "with a table"])
def test_every_cut_off_version_is_refused(version: Version) -> None:
    data = version.to_bytes()
    for length in range(len(data)):
        with pytest.raises(ValueError, match="page version"):
            Version.from_bytes(data[:length])
    with pytest.raises(ValueError, match="damaged"):
        Version.from_bytes(data + b"x")


JSONS = [
    *("", "null", "{}", "[[],[],[]]", '[["a"],[1],[""],["x"]]', '[["a"],[-1],[""],["x"]]', '[["a"],["0"],[""],["x"]]'),
    *('[["a"],[0],[""],["x","y"]]', '[["a"],[0],[""],[1]]', '[[1],[0],[""],["x"]]', '[["a"],[0],"",""]', "[" * 100_000),
    *("[[],[],[],[]] x", "[[],[],[],[],0,0]", "[[],[],[],[],null]", '[["p"],[0],[""],["text"],"1"]'),
]
FIELDS = [
    *([""], ["one", "p"], ["-1", "p"], ["2", "p"], ["1", "p", "0", "", "text", "more"]),
    *(["1", "p", "0", "0", "", "text"], ["1", "p", "1", "", "text"], ["1", "p", "-1", "", "text"]),
]
COUNTED = [[length, "1", "p", "0", "", "text"] for length in ("-1", "1", "2", "x", "")]


@pytest.mark.parametrize(
    "data",
    [
        *(b"\x01" + zlib.compress(text.encode()) for text in JSONS),
        *(b"\x02" + zlib.compress("\0".join(fields).encode()) for fields in FIELDS),
        *(
            b"\x03" + zlib.compress("\0".join(fields).encode())
            for fields in (*COUNTED, *(["0", *each] for each in FIELDS))
        ),
    ],
    ids=range(len(JSONS) + 2 * len(FIELDS) + len(COUNTED)),
)
def test_damage_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match="damaged page version"):
        Version.from_bytes(data)


def test_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="format"):
        Version.from_bytes(b"\x04" + VERSION.to_bytes()[1:])


@given(st.data(), st.sampled_from((VERSION, LONG)))
def test_a_changed_byte_is_noticed_or_makes_another_version(data: st.DataObject, written: Version) -> None:
    stored = bytearray(written.to_bytes())
    at = data.draw(st.integers(0, len(stored) - 1))
    stored[at] ^= data.draw(st.integers(1, 255))
    try:
        version = Version.from_bytes(bytes(stored))
    except ValueError:
        return
    # zlib's own check sum finds all else; the level of compression is no part of the content.
    assert version == written


def test_what_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrapy_dedup.content.versions._MAX_SIZE", 1000)
    with pytest.raises(ValueError, match="too long"):
        Version.from_bytes(Version((("p", "", "x" * 2000),)).to_bytes())
