"""DEDUP_TRANSIENT_METHOD = "seed": the transient-content document's method in crawls and in ``scrapy learn-rules``."""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from scrapy_dedup import Mask, learn_mask
from scrapy_dedup.content.fingerprints import fingerprint_body
from scrapy_dedup.content.versions import packed_version
from scrapy_dedup.crawl.learn.learner import command_of
from scrapy_dedup.crawl.settings.dedup_settings import DedupSettings
from scrapy_dedup.learning import __main__ as process
from scrapy_dedup.learning.alternation import StoredEvidence, learn_rules_and_masks
from scrapy_dedup.masks.files.mask_files import path_of_mask
from scrapy_dedup.masks.loading import load_masks
from scrapy_dedup.masks.model import TransientPath
from scrapy_dedup.masks.published.thresholds import Thresholds
from scrapy_dedup.masks.published.token_table import packed_with_table
from scrapy_dedup.rules import RuleBook
from scrapy_dedup.store.rows import ObservationRow
from scrapy_dedup.store.store import Store

from .conftest import Project, Serve
from .crawling import STORE, Links, crawl, in_reactor
from .mask_files import save_mask
from .server import Asked, Server, prose
from .test_seed_transient_changes import FIRST, SECOND

SEED = {"DEDUP_TRANSIENT_METHOD": "seed"}
PAGES = 24
FIELDS = {"html": "html", "text": "text"}


class Site:
    """The document's page, as many times as a crawl needs to learn from it: it is another day when :attr:`page` says so."""

    def __init__(self) -> None:
        self.page = FIRST

    def __call__(self, asked: Asked) -> str | int:
        number = int(asked.query.get("id", "0"))
        # None leads back to the start page, which would be fetched twice.
        links = f'<div><a href="/?id={number + 1}">next</a></div>' if number + 1 < PAGES else "<div>the end</div>"
        own = f"<h1>Section {number}: {prose(number)}</h1>"
        return self.page.replace("<h1>First section</h1>", own + links) if asked.path == "/" else 404


class Texts(Links):
    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "html": response.text, "text": " ".join(response.css("body ::text").getall())}
        yield from response.follow_all(css="a")


class OfTheSeed(Texts):
    name = "seed"
    custom_settings = {**SEED, "DEDUP_SCOPE": "seed"}


async def two_days(server: Server, site: Site, spider: type[Links] = Texts, **settings: Any) -> Any:
    """Crawl on two days, and learn at the end of the second."""
    site.page = FIRST
    await crawl(spider, server.url("/?id=0"), **settings)
    site.page = SECOND
    return await crawl(spider, server.url("/?id=0"), **{"DEDUP_LEARN": "close", **settings})


def masks(directory: str = "dedup-rules") -> list[Mask]:
    return list(load_masks([directory]).values()) if Path(directory).exists() else []


def shown(mask: Mask) -> list[tuple[str, int, int]]:
    return [(path.selector, path.changes, path.opportunities) for path in mask.paths]


@in_reactor
async def test_the_worked_example_in_a_crawl(serve: Serve) -> None:
    site = Site()
    server = serve(site)
    await two_days(server, site, **SEED)
    (mask,) = masks()
    # <p> once in each version of each page; nothing else is to be known of it.
    assert (mask.mode, mask.site) == ("seed", f"127.0.0.1:{server.port}")
    assert shown(mask) == [("html/body/p/*", 2 * PAGES, 2 * PAGES)]
    assert {path.pages for path in mask.paths} == {PAGES}
    # On another day, also of pages that were never seen, and in all kinds of fields.
    site.page = FIRST.replace("Sunday, June 24th", "Friday, June 29th")
    done = await crawl(Texts, server.url("/?id=0"), server.url("/?id=999"), DEDUP_CONTENT_FIELDS=FIELDS, **SEED)
    assert len(done.items) == PAGES + 1
    for item in done.items:
        number = item["url"].partition("=")[2]
        assert "Today" not in item["text"] + item["html"]
        assert prose(number) in item["text"]
        assert f"Section {number}: {prose(number)}</h1>" in item["html"]
        assert "<title>Hello</title>" in item["html"]
    assert done.stats["dedup/transient/items"] == PAGES + 1


