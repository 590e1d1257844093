"""The rules of a published method in the common representation, as its rule files say them.

In the documents one rule acts on a URL, the first or the most specific that matches; in a rule file all that match do.
So a rule asks for the absence of keys that only other URLs have, and keeps what a wider rule would change. What is
written never makes one of URLs that the method keeps apart, as far as they were seen: a rule that would is left out.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...rules import Absent, Keep, Operation, Rule
from ..combining import rules_of
from ..emission import Match, Proposal
from ..grouping import Flags
from ..judgement import Sample, book_of
from ..matching import matching
from ..table import ABSENT, RARE, Table
from .decision import Decision, Formation

__all__ = ["Written", "written"]

MAX_ABSENT = 60
"""Keys whose absence a rule asks for, at most."""
MAX_ROUNDS = 40
"""Times that a rule is left out and the others are tried again; what is wrong then is left out at once."""


@dataclass(frozen=True, slots=True)
class Written:
    """The rules of a decision that a rule file says, and how many it does not say, by reason."""

    rules: list[Rule] = field(default_factory=list)
    left_out: Mapping[str, int] = field(default_factory=dict)


def written(decision: Decision, sample: Sample, table: Table) -> Written:
    """Return the rules that say what a method decides; *table* are the URLs of the sample, without deep tokens."""
    found = list(decision.formations)
    if decision.exclusive:
        found = _apart(found, table)
    rules = rules_of(sample.site, _proposals(found))
    right, wrong = _not_wider(rules, decision.canonical, sample)
    left_out = {**decision.left_out, "what would merge more than the method": wrong}
    return Written(right, {reason: count for reason, count in left_out.items() if count})


def _proposals(formations: Iterable[Formation]) -> Iterable[Proposal]:
    for one in formations:
        for key, operation in one.ops.items():
            yield Proposal(one.match, key, operation)
        for match in one.kept:
            for key in one.ops:
                yield Proposal(match, key, Keep())


def _apart(formations: Sequence[Formation], table: Table) -> list[Formation]:
    """Return the rules so that each acts on its own URLs only, those of the sample."""
    alone = [_without_others(one, table) for one in formations]
    kept: list[dict[str, Operation]] = [{} for _ in alone]
    for wide, one in enumerate(alone):
        foreign = matching(table, one.match) & ~one.own
        if not foreign.any():
            continue
        for narrow, other in enumerate(alone):
            if narrow != wide and (foreign & other.own).any():
                kept[narrow] |= dict.fromkeys(one.ops.keys() - other.ops.keys(), Keep())
    return [Formation(one.match, {**keys, **one.ops}, one.own, one.kept) for one, keys in zip(alone, kept, strict=True)]


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


def _not_wider(rules: list[Rule], canonical: Callable[[str], str], sample: Sample) -> tuple[list[Rule], int]:
    """Return the rules less those by which URLs have one key that the method keeps apart, and how many these are."""
    own = [canonical(url) for url in sample.urls]
    wrong = 0
    for number in range(MAX_ROUNDS):
        blamed = _blamed(rules, own, sample)
        if not blamed:
            break
        most = max(blamed.values())
        gone = {name for name, count in blamed.items() if number == MAX_ROUNDS - 1 or count == most}
        rules = [rule for rule in rules if rule.id not in gone]
        wrong += len(gone)
    return rules, wrong


def _blamed(rules: Sequence[Rule], own: Sequence[str], sample: Sample) -> Counter[str]:
    """Return the ids of the rules with a part in groups of URLs that are several by the method, and in how many."""
    book = book_of(rules, sample, {})
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for number, url in enumerate(sample.urls):
        groups[book.canonical_key(url)].append(number)
    found: Counter[str] = Counter()
    for members in groups.values():
        if len({own[number] for number in members}) > 1:
            matched = (rule for number in members for rule in book.matching(sample.urls[number]))
            found.update({rule.id for rule in matched if not _only_keeps(rule)})
    return found


def _only_keeps(rule: Rule) -> bool:
    return all(isinstance(operation, Keep) for operation in rule.ops.values())


def flags(rows: Iterable[int], count: int) -> Flags:
    """Return which of *count* URLs are among *rows*."""
    found = np.zeros(count, dtype=np.bool_)
    found[list(rows)] = True
    return found
