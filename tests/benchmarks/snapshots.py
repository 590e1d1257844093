"""Real versions of pages: what a mask learned from eight snapshots does to the next two.

    python -m tests.benchmarks.snapshots SNAPSHOTS_GIT VERSIONS_GIT [--most N] [--alone] [--show N] [--json] [--check]

takes the HTML pages of a public snapshot repository of Open Terms Archive, and the curated texts beside it, which tell
whether a page truly changed (see ``git_pages.py``). Each run of ten snapshots of a document that follow each other is a
case: a mask is learned from the first eight, told their times, with the eight of the other documents of the site (with
``--alone`` by itself), and the last two are compared under it. Nothing is fetched, and nothing is written.

Where the curated text says that nothing changed, two snapshots should be equal. That can be asked where they differ at
places only that were seen changing in the eight. Where it changed they must not be made equal; a change back to an earlier
text, or of addresses of links only, is counted apart: texts that take turns pass, and so do tokens in addresses.

Left out as doubtful are pairs without a change of which one does not show the words of the curated text: what was
fetched then was not the page (a log-in, an error), so that no text could be extracted and none was recorded.
"""

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from html import unescape
from pathlib import Path
from typing import Any

from w3lib.encoding import html_to_unicode

from scrapy_dedup import Mask, learn_mask
from scrapy_dedup.content.versions import version_of
from scrapy_dedup.urls.keyvalues import site_of_url

from .masks.folder import visible
from .recordings.git_pages import Curated, Recorded, Repository, Truth, UnusableRepository, documents, says
from .recordings.page_places import differing, places
from .scoring.checks import Check, report
from .scoring.masking import share
from .scoring.table import print_table, rate

LEARNED, RUN = 8, 10
VIEWS = ("compared", "text", "html")
"""For comparison, and what is stripped: the visible text, and the HTML."""
LEAST_COMPARED, LEAST_TEXT = 0.8, 0.6
"""Of the pairs without a change that differ at places only that were seen changing, how many must be equal."""
LEAST_SHOWN = 0.9
"""Share of the curated words that a page must show to be the one that the text is of."""
_words = re.compile(r"\w+").findall


@dataclass(frozen=True, slots=True)
class Pair:
    """The last two snapshots of a run. *before* and *after*: in which views they are equal without the mask, and under it.

    known: whether they differ at places only that were seen changing in the eight. apart: whether the change
    may be one that passes.
    """

    site: str
    document: str
    commits: tuple[str, str]
    known: bool
    before: frozenset[str]
    after: frozenset[str]
    changed: bool = False
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """All pairs, and how many runs could not be judged: their truth is unknown, or doubtful."""

    pairs: Sequence[Pair]
    documents: int
    unknown: int
    doubtful: int
    missing: int
    """Snapshots that a partial copy of the repository lacks."""


@dataclass
class Snapshot:
    """One snapshot as it is looked at; what is made of it is kept, since it is in up to ten runs."""

    recorded: Recorded
    html: str
    kept: dict[str, Any] = field(default_factory=dict)

    def of(self, what: str, make: Callable[[str], Any]) -> Any:
        """What *make* makes of the page."""
        if what not in self.kept:
            self.kept[what] = make(self.html)
        return self.kept[what]

    def places(self) -> Mapping[str, str]:
        """Each place of the page, and a digest of what stands there."""
        found: dict[str, str] = self.of("places", places)
        return found

    def shows(self, text: bytes) -> bool:
        """Whether hardly a word of a curated text is missing in the source."""
        words = set(_words(text.decode(errors="replace").casefold()))
        there = self.of("words", lambda html: frozenset(_words(unescape(html).casefold())))
        return not words or len(words & there) >= LEAST_SHOWN * len(words)


# -- from repositories to pairs


@dataclass(frozen=True, slots=True)
class Document:
    """The snapshots of one document, the truth of each and the next, and the URL that names it when it is learned."""

    path: str
    url: str
    snapshots: Sequence[Recorded]
    truths: Sequence[Truth]

    def runs(self) -> int:
        """Runs of ten snapshots that follow each other."""
        return max(len(self.snapshots) - RUN + 1, 0)


def sites(snapshots: Iterable[Recorded], curated: Curated, only: str = "") -> dict[str, list[Document]]:
    """The documents of each site that have a run; a site is a domain, or a service where no URL is known."""
    found: defaultdict[str, list[Document]] = defaultdict(list)
    for path, own in sorted(documents(snapshots).items()):
        if len(own) < RUN or only.casefold() not in path.casefold():
            continue
        location = own[-1].location
        # Documents that are of one page get names of their own; a name that is no URL is one of no kind of pages.
        url = f"{location.partition('#')[0]}#{path}" if location else path
        site = site_of_url(location) if location else path.partition("/")[0]
        found[site].append(Document(path, url, own, curated.truths(own)))
    return dict(found)


