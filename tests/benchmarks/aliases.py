"""Aliases of generated forums: how many are found and how many of them are right, and what a crawl saves.

    python -m tests.benchmarks.aliases [--seeds N] [--threads N] [--no-crawl] [--quiet] [--json] [--check]

For each style of URLs: sightings and kinds from all pages of a forum, with precision and recall against
its truth; then three real crawls of all links: plain Scrapy, the first with the add-on (which learns
when it closes), and the next. The page that a URL leads to is known, so a page that a crawl never
fetched is counted as lost. What is crawled carries a clock, a counter, a token and rotating teasers, unless it is to
be quiet.
"""

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.learning.aliases.anchors import anchors_of
from scrapy_dedup.learning.aliases.fetched import Fetched
from scrapy_dedup.learning.aliases.kinds import alias_rules, proven_aliases
from scrapy_dedup.rules.alias_kinds import candidates
from scrapy_dedup.store.rows import SightingRow
from scrapy_dedup.store.store import Store
from scrapy_dedup.urls import values_of
from scrapy_dedup.urls.namings import tokens_in

from ..server import Answer, Asked, Server
from .command import QUIET, Arguments, Command, flag, option, scratch
from .crawling.noise import usual
from .crawling.project import PLUGIN_SETTINGS, Project
from .scoring.checks import Check, print_table
from .sites.forum import STYLES, Forum, crawled, links, text