@in_reactor
async def test_the_method_is_chosen_by_each_spider(serve: Serve) -> None:
    site = Site()
    server = serve(site)
    await two_days(server, site, OfTheSeed)
    await two_days(server, site)
    (seed,), (default,) = masks("dedup-rules/seed"), masks()
    assert (seed.mode, default.mode) == ("seed", "default")
    assert shown(seed) == [("html/body/p/*", 2 * PAGES, 2 * PAGES)]
    assert "html/body/p/em" in {path.selector for path in default.paths}
    with Store.open(STORE, readonly=True) as store:
        assert {bool(version.table) for _, _, version in store.versions("seed")} == {True}
        assert {bool(version.table) for _, _, version in store.versions("")} == {False}, "none is kept for nothing"


@in_reactor
async def test_nothing_of_a_script_can_be_read_in_the_store(serve: Serve) -> None:
    site = Site()
    server = serve(site)
    site.page = FIRST.replace("</header>", "<script>var token = 'hush-hush-0815'</script></header>")
    await crawl(Texts, server.url("/?id=0"), **SEED)
    with Store.open(STORE, readonly=True) as store:
        found = [version for _, _, version in store.versions()]
    assert len(found) == PAGES
    assert all(version.table for version in found)
    assert b"script" in zlib.decompress(found[0].table)
    assert b"hush-hush" not in b"".join(zlib.decompress(version.table) for version in found)
    assert "hush-hush" not in repr([version.blocks for version in found])


@in_reactor
async def test_pages_are_compared_under_the_mask(serve: Serve) -> None:
    """A clock in each response hides that a session id makes no difference, until its path is known."""

    def shop(asked: Asked) -> str:
        number, count = int(asked.query.get("id", "0")), sum(server.hits.values())
        links = "".join(
            f'<a href="/?id={(3 * number + step) % 40}&sid={50 * number + step:016x}">n</a>' for step in (1, 2)
        )
        return (
            f"<html><head><title>Shop</title></head><body><h1>{prose(number)}</h1><div>{links}</div><p>It is {count}"
            "</p><i>home</i><b>help</b></body></html>"
        )

    server = serve(shop)
    for _ in range(2):
        await crawl(Links, server.url("/?id=0"), DEDUP_LEARN="close", **SEED)
    (mask,) = masks()
    assert "html/body/p/*" in [path.selector for path in mask.paths]
    assert not {"html/body/h1/*", "html/body/*"} & {path.selector for path in mask.paths}
    (rule, *_) = RuleBook.load("dedup-rules")
    assert "q.sid" in rule.ops
    fetched = server.downloads
    server.reset()
    done = await crawl(Links, server.url("/?id=0"), **SEED)
    assert {item["url"].partition("id=")[2].partition("&")[0] for item in done.items} == {str(n) for n in range(40)}
    assert server.downloads < 0.75 * fetched / 2
    assert not [name for name in done.dedup() if name.startswith("errors")]


# What a store holds


def stored(path: Path, versions: Mapping[str, Sequence[str]], pack: Any = packed_with_table) -> Path:
    """Write versions of pages, an hour and a half apart, into a store."""
    rows = [
        ObservationRow(
            "",
            "news.example",
            f"http://news.example/{page}",
            1_000.0 + 5_400.0 * number,
            200,
            fingerprints=fingerprint_body(html.encode(), "text/html"),
            version=pack(html),
        )
        for page, found in versions.items()
        for number, html in enumerate(found)
    ]
    with Store.open(path) as store:
        store.add(rows)
    return path


def learned(
    path: Path, thresholds: Thresholds | None, before: Mask | None = None
) -> tuple[Mask | None, tuple[str, ...]]:
    """Return the mask that a store gives, and what is said of it."""
    masks = {} if before is None else {"news.example": before}
    with Store.open(path, readonly=True) as store:
        both = learn_rules_and_masks(StoredEvidence(store), known=RuleBook(), masks=masks, thresholds=thresholds)
    (report,) = both.learned.reports
    return both.masks.get("news.example"), tuple(note for note in report.notes if "transient content" in note)


def weather(page: str, *days: str, more: str = "") -> list[str]:
    return [
        f"<html><body><h1>About {page}: {prose(page)}</h1><p>{day}</p><i>a</i><b>b</b><u>{more.format(day)}</u></body></html>"
        for day in days
    ]


MASK = ["html/body/p/*"]
CASES: dict[str, tuple[dict[str, list[str]], dict[str, Any], list[str], list[str]]] = {
    # Of three pages one has the same weather twice.
    "threshold": (
        {"a": weather("a", "sun", "rain"), "b": weather("b", "fog", "snow"), "c": weather("c", "hail", "hail")},
        {"threshold": 0.9},
        MASK,
        [],
    ),
    # Of 14 tokens (the two of html and body, three of each other element) three change.
    "max_marked": ({"a": weather("a", "sun", "rain")}, {"max_marked": 0.1}, MASK, []),
    # One path of seven.
    "max_share": ({"a": weather("a", "sun", "rain")}, {"max_share": 0.1}, MASK, []),
    # <html><body><p> is 15 characters long.
    "max_path": ({"a": weather("a", "sun", "rain")}, {"max_path": 14}, MASK, []),
}


