"""Counterexamples that a narrow rule leaves out: was it narrowed with reason, or only past them?

Of ``lang=de``, ``en`` and ``fr`` one article shows something else in French. Where dropping the key is refuted by it,
to drop ``de`` and ``en`` alone is not, nor is ``en`` for ``de``: some value or other has no counterexample, since there
are few. So what a rule leaves out must be told from what it drops by more than chance: the counterexamples, were they
spread over all groups that differ in the key, would hardly ever all lie where the rule does not reach (Fisher's exact
test, divided by the number of values that it could have been narrowed by). ``page=1``, beside which every other
page is another one, passes; a single unlucky value does not. Only URLs of the same first segment and depth are asked: what
a key means in another section is another matter.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import lgamma

import numpy as np

from ..rules import Ignore, IgnoreValue, Replace, Set
from ..urls import DeepSplit, values_of
from .emission import Proposal
from .evidence import CONFIDENCE, tolerable
from .frame import Frame
from .grouping import Flags, Groups, grouped, varying
from .judgement import Judgement
from .scope import concerned, matching
from .table import ABSENT, Rows, Table, encode, places

__all__ = ["narrowed_past_counterexamples"]

MAX_TRIED = 100
"""Values that a rule could have been narrowed by, at most, of each key that it asks for."""

_PLACES = ("path.", "host.", "scheme", "ext")


def narrowed_past_counterexamples(
    proposals: Sequence[Proposal], table: Table, judgement: Judgement, deep: Mapping[str, DeepSplit]
) -> list[Proposal]:
    """Return the proposals that drop a key, or values of it, only where no counterexample happened to be.

    *judgement* is that of the proposals on the URLs of *table*. O(URLs) and O(URLs) a proposal.
    """
    asked = [unit for unit in _units(proposals) if _is_narrow(unit, table)]
    if not asked:
        return []
    search = _Search(proposals, table, judgement, deep)
    return [proposal for unit in asked if search.is_by_chance(unit) for proposal in unit]


def _units(proposals: Sequence[Proposal]) -> Iterator[list[Proposal]]:
    """Yield the proposals one by one, and together those that only hold together."""
    joint: dict[object, list[Proposal]] = {}
    for proposal in proposals:
        if proposal.joint:
            joint.setdefault(proposal.match, []).append(proposal)
        else:
            yield [proposal]
    yield from joint.values()


def _is_narrow(unit: Sequence[Proposal], table: Table) -> bool:
    """Tell whether a unit drops values, and not all there are; what moves values to other keys is another matter."""
    if any(isinstance(proposal.operation, Replace) or proposal.key.endswith("*") for proposal in unit):
        return False
    return any(
        isinstance(proposal.operation, Ignore | IgnoreValue | Set) and not _is_everywhere(proposal, table)
        for proposal in unit
    )


def _is_everywhere(proposal: Proposal, table: Table) -> bool:
    """Tell whether a proposal without a pattern drops all values that its key has, of its deep tokens all parts."""
    if proposal.match or isinstance(proposal.operation, Set) or len(_parts(proposal.key) & table.columns.keys()) > 1:
        return False
    codes = table.columns.get(proposal.key)
    return codes is None or bool(((codes == ABSENT) | concerned(table, proposal.key, proposal.operation)).all())


class _Search:
    """The groups of a judgement, and what they would be without a key."""

    def __init__(
        self, proposals: Sequence[Proposal], table: Table, judgement: Judgement, deep: Mapping[str, DeepSplit]
    ) -> None:
        self._proposals = proposals
        self._table = table
        sample = judgement.sample
        first = [members[0] for members in judgement.by_key.values()]
        views = (values_of(key, groups=sample.groups) for key in judgement.by_key)
        keys = encode(list(judgement.by_key), views, [sample.content[row] for row in first], sample.lone)
        self._keys = Frame(keys.with_deep(deep) if deep else keys, np.arange(len(keys)))
        self._merged: Groups = grouped(judgement.numbers.astype(np.uint64), table.content, table.lone)
        nothing = np.zeros(len(table), dtype=np.int32)
        kinds = np.stack([table.columns.get(key, nothing)[first] for key in ("path.len", "path.0")])
        self._kind: Rows = np.unique(kinds, axis=1, return_inverse=True)[1].reshape(-1)

    def is_by_chance(self, unit: Sequence[Proposal]) -> bool:
        """Tell whether what a unit leaves out may hold all counterexamples by chance."""
        inside = np.zeros(len(self._merged.size), dtype=np.bool_)
        for proposal in unit:
            codes = self._table.columns.get(proposal.key)
            if codes is not None:
                inside |= varying(self._merged, codes) & self._reached(proposal)
        inside &= self._merged.contents == 1
        if len(np.unique(self._table.content[self._merged.first[inside]])) < 2:
            return False  # a pattern that is all one page rests on its URLs
        kinds, clean = np.unique(self._kind[inside]), int(inside.sum())
        tried = self._tried(unit)
        if _is_by_chance(self._without(unit), self._kind, kinds, clean, tried):
            return True
        if all(key.startswith(_PLACES) for key, _ in unit[0].match):
            return False
        beside = [one for one in self._proposals if _meet(one, unit[0])]
        # Two keys that are dropped only there hide each other everywhere else.
        return _is_by_chance(self._without(beside), self._kind, kinds, clean, tried)

    def _without(self, proposals: Sequence[Proposal]) -> Groups:
        """Return the groups of canonical keys that are one without the keys of some proposals."""
        gone = [key for proposal in proposals for key in _parts(proposal.key)]
        return self._keys.grouped(self._keys.kept_hashes({}, without=gone))

    def _reached(self, proposal: Proposal) -> Flags:
        """Return the groups with a URL that a proposal changes."""
        changed = matching(self._table, proposal.match) & concerned(self._table, proposal.key, proposal.operation)
        found = np.zeros(len(self._merged.size), dtype=np.bool_)
        found[self._merged.group[changed[self._merged.order]]] = True
        return found

    def _tried(self, unit: Sequence[Proposal]) -> int:
        """Return how many values the keys by which a unit is narrowed have, where there is what it drops."""
        columns = self._table.columns
        there = np.zeros(len(self._table), dtype=np.bool_)
        for proposal in unit:
            if proposal.key in columns:
                there |= columns[proposal.key] != ABSENT
        asked = {key for proposal in unit for key, _ in proposal.match}
        asked |= {proposal.key for proposal in unit if _names_values(proposal)}
        values = (places(columns[key][there])[0] for key in asked if key in columns)
        return max((min(len(codes), MAX_TRIED) for codes in values), default=1)


def _is_by_chance(without: Groups, kind: Rows, kinds: Rows, clean: int, tried: int) -> bool:
    """Tell whether the counterexamples of groups of some kinds are no more than chance leaves beside *clean* ones."""
    chosen = (without.size > 1) & np.isin(kind[without.first], kinds)
    bad = chosen & (without.contents > 1)
    lone = int((bad & without.beside).sum()) if len(without.beside) else 0
    if tolerable(int(bad.sum()), clean + int(chosen.sum()), lone):
        return False
    # A key that tells all pages of a path makes one group there: it is more than one counterexample.
    against = int(np.log2(without.contents[bad]).astype(np.intp).sum())
    outside = against + int((chosen & ~bad).sum())
    return _by_chance(against, outside, clean) * tried > 1 - CONFIDENCE


def _parts(key: str) -> frozenset[str]:
    """Return a key with those of its deep tokens: to drop one of them only is narrow, too."""
    whole = key.removesuffix(".head").removesuffix(".tail")
    return frozenset((whole, f"{whole}.head", f"{whole}.tail"))


def _meet(one: Proposal, other: Proposal) -> bool:
    """Tell whether two proposals are narrowed by a key that is the same."""
    return one == other or not {key for key, _ in one.match}.isdisjoint(key for key, _ in other.match)


def _names_values(proposal: Proposal) -> bool:
    return isinstance(proposal.operation, Set) or isinstance(getattr(proposal.operation, "only", None), frozenset)


def _by_chance(against: int, outside: int, inside: int) -> float:
    """Return the probability that all of so many counterexamples are among the *outside* groups.

    >>> round(_by_chance(1, 30, 70), 3), _by_chance(30, 30, 10) < 1e-8
    (0.3, True)
    """

    def ways(of: int) -> float:
        return lgamma(of + 1) - lgamma(against + 1) - lgamma(of - against + 1)

    return float(np.exp(ways(outside) - ways(outside + inside)))
