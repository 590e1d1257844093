"""Which keys can be dropped together: the difference-set learner.

Dropping the keys D loses no page iff the kept keys tell apart every two pages of different content
(the kept keys hit all difference sets). So: drop jointly all that varies inside duplicate clusters,
since with two unique junk parameters no two URLs ever agree on the rest and one-at-a-time tests see
nothing; then put back what pairs of different pages demand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..config import current
from ..data.frame import Frame, Level
from ..data.grouping import Groups, sampled_pairs, varying
from ..evidence.arrays import ABSENT
from ..evidence.judge import Verdict
from ..evidence.value_kinds import WHOLE, kind_of_key

MAX_CANDIDATES = 1_000
"""Candidate keys considered at once, those that vary in most clusters."""
MAX_PAIRS = 8_000
"""Pairs of URLs of each sort (of one page, of several) that a round compares, drawn at random."""
MAX_ROUNDS = 200
"""Rounds of putting back; each raises the level of one key."""


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
        if clusters >= current().least_contents and base.get(key, Level.KEPT) is not Level.DROPPED
    }
    return sorted(sorted(support), key=lambda key: -support[key])


def _put_back_what_pages_demand(
    frame: Frame, base: Mapping[str, Level], levels: dict[str, Level], rng: np.random.Generator
) -> None:
    """Put keys back until the merged pages are the same: a greedy hitting set of difference sets."""
    judge = frame.table.judge
    for _ in range(MAX_ROUNDS):
        groups = frame.groups({**base, **levels})
        verdict = judge.verdict(frame.witnesses(groups, WHOLE))
        wrong = np.zeros(len(groups.size), dtype=np.bool_)
        wrong[groups.size > 1] = verdict.bad > 0.5
        if verdict.passes or not wrong.any():
            return
        different = sampled_pairs(groups, wrong, same=False, most=MAX_PAIRS, rng=rng)
        everywhere = np.ones(len(wrong), dtype=np.bool_)
        alike = sampled_pairs(groups, everywhere, same=True, most=MAX_PAIRS, rng=rng)
        best = None
        for key, level in levels.items():
            codes = frame.columns[key]
            for target in range(level + 1, base.get(key, Level.KEPT) + 1):
                shown = codes != ABSENT if target == Level.PRESENCE else codes
                gain = float((shown[different.left] != shown[different.right]).mean()) if len(different.left) else 0.0
                cost = float((shown[alike.left] != shown[alike.right]).mean()) if len(alike.left) else 0.0
                score = gain / (cost + current().put_back_smoothing)
                if gain > 0 and (best is None or score > best[0]):
                    best = score, key, Level(target)
        if best is None:
            return
        levels[best[1]] = best[2]


def _drop_again_what_was_not_needed(frame: Frame, base: Mapping[str, Level], levels: dict[str, Level]) -> None:
    """Lower each level again where that makes no group worse (the hitting set made minimal)."""
    judge = frame.table.judge
    total = frame.kept_hashes({**base, **levels})
    value = judge.verdict(frame.witnesses(frame.grouped(total), WHOLE)).value
    for key in sorted(levels, key=lambda key: -int(levels[key])):
        for level in range(levels[key]):
            lower = Level(level)
            tried = total - frame.hashes(key, levels[key]) + frame.hashes(key, lower)
            groups = frame.grouped(tried)
            verdict = judge.verdict(frame.witnesses(groups, WHOLE))
            if verdict.value > value and _of_key(frame, groups, key).passes:
                levels[key], total, value = lower, tried, verdict.value
                break


def _of_key(frame: Frame, groups: Groups, key: str) -> Verdict:
    """Return the expected loss of dropping one of the keys that make *groups*."""
    differ = varying(groups, frame.columns[key])[groups.size > 1]
    kind = kind_of_key(key, frame.columns, frame.table.vocabulary)
    return frame.table.judge.verdict(
        frame.witnesses(groups, frame.table.judge.prior(key, kind.prior), key).part(differ)
    )


def _put_back_what_lacks_evidence(frame: Frame, base: Mapping[str, Level], levels: dict[str, Level]) -> dict[str, int]:
    """Keep each key that varies in too few clean groups; return the evidence of the others."""
    while True:
        groups = frame.groups({**base, **levels})
        verdicts = {
            key: _of_key(frame, groups, key) for key, level in levels.items() if level < base.get(key, Level.KEPT)
        }
        poor = sorted(
            (key for key, verdict in verdicts.items() if not verdict.passes),
            key=lambda key: (-verdicts[key].posterior.wrong, key),
        )
        if not poor:
            for key in [key for key, level in levels.items() if level >= base.get(key, Level.KEPT)]:
                del levels[key]
            return {key: int(verdict.removed) for key, verdict in verdicts.items()}
        # The poorest first: without them the groups of the others change.
        for key in poor[: (len(poor) + 3) // 4]:
            levels[key] = base.get(key, Level.KEPT)
