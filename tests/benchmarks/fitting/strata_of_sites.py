"""What the judge sees of every proposal in every stratum of a site, acting or not, and what was held out of it.

Proposals are what was learned from half of the pages, operation by operation, and beside it the dropping of each key that is
left. The witness groups of a proposal are the URLs that it makes one, together with what was learned; the two halves of these
are told by the key that they get, so that the pages of a wrong merge are always in the same half. The judge sees one half;
of the other is counted how many requests would be filtered, and how many of these lose a page. A stratum is a section of the
site; of a key that is a choice of few, each of its values, too.
"""

import argparse
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from scrapy_dedup import Observation
from scrapy_dedup.learning.data.clusters import clusters
from scrapy_dedup.learning.data.judgement import SiteUrls, book_of
from scrapy_dedup.learning.data.url_table import RARE, Table
from scrapy_dedup.learning.decision.divisions import by_sections, by_value
from scrapy_dedup.learning.decision.validation import within_budget
from scrapy_dedup.learning.evidence.arrays import Codes, Flags, Rows
from scrapy_dedup.learning.evidence.judge import Judge
from scrapy_dedup.learning.evidence.value_kinds import ValueKind, kind_of_values
from scrapy_dedup.learning.evidence.witnesses import Witnesses, witnesses
from scrapy_dedup.learning.proposals.combining import rules_of
from scrapy_dedup.learning.proposals.proposal import Proposal
from scrapy_dedup.learning.selection import selected
from scrapy_dedup.learning.site_evidence import evidence_of, judged_sample
from scrapy_dedup.rules import Ignore
from scrapy_dedup.rules.model import operation_problem
from scrapy_dedup.urls import DeepSplit, normal_form, site_of_url
from tests import small_sites

from ..labelled import read_rows, split_rows, with_odd_labels
from ..recordings.recording import Recording
from ..sites.crawl import Row, crawl, split
from ..sites.levels import sites_of
from ..sites.model import Knobs

PAGES = 100
MEGA = 300
"""Of the made-up sites: pages of an endpoint, and URLs of its page that has many."""
NOISE = 0.03
"""Share of odd responses of the noisy half of the generated sites."""


@dataclass(frozen=True, slots=True)
class Known:
    """A response, and the page that its URL is; of what was not generated, the page is what the label says."""

    observation: Observation
    page: str


@dataclass(frozen=True, slots=True)
class KnownSite:
    """A site: what is learned from, and the URLs and pages that are scored."""

    name: str
    data: str
    """The kind of data."""
    generated: bool
    train: Sequence[Known]
    test: Sequence[tuple[str, str]]

    def everything(self) -> list[Known]:
        """Return all responses: those that are scored as if they had been seen, too."""
        return [*self.train, *(Known(Observation(url, page), page) for url, page in self.test)]


def small(seeds: range, noise: float = 0.0) -> Iterator[KnownSite]:
    """Yield the random small sites of some seeds."""
    for seed in seeds:
        train, test = small_sites.parted(seed)
        seen = small_sites.spoiled(train, seed, noise)
        known = [Known(one, page) for one, (_, page) in zip(seen, train, strict=True)]
        yield KnownSite(f"small {seed} {noise:g}", "small sites", True, known, test)


def made_up(seed: int, noise: float = 0.0, only: Sequence[str] = ()) -> Iterator[KnownSite]:
    """Yield a made-up site of each phenomenon and each trap."""
    for site in sites_of("L0", seed, Knobs(pages=PAGES, mega=MEGA, noise=noise), only):
        parts = split(crawl(site), site.seed)
        train = [Known(row.observation(), row.page_text) for row in parts.train]
        yield KnownSite(f"{site.domain} {noise:g}", "made-up sites", True, train, _pairs(parts.unseen))


def _pairs(rows: Sequence[Row]) -> list[tuple[str, str]]:
    return [(row.url, row.page_text) for row in rows]


