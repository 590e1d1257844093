"""Transient paths after transient-content, paragraphs on FIG. 2, FIG. 3, FIG. 6 and FIG. 7."""

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

import pytest

from scrapy_dedup import learn_mask
from scrapy_dedup.masks import published
from scrapy_dedup.masks.model import Mask, Place
from scrapy_dedup.masks.published import PathTables, learned, one_of_each_crawl
from scrapy_dedup.masks.token_changes import Options, packed_table, token_table
from scrapy_dedup.observation import KeptPage
from scrapy_dedup.pages.versions import Version

from .seed_bits import changes_between, existing_bits, path_of, verified_bits
from .test_seed_transient_changes import entries

PAGE = "<html><body><h1>{}</h1><div>{}</div><p><em>{}</em></p><ul><li>a<li>b</ul></body></html>"


def tables_of(*pairs: tuple[str, str], max_marked: float = 1) -> PathTables:
    tables = PathTables(Counter(), Counter())
    for pair in pairs:
        tables.add(published.tables_of(*map(packed_table, pair), options=Options(max_marked=max_marked)))
    return tables


def transient_paths(tables: PathTables, **options: float) -> Mapping[str, tuple[int, int]] | None:
    return published.transient_paths(tables, Options(**options))  # type: ignore[arg-type]


def page(*texts: object) -> str:
    return PAGE.format(*texts)


def shown(paths: Mapping[str, tuple[int, int]] | None, html: str) -> list[str]:
    """Return the tokens of a page that lie on the paths."""
    bits = existing_bits(list(paths or ()), token_table(html))
    return [html[token.start : token.end] for token, bit in zip(entries(html), bits, strict=True) if bit]


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
    assert +tables.marked_subtrees == {"html/body/p": 2, "html/body/p/em": 4}
    assert twice.subtrees == {path: 2 * count for path, count in tables.subtrees.items()}
    assert +twice.marked_subtrees == {"html/body/p": 4, "html/body/p/em": 8}
    # The most general subtree is named, and what is below is skipped.
    assert transient_paths(tables) == {"html/body/p": (2, 2)}


def test_the_path_of_a_start_tag_names_its_subtree() -> None:
    table = token_table("<html><body><p>text<br>more</p></body></html>")
    assert [path_of(table, entry) for entry in range(9)] == [
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
    [(1, 0.5, False), (2, 0.5, True), (3, 0.5, True), (3, 1, False), (4, 1, True), (0, 0.01, False)],
)
def test_threshold(changes: int, threshold: float, found: bool) -> None:
    # ">=" as the formula has it: two of four are enough for a half, though the text says "more than half".
    # A path that never changes is not transient at any threshold.
    paths = transient_paths(changed_in(changes, 4), threshold=threshold)
    assert set(paths or ()) == ({"html/body/div"} if found else set())


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
    assert transient_paths(tables, max_share=most) == found


def test_a_promoted_path_is_shown_with_what_it_rests_on() -> None:
    versions = {
        str(n): [widget(inside.format(day)) for day in ("one", "two")]
        for n, inside in enumerate(["<b>{}</b>", "<i>{}</i>", "<i>same</i>"])
    }
    (place,) = learn_mask(versions, "seed").places
    assert (place.selector, place.changes, place.opportunities) == ("html/body/section", 8, 12)
    assert place.pages == 3


def test_a_site_that_changed_too_much_has_no_transient_paths() -> None:
    # Four paths of eight: html/body/section and what is below.
    tables = widgets("<b>{}</b>", "<i>{}</i>")
    assert len(tables.subtrees) == 8
    assert transient_paths(tables, max_share=0.5) is not None
    assert transient_paths(tables, max_share=0.49) is None


def test_a_reorganised_page_counts_as_unchanged() -> None:
    pair = page("t", "same", "one"), page("u", "other", "two")
    tables = tables_of(pair, max_marked=0.2)
    assert tables.subtrees["html/body/div"] == 4
    assert not +tables.marked_subtrees


