"""Rules of several clusters of one host made into one set of rules.

Source: url-parameter-relevance, the passages on merging, on the three ways out of a conflict, and on
rules made by hand, which trump.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from ....rules import Nested
from .analysis import ParameterRule
from .name_lists import NameList
from .relevance import Relevance


class Conflict(str, Enum):
    """What is done where a parameter is relevant under one path of a host and irrelevant under another."""

    PATH_SPECIFIC = "path-specific"
    """Each path keeps its own rule."""
    RATIO = "ratio"
    """Relevant if paths where it is relevant / paths where it is not is above a threshold."""
    RELEVANT_ANYWHERE = "relevant-anywhere"
    """Relevant, since it is relevant under some path."""

    __str__ = str.__str__


@dataclass(frozen=True, slots=True)
class HostRules:
    """The rules of a host: those of all its URLs, and those of single paths, which come first."""

    everywhere: Mapping[str, ParameterRule] = field(default_factory=dict)
    by_path: Mapping[str, Mapping[str, ParameterRule]] = field(default_factory=dict)

    def of(self, path: str, key: str) -> ParameterRule | None:
        """Return the rule of a key under a path, None where there is none."""
        return self.by_path.get(path, {}).get(key) or self.everywhere.get(key)


def merged(
    clusters: Mapping[str, Mapping[str, ParameterRule]],
    conflict: Conflict = Conflict.PATH_SPECIFIC,
    ratio: float = 1.0,
    manual: NameList | None = None,
) -> HostRules:
    """Return the rules of a host from those of its *clusters* (path -> key -> rule).

    *ratio* is the threshold of ``Conflict.RATIO``: above it a parameter is relevant, at it or below
    irrelevant. What *manual* says of a name holds whatever was found. A key that only some paths
    have is no conflict. Case is dropped, and a nested URL followed, only where no cluster objects.
    """
    decide = _DECISIONS[conflict]
    by_key: dict[str, dict[str, ParameterRule]] = {}
    for path, rules in clusters.items():
        for key, rule in rules.items():
            by_key.setdefault(key, {})[path] = rule
    everywhere: dict[str, ParameterRule] = {}
    by_path: dict[str, dict[str, ParameterRule]] = {}
    for key, rules in sorted(by_key.items()):
        several = list(rules.values())
        by_hand = manual.relevance(key) if manual is not None else None
        relevance = by_hand or decide([rule.relevance for rule in several], ratio)
        if relevance is None:
            for path, rule in rules.items():
                by_path.setdefault(path, {})[key] = rule
        else:
            everywhere[key] = _common(several, relevance)
    return HostRules(everywhere, by_path)


def _common(rules: Sequence[ParameterRule], relevance: Relevance) -> ParameterRule:
    return replace(
        rules[0],
        relevance=relevance,
        information=rules[0].information if len(rules) == 1 else None,
        tuples=tuple(dict.fromkeys(keys for rule in rules for keys in rule.tuples)),
        lower=any(rule.lower for rule in rules) and all(rule.lower or not rule.capitals for rule in rules),
        nested=any(rule.nested for rule in rules),
        inner=_ignored_by_all([rule.inner for rule in rules if rule.nested]),
    )


def _ignored_by_all(operations: Sequence[Nested]) -> Nested:
    """Return what is ignored in nested URLs by each of some operations."""
    common = [set(operation.ignore) for operation in operations]
    return Nested({place: dict(keys) for place, keys in set.intersection(*common)} if common else None)


def _unanimous(found: Sequence[Relevance], ratio: float) -> Relevance | None:
    return found[0] if len(set(found)) == 1 else None


def _by_ratio(found: Sequence[Relevance], ratio: float) -> Relevance:
    relevant = found.count(Relevance.ACCEPT)
    irrelevant = len(found) - relevant
    return Relevance.ACCEPT if relevant > ratio * irrelevant else Relevance.IGNORE


def _anywhere(found: Sequence[Relevance], ratio: float) -> Relevance:
    return Relevance.ACCEPT if Relevance.ACCEPT in found else Relevance.IGNORE


_DECISIONS: dict[Conflict, Callable[[Sequence[Relevance], float], Relevance | None]] = {
    Conflict.PATH_SPECIFIC: _unanimous,
    Conflict.RATIO: _by_ratio,
    Conflict.RELEVANT_ANYWHERE: _anywhere,
}