def worlds(folder: Path, seed: int, noise: float | None = None, soft: float | None = None) -> Iterator[KnownSite]:
    """Yield the worlds of a folder; without *noise* and *soft* each has its own. Raises ValueError where there are none."""
    if not (folder / "worlds.py").is_file():
        raise ValueError(f"{folder} holds no worlds.py")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    module, kit = importlib.import_module("worlds"), importlib.import_module("kit")
    for world in module.build(seed, kit.Knobs(noise=noise, soft=soft), None):
        train = [
            Known(
                Observation(s.url, s.fingerprint, canonical=s.canonical, redirect=s.redirect, status=s.status), s.page
            )
            for s in world.train
        ]
        yield KnownSite(f"{world.name} {seed} {world.noise:g}", "worlds", True, train, list(world.new))


def labelled(path: Path, odd: float = 0.0) -> KnownSite:
    """Return a labelled set, halved by URL; the share *odd* of what is learned from has a content of its own."""
    learn_from, score_on = split_rows(read_rows(path), "url", 0)
    spoiled = with_odd_labels(learn_from, odd, 0) if odd else learn_from
    train = [Known(seen.observation(), row.fingerprint) for seen, row in zip(spoiled, learn_from, strict=True)]
    test = [(row.url, row.fingerprint) for row in score_on if not row.is_redirect]
    return KnownSite(path.name.split(".")[0], "labelled sets", False, train, test)


def recorded(path: Path) -> KnownSite:
    """Return a recorded site, as a labelled set: pages are told by their bags of words."""
    recording = Recording.load(path)
    rows = [Known(Observation(url, page.bag, bag=page.bag), page.bag) for url, page in recording.identities.items()]
    return KnownSite(recording.name, "recordings", False, rows[::2], [(k.observation.url, k.page) for k in rows[1::2]])


def add_arguments(parser: argparse.ArgumentParser, small_seeds: int, seeds: int) -> None:
    """Add the arguments that say which sites are measured."""
    parser.add_argument("--small", type=int, default=small_seeds, metavar="N", help=f"small sites ({small_seeds})")
    parser.add_argument(
        "--seeds", type=int, default=seeds, metavar="N", help=f"seeds of made-up sites, worlds ({seeds})"
    )
    parser.add_argument("--worlds", type=Path, metavar="DIR")
    parser.add_argument("--labelled", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--recorded", type=Path, nargs="+", default=[], metavar="FILE")


def chosen(args: argparse.Namespace) -> Iterator[KnownSite]:
    """Yield the sites that the arguments ask for: of those that are generated half are quiet, half noisy."""
    half = args.small // 2
    yield from small(range(half))
    yield from small(range(half, args.small), NOISE)
    for seed in range(args.seeds):
        yield from made_up(seed, NOISE * (seed % 2))
        if args.worlds:
            yield from worlds(args.worlds, seed)
    yield from map(labelled, args.labelled)
    yield from map(recorded, args.recorded)


MOST_KEYS = 60
"""Keys of a site whose dropping is judged, those that most URLs have first."""
MOST_URLS = 6_000
"""URLs of a site, those of some of its pages."""
MAX_LOSS = 0.001
BY_VALUES = ", value by value"
"""What the name of a rule ends with whose strata are values."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Of a stratum: filtered requests, those of them that lose a page, and the groups that they are in."""

    stratum: int
    filtered: int
    lost: int
    groups: int


@dataclass(frozen=True, slots=True)
class Judged:
    """A proposal: what the judge sees of it, all that is known of it, and what was held out."""

    site: str
    data: str
    generated: bool
    rule: str
    kind: ValueKind
    by_values: bool
    """Whether its strata are values of its key: it stands there by sections, too."""
    said: float
    """The log-odds of relevance that others than pages give."""
    strata: int
    judge: Judge
    seen: Witnesses
    of_seen: Rows
    """The stratum of each row of what was seen."""
    known: Witnesses
    """The groups of both halves, by the pages that they are."""
    of_known: Rows
    held_out: Sequence[HeldOut]


def first_half(text: str) -> bool:
    """Tell whether something is in the first half: always the same for a text."""
    return bool(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=1).digest()[0] & 1)


