"""Learn from half of a labelled URL set and score on the other half.

    python -m tests.benchmarks.labelled FILE.jsonl.gz... [--json] [--check]

A row is ``{"url": .., "site": .., "fingerprint": .., "canonical"?: .., "redirect"?: ..}``: what was
fetched and which content it had. A row whose fingerprint begins with ``redirect:`` is a redirect:
evidence for the learner, but no content, so it is not scored.

``--split url`` (the default) halves the URLs by a hash of the URL; ``--split page`` halves the
contents, so that no page of the second half was ever seen under any URL; ``--split none`` learns and
scores on everything, which says what the learner can express, not what it can foresee; ``--split paper``
is the pattern-tree paper's (section 6.1): a fifth of the URLs, 100,000 at most, to learn from, and all to score on.
"""

import gzip
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import Any

from w3lib.url import canonicalize_url

from scrapy_dedup import Observation, RuleBook, learn_rules

from .command import FILES, Arguments, Command, option
from .methods.compared import Learn, Safe, asked_for
from .scoring.checks import Check, print_table, rate
from .scoring.score import Figures, Score, averages, lost_pages, missed_duplicates, pooled, score
from .sites.crawl import training_split

LEAST_COMPRESSION = {"opencart_jwellix": 0.75, "kndb2009_joomla": 0.75, "hmailserver_phpbb": 0.45}
"""Oracle-normalised compression that ``--check`` asks for, by file stem (split by URL)."""
MOST_LOST = {"altsheff": 0}
"""Lost pages that ``--check`` allows a set by itself, by file stem."""
MOST_LOST_RATE = 0.001
"""Lost pages / distinct pages that ``--check`` allows, pooled over all files."""

LEARNED, NORMAL_FORM, W3LIB = "learned rules", "normal form", "w3lib canonicalize_url"


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled URL."""

    url: str
    fingerprint: str
    canonical: str | None
    redirect: str | None

    @property
    def is_redirect(self) -> bool:
        """True for a URL that answered with a redirect, so that it has no content of its own."""
        return self.fingerprint.startswith("redirect:")

    def observation(self) -> Observation:
        """The row as the learner takes it."""
        if self.is_redirect:
            target = self.redirect or self.fingerprint.removeprefix("redirect:")
            return Observation(self.url, self.fingerprint, redirect=target, status=302)
        return Observation(self.url, self.fingerprint, canonical=self.canonical, redirect=self.redirect)


@dataclass(frozen=True, slots=True)
class Method:
    """What one way of making keys did to one half."""

    scores: Score
    lost: tuple[tuple[str, str, str], ...]
    missed: tuple[tuple[str, str], ...]
    rules: int | None = None
    errors: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """All that one file gave with one seed."""

    name: str
    seed: int
    learned_urls: int
    methods: dict[str, Method]
    book: RuleBook


def read_rows(path: Path) -> list[Row]:
    """Rows of a labelled set, gzipped or plain, in file order."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [
            Row(row["url"], row["fingerprint"], row.get("canonical"), row.get("redirect"))
            for row in map(json.loads, lines)
        ]


def draw(text: str, seed: int) -> int:
    """A number of 64 bits that is always the same for the same text and seed."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=b"%d" % seed)
    return int.from_bytes(digest.digest(), "big")


def split_rows(rows: Sequence[Row], split: str, seed: int) -> tuple[list[Row], list[Row]]:
    """(rows to learn from, rows to score on): by URL, by page, as the pattern-tree paper, or twice all of them."""
    if split == "none":
        return list(rows), list(rows)
    if split == "paper":
        chosen, scored = training_split(range(len(rows)), seed)
        return [rows[i] for i in chosen], [rows[i] for i in scored]
    sides: tuple[list[Row], list[Row]] = ([], [])
    for row in rows:
        text = row.url if split == "url" else row.fingerprint
        sides[not draw(text, seed) >> 56 & 1].append(row)
    return sides


def with_odd_labels(rows: Sequence[Row], share: float, seed: int) -> list[Row]:
    """Rows of which a share has a content of its own, as an error or a cut response would show; always the same ones."""
    return [
        replace(row, fingerprint=f"odd {row.url}")
        if not row.is_redirect and draw(f"odd {row.url}", seed) < share * 2**64
        else row
        for row in rows
    ]


def measure(key: Callable[[str], str], rows: Sequence[Row], rules: int | None = None, errors: int = 0) -> Method:
    """Score a key function on rows, redirects left out."""
    urls = [row.url for row in rows if not row.is_redirect]
    fingerprints = [row.fingerprint for row in rows if not row.is_redirect]
    keys = [key(url) for url in urls]
    return Method(
        scores=score(keys, fingerprints),
        lost=tuple(lost_pages(urls, keys, fingerprints)),
        missed=tuple(missed_duplicates(urls, keys, fingerprints)),
        rules=rules,
        errors=errors,
    )


def measure_learner(learn: Learn, observations: Sequence[Observation], rows: Sequence[Row]) -> Method:
    """Learn with another method and score it."""
    keys = learn(observations)
    safe = Safe(keys.key)
    return replace(measure(safe, rows, keys.deployed), errors=safe.errors)


def run(
    path: Path, *, split: str = "url", seed: int = 0, methods: Mapping[str, Learn] | None = None, odd: float = 0.0
) -> Result:
    """Learn from the first half of a labelled set and score every method on the second.

    *methods* are measured beside the package's rules, the normal form and w3lib; of what is learned from the share
    *odd* has a content of its own.
    """
    learn_from, score_on = split_rows(read_rows(path), split, seed)
    learn_from = with_odd_labels(learn_from, odd, seed) if odd else learn_from
    observations = [row.observation() for row in learn_from]
    book = learn_rules(observations)
    return Result(
        name=path.name.split(".")[0],
        seed=seed,
        learned_urls=len(learn_from),
        methods={
            LEARNED: measure(book.canonical_key, score_on, len(book)),
            NORMAL_FORM: measure(RuleBook().canonical_key, score_on),
            W3LIB: measure(canonicalize_url, score_on),
            **{name: measure_learner(learn, observations, score_on) for name, learn in (methods or {}).items()},
        },
        book=book,
    )


def checks(results: Sequence[Result], *, split: str) -> list[Check]:
    """The figures that ``--check`` looks at; compression only where the split is by URL."""
    found = []
    for result in results:
        scores = result.methods[LEARNED].scores
        name = f"{result.name} (seed {result.seed})"
        if split == "url" and (least := LEAST_COMPRESSION.get(result.name)) is not None:
            found.append(Check(f"{name} oracle-normalised compression", scores.oracle_compression, least))
        if (most := MOST_LOST.get(result.name)) is not None:
            found.append(Check(f"{name} lost pages", scores.lost, most=most))
    found.append(Check("pooled lost-page rate", pooled(scores_of(results, LEARNED)).lost_rate, most=MOST_LOST_RATE))
    return found


def scores_of(results: Sequence[Result], method: str) -> list[Score]:
    """One method's score of each set."""
    return [result.methods[method].scores for result in results]