@pytest.mark.parametrize("name", CASES)
def test_each_threshold_counts(tmp_path: Path, name: str) -> None:
    """From a store as from Python: what is found with the document's value is not with another one."""
    pages, other, found, not_found = CASES[name]
    path = stored(tmp_path / "store.sqlite", pages)
    by_url = {f"http://news.example/{page}": versions for page, versions in pages.items()}
    for chosen, expected in (({}, found), (other, not_found)):
        mask, notes = learned(path, Thresholds(**chosen))
        assert [each.selector for each in (mask.paths if mask else ())] == expected, chosen
        of_python = learn_mask(by_url, "seed", **chosen)
        assert of_python.paths == (mask.paths if mask else ())
        assert any("DEDUP_TRANSIENT_MAX_SHARE" in note for note in notes) is (name == "max_share" and bool(chosen))


@pytest.mark.parametrize(
    ("setting", "value", "field"),
    [
        ("DEDUP_TRANSIENT_THRESHOLD", "0.9", "threshold"),
        ("DEDUP_TRANSIENT_MAX_MARKED", 0.1, "max_marked"),
        ("DEDUP_TRANSIENT_MAX_SHARE", 1, "max_share"),
        ("DEDUP_TRANSIENT_MAX_PATH", "14", "max_path"),
    ],
)
def test_each_setting_reaches_the_process_that_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, value: Any, field: str
) -> None:
    settings = DedupSettings.from_crawler_settings(Settings({**SEED, setting: value}))
    expected = replace(Thresholds(), **{field: type(getattr(Thresholds(), field))(value)})
    assert settings.published_thresholds == expected
    command = command_of(settings, Path("rules"))
    assert json.loads(command[command.index("--published-thresholds") + 1]) == asdict(expected)
    asked: list[Any] = []
    monkeypatch.setattr(
        process, "learn_rules_and_masks", lambda *args, **options: asked.append(options["thresholds"]) or 1 / 0
    )
    stored(tmp_path / "store.sqlite", {"a": ["<p>1"]})
    arguments = command[command.index("--parent") + 1 :]
    arguments.insert(arguments.index("--store") + 1, str(tmp_path / "store.sqlite"))
    with pytest.raises(ZeroDivisionError):
        process.main(arguments)
    assert asked == [expected]
    off = DedupSettings.from_crawler_settings(Settings({setting: value}))
    assert off.published_thresholds is None
    assert "--published-thresholds" not in command_of(off, Path("rules"))


def test_versions_that_were_recorded_without_the_setting_say_nothing_and_that_is_told(tmp_path: Path) -> None:
    pages = {"a": weather("a", "sun", "rain"), "b": weather("b", "sun", "rain")}
    path = stored(tmp_path / "store.sqlite", pages, packed_version)
    mask, notes = learned(path, Thresholds())
    assert mask is None
    (note,) = notes
    assert "2 pages seen more than once, and none of them twice while it was recorded" in note
    assert 'DEDUP_TRANSIENT_METHOD = "seed"; crawl again' in note
    default = Mask("news.example", (TransientPath("html/body/p"),))
    assert learned(path, Thresholds(), default)[0] == default, "until there is something to learn from"
    # The older version, which has no table, is left aside.
    mixed = {"c": [*weather("c", "old"), *weather("c", "sun", "rain")]}
    path = stored(
        tmp_path / "mixed.sqlite", mixed, lambda page: (packed_version if ">old<" in page else packed_with_table)(page)
    )
    mask, notes = learned(path, Thresholds(), default)
    assert mask is not None
    assert (mask.mode, shown(mask)) == ("seed", [("html/body/p/*", 4, 4)])
    assert notes == ("transient content: 1 places on its pages",)


def test_a_damaged_table_is_as_none(tmp_path: Path) -> None:
    def damaged(html: str) -> bytes:
        stored = bytearray(packed_with_table(html))
        stored[-3] ^= 1
        return bytes(stored)

    path = stored(tmp_path / "store.sqlite", {"a": weather("a", "sun", "rain")}, damaged)
    mask, notes = learned(path, Thresholds())
    assert mask is None
    assert len(notes) == 1


