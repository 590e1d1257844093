"""``scrapy dedup page``: what is transient on a page is marked, place by place, beside what stood there before, and nothing else is touched."""

import json
import os
import re
import stat
from pathlib import Path

import pytest

from .conftest import Project, Serve
from .server import Answer, Asked
from .store_rows import record, seen_page

SITE = "shop.test"
URL = f"http://{SITE}/item/7"
STORE = ("-s", "DEDUP_STORE=store.sqlite")
LEFT = "Left in items (DEDUP_CONTENT_FIELDS names no field to take them out of):"
PAGE = "<html><head><title>A page</title></head><body><h1>A page</h1><p class=clock>It is noon</p><p>A text</p></body></html>"
HEAD = 'format = "dedup-mask/3"\nsite = "{}"\n'
CLOCK = '\n[[place]]\ncss = "body > p.clock::text"\nstate = "strip"\n'


def masked(
    project: Project, places: str = CLOCK, html: str = PAGE, folder: str = "dedup-rules", site: str = SITE
) -> None:
    """Write a page, and the mask of its site."""
    project.write(f"{folder}/{site.replace(':', '_')}.mask.toml", HEAD.format(site) + places)
    project.write("page.html", html)


def shown(project: Project, *args: str) -> str:
    return project.told("dedup", "page", *args)


def test_a_file(project: Project) -> None:
    masked(project)
    done = project.scrapy("dedup", "page", "page.html")
    assert (done.returncode, done.stderr) == (0, "")
    for part in ("\u27e6It is noon\u27e7", "A text", "3 of 9 words are transient", "body > p.clock"):
        assert part in done.stdout
    assert "\u27e6A text" not in done.stdout
    masked(project, CLOCK.replace('state = "strip"', 'act = "compare"\nseen = "9 of 9 changes, 9 pages"'))
    told, _, compared = shown(project, "page.html").partition("Pages are compared without these")
    assert "0 of 9 words are transient" in told
    assert "It is noon" in told
    assert "\u27e6" not in told
    assert "body > p.clock" in compared


def test_settings_say_which_masks_count_and_what_is_done_with_items(project: Project) -> None:
    masked(project, CLOCK.replace("p.clock", "h1"), folder="reviewed")
    masked(project, CLOCK.replace('"strip"', '"keep"'), folder="more")
    masked(project)
    for directories, hidden in (
        ("reviewed", ["A page", "It is noon"]),
        ("reviewed,more", ["A page"]),
        ("more", []),
    ):
        told = shown(project, "page.html", "-s", f"DEDUP_RULES={directories}")
        assert [text for text in ("A page", "It is noon", "A text") if f"\u27e6{text}" in told] == hidden
    fields = ("-s", 'DEDUP_CONTENT_FIELDS={"body": "html"}')
    for settings, heading in (
        ((), LEFT),
        (fields, "Taken out of items:"),
        ((*fields, "-s", "DEDUP_STRIP=mark"), "Marked in items:"),
        ((*fields, "-s", "DEDUP_STRIP=off"), "Left in items (DEDUP_STRIP is off):"),
    ):
        told = shown(project, "page.html", *settings)
        assert f"\n{heading}\n" in told
        assert told.count("items") == 1


def test_pages_are_fetched_shown_beside_recorded_ones_and_nothing_else_is_touched(
    project: Project, serve: Serve
) -> None:
    ticks = iter(range(1, 1000))

    def clock(asked: Asked) -> object:
        html = PAGE.replace("noon", f"{next(ticks)} now")
        return Answer(html) if asked.path == "/page" else Answer("another", status=404)

    server = serve(clock)
    url = server.url("/page")
    masked(project, site=server.site)
    project.write("items.json", "[1]")
    settings = ("-s", 'FEEDS={"items.json": {"format": "json", "overwrite": true}}', "-s", "JOBDIR=job")
    assert "\u27e6It is 1 now\u27e7" in shown(project, url, *settings)
    assert (project.folder / "items.json").read_text() == "[1]"
    assert not (project.folder / "job").exists()
    assert not (project.folder / ".scrapy/dedup").exists()
    project.refuses(["dedup", "page"], ((server.url("/missing"),), 1, "/missing cannot be had: the site answered 404"))
    for _ in range(2):
        project.told("crawl", "shop", "-a", f"start={url}")
    asked = server.counted().total()
    told = shown(project, "--from-store", url)
    assert server.counted().total() == asked
    assert f"now      \u27e6It is {asked} now\u27e7" in told
    assert f"before   It is {asked - 1} now" in told
    told = shown(project, url)
    assert f"now      \u27e6It is {asked + 1} now\u27e7" in told
    assert f"before   It is {asked} now" in told, "fetched, it stands beside the latest version of the store"


HOSTILE = "\x1b[31mRED\x1b]0;title\x07 \x9b31m \u202eleft é"
SHOWN = "\ufffd[31mRED\ufffd]0;title\ufffd " + r"\u009b31m \u202eleft"


