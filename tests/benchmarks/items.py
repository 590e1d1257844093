"""The items of benchmark sites as they are exported, frozen, and what differs from that since.

    python -m tests.benchmarks.items --compare [--data DIR]... [--only NAME,NAME]
    python -m tests.benchmarks.items --freeze [--data DIR]

The sites are news sites, shops with figures that last beside others that pass, and, with ``--data``, all recorded sites
below a folder, whose pages get the usual noise. Each is crawled on three days, one request at a time, by a server and
a Scrapy process with a simulated clock, so that all comes out the same each time. Of the last crawl each item is compared, field by field:
what was served, and the texts that are gone from each of the fields that DEDUP_CONTENT_FIELDS names. They are frozen in
``tests/frozen/items.jsonl.gz``, a line for each item. The sites of the data are left out where they are not given.
"""

import gzip
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import HtmlResponse, Response

from ..server import Answer, Asked, Server
from .command import Arguments, comma_separated, flag, option, parsed, scratch
from .crawling.noise import Noise, at_present, stepping
from .crawling.project import PLUGIN_SETTINGS, Project
from .masks.cases import TRAINED, urls_of
from .news.crawling import CLOCK, FIRST
from .news.scores import Piece, Served, plain
from .news.server import HEADER
from .news.site import NewsSite
from .news.spider import CONTENT_FIELDS, NewsSpider
from .recordings.recording import Recording
from .sites.levels import KINDS
from .sites.levels import site as site_of
from .sites.markup import Kind
from .sites.model import DAY, START, Knobs
from .sites.parts import LASTING
from .sites.render import EDITS, render

FROZEN: Final = Path(__file__).parents[1] / "frozen/items.jsonl.gz"
DAYS: Final = 3
LATER: Final = 67
"""Seconds by which each crawl begins later in the day than the one before: none begins at the same second each day."""
MOST: Final = 100
"""Pages of a recorded site."""
STEP: Final = 2.0
"""Seconds from response to response."""
AGAIN: Final = 4
"""Pages that each crawl fetches twice, the first ones."""
PASSING: Final = ("date", "clock", "weather", "visitors", "online 80 to 400", "teasers", "few tokens", "head values")


class Source(Protocol):
    """A site: its name, its pages, and what a response shows. *seconds* go on from the midnight before the first crawl."""

    name: str
    main: str
    """Selects the main content."""

    def targets(self) -> list[str]:
        """What is fetched, the start page first."""

    def respond(self, target: str, seconds: float, number: int) -> Served | None:
        """The response of that number."""


class News:
    """A news site with some of its pages of each kind."""

    def __init__(self, seed: int, each: int) -> None:
        self.name = f"news-{seed}"
        self._site = NewsSite(seed)
        self.main = f"[data-main='{self._site.main}']"
        self._each = each

    def targets(self) -> list[str]:
        """Those that are there on the first day."""
        found: dict[str, list[str]] = {}
        for target in self._site.targets(self._site.world.start):
            found.setdefault(target.rstrip("/").rpartition("/")[0], []).append(target)
        return [target for targets in found.values() for target in targets[: self._each]]

    def respond(self, target: str, seconds: float, number: int) -> Served | None:
        """As the site does."""
        return self._site.respond(target, self._site.world.start + seconds, number)


class Shop:
    """A made-up site whose pages have lasting figures, dates and tokens beside passing ones."""

    main = "div.main"

    def __init__(self, name: str, slots: Sequence[str], pages: int) -> None:
        self.name = name
        self._slots = (*PASSING, *slots)
        self._site = site_of(name, 1, [KINDS[kind] for kind in TRAINED], Knobs(pages=pages))
        self._urls: dict[str, str] = {}
        for kind in TRAINED:
            for url in urls_of(self._site.endpoints[kind], 1, pages):
                self._urls[url.partition("://")[2].partition("/")[2].join(("/", ""))] = url

    def targets(self) -> list[str]:
        """All of them."""
        return list(self._urls)

    def respond(self, target: str, seconds: float, number: int) -> Served | None:
        """A page with its pieces: what is in its main part, and what passes."""
        page = render(self._site, self._urls[target], START + seconds, number, self._slots)
        if page is None:
            return None
        pieces = [
            Piece(token.slot, plain(token.text), token.kind is Kind.MAIN)
            for token in page.tokens
            if token.slot and token.kind in (Kind.MAIN, Kind.TRANSIENT)
        ]
        return Served(number, seconds, target, "page", page.html, tuple(dict.fromkeys(pieces)))


