"""What the add-on costs a crawl: CPU of the process tree per response, against stock Scrapy.

Crawls come in pairs, one with the add-on and one without, right after each other and in alternating
order, so that what else the machine does hits both alike; the figure is the median of the pairs'
ratios. No page is a duplicate, so nothing is saved. The pages carry a clock, a counter, a token and rotating teasers,
unless they are to be quiet. CPU is that of the crawl's process and of all that it
started, from the first request to the end of the process; the server's is not counted. What does not
grow with the crawl is told apart: the start-up, and what a crawl of one page takes to end.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from scrapy_dedup import learn_rules

from ..crawling.noise import USUAL
from ..crawling.project import PLUGIN_SETTINGS, Project
from ..crawling.server import Server
from ..recordings.recording import Answer, answer, write_recording
from ..sites.many_keys import NEW_TEXTS, TEXT_SHARE, page, session_observations, word

PORT = 8000
LINKS_PER_PAGE, NEW_PER_PAGE = 100, 3
NOT_LEARNING = {**PLUGIN_SETTINGS, "DEDUP_LEARN": "off"}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of crawl."""

    name: str
    callback: str
    """What the spider does: "ignore", "parse" or "follow"."""
    page_bytes: int
    pages: int
    most_ratio: float | None = None
    """Aim: CPU with the add-on / CPU without it; None where there is none."""
    text_share: float = TEXT_SHARE
    new_texts: float = NEW_TEXTS


KINDS = (
    Kind("1 kB pages, no-op callback", "ignore", 1_000, 2400, 1.10),
    Kind("50 kB pages, parsed, no links", "parse", 50_000, 900, 1.20),
    Kind("50 kB pages, 100 links followed", "follow", 50_000, 220, 1.00),
)
HARDER = (
    Kind("50 kB, parsed, no text met before", "parse", 50_000, 500, new_texts=1.0),
    Kind("50 kB of running text, parsed", "parse", 50_000, 500, text_share=0.8, new_texts=1.0),
)
"""The worst cases for what reads a page's text: a site without a template, and a book. They have no aim."""


@dataclass(frozen=True, slots=True)
class Overhead:
    """One kind of crawl, with and without the add-on."""

    kind: Kind
    variant: str
    pairs: int
    stock_ms: float
    """Median CPU per response without the add-on."""
    plugin_ms: float
    ratio: float
    least_ratio: float
    most_ratio: float
    minima_ratio: float
    """Least CPU with the add-on / least CPU without it: says more than the median on a busy machine."""
    start_up_ms: float
    """Median of what the add-on adds to the CPU before the first request."""


def item_url(number: int) -> str:
    """The URL of page ``number``: a path and three parameters, as shops have them."""
    return f"http://127.0.0.1:{PORT}/shop/item-{number}.html?color={number % 7}&sid=x{number}&view=full"


def recorded_pages(kind: Kind) -> list[Answer]:
    """The pages of a crawl. Where links are followed, each page has 3 new ones and 97 seen ones."""
    rng = Random(2)
    answers = []
    for i in range(kind.pages):
        hrefs: tuple[str, ...] = ()
        if kind.callback == "follow":
            first_new = NEW_PER_PAGE * i + 1
            seen = [rng.randrange(first_new) for _ in range(LINKS_PER_PAGE - NEW_PER_PAGE)]
            numbers = [*seen, *range(first_new, first_new + NEW_PER_PAGE)]
            rng.shuffle(numbers)
            hrefs = tuple(item_url(n).removeprefix(f"http://127.0.0.1:{PORT}").replace("&", "&amp;") for n in numbers)
        answers.append(answer(item_url(i), page(rng, kind.page_bytes, hrefs, kind.text_share, kind.new_texts)))
    return answers


