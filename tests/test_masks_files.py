"""Mask files: read and written, edited by hand, faulty."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup import Mask
from scrapy_dedup.masks.files.mask_files import path_of_mask
from scrapy_dedup.masks.files.reading import read_mask
from scrapy_dedup.masks.files.writing import written_mask
from scrapy_dedup.masks.loading import load_masks
from scrapy_dedup.masks.model import TransientPath
from scrapy_dedup.rules import RuleFileError, RuleWriteError, check, load_file, save_site
from scrapy_dedup.rules.model import SiteRules
from scrapy_dedup.urls.templates import template_of

from .mask_files import save_mask

SITE = "shop.example"
CLOCK = TransientPath(
    "html/body/div#top/p.clock",
    slot=("Today is", ""),
    confidence=0.98,
    pages=12,
    changes=11,
    opportunities=12,
    examples=(("Today is Monday", 'Today is "\\"'),),
)
BOX = TransientPath("html/body/div.box", position=3, of=5, kind="undecided")
LINK = TransientPath("html/body/a", "href", templates=((5, "item", "id"), (4, "")), kind="growing")
MASK = Mask(SITE, (CLOCK, BOX, LINK), templates=frozenset({(5, "item", "id"), (4, "")}))

words = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
#: Some that URLs have, some that patterns cannot say.
template = st.tuples(st.integers(0, 9), words, words) | st.sampled_from(
    [
        template_of(f"http://{SITE}{path}")
        for path in ("", "/", "/?b=1&a", "/a/", "/a/1?x=", "/a1;s/2", "//x", "/*/*", "/#")
    ]
)
templates = st.lists(template, max_size=3, unique=True).map(tuple)
paths = st.builds(
    lambda selector, attribute, slot, kind, confidence, counts, examples, at, kinds, state, carried: TransientPath(
        selector,
        attribute,
        slot,
        kind,
        confidence if counts[2] else 0.0,
        *(counts if counts[2] else (0, 0, 0)),
        examples=examples,
        position=at[0],
        of=at[1] if at[1] or slot or carried[0] else abs(at[0]) and 9,
        templates=kinds,
        state=state,
        typed=carried[0],
        everywhere=carried[1],
        excepted=carried[2],
        untested=carried[3],
        words=carried[4],
    ),
    st.sampled_from(["p", "html/body/p.a", "html/body/div#b/a", "<ü>'\""]),
    st.sampled_from(["", "href", "data-x"]),
    st.none() | st.lists(words, min_size=1, max_size=2).map(lambda found: ("x", *found)),
    st.sampled_from(["transient", "volatile", "growing", "undecided"]),
    st.floats(0, 1),
    st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99)),
    st.lists(st.tuples(words, words), max_size=2).map(tuple),
    st.sampled_from([(0, 0), (1, 1), (3, 5), (5, 5)]) | st.tuples(st.integers(1, 9), st.just(0)),
    templates,
    st.sampled_from(["", "", "keep", "strip"]),
    st.tuples(st.booleans(), st.booleans(), templates, templates, st.lists(words, max_size=2).map(tuple)),
)
masks = st.builds(
    lambda found, mode, kinds, layouts: Mask(SITE, tuple(found), mode, frozenset(kinds), layouts),
    st.lists(paths, max_size=4, unique_by=lambda path: path.key),
    st.sampled_from(["default", "seed"]),
    templates,
    st.frozensets(words, max_size=2),
)


@given(masks, masks)
@settings(max_examples=150)
def test_read_and_written_is_the_same_mask_whatever_stood_there(mask: Mask, before: Mask) -> None:
    text = written_mask(mask.data)
    for each in (text, written_mask(mask.data, written_mask(before.data))):
        found, faults = read_mask(each, Path("x"))
        assert not faults
        assert found == mask.data
    assert Mask.of(mask.data) == mask
    assert written_mask(mask.data, text) == text


@given(st.text(max_size=200) | st.lists(st.sampled_from(written_mask(MASK.data).split("\n"))).map("\n".join))
@settings(max_examples=100)
def test_any_text_is_a_mask_or_has_faults(text: str) -> None:
    mask, faults = read_mask(text, Path("x"))
    assert (mask is None) == bool(faults)


def test_files_by_site(tmp_path: Path) -> None:
    path = save_mask(tmp_path / "rules", MASK)
    assert path == tmp_path / "rules" / "shop.example.mask.toml"
    assert Mask.load(path) == MASK
    before = path.stat().st_mtime_ns
    assert MASK.save(path) == path
    assert path.stat().st_mtime_ns == before
    first, second = (save_mask(tmp_path / "rules", Mask(site, (CLOCK,))) for site in ("a:80", "a_80"))
    assert (Mask.load(first).site, Mask.load(second).site) == ("a:80", "a_80")
    assert not save_mask(tmp_path / "rules", Mask("empty.example")).exists()
    assert {each.name for each in path.parent.iterdir()} == {path.name, first.name, second.name}
    with pytest.raises(RuleFileError, match="no such file"):
        Mask.load(tmp_path / "a.mask.toml")
    with pytest.raises((RuleWriteError, RuleFileError)):
        save_mask(path, MASK)


def test_comments_order_and_spelling_stay(tmp_path: Path) -> None:
    path = save_mask(tmp_path, MASK)
    text = "# reviewed\n" + path.read_text().replace("[[path]]", "# the boxes\n[[path]]  # mine", 1).replace(
        "pages = 12", "pages=12 # few"
    )
    path.write_text(text)
    save_mask(tmp_path, MASK)
    assert path.read_text() == text
    changed = replace(CLOCK, pages=13, confidence=0.99)
    save_mask(tmp_path, replace(MASK, paths=(changed, BOX)))
    link = text[
        text.index('\n[[path]]\nselector = "html/body/a"') : text.index('\n[[path]]\nselector = "html/body/div.box"')
    ]
    assert path.read_text() == text.replace(link, "").replace("pages=12", "pages=13").replace("0.98", "0.99")


def test_what_the_user_says_survives_a_relearn(tmp_path: Path) -> None:
    path = save_mask(tmp_path, MASK)
    path.write_text(
        path.read_text().replace('kind = "transient"\n', 'kind = "transient"\nstate = "keep"\n')
        + '\n# always\n[[path]]\nselector = "html/body/p.mine"\nslot = ["", "left"]\n'
    )
    found = Mask.load(path)
    assert {one.selector: one.state for one in found.paths if one.state} == {
        CLOCK.selector: "keep",
        "html/body/p.mine": "strip",
    }
    assert found.text("<html><body><p class=mine>3 left") == "left"
    save_mask(tmp_path, replace(MASK, paths=(replace(CLOCK, pages=500), BOX)))
    again = Mask.load(path)
    assert {one.selector: one.state for one in again.paths if one.state} == {
        CLOCK.selector: "keep",
        "html/body/p.mine": "strip",
    }
    assert "# always" in path.read_text()
    assert "500" not in path.read_text()
    assert not again.spans("<html><body><div id=top><p class=clock>Today is Monday")


def test_masks_are_no_rule_files(tmp_path: Path) -> None:
    save_mask(tmp_path, MASK)
    assert check(tmp_path) == []
    rules = save_site(tmp_path, SiteRules(SITE, (), {}))
    assert not rules.exists()
    with pytest.raises(RuleFileError):
        load_file(path_of_mask(tmp_path, SITE))


HEAD = 'format = "dedup-mask/2"\nsite = "shop.example"\n'
PATH = '[[path]]\nselector = "p"\n'


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("x = =", 1, "invalid TOML"),
        ('format = "dedup-mask/2"\nsite = \n\n', 2, "invalid TOML"),
        ('format = "dedup-mask/2"\nx = [1,\n', 2, "invalid TOML"),
        ('format = "dedup-mask/2"\nx =', 2, "invalid TOML: Invalid value; correct the line"),
        ('site = "a.example"', 1, "format is missing"),
        ('format = "dedup-mask/1"', 1, "this release does not read"),
        (HEAD.replace("shop", "https://www.shop"), 2, 'site = "shop.example"'),
        (HEAD + "mode = 7", 3, "default, seed"),
        (HEAD + "paths = 7", 3, "did you mean path"),
        (HEAD + "path = 7", 3, r"\[\[path\]\]"),
        (HEAD + "page-kinds = 7", 3, "begin a table with"),
        (HEAD + "[page-kinds]\nnews = 7", 4, "no pattern of pages"),
        (HEAD + "[page-kinds]\nnews = []", 4, "names no pattern"),
        (HEAD + "[page-kinds]\nnews = [[]]", 4, "no pattern of pages"),
        (HEAD + "[page-kinds]\nnews = [\n'/news/*',\n'/news/12',\n]", 6, "'/news/12' is no pattern .* write"),
        (HEAD + "[page-kinds]\nnews = '/news/*/*.html'", 4, "no pattern of pages"),
        (HEAD + "[page-kinds]\nnews = '/news'", 4, "no pattern of pages"),
        (HEAD + "[page-kinds]\nnews = 'news/*'", 4, "no pattern of pages"),
        (HEAD + "[page-kinds]\n'!news' = '/news/*'", 4, "no name of a kind"),
        (HEAD + "[page-kinds]\nnews = '/news/*'\nold = '/news/*'", 5, "stands here twice"),
        (HEAD + "[machine]\nlayouts = 7", 4, "no list of strings"),
        (HEAD + "[machine]\nlayout = []", 4, "did you mean layouts"),
        (HEAD + "machine = 7", 3, "a table that nobody edits"),
        (HEAD + "[[path]]\nkind = 'transient'", 3, "without a selector"),
        (HEAD + PATH + "slots = []", 5, "did you mean slot"),
        (HEAD + PATH + "slot = 'x'", 5, "no list of strings"),
        (HEAD + PATH + "slot = ['x']", 5, "two literals"),
        (HEAD + PATH + "slot = ['', '']", 5, "remove the line"),
        (HEAD + PATH + "kind = 'x'", 5, "transient, volatile, growing, undecided"),
        (HEAD + PATH + "state = 'off'", 5, "keep, strip"),
        (HEAD + PATH + "position = 3", 5, "3 of 5"),
        (HEAD + PATH + "position = '6 of 5'", 5, "3 of 5"),
        (HEAD + PATH + "position = '-1 of 5'", 5, "3 of 5"),
        (HEAD + PATH + "position = '-1 of any'", 5, "has a slot"),
        (HEAD + PATH + "pages = 'x'", 5, "a number"),
        (HEAD + PATH + "confidence = 'x'", 5, "between 0 and 1"),
        (HEAD + PATH + "attribute = 1", 5, "string in quotes"),
        (HEAD + PATH + "before = 1", 5, "a text that stood there"),
        (HEAD + PATH + "after = [1]", 5, "a text that stood there"),
        (HEAD + PATH + "examples = ['x']", 5, "a path has selector, attribute"),
        (HEAD + PATH + "on = 7", 5, "write on = "),
        (HEAD + PATH + "on = [7]", 5, "no pattern of pages"),
        (HEAD + PATH + "on = ['news']", 5, "none has a name"),
        (HEAD + "[page-kinds]\nnews = '/news/*'\n" + PATH + "on = ['nws']", 7, "did you mean news"),
        (HEAD + "[page-kinds]\nnews = '/news/*'\n" + PATH + "except = '!news'", 7, "no kind of pages; remove the line"),
        (HEAD + PATH + "text = 7", 5, "string in quotes"),
        (HEAD + PATH + "text = 'Today'", 5, "no {…} stands where"),
        (HEAD + PATH + "text = 'Price:{…} EUR'", 5, "put spaces around it"),
        (HEAD + PATH + "text = '{…} {…}'", 5, "remove the line"),
        (HEAD + PATH + "text = '{…} left'\nslot = ['', 'left']", 6, "remove one of them"),
        (HEAD + PATH + "pages = true", 5, "a number"),
        (HEAD + PATH + PATH, 6, "second path"),
    ],
)
def test_faults_say_where_and_what(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = tmp_path / "shop.example.mask.toml"
    path.write_text(text)
    with pytest.raises(RuleFileError, match=said) as caught:
        Mask.load(path)
    assert caught.value.line == line
    # What is there is never overwritten.
    with pytest.raises(RuleFileError, match=said):
        save_mask(tmp_path, MASK)
    assert path.read_text() == text


def test_several_processes_write_one_file(tmp_path: Path) -> None:
    code = (
        "import sys; from scrapy_dedup.masks.model import *; from scrapy_dedup.masks.files.mask_files import *\n"
        "for n in range(15):\n"
        "    paths = (TransientPath(f'p.w{sys.argv[2]}', state='strip'), TransientPath('p', pages=n, opportunities=1))\n"
        "    Mask('a.example', paths).save(path_of_mask(sys.argv[1], 'a.example'))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(n)], env=environment) for n in range(3)]
    assert [each.wait() for each in running] == [0, 0, 0]
    mask = Mask.load(tmp_path / "a.example.mask.toml")
    assert [path.selector for path in mask.paths if path.state] == ["p.w0", "p.w1", "p.w2"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.example.mask.toml"]


# -- masks of several directories

ITEM, HOME = (5, "item", "id"), template_of(f"http://{SITE}/")


def masks_in(tmp_path: Path, *masks: Mask) -> Mask:
    """The mask of the site where these stand in directories, the one named first coming first."""
    directories = []
    for number, mask in enumerate(masks):
        directories.append(tmp_path / str(number))
        directories[-1].mkdir()
        save_mask(directories[-1], mask)
    return load_masks(directories)[SITE]


HTML = (
    "<html><body><div id=top><p class=clock>Today is Monday</p></div><p>a</p><p>b</p><p>c</p><b>clock</b></body></html>"
)
ITEM_URL, HOME_URL = f"http://{SITE}/item/7?id=1", f"http://{SITE}/"
P, B = TransientPath("html/body/p"), TransientPath("html/body/b")
KEPT_P, KEPT_CLOCK, STRIPPED_B = replace(P, state="keep"), replace(CLOCK, state="keep"), replace(B, state="strip")
EVERYWHERE = Mask(SITE, (replace(P, everywhere=True),), templates=frozenset({ITEM}))
#: Masks in directories, the one named first coming first, and what is left of a page of an item, and of the front page.
DIRECTORIES: dict[str, tuple[list[Mask], str, str]] = {
    "they add up": ([Mask(SITE, (CLOCK,)), Mask(SITE, (B,))], "Today is a b c", "Today is a b c"),
    "of two the first counts": (
        [Mask(SITE, (CLOCK,)), Mask(SITE, (replace(CLOCK, slot=None),))],
        *["Today is a b c clock"] * 2,
    ),
    "the user counts in the first": (
        [Mask(SITE, (KEPT_CLOCK,)), Mask(SITE, (CLOCK, B))],
        *["Today is Monday a b c"] * 2,
    ),
    "the user counts in the second": (
        [Mask(SITE, (CLOCK, B)), Mask(SITE, (KEPT_CLOCK,))],
        *["Today is Monday a b c"] * 2,
    ),
    "kept in one, stripped in the other": (
        [Mask(SITE, (replace(P, position=2, of=3), replace(P, state="strip"))), Mask(SITE, (KEPT_P,))],
        *["Today is Monday a b c clock"] * 2,
    ),
    "kinds of their own": (
        [Mask(SITE, (P,), templates=frozenset({ITEM})), Mask(SITE, (B,), templates=frozenset({HOME}))],
        *("Today is Monday clock", "Today is Monday a b c"),
    ),
    "by hand for all kinds": (
        [Mask(SITE, (P,), templates=frozenset({ITEM})), Mask(SITE, (STRIPPED_B,))],
        *("Today is Monday", "Today is Monday a b c"),
    ),
    # That a page of a kind was seen twice for one mask says nothing of what the other one has seen to change.
    "carried over in one": (
        [EVERYWHERE, Mask(SITE, (STRIPPED_B,), templates=frozenset({HOME}))],
        *("Today is Monday clock", "Today is Monday a b c"),
    ),
    "another mode is left aside": (
        [Mask(SITE, (CLOCK,)), Mask(SITE, (TransientPath("html/body/p/*"),), mode="seed")],
        *["Today is a b c clock"] * 2,
    ),
}


@pytest.mark.parametrize("name", DIRECTORIES)
def test_masks_of_several_directories(tmp_path: Path, name: str) -> None:
    masks, item, home = DIRECTORIES[name]
    mask = masks_in(tmp_path, *masks)
    assert [mask.text(HTML, url=url) for url in (ITEM_URL, HOME_URL)] == [item, home]


@pytest.mark.parametrize("cut", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\n"])
def test_what_a_site_writes_ends_no_line(tmp_path: Path, cut: str) -> None:
    """Some programs end a line at such a character, and TOML does not: what follows is no header of a table."""
    told = replace(CLOCK, examples=((f"x{cut}[[path]]{cut} 5", "y"),))
    path = save_mask(tmp_path, replace(MASK, paths=(told, BOX)))
    text = "# reviewed\n" + path.read_text("utf-8").replace("[[path]]", "# ours\n[[path]]", 1)
    path.write_text(text, "utf-8")
    save_mask(tmp_path, replace(MASK, paths=(told, replace(BOX, pages=3), LINK)))
    after = path.read_text("utf-8")
    assert after.startswith("# reviewed\n")
    assert "# ours\n[[path]]\n" in after
    found = {one.selector: one.examples for one in Mask.load(path).paths}
    assert found == {CLOCK.selector: told.examples, BOX.selector: (), LINK.selector: ()}


def test_control_characters_of_a_site_are_escapes(tmp_path: Path) -> None:
    text = "\x1b[31m \x9b31m \u202e \u2066 \u200f \x7f \u2028 é"
    mask = replace(MASK, paths=(replace(CLOCK, slot=(text, ""), examples=((text, text),)),))
    path = save_mask(tmp_path, mask)
    assert all(char.isprintable() for char in path.read_text("utf-8").replace("\n", ""))
    assert "é" in path.read_text("utf-8")
    assert Mask.load(path) == mask


def test_comments_stay_above_their_tables(tmp_path: Path) -> None:
    path = save_mask(tmp_path, replace(MASK, templates=frozenset({(5, "item", "id")}), layouts=frozenset({"a1"})))
    first = path.read_text()
    more = {(5, "item", "id"), (5, "shop", "page"), (4, ""), *((6, "c", name) for name in "abcdefghij")}
    save_mask(tmp_path, replace(MASK, templates=frozenset(more), layouts=frozenset({"a1", "b2"})))
    text = path.read_text()
    for comment, header in (("# Kinds of pages", "[page-kinds]"), ("# For the machine", "[machine]")):
        for said in (first, text):
            lines = said.split("\n")
            at = lines.index(header)
            assert lines[at - 1].startswith(comment)
            assert not lines[at - 2], "an empty line is before it"
    assert Mask.load(path).templates == more
    assert Mask.load(path).layouts == {"a1", "b2"}


def test_a_confidence_that_was_not_reached_is_not_told(tmp_path: Path) -> None:
    never = replace(CLOCK, kind="volatile", changes=562, opportunities=562, confidence=0.0)
    path = save_mask(tmp_path, replace(MASK, paths=(never,)))
    assert "confidence" not in path.read_text()
    assert "changed = 562\n" in path.read_text()
    assert Mask.load(path).paths == (never,)