def test_control_characters_of_a_site_are_shown_as_escapes(project: Project) -> None:
    masked(project, html=f"<html><body><p>{HOSTILE} so\u2028on</p><p class=clock>It is {HOSTILE}</p></body>")
    for encoding, last in (("utf-8", "é"), ("ascii", r"\xe9")):
        said = project.told("dedup", "page", "page.html", encoding=encoding)
        hidden = SHOWN.encode(encoding, "backslashreplace").decode(encoding)
        assert said.count(f"{hidden} {last}") == 3
        assert "so on" in said, "it is white space"
        assert all(char.isprintable() for char in said.replace(os.linesep, ""))
    on_a_terminal = project.on_a_terminal("dedup", "page", "page.html", columns=200)
    assert "\x1b[" in on_a_terminal, "it is marked in colour"
    assert all(char.isprintable() for char in re.sub(r"\x1b\[[0-9;]*m|\r\n", "", on_a_terminal))
    assert SHOWN in on_a_terminal


def test_what_a_site_writes_is_no_markup_of_ours(project: Project) -> None:
    places = CLOCK.replace("p.clock", "footer > p.clock") + 'example = ["It was [/b] :key: [red]", ""]\n'
    masked(project, places, "<html><body><footer><p class=clock>It is [/b] :key: [red]</p></footer></body>")
    text, _, told = shown(project, "page.html").partition(LEFT)
    assert "\u27e6It is [/b] :key: [red]\u27e7" in text
    for part in (
        "now      \u27e6It is [/b] :key: [red]\u27e7",
        "example  It was [/b] :key: [red] → (nothing)",
        "body > footer > p.clock::text",
    ):
        assert part in told


@pytest.mark.parametrize("doctype", ["", "<!doctype html>\n"])
def test_a_page_that_is_written_runs_nothing(project: Project, doctype: str) -> None:
    """Opened from disk, scripts of the site would run with the rights of a local file."""
    live = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    masked(project, html=f"{doctype}{PAGE.replace('<h1>', live + '<h1>')}")
    shown(project, "page.html", "--html", "out.html")
    path = project.folder / "out.html"
    said = path.read_text("utf-8")
    assert said.startswith(doctype.strip())
    before = said[: said.index("alert")]
    (policy,) = re.findall('<meta http-equiv="Content-Security-Policy" content="([^"]*)">', before)
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert not re.search("<(?!!doctype|meta|style|/style)", before[: before.index("Content-Security")], re.IGNORECASE)
    assert 'data-dedup="transient"' in said
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


SHOP = """
[[place]]
css = "body > p.clock::text"
changes = "It is {…}"
seen = "11 of 12 changes, 3 pages"

[[place]]
css = "body > a::attr(href)"
changes = "/cart?sid={…}"
seen = "0 of 0 changes, 0 pages"

[[place]]
css = "body > b::text"
only = "numbers"
act = "compare"
seen = "0 of 0 changes, 0 pages"

[[place]]
css = "body > i::text"
not-on = ["/item/*"]
example = ["one", "two"]
seen = "0 of 0 changes, 0 pages"

[[place]]
css = "body > em::text"
changes = "once {…}"
seen = "0 of 0 changes, 0 pages"

[[place]]
css = "body > u::text"
state = "keep"
"""
ITEM = (
    "<html><body><h1>An item with a rather long name</h1><p class=clock>It is {}</p><a href='/cart?sid={}'>Cart</a>"
    "<b>{} left</b><i>two</i><em>never seen to change</em><u>kept</u></body></html>"
)
#: What is told of the places of that page: what is stripped, left out when pages are compared, and left as they are here.
PLACES = (
    [
        "  body > a::attr(href)",
        "    now      /cart?sid=\u27e6c0ffee\u27e7",
        "    before   /cart?sid=badcafe",
        "             (2004-11-09T11:33:20Z)",
        "  body > p.clock::text",
        "    now      It is \u27e6noon\u27e7",
        "    before   It is nine",
        "             (2004-11-09T11:33:20Z)",
        "    changed  11 of 12 times on 3 pages",
    ],
    [
        "  body > b::text",
        "    now      \u27e63\u27e7 left",
        "    before   5 left",
        "             (2004-11-09T11:33:20Z)",
    ],
    [
        "  body > em::text",
        "    now      never seen to change",
        "    before   (not known)",
        "  body > i::text",
        "    now      two",
        "    example  one → two",
        "             (from the mask file)",
    ],
)


@pytest.fixture
def shop(project: Project) -> Project:
    """A project with a mask of shop.test, and a store with two versions of a page, and a third that shows nothing new."""
    versions = {
        1e9: ITEM.format("ten", "1", 5),
        1.1e9: ITEM.format("nine", "badcafe", 5),
        1.2e9: ITEM.format("noon", "c0ffee", 3),
    }
    masked(project, SHOP, versions[1.2e9])
    record(project.folder / "store.sqlite", *(seen_page(URL, html, at) for at, html in versions.items()))
    return project