def measure(snapshots: Repository, versions: Repository, most: int | None, *, alone: bool, only: str = "") -> Found:
    """Every run, of each document the newest *most*."""
    recorded = snapshots.recorded(".html")
    if not recorded:
        raise UnusableRepository(f"{snapshots.given} has no HTML page: is it a repository of snapshots?")
    texts = versions.recorded(".md")
    if not texts:
        raise UnusableRepository(f"{versions.given} has no curated text (*.md): is it a repository of versions?")
    by_site = sites(recorded, Curated(texts), only)
    if not by_site:
        raise UnusableRepository(f"{snapshots.given} has no document with {RUN} snapshots of HTML")
    if all(truth.changed is None for own in by_site.values() for document in own for truth in document.truths):
        raise UnusableRepository(f"{versions.given} has no text of the documents of {snapshots.given}, at their times")
    total = Found([], sum(map(len, by_site.values())), 0, 0, 0)
    for site, own in by_site.items():
        for group in ([document] for document in own) if alone else [own]:
            here = _measure_site(site, group, snapshots, versions, most)
            total = Found(
                [*total.pairs, *here.pairs],
                total.documents,
                total.unknown + here.unknown,
                total.doubtful + here.doubtful,
                total.missing + here.missing,
            )
    return total


def _measure_site(
    site: str, group: Sequence[Document], repository: Repository, versions: Repository, most: int | None
) -> Found:
    """The runs of documents that are learned together: the last of each, then the last but one of each, and so on."""
    pairs: list[Pair] = []
    unknown = doubtful = 0
    read: dict[str, Snapshot | None] = {}

    def snapshot(recorded: Recorded) -> Snapshot | None:
        if recorded.commit not in read:
            body = repository.blob(recorded.blob)
            read[recorded.commit] = None if body is None else Snapshot(recorded, html_to_unicode("", body)[1])
        return read[recorded.commit]

    steps = max(document.runs() for document in group)
    for step in range(steps if most is None else min(most, steps)):
        runs: list[tuple[Document, Truth, list[Snapshot]]] = []
        for document in group:
            end = len(document.snapshots) - step
            if end >= RUN:
                run = [each for recorded in document.snapshots[end - RUN : end] if (each := snapshot(recorded))]
                if len(run) == RUN:
                    runs.append((document, document.truths[end - 2], run))
        mask: Mask | None = None
        for document, truth, run in runs:
            if truth.changed is None:
                unknown += 1
            elif not truth.changed and not all(each.shows(versions.blob(truth.text) or b"") for each in run[LEARNED:]):
                doubtful += 1
            else:
                mask = mask or learned(runs)
                before, text = says(versions.blob(truth.before)), says(versions.blob(truth.text))
                apart = truth.changed and (truth.back or before == text)
                pairs.append(replace(pair_of(site, document, run, mask), changed=truth.changed, apart=apart))
    return Found(pairs, len(group), unknown, doubtful, sum(each is None for each in read.values()))


def learned(runs: Iterable[tuple[Document, Truth, Sequence[Snapshot]]]) -> Mask:
    """The mask that is learned from the first eight snapshots of each run."""
    first = {document.url: run[:LEARNED] for document, _, run in runs}
    return learn_mask(
        {url: [each.html for each in run] for url, run in first.items()},
        times={url: [each.recorded.time for each in run] for url, run in first.items()},
    )


def pair_of(site: str, document: Document, run: Sequence[Snapshot], mask: Mask) -> Pair:
    """What the mask does to the last two snapshots of a run."""
    seen = [each.places() for each in run]
    before = set().union(*map(differing, seen[: LEARNED - 1], seen[1:LEARNED]))
    one, two = run[LEARNED:]
    plain = [
        {
            "compared": each.of("compared", lambda html: Mask().masked(version_of(html))),
            "text": each.of("text", visible),
            "html": each.html,
        }
        for each in (one, two)
    ]
    masked = []
    for each in (one, two):
        stripped = mask.strip(each.html, url=document.url)
        compared = mask.masked(version_of(each.html), url=document.url)
        masked.append({"compared": compared, "text": visible(stripped), "html": stripped})
    return Pair(
        site=site,
        document=document.path,
        commits=(one.recorded.commit, two.recorded.commit),
        known=differing(seen[-2], seen[-1]) <= before,
        before=frozenset(view for view in VIEWS if plain[0][view] == plain[1][view]),
        after=frozenset(view for view in VIEWS if masked[0][view] == masked[1][view]),
    )


# -- figures


