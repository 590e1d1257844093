"""Beside other parts of Scrapy and other plug-ins: nothing is lost, nothing breaks, and duplicates go.

What else docs/compatibility.rst names stands elsewhere: jobs in test_crawl_jobs.py, one worker of scrapy-redis in
test_crawl_redis.py, several in test_crawl_fleet.py, types of items in test_crawl_pipeline.py, folders that cannot be written in test_crawl_live.py and
test_crawl_learner.py, Scrapy's reactors in test_crawl_robust.py.
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

from scrapy_dedup.masks.model import Mask, TransientPath
from scrapy_dedup.rules import Ignore
from scrapy_dedup.store.store import Store

from .conftest import Project, Serve
from .crawling import Links, crawl, in_reactor, rule, write_rules
from .mask_files import save_mask
from .server import Answer, Asked, Server, page, prose
from .servers import RedisServer
from .waiting import PATIENCE

IDS = 6


def shop(asked: Asked) -> Any:
    """Every page is linked under three sessions, and links to the start page and to itself under another one."""
    if asked.path == "/":
        return page("start", *(f"/p?id={number}&sid={sid}" for number in range(IDS) for sid in "abc"))
    number = asked.query["id"]
    return page(prose(number), "/", f"/p?id={number}&sid=again")


def sids(server: Server) -> Any:
    return rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()})


def ids(urls: Any) -> Counter[str]:
    return Counter(url.partition("id=")[2].partition("&")[0] for url in urls if "id=" in url)


# scrapy-redis


@pytest.mark.redis
def test_two_workers_of_scrapy_redis(project: Project, serve: Serve, redis_server: RedisServer) -> None:
    """What one worker has fetched the other one does not, and what one has queued the other may fetch."""
    pytest.importorskip("scrapy_redis")
    server = serve(shop)
    write_rules(sids(server), directory=str(project.folder / "dedup-rules"))
    more = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_PERSIST": True,
        "REDIS_URL": redis_server.url,
        "DEDUP_LEARN": "off",
        "DEDUP_SAMPLE": 0,
        "DEDUP_EXTRA": 0,
        "DEDUP_FLEET": PATIENCE,  # on a busy machine one is silent for long
        "CONCURRENT_REQUESTS": 1,
    }
    options = [option for name, value in more.items() for option in ("-s", f"{name}={value}")]
    arguments = ["crawl", "shop", "-a", f"start={server.url('/')}", *options]
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda name: project.scrapy(*arguments, "-o", name), ["a.json", "b.json"]))
    for worker in done:
        assert worker.returncode == 0
        assert "Traceback" not in worker.stderr, worker.stderr
        assert "dedup/errors" not in worker.stderr
    items = [json.loads((project.folder / name).read_text() or "[]") for name in ("a.json", "b.json")]
    found = ids(item["url"] for each in items for item in each)
    assert found == {str(number): 1 for number in range(IDS)}, "nothing is lost, nothing is fetched twice"
    assert all(number == 1 for target, number in server.hits.items() if target != "/"), "they share Redis' filter"
    with pytest.importorskip("redis").Redis.from_url(redis_server.url) as client:
        assert not client.hlen("shop:requests:dedup:workers"), "all have left"


# Extensions, middlewares and commands of Scrapy


@in_reactor
async def test_autothrottle(serve: Serve) -> None:
    """Requests of the plug-in's own are throttled as all are."""
    delays: list[float] = []

    class Watches(Links):
        custom_settings = {
            "AUTOTHROTTLE_ENABLED": True,
            "AUTOTHROTTLE_START_DELAY": 0.01,
            "AUTOTHROTTLE_MAX_DELAY": 0.02,
        }

        def parse(self, response: Any) -> Any:
            (slot,) = self.crawler.engine.downloader.slots.values()  # type: ignore[union-attr]
            delays.append(slot.delay)
            yield from super().parse(response)

    server = serve(shop)
    write_rules(sids(server))
    done = await crawl(Watches, server.url("/"), DEDUP_SAMPLE=0.5, DEDUP_EXTRA=0.5, DEDUP_REVISITS=2)
    assert ids(item["url"] for item in done.items) == {str(number): 1 for number in range(IDS)}
    assert done.stats["dedup/discarded"] > IDS
    assert done.stats["dedup/samples"]
    assert delays
    assert all(0 < delay <= 0.02 for delay in delays)
    assert not [name for name in done.dedup() if name.startswith("errors")]


