"""What buys what: each part of the package is switched off by itself, and the figures that can show it are measured without it.

    python -m tests.benchmarks.ablation --data DIR [--only PART...] [--numbers] [--columns COLUMN...] [--results FILE] [--print]

Each figure is appended to the file of results once it is measured (``build/ablation.jsonl`` unless another is named), so that a run that was
ended goes on where it was when it is begun again; ``--print`` prints the table of what there is. Which columns can show a
part, and how it is switched off, says :mod:`.parts`. With ``--numbers`` the numbers of the learner (``scrapy_dedup.learning.config``)
are halved and doubled instead.

Columns of learning give the removed share of the duplicates: labelled sets (``DIR/data/urls``, the first URLs of each), random small
sites and made-up sites (half of them with odd responses), worlds (``DIR/worlds``), recorded sites (``DIR/sites``); *second* learns beside the rules of a
first crawl. Columns of first crawls, in simulated time in which learning takes none, give the saved share of the cold crawl and of the
one that begins with its rules; *planted* begins with wrong rules. *Cases* and *times* are recall of what passes on made-up pages, *likeness* that of equal
pages, *news* the share of clean items, *forum* what a next crawl saves. *Keys* tell whether the canonical keys of all URLs of learning
are as they were, and the time of one by that of w3lib. Beside each stands what is lost: pages, wrong pairs, tokens or lasting values.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, partial
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from zlib import crc32

from scrapy import Request

from scrapy_dedup import Mask, Observation, RuleBook, learn_rules
from scrapy_dedup.crawl.items.handed_over import strings_handed_over
from scrapy_dedup.crawl.items.pipeline import _Field as FieldRewriting
from scrapy_dedup.crawl.observe.site_masks import with_links
from scrapy_dedup.crawl.support.item_fields import with_field
from scrapy_dedup.learning.config import Config
from scrapy_dedup.masks.fields import TransientPage
from scrapy_dedup.masks.files import load_masks
from scrapy_dedup.rules import Evidence, Ignore, Rule

from . import aliases, likeness, transient
from .fitting.strata_of_sites import NOISE, KnownSite, labelled, made_up, recorded, small, worlds
from .likeness_traps import TRAPS
from .masks import crawls
from .masks.cases import CASES
from .news import command as news
from .news.crawling import Crawl, crawls_of
from .news.scores import KINDS, Score, score_item
from .news.spider import CONTENT_FIELDS
from .parts import LEARN, NOISY, NONE, PARTS, REPLAY, part_of, varied, without
from .recordings.recording import Recording
from .replay import Replay
from .scoring.score import pooled, score
from .sites.forum import STYLES
from .timing.keys import compare

URLS, SMALL = 1_000, 10
"""URLs of a labelled set that are learned from, and that are scored; small sites, as many again with odd responses."""
ANSWERS = 800
"""Answers of a recording that are crawled, the first ones."""
LINKED = "apache-docs"
"""Recording that is learned and scored as a whole: half of a directory is no directory."""
DAYS, NOISES = 3, ("typed", "all")
MOVED = 0.01
"""By so much a share moves that says that a part buys something."""
PLANTED = ("id", "h")
"""Parameters of cgit that are taken for irrelevant when its crawl begins, and are not."""

Figures = dict[str, float]
"""Shares, of which more is better, and counts of what is lost, of which less is, by their names; the latter begin with "lost"."""


class Data:
    """What the columns measure, read when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.sites = cache(self._sites)
        self.replay = cache(self._replay)
        self.news = cache(self._news)

    def _sites(self, kind: str) -> list[KnownSite]:
        folder = self._folder
        if kind == "labelled":
            every = map(labelled, sorted((folder / "data/urls").glob("*.jsonl.gz")))
            return [replace(site, train=site.train[:URLS], test=site.test[:URLS]) for site in every]
        if kind == "worlds":
            return list(worlds(folder / "worlds", 0))
        if kind == "made-up":
            return [*made_up(0), *made_up(1, NOISE)]
        if kind == "small":
            return [*small(range(SMALL)), *small(range(SMALL, 2 * SMALL), NOISE)]
        sites = map(recorded, sorted((folder / "sites").glob("*.jsonl.gz")))
        return [_whole(site) if site.name == LINKED else site for site in sites]

    def _replay(self, name: str, injected: bool) -> Replay:
        answers = Recording.load(self._folder / f"sites/{name}.jsonl.gz").answers.values()
        return Replay(Recording(name, islice(answers, ANSWERS)), injected=injected)

    def _news(self) -> tuple[Crawl, Mask]:
        """Return the last crawl of a news site, with all parts in use, and the mask that is learned then."""
        with tempfile.TemporaryDirectory(prefix="ablation-") as scratch, without(NONE):
            *_, last = crawls_of(0, DAYS, 1, Path(scratch) / "project")
            (mask,) = load_masks([Path(scratch) / "project/rules"]).values()
        return last, with_links(mask)


