"""Versions of pages: what was at which place, stored as it is; damage is refused."""

import json
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.pages.blocks import Row, rows_of
from scrapy_dedup.pages.response import parse, version_of
from scrapy_dedup.pages.versions import Version, by_place, packed

PAGE = '<body><h1>Title</h1><p class="price">&pound;5</p><a href="/x">more</a><img src="i.png" alt=i><script>a = 1</script>'
VERSION = Version(
    (
        ("html/body/h1", "", "Title"),
        ("html/body/p.price", "", "£5"),
        ("html/body/a", "href", "/x"),
        ("html/body/a", "", "more"),
        ("html/body/img", "src", "i.png"),
    ),
    (("html/body/img", "alt", "i"), ("html/body/script", "#script[a]", "1")),
)
# With a token table, of which nothing is known here.
TABLED = replace(VERSION, table=b"\x00a table\xff")
rows = st.lists(
    st.tuples(
        st.sampled_from(["html/p", "", "é"]) | st.text(), st.text(), st.text(st.characters(exclude_characters="@"))
    )
).map(tuple)


def test_a_version_holds_the_rows_of_its_page() -> None:
    assert version_of(PAGE) == VERSION
    assert Version.from_bytes(packed(rows_of(parse(PAGE)), lambda: PAGE)) == VERSION
    assert by_place(VERSION.seen)["html/body/a", ""] == ["more"]


@given(rows, rows, st.binary())
def test_it_is_stored_as_it_is(some: tuple[Row, ...], more: tuple[Row, ...], table: bytes) -> None:
    version = Version(some, more, table)
    assert tuple(version.rows()) == some + more
    found = Version.from_bytes(version.to_bytes())
    assert found == version


def test_addresses_are_stored_without_passwords() -> None:
    version = Version((("html/body/a", "href", "http://user:secret@a.test/x"), ("html/body/p", "", "me@a.test")))
    assert [text for _, _, text in Version.from_bytes(version.to_bytes()).seen] == ["http://a.test/x", "me@a.test"]


def test_it_is_small() -> None:
    page = "<ul>" + "".join(f"<li class=entry><a href=/p/{i}>Entry {i}</a>" for i in range(500))
    assert len(version_of(page).to_bytes()) < len(zlib.compress(page.encode()))


@pytest.mark.parametrize("version", [VERSION, TABLED], ids=["", "with a table"])
def test_every_cut_off_version_is_refused(version: Version) -> None:
    data = version.to_bytes()
    for length in range(len(data)):
        with pytest.raises(ValueError, match="page version"):
            Version.from_bytes(data[:length])
    with pytest.raises(ValueError, match="damaged"):
        Version.from_bytes(data + b"x")


ROWS = [["p"], [0], [""], ["x"]]


@pytest.mark.parametrize(
    "data",
    [*("", "null", "{}", "[" * 100_000, [0, "", *ROWS, 0], [1, "", ["p"], [1], [""], ["x"]], [1, "", ["p"], [0], [], ["x"]]), [0, "x", *ROWS], ["0", "", *ROWS], [1, "", ["p"], ["0"], [""], ["x"]]],
    ids=range(10),
)  # fmt: skip
def test_damage_is_a_value_error(data: object) -> None:
    with pytest.raises(ValueError, match="damaged page version"):
        Version.from_bytes(zlib.compress((data if isinstance(data, str) else json.dumps(data)).encode()))


@given(st.data())
def test_a_changed_byte_is_noticed_or_makes_another_version(data: st.DataObject) -> None:
    stored = bytearray(VERSION.to_bytes())
    at = data.draw(st.integers(0, len(stored) - 1))
    stored[at] ^= data.draw(st.integers(1, 255))
    try:
        version = Version.from_bytes(bytes(stored))
    except ValueError:
        return
    # zlib's own check sum finds all else; the level of compression is no part of the content.
    assert version == VERSION


def test_what_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrapy_dedup.pages.versions._MAX_SIZE", 1000)
    with pytest.raises(ValueError, match="too long"):
        Version.from_bytes(Version((("p", "", "x" * 2000),)).to_bytes())
