"""Crawls in this process, as a user sees them: rule files go in; fetched URLs, items, stats, log, ledger and rule files come out.

    async def test_a_shop(serve):
        done = await crawl_site(serve, shop, ignore("q.sid"), CONCURRENT_REQUESTS=1)
        assert done.fetched == {"/": 1, ...}
        assert done.stat("discarded/urls") == 15

Tests are coroutines under ``@in_reactor``. Learning, samples, refetches and the report are off unless a test asks for them.
"""

import json
import logging
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any

import pytest_twisted
import scrapy
import tomlkit
from scrapy import signals
from scrapy.crawler import Crawler, CrawlerRunner
from scrapy.http import HtmlResponse
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import ensureDeferred
from twisted.internet.task import deferLater

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.rules import Ignore, Operation, Predicate, Rule, Status
from scrapy_dedup.store import Store

from .server import Server
from .waiting import PATIENCE

#: For a test that is a coroutine and awaits crawls.
in_reactor = pytest_twisted.ensureDeferred

#: Settings of every crawl of the tests; the last one is the plug-in's whole installation.
BASE: dict[str, Any] = {
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "RETRY_TIMES": 1,
    "CONCURRENT_ITEMS": 16,  # Scrapy starts so many tasks for each response, 100 by default: longer than all else takes
    "DOWNLOAD_TIMEOUT": PATIENCE,
    "DEDUP_LEARN": "off",
    "DEDUP_REPORT": "",
    "DEDUP_LEARN_TIMEOUT": PATIENCE,
    "DEDUP_SAMPLE": 0,
    "DEDUP_EXTRA": 0,
    "DEDUP_STARTER": 0,
    "ADDONS": {"scrapy_dedup.Addon": 600},
}
STORE = Path(".scrapy/dedup/store.sqlite")


class Links(scrapy.Spider):
    """Follows every link, and gives an item for each response."""

    name = "links"

    def __init__(self, *start: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = list(start)

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "key": response.meta.get("dedup_key")}
        if isinstance(response, HtmlResponse):
            yield from response.follow_all(css="a")


class Crawl:
    """A crawl that has ended."""

    def __init__(self, crawler: Crawler, items: list[Any]) -> None:
        self.crawler = crawler
        self.items = items

    @property
    def stats(self) -> dict[str, Any]:
        return self.crawler.stats.get_stats()

    @property
    def urls(self) -> list[str]:
        """The URLs of the items, as ``/path?query``, sorted."""
        return sorted(item["url"].partition("//")[2].partition("/")[2].join(("/", "")) for item in self.items)

    @property
    def keys(self) -> dict[str, str | None]:
        return {item["url"]: item["key"] for item in self.items}

    def dedup(self) -> dict[str, Any]:
        """The plug-in's stats without ``dedup/``."""
        return {name.removeprefix("dedup/"): value for name, value in self.stats.items() if name.startswith("dedup/")}

    def stat(self, name: str) -> Any:
        """A stat of the plug-in, named without ``dedup/``; 0 if nothing was counted."""
        return self.stats.get(f"dedup/{name}", 0)

    def faults(self) -> list[str]:
        """The stats of errors in the plug-in."""
        return [name for name in self.dedup() if name.startswith("errors")]


class HeardStats(MemoryStatsCollector):
    """Calls handlers as something is counted."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.handlers: list[tuple[str, Callable[[], object]]] = []

    def inc_value(
        self, key: str, count: int = 1, start: int = 0, spider: Any = None
    ) -> None:  # as scrapy-redis calls it
        super().inc_value(key, count, start)
        for stat, handler in self.handlers:
            if stat == key:
                handler()


def crawler_of(spider: type[scrapy.Spider], **settings: Any) -> Crawler:
    return CrawlerRunner({"STATS_CLASS": HeardStats, **BASE, **settings}).create_crawler(spider)


async def run(crawler: Crawler, *args: Any, **kwargs: Any) -> Crawl:
    """Run a crawler to its end, and let all that it started end. Raises TimeoutError if it never does."""
    from twisted.internet import reactor

    items: list[Any] = []

    def keep(item: Any) -> None:
        items.append(item)

    crawler.signals.connect(keep, signals.item_scraped)
    await deferred_from_coro(crawler.crawl_async(*args, **kwargs)).addTimeout(PATIENCE, reactor)
    return Crawl(crawler, items)


def when_counted(crawler: Crawler, stat: str, handler: Callable[[], object]) -> None:
    """Call *handler* each time a crawl counts something, such as "dedup/learned/swaps", as it uses new rules."""

    def opened() -> None:
        stats: Any = crawler.stats
        stats.handlers.append((stat, handler))

    crawler.signals.connect(opened, signals.spider_opened, weak=False)


def until(happened: Callable[[], object]) -> Any:
    """A Deferred that fires as soon as *happened* returns something true, while all else goes on; AssertionError if it never does."""
    from twisted.internet import reactor

    async def look() -> None:
        end = monotonic() + PATIENCE
        while not happened():
            assert monotonic() < end, "what was waited for has not happened"
            await deferLater(reactor, 0.01)

    return ensureDeferred(look())


#: What a crawl counts when it has learned and uses what it found, when learning has failed, and when other rules are in use.
LEARNED, FAILED, SWAPPED = "dedup/learned/times", "dedup/learned/failed", "dedup/learned/swaps"


def close(crawler: Crawler, reason: str) -> None:
    """Close the spider."""
    engine: Any = crawler.engine
    deferred_from_coro(engine.close_spider_async(reason=reason))


async def crawl(spider: type[scrapy.Spider], *args: Any, **settings: Any) -> Crawl:
    """Run a spider with the add-on; positional arguments are the spider's, and so are those in lower case."""
    own = {name: settings.pop(name) for name in list(settings) if name.islower()}
    return await run(crawler_of(spider, **settings), *args, **own)


