"""DEDUP_TRANSIENT_METHOD = "seed": the transient-content document's method in crawls and in ``scrapy learn-rules``."""

import json
from typing import Any

import pytest

from scrapy_dedup import learn_mask

from .conftest import Project, Serve
from .crawling import Links, crawl, ignore, in_reactor, mask_of, rules_of, save_rules
from .server import Asked, prose

SEED = {"DEDUP_TRANSIENT_METHOD": "seed"}
#: The document's page on two days.
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
SECOND = FIRST.replace("Sunday, June 24th, 2007.\n", "Monday, June 25th, 2007.\nWeather Forecast: Sunny.\n")
PAGES = 24


class Site:
    """The document's page, as many times as a crawl needs to learn from it: it is another day when :attr:`page` says so, but on the first one."""

    def __init__(self) -> None:
        self.page = FIRST

    def __call__(self, asked: Asked) -> str | int:
        return self.shown(int(asked.query.get("id", "0"))) if asked.path == "/" else 404

    def shown(self, number: int) -> str:
        # None leads back to the start page, which would be fetched twice.
        links = f'<div><a href="/?id={number + 1}">next</a></div>' if number + 1 < PAGES else "<div>the end</div>"
        own = f"<h1>Section {number}: {prose(number)}</h1>"
        return (self.page if number else FIRST).replace("<h1>First section</h1>", own + links)


class Texts(Links):
    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "html": response.text, "text": " ".join(response.css("body ::text").getall())}
        yield from response.follow_all(css="a")


class OfTheSeed(Texts):
    custom_settings = SEED


def found(site: str) -> tuple[str, set[str]]:
    """The method of the mask of a site, and the places that were learned to be left out, as CSS."""
    mask = mask_of(site)
    learned = {place["css"] for place in mask.get("place", []) if "seen" in place and "state" not in place}
    return mask.get("mode", "default"), learned


@in_reactor
async def test_pages_are_compared_under_the_mask(serve: Serve) -> None:
    """A clock in each response hides that a session id makes no difference, until its path is known."""
    pages = 25

    def shop(asked: Asked) -> str:
        number, count = int(asked.query.get("id", "0")), sum(server.hits.values())
        links = "".join(
            f'<a href="/?id={(3 * number + step) % pages}&sid={50 * number + step:016x}">n</a>' for step in (1, 2)
        )
        return (
            f"<html><head><title>Shop</title></head><body><h1>{prose(number)}</h1><div>{links}</div><p>It is {count}"
            "</p><i>home</i><b>help</b></body></html>"
        )

    server = serve(shop)
    for learn in ("off", "close"):
        await crawl(Links, server.url("/?id=0"), DEDUP_LEARN=learn, **SEED)
    method, learned = found(server.site)
    assert method == "seed"
    assert "body > p" in learned
    assert not {"body > h1", "body"} & learned
    assert any("q.sid" in rule["ops"] for rule in rules_of(server.site))
    fetched = server.downloads
    server.reset()
    done = await crawl(Links, server.url("/?id=0"), **SEED)
    assert {item["url"].partition("id=")[2].partition("&")[0] for item in done.items} == set(map(str, range(pages)))
    assert server.downloads < 0.75 * fetched / 2
    assert not done.faults()


@in_reactor
async def test_a_date_is_found_with_the_second_day(serve: Serve) -> None:
    """Of each crawl a page has one version, under however many session ids, and in however many spot checks, it was fetched."""
    pages = 15

    def shop(asked: Asked) -> str:
        number = int(asked.query.get("id", "0"))
        links = "".join(
            f'<a href="/?id={(3 * number + step) % pages}&sid={50 * number + step:016x}">n</a>' for step in range(1, 6)
        )
        return (
            f"<html><head><title>Shop</title></head><body><h1>{prose(number)}</h1><div>{links}</div><p>Today is day {day}"
            "</p><i>home</i><b>help</b></body></html>"
        )

    server = serve(shop)
    checks = {"DEDUP_SAMPLE": 0.3, "DEDUP_CONTENT_FIELDS": {"html": "html", "text": "text"}}
    for day, learn in ((1, "off"), (2, "close"), (3, "close")):
        done = await crawl(OfTheSeed, server.url("/?id=0"), DEDUP_LEARN=learn, **checks)
        assert not done.faults()
        assert server.downloads >= (pages if day > 1 else 4 * pages), "each page under several session ids"
        assert found(server.site) == (("seed", {"body > p"}) if day > 1 else ("default", set()))
        save_rules(server.site, ignore("q.sid"))
        server.reset()
    assert len(done.items) >= pages
    assert not any("Today" in item["html"] + item["text"] for item in done.items)


