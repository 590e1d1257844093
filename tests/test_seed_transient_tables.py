"""Token tables as a store keeps them: they say of two versions what the pages themselves do."""

import zlib
from dataclasses import replace
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.content.tokenizer.token_kinds import TokenKind
from scrapy_dedup.content.versions import Version, version_of
from scrapy_dedup.learning.published_masks import published_mask_of
from scrapy_dedup.masks.published.changes import changes_between, changes_of
from scrapy_dedup.masks.published.thresholds import Thresholds
from scrapy_dedup.masks.published.token_table import Role, packed_table, packed_with_table, token_table, unpacked_table
from scrapy_dedup.masks.published.transient_paths import path_counts

from .test_seed_transient_changes import FIRST, SECOND
from .token_paths import path_of

PAGES = st.lists(
    st.sampled_from(
        (
            *(
                "<div>",
                "</div>",
                "<p>",
                "</p>",
                "<li>",
                "<b class=x>",
                "</b>",
                "<br>",
                "<h1>",
                "</h2>",
                "<!--x-->",
                "<body>",
            ),
            *(
                "<script>a<b</script>",
                "<svg><title>",
                "</svg>",
                "<a.b>",
                "a",
                "b\n c",
                "\0",
                "\ud800",
                "&amp;",
                "<",
                "é",
            ),
        )
    ),
    max_size=40,
).map("".join)
DEEP = "<html>" + "".join([f"<i>lasts</i><x{n % 3}>" for n in range(300)]) + "text</x2>more"
LONG = (
    "<html>"
    + "".join(["<div class='of-content of-page of-wrapper of-outer of-main of-body'><b>" for _ in range(90)])
    + "text"
)


@pytest.mark.parametrize("page", [FIRST, SECOND, "", " ", "text", DEEP, LONG], ids=range(7))
def test_a_table_comes_back_as_it_was_packed(page: str) -> None:
    assert unpacked_table(packed_table(page)) == replace(token_table(page), tokens=())


@given(PAGES)
def test_any_table_comes_back_as_it_was_packed(page: str) -> None:
    assert unpacked_table(packed_table(page)) == replace(token_table(page), tokens=())


@given(PAGES | st.just(DEEP) | st.just(LONG))
def test_a_table_names_the_paths_of_its_tokens(page: str) -> None:
    table = token_table(page)
    assert [table.path(node) for node in table.nodes] == [path_of(token) for token in table.tokens]
    for token, role in zip(table.tokens, table.roles, strict=True):
        cut = token.depth > (token.path.count("/") + 1 if token.path else 0)
        assert role == (Role.CLOSE if token.kind is TokenKind.CLOSE else Role.CUT if cut else Role.ROOT)


def test_the_deepest_tokens_are_cut() -> None:
    for page in (DEEP, LONG):
        assert Role.CUT in token_table(page).roles


@given(PAGES, PAGES)
def test_stored_versions_say_what_the_pages_do(one: str, other: str) -> None:
    pages = changes_between(one, other)
    stored = changes_of(unpacked_table(packed_table(one)), unpacked_table(packed_table(other)))
    assert (stored.initial, stored.final, stored.reorganised) == (pages.initial, pages.final, pages.reorganised)
    for longest in (1000, 15):
        assert path_counts(stored, longest) == path_counts(pages, longest)


def test_a_version_is_kept_with_its_table() -> None:
    version = Version.from_bytes(packed_with_table(FIRST))
    assert version.blocks == version_of(FIRST).blocks
    assert len(unpacked_table(version.table)) == 17


def test_no_text_can_be_read_in_a_table() -> None:
    page = FIRST.replace("</header>", "<script>var token = 'hush-hush-0815'</script></header>")
    table = unpacked_table(packed_table(page))
    assert {name for _, name in table.names} == {"html", "header", "title", "script", "body", "h1", "p", "em"}
    version = Version.from_bytes(packed_with_table(page))
    for secret in ("Sunday", "hush"):
        assert secret.encode() not in zlib.decompress(version.table)
        assert secret not in repr(table)
    assert "hush" not in repr(version.blocks)


def test_a_damaged_table_is_as_none() -> None:
    first, second = (Version.from_bytes(packed_with_table(page)) for page in (FIRST, SECOND))
    mask, note = published_mask_of([[first, second]], None, site="news.example", thresholds=Thresholds())
    assert ([path.selector for path in mask.paths] if mask else [], note) == (["html/body/p/*"], "")
    damaged = replace(second, table=second.table[:-3])
    mask, note = published_mask_of([[first, damaged]], None, site="news.example", thresholds=Thresholds())
    assert (mask, "1 page seen more than once, and none of them twice while" in note) == (None, True)


def test_every_cut_off_table_is_refused() -> None:
    data = packed_table(FIRST)
    for length in range(len(data)):
        with pytest.raises(ValueError, match="damaged token table"):
            unpacked_table(data[:length])
    with pytest.raises(ValueError, match="damaged token table"):
        unpacked_table(data + b"x")


@pytest.mark.parametrize(
    "fields",
    [
        [],
        ["", "", "", "", ""],
        ["1", "0", "0", "0", "0", "", "p"],
        ["1", "0", "0", "0", "0", "1"],
        ["0", "0", "0", "0", "0", "1", "p"],
        ["2", "0", "0", "0", "0", "1", "p"],
        ["1", "1", "0", "0", "0", "1", "p"],
        ["1", "0", "1", "0", "0", "1", "p"],
        ["1", "0", "-1", "0", "0", "1", "p"],
        ["1", "0", "0", "1", "0", "1", "p"],
        ["1", "0", "0", "-2", "0", "1", "p"],
        ["1", "0", "0", "0", "3", "1", "p"],
        ["1", "0", "0", "0", "0", "0", "p"],
        ["1", "0", "0", "0", "0", "2", "p"],
        ["1 1", "0", "0", "0", "0", "1", "p"],
        ["x", "0", "0", "0", "0", "1", "p"],
    ],
    ids="|".join,
)
def test_damage_is_a_value_error(fields: list[str]) -> None:
    def stored(fields: list[str]) -> bytes:
        text = "\0".join(fields).encode()
        return zlib.compress(pack("<I", len(text)) + text + pack("<Q", 7))

    assert len(unpacked_table(stored(["1", "0", "0", "0", "0", "1", "p"]))) == 1
    with pytest.raises(ValueError, match="damaged token table"):
        unpacked_table(stored(fields))


def test_what_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed_table(FIRST)
    monkeypatch.setattr("scrapy_dedup.masks.published.token_table._MAX_SIZE", 100)
    with pytest.raises(ValueError, match="too long"):
        unpacked_table(data)
