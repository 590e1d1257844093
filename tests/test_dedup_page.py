"""``scrapy dedup page`` as its user meets it: real processes in temporary folders, and a real server."""

import json
import os
import re
import stat
import subprocess
import sys

import pytest

from scrapy_dedup.content.versions import packed_version
from scrapy_dedup.store import page_queries
from scrapy_dedup.store.page_queries import versions_of_page
from scrapy_dedup.store.store import Store

from .server import Answer
from .store_rows import seen

MASK = """\
format = "dedup-mask/2"
site = "{site}"

[[path]]
selector = "html/body/p.clock"
state = "strip"
"""
PAGE = "<html><head><title>A page</title></head><body><h1>A page</h1><p class=clock>It is noon</p><p>A text</p></body></html>"


@pytest.fixture
def masked(project):
    project.write("dedup-rules/shop.test.mask.toml", MASK.format(site="shop.test"))
    project.write("page.html", PAGE)
    return project


def test_a_file(masked):
    done = masked.scrapy("dedup", "page", "page.html", "--html", "out.html", fresh=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "\u27e6It is noon\u27e7" in done.stdout
    assert "A text" in done.stdout
    assert "\u27e6A text" not in done.stdout
    assert "3 of 9 words are transient" in done.stdout
    assert "body > p.clock" in done.stdout
    shown = (masked.folder / "out.html").read_text()
    assert '<p class=clock data-dedup="transient">' in shown or 'data-dedup="transient">It is noon<' in shown


def test_what_pages_are_compared_without_is_told_and_stays(masked):
    text = MASK.format(site="shop.test").replace('state = "strip"', 'kind = "volatile"')
    masked.write("dedup-rules/shop.test.mask.toml", text)
    done = masked.scrapy("dedup", "page", "page.html")
    assert done.returncode == 0, done.stderr
    assert "0 of 9 words are transient" in done.stdout
    told, _, volatile = done.stdout.partition("Pages are compared without these")
    assert "It is noon" in told
    assert "\u27e6" not in told
    assert "body > p.clock" in volatile


def test_the_masks_of_all_directories_count(masked):
    masked.write("reviewed/shop.test.mask.toml", MASK.format(site="shop.test").replace("p.clock", "h1"))
    masked.write("more/shop.test.mask.toml", MASK.format(site="shop.test").replace('"strip"', '"keep"'))
    for directories, hidden in (
        ("reviewed", ["A page", "It is noon"]),
        ("reviewed,more", ["A page"]),
        ("more", []),
    ):
        done = masked.scrapy("dedup", "page", "page.html", "-s", f"DEDUP_RULES={directories}")
        assert done.returncode == 0, done.stderr
        assert [text for text in ("A page", "It is noon", "A text") if f"\u27e6{text}" in done.stdout] == hidden


def test_mistakes_are_one_line(masked):
    for args, code, said in (
        (("missing.html",), 2, "dedup page: missing.html is no URL and no file; a URL begins with http://"),
        (("http://",), 2, "is no URL of a site"),
        (("page.html", "--url", "http://other.test/"), 1, "there is no mask of other.test, but of shop.test"),
        (("http://127.0.0.1:1/", "--url", "http://shop.test/"), 2, "--url goes with a FILE"),
        ((), 2, "name one page"),
    ):
        done = masked.scrapy("dedup", "page", *args)
        assert done.returncode == code, (args, done.stderr)
        assert said in done.stderr + done.stdout
        assert "Traceback" not in done.stderr


def test_without_a_mask(project):
    project.write("page.html", PAGE)
    done = project.scrapy("dedup", "page", "page.html")
    assert done.returncode == 1
    assert "there is no mask yet" in done.stderr


def test_a_page_is_fetched_and_nothing_else_is_touched(serve, project):
    server = serve(lambda asked: Answer(PAGE) if asked.path == "/page" else Answer("another", status=404))
    site = server.url("/").split("/")[2]
    name = site.replace(":", "_")
    project.write(f"dedup-rules/{name}.mask.toml", MASK.format(site=site))
    project.write("items.json", "[1]")
    settings = ("-s", 'FEEDS={"items.json": {"format": "json", "overwrite": true}}', "-s", "JOBDIR=job")
    done = project.scrapy("dedup", "page", server.url("/page"), *settings)
    assert done.returncode == 0, done.stderr
    assert "\u27e6It is noon\u27e7" in done.stdout
    assert (project.folder / "items.json").read_text() == "[1]"
    assert not (project.folder / "job").exists()
    assert not (project.folder / ".scrapy" / "dedup").exists()
    missing = project.scrapy("dedup", "page", server.url("/missing"))
    assert missing.returncode == 1
    assert "/missing cannot be had: the site answered 404" in missing.stderr
    assert "Traceback" not in missing.stderr


@pytest.mark.parametrize(
    ("settings", "heading"),
    [
        ((), "Left in items (DEDUP_CONTENT_FIELDS names no field to take them out of):"),
        (('DEDUP_CONTENT_FIELDS={"body": "html"}',), "Taken out of items:"),
        (('DEDUP_CONTENT_FIELDS={"body": "html"}', "DEDUP_STRIP=mark"), "Marked in items:"),
        (('DEDUP_CONTENT_FIELDS={"body": "html"}', "DEDUP_STRIP=off"), "Left in items (DEDUP_STRIP is off):"),
    ],
)
def test_what_is_done_with_items_is_as_the_settings_say(masked, settings, heading):
    done = masked.scrapy("dedup", "page", "page.html", *(part for one in settings for part in ("-s", one)))
    assert (done.returncode, done.stdout.count("items")) == (0, 1), done.stderr
    assert f"\n{heading}\n" in done.stdout


def test_masks_are_checked(project):
    project.write("dedup-rules/shop.test.mask.toml", MASK.format(site="shop.test").replace("selector", "selectr"))
    project.write("dedup-rules/other.test.mask.toml", MASK.format(site="shop.test"))
    done = project.scrapy("dedup", "check")
    assert done.returncode == 1
    assert 'has no key "selectr"' in done.stderr
    assert "the file is named other.test.mask.toml" in done.stderr


def test_what_a_site_writes_is_no_markup_of_ours(masked):
    mask = MASK.format(site="shop.test").replace("p.clock", "footer/p.clock")
    masked.write("dedup-rules/shop.test.mask.toml", f'{mask}before = "It was [/b] :key: [red]"\n')
    masked.write("page.html", "<html><body><footer><p class=clock>It is [/b] :key: [red]</p></footer></body>")
    done = masked.scrapy("dedup", "page", "page.html")
    assert done.returncode == 0, done.stderr
    text, _, places = done.stdout.partition("Left in items (DEDUP_CONTENT_FIELDS names no field to take them out of):")
    assert "\u27e6It is [/b] :key: [red]\u27e7" in text
    assert "now      \u27e6It is [/b] :key: [red]\u27e7" in places
    assert "example  It was [/b] :key: [red] → (nothing)" in places
    assert "body > footer:not([class]) > p.clock::text" in places


HOSTILE = "\x1b[31mRED\x1b]0;title\x07 \x9b31m \u202eleft é"
SHOWN = r"\u001b[31mRED\u001b]0;title \u009b31m \u202eleft"


def test_control_characters_of_a_site_are_shown_as_escapes(masked):
    masked.write("dedup-rules/shop.test.mask.toml", MASK.format(site="shop.test"))
    masked.write("page.html", f"<html><body><p>{HOSTILE} so\u2028on</p><p class=clock>It is {HOSTILE}</p></body>")
    for encoding, last in (("utf-8", "é"), ("ascii", r"\xe9"), ("latin-1", "é")):
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", "dedup", "page", "page.html"],
            cwd=masked.folder,
            env={**masked.environment, "PYTHONIOENCODING": encoding},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        said = done.stdout.decode(encoding)
        assert said.count(f"{SHOWN} {last}") == 3
        assert r"so\u2028on" in said
        assert all(char.isprintable() for char in said.replace(os.linesep, ""))


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no terminals")
def test_on_a_terminal_colours_are_the_only_control_characters(masked):
    masked.write("page.html", f"<html><body><p>{HOSTILE}</p><p class=clock>It is {HOSTILE}</p></body>")
    ours, theirs = os.openpty()
    environment = {**masked.environment, "TERM": "xterm-256color", "COLUMNS": "200"}
    environment.pop("NO_COLOR")
    command = [sys.executable, "-m", "scrapy", "dedup", "page", "page.html"]
    with subprocess.Popen(command, cwd=masked.folder, env=environment, stdin=theirs, stdout=theirs) as running:
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 65_536):
                said += part
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    assert running.returncode == 0
    text = said.decode()
    assert "\x1b[" in text, "it is marked in colour"
    assert all(char.isprintable() for char in re.sub(r"\x1b\[[0-9;]*m|\r\n", "", text))
    assert SHOWN in text