def judged_proposals(site: KnownSite) -> list[Judged]:
    """Return every proposal of a site in its strata; none where nothing can be learned."""
    known = [*site.train] if site.generated else site.everything()
    if len(known) > MOST_URLS:
        share = MOST_URLS / len(known)
        known = [one for one in known if _draw(one.page) < share]
    page_of = {normal_form(one.observation.url): one.page for one in known}
    if not known:
        return []
    name = site_of_url(known[0].observation.url)
    found = clusters([one.observation for one in known])
    every = SiteUrls.of(name, found, None)
    if len(set(every.content)) < 2:
        return []
    sample, table, _ = judged_sample(every, found.controls.values())
    half = [row for row, url in enumerate(sample.urls) if first_half(page_of[url])]
    if not half or len(half) == len(sample.urls):
        return []
    evidence = evidence_of(sample.part(half), table.part(np.array(half, dtype=np.intp)))
    found_in_half = selected(evidence).proposals
    accepted = within_budget(found_in_half, evidence.sample, evidence.deep, MAX_LOSS)
    judge = evidence_of(sample, table).sample.judge
    full = replace(table.with_deep(evidence.deep) if evidence.deep else table, judge=judge)
    sample = replace(sample, judge=judge)
    pages = {page: number for number, page in enumerate(dict.fromkeys(page_of.values()))}
    page = np.array([pages[page_of[url]] for url in sample.urls], dtype=np.int32)
    return list(_Site(site, sample, full, _Learned(accepted, evidence.deep), page).judged())


def _draw(text: str) -> float:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=b"page").digest()
    return int.from_bytes(digest, "big") / 2**64


@dataclass(frozen=True, slots=True)
class _Learned:
    """What was learned from half of the pages."""

    proposals: Sequence[Proposal]
    deep: Mapping[str, DeepSplit]


@dataclass(frozen=True, slots=True)
class _Groups:
    """Witness groups: their URLs, and of each of these the number of its group, its part, and whether the judge sees it."""

    rows: Rows
    number: Rows
    part: Rows
    seen: Flags
    stratum: Rows
    """Of each group."""


class _Site:
    """A site with what was learned from half of its pages."""

    def __init__(self, site: KnownSite, sample: SiteUrls, table: Table, learned: "_Learned", page: Codes) -> None:
        self._site, self._sample, self._table, self._deep, self._page = site, sample, table, learned.deep, page
        self._accepted = [one for one in learned.proposals if not one.constant]
        self._constant = [one for one in learned.proposals if one.constant]
        self._sections = by_sections(table)

    def judged(self) -> Iterator[Judged]:
        """Yield the proposals that make any URLs one."""
        whole = self._keys(self._accepted)
        for one in self._accepted:
            others = [other for other in self._accepted if other != one]
            yield from self._of(one, whole, self._keys(others), acts=True)
        for key in self._left():
            proposal = Proposal((), key, Ignore())
            yield from self._of(proposal, self._keys([*self._accepted, proposal]), whole, acts=False)

    def _keys(self, proposals: Sequence[Proposal]) -> list[str]:
        rules = rules_of(self._sample.site, [*self._constant, *proposals])
        key = book_of(rules, self._sample, self._deep).canonical_key
        return [key(url) for url in self._sample.urls]

    def _left(self) -> list[str]:
        """Return the keys whose dropping is no part of what was learned."""
        columns = self._table.columns
        gone = {one.key for one in self._accepted if not one.match}
        can = [
            key
            for key in columns
            if key not in gone and key not in (RARE, "path.len") and operation_problem(key, Ignore()) is None
        ]
        return sorted(can, key=lambda key: (-int(np.count_nonzero(columns[key])), key))[:MOST_KEYS]

    def _of(self, proposal: Proposal, after: Sequence[str], before: Sequence[str], *, acts: bool) -> Iterator[Judged]:
        """Yield a proposal as it is judged by sections, and by values."""
        numbers: dict[str, int] = {}
        group = np.array([numbers.setdefault(key, len(numbers)) for key in after])
        parts: dict[str, int] = {}
        part = np.array([parts.setdefault(key, len(parts)) for key in before])
        order = np.lexsort((np.arange(len(group)), group))
        low, high = (np.full(len(numbers), fill) for fill in (len(parts), -1))
        np.minimum.at(low, group, part)
        np.maximum.at(high, group, part)
        rows = order[(low != high)[group[order]]]
        if not len(rows):
            return
        seen_half = np.array([first_half(f"{proposal.key} {key}") for key in numbers])
        first = np.r_[True, group[rows][1:] != group[rows][:-1]]
        number = np.cumsum(first) - 1
        of_group = self._sections.part_of_url[rows[first]]
        seen = seen_half[group[rows]]
        kind = self._kind(proposal.key)
        rule = f"{proposal.operation!r} of {proposal.key} where {proposal.match!r}"
        if acts:
            rule += ", acting"
        yield self._record(rule, proposal.key, kind, _Groups(rows, number, part[rows], seen, of_group))
        if kind is ValueKind.ENUMERATED and not acts and proposal.key in self._table.columns:
            codes = self._table.columns[proposal.key]
            values = np.unique(codes[rows]).tolist()
            numbered = dict(zip(values, range(len(values)), strict=True))
            chosen = by_value(numbered, codes, self._table.content, rows, number)
            if chosen.rows:
                side = np.concatenate([np.r_[np.zeros(size - 1), 1] for size in chosen.sizes]).astype(np.intp)
                number = np.repeat(np.arange(len(chosen.sizes)), chosen.sizes)
                groups = _Groups(rows[chosen.rows], number, side, seen[chosen.rows], np.array(chosen.values))
                yield self._record(f"{rule}{BY_VALUES}", proposal.key, kind, groups, by_values=True)

    def _kind(self, key: str) -> ValueKind:
        codes = self._table.columns.get(key)
        return ValueKind.OTHER if codes is None else kind_of_values(key, codes, self._table.vocabulary)

    def _record(self, rule: str, key: str, kind: ValueKind, groups: _Groups, *, by_values: bool = False) -> Judged:
        judge = self._sample.judge
        content, lone = self._sample.shown(groups.rows.tolist())
        page = self._page[groups.rows]
        seen = _witnesses(groups, groups.seen, content, lone, kind)
        every = np.ones(len(page), dtype=np.bool_)
        known = _witnesses(groups, every, page, ~every, kind)
        held_out = list(_held_out(groups, page))
        site = self._site
        strata = int(groups.stratum.max()) + 1
        return Judged(
            *(site.name, site.data, site.generated, rule, kind, by_values, judge.said.get(key, 0.0), strata, judge),
            *(*seen, *known, held_out),
        )


