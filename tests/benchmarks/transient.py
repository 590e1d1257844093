"""Transient content: how well what passes is told from what lasts, and what that takes.

    python -m tests.benchmarks.transient [--sites N] [--pages N] [--cases X1,all] [--quick] [--json] [--check]
    python -m tests.benchmarks.transient --only crawls [--cases NAME,NAME] [--sites N] [--quick] [--json] [--check]
    python -m tests.benchmarks.transient --only growth [--shapes deep,CDATA] [--quick] [--json] [--check]

The first is scored on made-up sites whose truth is known token by token: a mask is learned from half of the
pages of each kind in 2, 3 and 5 versions, minutes to weeks apart, and applied to the other half, each version
by itself (see ``masks/cases.py`` and ``scoring/masking.py``), and from crawls of such sites at known times (``--only
crawls``, ``masks/crawls.py``). Without ``--only`` it is also measured how time grows on hostile pages. Each mode of ``learn_mask`` is beside the other.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from scrapy_dedup import Mask, learn_mask
from scrapy_dedup.pages.response import version_of

from .command import Arguments, Command, Unusable, comma_separated, flag, option
from .masks import crawls
from .masks.cases import CASES, STAYING, VOLATILE, Case, case_of
from .scoring.checks import Check, print_table, rate
from .scoring.masking import Counts, compared, passing_words, score
from .sites.markup import Page
from .timing import hostile

OURS, TIMED, SEED = "default", "timed", "seed"
MODES = (OURS, TIMED, SEED)
"""The modes of ``learn_mask``; TIMED is the default one, told when each version was fetched, as a crawl's store knows it."""
VERSIONS = (2, 3, 5)
FEW = 2
"""Pages of a kind, half of them learned from, on which a mask with little evidence is scored as well."""
LEAST_F1 = {2: 0.90, 3: 0.95, 5: 0.95}
"""F1 of tokens on pages never seen, all cases together, by the number of versions."""
MOST_MAIN_LOST = 0.005
LEAST_TOLD = 1.0
"""Share of the real changes, and of the pages, that the masked fingerprint must tell apart."""
MOST_SLOPE = 1.05
ALL = [*CASES, *crawls.CRAWLS]
"""The names of all cases."""
PARTS = ("cases", "crawls", "growth")
RATES = (
    *("precision", "recall", "f1"),
    *("main_lost", "equal_share", "told_share", "distinct_share"),
)


@dataclass(frozen=True, slots=True)
class Result:
    """One mask: its case, site, mode and number of versions.

    seen, unseen: its scores on the pages that it was learned from, and on the others of these kinds. touched: tokens
    that last and were removed from pages of a kind never seen in two versions: what numbers and words tell to pass goes there, too.
    """

    case: str
    seed: int
    k: int
    mode: str
    paths: int
    seen: Counts
    unseen: Counts
    touched: int


# -- made-up sites


def results(cases: Sequence[str], sites: int, pages: int) -> list[Result]:
    """Every mode on every case."""
    found = []
    for name in cases:
        for seed in range(sites):
            for k in VERSIONS:
                case = case_of(name, seed, k, pages)
                found += [result(case, seed, k, mode, learned(case, mode)) for mode in MODES]
    return found


def learned(case: Case, mode: str) -> Mask:
    """The mask that the mode learns."""
    return learn_mask(case.html(), "seed" if mode == SEED else "default", times=case.times if mode == TIMED else None)


def result(case: Case, seed: int, k: int, mode: str, mask: Mask) -> Result:
    """The scores of one mask."""
    every = [page for pages in (*case.seen.values(), *case.unseen.values()) for page in pages]
    passing = passing_words(every)

    def counts(versions: Mapping[str, Sequence[Page]]) -> Counts:
        versions = {url: pages[case.past :] for url, pages in versions.items()}
        fingerprints = {
            url: [mask.sketch(version_of(page.html), url).bag for page in pages] for url, pages in versions.items()
        }
        return score(mask, versions, passing) + compared(fingerprints, versions)

    return Result(
        case=case.name,
        seed=seed,
        k=k,
        mode=mode,
        paths=len(mask.places),
        seen=counts(case.seen),
        unseen=counts(case.unseen),
        touched=score(mask, case.strange, passing).wrong,
    )