def test_bench(project: Project) -> None:
    before = {path for path in project.folder.rglob("*") if "__pycache__" not in path.parts}
    done = project.scrapy("bench", "-s", "CLOSESPIDER_TIMEOUT=1")
    assert done.returncode == 0
    assert "Crawled" in done.stderr
    assert "Traceback" not in done.stderr
    assert {path for path in project.folder.rglob("*") if "__pycache__" not in path.parts} == before


@attrs.define
class Attrs:
    url: str
    text: str


class Model(pydantic.BaseModel):
    url: str
    text: str


class FrozenModel(Model):
    model_config = pydantic.ConfigDict(frozen=True)


@pytest.mark.parametrize("make", [Attrs, Model, FrozenModel], ids=lambda make: make.__name__)
@in_reactor
async def test_items_of_other_packages_are_exported_as_they_are(serve: Serve, make: Any, tmp_path: Path) -> None:
    class Pages(Links):
        def parse(self, response: Any) -> Any:
            if response.url.endswith("/"):
                yield from response.follow_all(css="a")
            else:
                yield make(url=response.url, text=" ".join(response.css("p::text").getall()))

    number = iter(range(1000))

    def site(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/p?id={number}" for number in range(IDS)))
        return f"<html><body><p>{prose(asked.query['id'])}</p><p class='online'>{next(number)} here</p></body></html>"

    server = serve(site)
    save_mask("dedup-rules", Mask(f"127.0.0.1:{server.port}", (TransientPath("html/body/p.online"),)))
    fields = {"DEDUP_CONTENT_FIELDS": {"text": "text"}}
    feeds = {"items.jsonl": {"format": "jsonlines", "overwrite": True}}
    exported = []
    for addons in ({}, {"scrapy_dedup.Addon": 600}):
        done = await crawl(Pages, server.url("/"), ADDONS=addons, FEEDS=feeds, **fields)
        assert {type(item) for item in done.items} == {make}
        lines = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
        assert sorted(lines, key=str) == sorted((ItemAdapter(item).asdict() for item in done.items), key=str)
        exported.append({line["url"]: line["text"] for line in lines})
    plain, stripped = exported
    assert all(text.endswith(" here") for text in plain.values())
    assert stripped == {url: text.rpartition(" ")[0].rpartition(" ")[0] + " " for url, text in plain.items()}


def picture(number: int) -> bytes:
    image = pytest.importorskip("PIL.Image").new("RGB", (8, 8), (number * 20, 0, 0))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize(("kind", "field"), [("files.FilesPipeline", "file"), ("images.ImagesPipeline", "image")])
@in_reactor
async def test_media_are_stored_as_without_the_add_on(serve: Serve, kind: str, field: str) -> None:
    if field == "image":
        pytest.importorskip("PIL")

    class Media(Links):
        def parse(self, response: Any) -> Any:
            names = response.css("a::attr(href)").re(r"id=(\d+)")
            # Two pages name a picture each: under another session it is another one.
            yield {f"{field}_urls": [response.urljoin(f"/m.png?id={name}&sid={sid}") for name in names for sid in "ab"]}
            yield from response.follow_all(css="a")

    def site(asked: Asked) -> Any:
        if asked.path == "/m.png":
            number = int(asked.query["id"]) * 2 + (asked.query["sid"] == "b")
            return Answer(picture(number) if field == "image" else b"%d" % number, content_type="image/png")
        return shop(asked)

    server = serve(site)
    write_rules(sids(server))
    stored, fetched = [], []
    for name, addons in (("without", {}), ("with", {"scrapy_dedup.Addon": 600})):
        server.reset()
        more = {"ITEM_PIPELINES": {f"scrapy.pipelines.{kind}": 1}, f"{field.upper()}S_STORE": name, "ADDONS": addons}
        done = await crawl(Media, server.url("/"), **more)
        assert "log_count/ERROR" not in done.stats
        stored.append({path.relative_to(name): path.read_bytes() for path in Path(name).rglob("*") if path.is_file()})
        fetched.append(Counter({url: number for url, number in server.hits.items() if url.startswith("/m.png")}))
    assert len(stored[0]) == 2 * IDS
    assert stored[0] == stored[1]
    assert fetched[0] == fetched[1] == {f"/m.png?id={number}&sid={sid}": 1 for number in range(IDS) for sid in "ab"}


@in_reactor
async def test_beside_duplicate_url_discarder(serve: Serve) -> None:
    """Its fingerprinter says what the filter that is wrapped goes by: what either knows is filtered."""
    pytest.importorskip("duplicate_url_discarder")

    def site(asked: Asked) -> Any:
        if asked.path != "/":
            return page(prose(asked.query["id"]), "/")
        more = ("", "&sid=1", "&sid=2", "&utm_source=x", "&utm_source=y", "&sid=3&utm_source=z")
        return page("start", *(f"/p?id={number}{each}" for number in range(IDS) for each in more))

    server = serve(site)
    write_rules(sids(server))
    Path("dud.json").write_text(
        json.dumps([{"args": ["utm_source"], "order": 1, "processor": "queryRemoval", "urlPattern": {"include": []}}])
    )
    theirs, ours = {"duplicate_url_discarder.Addon": 500}, {"scrapy_dedup.Addon": 600}
    pages = []
    for addons in ({}, theirs, ours, {**theirs, **ours}):
        done = await crawl(Links, server.url("/"), ADDONS=addons, DUD_LOAD_RULE_PATHS=["dud.json"])
        found = ids(item["url"] for item in done.items)
        assert set(found) == {str(number) for number in range(IDS)}
        assert "log_count/ERROR" not in done.stats
        pages.append(sum(found.values()) / IDS)
    assert pages == [6, 4, 4, 1]


# Folders and processes


def test_a_project_in_which_nothing_can_be_written(serve: Serve, project: Project) -> None:
    """Neither store nor rules: the crawl is as it would be, with the rules that are there, and says so in few lines."""
    server = serve(shop)
    project.write("file", "")
    write_rules(sids(server), directory=str(project.folder / "dedup-rules"))
    places = [f"DEDUP_STORE={project.folder}/file/store.sqlite", f"DEDUP_DIR={project.folder}/file/rules"]
    options = ["-s", places[0], "-s", places[1], "-s", "DEDUP_RULES=dedup-rules", "-s", "DEDUP_SAMPLE=0"]
    done = project.scrapy("crawl", "shop", "-a", f"start={server.url('/')}", "-o", "items.json", *options)
    _check_unwritten(done, json.loads((project.folder / "items.json").read_text()))
    assert not (project.folder / ".scrapy" / "dedup").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_project_that_is_read_only(serve: Serve, project: Project, tmp_path: Path) -> None:
    server = serve(shop)
    items = tmp_path / "items.json"
    folders = [project.folder, *(path for path in project.folder.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        done = project.scrapy("crawl", "shop", "-a", f"start={server.url('/')}", "-o", str(items))
    finally:
        for folder in folders:
            folder.chmod(0o755)
    _check_unwritten(done, json.loads(items.read_text()))


def _check_unwritten(done: Any, items: list[Any]) -> None:
    assert done.returncode == 0
    assert set(ids(item["url"] for item in items)) == {str(number) for number in range(IDS)}
    assert "Traceback" not in done.stderr, done.stderr
    told = [line for line in done.stderr.splitlines() if " WARNING: " in line or " ERROR: " in line]
    assert 1 <= len(told) <= 3, told


def test_four_processes_on_one_store(project: Project, serve: Serve) -> None:
    """Four crawls of one project at the same time: all that they see is there, and the rules are whole."""

    def large(asked: Asked) -> Any:
        if asked.path == "/":
            return page("start", *(f"/p?id={number}&sid={sid}" for number in range(20) for sid in "abc"))
        return page(prose(asked.query["id"]))

    server = serve(large)
    starts = [server.url(f"/?crawl={number}") for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        done = list(
            pool.map(
                lambda start: project.scrapy(
                    *("crawl", "shop", "-a", f"start={start}", "-s", "DEDUP_LEARN=close", "-s", "DEDUP_SAMPLE=0")
                ),
                starts,
            )
        )
    for each in done:
        assert each.returncode == 0
        assert "locked" not in each.stderr
        assert " WARNING: " not in each.stderr, each.stderr
        assert " ERROR: " not in each.stderr, each.stderr
    store = project.folder / ".scrapy" / "dedup" / "store.sqlite"
    with Store.open(store, readonly=True) as opened:
        rows = Counter(observation.url for observation in opened.observations())
    assert rows.keys() >= {*starts, *(server.url(target) for target in server.hits)}
    files = list((project.folder / "dedup-rules").glob("*.toml"))
    assert files, "something was learned"
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

    server = serve(shop)
    write_rules(sids(server))
    done = await crawl(Old, server.url("/"), SPIDER_MIDDLEWARES={OldStyle: number})
    assert ids(item["url"] for item in done.items) == {str(number): 1 for number in range(IDS)}
    assert done.stats["dedup/discarded"] > IDS
    assert "downgraded" not in caplog.text
