"""Token tables as a store keeps them: they say of two versions what the pages themselves do."""

import json
import zlib
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.masks import token_changes
from scrapy_dedup.masks.published import learned
from scrapy_dedup.masks.token_changes import (
    Options,
    changes_of,
    packed_table,
    packed_with_table,
    token_table,
    unpacked_table,
)
from scrapy_dedup.observation import KeptPage
from scrapy_dedup.pages.blocks import rows_of
from scrapy_dedup.pages.response import parse, version_of
from scrapy_dedup.pages.versions import Version

from .seed_bits import changes_between, path_of
from .test_seed_transient_changes import FIRST, SECOND, entries
from .token_paths import path_of as path_of_token

TAGS = "<div> </div> <p> </p> <li> <b/class=x> </b> <br> <h1> </h2> <!--x--> <body> <script>a<b</script> <svg><title> </svg> <a.b>"
PAGES = st.lists(st.sampled_from((*TAGS.split(), "a", "b\n c", "\0", "\ud800", "&amp;", "<", "é")), max_size=40).map(
    "".join
)
DEEP = "<html>" + "".join([f"<i>lasts</i><x{n % 3}>" for n in range(300)]) + "text</x2>more"
LONG = (
    "<html>"
    + "".join(["<div class='of-content of-page of-wrapper of-outer of-main of-body'><b>" for _ in range(90)])
    + "text"
)


@given(PAGES | st.sampled_from((FIRST, SECOND, "", " ", "text", DEEP, LONG)))
def test_any_table_comes_back_as_it_was_packed(page: str) -> None:
    table, found = token_table(page), unpacked_table(packed_table(page))
    assert found[:4] == table[:4]
    assert list(map(tuple, found.names)) == table.names


@given(PAGES)
def test_a_table_names_the_paths_of_its_tokens(page: str) -> None:
    table = token_table(page)
    tokens = entries(page)
    assert len(tokens) == len(table.fingerprints)
    for entry, token in enumerate(tokens):
        if token.kind.value != "close" or table.paths[entry] >= 0:
            assert path_of(table, entry) == path_of_token(token).replace("a.b", "a%2Eb")


@given(PAGES, PAGES)
def test_stored_versions_say_what_the_pages_do(one: str, other: str) -> None:
    pages = changes_between(one, other)
    stored = changes_of(*[unpacked_table(packed_table(page)) for page in (one, other)], Options())
    assert stored[1:] == pages[1:]


def test_a_version_is_kept_with_its_table() -> None:
    version = Version.from_bytes(packed_with_table(rows_of(parse(FIRST)), partial(str, FIRST)))
    assert tuple(version.rows()) == tuple(version_of(FIRST).rows())
    assert len(unpacked_table(version.table).fingerprints) == 17


def test_no_text_can_be_read_in_a_table() -> None:
    page = FIRST.replace("</header>", "<script>var token = 'hush-hush-0815'</script></header>")
    data = packed_table(page)
    table = unpacked_table(data)
    assert len(table.fingerprints) == 20
    assert {name for _, name in table.names} == {"html", "header", "title", "script", "body", "h1", "p", "em"}
    for secret in ("Sunday", "hush"):
        assert secret.encode() not in zlib.decompress(data)
        assert secret not in repr(table)


def kept(page: str, number: int) -> KeptPage:
    return KeptPage("http://a.test/", number * 86_400, Version((), table=packed_table(page)), number)


def test_a_damaged_table_is_as_none() -> None:
    first, second = kept(FIRST, 1), kept(SECOND, 2)
    mask, note = learned([[first, second]], None, site="news.example", options=Options())
    assert ([place.selector for place in mask.places] if mask else [], note) == (["html/body/p"], "")
    damaged = second._replace(version=replace(second.version, table=second.version.table[:-3]))
    mask, note = learned([[first, damaged]], None, site="news.example", options=Options())
    assert (mask, "1 page seen more than once, and none of them twice while" in note) == (None, True)


def test_every_cut_off_table_is_refused() -> None:
    data = packed_table(FIRST)
    for length in range(len(data)):
        with pytest.raises(ValueError, match="damaged token table"):
            unpacked_table(data[:length])
    with pytest.raises(ValueError, match="damaged token table"):
        unpacked_table(data + b"x")


RIGHT = [[1, 1], [0, 0], [7, 8], [0, 0], [[-1, "p"]]]
"""A <p> and a text in it: how far it is to the open tag around, and to the end tag; fingerprints, paths, and the names of paths."""


@pytest.mark.parametrize(
    "columns",
    [
        *([], {}, None, "x", RIGHT[:4], [*RIGHT, []], [[], *RIGHT[1:]], [*RIGHT[:2], [7], *RIGHT[3:]]),
        *([*RIGHT[:3], [0], RIGHT[4]], [*RIGHT[:4], []], [*RIGHT[:4], [[0, "p"]]], [*RIGHT[:4], [[-1, 5]]]),
        *([*RIGHT[:3], [0, 1], RIGHT[4]], [*RIGHT[:3], [0, -2], RIGHT[4]], [*RIGHT[:4], [[-1]]]),
        *([[1, 0], *RIGHT[1:]], [[2, 1], *RIGHT[1:]], [[1, "x"], *RIGHT[1:]]),
        *([RIGHT[0], [0, 1], *RIGHT[2:]], [RIGHT[0], [2, 0], *RIGHT[2:]], [RIGHT[0], [-2, 0], *RIGHT[2:]]),
    ],
    ids=str,
)
def test_damage_is_a_value_error(columns: object) -> None:
    assert len(unpacked_table(zlib.compress(json.dumps(RIGHT).encode())).fingerprints) == 2
    with pytest.raises(ValueError, match="damaged token table"):
        unpacked_table(zlib.compress(json.dumps(columns).encode()))


def test_what_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed_table(FIRST)
    monkeypatch.setattr(token_changes, "_MAX_SIZE", 100)
    with pytest.raises(ValueError, match="damaged token table"):
        unpacked_table(data)