def _whole(site: KnownSite) -> KnownSite:
    """Return a site that is learned and scored as a whole."""
    known = site.everything()
    return replace(site, train=known, test=[(each.observation.url, each.page) for each in known])


def removed(books: Iterable[tuple[KnownSite, RuleBook]]) -> Figures:
    """Return the removed share of the duplicates of sites, by the rules of each, and the pages lost."""
    whole = pooled(
        score([book.canonical_key(url) for url, _ in site.test], [page for _, page in site.test])
        for site, book in books
    )
    return {"removed": whole.oracle_compression or 0.0, "lost": whole.lost}


def _seen(site: KnownSite) -> list[Observation]:
    return [known.observation for known in site.train]


def _learned(data: Data, kind: str) -> Figures:
    return removed((site, learn_rules(_seen(site))) for site in data.sites(kind))


def _second(data: Data) -> Figures:
    def book_of(site: KnownSite) -> RuleBook:
        seen = _seen(site)
        half = len(seen) // 2
        book = learn_rules(seen[:half])
        fetched = {book.canonical_key(each.url): each for each in reversed(seen[half:])}
        return learn_rules(fetched.values(), known=book)

    return removed((site, book_of(site)) for site in data.sites("small")[:SMALL])


def _replayed(
    data: Data, folder: Path, *, name: str, injected: bool = False, planted: RuleBook | None = None
) -> Figures:
    found = data.replay(name, injected).at(0, folder, planted)
    cold = found["cold"]
    return {
        "cold": cold.saved_share(found["plain"], all_in=True) or 0.0,
        "warm": found.saved("warm") or 0.0,
        "lost": cold.lost_count,
    }


def _planted(data: Data, folder: Path) -> Figures:
    site, evidence = "127.0.0.1:8110", Evidence(groups=20, pages=20)
    rules = [Rule(site, {}, {f"q.{key}": Ignore()}, evidence=evidence) for key in PLANTED]
    found = _replayed(data, folder, name="cgit", planted=RuleBook(rules))
    return {"cold": found["cold"], "lost": found["lost"]}


def _cases(_: Data) -> Figures:
    found = transient.results(list(CASES), 1, 6)
    counts = transient.pooled(each for each in found if each.mode != transient.SEED)
    return {"recall": counts.recall or 0.0, "equal": counts.equal_share or 0.0, "lost": counts.wrong}


def _times(_: Data) -> Figures:
    found = [each.unseen + each.seen for each in crawls.results(list(crawls.CRAWLS), 1)]
    counts = sum(found[1:], found[0])
    return {"recall": counts.recall or 0.0, "equal": counts.equal_share or 0.0, "lost": counts.wrong}


def _likeness(data: Data, folder: Path) -> Figures:
    found = []
    for name in TRAPS:
        for noise in NOISES:
            with likeness.served_trap(name, noise) as served:
                found.append(likeness.measured(name, noise, 5, served, folder / f"{name} {noise}"))
    return {
        "recall": sum(each.recall for each in found) / len(found),
        "lost": sum(each.wrong for each in found),
    }


def _news(_: Data, folder: Path) -> Figures:
    found = news.run([0], DAYS, 1, folder)
    return {**_gone(news.last_of(found)[0].score), "lost": sum(each.score.lost for each in found[1:])}