def nested(names: list[str], text: str) -> str:
    """Return a page with elements in each other, a lasting one beside each, and *text* in the innermost."""
    return "<html><body>" + "".join([f"<i>lasts</i><{name}>" for name in names]) + text


@pytest.mark.parametrize(("names", "found"), [(49, True), (50, False)])
def test_paths_over_a_thousand_characters_are_skipped(names: int, found: bool) -> None:
    # As the document writes it, <html><body><aaaa…>…: 12 characters and 20 for each name.
    deep = ["a" * 18] * names
    path = "/".join(["html/body", *deep])
    tables = tables_of((nested(deep, "one"), nested(deep, "two")))
    assert (path in tables.subtrees) is found
    assert set(transient_paths(tables) or ()) == ({path} if found else set())


def test_a_skipped_path_keeps_its_parent_from_promotion() -> None:
    def page(last: str, text: str) -> str:
        return nested(["a" * 18] * 49, f"label <{last}>{text}")

    path = "/".join(["html/body", *["a" * 18] * 49])
    changing = page("b", "one"), page("b", "two")
    assert set(transient_paths(tables_of(changing)) or ()) == {path}
    tables = tables_of(changing, (page("c" * 20, "same"), page("c" * 20, "same")))
    assert f"{path}/{'c' * 20}" not in tables.subtrees
    assert set(transient_paths(tables) or ()) == {f"{path}/b"}


def test_very_deep_pages_have_no_transient_paths_at_their_bottom() -> None:
    tables = tables_of((nested(["b"] * 5000, "one"), nested(["b"] * 5000, "two")))
    # <html><body>, and <b> 329 times, are 999 characters; below is a mark for what is longer.
    assert max(path.count("/") for path in tables.subtrees) == 331
    assert not transient_paths(tables)


OTHER = page("new title", "news of today", "three")


def test_paths_are_applied_where_comparison_verifies_them() -> None:
    paths = ["html/body/p", "html/body/div"]
    versions = page("t", "same", "one"), page("t", "same", "two")
    # The <div> exists, but its content did not change.
    for html, bits in zip(versions, verified_bits(paths, *versions), strict=True):
        table = token_table(html)
        assert {path_of(table, entry) for entry, bit in enumerate(bits) if bit} == {"html/body/p", "html/body/p/em"}
        assert sum(bits) == 5
        assert sum(existing_bits(paths, table)) == 8


def test_a_verified_path_takes_its_lasting_tokens_along() -> None:
    versions = widget("<b>one</b>"), widget("<b>two</b>")
    # <div>, "label", <b>, its text, </b>, </div>; only the inner three are marked.
    assert [sum(bits) for bits in verified_bits(["html/body/section/div"], *versions)] == [6, 6]
    assert [sum(bits) for bits in changes_between(*versions).final] == [3, 3]


def test_learning_from_pages() -> None:
    pages = [[page(f"t{i}", f"about {i}", f"{hour}:{i}0") for hour in range(3)] for i in range(4)]
    paths = transient_paths(tables_of(*[pair for versions in pages for pair in pairwise(versions)]))
    assert set(paths or ()) == {"html/body/p"}
    assert shown(paths, OTHER) == ["<p>", "<em>", "three", "</em>", "</p>"]
    assert not transient_paths(tables_of())


# Responses that a crawl has stored

HOUR = 3600.0


def shop(number: int, day: int) -> str:
    """A page of a shop, and the date on it, which is another one each day."""
    return (
        f"<html><body><h1>Chair {number}</h1><div>Made of wood, {number} kg <a href=/>home</a></div>"
        f"<p>Today is day {day}</p><ul><li>a<li>b</ul></body></html>"
    )


def fetched(number: int, days: int, numbered: str) -> list[KeptPage]:
    """A page as some daily crawls have it: under several session ids, and again in spot checks, within the hour."""
    return [
        KeptPage(
            f"http://shop.example/{number}?sid={at}",
            24 * HOUR * day + 600 * at,
            Version((), table=packed_table(shop(number, day))),
            {"by crawl": day, "by time": None, "each its own": 10 * day + at}[numbered],
        )
        for day in range(days)
        for at in range(2 + number % 4)
    ]


