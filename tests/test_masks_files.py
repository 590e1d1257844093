"""Mask files: read with pleasure, edited by hand, relearned, faulty, hostile."""

import difflib
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup import learn_mask
from scrapy_dedup.masks.apply import acts_on
from scrapy_dedup.masks.files import (
    check_masks,
    load_mask,
    load_masks,
    path_of_mask,
    read_mask,
    save_learned_mask,
    save_mask,
    written,
)
from scrapy_dedup.masks.model import Mask, Place
from scrapy_dedup.pages.blocks import json_rows
from scrapy_dedup.pages.versions import Version
from scrapy_dedup.rules import RuleFileError, RuleWriteError, check, load_file

SITE = "shop.example"
COUNTER = Place(
    "html/body/footer/p.online",
    slot=("", "users online"),
    changes=84,
    opportunities=90,
    pages=12,
    example=("12 users online", "15 users online"),
)
LINK = Place("html/body/div.col-0/a", "href", slot=("/cart?sid=", ""), not_on=("/product/*",), changes=4, pages=1)
STOCK = Place("html/body/main/p.stock", typed=True, act="compare", position=-1, changes=3, opportunities=5, pages=3)
TOKEN = Place("html/head/script", "#script[token]", changes=3, opportunities=3, pages=3)
CACHE = Place("html/body", "#comment[cache]", slot=("cache:", ""), changes=3, opportunities=3, pages=3)
MASK = Mask(SITE, (COUNTER, LINK, STOCK, TOKEN, CACHE))
FILE = """\
format = "dedup-mask/3"
site = "shop.example"

[[place]]
css = "body"
value = "cache"
changes = "cache: {…}"
seen = "3 of 3 changes, 3 pages"

[[place]]
css = 'body > div[class*="col-"] > a::attr(href)'
changes = "/cart?sid={…}"
lasts-on = ["/product/*"]
seen = "4 of 0 changes, 1 page"

[[place]]
css = "body > footer > p.online::text"
changes = "{…} users online"
example = ["12 users online", "15 users online"]
seen = "84 of 90 changes, 12 pages"

[[place]]
css = "head > script::text"
value = "token"
changes = "{…}"
seen = "3 of 3 changes, 3 pages"

[[place]]
css = "body > main > p.stock::text"
position = -1
changes = "{…}"
only = "numbers"
act = "compare"
seen = "3 of 5 changes, 3 pages"
"""


def read(text: str) -> Mask:
    mask, faults = read_mask(text, Path("x"))
    assert not faults
    assert mask is not None
    return mask


def said(mask: Mask) -> Any:
    """All that a file says of it."""
    counts = {place.key: (place.changes, place.opportunities, place.pages, place.example) for place in mask.places}
    return mask.site, mask.mode, mask.version, {place.does: counts[place.key] for place in mask.places}


def test_a_file_to_read() -> None:
    assert written(MASK) == FILE
    assert said(read(FILE)) == said(MASK)


words = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
patterns = st.lists(st.sampled_from(["/", "/*", "/news/**"]), max_size=2, unique=True).map(tuple)
counts = st.integers(0, 99)
places = st.builds(
    lambda where, slot, counts, **more: Place(*where, slot=slot, changes=counts[0], pages=counts[1], **more),
    st.sampled_from([("html/body/p.a", ""), ("html/body/div#b-0/a", "href"), ("html/body/o:p", "data-x"), ("$.a[].b", "")])
    | st.tuples(words.map(lambda word: "html/body/p." + word.replace("/", "%2F").replace(".", "%2E")), st.just("")),
    st.none() | st.lists(words, min_size=2, max_size=3).map(tuple),
    st.tuples(counts, counts),
    position=st.integers(-3, 3),
    typed=st.booleans(),
    act=st.sampled_from(["strip", "compare"]),
    on=patterns,
    not_on=patterns,
    never_on=patterns,
    example=st.none() | st.tuples(words, words),
)  # fmt: skip
masks = st.builds(
    lambda found, mode: Mask(SITE, tuple(found), mode),
    st.lists(places, max_size=4),
    st.sampled_from(["default", "seed"]),
)