def _witnesses(groups: _Groups, chosen: Flags, shows: Codes, lone: Flags, kind: ValueKind) -> tuple[Witnesses, Rows]:
    """Return some of the groups as the judge takes them, and the stratum of each row."""
    numbers, again = np.unique(groups.number[chosen], return_inverse=True)
    found = witnesses(again, shows[chosen], lone[chosen], kind.prior, groups.part[chosen])
    # Those that look alike, and are of one stratum, stand in one row.
    stratum = groups.stratum[numbers]
    _, first, row = np.unique(np.stack((stratum, found.look)), axis=1, return_index=True, return_inverse=True)
    weight = np.bincount(row.reshape(-1), weights=found.weight).astype(np.float64)
    return replace(found.part(first), weight=weight), stratum[first]


def _held_out(groups: _Groups, page: Codes) -> Iterator[HeldOut]:
    """Yield what the groups of each stratum filter and lose; of the URLs of a part its most frequent page counts."""
    chosen, stratum = ~groups.seen, groups.stratum
    number, part, page = groups.number[chosen], groups.part[chosen], page[chosen]
    if not len(number):
        return
    three, counts = np.unique(np.stack((number, part, page)), axis=1, return_counts=True)
    order = np.lexsort((three[2], -counts, three[1], three[0]))
    three = three[:, order]
    first = np.r_[True, (three[0, 1:] != three[0, :-1]) | (three[1, 1:] != three[1, :-1])]
    group, shown = three[0, first], three[2, first]
    numbers, parts = np.unique(group, return_counts=True)
    pages = np.bincount(
        np.searchsorted(numbers, np.unique(np.stack((group, shown)), axis=1)[0]), minlength=len(numbers)
    )
    for name in np.unique(stratum[numbers]).tolist():
        here = stratum[numbers] == name
        yield HeldOut(name, int((parts[here] - 1).sum()), int((pages[here] - 1).sum()), int(here.sum()))
