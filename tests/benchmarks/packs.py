"""Learn from few pages of a site with a rule pack that all other sites made, and without one.

    python -m tests.benchmarks.packs --data DIR [--pages 2 5 20] [--seeds N] [--only NAME...] [--crawl NAME...] [--write] [--json]

Leaves one site out: a pack is made of all others (of those of another registrable domain) as ``scrapy learn-rules --pack`` does it,
beside the documents that the starter pack names. Of the site that was left out URLs come in a random order until so many pages
have come under two URLs; rules are learned from these, and scored on all URLs of the site. Ways:

no pack         as without packs
sites alone     a pack of the other sites as a prior, no document known
prior           the pack of the other sites and the documents as a prior
trust           the same, trusted: it acts without evidence of the site
wrong platform  as a prior, and the site is taken for one of every platform at once
contrary        a pack that says of each parameter of the site that it makes no difference, as a prior

Both errors are counted on the labels: duplicates that are still fetched (missed merges), and pages that no URL leads to any more
(lost); once as the rules stand, and once as a crawl would leave them: of the requests that a rule filters it fetches a share all the
same, the higher the younger the rule (``spot_check_share``), and a rule of which one shows another page is gone. ``--crawl`` also crawls recorded sites, from a server: stock Scrapy, and first crawls without a pack, with it as
a prior, and trusted. ``--write`` writes the counts of all sites into the package's starter pack.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.learning.learning_options import LearningOptions
from scrapy_dedup.learning.lifetime.spot_checks import spot_check_share
from scrapy_dedup.learning.packing import Teacher, pack_of
from scrapy_dedup.packs.located import STARTER, load_packs, pack_path
from scrapy_dedup.packs.model import Pack, PackRule
from scrapy_dedup.packs.pack_files import pack_text
from scrapy_dedup.rules import Ignore
from scrapy_dedup.sources.pages import PageReader
from scrapy_dedup.urls import site_of_url

from .crawling.project import PLUGIN_SETTINGS
from .crawling.server import Server
from .labelled import read_rows
from .recorded import Bench, Crawl
from .recordings.recording import Recording, read_labels
from .scoring.score import Score, score
from .scoring.table import print_table, rate

WAYS = ("no pack", "sites alone", "prior", "trust", "wrong platform", "contrary")


@dataclass(frozen=True, slots=True)
class Site:
    """A site whose pages are known: what was seen of it, and of each page (status 200) its URL and its label."""

    name: str
    domain: str
    observations: Sequence[Observation]
    urls: Sequence[str]
    labels: Sequence[str]

    def some(self, pages: int, seed: int) -> list[Observation]:
        """Observations in a random order, as many as it takes until so many pages have come under two URLs."""
        label = dict(zip(self.urls, self.labels, strict=True))
        chosen: list[Observation] = []
        seen: Counter[str] = Counter()
        twice = 0
        for each in sorted(self.observations, key=lambda each: _draw(each.url, seed)):
            chosen.append(each)
            if each.url in label:
                seen[label[each.url]] += 1
                twice += seen[label[each.url]] == 2
            if twice >= pages:
                break
        return chosen

    def score(self, book: RuleBook) -> Score:
        """The score of rules on all URLs of the site."""
        return score([book.canonical_key(url) for url in self.urls], self.labels)

    def checked(self, book: RuleBook, seed: int) -> tuple[RuleBook, int]:
        """The rules that spot checks leave, and the number of these, in a crawl of all URLs in a random order."""
        order = sorted(range(len(self.urls)), key=lambda i: _draw(self.urls[i], seed))
        checks = 0
        while True:
            refuted, made = self._refuted(book, order, seed)
            checks += made
            if not refuted:
                return book, checks
            left = [rule for rule in book if rule.id not in refuted]
            book = RuleBook(left, {site: book.site_rules(site).deep for site in book.sites})

    def _refuted(self, book: RuleBook, order: Sequence[int], seed: int) -> tuple[set[str], int]:
        """The ids of the first rules that a spot check refutes, and how many were made until then."""
        shown: dict[str, str] = {}
        agreeing = Counter({rule.id: rule.evidence.groups if rule.evidence else 0 for rule in book})
        checks = 0
        for i in order if len(book) else ():
            url = self.urls[i]
            key = book.canonical_key(url)
            if key not in shown:
                shown[key] = self.labels[i]
                continue
            acting = {rule.id for rule in book.matching(url)}
            if not acting:
                continue
            share = max(spot_check_share(agreeing[name]) for name in acting)
            if int.from_bytes(_draw("check " + url, seed), "big") >= share * 2**64:
                continue
            checks += 1
            if shown[key] != self.labels[i]:
                return acting, checks
            agreeing.update(acting)
        return set(), checks


def _draw(text: str, seed: int) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=b"%d" % seed).digest()


def sites_in(folder: Path) -> Iterator[Site]:
    """Yield the labelled sets and the recorded sites below a folder."""
    for path in sorted(folder.rglob("*.jsonl.gz")):
        labels = path.with_name(path.name.replace(".jsonl.gz", ".labels.tsv.gz"))
        yield recorded_site(path, labels) if labels.exists() else labelled_site(path)


def labelled_site(path: Path) -> Site:
    """A labelled set of URLs."""
    rows = read_rows(path)
    pages = [row for row in rows if not row.is_redirect]
    observations = [row.observation() for row in rows]
    return _site(path, observations, [row.url for row in pages], [row.fingerprint for row in pages])


def recorded_site(path: Path, labels: Path) -> Site:
    """A recorded site, its pages sketched as in a crawl; a page is told by its words in any order."""
    recording, known, reader = Recording.load(path), read_labels(labels, "sha1_bag_of_words"), PageReader()
    found: list[Observation] = []
    for each in recording.answers.values():
        headers = {"Content-Type": [each.content_type], "Location": [each.location] if each.location else []}
        seen = reader.observation(each.url, each.status, lambda name, of=headers: of.get(name, []), each.body, at=None)
        if seen is not None:
            found.append(seen)
    pages = [each.url for each in found if each.status == 200 and each.url in known]
    return _site(path, found, pages, [known[url] for url in pages])


def _site(path: Path, observations: Sequence[Observation], urls: Sequence[str], labels: Sequence[str]) -> Site:
    domain = Counter(site_of_url(url) for url in urls).most_common(1)[0][0]
    return Site(path.name.split(".")[0], domain, observations, urls, labels)


def teachers_of(sites: Iterable[Site]) -> dict[str, Teacher]:
    """A teacher of each registrable domain: what it has learned from all of its URLs."""
    observations: defaultdict[str, list[Observation]] = defaultdict(list)
    for site in sites:
        observations[site.domain] += site.observations
    found = {}
    for domain, seen in sorted(observations.items()):
        own = [each for each in seen if site_of_url(each.url) == domain]
        rules = learn(own, known=RuleBook()).book.for_site(domain)
        found[domain] = Teacher.of(domain, own, rules)
    return found


def packs_without(site: Site, teachers: Mapping[str, Teacher], base: Pack) -> dict[str, tuple[Pack, ...]]:
    """The packs of each way, made of all sites but those of one's domain."""
    others = [domain for domain in teachers if domain != site.domain]
    alone = pack_of("others", others, teachers.__getitem__, Pack("others", base.platforms))
    whole = pack_of("others", others, teachers.__getitem__, base)
    everywhere = tuple(dict.fromkeys(replace(rule, platform="") for rule in whole.rules))
    names = teachers[site.domain].parameters()
    contrary = [PackRule({name: Ignore()}, sites=9) for name in names]
    return {
        "no pack": (),
        "sites alone": (alone,),
        "prior": (whole,),
        "trust": (replace(whole, trusted=True),),
        "wrong platform": (replace(whole, rules=everywhere),),
        "contrary": (Pack("contrary", rules=tuple(contrary)),),
    }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What rules did to all URLs: as they were learned, as spot checks left them, and how many checks there were."""

    learned: Score
    checked: Score
    checks: int

    def __add__(self, other: "Outcome") -> "Outcome":
        return Outcome(self.learned + other.learned, self.checked + other.checked, self.checks + other.checks)


NOTHING = Outcome(Score(0, 0, 0, 0), Score(0, 0, 0, 0), 0)


def outcomes_of(site: Site, packs: Mapping[str, tuple[Pack, ...]], pages: int, seeds: int) -> dict[str, Outcome]:
    """The outcome of each way, pooled over seeds."""
    found = dict.fromkeys(WAYS, NOTHING)
    for seed in range(seeds):
        some = site.some(pages, seed)
        for way in WAYS:
            book = learn(some, LearningOptions(packs=packs[way]), known=RuleBook()).book
            left, checks = site.checked(book, seed)
            found[way] += Outcome(site.score(book), site.score(left), checks)
    return found


def crawls_of(path: Path, packs: Mapping[str, tuple[Pack, ...]], folder: Path) -> list[Crawl]:
    """First crawls of a recorded site: stock Scrapy, then one for each way with a pack of the other sites."""
    recording = Recording.load(path)
    file = folder / "others.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(pack_text(packs["prior"][0]), encoding="utf-8")
    uses: dict[str, Any] = {"no pack": [], "prior": {str(file): "prior"}, "trust": {str(file): "trust"}}
    with Server(path, recording.port) as server:
        bench = Bench(recording, server, folder, start_twice=recording.has_clock)
        crawls = [bench.crawl("plain", bench.project("plain", {}))]
        for way, use in uses.items():
            project = bench.project(way.replace(" ", "-"), {**PLUGIN_SETTINGS, "DEDUP_PACKS": use})
            crawls.append(bench.crawl(way, project))
    return crawls


def print_sites(results: Mapping[str, Mapping[str, Outcome]], told: Mapping[str, Sequence[str]], pages: int) -> None:
    """Print what each way did on each site: the share of the duplicates that it saves / pages lost / lost after spot checks."""
    rows: list[Sequence[object] | None] = [
        (
            name,
            ", ".join(told[name]) or "-",
            by_way[WAYS[0]].learned.duplicates,
            *(
                f"{rate(one.learned.oracle_compression)} / {one.learned.lost} / {one.checked.lost}"
                for one in by_way.values()
            ),
        )
        for name, by_way in results.items()
    ]
    title = f"After {pages} pages that had come under two URLs: saved / lost / lost after spot checks"
    print_table(title, ("site", "platforms told", "duplicates", *WAYS), rows, left=2, width=180)


def print_pooled(together: Mapping[int, Mapping[str, Outcome]]) -> None:
    """Print what each way did on all sites together."""
    columns = (
        "pages under two URLs",
        "way",
        "URLs",
        "pages",
        "duplicates",
        "saved",
        "missed merges",
        "false merges",
        "lost",
    )
    columns += ("spot checks", "lost after them", "saved after them")
    rows: list[Sequence[object] | None] = []
    for pages, by_way in together.items():
        for way, one in by_way.items():
            was, left = one.learned, one.checked
            shown = (
                was.urls,
                was.pages,
                was.duplicates,
                was.oracle_compression,
                was.missed,
                was.false_merges,
                was.lost,
            )
            rows.append((pages if way == WAYS[0] else "", way, *shown, one.checks, left.lost, left.oracle_compression))
        rows.append(None)
    print_table("All sites, each left out of the pack", columns, rows, left=2, width=180)


def print_crawls(name: str, crawls: Sequence[Crawl]) -> None:
    """Print the first crawls of a recorded site."""
    plain = crawls[0]
    columns = ("crawl", "downloads", "to verify", "distinct pages", "lost", "out of reach", "saved share", "all in")
    rows = [
        (
            *(each.name, each.downloads, each.verifying, each.bag, each.lost_count, len(each.lost) - each.lost_count),
            *(("-", "-") if each is plain else (each.saved_share(plain), each.saved_share(plain, all_in=True))),
        )
        for each in crawls
    ]
    print_table(f"{name}: first crawls", columns, rows, width=120)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.packs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="labelled sets and recorded sites")
    parser.add_argument("--pages", type=int, nargs="+", default=[2, 5, 10, 20], metavar="N")
    parser.add_argument("--seeds", type=int, default=2, metavar="N", help="orders of the URLs of each site")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="score these sites; all others teach")
    parser.add_argument("--crawl", nargs="+", default=[], metavar="NAME", help="also crawl these recorded sites")
    parser.add_argument(
        "--write", action="store_true", help="count the sites in the package's starter pack, and do nothing else"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(argv)
    sites = list(sites_in(args.data))
    teachers = teachers_of(sites)
    (starter,) = load_packs({STARTER: "prior"}, Path.cwd())
    base = replace(starter, rules=tuple(rule.counted(0, 0) for rule in starter.rules if rule.source))
    if args.write:
        pack = pack_of(STARTER, list(teachers), teachers.__getitem__, base)
        pack_path(STARTER, Path.cwd()).write_text(pack_text(pack), encoding="utf-8")
        print(f"{len(pack.rules)} rules of {len(pack.platforms)} platforms, of {len(teachers)} sites and the documents")
        return 0
    found: dict[int, dict[str, dict[str, Outcome]]] = {pages: {} for pages in args.pages}
    told: dict[str, tuple[str, ...]] = {}
    crawled: dict[str, list[Crawl]] = {}
    recordings = {path.name.split(".")[0]: path for path in args.data.rglob("*.jsonl.gz")}
    for site in sites:
        if args.only and site.name not in args.only:
            continue
        packs = packs_without(site, teachers, base)
        told[site.name] = teachers[site.domain].platforms(packs["prior"][0].platforms)
        print(f"scoring {site.name}", file=sys.stderr, flush=True)
        for pages in args.pages:
            found[pages][site.name] = outcomes_of(site, packs, pages, args.seeds)
        if site.name in args.crawl:
            with tempfile.TemporaryDirectory(prefix="packs-") as folder:
                crawled[site.name] = crawls_of(recordings[site.name], packs, Path(folder))
    together = {
        pages: {way: sum((by_way[way] for by_way in by_site.values()), NOTHING) for way in WAYS}
        for pages, by_site in found.items()
    }
    if args.json:
        figures = {
            pages: {
                way: {"learned": one.learned.figures(), "checked": one.checked.figures(), "checks": one.checks}
                for way, one in by_way.items()
            }
            for pages, by_way in together.items()
        }
        print(json.dumps(figures))
        return 0
    for pages, by_site in found.items():
        print_sites(by_site, told, pages)
    print_pooled(together)
    for name, crawls in crawled.items():
        print_crawls(name, crawls)
    return 0


if __name__ == "__main__":
    sys.exit(main())
