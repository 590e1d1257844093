"""Accepted proposals, widened to unseen names of a family, numbered hosts, and spellings of a value.

Source: url-parameter-relevance, FIG. 2, 6 and 7, and the passage on case sensitivity. A learner's proposal is taken
where it removes more URLs; what speaks of names and values that nobody saw removes none of those that were seen. So
it rests on the accepted ones, each of which has pages of its own, and is taken unless some URL speaks against it.

Significant affixes say which names and values belong to those that were seen: ``utm_term`` to ``utm_source``, ``www4`` to
``www1``. File extensions and key=value segments are keys of their own already.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np

from ...rules import Ignore, IgnoreValue, Keep, Lower, Set
from ...urls import DeepSplit, class_of
from ...urls.deep_tokens import whole_key
from ...urls.percent import lower_first, lower_value
from ..data.judgement import Deep, Judgement, SiteUrls
from ..data.url_table import MIN_TESTED, Table
from ..methods.affixes import ALPHANUMERIC, snapped_prefixes, uniform
from ..proposals.combining import outcome_of
from ..proposals.coverage import reaches
from ..proposals.dropping import changes, matching, seen_values, widened
from ..proposals.proposal import Match, Proposal

MIN_FAMILY = 3
"""Names, or hosts, that show that an affix means something."""
MIN_PREFIX = 3

_numbered = re.compile(r"([a-z][a-z\-]*?)([0-9]+)").fullmatch


@dataclass(frozen=True, slots=True)
class Wider:
    """A proposal that says more than accepted ones, and those of them that it takes the place of."""

    proposal: Proposal
    instead: tuple[Proposal, ...] = ()

    def among(self, proposals: Iterable[Proposal]) -> list[Proposal]:
        """Return *proposals* with the wider one."""
        return [*(one for one in proposals if one not in self.instead), self.proposal]


def generalised(
    proposals: Sequence[Proposal],
    candidates: Sequence[Wider],
    sample: SiteUrls,
    deep: Deep,
) -> list[Proposal]:
    """Return accepted proposals, widened by those of the *candidates* against which no URL speaks."""
    found = list(proposals)
    if not candidates:
        return found
    before = outcome_of(found, sample, deep)
    together = found
    for candidate in candidates:
        together = candidate.among(together)
    if _is_harmless(before, outcome_of(together, sample, deep)):
        return together
    for candidate in candidates if len(candidates) > 1 else ():
        more = candidate.among(found)
        if _is_harmless(before, outcome_of(more, sample, deep)):
            found = more
    return found


def _is_harmless(before: Judgement, after: Judgement) -> bool:
    """Return whether no URLs of different pages were brought together, and none of one page parted."""
    numbers = before.numbers.tolist()
    return after.removed >= before.removed and not any(len({numbers[i] for i in group}) > 1 for group in after.bad)


def families(names: Iterable[str], shortest: int = MIN_PREFIX) -> dict[str, list[str]]:
    """Return, per significant prefix that ends at a boundary, the names that have it, at least three.

    >>> families(["utm_source", "utm_medium", "utm_term", "id", "page"])
    {'utm_': ['utm_medium', 'utm_source', 'utm_term']}
    """
    names = sorted(set(names))
    prefixes = snapped_prefixes(names, model=uniform(ALPHANUMERIC), shortest=shortest)
    found = {affix.text: [name for name in names if name.startswith(affix.text)] for affix in prefixes}
    return {prefix: own for prefix, own in sorted(found.items()) if len(own) >= MIN_FAMILY}


def wider_families(accepted: Sequence[Proposal], table: Table, deep: Mapping[str, DeepSplit]) -> list[Wider]:
    """Return the families of names, and the numbered hosts, that accepted proposals are parts of."""
    return [*_names(accepted, table, deep), *_hosts(accepted, table)]


def _names(accepted: Sequence[Proposal], table: Table, deep: Mapping[str, DeepSplit]) -> list[Wider]:
    """Return the families of parameter names of which three or more are dropped whatever values they were seen with.

    A name that was seen too rarely to be judged belongs to its family; one that another proposal keeps says that the
    name of the family means nothing.
    """
    seen = [key for key in table.columns if key.startswith("q.") and whole_key(key) not in deep]
    kept = {proposal.key for proposal in accepted if isinstance(proposal.operation, Keep)}
    members = [(proposal, values) for proposal in accepted if (values := _all_dropped(proposal, table, seen))]
    places = sorted({proposal.match for proposal, _ in members}, key=lambda match: (len(match), repr(match)))
    found: list[Wider] = []
    for name, names in families([key.removeprefix("q.") for key in seen]).items():
        keys = {f"q.{each}" for each in names}
        if name[-1].isalnum() or "%" in name or kept & keys:
            continue  # "item1" and "item2" are a family; but "item*" has "items", too
        said = [proposal.match for proposal in accepted if proposal.key == f"q.{name}*"]
        for match in places:
            own = {one.key: values for one, values in members if one.key in keys and reaches(one.match, match)}
            if len(own) >= MIN_FAMILY and not any(reaches(wide, match) for wide in said):
                shape = class_of([value for values in own.values() for value in values])
                found.append(Wider(Proposal(match, f"q.{name}*", Ignore(only=widened(shape)))))
                said.append(match)
    return found


def _all_dropped(proposal: Proposal, table: Table, keys: Container[str]) -> list[str]:
    """Return the values that one of some keys was seen with where a proposal holds; [] if it does not drop them all."""
    if proposal.key not in keys or proposal.joint or not isinstance(proposal.operation, Ignore):
        return []
    values = seen_values(table, np.flatnonzero(matching(table, proposal.match)), proposal.key)
    return values if all(changes(proposal.operation, value) for value in values) else []


def _hosts(accepted: Sequence[Proposal], table: Table) -> list[Wider]:
    """Return numbered hosts that are one site, with those of the numbers in between and next."""
    found = []
    merged: dict[tuple[Match, str, str], list[Proposal]] = {}
    for proposal in accepted:
        operation = proposal.operation
        if proposal.key.startswith("host.") and proposal.key in table.columns and not proposal.joint:
            if isinstance(operation, Ignore) and isinstance(operation.only, frozenset):
                more = _numbered_on(operation.only, table, proposal.key)
                if more:
                    found.append(Wider(replace(proposal, operation=Ignore(only=operation.only | more)), (proposal,)))
            elif isinstance(operation, Set):
                targets = {new for old, new in operation.values if old is not None}
                if len(targets) == 1 and (target := targets.pop()) is not None:
                    merged.setdefault((proposal.match, proposal.key, target), []).append(proposal)
    for (match, key, target), own in merged.items():
        labels = {target, *(old for proposal in own for old in _sources(proposal))}
        more = _numbered_on(labels, table, key)
        if more:
            operation = Set(dict.fromkeys((labels | more) - {target}, target))
            found.append(Wider(Proposal(match, key, operation), tuple(own)))
    return found


def _sources(proposal: Proposal) -> list[str]:
    """Return the values that a proposal shows as another one."""
    pairs = proposal.operation.values if isinstance(proposal.operation, Set) else ()
    return [old for old, _ in pairs if old is not None]


def _numbered_on(labels: AbstractSet[str], table: Table, key: str) -> set[str]:
    """Return the labels of the numbers between, and next to, those of labels that are one site."""
    numbers: dict[str, list[str]] = {}
    for label in labels:
        if match := _numbered(label):
            numbers.setdefault(match[1], []).append(match[2])
    significant = families(seen_values(table, np.arange(len(table)), key), shortest=1)
    more: set[str] = set()
    for prefix, own in sorted(numbers.items()):
        few = all(number[0] != "0" and len(number) < 3 for number in own)
        if prefix in significant and len(own) >= MIN_FAMILY and few:
            more |= {f"{prefix}{n}" for n in range(1, 2 * max(map(int, own)) + 1)}
    return more - labels


def wider_spellings(accepted: Sequence[Proposal], table: Table) -> list[Wider]:
    """Return keys whose case means nothing, where proposals name the spellings of their values one by one.

    Two values in two spellings each, or one in three, are no chance; and hardly any capitals are elsewhere, none of
    them in what may be an id, whose case nobody has tested.
    """
    by_place: dict[tuple[Match, str], list[Proposal]] = {}
    for proposal in accepted:
        by_place.setdefault((proposal.match, proposal.key), []).append(proposal)
    found = []
    for (match, key), own in by_place.items():
        values = _spellings(own)
        if key in table.columns and values is not None and not any(proposal.joint for proposal in own):
            alike = [spellings for spellings in values.values() if len(spellings) > 1]
            enough = len(alike) > 1 or any(len(spellings) > 2 for spellings in alike)
            if enough and _are_tested(table, match, key, set[str]().union(*alike)):
                first = all(len({lower_first(value) for value in spellings}) == 1 for spellings in alike)
                found.append(Wider(Proposal(match, key, Lower(first=first)), tuple(own)))
    return found


def _spellings(proposals: Sequence[Proposal]) -> dict[str, set[str]] | None:
    """Return the values that proposals on one key make one, by their lower case; None where they do more than that."""
    found: dict[str, set[str]] = {}
    for proposal in proposals:
        operation = proposal.operation
        if isinstance(operation, Lower):
            continue
        if isinstance(operation, Set):
            pairs = list(operation.values)
        elif isinstance(operation, Ignore | IgnoreValue) and isinstance(operation.only, frozenset) and operation.only:
            pairs = [(value, min(operation.only)) for value in operation.only]
        else:
            return None
        for old, new in pairs:
            if old is None or new is None or lower_value(old) != lower_value(new):
                return None
            found.setdefault(lower_value(old), set()).update((old, new))
    return found


def _are_tested(table: Table, match: Match, key: str, spelled: AbstractSet[str]) -> bool:
    """Return whether nearly all capitals in the values of a key are in those that were met in several spellings."""
    codes, counts = np.unique(table.columns[key][matching(table, match)], return_counts=True)
    values: dict[str, int] = dict(zip((table.vocabulary[code] for code in codes), counts.tolist(), strict=True))
    capitals = {value: count for value, count in values.items() if value != lower_value(value)}
    others = capitals.keys() - spelled
    if not all(value.isalpha() and value[1:] in (value[1:].lower(), value[1:].upper()) for value in others):
        return False
    untested = sum(capitals[value] for value in others)
    return untested <= (1 - MIN_TESTED) * sum(capitals.values())