@given(masks, masks)
@settings(max_examples=150)
def test_what_is_read_is_what_was_written_whatever_stood_there(mask: Mask, before: Mask) -> None:
    text = written(mask)
    before = replace(
        before, places=tuple([replace(place, never_on=()) for place in before.places])
    )  # none is the user's
    for each in (text, written(mask, written(before))):
        assert said(read(each)) == said(mask)
    assert written(mask, text) == text


@given(st.text(max_size=200) | st.lists(st.sampled_from(FILE.split("\n"))).map("\n".join))
@settings(max_examples=100)
def test_any_text_is_a_mask_or_has_faults(text: str) -> None:
    mask, faults = read_mask(text, Path("x"))
    assert (mask is None) == bool(faults)


def differing(one: str, other: str) -> list[str]:
    lines = difflib.unified_diff(one.split("\n"), other.split("\n"), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


#: What a user has made of FILE: comments, spelling, keys of his own, and what he has said of places.
EDITED = "# reviewed\n" + FILE
for text, instead in {
    '"shop.example"': '"shop.example"  # ours\n\n# all below is learned',
    '[[place]]\ncss = "head': '# the token\n[[place]]  # drawn anew\nnote = "ask Bob"\ncss = "head',
    'css = "body > footer': 'state = "keep"   # it is the content here\ncss   =   "body > footer',
    'seen = "3 of 5 changes, 3 pages"': "seen='3 of 5 changes, 3 pages' # few",
}.items():
    EDITED = EDITED.replace(text, instead)
EDITED += '\n# always\n[[place]]\ncss = "main p.mine::text"\nchanges = "{...} left"\n# the end\n'


@pytest.mark.parametrize(
    ("learned", "changes"),
    [
        (MASK, []),
        (replace(MASK, places=tuple([replace(place, pages=99, changes=98, example=("a", "b")) for place in MASK.places])), []),
        (replace(MASK, places=(*MASK.places, replace(LINK, selector="html/body/b"))),
         ["+[[place]]", '+css = "body > b::attr(href)"', '+changes = "/cart?sid={…}"', '+lasts-on = ["/product/*"]', '+seen = "4 of 0 changes, 1 page"', "+"]),
        (replace(MASK, places=MASK.places[1:]), ["-[[place]]", '-css = "body"', '-value = "cache"', '-changes = "cache: {…}"', '-seen = "3 of 3 changes, 3 pages"', "-"]),
        (replace(MASK, places=(replace(TOKEN, slot=("a", ""), pages=4), *[place for place in MASK.places if place.key != TOKEN.key])),
         ['-changes = "{…}"', '-seen = "3 of 3 changes, 3 pages"', '+changes = "a {…}"', '+seen = "3 of 3 changes, 4 pages"']),
        (replace(MASK, places=(replace(STOCK, typed=False, not_on=("/",)), *[place for place in MASK.places if place.key != STOCK.key])),
         ['-only = "numbers"', '+lasts-on = ["/"]']),
        (replace(MASK, places=(replace(COUNTER, slot=None), *[place for place in MASK.places if place.key != COUNTER.key])), []),
    ],
)  # fmt: skip
def test_a_relearn_changes_what_has_changed_and_nothing_else(tmp_path: Path, learned: Mask, changes: list[str]) -> None:
    path = tmp_path / f"{SITE}.mask.toml"
    path.write_text(EDITED)
    states = {place.css: place.state for place in load_mask(path).places if place.state}
    assert states == {"body > footer > p.online::text": "keep", "main p.mine::text": "strip"}
    assert save_learned_mask(tmp_path, learned) == path
    assert sorted(differing(EDITED, path.read_text())) == sorted(changes)
    assert {place.css: place.state for place in load_mask(path).places if place.state} == states


def test_where_the_user_says_no_it_stays_no(tmp_path: Path) -> None:
    """What he wrote into tables that were learned: when another thing is learned of them, the same again, or nothing any more."""
    path = tmp_path / f"{SITE}.mask.toml"
    path.write_text(
        FILE.replace('lasts-on = ["/product/*"]', 'lasts-on = ["/product/*"]\nnot-on = ["/guide/**"]  # content')
    )
    for place in (replace(LINK, slot=None, not_on=("/news/*",)), LINK, None, LINK):
        learned = replace(MASK, places=tuple([each for each in (COUNTER, place) if each is not None]))
        save_learned_mask(tmp_path, learned)
        (found,) = [each for each in load_mask(path).places if each.key == LINK.key]
        assert found.does == replace(place or LINK, never_on=("/guide/**",)).does
        assert 'not-on = ["/guide/**"]  # content' in path.read_text()
    (found,) = [each for each in Mask(SITE, (LINK,)).obeying(load_mask(path)).places if each.key == LINK.key]
    assert [acts_on(found, f"http://{SITE}/{path}") for path in ("guide/a/b", "product/5", "news/5")] == [
        False,
        False,
        True,
    ]


def test_a_mask_that_is_learned_again_obeys_its_file(tmp_path: Path) -> None:
    """From Python: what was learned is saved and edited, and learned and saved again when the site shows something else."""
    page = "<body><h1>Page {}</h1><p class=day>It is {}</p><p class=online>{} online</p>"
    urls = [f"http://{SITE}/{kind}/{number}" for kind in ("guide", "news") for number in range(4)]

    def saved(days: Sequence[str]) -> Mask:
        versions = {url: [page.format(url[-1], day, 7 * at + 5) for at, day in enumerate(days)] for url in urls}
        save_mask(learn_mask(versions), path)
        return load_mask(path)

    path = tmp_path / f"{SITE}.mask.toml"
    html = page.format(1, "Sun", 99)
    assert saved(["Mon", "Tue", "Wed"]).text(html, url=urls[0]) == "Page 1 It is online"
    text = path.read_text()
    for css, line in (("body > p.day::text", 'not-on = ["/guide/*"]'), ("body > p.online::text", 'state = "keep"')):
        text = text.replace(f'css = "{css}"', f'css = "{css}"\n{line}')
    path.write_text(text)
    for days in (["Thu", "Fri", "Sat"], ["Thu", "Thu", "Thu"]):
        mask = saved(days)
        assert mask.text(html, url=urls[0]) == "Page 1 It is Sun 99 online"
        assert mask.text(html, url=urls[-1]) == "Page 1 It is 99 online"
        assert 'not-on = ["/guide/*"]' in path.read_text()


def test_examples_are_short() -> None:
    long = replace(COUNTER, example=("a " * 500, "b"))
    text = written(Mask(SITE, (long,)))
    assert f'example = ["{("a " * 500)[:79]}…", "b"]' in text
    assert written(read(text), text) == written(Mask(SITE, (long,)), text) == text


def test_what_the_user_says_acts(tmp_path: Path) -> None:
    path = tmp_path / f"{SITE}.mask.toml"
    path.write_text(EDITED)
    page = "<html><body><main class=x><p class='mine new'>3 left</p></main><footer><p class=online>12 users online"
    assert load_mask(path).text(page) == "left 12 users online"


@pytest.mark.parametrize("state", ["keep", "strip"])
def test_what_the_user_says_of_json_acts(tmp_path: Path, state: str) -> None:
    path = tmp_path / f"{SITE}.mask.toml"
    lines = ['css = "$.offers[].price"', f'state = "{state}"']
    path.write_text("\n".join(['format = "dedup-mask/3"', f'site = "{SITE}"', "[[place]]", *lines, ""]))
    rows = json_rows('{"id": 7, "offers": [{"price": 12}]}')
    assert rows is not None
    lasting = load_mask(path).lasting(Version.of(rows), f"http://{SITE}/api")
    assert [row[0] for row in lasting.rows()] == ["$.id", *["$.offers[].price"] * (state == "keep")]


@pytest.mark.parametrize("cut", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\n", "\x1b[31m", "\u202e"])
def test_what_a_site_writes_ends_no_line(tmp_path: Path, cut: str) -> None:
    """Some programs end a line at such a character, and TOML does not: what follows is no header of a table."""
    token = replace(TOKEN, example=(f"x{cut}[[place]]{cut} 5", "é"), selector=f"html/body/p.{cut.strip()}[[place]]")
    path = save_mask(MASK, path_of_mask(tmp_path, SITE))
    path.write_text(path.read_text("utf-8").replace("[[place]]", "# ours\n[[place]]"), "utf-8")
    for pages in (3, 4):
        save_mask(replace(MASK, places=(*MASK.places, replace(token, pages=pages))), path)
    text = path.read_text("utf-8")
    assert text.count("# ours\n[[place]]\n") == len(MASK.places)
    assert all(char.isprintable() for char in text.replace("\n", ""))
    assert "é" in text
    assert token.example in [place.example for place in load_mask(path).places]


HEAD = 'format = "dedup-mask/3"\nsite = "shop.example"\n'
P = "[[place]]\ncss = 'p::text'\n"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("x = =", 1, "invalid TOML"),
        ('format = "dedup-mask/3"\nx = [1,\n', 2, "invalid TOML"),
        ("format = " + "[" * 5000, 1, "in one another"),
        ('site = "a.example"', 1, "format is missing"),
        ('format = "dedup-mask/2"', 1, "this release does not read"),
        (HEAD.replace("shop", "https://www.shop"), 2, 'site = "shop.example"'),
        (HEAD + "mode = 7", 3, "default, seed"),
        (HEAD + "places = 7", 3, "did you mean place"),
        (HEAD + "place = 7", 3, r"\[\[place\]\]"),
        (HEAD + "[[place]]\nchanges = '{…}'", 3, "without css is nowhere; add css = "),
        (HEAD + "[[place]]\ncss = 7", 4, "string in quotes"),
        (HEAD + "[[place]]\ncss = 'p['", 4, "not understood: .* write it as parsel has it"),
        (HEAD + "[[place]]\ncss = 'p::before'", 4, "not understood: .* one ::text"),
        (HEAD + "[[place]]\ncss = 'p::text, a::attr(href)'", 4, "not understood"),
        (HEAD + f"[[place]]\ncss = '{'a ' * 3000}p'", 4, "nested too deep"),
        (HEAD + "[[place]]\ncss = 'li:first-child::text'", 4, ":first-child, .* write position = 1"),
        (HEAD + "[[place]]\ncss = 'h1 + p::text'", 4, "write position = 1"),
        (HEAD + "[[place]]\ncss = 'a[data-x]::text'", 4, r"\[data-x\], .* name these"),
        (HEAD + P + "change = '{…}'", 5, "did you mean changes"),
        (HEAD + P + "changes = 7", 5, "string in quotes"),
        (HEAD + P + "changes = 'Today'", 5, "no {…} stands where"),
        (HEAD + P + "changes = 'Price:{…} EUR'", 5, "put spaces around it"),
        (HEAD + P + "only = 'letters'", 5, "numbers"),
        (HEAD + P + "act = 'remove'", 5, "strip, compare"),
        (HEAD + P + "state = 'off'", 5, "keep, strip"),
        (HEAD + P + "position = 0", 5, "1 for the first text"),
        (HEAD + P + "position = true", 5, "1 for the first text"),
        (HEAD + P + "on = 7", 5, r"on is 7; write on = "),
        (HEAD + P + "on = []", 5, r'write on = \["/news/\*"\]'),
        (HEAD + P + "not-on = 'news/*'", 5, r'write not-on = \["/news/\*"\]'),
        (HEAD + P + "example = ['x']", 5, 'write example = .*"before", "after"'),
        (HEAD + P + "seen = '5'", 5, "write seen = "),
        (HEAD + P + f"seen = '{'9' * 5000} of 1 changes, 1 page'", 5, "write seen = "),
        (HEAD + P + P, 6, "second place has this css"),
    ],
)
def test_faults_say_where_and_what(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = tmp_path / "shop.example.mask.toml"
    path.write_text(text)
    with pytest.raises(RuleFileError, match=said) as caught:
        load_mask(path)
    assert caught.value.line == line
    assert [str(fault) for fault in check_masks(tmp_path)][:1] == [str(caught.value)]
    # What is there is never overwritten.
    with pytest.raises(RuleFileError, match=said):
        save_mask(MASK, path)
    assert path.read_text() == text


def test_files_by_site(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    path = save_mask(MASK, path_of_mask(rules, SITE))
    assert path == rules / "shop.example.mask.toml"
    before = path.stat().st_mtime_ns
    assert save_mask(load_mask(path), path) == save_mask(MASK, path) == path
    assert path.stat().st_mtime_ns == before
    first, second = (save_mask(Mask(site, (COUNTER,)), path_of_mask(rules, site)) for site in ("a:80", "a_80"))
    assert (load_mask(first).site, load_mask(second).site) == ("a:80", "a_80")
    assert not save_mask(Mask("empty.example"), path_of_mask(rules, "empty.example")).exists()
    assert {each.name for each in rules.iterdir()} == {path.name, first.name, second.name}
    assert {*load_masks([rules])} == {SITE, "a:80", "a_80"}
    assert check(rules) == [], "they are no rule files"
    with pytest.raises(RuleFileError):
        load_file(path)
    with pytest.raises(RuleFileError, match="no such file"):
        load_mask(tmp_path / "a.mask.toml")
    with pytest.raises((RuleWriteError, RuleFileError)):
        save_mask(MASK, path / "below")
    path.write_text(
        FILE.replace("[[place]]", "place = [{ css = 'p' }] #", 1).partition("\n\n")[0] + "\nplace = [{ css = 'p' }]\n"
    )
    with pytest.raises(RuleFileError, match=r"begin each place with \[\[place\]\]"):
        save_mask(MASK, path)


def test_several_processes_write_one_file(tmp_path: Path) -> None:
    code = (
        "import sys; from scrapy_dedup.masks.model import *; from scrapy_dedup.masks.files import *\n"
        "for n in range(15):\n"
        "    places = (Place(f'p.w{sys.argv[2]}::text', state='strip'), Place('html/body/p', pages=n))\n"
        "    save_mask(Mask('a.example', places), path_of_mask(sys.argv[1], 'a.example'))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(n)], env=environment) for n in range(3)]
    assert [each.wait() for each in running] == [0, 0, 0]
    mask = load_mask(tmp_path / "a.example.mask.toml")
    assert [place.css for place in mask.places if place.state] == ["p.w0::text", "p.w1::text", "p.w2::text"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.example.mask.toml"]


HTML = "<html><body><footer><p class=online>12 users online</p></footer><p>a</p><p>b</p><b>clock</b></body></html>"
TEXT, CLOCK = Place("html/body/p"), Place("html/body/b")


@pytest.mark.parametrize(
    ("masks", "left"),
    [
        ([(COUNTER,), (CLOCK,)], "users online a b"),
        ([(COUNTER,), (replace(COUNTER, slot=None),)], "users online a b clock"),
        ([(replace(COUNTER, state="keep"),), (COUNTER, CLOCK)], "12 users online a b"),
        ([(COUNTER, CLOCK), (replace(COUNTER, state="keep"),)], "12 users online a b"),
        ([(replace(TEXT, position=2), replace(TEXT, state="strip")), (replace(TEXT, state="keep"),)], "12 users online a b clock"),
        ([(COUNTER,), "seed"], "users online a b clock"),
    ],
)  # fmt: skip
def test_masks_of_several_directories(tmp_path: Path, masks: list[Any], left: str) -> None:
    for number, found in enumerate(masks):
        mask = Mask(SITE, (Place("html/body/p", "*"),), "seed") if found == "seed" else Mask(SITE, found)
        save_mask(mask, path_of_mask(tmp_path / str(number), SITE))
    assert load_masks([tmp_path / str(number) for number in range(len(masks))])[SITE].text(HTML) == left