def pooled(found: Iterable[Result], part: str = "unseen") -> Counts:
    """The counts of several masks, added up."""
    return sum((getattr(each, part) for each in found), Counts())


def chosen(found: Sequence[Result], mode: str, k: int, case: str | None = None) -> list[Result]:
    """The results of a mode and a number of versions, of one case or of all."""
    return [each for each in found if each.mode == mode and each.k == k and case in (None, each.case)]


def figures(counts: Counts) -> dict[str, Any]:
    """Counts and shares."""
    return asdict(counts) | {name: getattr(counts, name) for name in RATES}


def print_cases(found: Sequence[Result], few: Sequence[Result], cases: Sequence[str]) -> None:
    """Print a table of the modes, and one of the cases; *few* are results with little to learn from."""
    rows: list[Sequence[object]] = []
    for mode in MODES:
        for name, part, results_ in (("seen", "seen", found), ("unseen", "unseen", found), ("few", "unseen", few)):
            for k in VERSIONS:
                own = chosen(results_, mode, k)
                counts = pooled(own, part)
                rates = [rate(getattr(counts, name), 4 if name == "main_lost" else 3) for name in RATES]
                rows.append((mode, name, k, *rates, sum(each.touched for each in own)))
    caption = (
        f"Learned from half of the pages of each kind, and applied to these (seen) and to the others (unseen); "
        f"few: of {FEW} pages of each kind"
    )
    columns = ("mode", "pages", "versions", "precision", "recall", "F1")
    columns += ("main text lost", "equal pairs", "changes told", "pages told", "wrong on strange pages")
    title = "All cases together: tokens that pass, words of main text lost, fingerprints"
    print_table(title, columns, rows, left=2, caption=caption, width=160)
    columns = ("case", "precision", "recall", "F1", "main text lost", "equal pairs", "changes told", "wrong tokens")
    for mode in MODES:
        title = f"Each case, on pages never seen, mode {mode}; by versions: {', '.join(map(str, VERSIONS))}"
        rows = []
        names = ("precision", "recall", "f1", "main_lost", "equal_share", "told_share")
        for case in cases:
            by_k = [pooled(chosen(found, mode, k, case)) for k in VERSIONS]
            cells = [" ".join([rate(getattr(counts, name)) for counts in by_k]) for name in names]
            rows.append((case, *cells, " ".join([str(counts.wrong) for counts in by_k])))
        print_table(title, columns, rows, width=160)


def case_checks(found: Sequence[Result], few: Sequence[Result]) -> list[Check]:
    """What ``--check`` asks of the default mode on made-up sites."""
    wanted = []
    for mode in (OURS, TIMED):
        known = ", times known" if mode == TIMED else ""
        for k in VERSIONS:
            counts = pooled(chosen(found, mode, k))
            if counts.found + counts.missed:
                wanted.append(Check(f"F1 of tokens, {k} versions{known}", counts.f1, least=LEAST_F1[k]))
            if of_case := chosen(found, mode, k, "X6"):
                share = pooled(of_case).equal_share
                wanted.append(Check(f"X6: fingerprints of two versions equal, {k} versions{known}", share, least=1))
            wanted += safe_checks(chosen(found, mode, k), f"{k} versions{known}")
            wanted += safe_checks(chosen(few, mode, k), f"{k} versions of few pages{known}")
    return wanted


def safe_checks(found: Sequence[Result], what: str) -> list[Check]:
    """What must hold however little was learned from."""
    counts = pooled(found)
    wanted = [
        Check(f"main text lost, {what}", pooled(found, "seen").main_lost, most=MOST_MAIN_LOST),
        Check(f"main text lost on pages never seen, {what}", counts.main_lost, most=MOST_MAIN_LOST),
        Check(f"pages told apart, {what}", counts.distinct_share, least=LEAST_TOLD),
        Check(
            f"tokens wrongly removed from pages of strange kinds, {what}", sum(each.touched for each in found), most=0
        ),
    ]
    if (told := pooled(each for each in found if each.case not in VOLATILE)).changes:
        wanted.append(Check(f"real changes told, {what}", told.told_share, least=LEAST_TOLD))
    for case in ("none", "X6", "X8", *STAYING):
        if own := [each for each in found if each.case == case]:
            wrong = pooled(own).wrong + pooled(own, "seen").wrong
            wanted.append(Check(f"{case}: tokens wrongly removed, {what}", wrong, most=0))
    return wanted