def test_each_place_stands_beside_the_version_that_taught_it(shop: Project) -> None:
    for source in (("--from-store", URL), ("page.html", "--url", URL)):
        text, _, told = shown(shop, *STORE, *source).partition(LEFT)
        assert ("as it was at 2008-01-10T21:20:00Z, from the store" in text) is (source[0] == "--from-store")
        for part in ("It is \u27e6noon\u27e7", "3 left", "1 of 19 words are transient"):
            assert part in text
        told, _, elsewhere = told.partition("Left as they are here")
        told, _, kept = told.partition("Kept, as the mask file says")
        stripped, _, compared = told.partition("Pages are compared without these")
        found = (stripped, compared, elsewhere + "\n")
        assert tuple(part.rstrip().splitlines()[1:] for part in found) == PLACES
        assert "now      kept" in kept


def test_lines_of_json(shop: Project) -> None:
    page, *places = map(json.loads, shown(shop, *STORE, "--json", "--from-store", URL).splitlines())
    head = {"type": "page", "url": URL, "site": SITE, "from": "store", "time": "2008-01-10T21:20:00Z", "known": True}
    assert page == {**head, "words": 19, "transient_words": 1}
    assert {each["type"] for each in places} == {"place"}
    found = {each["css"].removeprefix("body > ").partition("::")[0]: each for each in places}
    acts = {"a": "stripped", "b": "left out", "em": "elsewhere", "i": "elsewhere", "p.clock": "stripped", "u": "kept"}
    assert {name: each["act"] for name, each in found.items()} == acts
    clock, kept, elsewhere = found["p.clock"], found["u"], found["i"]
    assert clock.items() >= {
        "changes": "It is {…}",
        "before_time": "2004-11-09T11:33:20Z",
        "changed": 11,
        "compared": 12,
        "pages": 3,
        "state": None,
    }.items()  # fmt: skip
    assert (clock["now"], clock["marked"], clock["before"]) == (
        ["It is noon"],
        ["It is \u27e6noon\u27e7"],
        ["It is nine"],
    )
    assert (kept["state"], elsewhere["before"], elsewhere["example"]) == ("keep", None, ["one", "two"])
    assert (found["em"]["before"], found["em"]["example"]) == (None, None)
    done = shop.scrapy("dedup", "page", "page.html", "--url", URL, "--json", "--html", "out.html")
    assert all(json.loads(line)["type"] for line in done.stdout.splitlines())
    assert "out.html" in done.stderr
    assert "data-dedup" in (shop.folder / "out.html").read_text()


def test_without_the_site_the_page_in_the_store_is_shown(shop: Project) -> None:
    settings = (*STORE, "-s", "RETRY_ENABLED=False", "-s", "DOWNLOAD_TIMEOUT=5")
    nobody = "http://127.0.0.1:1/item/7"
    masked(shop, SHOP, site="127.0.0.1:1")
    record(shop.folder / "store.sqlite", seen_page(nobody, ITEM.format("noon", "c0ffee", 3), 1e9))
    done = shop.scrapy("dedup", "page", *settings, nobody)
    assert done.returncode == 0, done.stderr
    assert "cannot be had" in done.stderr
    assert "from the store" in done.stdout
    assert "It is \u27e6noon\u27e7" in done.stdout
    shop.refuses(["dedup", "page"], ((*settings, nobody, "--html", "out.html"), 1, ""))  # the store has no HTML
    assert not (shop.folder / "out.html").exists()


def test_mistakes_are_one_line(shop: Project) -> None:
    shop.write("other.sqlite", "this is no database")
    shop.refuses(
        ["dedup", "page"],
        (("missing.html",), 2, "dedup page: missing.html is no URL and no file; a URL begins with http://"),
        (("http://",), 2, "is no URL of a site"),
        (("page.html", "--url", "http://other.test/"), 1, "there is no mask of other.test, but of shop.test"),
        (("http://127.0.0.1:1/", "--url", "http://shop.test/"), 2, "--url goes with a FILE"),
        ((), 2, "name one page"),
        (("--from-store", URL + "0", *STORE), 1, "the store has no version of"),
        (("--from-store", URL), 1, "nothing is recorded in"),
        (("--from-store", "page.html"), 2, "--from-store goes with a URL"),
        (("--from-store", "--html", "x", URL), 2, "do not go together"),
        (("page.html", "--html", "none/x.html"), 2, "none/x.html: there is no folder none; make it first"),
        (("--from-store", URL, "-s", "DEDUP_STORE=other.sqlite"), 2, "other.sqlite"),
        (("--from-store", "http://other.test/", *STORE), 1, "there is no mask of other.test"),
        ((".",), 2, "."),
        (("page.html", "-s", f"DEDUP_DIR={Path('none')}"), 1, "there is no mask yet"),
    )
