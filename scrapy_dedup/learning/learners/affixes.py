"""What significant affixes say of keys: families of names, numbered hosts.

Source: url-parameter-relevance, FIG. 2, 6 and 7. Other learners speak of the names and values that were
seen; an affix says which others belong to them: ``utm_term`` to ``utm_source``, ``www4`` to ``www1``.
File extensions and key=value segments are keys of their own already.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np

from ...rules import Ignore, Keep, Set
from ...urls import DeepSplit, class_of
from ...urls.deep_tokens import whole_key
from ..data.url_table import Table
from ..methods.affixes import ALPHANUMERIC, snapped_prefixes, uniform
from ..proposals.coverage import reaches
from ..proposals.dropping import changes, matching, seen_values, widened
from ..proposals.proposal import Match, Proposal
from .generalising import Wider

MIN_FAMILY = 3
"""Names, or hosts, that show that an affix means something."""
MIN_PREFIX = 3

_numbered = re.compile(r"([a-z][a-z\-]*?)([0-9]+)").fullmatch


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