def _fields(data: Data) -> Figures:
    """Return what passes that is gone of the fields of items, as they are, as strings in JSON, and handed over to another page."""
    crawl, mask = data.news()
    found: Figures = {"lost": 0}
    pages = {item["url"]: item["raw"]["page"] for item in crawl.items}
    for how in ("", "JSON ", "carried "):
        total = Score()
        for before, item in pairwise([crawl.items[-1], *crawl.items]):
            url = item["url"] if how != "carried " else before["url"]
            own = TransientPage(mask.stripping, pages[url], url)
            handed = {"item": item["raw"]} if how == "carried " else {}
            strings = strings_handed_over(Request(url, cb_kwargs=handed)) or frozenset()
            fields = json.loads(json.dumps(item["raw"]))
            for name, kind in CONTENT_FIELDS.items():
                rewrite = FieldRewriting(own, kind, marks=False, handed_over=strings)
                fields = with_field(fields, name, rewrite if how != "JSON " else partial(_in_json, rewrite))
            total += score_item({**item, **fields}, crawl.ledger[item["number"]])
        found |= {f"{how}{name}": value for name, value in _gone(total).items()}
        found["lost"] += total.lost
    return found


def _in_json(rewrite: Callable[[list[str]], list[str] | None], strings: list[str]) -> list[str] | None:
    new = rewrite([json.dumps({"value": string}, ensure_ascii=False) for string in strings])
    return None if new is None else [json.loads(string)["value"] for string in new]


def _gone(found: Score) -> Figures:
    """Return the shares of what passes that is gone of the items, by the kind of field."""
    of_kind = {kind: [counts for (_, of), counts in found.passing.items() if of == kind] for kind in KINDS}
    return {
        f"{kind} gone": 1 - sum(n for n, _ in counts) / sum(n for _, n in counts) for kind, counts in of_kind.items()
    }


def _forum(_: Data) -> Figures:
    found = [aliases.crawl(style, 15, quiet=True) for style in STYLES]
    plain = sum(each.plain for each in found)
    return {
        "cold": 1 - sum(each.cold for each in found) / plain,
        "warm": 1 - sum(each.warm for each in found) / plain,
        "lost": sum(each.lost_cold + each.lost_warm + each.wrong for each in found),
    }


def _keys(data: Data) -> Figures:
    """Return a number that stands for all keys, and the time of one by that of w3lib."""
    digest, ratios = 0, []
    for site in [*data.sites("labelled"), *data.sites("made-up")]:
        book, urls = learn_rules(_seen(site)), [url for url, _ in site.test]
        digest = crc32("\n".join(map(book.canonical_key, urls)).encode("utf-8", "surrogatepass"), digest)
        if len(urls) >= URLS // 2 and len(book):
            Random(0).shuffle(urls)
            ratios.append(compare(site.name, book, len(book), [urls[n::5] for n in range(5)]).ratio)
    return {"w3lib less keys": -sum(ratios) / len(ratios), "lost keys": digest}


IN_PROCESS: Mapping[str, Callable[[Data], Figures]] = {
    **{kind: partial(_learned, kind=kind) for kind in LEARN},
    "second": _second,
    "cases": _cases,
    "times": _times,
    "fields": _fields,
    "forum": _forum,
    "keys": _keys,
}
CRAWLED: Mapping[str, Callable[[Data, Path], Figures]] = {
    **{name: partial(_replayed, name=name) for name in REPLAY},
    **{name: partial(_replayed, name=name.split(",")[0], injected=True) for name in NOISY},
    "planted": _planted,
    "likeness": _likeness,
    "news": _news,
}
COLUMNS = (*IN_PROCESS, *CRAWLED)

NUMBERS = [
    f"{each.name} x {factor:g}"
    for each in fields(Config)
    for factor in (0.5, 2.0)
    if varied(Config(), each.name, factor) != Config()
]
"""The numbers of the learner, halved and doubled."""

Results = dict[tuple[str, str], Figures]


