"""Crawls of a site at known times: how well what passes is told in cases that have plain names.

Each case is a site with parts (see ``sites/parts.py``) and the times of its crawls: the start page is fetched once or twice in
each, and half of the pages of each kind once. A mask is learned from them, told when each version was fetched, and scored
on them and on the other half. On every page stand figures and dates that last, and look like what passes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scrapy_dedup import Mask, learn_mask
from scrapy_dedup.pages.response import version_of

from ..scoring.checks import Check, print_table, rate
from ..scoring.masking import Counts, compared, passing_words, score
from ..sites.levels import KINDS
from ..sites.levels import site as site_of
from ..sites.markup import Page
from ..sites.model import DAY, START, Knobs, Site
from ..sites.parts import LASTING, RANGES, VOLATILE
from ..sites.render import render, start_page
from ..sites.seeded import rng_of
from .cases import TRAINED, urls_of

HOUR = 3600.0
PAGES = 12
"""Pages of each kind, half of them learned from."""
STEP = 7.0
"""Seconds between two pages of a crawl."""
MOMENTS = 3.0
"""Seconds between both fetches of the start page."""
SCORED = 5
"""Versions of a page that are scored, the last ones."""
LEAST_F1 = 0.97
LEAST_GONE = 0.97
"""Share of the passing pieces of HTML that must be gone."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A case: the parts of its pages, and its crawls, in seconds from the first one on.

    starts, others: how often the start page and each other page is fetched in a crawl, within moments. shuffled: whether the
    crawls go in orders of their own and begin some minutes early or late.
    """

    parts: tuple[str, ...]
    crawls: tuple[float, ...]
    starts: int = 1
    others: int = 1
    shuffled: bool = True


def daily(days: int) -> tuple[float, ...]:
    """One crawl a day."""
    return tuple(day * DAY for day in range(days))


def often(days: int, times: int, apart: float) -> tuple[float, ...]:
    """Several crawls a day."""
    return tuple(day * DAY + apart * number for day in range(days) for number in range(times))


_FRONT = ("date", "weather", "clock", "visitors")
_COUNTERS = ("visitors", "online 80 to 400", "clock")
_COMING = ("help box", "chat notice", "note", "clock")
_TEASERS = ("teasers", "further")
_HTML = ("head values", "main values", "foot values")
CRAWLS: Mapping[str, Plan] = {
    **{f"start page once on {days} days": Plan(_COUNTERS, daily(days)) for days in (3, 5)},
    **{f"start page twice on {days} days": Plan(_COUNTERS, daily(days), starts=2) for days in (3, 5)},
    "front on 5 days": Plan(_FRONT, daily(5)),
    "front six times a day on 4 days": Plan(_FRONT, often(4, 6, 2 * HOUR)),
    "front hourly on 3 days": Plan(_FRONT, often(3, 12, HOUR)),
    **{
        f"online {low} to {high} on {days} days": Plan((f"online {low} to {high}",), daily(days))
        for low, high in RANGES
        for days in (2, 3, 4, 5, 6, 8, 12)
    },
    **{f"visitors today on {days} days": Plan(("visitors today",), daily(days)) for days in (2, 5, 12)},
    **{
        f"visitors today in one order on {days} days": Plan(("visitors today",), daily(days), shuffled=False)
        for days in (2, 5, 12)
    },
    **{f"come and go on {days} days": Plan(_COMING, daily(days)) for days in (3, 5, 12)},
    **{f"teasers on {days} days": Plan(_TEASERS, daily(days)) for days in (3, 5)},
    "teasers with each page twice on 3 days": Plan(_TEASERS, daily(3), starts=2, others=2),
    **{f"few tokens on {days} days": Plan(("few tokens", "reference"), daily(days)) for days in (3, 5)},
    **{f"html on {days} days": Plan(_HTML, daily(days)) for days in (3, 5)},
    "html with each page twice on 3 days": Plan(_HTML, daily(3), starts=2, others=2),
}
"""The cases: the front is what stands on the front of a newspaper, html what is in attributes, scripts and comments."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The versions of pages of a case: URL -> versions in order of time. *seen* are learned from, fetched at *times*."""

    seen: Mapping[str, Sequence[Page]]
    unseen: Mapping[str, Sequence[Page]]
    times: Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of HTML that show no text, by what they are of: how many there are, and how many of them are gone."""

    passing: Counter[str] = field(default_factory=Counter)
    passing_gone: Counter[str] = field(default_factory=Counter)
    lasting: Counter[str] = field(default_factory=Counter)
    lasting_gone: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: "Pieces") -> "Pieces":
        return Pieces(
            self.passing + other.passing,
            self.passing_gone + other.passing_gone,
            self.lasting + other.lasting,
            self.lasting_gone + other.lasting_gone,
        )


@dataclass(frozen=True, slots=True)
class Result:
    """What one mask does, on pages that were learned from and on others."""

    case: str
    seen: Counts
    unseen: Counts
    pieces: Pieces


def fetched(name: str, seed: int) -> Fetched:
    """The pages of a case."""
    plan = CRAWLS[name]
    kinds = [KINDS[kind] for kind in TRAINED]
    # Its parts, and not its crawls, decide what a site is: the same pages are seen in more and more versions.
    site = site_of(f"{plan.parts[0].replace(' ', '-')}-{seed}", seed, kinds, Knobs(pages=PAGES))
    urls = [url for kind in TRAINED for url in urls_of(site.endpoints[kind], seed, PAGES)]
    start = f"http://www.{site.domain}/"
    seen: dict[str, Sequence[Page]] = {}
    unseen: dict[str, Sequence[Page]] = {}
    times: dict[str, Sequence[float]] = {}
    turns = [_turn(crawl, len(urls), seed, shuffled=plan.shuffled) for crawl in plan.crawls]
    for place, url in enumerate([start, *urls]):
        times_each = plan.others if place else plan.starts
        fetches = [turn[place] + again * MOMENTS for turn in turns for again in range(times_each)]
        pages = [_page(site, url, time, number, plan) for number, time in enumerate(fetches)]
        if place % 2:
            unseen[url] = pages
        else:
            seen[url], times[url] = pages, fetches
    return Fetched(seen, unseen, times)


def _turn(crawl: float, pages: int, seed: int, *, shuffled: bool) -> list[float]:
    """When a crawl fetches the start page, and each other page."""
    rng = rng_of(seed, "turn", crawl)
    began = START + crawl + (rng.uniform(0, HOUR / 4) if shuffled else 0)
    order = list(range(1, pages + 1))
    if shuffled:
        rng.shuffle(order)
    return [began, *(began + place * STEP for place in order)]


def _page(site: Site, url: str, time: float, number: int, plan: Plan) -> Page:
    slots = (*plan.parts, *LASTING)
    page = render(site, url, time, number, slots)
    return start_page(site, time, number, slots) if page is None else page


def result(name: str, seed: int) -> Result:
    """Learn one case, and score it."""
    case = fetched(name, seed)
    mask = learn_mask({url: [page.html for page in pages] for url, pages in case.seen.items()}, times=case.times)
    passing = passing_words([page for pages in (*case.seen.values(), *case.unseen.values()) for page in pages])

    def counts(versions: Mapping[str, Sequence[Page]]) -> Counts:
        versions = {url: pages[-SCORED:] for url, pages in versions.items()}
        fingerprints = {
            url: [mask.sketch(version_of(page.html), url).bag for page in pages] for url, pages in versions.items()
        }
        return score(mask, versions, passing) + compared(fingerprints, versions, VOLATILE)

    return Result(name, counts(case.seen), counts(case.unseen), pieces(mask, case))


def pieces(mask: Mask, case: Fetched) -> Pieces:
    """What is gone of the pieces of HTML of all pages that are scored."""
    found = Pieces()
    for url, pages in (*case.seen.items(), *case.unseen.items()):
        for page in pages[-SCORED:] if any(page.values for page in pages) else ():
            left = mask.strip(page.html, url=url)
            for value in page.values:
                own, gone = (found.passing, found.passing_gone) if value.passes else (found.lasting, found.lasting_gone)
                own[value.name] += 1
                gone[value.name] += value.html not in left
    return found


def results(names: Sequence[str], sites: int) -> list[Result]:
    """Every case on so many sites, those of one case added up."""
    found = []
    for name in names:
        parts = [result(name, seed) for seed in range(sites)]
        found.append(
            Result(
                name,
                sum((part.seen for part in parts), Counts()),
                sum((part.unseen for part in parts), Counts()),
                sum((part.pieces for part in parts), Pieces()),
            )
        )
    return found


def print_results(found: Iterable[Result]) -> None:
    """Print a table of the cases, and one of the pieces of HTML that show no text."""
    rows: list[Sequence[object]] = []
    found = list(found)
    for each in found:
        both = (each.seen, each.unseen)
        own = each.pieces
        shares = [
            " ".join([rate(getattr(counts, name)) for counts in both])
            for name in ("precision", "recall", "f1", "equal_share", "told_share")
        ]
        numbers = [" ".join([str(getattr(counts, name)) for counts in both]) for name in ("wrong", "missed")]
        html = (_of(own.passing_gone, own.passing), _of(own.lasting_gone, own.lasting))
        rows.append((each.case, *shares[:3], *numbers, *shares[3:], *html))
    columns = ("case", "precision", "recall", "F1", "wrong", "missed", "equal", "told", "passing HTML", "lasting HTML")
    caption = "Wrong, missed: tokens. Equal: pairs of versions without real change; told: pairs with one. HTML: pieces that are gone"
    title = "Crawls at known times: tokens that pass, on pages learned from / never seen"
    print_table(title, columns, rows, caption=caption, width=160)
    rows = []
    every = sum((each.pieces for each in found), Pieces())
    for passes, gone, all_ in (("yes", every.passing_gone, every.passing), ("no", every.lasting_gone, every.lasting)):
        for name in all_:
            rows.append((name, passes, f"{gone[name]} / {all_[name]}"))
    if every.passing:
        title = "Pieces of HTML that show no text: gone / all, all cases together"
        print_table(title, ("piece", "passes", "gone"), rows, left=3)


def _of(gone: Counter[str], every: Counter[str]) -> str:
    return f"{gone.total()}/{every.total()}" if every else "-"


def checks(found: Iterable[Result]) -> list[Check]:
    """What ``--check`` asks of each case."""
    wanted = []
    for each in found:
        both = each.seen + each.unseen
        if both.found + both.missed:
            wanted.append(Check(f"{each.case}: F1 of tokens", both.f1, least=LEAST_F1))
        wanted.append(Check(f"{each.case}: tokens wrongly removed", both.wrong, most=0))
        if both.changes:
            wanted.append(Check(f"{each.case}: real changes told", both.told_share, least=1))
        own = each.pieces
        if own.passing:
            share = own.passing_gone.total() / own.passing.total()
            wanted.append(Check(f"{each.case}: passing pieces of HTML gone", share, least=LEAST_GONE))
            wanted.append(Check(f"{each.case}: lasting pieces of HTML gone", own.lasting_gone.total(), most=0))
    return wanted


def as_json(found: Iterable[Result]) -> dict[str, Any]:
    """Everything measured, by case."""
    names = ("precision", "recall", "f1", "wrong", "missed", "equal_share", "told_share")
    return {
        each.case: {
            "seen": {name: getattr(each.seen, name) for name in names},
            "unseen": {name: getattr(each.unseen, name) for name in names},
            "passing_html": {name: [each.pieces.passing_gone[name], n] for name, n in each.pieces.passing.items()},
            "lasting_html": {name: [each.pieces.lasting_gone[name], n] for name, n in each.pieces.lasting.items()},
        }
        for each in found
    }