def as_json(results: Sequence[Result], *, split: str) -> dict[str, Any]:
    """Everything measured, as one JSON object."""
    methods = list(results[0].methods)
    return {
        "split": split,
        "files": [
            {
                "name": result.name,
                "seed": result.seed,
                "learned_urls": result.learned_urls,
                "methods": {
                    name: method.scores.figures()
                    | {"lost_pages": method.lost, "rules": method.rules, "errors": method.errors}
                    for name, method in result.methods.items()
                },
            }
            for result in results
        ],
        "averages": {method: averages(scores_of(results, method)) for method in methods},
    }


def print_tables(results: Sequence[Result], *, split: str) -> None:
    """Print the table of all files and methods, and the averages."""
    columns = ("set", "method", "URLs", "pages", "dup.", "oracle-norm.", "lost", "lost rate", "compr.", "dup-red.")
    several_seeds = len({result.seed for result in results}) > 1
    rows: list[Sequence[object] | None] = []
    for result in results:
        name = f"{result.name} #{result.seed}" if several_seeds else result.name
        for method, measured in result.methods.items():
            shown = [*_cells(measured.scores.figures()), "" if measured.rules is None else measured.rules]
            rows.append((name if method == LEARNED else "", method, *shown))
        rows.append(None)
    for kind in ("micro", "macro") if len(results) > 1 else ():
        for method in results[0].methods:
            row = averages(scores_of(results, method))[kind]
            rows.append((f"{kind} average" if method == LEARNED else "", method, *_cells(row), ""))
        rows.append(None)
    title = f"Scored on the other half (split by {split})"
    print_table(title, (*columns, "fpr", "rules"), rows, left=2, width=190)


def _cells(row: Figures) -> Iterator[object]:
    """The columns of counts, which a macro average lacks, and of rates."""
    urls, pages = row.get("urls"), row.get("pages")
    yield from ("", "", "") if urls is None or pages is None else (urls, pages, urls - pages)
    yield from (row["oracle_compression"], row.get("lost", ""), rate(row["lost_rate"], 4))
    yield from (row["compression"], row["dup_reduction"], rate(row["false_positive_rate"], 4))


def print_details(result: Result, count: int) -> None:
    """Print what was lost, some of the duplicates that stay, and the rules."""
    method = result.methods[LEARNED]
    print(f"{result.name} #{result.seed}: {len(method.lost)} pages lost, {len(method.missed)} duplicates still fetched")
    for url, stand_in, key in method.lost[:count]:
        print(f"  lost   {url}\n  taken  {stand_in}\n  key    {key}")
    for url, twin in method.missed[:: max(len(method.missed) // max(count, 1), 1)][:count]:
        print(f"  again  {url}\n  after  {twin}")
    for rule in result.book:
        print(f"  rule   {rule.id}: {rule}")


def measured(args: Arguments) -> list[Result]:
    """Measure each set with each seed."""
    others, notes = asked_for(args.methods)
    for note in notes:
        print(f"left out  {note}", file=sys.stderr)
    seeds = range(args.seed, args.seed + args.repeats)
    return [
        run(path, split=args.split, seed=seed, methods=others, odd=args.odd)
        for path, seed in product(args.files, seeds)
    ]


def show(args: Arguments, results: Sequence[Result]) -> None:
    """Print the table, and details where they are asked for."""
    print_tables(results, split=args.split)
    for result in results if args.show is not None else ():
        print_details(result, args.show)


main = Command(
    __doc__,
    [
        FILES,
        option("--split", choices=("url", "page", "paper", "none"), default="url"),
        option("--seed", type=int, default=0, help="of the split"),
        option("--odd", type=float, default=0.0, metavar="SHARE", help="of what is learned from, made odd"),
        option("--repeats", type=int, default=1, help="splits: seed, seed + 1, ..."),
        option("--methods", metavar="A;B", help="other methods to measure, or all"),
        option("--show", type=int, metavar="N", help="examples and rules"),
    ],
    measure=measured,
    show=show,
    as_json=lambda args, results: as_json(results, split=args.split),
    checks=lambda args, results: checks(results, split=args.split),
)

if __name__ == "__main__":
    sys.exit(main())