def measured(data: Data, part: str, column: str) -> Figures:
    """Return the figures of a column without a part."""
    if column == "fields":
        data.news()
    with without(part):
        if column in IN_PROCESS:
            return IN_PROCESS[column](data)
        with tempfile.TemporaryDirectory(prefix="ablation-") as scratch:
            return CRAWLED[column](data, Path(scratch) / "project")


def read(results: Path) -> Results:
    """Return the figures in a file of results, by part and column; of several the last ones."""
    lines = results.read_text("utf-8").splitlines() if results.exists() else []
    rows = map(json.loads, lines)
    return {(row["part"], row["column"]): row["figures"] for row in rows}


def moved(base: Figures, found: Figures) -> Figures:
    """Return by how much each figure is another one, of those that are."""
    return {name: found[name] - base[name] for name in base if round(abs(found[name] - base[name]), 3)}


def _cell(base: Figures | None, found: Figures | None) -> str:
    if base is None or found is None:
        return ""
    figures, sign = (found, "") if found is base else (moved(base, found), "+")
    texts = [f"{name} {value:{sign}{'.0f' if name.startswith('lost') else '.3f'}}" for name, value in figures.items()]
    return ", ".join(texts) or "="


def print_results(results: Results) -> None:
    """Print a table in Markdown, with a row for each part: by how much its figures move, and which columns say that it buys something."""
    rows: list[Sequence[str]] = []
    columns = [column for column in COLUMNS if any(each == column for _, each in results)]
    for part in [each for each in (*PARTS, *NUMBERS) if any(name == each for name, _ in results)]:
        bases = {column: results.get((NONE, column)) for column in columns}
        found = {column: results.get((part, column)) for column in columns}
        moves = []
        for column in columns:
            base, now = bases[column], found[column]
            differing = moved(base, now) if base is not None and now is not None else {}
            if any(name.startswith("lost") or abs(by) >= MOVED for name, by in differing.items()):
                moves.append(column)
        left = [each for each in part_of(part).columns if found.get(each) is None]
        said = ", ".join(moves) or ("" if left or part == NONE else "nothing")
        said += " ..." if left else ""
        rows.append((part, *(_cell(bases[each], found[each]) for each in columns), said.strip()))
    for row in (("without", *columns, "what it buys"), ("---",) * (len(columns) + 2), *rows):
        print("|", " | ".join(row), "|")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what there is no result of, and print the table; return the exit code, 0."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.ablation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="holds data/urls, worlds and sites")
    parser.add_argument("--numbers", action="store_true", help="halve and double the numbers of the learner instead")
    parser.add_argument("--only", nargs="+", metavar="PART", choices=[*PARTS, *NUMBERS], help="parts or numbers")
    parser.add_argument("--columns", nargs="+", metavar="COLUMN", choices=COLUMNS, default=COLUMNS)
    parser.add_argument("--results", type=Path, metavar="FILE", default=Path("build/ablation.jsonl"))
    parser.add_argument("--print", action="store_true", help="measure nothing")
    args = parser.parse_args(argv)
    known, parts = read(args.results), args.only or (NUMBERS if args.numbers else list(PARTS))
    if not args.print:
        if args.data is None:
            parser.error("--data DIR says where the data is")
        args.results.parent.mkdir(parents=True, exist_ok=True)
        data = Data(args.data)
        for part in dict.fromkeys((NONE, *parts)):
            for column in args.columns:
                wanted = any(column in part_of(each).columns for each in parts)
                if column not in part_of(part).columns or (part, column) in known or not wanted:
                    continue
                start = time.process_time()
                try:
                    known[part, column] = measured(data, part, column)
                except Exception as error:  # noqa: BLE001 (the others are measured all the same)
                    print(part, column, repr(error), file=sys.stderr, flush=True)
                    continue
                row = {"part": part, "column": column, "figures": known[part, column]}
                with args.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                print(*row.values(), f"{time.process_time() - start:.0f} s", file=sys.stderr, flush=True)
    print_results(known)
    return 0


if __name__ == "__main__":
    sys.exit(main())