def test_a_page_that_is_written_runs_nothing(masked):
    """Opened from disk, scripts of the site would run with the rights of a local file."""
    live = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    for doctype in ("", "<!doctype html>\n"):
        masked.write("page.html", f"{doctype}{PAGE.replace('<h1>', live + '<h1>')}")
        done = masked.scrapy("dedup", "page", "page.html", "--html", "out.html")
        assert done.returncode == 0, done.stderr
        path = masked.folder / "out.html"
        said = path.read_text("utf-8")
        assert said.startswith(doctype.strip())
        before = said[: said.index("alert")]
        (policy,) = re.findall('<meta http-equiv="Content-Security-Policy" content="([^"]*)">', before)
        assert "default-src 'none'" in policy
        assert "script-src" not in policy
        assert not re.search(
            "<(?!!doctype|meta|style|/style)", before[: before.index("Content-Security")], re.IGNORECASE
        )
        assert 'data-dedup="transient"' in said
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        path.unlink()


# -- side by side with what stood there before

URL = "http://shop.test/item/7"
SHOP = """\
format = "dedup-mask/2"
site = "shop.test"

[[path]]
selector = "html/body/p.clock"
kind = "transient"
text = "It is {…}"
changed = 11
compared = 12
pages = 3

[[path]]
selector = "html/body/a"
attribute = "href"
kind = "transient"
text = "/cart?sid={…}"

[[path]]
selector = "html/body/b"
kind = "volatile"
typed = true

[[path]]
selector = "html/body/i"
kind = "undecided"
before = "one"
after = "two"

[[path]]
selector = "html/body/em"
kind = "undecided"

[[path]]
selector = "html/body/u"
kind = "transient"
state = "keep"
"""
ITEM = (
    "<html><body><h1>An item with a rather long name</h1><p class=clock>It is {}</p><a href='/cart?sid={}'>Cart</a>"
    "<b>{} left</b><i>two</i><em>never seen to change</em><u>kept</u></body></html>"
)
NOW, BEFORE, LONG_AGO = ITEM.format("noon", "c0ffee", 3), ITEM.format("nine", "badcafe", 5), ITEM.format("ten", "1", 5)


