"""What a published method decides of one site: its own function of URLs, and its rules as a rule file says them.

In the documents one rule acts on a URL, the first or the most specific that matches; in a rule file all that match do.
So a rule asks for the absence of keys that only other URLs have, and keeps what a wider rule would change. What is
written never makes one of URLs that the method keeps apart, as far as they were seen: a rule that would is left out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...rules import Absent, Keep, Literal, OneOf, Operation, Predicate, Rule
from ...urls import values_of
from ..data.judgement import SiteUrls, book_of, judged
from ..data.url_table import RARE, Table, encode
from ..evidence.arrays import ABSENT, Flags
from ..phrases import counted
from ..proposals.blame import blamed
from ..proposals.combining import outcome_of, rules_of
from ..proposals.dropping import matching
from ..proposals.proposal import Match, Proposal


def some_of(values: Iterable[str]) -> Predicate:
    """Return the predicate that a key has one of some values."""
    found = sorted(set(values))
    return Literal(found[0]) if len(found) == 1 else OneOf(found)


class NotSayable(Exception):
    """A rule that the common representation does not have; the message says what it asks for."""


@dataclass(frozen=True, slots=True)
class Formation:
    """One rule of a method, as keys and operations, and the URLs of the sample that it acts on.

    ``match``: what its URLs look like; ``ops``: key -> operation, each on the value as it came; ``own``: a flag for each URL
    of the sample, where one rule acts on a URL; ``kept``: further patterns of URLs that the rule leaves alone.
    """

    match: Match
    ops: Mapping[str, Operation]
    own: Flags = field(default_factory=lambda: flags((), 0), repr=False, compare=False)
    kept: Sequence[Match] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What a method decides of one site, by the rule of its document alone.

    ``canonical``: URL -> the text that stands for its page, by the method's own rules; ``formations``: these rules in the
    common representation; ``left_out``: how many of them it cannot say, by reason; ``exclusive``: whether one rule acts
    on a URL, and not all that match. ``deployed`` are the rules that act, ``raw`` and ``qualified`` those that were candidates
    and passed the method's test, None where it has none.
    """

    canonical: Callable[[str], str]
    formations: Sequence[Formation]
    left_out: Mapping[str, int] = field(default_factory=dict)
    exclusive: bool = True
    deployed: int = 0
    raw: int | None = None
    qualified: int | None = None


MAX_ABSENT = 60
"""Keys whose absence a rule asks for, at most."""
MAX_ROUNDS = 40
"""Times that a rule is left out and the others are tried again; what is wrong then is left out at once."""


def written(decision: Decision, sample: SiteUrls) -> tuple[list[Rule], list[str]]:
    """Return the rules that say what a method decides, and what the user should know of what they do not say."""
    found = _apart(decision.formations, sample) if decision.exclusive else decision.formations
    proposals = list(dict.fromkeys(_proposals(found)))
    numbers: dict[str, int] = {}
    pages = [numbers.setdefault(decision.canonical(url), len(numbers)) for url in sample.urls]
    decided = SiteUrls(sample.site, sample.urls, pages, sample.site_groups, others=sample.others)
    right = _not_wider(proposals, decided)
    left_out = {**decision.left_out, "what would merge more than the method": len(proposals) - len(right)}
    reasons = [f"{reason} ({count})" for reason, count in sorted(left_out.items()) if count]
    notes = []
    if reasons:
        said = counted(sum(left_out.values()), "rule")
        notes.append(f"{said} that a rule file cannot say: {', '.join(reasons)}")
    missed = len(outcome_of(right, decided, {}).by_key) - len(numbers)
    if missed > 0:
        duplicates = counted(len(pages) - len(numbers), "duplicate")
        notes.append(f"the rules leave {missed} of {duplicates} of the method apart")
    return rules_of(sample.site, right), notes


def _proposals(formations: Iterable[Formation]) -> Iterable[Proposal]:
    for one in formations:
        for key, operation in one.ops.items():
            yield Proposal(one.match, key, operation)
        for match in one.kept:
            for key in one.ops:
                yield Proposal(match, key, Keep())