def figures(pairs: Sequence[Pair]) -> dict[str, Any]:
    """The counts and shares of pairs."""
    same = [pair for pair in pairs if not pair.changed]
    known = [pair for pair in same if pair.known]
    changed = [pair for pair in pairs if pair.changed and not pair.apart]
    apart = [pair for pair in pairs if pair.apart]
    return {
        "unchanged": len(same),
        "unchanged_known": len(known),
        "changed": len(changed),
        "changed_apart": len(apart),
        "equal_known": {view: share(sum(view in pair.after for pair in known), len(known)) for view in VIEWS},
        "equal_known_before": {view: share(sum(view in pair.before for pair in known), len(known)) for view in VIEWS},
        "equal": {view: share(sum(view in pair.after for pair in same), len(same)) for view in VIEWS},
        "equal_before": {view: share(sum(view in pair.before for pair in same), len(same)) for view in VIEWS},
        "made_equal": {view: len(made_equal(changed, view)) for view in VIEWS},
        "apart_made_equal": {view: len(made_equal(apart, view)) for view in VIEWS},
        "changed_equal_before": {view: sum(view in pair.before for pair in changed) for view in VIEWS},
    }


def made_equal(pairs: Iterable[Pair], view: str) -> list[Pair]:
    """The pairs with a true change that are told apart without the mask, and not under it."""
    return [pair for pair in pairs if pair.changed and view in pair.after - pair.before]


def checks(pairs: Sequence[Pair]) -> list[Check]:
    """What ``--check`` asks; without pairs of both kinds it does not hold."""
    found = figures(pairs)
    return [
        Check("known places only, equal for comparison", found["equal_known"]["compared"], least=LEAST_COMPARED),
        Check("known places only, equal in visible text", found["equal_known"]["text"], least=LEAST_TEXT),
        Check("pairs with a true change", found["changed"], least=1),
        *[Check(f"true changes made equal, {view}", found["made_equal"][view], most=0) for view in VIEWS],
    ]


def print_figures(found: Found, show: int) -> None:
    """Print a table of the sites, and some of the pairs that are wrong."""
    by_site: defaultdict[str, list[Pair]] = defaultdict(list)
    rows: list[Sequence[object]] = []
    for pair in found.pairs:
        by_site[pair.site].append(pair)
    for site, pairs in [*sorted(by_site.items()), ("all", found.pairs)]:
        own = figures(pairs)
        row = (
            site,
            own["unchanged"],
            _rates(own["equal_before"]),
            _rates(own["equal"]),
            own["unchanged_known"],
            _rates(own["equal_known_before"]),
            _rates(own["equal_known"]),
            own["changed"],
            " ".join(map(str, own["changed_equal_before"].values())),
            " ".join(map(str, own["made_equal"].values())),
            own["changed_apart"],
            " ".join(map(str, own["apart_made_equal"].values())),
        )
        rows.append(row)
    caption = (
        f"Each: for comparison, in visible text, in HTML. {found.documents} documents; left out: {found.unknown} runs of "
        f"unknown truth, {found.doubtful} doubtful ones, {found.missing} snapshots that the copy lacks"
    )
    columns = ("site", "unchanged", "equal before", "equal", "at known places", "equal before", "equal", "changed")
    columns += ("equal before", "made equal", "changed apart", "made equal")
    title = "The last two of ten snapshots, under a mask learned from eight: pairs that are equal"
    print_table(title, columns, rows, caption=caption, width=160)
    for pair in [pair for pair in found.pairs if is_wrong(pair)][:show]:
        what = "made equal" if pair.changed else "not equal"
        print(f"{what}: {pair.document}, {' '.join(commit[:10] for commit in pair.commits)}")


def is_wrong(pair: Pair) -> bool:
    """Whether a pair is what it should not be, for comparison or in visible text."""
    wrong = pair.after - pair.before if pair.changed else set(VIEWS) - pair.after if pair.known else set()
    return bool(wrong & {"compared", "text"})


def _rates(shares: Mapping[str, float | None]) -> str:
    return " ".join(map(rate, shares.values()))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.snapshots", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("snapshots", type=Path, metavar="SNAPSHOTS_GIT", help="the raw pages: a git directory")
    parser.add_argument("versions", type=Path, metavar="VERSIONS_GIT", help="the curated texts: a git directory")
    parser.add_argument("--most", type=int, metavar="N", help="of each document the newest N runs of ten (all)")
    parser.add_argument("--only", default="", metavar="TEXT", help="documents with this in SERVICE/TERMS")
    parser.add_argument("--alone", action="store_true", help="learn from each document by itself")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="so many pairs that are wrong")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--check", action="store_true", help="exit non-zero on a missed figure")
    args = parser.parse_args(argv)
    try:
        with closing(Repository(args.snapshots)) as snapshots, closing(Repository(args.versions)) as versions:
            found = measure(snapshots, versions, args.most, alone=args.alone, only=args.only)
    except UnusableRepository as error:
        print(error, file=sys.stderr)
        return 2
    if args.json:
        pairs = [
            asdict(pair) | {view: sorted(getattr(pair, view)) for view in ("before", "after")} for pair in found.pairs
        ]
        print(json.dumps(asdict(found) | {"pairs": pairs} | figures(found.pairs), indent=2))
    else:
        print_figures(found, args.show)
    return report(checks(found.pairs)) if args.check else 0


if __name__ == "__main__":
    sys.exit(main())