class Recorded:
    """The HTML pages of a recorded site, with noise."""

    main = "main, #content, #main, article, div.content"

    def __init__(self, path: Path) -> None:
        recording = Recording.load(path)
        self.name = recording.name
        self._noise = Noise(clock=stepping(START, STEP))
        self._has_clock = recording.has_clock
        self._answers = {
            answer.address[1]: answer
            for answer in recording.answers.values()
            if answer.status == 200 and answer.is_html
        }

    def targets(self) -> list[str]:
        """As many as are wanted, from all over the recording."""
        return list(self._answers)[:: 1 + len(self._answers) // MOST]

    def respond(self, target: str, seconds: float, number: int) -> Served | None:
        """A page as recorded, but for the clock and the noise."""
        body = self._answers[target].body
        if self._has_clock:
            body = at_present(body, START + seconds)
        html = self._noise.on(body, target).decode("utf-8", "replace")
        return Served(number, seconds, target, "page", html, ())


def sources(data: Sequence[Path]) -> list[Source]:
    """All sites."""
    made: list[Source] = [News(seed, 12) for seed in range(3)]
    made += [Shop("figures", LASTING, 12), Shop("edits", EDITS, 12), Shop("values", ("reference", "main values"), 12)]
    paths = (path for folder in data for path in sorted(folder.rglob("*.jsonl.gz")))
    return [
        *made,
        *(Recorded(path) for path in paths if path.with_name(f"{path.name.split('.')[0]}.labels.tsv.gz").exists()),
    ]


# -- crawls


class ItemsSpider(NewsSpider):
    """Fetches what a plan names, and exports each page in several forms, also as it was served."""

    name = "items"

    def __init__(self, plan: str, crawl: str, **kwargs: Any) -> None:
        super().__init__("", "", crawl, **kwargs)
        self._plan: dict[str, dict[str, Any]] = json.loads(Path(plan).read_text(encoding="utf-8"))

    async def start(self) -> Any:
        """Past the dupe filter: what is asked for twice is fetched twice."""
        for base, site in self._plan.items():
            for target in site["targets"]:
                yield Request(base + target, dont_filter=True)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        """Give the item."""
        assert isinstance(response, HtmlResponse)
        parts = urlsplit(response.url)
        self.main = self._plan[f"{parts.scheme}://{parts.netloc}"]["main"]
        fields = self.fields_of(response)
        raw = json.loads(json.dumps(fields))
        yield {"number": int(response.headers[HEADER] or b""), "url": response.url, **fields, "raw": raw}


@dataclass
class Site:
    """A source that is served, with the responses of the crawl that goes on."""

    source: Source
    began: float = 0.0
    served: dict[int, Served] = field(default_factory=dict)
    items: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, asked: Asked) -> Any:
        """Answer a request; its number and its time are how many there were."""
        number = len(self.served) + 1
        made = self.source.respond(asked.target, self.began + STEP * number, number)
        if made is None:
            return 404
        self.served[number] = made
        return Answer(made.html, headers={HEADER: str(number)})


