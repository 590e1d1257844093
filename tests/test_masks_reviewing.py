"""Mask files as those who review them meet them: short lines, readable patterns, small differences."""

import difflib
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup import Mask, learn_mask
from scrapy_dedup.files.errors import FormError
from scrapy_dedup.masks.files.mask_files import save_learned_mask
from scrapy_dedup.masks.files.page_kinds import PageKinds, pattern_of, template_in
from scrapy_dedup.masks.files.reading import read_mask
from scrapy_dedup.masks.files.writing import written_mask
from scrapy_dedup.masks.model import TransientPath
from scrapy_dedup.masks.slots import slot_in, slot_problem, slot_text
from scrapy_dedup.urls.templates import template_of

from .mask_files import save_mask
from .test_masks_files import CLOCK, MASK, SITE, templates

# -- what a file looks like


def test_a_file_to_read() -> None:
    clock = replace(CLOCK, templates=((5, "item", "id"),), examples=(("Today is Monday", "Today is Tuesday"),))
    link = TransientPath("html/body/a", "href", ("/cart?sid=", ""), "undecided", words=("Uhr",), typed=True)
    mask = Mask(
        SITE,
        (clock, link),
        templates=frozenset({(5, "item", "id"), (5, "item", ""), (4, "", "")}),
        layouts=frozenset({"ab"}),
    )
    assert (
        written_mask(mask.data)
        == """\
format = "dedup-mask/2"
site = "shop.example"

# Kinds of pages of which some were seen twice: "*" is one segment of the path, "page=" a parameter.
[page-kinds]
top = "/*"
item = ["/item/*", "/item/*?id="]

# For the machine: digests of the places of pages that were seen twice.
[machine]
layouts = ["ab"]

[[path]]
selector = "html/body/div#top/p.clock"
kind = "transient"
text = "Today is {…}"
on = ["/item/*?id="]
changed = 11
compared = 12
pages = 12
confidence = 0.98
before = "Today is Monday"
after = "Today is Tuesday"

[[path]]
selector = "html/body/a"
attribute = "href"
kind = "undecided"
text = "/cart?sid={…}"
typed = true
words = ["Uhr"]
"""
    )


def shop(**more: object) -> Mask:
    """A mask of a site whose lists are sorted and filtered by seven parameters in any combination."""
    names = ("brand", "colour", "lang", "page", "sid", "size", "sort")
    queries = ["&".join(f"{name}=1" for at, name in enumerate(names) if chosen >> at & 1) for chosen in range(128)]
    kinds = frozenset(template_of(f"http://{SITE}/category/7?{query}".removesuffix("?")) for query in queries)
    most = [kind for kind in kinds if kind[2:] != ("sid",)]
    paths = [
        TransientPath("html/body/p.clock"),
        TransientPath("html/body/p.online", templates=tuple(most)),
        TransientPath("html/body/p.stock", kind="volatile", everywhere=True, untested=tuple(most[:40])),
        TransientPath("html/head/script/*", kind="undecided"),
    ]
    fields = {"templates": kinds, "layouts": frozenset(f"{number:016x}" for number in range(90)), **more}
    return Mask(SITE, tuple(paths), **fields)


def test_no_line_is_long() -> None:
    text = written_mask(shop().data)
    assert read_mask(text, Path("x"))[0] == shop().data
    assert text.count("/category/*") > 128, "all kinds of pages are there"
    assert max(map(len, text.splitlines())) <= 110
    # What holds for all kinds of pages but one is said so.
    assert 'on = ["category", "!/category/*?sid="]' in text
    # Neither CSS nor XPath: they follow from the selector.
    assert "::text" not in text


def differing(one: str, other: str) -> list[str]:
    lines = difflib.unified_diff(one.splitlines(), other.splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def test_a_new_kind_of_pages_is_a_line_and_where_it_does_not_count_another() -> None:
    old = written_mask(shop().data)
    assert "offer" not in old
    grown = replace(shop(), templates=shop().templates | {(5, "category", "offer")})
    assert differing(old, written_mask(grown.data, old)) == [
        '+    "/category/*?offer=",',
        '-on = ["category", "!/category/*?sid="]',
        '+on = ["category", "!/category/*?offer=", "!/category/*?sid="]',
    ]


def test_a_new_place_and_a_lost_one_are_their_blocks_and_nothing_else() -> None:
    mask = shop()
    old = written_mask(mask.data)
    more = replace(mask, paths=(*mask.paths, TransientPath("html/body/p.new", changes=3, opportunities=4, pages=2)))
    new = written_mask(more.data, old)
    added = differing(old, new)
    assert sorted(added) == sorted(
        [
            *("+", "+[[path]]", '+selector = "html/body/p.new"', '+kind = "transient"', '+text = "{…}"'),
            *("+changed = 3", "+compared = 4", "+pages = 2"),
        ]
    )
    assert written_mask(mask.data, new) == old
    # It stands among its like: what is stripped before what is undecided.
    assert new.index("p.new") < new.index("html/head/script")


def test_counts_of_places_that_say_the_same_do_not_change(tmp_path: Path) -> None:
    path = save_learned_mask(tmp_path, MASK.data)
    before = path.read_text()
    later = replace(
        MASK,
        paths=tuple([replace(each, pages=99, changes=98, opportunities=99, confidence=0.5) for each in MASK.paths]),
    )
    save_learned_mask(tmp_path, later.data)
    assert path.read_text() == before
    volatile = [replace(each, kind="volatile") if each.key == CLOCK.key else each for each in later.paths]
    save_learned_mask(tmp_path, replace(later.data, paths=tuple(volatile)))
    changed = differing(before, path.read_text())
    assert '-kind = "transient"' in changed
    assert '+kind = "volatile"' in changed
    assert "+changed = 98" in changed
    assert len(changed) == 10, "the kind and four counts of one place"


# -- kinds of pages


@given(templates)
def test_a_pattern_is_read_as_its_template(found: tuple[tuple[object, ...], ...]) -> None:
    for template in found:
        pattern = pattern_of(template)
        assert (template_in(pattern) if isinstance(pattern, str) else tuple(pattern)) == template


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        ("http://a.example", ""),
        ("http://a.example/", "/*"),
        ("http://a.example/about", "/*"),
        ("http://a.example/news/", "/news/*"),
        ("http://a.example/2024/05/x", "/<number>/*/*"),
        ("http://a.example/page12;sid=5/x?b=1&a=2", "/page<number>/*?a=&b="),
        ("http://a.example//x", "//*"),
        ("http://a.example/a/b?flag", "/a/*?flag="),
        ("http://a.example/a/b?&x=1", "/a/*?=&x="),
    ],
)
def test_patterns_of_urls(url: str, pattern: str) -> None:
    assert pattern_of(template_of(url)) == pattern
    assert template_in(pattern) == template_of(url)