DEFAULT, PATH, ASIDE, DIV = "body > p > em::text", "body > p", "body > aside", "body > div"
USERS = """
[[place]]
css = "body > h1::text"
state = "keep"

[[place]]
css = "body > u"
state = "keep"

[[place]]
css = "body > b::text"
state = "strip"
"""
#: What was learned before, of which the pages have the second one only, and there nothing changes.
BEFORE = "".join(f'\n[[place]]\ncss = "{each}"\nseen = "2 of 2 changes, 2 pages"\n' for each in (ASIDE, DIV))
#: What is found with the document's values is not with these.
THRESHOLDS = {
    "threshold": 1,  # on the first page nothing changes
    "max_marked": 0.1,
    "max_share": 0.01,
    "max_path": 14,  # <html><body><p> is 15 characters long
}


@in_reactor
async def test_the_worked_example(project: Project, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Crawls record, learn and strip; ``scrapy learn-rules`` learns from the same store, with other thresholds, too."""
    spider = (project.folder / "shop/spiders/shop.py").read_text()
    own = spider.replace('name = "shop"', f'name = "own"\n    custom_settings = {SEED}')
    project.write("shop/spiders/own.py", own.replace("class Shop", "class Own"))
    monkeypatch.chdir(project.folder)
    site = Site()
    server = serve(site)
    path = project.write(
        f"dedup-rules/{server.site.replace(':', '_')}.mask.toml",
        f'format = "dedup-mask/3"\nsite = "{server.site}"\n{USERS}',
    )

    async def two_days(spider: type[Links]) -> tuple[str, set[str]]:
        for site.page, learn in ((FIRST, "off"), (SECOND, "close")):
            await crawl(spider, server.url("/?id=0"), DEDUP_LEARN=learn)
        return found(server.site)

    def learned(*args: str) -> tuple[tuple[str, set[str]], str]:
        said = " ".join(project.told("learn-rules", *args).split())
        states = {each["css"]: each.get("state") for each in mask_of(server.site)["place"]}
        assert states.items() >= {"body > h1::text": "keep", "body > u": "keep", "body > b::text": "strip"}.items()
        return found(server.site), said

    assert await two_days(Texts) == ("default", {DEFAULT})
    after, said = learned("--spider", "own")
    assert f"{PAGES} pages seen more than once, and none of them twice while it was recorded" in said
    assert 'DEDUP_TRANSIENT_METHOD = "seed"; crawl again' in said
    assert after == ("default", {DEFAULT}), "until there is something to learn from"
    # What was recorded under the other method is left aside, and what it has learned is nothing to this one.
    assert await two_days(OfTheSeed) == ("seed", {PATH})
    # <p> once in each version of each page, and but for the first page it has changed.
    (place,) = (each for each in mask_of(server.site)["place"] if each["css"] == PATH)
    assert place["seen"] == f"{2 * PAGES - 2} of {2 * PAGES} changes, {PAGES} pages"
    path.write_text(path.read_text() + BEFORE)
    after, said = learned("--spider", "own")
    assert after == ("seed", {PATH, ASIDE})
    assert "body > p" in said
    assert f"{2 * PAGES - 2} of {2 * PAGES}" in said
    # On another day, also of pages that were never seen, and in all kinds of fields.
    site.page = FIRST.replace("Sunday, June 24th", "Friday, June 29th")
    starts = (server.url("/?id=1"), server.url("/?id=999"))
    done = await crawl(OfTheSeed, *starts, DEDUP_CONTENT_FIELDS={"html": "html", "text": "text"})
    assert len(done.items) == done.stat("transient/items") == PAGES
    for item in done.items:
        number = item["url"].partition("=")[2]
        assert "Today" not in item["text"] + item["html"]
        assert prose(number) in item["text"]
        assert f"Section {number}: {prose(number)}</h1>" in item["html"]
        assert "<title>Hello</title>" in item["html"]
    # Other thresholds from the same store, and from Python.
    pages = {f"http://news.example/{number}": [site.shown(number)] for number in range(4)}
    site.page = SECOND
    for number, versions in enumerate(pages.values()):
        versions.append(site.shown(number))
    assert {each.css for each in learn_mask(pages, "seed").places} == {PATH}
    for name, value in THRESHOLDS.items():
        options = json.dumps({name: value})
        after, said = learned("-s", "DEDUP_TRANSIENT_METHOD=seed", "-s", f"DEDUP_TRANSIENT_OPTIONS={options}")
        assert after == ("seed", {ASIDE}), name
        assert ("more than 0.01 of all paths changed" in said) is (name == "max_share")
        assert not learn_mask(pages, "seed", options={name: value}).places, name
    path_of_14 = {"DEDUP_TRANSIENT_OPTIONS": {"max_path": THRESHOLDS["max_path"]}}
    done = await crawl(OfTheSeed, server.url("/?id=0"), DEDUP_LEARN="close", **path_of_14)
    assert (done.stat("learned/times"), found(server.site)) == (1, ("seed", {ASIDE})), "a crawl minds them, too"
    assert learned()[0] == ("default", {DEFAULT})