BASE = "http://forum.test"
MOST_LEFT = 0.65
"""Aim: downloads of the next crawl by those of plain Scrapy; a forum has about 40 % of distinct pages."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What is found on the pages of one forum."""

    style: str
    seed: int
    urls: int
    pages: int
    sightings: int
    kinds: int
    aliases: int
    precision: float
    recall: float
    """Share of the posts' URLs that are known to be the page of their post."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Crawled:
    """Downloads of three real crawls of one forum, and the pages that each lost."""

    style: str
    pages: int
    plain: int
    cold: int
    warm: int
    lost_cold: int
    lost_warm: int
    by_aliases: int
    """URLs that the next crawl discarded as aliases."""
    wrong: int
    """Those that were taken for another page than theirs."""


def sightings_of(url: str, html: str) -> list[SightingRow]:
    """What the observer records of a page."""
    anchors = anchors_of(html.encode())
    rows = []
    for target in links(html):
        link = BASE + target
        if not anchors.keys().isdisjoint(tokens_in(link)):
            bare, _, fragment = link.partition("#")
            for naming, prefix in candidates(values_of(bare), fragment, anchors):
                rows.append(
                    SightingRow("", "forum.test", url, link, naming.key, 0.0, naming.token, naming.lead, prefix)
                )
    return rows


def learn(style: str, seed: int, threads: int) -> Learned:
    """Learn from all pages of a forum."""
    forum = Forum(style, seed=seed, threads=threads)
    found = crawled(forum, BASE)
    fetched = Fetched([Observation(url, repr(page), words=90) for url, (page, _) in found.items()])
    rows = [row for url, (_, html) in found.items() for row in sightings_of(url, html)]
    book = RuleBook()
    start = time.process_time()
    rules = [rule for rule in alias_rules("forum.test", rows, fetched, book.canonical_key) if rule.status.acts]
    seconds = time.process_time() - start
    aliases = proven_aliases(rules, rows, book.canonical_key)
    right = {
        link
        for link, page in aliases.items()
        if forum.page_of(link.removeprefix(BASE)) == forum.page_of(page.removeprefix(BASE))
    }
    posts = {book.canonical_key(BASE + forum.post_url(post)) for post in forum.posts}
    return Learned(
        style,
        seed,
        len(found),
        len(forum.pages()),
        len(rows),
        len(rules),
        len(aliases),
        len(right) / len(aliases) if aliases else 1.0,
        len(right & posts) / len(posts),
        seconds,
    )


def crawl(style: str, threads: int, *, quiet: bool = False) -> Crawled:
    """Crawl a forum three times."""
    forum = Forum(style, threads=threads)
    noise = usual(quiet=quiet)

    def answer(asked: Asked) -> Answer:
        html = forum.html(asked.target)
        return Answer("", status=404) if html is None else Answer(noise.on_text(html, asked.target))

    with scratch() as folder, Server({"*": answer}) as server:
        plan = folder / "plan.json"
        plan.write_text(json.dumps({"callback": "follow", "start": [server.url("/")]}), encoding="utf-8")
        stock = Project(folder / "stock", {"LOG_LEVEL": "WARNING"})
        ours = Project(folder / "ours", {**PLUGIN_SETTINGS, "LOG_LEVEL": "WARNING"})
        downloads, lost = [], []
        for project in (stock, ours, ours):
            server.reset()
            project.crawl("speed", plan=str(plan))
            downloads.append(server.downloads)
            lost.append(len(forum.pages() - {forum.page_of(target) for target in server.hits}))
        kinds = {rule.id for rule in RuleBook.load(ours.folder / "dedup-rules", missing_ok=True) if rule.is_alias}
        with Store.open(ours.folder / ".scrapy/dedup/store.sqlite", readonly=True) as store:
            rows = [row for row in store.discards(state=None) if row.rule in kinds]
        base = server.url("")
        pairs = [(row.url.removeprefix(base.rstrip("/")), row.taken_for.removeprefix(base.rstrip("/"))) for row in rows]
    wrong = sum(forum.page_of(url) != forum.page_of(other) for url, other in pairs)
    return Crawled(style, len(forum.pages()), *downloads, *lost[1:], len(pairs), wrong)


def pass_us() -> float:
    """Microseconds of the pass over a page of 50 kB with 25 posts."""
    posts = "".join(
        f'<div class="post" id="msg{n}"><h5><a href="/index.php?topic=41.msg{n}#msg{n}">Re</a></h5>{text(n, 330)}</div>'
        for n in range(25)
    )
    body = posts.encode()[:50_000]
    times = []
    for _ in range(200):
        start = time.perf_counter()
        anchors_of(body)
        times.append(time.perf_counter() - start)
    return median(times) * 1e6


def measured(args: Arguments) -> dict[str, Any]:
    """Learn, crawl and look into pages."""
    found = [learn(style, seed, args.threads) for style in STYLES for seed in range(1, args.seeds + 1)]
    crawls = [] if args.no_crawl else [crawl(style, args.threads, quiet=args.quiet) for style in STYLES]
    return {"learned": found, "crawled": crawls, "pass_us": pass_us()}


def checks(found: Mapping[str, Any]) -> list[Check]:
    """The figures that ``--check`` looks at."""
    made = [
        Check("precision of aliases", min(each.precision for each in found["learned"]), least=1.0),
        Check("recall of posts' URLs", min(each.recall for each in found["learned"]), least=0.98),
        Check("pass over 50 kB, microseconds", found["pass_us"], most=100),
    ]
    for each in found["crawled"]:
        made += [
            Check(f"{each.style}: pages lost", each.lost_cold + each.lost_warm, most=0),
            Check(f"{each.style}: discards taken for another page", each.wrong, most=0),
            Check(f"{each.style}: downloads of the next crawl", each.warm / each.plain, most=MOST_LEFT),
        ]
    return made


def show(found: Mapping[str, Any]) -> None:
    """Print a table of what was learned, and of the crawls."""
    for rows in filter(None, (found["learned"], found["crawled"])):
        names = [name.replace("_", " ") for name in asdict(rows[0])]
        print_table("", names, [[*asdict(each).values()] for each in rows])
    print(f"pass over a page of 50 kB: {found['pass_us']:.0f} µs")


def as_json(found: Mapping[str, Any]) -> dict[str, Any]:
    """Everything measured."""
    return {**found, **{name: [asdict(each) for each in found[name]] for name in ("learned", "crawled")}}


main = Command(
    __doc__,
    [
        option("--seeds", type=int, default=3, help="forums of each style (3)"),
        option("--threads", type=int, default=40, help="threads of a forum (40)"),
        flag("--no-crawl", "leave out the real crawls"),
        QUIET,
    ],
    measure=measured,
    show=lambda _, found: show(found),
    as_json=lambda _, found: as_json(found),
    checks=lambda _, found: checks(found),
)

if __name__ == "__main__":
    sys.exit(main())