def test_what_was_learned_before_and_what_the_user_says(tmp_path: Path) -> None:
    path = stored(tmp_path / "store.sqlite", {"a": weather("a", "sun", "rain", more="{}")})
    users = (
        TransientPath("html/body/h1", state="keep"),
        TransientPath("html/body/u/*", kind="undecided", state="keep"),
        TransientPath("html/body/b", state="strip"),
    )
    before = Mask(
        "news.example",
        (*users, TransientPath("html/body/aside/*", changes=4, opportunities=4), TransientPath("html/body/i/*")),
        "seed",
    )
    mask, _ = learned(path, Thresholds(), before)
    assert mask is not None
    # The path that no page has now stays; that of <i> is seen not to change.
    assert {each.selector for each in mask.paths if not each.state} == {"html/body/p/*", "html/body/aside/*"}
    assert set(users) <= set(mask.paths)
    (now,) = weather("a", "sun", more="sun")
    assert "<p></p><i>a</i><b></b><u>sun</u>" in mask.strip(now)
    # What one method has learned is nothing to the other; what the user says is.
    again, _ = learned(path, None, mask)
    assert again is not None
    assert again.mode == "default"
    assert set(users) <= set(again.paths)
    assert not {"html/body/p/*", "html/body/aside/*"} & {each.selector for each in again.paths}
    back, _ = learned(path, Thresholds(), replace(again, paths=(*again.paths, TransientPath("html/body/p"))))
    assert back is not None
    assert {each.selector for each in back.paths if not each.state} == {"html/body/p/*"}


def test_the_file_says_which_method_it_is_of(tmp_path: Path) -> None:
    mask, _ = learned(stored(tmp_path / "store.sqlite", {"a": weather("a", "sun", "rain")}), Thresholds())
    assert mask is not None
    save_mask(tmp_path, mask)
    text = path_of_mask(tmp_path, "news.example").read_text()
    assert 'mode = "seed"' in text
    assert load_masks([tmp_path]) == {"news.example": mask}


# The command


def days(project: Project, server: Server, site: Site, *more: str) -> None:
    for site.page in (FIRST, SECOND):
        done = project.scrapy("crawl", *more, "-a", f"start={server.url('/?id=0')}", "-s", "DEDUP_LEARN=off")
        assert done.returncode == 0, done.stderr


def test_learn_rules_with_the_setting(project: Project, serve: Serve) -> None:
    site = Site()
    server = serve(site)
    spider = (project.folder / "shop/spiders/shop.py").read_text()
    own = spider.replace('name = "shop"', f'name = "own"\n    custom_settings = {SEED}')
    project.write("shop/spiders/own.py", own.replace("class Shop", "class Own"))
    days(project, server, site, "own")
    done = project.scrapy("learn-rules", "--spider", "own")
    assert done.returncode == 0, done.stderr
    assert "body > p::text" in done.stdout
    assert f"{2 * PAGES} of {2 * PAGES}" in done.stdout
    (mask,) = masks(str(project.folder / "dedup-rules"))
    assert (mask.mode, [path.selector for path in mask.paths]) == ("seed", ["html/body/p/*"])
    # A threshold, and the other method, from the same store.
    done = project.scrapy("learn-rules", "--spider", "own", "-s", "DEDUP_TRANSIENT_MAX_SHARE=0.01")
    assert "more than 0.01 of all paths changed" in done.stdout.replace("\n  ", " ")
    assert masks(str(project.folder / "dedup-rules")) == [replace(mask, paths=())]
    assert project.scrapy("learn-rules").returncode == 0
    (mask,) = masks(str(project.folder / "dedup-rules"))
    assert (mask.mode, {path.selector for path in mask.paths if path.is_left_out}) == ("default", {"html/body/p/em"})


def test_learn_rules_tells_what_the_store_lacks_and_what_is_wrong(project: Project, serve: Serve) -> None:
    site = Site()
    days(project, serve(site), site, "shop")
    done = project.scrapy("learn-rules", "-s", "DEDUP_TRANSIENT_METHOD=seed")
    assert done.returncode == 0, done.stderr
    assert f"{PAGES} pages seen more than once, and none of them twice while" in done.stdout
    for setting, problem in (
        ("DEDUP_TRANSIENT_METHOD=sed", 'DEDUP_TRANSIENT_METHOD is \'sed\': it must be "default" or "seed".'),
        (
            "DEDUP_TRANSIENT_THRESHOLD=50",
            "DEDUP_TRANSIENT_THRESHOLD is '50': it must be a number above 0, and 1 at most. 0.5 is one of two.",
        ),
    ):
        done = project.scrapy("learn-rules", "-s", setting)
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].endswith(problem)
