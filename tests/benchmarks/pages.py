"""What recording adds to a page: the CPU of reading its layers from the tree that the spider has parsed anyway.

    python -m tests.benchmarks.pages [FILE.jsonl.gz...] [--pages 120] [--rounds 9] [--json] [--check]

Pages come one after the other, as in a crawl: each is parsed, as Scrapy does it, then its values are read, seen and unseen, and sketched.
What is remembered of a site's earlier pages counts, so the first half of the pages is not timed; in each round all is forgotten before.
The figure is the CPU of the process, threads included, for 50 kB of a page: of each page and step that of the round in which it took the
least, since a machine that does other things, too, takes more. Without files the recorded sites of the repository are read; made-up pages
and JSON answers come first. A crawl as a whole is measured by *speed*.
"""

import gc
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from random import Random
from time import process_time

from scrapy.http import HtmlResponse, Response

from scrapy_dedup import pages as room
from scrapy_dedup.pages.blocks import Rows, json_rows, rows_of
from scrapy_dedup.pages.remembered import Remembered
from scrapy_dedup.pages.sketch import sketch_of_rows
from scrapy_dedup.pages.versions import packed

from .command import Arguments, Command, option
from .recordings.recording import Recording
from .scoring.checks import Check, print_table, rate
from .sites.many_keys import page, word

RECORDED = Path(__file__).parent / "recorded_sites"
SIZE = 50_000
MADE_UP, ANSWERS = "made-up, 50 kB", "JSON, 50 kB"
MOST_MS = 2.0


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU of the pages of one site."""

    site: str
    pages: int
    page_bytes: int
    #: Milliseconds of the process for 50 kB of a page: the parser, which is no cost of recording, values, sketches; and what
    #: the first pages of a kind take more, whose texts are kept.
    parse: float
    values: float
    sketch: float
    packing: float

    @property
    def added(self) -> float:
        """Return what recording a response adds."""
        return self.values + self.sketch


def recorded(path: Path, most: int) -> list[Response]:
    """Return pages of a recorded site, drawn at random."""
    found = [each for each in Recording.load(path).answers.values() if each.status == 200 and each.is_html]
    drawn = Random(1).sample(found, min(most, len(found)))
    return [HtmlResponse(each.url, headers={"Content-Type": each.content_type}, body=each.body) for each in drawn]


def made_up(most: int) -> list[Response]:
    """Return pages of a shop."""
    rng = Random(2)
    return [
        HtmlResponse(f"http://a.test/item-{number}.html?sid=x{number}", body=page(rng, SIZE).encode(), encoding="utf-8")
        for number in range(most)
    ]


def answers(most: int) -> list[Response]:
    """Return JSON answers, each a list of products."""
    rng = Random(3)
    bodies = (
        json.dumps([{"id": rng.randrange(10**6), "name": word(rng), "stock": {"b": 2, "c": None}} for _ in range(730)])
        for _ in range(most)
    )
    return [Response(f"http://a.test/api/{number}", body=body.encode()) for number, body in enumerate(bodies)]


def forget() -> None:
    """Clear what the modules of pages remember."""
    for module in iter_modules(room.__path__):
        for value in vars(import_module(f"{room.__name__}.{module.name}")).values():
            if isinstance(value, Remembered):
                value.clear()
            getattr(value, "cache_clear", int)()


def timed(steps: Sequence[Callable[[], object]]) -> Iterator[float]:
    """Do something, and yield the CPU that each step took."""
    for step in steps:
        began = process_time()
        step()
        yield process_time() - began


def seconds_of(response: Response) -> list[float]:
    """Return the CPU that each step takes with a response."""
    rows: list[Rows] = []

    def read() -> None:
        is_page = isinstance(response, HtmlResponse)
        rows.append(rows_of(response.selector.root) if is_page else json_rows(response.body) or Rows([], []))

    return list(
        timed(
            (
                lambda: isinstance(response, HtmlResponse) and response.selector,
                read,
                lambda: sketch_of_rows(rows[0], response.url),
                lambda: packed(rows[0], str),
            )
        )
    )


def cost(site: str, responses: Sequence[Response], rounds: int) -> Cost:
    """Read the responses of a site so many times."""
    timed_ones = responses[len(responses) // 2 :]
    size = sum(len(each.body) for each in timed_ones)
    gc.collect()
    gc.freeze()  # the responses are no part of a crawl's memory
    found: list[list[list[float]]] = []
    for _ in range(rounds):
        forget()
        found.append([seconds_of(each.copy()) for each in responses][-len(timed_ones) :])
    gc.unfreeze()
    least = [[min(times) for times in zip(*steps, strict=True)] for steps in zip(*found, strict=True)]
    figures = (sum(times) * 1e3 * SIZE / size for times in zip(*least, strict=True))
    return Cost(site, len(timed_ones), size // len(timed_ones), *figures)


def measure(args: Arguments) -> list[Cost]:
    """Read all sites."""
    paths = args.files or sorted(RECORDED.glob("*.jsonl.gz"))
    made = [(MADE_UP, made_up(args.pages)), (ANSWERS, answers(args.pages))]
    sites: Iterable[tuple[str, list[Response]]] = (
        (path.name.partition(".")[0], recorded(path, args.pages)) for path in paths
    )
    return [cost(name, responses, args.rounds) for group in (made, sites) for name, responses in group]


def show(_: Arguments, found: Sequence[Cost]) -> None:
    """Print a table."""
    print_table(
        "CPU of recording, ms for 50 kB of a page",
        ("site", "pages", "bytes/page", "(parser)", "values", "sketches", "added", "(kept texts)"),
        [
            (
                *(each.site, each.pages, each.page_bytes),
                *(rate(ms, 2) for ms in (each.parse, each.values, each.sketch, each.added, each.packing)),
            )
            for each in found
        ],
    )


main = Command(
    __doc__,
    [
        option("files", nargs="*", type=Path, metavar="FILE.jsonl.gz"),
        option("--pages", type=int, default=120, help="pages of each site"),
        option("--rounds", type=int, default=9, help="times that they are read"),
    ],
    measure=measure,
    show=show,
    as_json=lambda _, found: [{**asdict(each), "added": each.added} for each in found],
    checks=lambda _, found: [Check(f"ms, {MADE_UP}", found[0].added, most=MOST_MS)],
)

if __name__ == "__main__":
    sys.exit(main())