def crawled(made: Sequence[Source], folder: Path) -> list[Site]:
    """Crawl sites on some days, in a project in *folder*, a new one; return them with the items of the last day."""
    sites = [Site(source) for source in made]
    servers = [Server(site.answer) for site in sites]
    settings = {
        **PLUGIN_SETTINGS,
        "DEDUP_CONTENT_FIELDS": CONTENT_FIELDS,
        "DEDUP_LEARN": "close",
        **dict.fromkeys(("DEDUP_SAMPLE", "DEDUP_EXTRA", "DEDUP_STARTER"), 0),
        "CONCURRENT_REQUESTS": 1,
        "SPIDER_MODULES": ["tests.benchmarks.items"],
        "FEEDS": {"items-%(crawl)s.jsonl": {"format": "jsonlines"}},
        "LOG_LEVEL": "WARNING",
    }
    project = Project(folder, settings)
    plan = folder / "plan.json"
    for server in servers:
        server.__enter__()
    try:
        for day in range(DAYS):
            plan_of: dict[str, Mapping[str, Any]] = {}
            for site, server in zip(sites, servers, strict=True):
                site.began = day * (DAY + LATER) + FIRST
                site.served.clear()
                targets = site.source.targets()
                plan_of[server.url("")] = {"main": site.source.main, "targets": [*targets, *targets[:AGAIN]]}
            plan.write_text(json.dumps(plan_of), encoding="utf-8")
            shift = START + day * (DAY + LATER) + FIRST - time.time()
            project.environment = {"PYTHONPATH": str(CLOCK), "NEWS_CLOCK_SHIFT": repr(shift)}
            project.crawl("items", plan=str(plan.resolve()), crawl=str(day))
    finally:
        for server in servers:
            server.close()
    of = {server.port: site for server, site in zip(servers, sites, strict=True)}
    for line in (folder / f"items-{DAYS - 1}.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        of[urlsplit(item["url"]).port or 80].items.append(item)
    return sites


# -- what is frozen


def gone(raw: str, kept: str) -> list[str] | None:
    """The texts that are in one and not in the other; None where the other is not simply a part of it.

    >>> gone("It is 12:30 now, and 5 are left", "It is now, and 5 are left")
    ['12:30 ']
    """
    found, at = [], 0
    left = re.findall(r"\w+|\W", kept)
    for token in re.findall(r"\w+|\W", raw):
        if at < len(left) and left[at] == token:
            at += 1
            found.append("\0")
        else:
            found.append(token)
    return None if at < len(left) else [text for text in "".join(found).split("\0") if text.strip()]


def lines_of(site: Site) -> Iterator[dict[str, Any]]:
    """A line for each item: which, a digest of what was served, and what is gone of each field of content, if anything is."""
    for item in site.items:
        parts = urlsplit(item["url"])
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        line = {"site": site.source.name, "target": target, "number": item["number"], "served": _digest(item["raw"])}
        for name in CONTENT_FIELDS:
            raw, kept = (_text(_field(of, name)) for of in (item["raw"], item))
            if raw != kept:
                texts = gone(raw, kept)
                line[name] = texts if texts is not None else [f"another text: {_digest(kept)}"]
        yield line


def _field(item: Mapping[str, Any], name: str) -> Any:
    value: Any = item
    for part in name.split("."):
        value = value[part]
    return value


def _text(value: Any) -> str:
    return "\n".join(value) if isinstance(value, list) else value or ""


def _digest(value: Any) -> str:
    return sha256(json.dumps(value).encode()).hexdigest()[:12]


def differences(before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say what differs, field by field."""
    olds, news = ({(line["site"], line["number"], line["target"]): line for line in lines} for lines in (before, now))
    for key in {**olds, **news}:
        name = f"{key[0]} {key[2]} ({key[1]})"
        old, new = olds.get(key), news.get(key)
        if old is None or new is None:
            yield f"{name}: the item is {'new' if old is None else 'gone'}"
            continue
        if old["served"] != new["served"]:
            yield f"{name}: another page was served"
        for each in CONTENT_FIELDS:
            one, other = old.get(each, []), new.get(each, [])
            if one != other:
                taken, back = ([text for text in a if text not in b] for a, b in ((other, one), (one, other)))
                yield f"{name} {each}: gone now {taken}, no longer gone {back}"


def read() -> list[dict[str, Any]]:
    """The lines as they were frozen."""
    with gzip.open(FROZEN, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write(lines: Sequence[Mapping[str, Any]]) -> None:
    """Freeze lines; the same ones are the same bytes."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    FROZEN.write_bytes(gzip.compress(text.encode(), mtime=0))


def compared(args: Arguments) -> list[str]:
    """Crawl the sites that are asked for, and freeze their items or compare them; return what differs."""
    chosen = [each for each in sources(args.data) if args.only is None or each.name in args.only]
    now: list[dict[str, Any]] = []
    for source in chosen:
        with scratch() as folder:
            (site,) = crawled([source], folder / "project")
        now += lines_of(site)
        print(f"{source.name}: {len(site.items)} items", flush=True)
    names = {source.name for source in chosen}
    before = read() if FROZEN.exists() else []
    if args.freeze:
        write([*(line for line in before if line["site"] not in names), *now])
        return []
    return list(differences([line for line in before if line["site"] in names], now))


def show(found: Sequence[str]) -> None:
    """Print the differences."""
    for text in found:
        print(text)
    print(f"{len(found)} differences")


OPTIONS = [
    flag("--compare", "print each difference; exit non-zero if there is any"),
    flag("--freeze", "write the file anew; sites that are left out stay in it"),
    option("--data", type=Path, action="append", default=[], metavar="DIR", help="of recorded sites"),
    option("--only", type=comma_separated, metavar="NAME,NAME", help="some of the sites"),
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Crawl, and freeze or compare; return the exit code."""
    args = parsed(__doc__, OPTIONS, arguments)
    if args.compare == args.freeze:
        args.error("either --compare or --freeze")
    found = compared(args)
    show(found)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
