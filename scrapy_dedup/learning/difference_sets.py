"""Which keys can be dropped together: the difference-set learner.

Dropping the keys D loses no page iff the kept keys tell apart every two pages of different content
(the kept keys hit all difference sets). So: drop jointly all that varies inside duplicate clusters,
since with two unique junk parameters no two URLs ever agree on the rest and one-at-a-time tests see
nothing; then put back what pairs of different pages demand.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from .evidence import MAX_OWED_SHARE, MIN_GROUPS, tolerable
from .frame import Frame, Level
from .grouping import Flags, Groups, sampled_pairs, varying
from .odd_values import owed_to_values
from .table import ABSENT

MIN_CLUSTERS = 3
"""Duplicate clusters in which a key must vary to be a candidate."""
MAX_CANDIDATES = 1_000
"""Candidate keys considered at once, those that vary in most clusters."""
MAX_PAIRS = 8_000
SMOOTHING = 0.02
ROUNDS = 200


@dataclass(slots=True)
class DropSet:
    """What a function keeps of each key; keys that ``levels`` lacks are kept whole."""

    levels: dict[str, Level] = field(default_factory=dict)
    evidence: dict[str, int] = field(default_factory=dict)
    """Clean groups in which each dropped key varies."""


def drop_set(frame: Frame, base: Mapping[str, Level], rng: np.random.Generator, most: int = MAX_CANDIDATES) -> DropSet:
    """Return the keys (or only their values) that can be dropped jointly from the URLs of a frame.

    *base* holds the levels of a wider pattern, which hold here too; the result holds what is lower. At
    *most* so many keys are considered.
    """
    levels = dict.fromkeys(candidate_keys(frame, base)[:most], Level.DROPPED)
    if not levels:
        return DropSet()
    _put_back_what_pages_demand(frame, base, levels, rng)
    _drop_again_what_was_not_needed(frame, base, levels)
    return DropSet(levels, _put_back_what_lacks_evidence(frame, base, levels))


def candidate_keys(frame: Frame, base: Mapping[str, Level]) -> list[str]:
    """Return the keys that take two values or more inside enough duplicate clusters, and are not dropped yet."""
    support = {
        key: clusters
        for key, clusters in frame.support().items()
        if clusters >= MIN_CLUSTERS and base.get(key, Level.KEPT) is not Level.DROPPED
    }
    return sorted(sorted(support), key=lambda key: -support[key])


def _put_back_what_pages_demand(
    frame: Frame, base: Mapping[str, Level], levels: dict[str, Level], rng: np.random.Generator
) -> None:
    """Put keys back until the merged pages are the same: a greedy hitting set of difference sets."""
    for _ in range(ROUNDS):
        groups = frame.groups({**base, **levels})
        owed = _owed_to_values(frame, groups, levels)
        pages = int((groups.contents - 1)[owed].sum())
        if pages <= MAX_OWED_SHARE * groups.informative:
            if tolerable(groups.lost, groups.informative, groups.lone_lost):
                return
            pages = 0
        bad = groups.contents > 1
        if pages and tolerable(groups.lost - pages, groups.informative, groups.lost - pages):
            bad = owed  # the others may be noise
        different = sampled_pairs(groups, bad, same=False, most=MAX_PAIRS, rng=rng)
        everywhere = np.ones(len(bad), dtype=np.bool_)
        alike = sampled_pairs(groups, everywhere, same=True, most=MAX_PAIRS, rng=rng)
        choices: list[tuple[str, Level]] = []
        hits, costs = [], []
        for key, level in levels.items():
            codes = frame.columns[key]
            for target in range(level + 1, base.get(key, Level.KEPT) + 1):
                shown = codes != ABSENT if target == Level.PRESENCE else codes
                choices.append((key, Level(target)))
                hits.append(shown[different.left] != shown[different.right])
                costs.append(shown[alike.left] != shown[alike.right])
        if not choices:
            return
        _hit(levels, choices, np.array(hits), np.array(costs))


def _owed_to_values(frame: Frame, groups: Groups, keys: Iterable[str]) -> Flags:
    """Return which groups are one page and odd contents that are owed to a value of one of *keys*."""
    owed = np.zeros(len(groups.size), dtype=np.bool_)
    if groups.beside.any():
        place = np.flatnonzero(groups.beside[groups.group])
        rows = groups.order[place]
        columns = ((key, frame.columns[key][rows]) for key in keys)
        for numbers in owed_to_values(groups.group[place], frame.lone[rows], columns).values():
            owed[numbers] = True
    return owed


def _hit(
    levels: dict[str, Level],
    choices: list[tuple[str, Level]],
    hits: Flags,
    costs: Flags,
) -> None:
    """Raise levels until each sampled pair of different pages is told apart, cheapest choice first.

    *hits* and *costs* are (choices x pairs) flags: which pairs of different pages, and which pairs
    of equal ones, a choice tells apart.
    """
    while hits.shape[1]:
        gain = hits.mean(axis=1)
        cost = costs.mean(axis=1) if costs.shape[1] else np.zeros(len(choices))
        score = gain / (cost + SMOOTHING)
        best = int(np.argmax(score))
        if gain[best] <= 0:
            return
        key, level = choices[best]
        levels[key] = max(levels[key], level)
        hits = hits[:, ~hits[best]]
        costs = costs[:, ~costs[best]]


def _drop_again_what_was_not_needed(frame: Frame, base: Mapping[str, Level], levels: dict[str, Level]) -> None:
    """Lower each level again where that makes no group worse (the hitting set made minimal)."""
    total = frame.kept_hashes({**base, **levels})
    allowed = frame.grouped(total).lost
    for key in sorted(levels, key=lambda key: -int(levels[key])):
        for level in range(levels[key]):
            lower = Level(level)
            tried = total - frame.hashes(key, levels[key]) + frame.hashes(key, lower)
            groups = frame.grouped(tried)
            if groups.lost <= allowed and int(varying(groups, frame.columns[key]).sum()) >= MIN_GROUPS:
                levels[key], total = lower, tried
                break


def _put_back_what_lacks_evidence(frame: Frame, base: Mapping[str, Level], levels: dict[str, Level]) -> dict[str, int]:
    """Keep each key that varies in too few clean groups; return the evidence of the others."""
    while True:
        groups = frame.groups({**base, **levels})
        evidence = {}
        for key, level in levels.items():
            if level < base.get(key, Level.KEPT):
                clean = varying(groups, frame.columns[key]) & (groups.contents == 1)
                pages = len(np.unique(frame.content[groups.first[clean]]))
                # One page that answers everywhere (an error, a log-in) is not ten witnesses.
                evidence[key] = min(int(np.count_nonzero(clean)), 2 * pages)
        poor = sorted(
            (key for key, count in evidence.items() if count < MIN_GROUPS),
            key=lambda key: (evidence[key], key),
        )
        if not poor:
            for key in [key for key, level in levels.items() if level >= base.get(key, Level.KEPT)]:
                del levels[key]
            return evidence
        # The poorest first: without them the groups of the others change.
        for key in poor[: (len(poor) + 3) // 4]:
            levels[key] = base.get(key, Level.KEPT)
