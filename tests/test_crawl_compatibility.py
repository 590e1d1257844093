"""Beside other parts of Scrapy and other plug-ins: nothing is lost, nothing breaks, and duplicates go.

What else docs/compatibility.rst names stands elsewhere: jobs in test_crawl_jobs.py, one worker of scrapy-redis in
test_crawl_other_filters.py, several in test_crawl_fleet.py, types of items in test_crawl_pipeline.py, folders that cannot be written in
test_crawl_learning.py and test_crawl_learning_process.py, Scrapy's reactors in test_crawl_robust.py.
"""

import io
import json
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pydantic
import pytest
import scrapy
from itemadapter import ItemAdapter

from .conftest import Project, Serve
from .crawling import Links, crawl, crawl_site, ignore, in_reactor, observed, save_mask, save_rules
from .server import Answer, Asked, page, prose

IDS = 5
SID = ignore("q.sid")
OURS = {"scrapy_dedup.Addon": 600}


def shop(asked: Asked) -> Any:
    """Every page is linked under three sessions, and links to the start page and to itself under another one."""
    if asked.path == "/":
        return page("start", *(f"/p?id={number}&sid={sid}" for number in range(IDS) for sid in "abc"))
    number = asked.query["id"]
    return page(prose(number), "/", f"/p?id={number}&sid=again")


def ids(urls: Any) -> Counter[str]:
    return Counter(url.partition("id=")[2].partition("&")[0] for url in urls if "id=" in url)


EACH_ONCE = {str(number): 1 for number in range(IDS)}


@in_reactor
async def test_autothrottle(serve: Serve) -> None:
    """Requests of the plug-in's own are throttled as all are."""
    delays: list[float] = []
    throttled = {
        "AUTOTHROTTLE_ENABLED": True,
        "AUTOTHROTTLE_START_DELAY": 0.01,
        "AUTOTHROTTLE_MAX_DELAY": 0.02,
    }

    class Watches(Links):
        def parse(self, response: Any) -> Any:
            (slot,) = self.crawler.engine.downloader.slots.values()  # type: ignore[union-attr]
            delays.append(slot.delay)
            yield from super().parse(response)

    own = {"DEDUP_SAMPLE": 0.5, "DEDUP_EXTRA": 0.5, "DEDUP_REVISITS": 2}
    done = await crawl_site(serve, shop, SID, spider=Watches, **own, **throttled)
    assert ids(done.urls) == EACH_ONCE
    assert done.stat("discarded") > IDS
    assert done.stat("samples") > 0
    assert all(0 < delay <= 0.02 for delay in delays)
    assert not done.faults()


@attrs.define
class Attrs:
    url: str
    text: str


class Model(pydantic.BaseModel):
    url: str
    text: str


class FrozenModel(Model):
    model_config = pydantic.ConfigDict(frozen=True)


class Media(Links):
    """Gives items of several types, with the files and images that a page names: under another session one is another one."""

    def parse(self, response: Any) -> Any:
        if response.url.endswith("/"):
            names = response.css("a::attr(href)").re(r"id=(\d+)")
            for kind in ("file", "image"):
                targets = [f"/{kind}.png?id={name}&sid={sid}" for name in names for sid in "ab"]
                yield {"url": response.url, f"{kind}_urls": [response.urljoin(target) for target in targets]}
            yield from response.follow_all(css="a")
            return
        for make in (Attrs, Model, FrozenModel):
            yield make(url=response.url, text=" ".join(response.css("p::text").getall()))


@in_reactor
async def test_items_and_media_are_as_without_the_add_on(serve: Serve) -> None:
    """But for the fields that are named, in which transient content is gone."""
    new_image = pytest.importorskip("PIL.Image").new
    number = iter(range(1000))

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/p?id={number}" for number in range(IDS)))
        if asked.path == "/p":
            return (
                f"<html><body><p>{prose(asked.query['id'])}</p><p class='online'>{next(number)} here</p></body></html>"
            )
        shade = int(asked.query["id"]) * 2 + (asked.query["sid"] == "b")
        file = io.BytesIO(b"%d" % shade)
        if asked.path == "/image.png":
            new_image("RGB", (8, 8), (shade * 20, 0, 0)).save(file, "PNG")
        return Answer(file.getvalue(), content_type="image/png")

    server = serve(site)
    save_rules(server.site, SID)
    save_mask(server.site, {"body > p.online::text": "{…}"})
    pipelines = {"scrapy.pipelines.files.FilesPipeline": 1, "scrapy.pipelines.images.ImagesPipeline": 2}
    feeds = {"items.jsonl": {"format": "jsonlines", "overwrite": True}}
    stored, fetched, texts = [], [], []
    for name, addons in (("without", {}), ("with", OURS)):
        server.reset()
        more = {"ITEM_PIPELINES": pipelines, "FILES_STORE": f"{name}/files", "IMAGES_STORE": f"{name}/images"}
        done = await crawl(
            Media, server.url("/"), ADDONS=addons, FEEDS=feeds, DEDUP_CONTENT_FIELDS={"text": "text"}, **more
        )
        assert "log_count/ERROR" not in done.stats
        assert Counter(type(item) for item in done.items) == {
            dict: 2,
            **dict.fromkeys((Attrs, Model, FrozenModel), IDS),
        }
        lines = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
        assert sorted(lines, key=str) == sorted((ItemAdapter(item).asdict() for item in done.items), key=str)
        texts.append({(line["url"], line["text"]) for line in lines if "text" in line})
        stored.append({path.relative_to(name): path.read_bytes() for path in Path(name).rglob("*") if path.is_file()})
        fetched.append(Counter(target for target in server.hits.elements() if ".png" in target))
    assert stored[0] == stored[1]
    assert fetched[0] == fetched[1]
    assert len(stored[0]) == fetched[0].total() == 4 * IDS
    assert all(text.endswith(" here") for _, text in texts[0])
    assert texts[1] == {(url, text.rpartition(" ")[0].rpartition(" ")[0] + " ") for url, text in texts[0]}


