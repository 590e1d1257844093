"""Where a function holds: a small tree of guards on enumerable keys.

A key that is noise under ``route=product`` can be the page under ``route=search``. A guard is a key
whose few values (and its absence) cover almost all URLs; each value that gains by it gets a branch
with what can be dropped there in addition. Any other value stays with the wider pattern and never
gets a branch of its own: otherwise a tree fences off its counterexamples one by one and loses pages.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from xxhash import xxh3_128

from ...rules.model import BARE
from ..config import current
from ..data.frame import Frame, Level
from ..data.sampling import SEED, sampled
from ..data.url_table import REPEAT
from ..deadline import NEVER, Deadline
from ..evidence.arrays import ABSENT, Rows
from ..evidence.value_kinds import is_token
from .difference_sets import MAX_CANDIDATES, drop_set
from .recoding import Recoding, recode

SAMPLE = 8_000
"""URLs on which guards are searched."""
LARGE_SAMPLE = 32_000
MAX_LARGE = 4
"""Guards tried on the larger sample."""
MAX_GUARDS = 24
"""Guards tried at a node."""
MAX_TRIED_KEYS = 100
"""Keys that are considered in a branch when its guard is only tried."""
MAX_BRANCHES = 24
"""Values of a guard that get a branch of their own."""
MAX_DEPTH = 3
"""Guards that are nested: keys that a pattern asks for, one after the other."""
MAX_AHEAD = 8
"""Guards tried as the second of two."""
MAX_ROUNDS = 3
"""Rounds of dropping and recoding of one pattern: a recoding may let more keys go."""
LEAST_LEFT = 3
"""Duplicates that are left in a branch where anything is tried."""


class Present(Enum):
    """Stands for any value in a pattern."""

    PRESENT = "*"


PRESENT = Present.PRESENT

Pattern = tuple[tuple[str, str | Present | None], ...]
"""Keys with the literal they must have, None where they must be absent, PRESENT where any value does."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A question about one key: which of its literals, or only whether it is there."""

    key: str
    presence: bool = False

    def branches(self, frame: Frame) -> list[tuple[str | Present | None, Rows]]:
        """Return (answer, rows) of the branches; empty where the key is no guard for these URLs."""
        codes = frame.columns.get(self.key)
        if codes is None:
            return []
        if self.presence:
            present = codes != ABSENT
            sides: list[tuple[str | Present | None, Rows]] = [
                (PRESENT, np.flatnonzero(present)),
                (None, np.flatnonzero(~present)),
            ]
            return sides if all(len(rows) >= current().guard_urls for _, rows in sides) else []
        values, counts = np.unique(codes, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        chosen = [int(values[i]) for i in order if counts[i] >= current().guard_urls][:MAX_BRANCHES]
        if len(values) < 2 or not chosen:
            return []
        answers = [(frame.table.value(code), code) for code in chosen]
        if any(is_token(text or "") for text, _ in answers):
            return []
        # A pattern cannot ask for all values of a repeated key at once.
        return [(text, np.flatnonzero(codes == code)) for text, code in answers if REPEAT not in (text or "")]


@dataclass(slots=True)
class GuardNode:
    """A pattern, what can be dropped and recoded under it, and its branches."""

    pattern: Pattern
    levels: dict[str, Level] = field(default_factory=dict)
    """Levels lower than those of the wider pattern."""
    evidence: dict[str, int] = field(default_factory=dict)
    recodings: list[Recoding] = field(default_factory=list)
    branches: list["GuardNode"] = field(default_factory=list)

    def walk(self) -> Iterator["GuardNode"]:
        """Yield this node and all below it."""
        yield self
        for branch in self.branches:
            yield from branch.walk()


def fitted(
    frame: Frame,
    base: Mapping[str, Level],
    pattern: Pattern,
    rng: np.random.Generator,
    *,
    trial: bool = False,
) -> GuardNode:
    """Return the function of one pattern, without branches; recodes the frame's columns.

    In a *trial* there is one round, and a limit on keys.
    """
    node = GuardNode(pattern)
    most = MAX_TRIED_KEYS if trial else MAX_CANDIDATES
    for _ in range(1 if trial else MAX_ROUNDS):
        found = drop_set(frame, {**base, **node.levels}, rng, most)
        node.levels.update(found.levels)
        node.evidence.update(found.evidence)
        recodings = recode(frame, {**base, **node.levels})
        node.recodings += recodings
        if not recodings:
            break
    return node


def grown(
    frame: Frame,
    base: Mapping[str, Level],
    pattern: Pattern,
    rng: np.random.Generator,
    depth: int | None = None,
    *,
    deadline: Deadline = NEVER,
) -> GuardNode:
    """Return the function of a pattern with its branches, those that are found before the *deadline*.

    *depth* is how many guards may be nested.
    """
    depth = MAX_DEPTH if depth is None else depth
    node = fitted(frame, base, pattern, rng)
    levels = {**base, **node.levels}
    if not depth or deadline.passed() or not duplicates_left(frame, levels):
        return node
    guard = best_guard(frame, levels, rng, ahead=depth > 1, deadline=deadline)
    if guard is None:
        return node
    for answer, rows in guard.branches(frame):
        if deadline.passed():
            break
        narrower = (*pattern, (guard.key, answer))
        branch = grown(frame.subset(rows), levels, narrower, rng, depth - 1, deadline=deadline)
        if any(part.levels or part.recodings for part in branch.walk()):
            node.branches.append(branch)
    return node


def duplicates_left(frame: Frame, levels: Mapping[str, Level]) -> bool:
    """Return whether enough URLs of known pages are still kept apart to look any further."""
    groups = frame.groups(levels)
    return len(frame) - len(np.unique(frame.content)) - groups.removed >= current().guard_gain


def best_guard(
    frame: Frame, levels: Mapping[str, Level], rng: np.random.Generator, *, ahead: bool, deadline: Deadline = NEVER
) -> Guard | None:
    """Return the guard that removes most further URLs; with *ahead*, including the best guard below it.

    All guards are tried on a sample; where that is a part of what there is to find, the best of
    them are tried on a larger one, where their branches have more of the URLs that evidence takes.
    """
    sample, trials = sampled(frame, levels, SAMPLE, rng), _Trials()
    scores = _gains(trials, sample.frame, levels, possible_guards(sample.frame, levels), deadline)
    first = sorted(scores, key=lambda guard: -scores[guard])
    if sample.share < 1:
        sample = sampled(frame, levels, LARGE_SAMPLE, rng)
        scores = _gains(trials, sample.frame, levels, first[:MAX_LARGE], deadline)
    if not scores:
        return None
    least = max(current().guard_gain * sample.share, LEAST_LEFT)
    best = max(scores, key=lambda guard: scores[guard])
    if scores[best] >= least or not ahead or deadline.passed():
        return best if scores[best] >= least else None
    sample = sampled(sample.frame, levels, SAMPLE, rng)
    tried = tuple(first[:MAX_AHEAD])
    deeper = {guard: trials.gain(sample.frame, levels, guard, tried) for guard in tried}
    best = max(deeper, key=lambda guard: deeper[guard])
    return best if deeper[best] >= least * sample.share else None


def _gains(
    trials: "_Trials", frame: Frame, levels: Mapping[str, Level], guards: Sequence[Guard], deadline: Deadline
) -> dict[Guard, int]:
    """Return what guards gain, of those that are tried before the deadline."""
    found: dict[Guard, int] = {}
    for guard in guards:
        if deadline.passed():
            break
        found[guard] = trials.gain(frame, levels, guard)
    return found


def possible_guards(frame: Frame, levels: Mapping[str, Level]) -> list[Guard]:
    """Return the guards on kept keys, at most MAX_GUARDS, those that divide the URLs best."""
    found = []
    for key in frame.columns:
        if levels.get(key, Level.KEPT) is Level.KEPT and key != BARE:  # no pattern can ask for it
            for guard in (Guard(key), Guard(key, presence=True)):
                if branches := guard.branches(frame):
                    shares = np.array([len(rows) for _, rows in branches]) / len(frame)
                    found.append((float(-(shares * np.log2(shares)).sum()), key, guard))
    found.sort(key=lambda item: (-item[0], item[1]))
    return [guard for _, _, guard in found[:MAX_GUARDS]]


class _Trials:
    """What guards gain, remembered: many divide the URLs alike, and what an answer gains depends on its URLs alone."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, Sequence[Guard]], tuple[int, Mapping[Guard, int]]] = {}

    def gain(self, frame: Frame, levels: Mapping[str, Level], guard: Guard, then: Sequence[Guard] = ()) -> int:
        """Return how many more URLs are removed when the answers to *guard* get functions of their own.

        With one of *then*, each is divided once more by the best of these.
        """
        total = 0
        for _, rows in guard.branches(frame):
            added, further = self._of_branch(frame.subset(rows), levels, then)
            total += max(added + max((gain for other, gain in further.items() if other != guard), default=0), 0)
        return total

    def _of_branch(
        self, branch: Frame, levels: Mapping[str, Level], then: Sequence[Guard]
    ) -> tuple[int, Mapping[Guard, int]]:
        """Return what a function of its own removes of a branch, and what each of *then* adds to that."""
        key = _digest(branch, levels), then
        if key not in self._known:
            self._known[key] = self._tried(branch, levels, then)
        return self._known[key]

    def _tried(
        self, branch: Frame, levels: Mapping[str, Level], then: Sequence[Guard]
    ) -> tuple[int, Mapping[Guard, int]]:
        before = branch.groups(levels).removed
        possible = len(branch) - len(np.unique(branch.content)) - before
        if possible < LEAST_LEFT:
            return 0, {}
        node = fitted(branch, levels, (), np.random.default_rng(SEED), trial=True)
        inner = {**levels, **node.levels}
        added = branch.groups(inner).removed - before
        if possible - added < LEAST_LEFT:
            return added, {}
        return added, {other: self.gain(branch, inner, other) for other in then}


def _digest(frame: Frame, levels: Mapping[str, Level]) -> bytes:
    """Return what tells the URLs of a frame, as they are recoded, and the levels of their keys from others."""
    found = xxh3_128(frame.rows.tobytes())
    for key, codes in frame.columns.items():
        found.update(f"{key}\0{levels.get(key, Level.KEPT):d}".encode("utf-8", "surrogatepass"))
        found.update(np.ascontiguousarray(codes).data)
    return found.digest()
