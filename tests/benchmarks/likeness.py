"""Which responses are the same page, where no two are equal: what a real crawl learns of that, and what it costs.

    python -m tests.benchmarks.likeness FILE.jsonl.gz... [--labels FILE] [--noise NAME]... [--refetches 0 3 5 10] [--json] [--check]
    python -m tests.benchmarks.likeness --traps [--only TRAP]... [--noise NAME]... [--refetches 10] [--json] [--check]

A recorded site, or each of the trap sites, is crawled once by a Scrapy process with the add-on, from a server that adds noise to its
pages at each response: nothing, a clock, a visitor counter, a token, a duration, these four ("typed"), rotating teasers, or all
five; to the traps also all five on one half of the URLs. The number of starter refetches is set (DEDUP_STARTER). The crawl is in mode
shadow, in which nothing is filtered, so that all pairs of one site are there to be judged, whatever was learned; one request at
a time, the start page past the dupe filter, and each response a second after the one before, by the clocks that pages show.

After the crawl the store is read, with the rules and the mask that were written, as the learner reads it. Of all pairs of URLs that
were answered with status 200:

    recall = pairs of one page that are equal under the mask / pairs of one page
    wrong  = pairs of two pages that are equal under the mask, and are not equal as plain text without noise either

Which page a URL is, its recorded body says (bag of words, without clocks), or the truth of the trap site. ``--labels FILE`` has
recorded pages told apart by other labels: those of a crawl without cookies, say. URLs that they lack are not judged.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any, Final
from urllib.parse import urldefrag

from scrapy_dedup import RuleBook
from scrapy_dedup.learning.alternation import StoredEvidence
from scrapy_dedup.learning.contents import Contents, NoEvidence
from scrapy_dedup.learning.site_masks import SiteMasks
from scrapy_dedup.masks.files import load_masks
from scrapy_dedup.pages.response import sketch_of_html
from scrapy_dedup.store.store import Store
from scrapy_dedup.urls import normal_form

from ..server import Answer, Asked
from ..server import Server as TrapServer
from .command import LABELS, Arguments, Command, Unusable, flag, option, scratch
from .crawling.noise import KINDS, TYPED, Noise, stepping
from .crawling.project import PLUGIN_SETTINGS, Project
from .crawling.server import Server
from .likeness_traps import TRAPS, Response, trap_site
from .likeness_traps.site import OPENED
from .recordings.recording import Recording
from .scoring.checks import Check, print_table

NOISES: Final[dict[str, tuple[tuple[str, ...], float]]] = {
    "none": ((), 1.0),
    **{kind: ((kind,), 1.0) for kind in ("clock", "counter", "token", "duration")},
    "typed": (TYPED, 1.0),
    "teasers": (("teasers",), 1.0),
    "all": (KINDS, 1.0),
    "half": (KINDS, 0.5),
}
"""Name -> kinds of noise, and the share of the URLs that carry it."""
OF_RECORDINGS: Final = ("none", "clock", "counter", "token", "duration", "typed", "teasers", "all")
OF_TRAPS: Final = ("none", "typed", "all", "half")
REFETCHES: Final = (0, 3, 5, 10)
STEP: Final = 1.0
"""Seconds from response to response, by the clocks on the pages."""
LEAST_TYPED: Final = 0.95
"""Aim: recall of recorded sites with typed noise, without any refetch."""
LEAST_ALL, ON_SITES = 0.9, 0.8
"""Aim: recall with all noise and ten refetches, on this share of the sites."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """What was told apart after one crawl. ``again``: requests for URLs that had been asked for before, at the server."""

    site: str
    noise: str
    refetches: int
    urls: int
    untold: int
    """URLs of which the learner cannot tell the page: hardly any text, or texts that are not kept."""
    same: int
    """Pairs of URLs of one page."""
    found: int
    """Those of them that are equal under the mask."""
    wrong: int
    """Pairs of two pages that are equal under the mask, and are not equal as plain text."""
    again: int
    seconds: float
    errors: int

    @property
    def recall(self) -> float:
        """Share of the pairs of one page that are equal under the mask."""
        return self.found / self.same if self.same else 1.0


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known of a URL: its page, and the bag of words of that page without noise."""

    page: str
    plain: str


