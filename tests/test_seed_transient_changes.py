"""The example of transient-content, paragraphs on FIG. 1: two versions of a page and their bit vectors."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.masks.token_changes import Changes, Options, extended, token_table
from scrapy_dedup.pages.tokens import Token, TokenKind, tokens

from .seed_bits import changes_between

FIRST = """<html>
<header>
<title>Hello</title>
</header>
<body>
<h1>First section</h1>
<p>
<em>
Today is Sunday, June 24th, 2007.
</em>
</p>
</body>
</html>
"""
SECOND = FIRST.replace(
    "Today is Sunday, June 24th, 2007.\n",
    "Today is Monday, June 25th, 2007.\nWeather Forecast: Sunny.\n",
)
# The document's table: token, initial bit, final bit. It shows 17 tokens of the first version and 18
# of the second; the text before it speaks of 17 entries for each, which is a misprint.
ROWS_OF_FIRST = [
    ("<html>", 0, 0),
    ("<header>", 0, 0),
    ("<title>", 0, 0),
    ("Hello", 0, 0),
    ("</title>", 0, 0),
    ("</header>", 0, 0),
    ("<body>", 0, 0),
    ("<h1>", 0, 0),
    ("First section", 0, 0),
    ("</h1>", 0, 0),
    ("<p>", 0, 1),
    ("<em>", 0, 1),
    ("Today is Sunday, June 24th, 2007.", 1, 1),
    ("</em>", 0, 1),
    ("</p>", 0, 1),
    ("</body>", 0, 0),
    ("</html>", 0, 0),
]
ROWS_OF_SECOND = [
    *ROWS_OF_FIRST[:12],
    ("Today is Monday, June 25th, 2007.", 1, 1),
    ("Weather Forecast: Sunny.", 1, 1),
    *ROWS_OF_FIRST[13:],
]


def entries(html: str) -> list[Token]:
    """The tokens that a table has."""
    return [token for token in tokens(html, lines=True) if html[token.start : token.end].strip()]


def rows(changes: Changes, version: int, html: str) -> list[tuple[str, int, int]]:
    written = [html[token.start : token.end].strip() for token in entries(html)]
    return list(zip(written, changes.initial[version], changes.final[version], strict=True))


def test_the_table_of_the_document() -> None:
    changes = changes_between(FIRST, SECOND)
    assert rows(changes, 0, FIRST) == ROWS_OF_FIRST
    assert rows(changes, 1, SECOND) == ROWS_OF_SECOND
    assert [len(table.fingerprints) for table in changes.tables] == [17, 18]
    # The vectors before tags were taken along.
    assert ["".join([str(int(bit)) for bit in bits]) for bits in changes.initial] == [
        "00000000000010000",
        "000000000000110000",
    ]


def test_tokens_4_9_13_and_14_are_texts_and_where_token_4_stands() -> None:
    texts = [
        [number for number, token in enumerate(entries(html), 1) if token.kind is TokenKind.TEXT]
        for html in (FIRST, SECOND)
    ]
    assert texts == [[4, 9, 13], [4, 9, 13, 14]]
    # "the path associated with token 4 is "<html><header><title>" and the path depth is 3"
    token, table = entries(FIRST)[3], token_table(FIRST)
    assert (token.text, token.depth) == ("Hello", 3)
    around = [token]
    while (parent := table.parents[entries(FIRST).index(around[0])]) >= 0:
        around.insert(0, entries(FIRST)[parent])
    assert [each.name for each in around] == ["html", "header", "title", ""]
    # A <header> stands in the body, in this one, too, of which the tag comes later: by that path the page's rows are found.
    assert table.named(Options().max_path)[table.paths[3]] == token.path == "html/body/header/title"


def test_equal_tokens_share_a_fingerprint() -> None:
    # "the fingerprints data structure may contain fewer entries than the corresponding tokens data structure"
    table = token_table("<p>a</p><p>a</p><p>b</p>")
    assert (len(table.fingerprints), len(set(table.fingerprints))) == (9, 4)


@pytest.mark.parametrize(
    ("page", "one", "two", "expected"),
    [
        # What the method cannot see: two texts that change places.
        pytest.param("{}", "<p>a</p><p>b</p>", "<p>b</p><p>a</p>", [], id="two texts change places"),
        pytest.param("{}", "<p>a</p>\n\n<p> b </p>", "<p>a</p><p>b\r\n</p>\n", [], id="white space"),
        pytest.param(
            "<body><h1>t</h1><div><b>label</b><i>{}</i></div></body>", "1", "2", ["<i>", "2", "</i>"], id="tags around"
        ),
        # The tags of the new paragraph are found nowhere in the first version; that marks the contents of the <div>.
        pytest.param(
            "<body><h1>t</h1><div>{}</div></body>",
            "",
            "<p></p>",
            ["<div>", "<p>", "</p>", "</div>"],
            id="nothing between",
        ),
        pytest.param(
            "<body><h1>t</h1><p>same<ul><li>one<li>{}<li>three</ul></body>", "two", "2", ["<li>", "2"], id="no end tag"
        ),
        pytest.param("<body><h1>t</h1><div>{}</b></div><p>same</p></body>", "1", "2", ["2"], id="a stray end tag"),
        pytest.param(
            '<body><h1>t</h1><p>one</p><div id="ad-{}">same</div></body>',
            "1",
            "2",
            ['<div id="ad-2">'],
            id="attributes",
        ),
    ],
)
def test_what_the_final_bits_mark(page: str, one: str, two: str, expected: list[str]) -> None:
    changes = changes_between(page.format(one), page.format(two))
    assert [text for text, _, bit in rows(changes, 1, page.format(two)) if bit] == expected
    assert any(changes.final[0]) is bool(expected and one)
    assert any(changes.whole[1]) is (expected not in ([], ['<div id="ad-2">']))


PAGE = "<body>" + "<p>lasting {}</p>" * 4 + "</body>"


@pytest.mark.parametrize(("changed", "reorganised"), [(1, False), (2, False), (3, True), (4, True)])
def test_the_guard_against_reorganised_pages(changed: int, reorganised: bool) -> None:
    # 14 tokens; three of each paragraph are marked when its text changes: 6 of 14 pass, 9 of 14 do not.
    first = PAGE.format(*range(4))
    second = PAGE.format(*[f"new {i}" if i < changed else i for i in range(4)])
    changes = changes_between(first, second, max_marked=0.5)
    assert any([*changes.final[0], *changes.final[1]]) is not reorganised
    assert sum(changes.initial[1]) == changed


def test_the_share_must_exceed_the_threshold_and_of_nothing_there_is_none() -> None:
    # Three tokens of four in each version.
    for most in (0.75, 0.74):
        changes = changes_between("<b>1</b>x", "<b>2</b>x", max_marked=most)
        assert (any(changes.final[0]), len(changes.initial[0])) == (most >= 0.75, 4)
    empty = changes_between("", " \n")
    assert (empty.tables[0].fingerprints, [*empty.final]) == ([], [[], []])


pieces = st.lists(
    st.sampled_from(
        ["<div>", "</div>", "<p>", "</p>", "<li>", "<b>", "</b>", "<br>", "<!--x-->", "a", "b", "c\n", "<"]
    ),
    max_size=30,
).map("".join)


@given(pieces, pieces)
def test_laws_of_the_vectors(first: str, second: str) -> None:
    changes = changes_between(first, second, max_marked=1)
    for table, initial, final, whole in zip(changes.tables, changes.initial, changes.final, changes.whole, strict=True):
        assert len(initial) == len(final) == len(table.fingerprints) == len(table.parents) == len(table.ends)
        assert all(after >= before for before, after in zip(initial, final, strict=True))
        assert extended(table, final) == (final, whole)
        for entry, parent in enumerate(table.parents):
            assert parent < entry
            if parent >= 0 and whole[parent]:
                assert whole[entry]
    same = changes_between(first, first)
    assert not any(chain(*same.initial, *same.final))
    back = changes_between(second, first, max_marked=1)
    assert back.initial == changes.initial[::-1]
    assert back.final == changes.final[::-1]
