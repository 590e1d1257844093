"""Transient paths after transient-content, paragraphs on FIG. 2, FIG. 3, FIG. 6 and FIG. 7."""

from itertools import pairwise

import pytest

from scrapy_dedup import learn_mask
from scrapy_dedup.masks.published.changes import changes_between, token_table
from scrapy_dedup.masks.published.transient_paths import PathTables, TransientPaths, transient_paths

from .seed_bits import existing_bits, verified_bits
from .token_paths import path_of

PAGE = "<html><body><h1>{}</h1><div>{}</div><p><em>{}</em></p><ul><li>a<li>b</ul></body></html>"


def tables_of(*pairs: tuple[str, str], max_marked: float = 1) -> PathTables:
    tables = PathTables()
    for first, second in pairs:
        tables.add(changes_between(first, second, max_marked=max_marked))
    return tables


def page(*texts: object) -> str:
    return PAGE.format(*texts)


def shown(paths: TransientPaths, html: str) -> list[str]:
    """Return the tokens of a page that lie on the paths."""
    table = token_table(html)
    bits = existing_bits(paths, table)
    return [html[token.start : token.end] for token, bit in zip(table.tokens, bits, strict=True) if bit]


PAIR = page("t", "same", "one"), page("t", "same", "two")


def test_the_three_tables_add_up_over_pages() -> None:
    tables, twice = tables_of(PAIR), tables_of(PAIR, PAIR)
    # Two versions; a start tag and a text each, but for elements that hold no text themselves.
    assert tables.subtrees == {
        "html": 2,
        "html/body": 2,
        "html/body/h1": 4,
        "html/body/div": 4,
        "html/body/p": 2,
        "html/body/p/em": 4,
        "html/body/ul": 2,
        "html/body/ul/li": 8,
    }
    assert tables.marked_subtrees == {"html/body/p": 2, "html/body/p/em": 4}
    assert (
        tables.unique_children
        == twice.unique_children
        == {
            "": 1,
            "html": 1,
            "html/body": 4,
            "html/body/p": 1,
            "html/body/ul": 1,
        }
    )
    assert twice.subtrees == {path: 2 * count for path, count in tables.subtrees.items()}
    assert twice.marked_subtrees == {"html/body/p": 4, "html/body/p/em": 8}
    # The most general subtree is named, and what is below is skipped.
    assert transient_paths(tables).paths == {"html/body/p"}
    assert transient_paths(tables).evidence == {"html/body/p": (2, 2)}


def test_the_path_of_a_start_tag_names_its_subtree() -> None:
    table = token_table("<html><body><p>text<br>more</p></body></html>")
    assert [path_of(token) for token in table.tokens] == [
        "html",
        "html/body",
        "html/body/p",
        "html/body/p",
        "html/body/p/br",
        "html/body/p",
        "html/body/p",
        "html/body",
        "html",
    ]


def changed_in(changes: int, pages: int) -> PathTables:
    """Return the tables of *pages* pages of which *changes* have another text in their <div>."""
    return tables_of(
        *[(page(i, f"one {i}", "e"), page(i, f"{'two' if i < changes else 'one'} {i}", "e")) for i in range(pages)],
    )


@pytest.mark.parametrize(
    ("changes", "threshold", "found"),
    [(1, 0.5, False), (2, 0.5, True), (3, 0.5, True), (3, 1, False), (4, 1, True), (0, 0, False)],
)
def test_threshold(changes: int, threshold: float, found: bool) -> None:
    # ">=" as the formula has it: two of four are enough for a half, though the text says "more than half".
    # A path that never changes is not transient at any threshold.
    paths = transient_paths(changed_in(changes, 4), threshold=threshold)
    assert paths.paths == ({"html/body/div"} if found else set())


def widget(inside: str) -> str:
    return f"<html><body><h1>t</h1><p>x</p><section><div>label {inside}</div></section></body></html>"


def widgets(*templates: str) -> PathTables:
    """Return the tables of a page for each template, in two versions that differ in its "{}"."""
    return tables_of(*[(widget(t.format("one")), widget(t.format("two"))) for t in templates])


SECTION, DIV = "html/body/section", "html/body/section/div"


@pytest.mark.parametrize(
    ("templates", "most", "found"),
    [
        # The label lasts, but no child path stands for it: the document's rule. And the parent's parent, in turn.
        pytest.param(["<b>{}</b>", "<i>{}</i>"], 0.5, {SECTION: (8, 8)}, id="all children are transient"),
        # A tag and a text in each version of <b> and of <i>; of <section> and <div> themselves nothing had changed.
        pytest.param(
            ["<b>{}</b>", "<i>{}</i>", "<i>same</i>"], 0.5, {SECTION: (8, 12)}, id="and stay the same somewhere"
        ),
        pytest.param(
            ["<b>{}</b>", "<i>{}</i><u>same</u>"], 0.5, {f"{DIV}/b": (4, 4), f"{DIV}/i": (4, 4)}, id="one lasting child"
        ),
        pytest.param(
            ["<b>{}</b>", "<i>{}</i>", "<i>same</i>", "<i>other</i>"], 0.5, {f"{DIV}/b": (4, 4)}, id="too few pages"
        ),
        pytest.param(["<b><i>{}</i></b>"], 0.6, {SECTION: (2, 2)}, id="children of a transient parent"),
    ],
)
def test_a_parent_whose_children_are_all_transient_is_promoted(
    templates: list[str], most: float, found: dict[str, tuple[int, int]]
) -> None:
    """A promoted parent rests on what its children do, and a path that is transient by itself on what it says itself."""
    tables = widgets(*templates)
    assert not tables.marked_subtrees[DIV]
    paths = transient_paths(tables, max_share=most)
    assert paths.paths == found.keys()
    assert paths.evidence == found