@given(templates, templates, templates)
@settings(max_examples=200)
def test_references_mean_what_they_were_written_for(known, then, wanted) -> None:  # type: ignore[no-untyped-def]
    kinds = PageKinds().holding(known).holding(then)
    assert kinds.templates == set(then)
    assert set(kinds.meant(kinds.references(wanted))) == set(wanted)
    assert set(kinds.meant(kinds.references(then))) == set(then)


def test_groups_keep_the_names_that_somebody_gave_them() -> None:
    kinds = PageKinds({"articles": ((5, "news", ""),), "shop": ((5, "shop", ""),)})
    grown = kinds.holding([(5, "news", ""), (5, "news", "page"), (6, "news", "")])
    assert dict(grown.groups) == {"articles": ((5, "news", ""), (5, "news", "page")), "news": ((6, "news", ""),)}
    assert grown.references([(5, "news", "page")]) == ["/news/*?page="]
    assert grown.meant(["!articles"]) == ((6, "news", ""),)
    with pytest.raises(FormError, match="did you mean articles"):
        grown.meant(["artikles"])


def test_a_user_says_kinds_of_pages_in_his_own_way(tmp_path: Path) -> None:
    path = save_mask(tmp_path, shop())
    said = '[[path]]\nselector = "html/body/p.mine"\non = "/category/*?sid="  # only there\nstate = "strip"\n'
    path.write_text(
        path.read_text().replace("category = [", "lists = [").replace('"category"', '"lists"') + "\n" + said
    )
    mask = Mask.load(path)
    assert next(each for each in mask.paths if each.state).templates == ((5, "category", "sid"),)
    before = path.read_text()
    more = replace(shop(), templates=shop().templates | {(4, "", "")})
    save_learned_mask(tmp_path, more.data)
    assert differing(before, path.read_text()) == ['+top = "/*"']


# -- slots


pieces = st.lists(st.sampled_from(["a", "b:", "…", "{…}", "{...}", "x=", "/", "&", "12", "ü"]), max_size=3)


@given(st.lists(pieces.map(" ".join), min_size=2, max_size=4), st.sampled_from(["", "href", "data-x"]))
@settings(max_examples=200)
def test_a_text_with_gaps_is_read_as_its_slot(literals: list[str], attribute: str) -> None:
    slot = tuple(literals)
    text = slot_text(slot, attribute)
    if text is not None and slot_problem(slot, attribute) is None:
        assert slot_in(text, attribute) == slot
    if not any("{" in literal for literal in literals) and slot_problem(slot, attribute) is None:
        assert text is not None, "whatever has no gap of its own can be said"


def test_gaps_may_be_typed_as_three_dots() -> None:
    assert slot_in("Today is {...} here") == ("Today is", "here")
    assert slot_in("{...}") is None


# -- masks of the seed's method


def test_a_mask_of_the_seed_keeps_its_mode_and_its_paths(tmp_path: Path) -> None:
    page = (
        "<html><head><script>n={0}</script></head><body>" + "<p>\nText {1}\n</p>\n" * 9 + "<em>{0}</em></body></html>"
    )
    versions = {f"http://{SITE}/{at}": [page.format(day, at) for day in ("Mon", "Tue")] for at in range(3)}
    mask = learn_mask(versions, mode="seed")
    assert mask.paths
    path = save_learned_mask(tmp_path, mask.data)
    assert Mask.load(path) == mask
    assert 'mode = "seed"\n' in path.read_text()
    assert not re.search("^text = ", path.read_text(), re.MULTILINE), "of an element all goes"
    path.write_text(path.read_text().replace("[[path]]", "# seen\n[[path]]", 1))
    save_learned_mask(tmp_path, replace(mask.data, paths=mask.paths[:1]))
    assert Mask.load(path) == replace(mask, paths=mask.paths[:1])
    assert "# seen" in path.read_text()