@in_reactor
async def test_beside_duplicate_url_discarder(serve: Serve) -> None:
    """Its fingerprinter says what the filter that is wrapped goes by: what either knows is filtered."""
    pytest.importorskip("duplicate_url_discarder")

    def site(asked: Asked) -> Any:
        if asked.path != "/":
            return page(prose(asked.query["id"]), "/")
        more = ("", "&sid=1", "&sid=2", "&utm_source=x", "&utm_source=y", "&sid=3&utm_source=z")
        return page("start", *(f"/p?id={number}{each}" for number in range(IDS) for each in more))

    Path("dud.json").write_text(
        json.dumps([{"args": ["utm_source"], "order": 1, "processor": "queryRemoval", "urlPattern": {"include": []}}])
    )
    theirs: dict[str, Any] = {"ADDONS": {"duplicate_url_discarder.Addon": 500}, "DUD_LOAD_RULE_PATHS": ["dud.json"]}
    alone = await crawl_site(serve, site, **theirs)
    assert ids(alone.urls) == dict.fromkeys(EACH_ONCE, 4)
    done = await alone.again(SID, **theirs | {"ADDONS": {**theirs["ADDONS"], **OURS}})
    assert ids(done.urls) == EACH_ONCE
    assert "log_count/ERROR" not in done.stats


# Folders and processes


@pytest.mark.parametrize(
    "read_only",
    [
        False,
        pytest.param(
            True,
            marks=pytest.mark.skipif(
                not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
            ),
        ),
    ],
)
def test_a_project_in_which_nothing_can_be_written(
    serve: Serve, project: Project, tmp_path: Path, read_only: bool
) -> None:
    """Neither store nor rules: the crawl is as it would be, and says so in few lines."""
    server = serve(shop)
    save_rules(server.site, SID, directory=project.folder / "dedup-rules")
    project.write("file", "")
    items = tmp_path / "items.json"
    places = {"DEDUP_STORE": f"{project.folder}/file/store.sqlite", "DEDUP_DIR": f"{project.folder}/file/rules"}
    given = {"DEDUP_RULES": "dedup-rules", "DEDUP_SAMPLE": 0, **({} if read_only else places)}
    options = [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
    folders = [project.folder, *(path for path in project.folder.rglob("*") if path.is_dir())] if read_only else []
    for folder in folders:
        folder.chmod(0o555)
    try:
        done = project.scrapy("crawl", "shop", "-a", f"start={server.url('/')}", "-o", str(items), *options)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert done.returncode == 0
    assert set(ids(item["url"] for item in json.loads(items.read_text()))) == set(EACH_ONCE)
    assert "Traceback" not in done.stderr, done.stderr
    assert 1 <= sum(" WARNING: " in line or " ERROR: " in line for line in done.stderr.splitlines()) <= 3, done.stderr
    assert not (project.folder / ".scrapy" / "dedup").exists()


def test_processes_on_one_store(project: Project, serve: Serve) -> None:
    """Crawls of one project at the same time: all that they see is there, and the rules are whole."""

    def large(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/p?id={number}&sid={sid}" for number in range(20) for sid in "abc"))
        return page(prose(asked.query["id"]))

    server = serve(large)
    starts = [server.url(f"/?crawl={number}") for number in range(3)]
    options = ("-s", "DEDUP_LEARN=close", "-s", "DEDUP_SAMPLE=0")
    with ThreadPoolExecutor(len(starts)) as pool:
        done = list(pool.map(lambda start: project.scrapy("crawl", "shop", "-a", f"start={start}", *options), starts))
    for each in done:
        assert each.returncode == 0
        assert " WARNING: " not in each.stderr, each.stderr
        assert " ERROR: " not in each.stderr, each.stderr
    rows = observed(store=project.folder / ".scrapy" / "dedup" / "store.sqlite")
    assert rows.keys() >= {*starts, *(server.url(target) for target in server.hits)}
    assert list((project.folder / "dedup-rules").glob("*.toml")), "something was learned"
    assert project.scrapy("dedup", "check").returncode == 0


class OldStyle:
    """A spider middleware as they were before Scrapy 2.13."""

    def process_start_requests(self, start_requests: Any, spider: Any) -> Any:
        yield from start_requests

    def process_spider_output(self, response: Any, result: Any, spider: Any) -> Any:
        yield from list(result)


@pytest.mark.skipif(scrapy.version_info[:2] >= (2, 16), reason="Scrapy 2.16 has no such spider middlewares any more")
@pytest.mark.filterwarnings("ignore::scrapy.exceptions.ScrapyDeprecationWarning")
@pytest.mark.parametrize("number", [10, 500])
@in_reactor
async def test_synchronous_spider_middlewares(serve: Serve, number: int, caplog: pytest.LogCaptureFixture) -> None:
    class Old(Links):
        def start_requests(self) -> Any:
            for url in self.start_urls:
                yield scrapy.Request(url, dont_filter=True)

    done = await crawl_site(serve, shop, SID, spider=Old, SPIDER_MIDDLEWARES={OldStyle: number})
    assert ids(done.urls) == EACH_ONCE
    assert done.stat("discarded") > IDS
    assert "downgraded" not in caplog.text
