"""The weights of the score by which the parts of pages are judged, fitted to sites of which every part is known.

    python -m tests.benchmarks.mask_weights [--sites N] [--recorded FILE.jsonl.gz...] [--write]

Made-up sites (those of ``transient`` and of ``news``) and recorded ones with noise are crawled on some days, without a server. Each
part of a place that was seen to change is labelled by what the site says of its texts; parts of one nature (a clock, a price) weigh
alike. Prints how many of the passing parts are found, and of the lasting ones are taken, of sites that were left out of the fit, by
nature. ``--write`` writes the package's file.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Final

import numpy as np

from scrapy_dedup import masks
from scrapy_dedup.masks.judge import CONSTANT, STRIPPED, WEIGHED, Features
from scrapy_dedup.masks.kinds import kind_of
from scrapy_dedup.masks.learn import candidates
from scrapy_dedup.masks.observe import Fetch, Observations, Sighting
from scrapy_dedup.pages.response import version_of

from .command import Arguments, Command, flag, option
from .crawling.noise import KINDS, Noise, stepping
from .masks import cases, crawls
from .news.site import NewsSite
from .recordings.recording import Recording
from .scoring.checks import print_table
from .sites.markup import Kind, Page

DAY: Final = 86_400.0
START: Final = 1_790_000_000.0
RECORDED_PAGES: Final = 120
FIRST_NEWS: Final = 100
"""The first seed of news sites: those of the benchmark of news are others."""
FOLDS: Final = 5
AGAIN: Final = 8
"""Pages of a news site that are fetched twice in a crawl."""
STIFF: Final = 0.03
"""How strongly weights are drawn towards 0."""

Text = tuple[str, str, bool]
"""Nature, text, whether it passes."""


@dataclass(frozen=True, slots=True)
class Known:
    """A part that was seen to change, of a known nature."""

    site: str
    nature: str
    passes: bool
    features: Features


def known_parts(
    site: str, fetches: Sequence[Fetch], truth: Mapping[tuple[str, float], Sequence[Text]]
) -> Iterator[Known]:
    """The parts of a site that change, but those of which nobody knows whether they pass; *truth* is by URL and time."""
    seen = Observations(fetches)
    for each in candidates(seen):
        found = Counter(said for pair in each.trials.changed for said in _said(pair.other, truth))
        if found:
            (nature, passes), number = found.most_common(1)[0]
            if number > 0.8 * found.total():
                yield Known(site, nature, passes, each.features)


def _said(shown: Sighting, truth: Mapping[tuple[str, float], Sequence[Text]]) -> Iterator[tuple[str, bool]]:
    for text in shown.texts:
        for nature, known, passes in truth[shown.fetch.url, shown.at]:
            if text and (text == known or f" {text} " in f" {known} " or f" {known} " in f" {text} "):
                yield nature, passes


def _fetch(url: str, at: float, crawl: int, html: str) -> Fetch:
    return Fetch(url, at, crawl, tuple(version_of(html).rows()))


def _of_page(page: Page) -> list[Text]:
    texts = [(each.slot, each.text, each.kind is Kind.TRANSIENT) for each in page.tokens if each.slot]
    return texts + [
        (each.name, each.html.partition("=")[2].strip('"') or each.html, each.passes) for each in page.values
    ]


def of_cases(sites: int) -> Iterator[Known]:
    """Of the sites of the transient benchmark, with times and without."""
    for name in cases.CASES:
        for seed in range(50, 50 + sites):
            for k in (2, 3, 5):
                case = cases.case_of(name, seed, k, 12)
                for timed in (False, True):
                    fetches, truth = [], {}
                    for url, pages in case.seen.items():
                        for number, page in enumerate(pages):
                            at = case.times[url][number] if timed else DAY * number
                            fetches.append(_fetch(url, at, int(at // DAY), page.html))
                            truth[url, at] = _of_page(page)
                    yield from known_parts(f"case {seed}", fetches, truth)
    for name in crawls.CRAWLS:
        for seed in range(50, 50 + sites):
            found = crawls.fetched(name, seed)
            fetches, truth = [], {}
            for url, pages in found.seen.items():
                for at, page in zip(found.times[url], pages, strict=True):
                    fetches.append(_fetch(url, at, int(at // DAY), page.html))
                    truth[url, at] = _of_page(page)
            yield from known_parts(f"crawl {seed}", fetches, truth)


def of_news(sites: int) -> Iterator[Known]:
    """Of news sites, after two daily crawls and more."""
    for seed in range(FIRST_NEWS, FIRST_NEWS + sites):
        site, number = NewsSite(seed), 0
        fetches: list[Fetch] = []
        truth: dict[tuple[str, float], list[Text]] = {}
        for day in range(4):
            at = site.world.start + day * DAY + 9 * 3600
            targets = list(site._pages(at))
            again = Random(f"{seed} {day}").sample(targets, AGAIN)
            for target in ["/", "/", *targets, *again]:
                number, at = number + 1, at + 0.3
                served = site.respond(target, at, number)
                assert served is not None
                url = f"http://news-{seed}.example{target}"
                fetches.append(_fetch(url, at, day, served.html))
                truth[url, at] = [(each.part, each.text, not each.lasts) for each in (*served.pieces, *served.unclear)]
            if day:
                yield from known_parts(f"news {seed}", fetches, truth)


def of_recording(path: Path) -> Iterator[Known]:
    """Of a recorded site with noise, and at the foot figures of the pages' own: fetched twice some of them, then all once more."""
    recording = Recording.load(path)
    answers = [
        (url, answer.body.decode("utf-8", "replace")) for url, answer in recording.answers.items() if answer.is_html
    ]
    noise = Noise(KINDS, clock=stepping(START, 0.3))
    most, _ = Counter(kind_of(url) for url, _ in answers).most_common(1)[0]
    fetches: list[Fetch] = []
    truth: dict[tuple[str, float], list[Text]] = {}
    for crawl in range(4):
        pages = answers[:RECORDED_PAGES] if crawl else answers[:RECORDED_PAGES] + answers[:: len(answers) // 10][:10]
        for number, (url, html) in enumerate(pages):
            at = START + crawl * DAY + 0.3 * number
            own = [(name, write(Random(f"{url} {name}"), crawl), False) for name, write in FIGURES.items()]
            if kind_of(url) == most:
                own.append(("seats figure", f"{Random(f'{url} {crawl}').randint(1, 500)} seats left", False))
            parts = "".join([f'<div class="{name.split()[0]}">{text}</div>' for name, text, _ in own])
            token = f"{Random(f'token {len(fetches)}').getrandbits(96):024x}"
            html = html.replace("</p>", f"</p><p class=form>Request {token}</p>", 1)
            added = version_of("".join(noise.parts(len(fetches) + 1))).seen
            fetches.append(_fetch(url, at, crawl, noise.on_text(html.replace("</body>", f"{parts}</body>"), url)))
            truth[url, at] = [
                *own,
                ("token among texts", token, True),
                *[(f"noise {selector}", text, True) for selector, _, text in added],
            ]
        yield from known_parts(recording.name, fetches, truth)


def _edited(own: Random, day: int) -> str:
    return f"Last edited on {own.randint(1, 28)}.{own.randint(1, 9)}.202{own.randint(1, 4) + (own.random() < day / 4)}"


def _figure(own: Random, day: int) -> str:
    return f"{own.randint(1, 500) + sum(own.random() < 0.3 for _ in range(day))} votes"


def _offer(own: Random, day: int) -> str:
    first = own.randint(500, 9000)
    return f"EUR {first + own.choice((-50, 99)) * (own.random() < day / 4)}"


FIGURES: Final = {"edited date": _edited, "votes figure": _figure, "offer price": _offer}
"""What pages show at their foot of their own, by the days since the first crawl."""


def fitted(known: Sequence[Known]) -> dict[str, float]:
    """The weights that fit best, each nature weighed alike."""
    of_nature = Counter((each.nature, each.passes) for each in known)
    weights = np.array([1 / np.sqrt(of_nature[each.nature, each.passes]) for each in known])
    right = np.array([each.passes for each in known], dtype=float)
    values = np.array([[1.0, *(getattr(each.features, name) for name in WEIGHED)] for each in known])
    found = np.zeros(values.shape[1])
    stiff = np.diag([0.0, *[STIFF for _ in WEIGHED]])
    for _ in range(50):  # Newton's method
        odds = 1 / (1 + np.exp(-values @ found))
        slope = values.T @ (weights * (right - odds)) - stiff @ found
        curve = (values * (weights * odds * (1 - odds))[:, None]).T @ values + stiff
        found += np.linalg.solve(curve, slope)
    return dict(zip((CONSTANT, *WEIGHED), found.tolist(), strict=True))


def left_out(known: Sequence[Known]) -> dict[tuple[str, bool], list[float]]:
    """Nature -> the scores of its parts, by weights that were fitted to other sites."""
    sites = sorted({each.site for each in known})
    found: defaultdict[tuple[str, bool], list[float]] = defaultdict(list)
    for fold in range(FOLDS):
        out = set(sites[fold::FOLDS])
        weights = fitted([each for each in known if each.site not in out])
        for each in known:
            if each.site in out:
                found[each.nature, each.passes].append(each.features.weighed(weights))
    return found


def measured(args: Arguments) -> list[Known]:
    """All parts of all sites."""
    known = [*of_cases(args.sites), *of_news(args.sites)]
    for path in args.recorded:
        known += of_recording(path)
    return known


def show(args: Arguments, known: Sequence[Known]) -> None:
    """Print what was found of each nature; write the file if asked to."""
    scores = left_out(known)
    rows = []
    for passes in (True, False):
        for nature, found in sorted((nature, found) for (nature, of), found in scores.items() if of is passes):
            rows.append(
                (nature, "go" if passes else "stay", len(found), sum(score >= STRIPPED for score in found) / len(found))
            )
        own = [found for (_, of), found in scores.items() if of is passes]
        share = sum(sum(score >= STRIPPED for score in found) / len(found) for found in own) / len(own)
        rows.append(("all natures", "go" if passes else "stay", sum(map(len, own)), share))
    print_table("Parts that are stripped by weights of other sites", ("nature", "must", "parts", "stripped"), rows)
    weights = fitted(known)
    print(text_of(weights, known))
    if args.write:
        Path(str(files(masks).joinpath("weights.toml"))).write_text(text_of(weights, known), encoding="utf-8")


def text_of(weights: Mapping[str, float], known: Iterable[Known]) -> str:
    """The package's file."""
    known = list(known)
    lines = [
        "# Weights of the score of a place: of its features (judge.py), in the logarithm of the odds that it is transient.",
        "# Fitted by `python -m tests.benchmarks.mask_weights --write`; reviewed; do not edit figures one by one.",
        f"# {len(known)} parts of {len({each.nature for each in known})} natures on {len({each.site for each in known})} sites.",
        "",
        "[weights]",
        *[f"{name} = {weight:.2f}" for name, weight in weights.items()],
    ]
    return "\n".join(lines) + "\n"


RECORDED: Final = sorted((Path(__file__).parent / "recorded_sites").glob("*.jsonl.gz"))
main = Command(
    __doc__,
    [
        option("--sites", type=int, default=3, metavar="N", help="made-up sites of each sort (3)"),
        option(
            "--recorded", type=Path, nargs="*", default=RECORDED, metavar="FILE", help="recordings; those that are here"
        ),
        flag("--write", "write the package's file"),
    ],
    measured,
    show,
)

if __name__ == "__main__":
    sys.exit(main())
