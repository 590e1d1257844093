"""``scrapy explain-page`` as its user meets it: real processes in temporary folders, and a real server."""

import pytest

from .server import Answer

MASK = """\
format = "dedup-mask/1"
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
    done = masked.scrapy("explain-page", "page.html", "--html", "out.html", fresh=True)
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
    done = masked.scrapy("explain-page", "page.html")
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
        done = masked.scrapy("explain-page", "page.html", "-s", f"DEDUP_RULES={directories}")
        assert done.returncode == 0, done.stderr
        assert [text for text in ("A page", "It is noon", "A text") if f"\u27e6{text}" in done.stdout] == hidden


def test_mistakes_are_one_line(masked):
    for args, code, said in (
        (("missing.html",), 2, "missing.html"),
        (("http://",), 2, "is no URL of a site"),
        (("page.html", "--url", "http://other.test/"), 1, "there is no mask of other.test, but of shop.test"),
        (("http://127.0.0.1:1/", "--url", "http://shop.test/"), 2, "--url goes with a FILE"),
        ((), 2, "name one page"),
    ):
        done = masked.scrapy("explain-page", *args)
        assert done.returncode == code, (args, done.stderr)
        assert said in done.stderr + done.stdout
        assert "Traceback" not in done.stderr


def test_without_a_mask(project):
    project.write("page.html", PAGE)
    done = project.scrapy("explain-page", "page.html")
    assert done.returncode == 1
    assert "there is no mask yet" in done.stderr


def test_a_page_is_fetched_and_nothing_else_is_touched(serve, project):
    server = serve(lambda asked: Answer(PAGE) if asked.path == "/page" else Answer("another", status=404))
    site = server.url("/").split("/")[2]
    name = site.replace(":", "_")
    project.write(f"dedup-rules/{name}.mask.toml", MASK.format(site=site))
    project.write("items.json", "[1]")
    settings = ("-s", 'FEEDS={"items.json": {"format": "json", "overwrite": true}}', "-s", "JOBDIR=job")
    done = project.scrapy("explain-page", server.url("/page"), *settings)
    assert done.returncode == 0, done.stderr
    assert "\u27e6It is noon\u27e7" in done.stdout
    assert (project.folder / "items.json").read_text() == "[1]"
    assert not (project.folder / "job").exists()
    assert not (project.folder / ".scrapy" / "dedup").exists()
    missing = project.scrapy("explain-page", server.url("/missing"))
    assert missing.returncode == 1
    assert "cannot be had" in missing.stderr
    assert "Traceback" not in missing.stderr


def test_masks_are_checked(project):
    project.write("dedup-rules/shop.test.mask.toml", MASK.format(site="shop.test").replace("selector", "selectr"))
    project.write("dedup-rules/other.test.mask.toml", MASK.format(site="shop.test"))
    done = project.scrapy("learn-rules", "--check")
    assert done.returncode == 1
    assert 'has no key "selectr"' in done.stderr
    assert "the file is named other.test.mask.toml" in done.stderr


def test_what_a_site_writes_is_no_markup_of_ours(masked):
    mask = MASK.format(site="shop.test").replace("p.clock", "footer/p.clock")
    masked.write("dedup-rules/shop.test.mask.toml", f'{mask}examples = ["It is [/b] :key: [red]"]\n')
    masked.write("page.html", "<html><body><footer><p class=clock>It is [/b] :key: [red]</p></footer></body>")
    done = masked.scrapy("explain-page", "page.html")
    assert done.returncode == 0, done.stderr
    assert "\u27e6It is [/b] :key: [red]\u27e7" in done.stdout
    _, _, table = done.stdout.partition("what passes")
    assert "It is [/b] :key: [red]" in table
    assert "body > footer:not([class]) > p.clock::text" in table
