"""Learned rules that say nothing beside the others: without one of them, no URL that was observed has another canonical key."""

from collections.abc import Iterable, Sequence
from typing import Final

from ...rules import Keep, Rule, Status
from ...rules.lifecycle import Departure, Reason
from ..data.judgement import Deep, SiteUrls, book_of
from ..deadline import Deadline

MOST_RULES: Final = 40
"""Rules that are looked at, those with the least evidence first."""


def redundant(
    rules: Sequence[Rule], before: Iterable[Rule], sample: SiteUrls, deep: Deep, deadline: Deadline
) -> list[Departure]:
    """Return the rules of *before* that leave since the others of *rules* do all that they do.

    What a rule was proven on must be there to tell: it stays where it matches fewer URLs than its evidence has. O(URLs) for all rules, and for each that leaves.
    """
    filed = {rule.id: rule.evidence.urls for rule in before if rule.evidence is not None}
    asked = [rule for rule in rules if rule.id in filed and rule.status is Status.ACTIVE and not rule.is_alias]
    asked = [rule for rule in asked if not any(isinstance(operation, Keep) for operation in rule.ops.values())]
    if not asked or len(rules) == 1 or not sample.urls:
        return []
    book = book_of(rules, sample, deep)
    keys, changed_first = [], dict[str, int]()
    for row, url in enumerate(sample.urls):
        found = book.canonical(url)
        keys.append(found.key)
        for name, _, _ in found.changes:
            changed_first.setdefault(name, row)
    left, departures = list(rules), []
    for rule in sorted(asked, key=_weight)[:MOST_RULES]:
        if deadline.passed():
            break
        without = book_of([other for other in left if other is not rule], sample, deep)
        alone = book_of([rule], sample, deep)
        matched, by = 0, set[str]()
        # The first URL that it changes comes first: most rules are missed there.
        for row in (changed_first.get(rule.id, 0), *range(len(keys))):
            found = without.canonical(sample.urls[row])
            if found.key != keys[row]:
                break
            if alone.matching(sample.urls[row]):
                matched += 1
                by.update([name for name, _, _ in found.changes])
        else:
            if by and matched > filed[rule.id]:  # one URL was counted twice
                left.remove(rule)
                departures.append(Departure(rule, Reason.COVERED, by=tuple(sorted(by))))
    return departures


def _weight(rule: Rule) -> tuple[int, int, str]:
    return rule.evidence.groups if rule.evidence is not None else 0, -len(rule.match), rule.id