@pytest.fixture
def shop(project):
    """A project with a mask of shop.test, and a store with two versions of a page, and a third that shows nothing new."""
    project.write("dedup-rules/shop.test.mask.toml", SHOP)
    project.write("page.html", NOW)
    with Store.open(project.folder / "store.sqlite") as store:
        store.add(
            [
                seen("x")._replace(site="shop.test", url=URL, time=at, version=packed_version(html))
                for at, html in ((1e9, LONG_AGO), (1.1e9, BEFORE), (1.2e9, NOW))
            ]
        )
    return project


STORE = ("-s", "DEDUP_STORE=store.sqlite")


def test_versions_of_a_page(shop, monkeypatch):
    with Store.open(shop.folder / "store.sqlite", readonly=True) as store:
        found = versions_of_page(store, "", "shop.test", URL)
        assert [at for at, _ in found] == [1.2e9, 1.1e9, 1e9]
        assert ("html/body/p.clock", "", "It is noon") in found[0][1].blocks
        monkeypatch.setattr(page_queries, "_VERSIONS", 2)
        assert len(versions_of_page(store, "", "shop.test", URL)) == 2
        assert versions_of_page(store, "", "shop.test", URL + "0") == []
        assert versions_of_page(store, "other", "shop.test", URL) == []


@pytest.mark.parametrize("source", [("--from-store", URL), ("page.html", "--url", URL)])
def test_each_place_stands_beside_the_version_that_taught_it(shop, source):
    done = shop.scrapy("dedup", "page", *STORE, *source)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    text, _, places = done.stdout.partition("Left in items (DEDUP_CONTENT_FIELDS names no field to take them out of):")
    assert ("as it was at 2008-01-10T21:20:00Z, from the store" in text) is (source[0] == "--from-store")
    assert "It is \u27e6noon\u27e7" in text
    assert "3 left" in text
    assert "1 of 19 words are transient" in text
    stripped, _, places = places.partition("Pages are compared without these")
    volatile, _, places = places.partition("Undecided")
    undecided, _, kept = places.partition("Kept, as the mask file says")
    assert stripped.splitlines()[1:-1] == [
        "  body > a:not([class])::attr(href)",
        "    now      /cart?sid=\u27e6c0ffee\u27e7",
        "    before   /cart?sid=badcafe",
        "             (2004-11-09T11:33:20Z)",
        "  body > p.clock::text",
        "    now      It is \u27e6noon\u27e7",
        "    before   It is nine",
        "             (2004-11-09T11:33:20Z)",
        "    changed  11 of 12 times on 3 pages",
    ]
    assert volatile.splitlines()[1:-1] == [
        "  body > b:not([class])::text",
        "    now      \u27e63\u27e7 left",
        "    before   5 left",
        "             (2004-11-09T11:33:20Z)",
    ]
    assert undecided.splitlines()[1:-1] == [
        "  body > em:not([class])::text",
        "    now      never seen to change",
        "    before   (not known)",
        "  body > i:not([class])::text",
        "    now      two",
        "    example  one → two",
        "             (from the mask file)",
    ]
    assert "now      kept" in kept