class CrawlBench:
    """The projects of one kind of crawl, against one server."""

    def __init__(self, kind: Kind, folder: Path, server: Server, fixed: dict[str, float] | None = None) -> None:
        """``fixed`` keeps, by the project's name, what one page takes: the same for all kinds."""
        self._kind = kind
        self._folder = folder
        self._port = server.port
        urls = [item_url(i) for i in range(1 if kind.callback == "follow" else kind.pages)]
        self._plan = self.write_plan("plan", kind.callback, urls)
        self._single = self.write_plan("single", "ignore", urls[:1])
        self._fixed = {} if fixed is None else fixed

    def write_plan(self, name: str, callback: str, urls: list[str]) -> Path:
        """Write which URLs the spider starts with, and what it does."""
        moved = [url.replace(f":{PORT}", f":{self._port}") for url in urls]
        path = self._folder / f"{name}.json"
        path.write_text(json.dumps({"callback": callback, "start": moved}))
        return path

    def project(self, name: str, settings: dict[str, Any]) -> Project:
        """A new project; a crawl that follows links ends at the last recorded page."""
        own: dict[str, Any] = {"LOG_FILE": "crawl.log", **settings}
        if self._kind.callback == "follow":
            own["CLOSESPIDER_PAGECOUNT"] = self._kind.pages
        return Project(self._folder / name, own)

    def with_rules(self, name: str) -> Project:
        """A project that already has rules for the site, none of which finds a duplicate."""
        made = self.project(name, NOT_LEARNING)
        book = learn_rules(session_observations(Random(3), f"127.0.0.1:{self._port}"))
        book.save(made.folder / "dedup-rules")
        return made

    def cpu(self, project: Project) -> tuple[float, float]:
        """(seconds per response, seconds before the first request) of one crawl with an empty store."""
        name = project.folder.name
        if name not in self._fixed:
            self._crawl(project, self._single)  # once for the file cache and compiled modules
            self._fixed[name] = median(self._crawl(project, self._single)[0] for _ in range(3))
        seconds, start_up, responses = self._crawl(project, self._plan)
        if responses < self._kind.pages:
            raise RuntimeError(f"{name}: {responses} responses\n{read_end(project)}")
        return (seconds - self._fixed[name]) / responses, start_up

    def _crawl(self, project: Project, plan: Path) -> tuple[float, float, int]:
        """(CPU seconds from the first request on, CPU seconds before it, responses)."""
        shutil.rmtree(project.folder / ".scrapy", ignore_errors=True)
        (project.folder / "crawl.log").unlink(missing_ok=True)
        run, stats = project.crawl("speed", plan=str(plan))
        if stats.get("log_count/ERROR"):
            raise RuntimeError(f"{project.folder.name}: errors\n{read_end(project)}")
        start_up = stats["cpu_at_start"]
        return run.cpu_seconds - start_up, start_up, stats["response_received_count"]

    def compare(self, variant: str, stock: Project, plugin: Project, pairs: int) -> Overhead:
        """Crawl in pairs, the order alternating."""
        without, with_plugin = [], []
        for i in range(pairs):
            if i % 2:
                with_plugin.append(self.cpu(plugin))
            without.append(self.cpu(stock))
            if not i % 2:
                with_plugin.append(self.cpu(plugin))
        ratios = [ours[0] / theirs[0] for ours, theirs in zip(with_plugin, without, strict=True)]
        return Overhead(
            kind=self._kind,
            variant=variant,
            pairs=pairs,
            stock_ms=median(per_response for per_response, _ in without) * 1e3,
            plugin_ms=median(per_response for per_response, _ in with_plugin) * 1e3,
            ratio=median(ratios),
            least_ratio=min(ratios),
            most_ratio=max(ratios),
            minima_ratio=min(with_plugin)[0] / min(without)[0],
            start_up_ms=(median(s for _, s in with_plugin) - median(s for _, s in without)) * 1e3,
        )


@contextmanager
def served(kind: Kind, fixed: dict[str, float], *, quick: bool, quiet: bool) -> Iterator[CrawlBench]:
    """A kind of crawl, the pages of which are served; half as many where it is to be *quick*."""
    if quick:
        kind = replace(kind, pages=kind.pages // 2)
    with tempfile.TemporaryDirectory(prefix="speed-") as scratch:
        folder = Path(scratch)
        path = folder / f"{word(Random(4))}.jsonl.gz"
        write_recording(path, recorded_pages(kind))
        with Server(path, noise=() if quiet else USUAL) as server:
            yield CrawlBench(kind, folder, server, fixed)


def read_end(project: Project) -> str:
    """The end of a crawl's log."""
    return (project.folder / "crawl.log").read_text(encoding="utf-8")[-3000:]


def measure(*, quick: bool, quiet: bool = False) -> list[Overhead]:
    """Every kind of crawl; unless ``quick``, also with rules, and with learning at the close."""
    found = []
    fixed: dict[str, float] = {}
    for kind in KINDS if quick else (*KINDS, *HARDER):
        with served(kind, fixed, quick=quick, quiet=quiet) as bench:
            stock = bench.project("stock", {})
            plugin = bench.project("plugin", NOT_LEARNING)
            pairs = 5 if quick else 9 if kind.most_ratio else 3
            found.append(bench.compare("no rules", stock, plugin, pairs))
            if not quick and kind.most_ratio:
                found.append(bench.compare("with rules", stock, bench.with_rules("rules"), 3))
                learning = bench.project("learning", PLUGIN_SETTINGS)
                found.append(bench.compare("learns at the close", stock, learning, 3))
    return found