def cases_json(found: Sequence[Result], few: Sequence[Result], cases: Sequence[str]) -> dict[str, Any]:
    """Everything measured on made-up sites."""
    return {
        mode: {
            str(k): {
                "seen": figures(pooled(chosen(found, mode, k), "seen")),
                "unseen": figures(pooled(chosen(found, mode, k))),
                "few": figures(pooled(chosen(few, mode, k))),
                "wrong_on_strange_pages": sum(each.touched for each in chosen([*found, *few], mode, k)),
                "cases": {case: figures(pooled(chosen(found, mode, k, case))) for case in cases},
            }
            for k in VERSIONS
        }
        for mode in MODES
    }


# -- hostile pages


def print_growths(growths: Sequence[hostile.Growth]) -> None:
    """Print slopes, and the time of the largest pages."""
    whats = list(dict.fromkeys(each.what for each in growths))
    rows: list[Sequence[object]] = []
    for shape in dict.fromkeys(each.shape for each in growths):
        of_shape = [each for each in growths if each.shape == shape]
        cells = [f"{rate(each.slope)} ({each.stopped or f'{each.seconds[-1]:.3f} s'})" for each in of_shape]
        rows.append((shape, f"{max(size for each in of_shape for size in (0, *each.sizes)) / 1e6:.2f}", *cells))
    title = "Log-log slope of CPU time over bytes, and seconds for the largest page, on hostile pages"
    print_table(title, ("page", "largest, MB", *whats), rows, width=160)


def growth_checks(growths: Sequence[hostile.Growth]) -> list[Check]:
    """What ``--check`` asks of hostile pages."""
    return [
        Check(f"slope of {each.what}, {each.shape}", None if each.stopped else each.slope, most=MOST_SLOPE)
        for each in growths
    ]


# -- the command


@dataclass(frozen=True, slots=True)
class Found:
    """What was measured of each part; nothing of those that were not asked for."""

    names: Sequence[str]
    """Of the cases."""
    cases: Sequence[Result] = ()
    few: Sequence[Result] = ()
    crawled: Sequence[crawls.Result] = ()
    growths: Sequence[hostile.Growth] = ()


def measured(args: Arguments) -> Found:
    """Measure the parts that are asked for."""
    if unknown := [name for name in args.cases if name not in ALL]:
        raise Unusable(f"no case is called {', '.join(unknown)}: there are {', '.join(ALL)}")
    parts, sites = args.only or PARTS, args.sites or (1 if args.quick else 3)
    names = [name for name in args.cases if name in CASES] if "cases" in parts else []
    crawled = [name for name in args.cases if name in crawls.CRAWLS] if "crawls" in parts else []
    return Found(
        names,
        *(results(names, sites, pages) for pages in (args.pages, FEW)),
        crawls.results(crawled, sites),
        list(hostile.growths(quick=args.quick, only=args.shapes)) if "growth" in parts else [],
    )


def show(found: Found) -> None:
    """Print the tables of what was measured."""
    if found.cases:
        print_cases(found.cases, found.few, found.names)
    if found.crawled:
        crawls.print_results(found.crawled)
    if found.growths:
        print_growths(found.growths)


main = Command(
    __doc__,
    [
        option("--only", choices=PARTS, action="append", help="a part; all if none is given"),
        option("--sites", type=int, metavar="N", help="made-up sites of each case (3; with --quick 1)"),
        option("--pages", type=int, default=12, metavar="N", help="pages of each kind (12)"),
        option("--cases", type=comma_separated, default=ALL, metavar="X1,all"),
        option("--shapes", type=comma_separated, default=(), metavar="A,B", help="hostile pages"),
        flag("--quick", "one site, large hostile pages of a tenth of their size"),
    ],
    measure=measured,
    show=lambda _, found: show(found),
    as_json=lambda _, found: {
        "cases": cases_json(found.cases, found.few, found.names),
        "crawls": crawls.as_json(found.crawled),
        "slopes": [asdict(each) | {"slope": each.slope} for each in found.growths],
    },
    checks=lambda _, found: [
        *(case_checks(found.cases, found.few) if found.cases else ()),
        *crawls.checks(found.crawled),
        *growth_checks(found.growths),
    ],
)

if __name__ == "__main__":
    sys.exit(main())