def _apart(formations: Sequence[Formation], sample: SiteUrls) -> list[Formation]:
    """Return the rules so that each acts on its own URLs only, those of the sample."""
    views = [values_of(url, groups=sample.site_groups) for url in sample.urls]
    table = encode(sample.urls, views, sample.content)
    alone = _ranked([_without_others(one, table) for one in formations], table)
    kept: list[dict[str, Operation]] = [{} for _ in alone]
    for wide, one in enumerate(alone):
        foreign = matching(table, one.match) & ~one.own
        if not foreign.any():
            continue
        for narrow, other in enumerate(alone):
            if narrow != wide and (foreign & other.own).any():
                kept[narrow] |= dict.fromkeys(one.ops.keys() - other.ops.keys(), Keep())
    return [Formation(one.match, {**keys, **one.ops}, one.own, one.kept) for one, keys in zip(alone, kept, strict=True)]


def _ranked(formations: Sequence[Formation], table: Table) -> list[Formation]:
    """Return the rules so that a narrower one asks for more than wider ones that keep what its URLs have: it goes before.

    It asks for the absence of segments deeper than any path of the sample, as many as are missing.
    """
    deepest = sum(key.startswith("path.") and key[5:].isdigit() for key in table.columns)
    matched = [matching(table, one.match) for one in formations]
    order = sorted(range(len(formations)), key=lambda number: -np.count_nonzero(matched[number]))
    found = list(formations)
    longest = [0] * len(formations)
    for place, number in enumerate(order):
        one = formations[number]
        keeping = [other for other in order[:place] if formations[other].kept]
        wider = [longest[other] for other in keeping if (matched[other] & one.own).any()]
        missing = range(deepest, deepest + max(wider, default=0) + 1 - len(one.match)) if wider else ()
        deeper: Match = tuple((f"path.{segment}", Absent()) for segment in missing)
        kept = [(*match, *deeper) for match in one.kept]
        found[number] = Formation((*one.match, *deeper), one.ops, one.own, kept)
        longest[number] = max(map(len, (found[number].match, *kept)))
    return found


def _without_others(one: Formation, table: Table) -> Formation:
    """Return a rule that asks for the absence of the keys which only URLs of other rules, or of none, have."""
    foreign = matching(table, one.match) & ~one.own
    named = {key for key, _ in one.match} | {RARE}
    counts: dict[str, int] = {}
    for key, codes in table.columns.items():
        if foreign.any() and key not in named and not (codes[one.own] != ABSENT).any():
            count = int(np.count_nonzero(codes[foreign] != ABSENT))
            if count:
                counts[key] = count
    most = sorted(counts, key=lambda key: (-counts[key], key))[:MAX_ABSENT]
    if not most:
        return one
    absent: Match = tuple((key, Absent()) for key in most)
    kept = tuple((*match, *absent) for match in one.kept)
    return Formation((*one.match, *absent), one.ops, one.own, kept)


def _not_wider(proposals: Sequence[Proposal], decided: SiteUrls) -> Sequence[Proposal]:
    """Return the proposals less those by which URLs have one key that the method keeps apart.

    *decided* are the URLs of the sample with what the method decides of them for their pages.
    """
    for number in range(MAX_ROUNDS):
        book = book_of(rules_of(decided.site, proposals), decided, {})
        judgement = judged(book, decided)
        groups = blamed(proposals, book, judgement, judgement.bad)
        counts = {one: len(bad) for one, bad in groups.items() if not isinstance(one.operation, Keep)}
        if not counts:
            break
        most = max(counts.values())
        gone = {one for one, count in counts.items() if number == MAX_ROUNDS - 1 or count == most}
        proposals = [one for one in proposals if one not in gone]
    return proposals


def flags(rows: Iterable[int], count: int) -> Flags:
    """Return which of *count* URLs are among *rows*."""
    found = np.zeros(count, dtype=np.bool_)
    found[list(rows)] = True
    return found