@pytest.mark.parametrize("numbered", ["by crawl", "by time"])
@pytest.mark.parametrize("days", [1, 2, 3, 4])
def test_a_date_is_found_with_the_second_day(days: int, numbered: str) -> None:
    """Of each crawl a page has one version, however often it was fetched: a day is one opportunity for a date to change."""
    pages = [fetched(number, days, numbered) for number in range(12)]
    mask, note = learned(pages, None, site="shop.example", options=Options())
    assert note == ""
    if days == 1:
        assert mask is None
        return
    assert mask is not None
    (place,) = mask.places
    assert (place.selector, place.changes, place.opportunities) == (
        "html/body/p",
        *[4 * 12 * (days - 1)] * 2,  # the tag and the text of two versions
    )
    for number, day in ((3, days - 1), (3, days), (99, days)):
        left = f"Chair {number} Made of wood, {number} kg home a b"
        assert mask.text(shop(number, day)) == left


def test_were_all_fetches_versions_it_would_not_be() -> None:
    pages = [fetched(number, 4, "each its own") for number in range(12)]
    assert learned(pages, None, site="shop.example", options=Options()) == (None, "")
    mask, _ = learned(pages, None, site="shop.example", options=Options(threshold=0.2))
    assert mask is not None


def test_which_response_of_a_crawl_is_its_version() -> None:
    version = Version((), table=b"t")

    def left(*seen: tuple[float, int | None]) -> list[float]:
        return [page.time for page in one_of_each_crawl([KeptPage("u", at, version, crawl) for at, crawl in seen])]

    assert left() == []
    # Two crawls at the same time are two.
    assert left((0, 1), (1, 1), (2, 2), (3, 1), (9 * HOUR, 2)) == [0, 2]
    # Without numbers: none that follows another one within the hour.
    assert left((0, None), (HOUR - 1, None), (2 * HOUR - 2, None), (3 * HOUR - 2, None)) == [0, 3 * HOUR - 2]
    assert left((0, 1), (1, None), (HOUR + 1, None)) == [0, HOUR + 1]


def test_a_site_of_one_crawl_is_learned_from_that() -> None:
    """What changes with each response is known from the first crawl on, as long as there is no other."""
    counting = [
        [KeptPage("u", at, Version((), table=packed_table(shop(number, 10 * number + at))), 1) for at in range(2)]
        for number in range(4)
    ]
    mask, _ = learned(counting, None, site="shop.example", options=Options())
    assert mask is not None
    assert [place.selector for place in mask.places] == ["html/body/p"]


def test_what_was_known_before() -> None:
    pages = [fetched(number, 2, "by crawl") for number in range(4)]
    kept = Place("html/body/p", "*", state="keep")
    by_hand = Place("main p::text", slot=("Today", ""), state="strip")
    gone, still_there = (
        Place(f"html/body/{name}", "*", changes=3, opportunities=4, pages=2) for name in ("aside", "ul")
    )
    for mode, old in (("seed", ["html/body/aside"]), ("default", [])):
        before = Mask("shop.example", (by_hand, gone, still_there), mode)  # type: ignore[arg-type]
        mask, _ = learned(pages, before, site="", options=Options())
        assert mask is not None
        assert (mask.site, mask.mode) == ("shop.example", "seed")
        assert {place.selector for place in mask.places} == {"html/body/p", "main p::text", *old}
    before = Mask("shop.example", (kept,), "seed")
    assert learned(pages, before, site="shop.example", options=Options()) == (before, "")
    # Until there is something to learn from it stays as it is.
    nothing = [[page._replace(version=Version(())) for page in versions] for versions in pages]
    mask, note = learned(nothing, before, site="shop.example", options=Options())
    assert mask is before
    assert note.startswith(
        "transient content: 4 pages seen more than once, and none of them twice while it was recorded"
    )
    assert learned([], None, site="shop.example", options=Options()) == (None, "")
    mask, note = learned(pages, None, site="shop.example", options=Options(max_share=0.01))
    assert mask is None
    assert "more than 0.01 of all paths changed" in note