async def download(crawler: Crawler, request: scrapy.Request) -> Any:
    """The answer to a request that only downloader middlewares see."""
    assert crawler.engine is not None
    return await crawler.engine.download_async(request)


class Outcome(Crawl):
    """A crawl that has ended, as far as it was of one server."""

    def __init__(self, done: Crawl, server: Server) -> None:
        super().__init__(done.crawler, [each for each in done.items if server.is_of(each["url"])])
        self.server = server
        #: How often each target was fetched in this crawl.
        self.fetched = server.hits

    async def again(
        self, *rules: str, start: Sequence[str] = ("/",), spider: type[scrapy.Spider] = Links, **settings: Any
    ) -> "Outcome":
        """Crawl the same site once more, the server's counts set back; with *rules* in the place of those that are there, if any are given."""
        if rules:
            save_rules(self.server.site, *rules)
        self.server.reset()
        return Outcome(await crawl(spider, *map(self.server.url, start), **settings), self.server)

    @property
    def filtered(self) -> int:
        """Requests that were filtered by rules."""
        return int(self.stat("discarded"))


async def crawl_site(
    serve: Callable[[Any], Server],
    site: Any,
    *rules: str,
    start: Sequence[str] = ("/",),
    spider: type[scrapy.Spider] = Links,
    **settings: Any,
) -> Outcome:
    """Crawl *site* (see tests/server.py) from *start* with *rules* (see :func:`ignore`) in its rule file."""
    server = serve(site)
    save_rules(server.site, *rules)
    return Outcome(await crawl(spider, *map(server.url, start), **settings), server)


async def scenario(
    serve: Callable[[Any], Server],
    site: Any,
    ignored: str = "q.sid",
    *,
    start: Sequence[str] = ("/",),
    spider: type[scrapy.Spider] = Links,
    **settings: Any,
) -> Outcome:
    """Crawl *site* from *start* with a rule of the user that ignores one key; "" for no rule."""
    server = serve(site)
    write_rules(*([rule(f"127.0.0.1:{server.port}", {ignored: Ignore()})] if ignored else []))
    return Outcome(await crawl(spider, *map(server.url, start), **settings), server)


def rule(
    site: str,
    ops: dict[str, Operation],
    match: dict[str, Predicate] | None = None,
    status: Status = Status.MANUAL,
) -> Rule:
    return Rule(site, match or {}, ops, status)


def write_rules(*rules: Rule, directory: str = "dedup-rules") -> None:
    """Write the rule files anew: of sites without a rule none is left."""
    for path in Path(directory).glob("*.toml"):
        path.unlink()
    RuleBook(rules).save(directory)


async def crawl_sites(
    serve: Callable[[Any], Server],
    sites: Mapping[str, Any],
    *rules: str,
    spider: type[scrapy.Spider] = Links,
    **settings: Any,
) -> dict[str, Outcome]:
    """Crawl several sites at once, each with *rules* in its file; return what became of each. Stats are of them all.

    A site may come as a tuple, with rules of its own.
    """
    servers = {}
    for name, given in sites.items():
        site, *own = given if isinstance(given, tuple) else (given,)
        servers[name] = serve(site)
        save_rules(servers[name].site, *rules, *own)
    return await crawl_again(servers, spider=spider, **settings)


async def crawl_again(
    servers: Mapping[str, Server], *, spider: type[scrapy.Spider] = Links, **settings: Any
) -> dict[str, Outcome]:
    """Crawl the sites of *servers* at once, their counts set back."""
    for server in servers.values():
        server.reset()
    done = await crawl(spider, *(server.url("/") for server in servers.values()), **settings)
    return {name: Outcome(done, server) for name, server in servers.items()}


def rule_toml(
    *ops: str, match: Sequence[str] = (), status: str = "manual", evidence: Mapping[str, object] | None = None
) -> str:
    """The text of a rule, as a user writes it or learning does: lines of its operations and conditions.

    >>> print(rule_toml('"q.sid" = "ignore"', match=['"path.0" = "tag"']))
    [[rule]]
    status = "manual"
    [rule.match]
    "path.0" = "tag"
    [rule.ops]
    "q.sid" = "ignore"
    """
    tables = {
        "match": match,
        "ops": ops,
        "evidence": [f"{name} = {json.dumps(value)}" for name, value in (evidence or {}).items()],
    }
    lines = [line for name, given in tables.items() if given for line in (f"[rule.{name}]", *given)]
    return "\n".join(["[[rule]]", f'status = "{status}"', *lines])