def test_lines_of_json(shop):
    done = shop.scrapy("dedup", "page", *STORE, "--json", "--from-store", URL)
    assert done.returncode == 0, done.stderr
    page, *places = map(json.loads, done.stdout.splitlines())
    assert page == {
        "type": "page",
        "url": URL,
        "site": "shop.test",
        "from": "store",
        "time": "2008-01-10T21:20:00Z",
        "known": True,
        "words": 19,
        "transient_words": 1,
    }
    assert {each["type"] for each in places} == {"place"}
    found = {(each["selector"], each["attribute"]): each for each in places}
    assert {place: each["act"] for place, each in found.items()} == {
        ("html/body/a", "href"): "stripped",
        ("html/body/b", ""): "left out",
        ("html/body/em", ""): "undecided",
        ("html/body/i", ""): "undecided",
        ("html/body/p.clock", ""): "stripped",
        ("html/body/u", ""): "kept",
    }
    clock = found["html/body/p.clock", ""]
    assert (clock["text"], clock["now"], clock["marked"]) == ("It is {…}", ["It is noon"], ["It is \u27e6noon\u27e7"])
    assert (clock["before"], clock["before_from"], clock["before_time"]) == (
        ["It is nine"],
        "store",
        "2004-11-09T11:33:20Z",
    )
    assert (clock["changed"], clock["compared"], clock["pages"], clock["state"]) == (11, 12, 3, None)
    assert found["html/body/u", ""]["state"] == "keep"
    assert found["html/body/i", ""]["before_from"] == "mask"
    assert found["html/body/i", ""]["example"] == ["one", "two"]
    assert found["html/body/em", ""]["before_from"] is None