def test_a_promoted_path_is_shown_with_what_it_rests_on() -> None:
    versions = {
        str(n): [widget(inside.format(day)) for day in ("one", "two")]
        for n, inside in enumerate(["<b>{}</b>", "<i>{}</i>", "<i>same</i>"])
    }
    (path,) = learn_mask(versions, "seed").paths
    assert (path.selector, path.changes, path.opportunities) == ("html/body/section/*", 8, 12)
    assert (path.confidence, path.pages) == (0.667, 3)


def test_a_site_that_changed_too_much_has_no_transient_paths() -> None:
    # Four paths of eight: html/body/section and what is below.
    tables = widgets("<b>{}</b>", "<i>{}</i>")
    assert len(tables.subtrees) == 8
    assert not transient_paths(tables, max_share=0.5).restructured
    assert transient_paths(tables, max_share=0.49) == TransientPaths(frozenset(), restructured=True)


def test_a_reorganised_page_counts_as_unchanged() -> None:
    pair = page("t", "same", "one"), page("u", "other", "two")
    tables = tables_of(pair, max_marked=0.2)
    assert tables.subtrees["html/body/div"] == 4
    assert not +tables.marked_subtrees


def nested(names: list[str], text: str) -> str:
    """Return a page with elements in each other, a lasting one beside each, and *text* in the innermost."""
    return "<html>" + "".join([f"<i>lasts</i><{name}>" for name in names]) + text


@pytest.mark.parametrize(("names", "found"), [(49, True), (50, False)])
def test_paths_over_a_thousand_characters_are_skipped(names: int, found: bool) -> None:
    # As the document writes it, <html><aaaa…>…: 6 characters and 20 for each name.
    deep = ["a" * 18] * names
    path = "/".join(["html", *deep])
    tables = tables_of((nested(deep, "one"), nested(deep, "two")))
    assert (path in tables.subtrees) is found
    assert transient_paths(tables).paths == ({path} if found else set())


def test_a_skipped_path_keeps_its_parent_from_promotion() -> None:
    def page(last: str, text: str) -> str:
        return nested(["a" * 18] * 49, f"label <{last}>{text}")

    path = "/".join(["html", *["a" * 18] * 49])
    changing = page("b", "one"), page("b", "two")
    assert transient_paths(tables_of(changing)).paths == {path}
    tables = tables_of(changing, (page("c" * 20, "same"), page("c" * 20, "same")))
    assert f"{path}/{'c' * 20}" not in tables.subtrees
    assert transient_paths(tables).paths == {f"{path}/b"}


def test_very_deep_pages_have_no_transient_paths_at_their_bottom() -> None:
    tables = tables_of((nested(["b"] * 5000, "one"), nested(["b"] * 5000, "two")))
    assert max(path.count("/") for path in tables.subtrees) == 256
    assert not transient_paths(tables).paths


OTHER = page("new title", "news of today", "three")


def test_paths_are_applied_where_comparison_verifies_them() -> None:
    paths = TransientPaths(frozenset(["html/body/p", "html/body/div"]))
    changes = changes_between(page("t", "same", "one"), page("t", "same", "two"))
    first, second = verified_bits(paths, changes)
    # The <div> exists, but its content did not change.
    for table, bits in ((changes.first, first), (changes.second, second)):
        assert {path_of(token) for token, bit in zip(table.tokens, bits, strict=True) if bit} == {
            "html/body/p",
            "html/body/p/em",
        }
        assert sum(bits) == 5
        assert sum(existing_bits(paths, table)) == 8


def test_a_verified_path_takes_its_lasting_tokens_along() -> None:
    changes = changes_between(widget("<b>one</b>"), widget("<b>two</b>"))
    div = TransientPaths(frozenset(["html/body/section/div"]))
    # <div>, "label", <b>, its text, </b>, </div>; only the inner three are marked.
    assert [sum(bits) for bits in verified_bits(div, changes)] == [6, 6]
    assert [sum(bits) for bits in changes.final] == [3, 3]


def test_learning_from_pages() -> None:
    pages = [[page(f"t{i}", f"about {i}", f"{hour}:{i}0") for hour in range(3)] for i in range(4)]
    paths = transient_paths(tables_of(*[pair for versions in pages for pair in pairwise(versions)]))
    assert paths.paths == {"html/body/p"}
    assert shown(paths, OTHER) == ["<p>", "<em>", "three", "</em>", "</p>"]
    assert not transient_paths(tables_of()).paths