def ignore(key: str, status: str = "manual", **evidence: object) -> str:
    """The text of a rule that ignores one key; with *status* "active" it is one that was learned."""
    return rule_toml(f'"{key}" = "ignore"', status=status, evidence=evidence)


def save_rules(site: str, *rules: str, directory: str | Path = "dedup-rules") -> Path:
    """Write the rule file of a site anew, and return its path; without *rules* it is removed."""
    path = Path(directory, f"{site.replace(':', '_')}.toml")
    if rules:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(['format = "dedup-rules/1"', f'site = "{site}"', *rules, ""]), encoding="utf-8")
    else:
        path.unlink(missing_ok=True)
    return path


def book_of(*rules: str, site: str = "example.com", groups: Any = None) -> RuleBook:
    """The rules of one site, as they are loaded from its file."""
    folder = save_rules(site, *rules, directory="book").parent
    return RuleBook.load(folder, groups=groups, missing_ok=not rules)


def save_mask(site: str, texts: Mapping[str, str], *more: str, directory: str | Path = "dedup-rules") -> Path:
    """Write the mask file of a site, and return its path: what is transient at which place (CSS), with *more* lines for each."""
    path = Path(directory, f"{site.replace(':', '_')}.mask.toml")
    places = [
        "\n".join(["[[place]]", f'css = "{css}"', f'changes = "{text}"', 'seen = "9 of 9 changes, 9 pages"', *more])
        for css, text in texts.items()
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    head = f'format = "dedup-mask/3"\nsite = "{site}"'
    path.write_text("\n\n".join([head, *places, ""]), encoding="utf-8")
    return path


def rules_of(site: str, directory: str | Path = "dedup-rules") -> list[dict[str, Any]]:
    """The rules in the file of a site, as the tables that they are there."""
    path = Path(directory, f"{site.replace(':', '_')}.toml")
    return list(tomlkit.parse(path.read_text(encoding="utf-8")).unwrap().get("rule", [])) if path.exists() else []


def mask_of(site: str, directory: str | Path = "dedup-rules") -> dict[str, Any]:
    """The mask file of a site, as it was read; empty where there is none."""
    path = Path(directory, f"{site.replace(':', '_')}.mask.toml")
    return tomlkit.parse(path.read_text(encoding="utf-8")).unwrap() if path.exists() else {}


def statuses(site: str, directory: str | Path = "dedup-rules") -> dict[str, str]:
    """The status of the rule of each key, as the file of a site says."""
    return {key: rule.get("status", "manual") for rule in rules_of(site, directory) for key in rule["ops"]}


def without(name: str, targets: Iterable[str]) -> Counter[str]:
    """Count targets that are the same without a parameter.

    >>> without("sid", ["/p?id=1&sid=2", "/p?sid=3&id=1", "/?sid=1"])
    Counter({'/p?id=1': 2, '/': 1})
    """
    return Counter(re.sub(rf"(?<=[?&]){name}=[^&]*&?", "", target).rstrip("?&") for target in targets)


def ledger(state: str | None = None, store: str | Path = STORE, **chosen: Any) -> list[Any]:
    """The rows of the ledger: of filtered requests in a *state*, or in any."""
    with Store.open(store, readonly=True) as opened:
        return [row for row in opened.discards(state=None, **chosen) if state in (None, row.state.value)]


def spot_checks(site: str = "", store: Path = STORE) -> Counter[str]:
    """What the store has counted of spot checks and probes, of all rules and crawls of a site, or of all."""
    counted = Counter[str]()
    with Store.open(store, readonly=True) as opened:
        for row in opened.checks():
            if site not in ("", row.site):
                continue
            counted.update({name: value for name, value in row._asdict().items() if isinstance(value, int)})
    return counted


def observed(scope: str = "", store: str | Path = STORE) -> dict[str, Observation]:
    """What the store holds, by URL."""
    with Store.open(store, readonly=True) as opened:
        return {observation.url: observation for observation in opened.observations(scope)}


def responses(store: str | Path = STORE) -> dict[str, int]:
    """How many responses the store knows of each site."""
    with Store.open(store, readonly=True) as opened:
        return {each.site: each.responses for each in opened.sites()}


def let_days_pass(days: float, store: Path = STORE) -> None:
    """Let all that a store knows be older by so many days."""
    with closing(sqlite3.connect(store)) as connection, connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            if "time" in {column[1] for column in connection.execute(f"PRAGMA table_info({table})")}:
                connection.execute(f"UPDATE {table} SET time = time - ?", (days * 86_400,))


def discarded(**chosen: Any) -> list[Any]:
    """The ledger, as ``ledger`` in older tests."""
    chosen.setdefault("state", None)
    with Store.open(STORE, readonly=True) as store:
        return list(store.discards(**chosen))


def messages(caplog: Any, level: int = logging.WARNING, logger: str = "scrapy_dedup") -> list[str]:
    """What was logged at *level* or above by one of *logger*'s family."""
    return [
        record.getMessage() for record in caplog.records if record.levelno >= level and record.name.startswith(logger)
    ]