def test_html_and_json_go_together(shop):
    done = shop.scrapy("dedup", "page", "page.html", "--url", URL, "--json", "--html", "out.html")
    assert done.returncode == 0, done.stderr
    assert all(json.loads(line)["type"] for line in done.stdout.splitlines())
    assert "out.html" in done.stderr
    assert "data-dedup" in (shop.folder / "out.html").read_text()


def test_without_the_site_the_page_in_the_store_is_shown(shop):
    settings = (*STORE, "-s", "RETRY_ENABLED=False", "-s", "DOWNLOAD_TIMEOUT=5")
    nobody = "http://127.0.0.1:1/item/7"
    shop.write("dedup-rules/127.0.0.1_1.mask.toml", SHOP.replace("shop.test", "127.0.0.1:1"))
    with Store.open(shop.folder / "store.sqlite") as store:
        store.add([seen("x")._replace(site="127.0.0.1:1", url=nobody, version=packed_version(NOW))])
    done = shop.scrapy("dedup", "page", *settings, nobody)
    assert done.returncode == 0, done.stderr
    assert "cannot be had" in done.stderr
    assert "from the store" in done.stdout
    assert "It is \u27e6noon\u27e7" in done.stdout
    # The store has no HTML.
    done = shop.scrapy("dedup", "page", *settings, nobody, "--html", "out.html")
    assert done.returncode == 1
    assert not (shop.folder / "out.html").exists()


def test_mistakes_with_the_store_are_one_line(shop):
    shop.write("other.sqlite", "this is no database")
    for args, code, said in (
        (("--from-store", URL + "0", *STORE), 1, "the store has no version of"),
        (("--from-store", URL), 1, "nothing is recorded in"),
        (("--from-store", "page.html"), 2, "--from-store goes with a URL"),
        (("--from-store", "--html", "x", URL), 2, "do not go together"),
        (("page.html", "--html", "none/x.html"), 2, "none/x.html: there is no folder none; make it first"),
        (("--from-store", URL, "-s", "DEDUP_STORE=other.sqlite"), 2, "other.sqlite"),
        (("--from-store", "http://other.test/", *STORE), 1, "there is no mask of other.test"),
        ((".",), 2, "."),
    ):
        done = shop.scrapy("dedup", "page", *args)
        assert done.returncode == code, (args, done.stdout, done.stderr)
        assert said in done.stderr + done.stdout
        assert "Traceback" not in done.stderr


def test_a_crawl_teaches_what_is_shown_without_fetching(serve, project):
    """From a real crawl: its versions are in the store, and no request is made to show them."""
    ticks = iter(range(1, 1000))

    def page(asked):
        return Answer(
            f"<html><body><p class=clock>It is {next(ticks)} now</p><p>A page of some words</p></body></html>"
        )

    server = serve(page)
    site = server.url("/").split("/")[2]
    project.write(f"dedup-rules/{site.replace(':', '_')}.mask.toml", MASK.format(site=site))
    for _ in range(2):
        done = project.scrapy("crawl", "shop", "-a", f"start={server.url('/item/7')}")
        assert done.returncode == 0, done.stderr
    asked = server.counted().total()
    assert asked >= 2
    done = project.scrapy("dedup", "page", "--from-store", server.url("/item/7"))
    assert done.returncode == 0, done.stderr
    assert server.counted().total() == asked
    assert f"now      \u27e6It is {asked} now\u27e7" in done.stdout
    assert f"before   It is {asked - 1} now" in done.stdout
    # Fetched, it stands beside the latest version of the store.
    done = project.scrapy("dedup", "page", server.url("/item/7"))
    assert f"now      \u27e6It is {asked + 1} now\u27e7" in done.stdout
    assert f"before   It is {asked} now" in done.stdout