def pairs(labels: Iterable[Hashable]) -> int:
    """Pairs of equal labels."""
    return sum(number * (number - 1) // 2 for number in Counter(labels).values())


def judged(truth: Mapping[str, Truth], told: Mapping[str, str | None]) -> tuple[int, int, int]:
    """(pairs of one page, those that are told to be one, wrong pairs) of URLs, by what each is told to be (None: nothing)."""
    same = pairs(each.page for each in truth.values())
    known = [(each.page, each.plain, told[url]) for url, each in truth.items() if told.get(url) is not None]
    found = pairs((page, name) for page, _, name in known)
    equal = pairs(name for _, _, name in known)
    excused = pairs((plain, name) for _, plain, name in known) - pairs(known)
    return same, found, equal - found - excused


def told_apart(project: Path) -> dict[str, str | None]:
    """URL -> what tells its page from others, None where nothing does, as the learner sees what a crawl has left."""
    rules = project / "dedup-rules"
    known, masks = RuleBook.load(rules) if rules.exists() else RuleBook(), load_masks([rules])
    found: dict[str, str | None] = {}
    with Store.open(project / ".scrapy" / "dedup" / "store.sqlite", readonly=True) as store:
        evidence = StoredEvidence(store)
        for site in evidence.named():
            pages = SiteMasks(site, [page._replace(url=normal_form(page.url)) for page in evidence.versions(site)])
            mask = pages.mask(known.canonical_key, pages.without_refuted(masks.get(site), known)).mask
            observations = list(evidence.observations(site, versions=True))
            contents = Contents(observations, mask)
            for each in observations:
                content = contents.of(each)
                is_none = isinstance(content, NoEvidence)
                found[urldefrag(each.url).url] = None if is_none else f"{site} {content.identity}"
    return found


@dataclass(frozen=True, slots=True)
class Served:
    """A running server: where a crawl begins, what it may follow (None: all), what URLs are, and what was asked for."""

    start: list[str]
    follow: list[str] | None
    truth: Mapping[str, Truth]
    asked: Callable[[], Mapping[str, int]]


@contextmanager
def served_recording(path: Path, noise: str, labels: Path | None = None) -> Iterator[Served]:
    """Serve a recorded site, whose pages are told apart by *labels*, if any."""
    recording = Recording.load(path, labels)
    kinds, share = NOISES[noise]
    with Server(path, noise=kinds, share=share, step=STEP) as server:

        def moved(url: str) -> str:
            return recording.moved(url, recording.port, server.port)

        truth = {
            moved(url): Truth(page.bag, sketch_of_html(recording.answers[url].body).bag)
            for url, page in recording.identities.items()
            if recording.answers[url].is_html
        }
        start = [moved(url) for url in recording.start_urls]
        yield Served(start, [moved(url) for url in recording.answers], truth, server.take)


@contextmanager
def served_trap(name: str, noise: str) -> Iterator[Served]:
    """Serve a trap site."""
    site = trap_site(name)
    kinds, share = NOISES[noise]
    added = Noise(kinds, share=share, clock=stepping(OPENED, STEP))
    asked: Counter[str] = Counter()
    lock = Lock()

    def answer(request: Asked) -> Answer:
        with lock:
            number, before = asked.total() + 1, asked[request.target]
            asked[request.target] += 1
        html = site.at(request.target, Response(number, before, Random(f"{name} {number}")))
        return Answer("", status=404) if html is None else Answer(added.on_text(html, request.target))

    with TrapServer({"*": answer, "/robots.txt": 404}) as server:
        plain = site.plain
        truth = {server.url(target): Truth(page.key, plain[target]) for target, page in site.pages.items()}
        yield Served([server.url("/")], None, truth, lambda: asked)


def measured(site: str, noise: str, refetches: int, served: Served, folder: Path) -> Likeness:
    """Crawl what is served and judge what was learned."""
    settings = {"DEDUP_MODE": "shadow", "DEDUP_STARTER": refetches, "CONCURRENT_REQUESTS": 1, "LOG_FILE": "crawl.log"}
    project = Project(folder, {**PLUGIN_SETTINGS, **settings})
    world = folder / "world.json"
    world.write_text(json.dumps({"start": served.start, "urls": served.follow}))
    run, stats = project.crawl("recorded", world=str(world), start_twice="yes")
    asked = served.asked()
    told = told_apart(folder)
    truth = {url: each for url, each in served.truth.items() if url in told}
    same, found, wrong = judged(truth, told)
    return Likeness(
        site=site,
        noise=noise,
        refetches=refetches,
        urls=len(truth),
        untold=sum(told[url] is None for url in truth),
        same=same,
        found=found,
        wrong=wrong,
        again=sum(asked.values()) - len(asked),
        seconds=run.seconds,
        errors=stats.get("log_count/ERROR", 0),
    )


def checks(results: Sequence[Likeness]) -> list[Check]:
    """The figures that ``--check`` looks at."""
    found = []
    for each in results:
        name = f"{each.site}, {each.noise}, {each.refetches} refetches"
        found += [Check(f"{name}: wrong pairs", each.wrong, most=0), Check(f"{name}: errors", each.errors, most=0)]
        if each.site not in TRAPS and each.noise in (*TYPED, "typed") and not each.refetches:
            found.append(Check(f"{name}: recall", each.recall, least=LEAST_TYPED))
    ten = [each.recall for each in results if each.site not in TRAPS and (each.noise, each.refetches) == ("all", 10)]
    if ten:
        reached = sum(recall >= LEAST_ALL for recall in ten) / len(ten)
        found.append(
            Check(f"all noise, 10 refetches: share of the sites with recall {LEAST_ALL}", reached, least=ON_SITES)
        )
    return found


def print_results(results: Sequence[Likeness]) -> None:
    """Print a row for each crawl."""
    columns = ("site", "noise", "refetches", "URLs", "untold", "pairs", "found", "recall", "wrong", "asked again")
    rows = [
        (
            *(each.site, each.noise, each.refetches, each.urls, each.untold, each.same, each.found, each.recall),
            *(each.wrong, each.again, f"{each.seconds:.1f}", each.errors),
        )
        for each in results
    ]
    title = "Pairs of URLs that are one page, and what a crawl has learned of them"
    print_table(title, (*columns, "seconds", "errors"), rows, left=2, width=130)


def measured_all(args: Arguments) -> list[Likeness]:
    """Crawl each recording and each trap site with each noise and number of refetches."""
    traps = (args.only or list(TRAPS)) if args.traps or args.only else []
    if not args.files and not traps:
        raise Unusable("name recordings, or --traps")
    if args.labels and len(args.files) != 1:
        raise Unusable("--labels goes with a single recording")
    serve = partial(served_recording, labels=args.labels)
    runs: list[tuple[str, Any, Any, Sequence[str], Sequence[int]]] = [
        *((path.name.split(".")[0], serve, path, OF_RECORDINGS, REFETCHES) for path in args.files),
        *((name, served_trap, name, OF_TRAPS, REFETCHES[-1:]) for name in traps),
    ]
    results = []
    for name, served_by, what, noises, refetches in runs:
        for noise, number in product(args.noise or noises, args.refetches or refetches):
            with scratch() as folder, served_by(what, noise) as served:
                results.append(measured(name, noise, number, served, folder / "project"))
    return results


main = Command(
    __doc__,
    [
        option("files", nargs="*", type=Path, metavar="FILE.jsonl.gz"),
        flag("--traps", "crawl the trap sites"),
        option("--only", action="append", choices=list(TRAPS), metavar="TRAP", help=", ".join(TRAPS)),
        LABELS,
        option("--noise", action="append", choices=list(NOISES), metavar="NAME", help=", ".join(NOISES)),
        option("--refetches", type=int, nargs="+", metavar="N", help="0 3 5 10, of traps 10"),
    ],
    measure=measured_all,
    show=lambda _, found: print_results(found),
    as_json=lambda _, found: [{**asdict(each), "recall": each.recall} for each in found],
    checks=lambda _, found: checks(found),
)

if __name__ == "__main__":
    sys.exit(main())
