"""Where a proposal holds: the parts of a site and the values of a key, each by the evidence of its own and of the others.

The strata of a proposal are alike and have one share of wrong groups, but for exceptions: these are each as it is. Whether
there are any before anything is seen depends on the kind of the key's values (:mod:`.value_kinds`), and then on what is seen: none,
a tenth, three tenths, or all of them. So a stratum of which nothing was seen inherits what was seen in the others as far as
these are alike: session ids that make no difference in one section do so nowhere, and ``sort=price`` says little of
``sort=date``. One section that is otherwise takes little from the many that are alike.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...rules import Ignore, IgnoreValue, Keep, Lower, Replace, RuleBook, Set
from ...urls import ValueClass, class_of
from ...urls.percent import lower_value
from ..config import current
from ..data.judgement import Deep, Judgement, SiteUrls, book_of
from ..data.url_table import MIN_TESTED, Table
from ..evidence.arrays import Codes, Flags, Rows
from ..evidence.judge import Posterior
from ..evidence.splits import Split
from ..evidence.value_kinds import VALUES_UNLIKE, ValueKind, kind_of_key
from ..evidence.witnesses import witnesses
from ..proposals.blame import blamed
from ..proposals.combining import rules_of
from ..proposals.dropping import concerned, matching, seen_values, widened
from ..proposals.proposal import Match, Proposal
from .divisions import OTHER, Division, are_numbers, by_value, divisions_of


def narrowed(
    proposals: Sequence[Proposal],
    table: Table,
    judgement: Judgement,
    deep: Deep,
    *,
    accepts: Callable[[Posterior], bool] = lambda posterior: posterior.may_act,
) -> list[Proposal]:
    """Return the proposals, each for the values and the sections that its evidence reaches.

    *accepts* says what a proposal must be believed of for that: that it may act, unless something less is asked.
    """
    if not judgement.merged:
        return list(proposals)
    groups = _MergedGroups(proposals, table, judgement, deep, accepts)
    divisions = divisions_of(table)
    found: list[Proposal] = []
    for proposal in proposals:
        if proposal.operation == Lower() and not proposal.joint and proposal.key in table.columns:
            found += groups.spelled(proposal)
        elif proposal.constant or not isinstance(proposal.operation, Ignore | IgnoreValue | Set):
            found.append(proposal)
        elif proposal.joint:
            found += (
                [proposal]
                if groups.speak_for([one for one in proposals if one.joint and one.match == proposal.match])
                else []
            )
        elif proposal.key in table.columns:
            found += groups.narrowed(proposal, divisions)
        else:
            found.append(proposal)
    return found


class _MergedGroups:
    """The groups of URLs that proposals make one together, and which of them each is a part of."""

    def __init__(
        self,
        proposals: Sequence[Proposal],
        table: Table,
        judgement: Judgement,
        deep: Deep,
        accepts: Callable[[Posterior], bool],
    ) -> None:
        self._table = table
        self._accepts = accepts
        merged = judgement.merged
        sizes = np.array([len(members) for members in merged], dtype=np.intp)
        self._rows = np.array([i for members in merged for i in members], dtype=np.intp)
        self._group = np.repeat(np.arange(len(sizes)), sizes)
        self._starts = np.cumsum(sizes) - sizes
        self._several = self._differ(table.content)
        bad = np.flatnonzero(self._several)
        rules = rules_of(judgement.sample.site, proposals)
        book = book_of(rules, judgement.sample, deep)
        leading = {one.match for one in proposals if one.joint and isinstance(one.operation, Replace)}
        ids = dict(zip(dict.fromkeys(one.match for one in proposals), [rule.id for rule in rules], strict=True))
        self._led = self._acted_on(book, judgement.sample, {ids[match]: match for match in leading})
        against = blamed(proposals, book, judgement, [merged[number] for number in bad.tolist()])
        self._against = {one: bad[sorted(numbers)] for one, numbers in against.items()}

    def _acted_on(self, book: RuleBook, sample: SiteUrls, names: Mapping[str, Match]) -> dict[Match, Flags]:
        """Return, by pattern, the URLs of groups on which its rule acts, maybe as others have left them."""
        found = {match: np.zeros(len(sample.urls), dtype=np.bool_) for match in names.values()}
        for row in self._rows.tolist() if names else ():
            for rule in book.acting(sample.urls[row]):
                if rule.id in names:
                    found[names[rule.id]][row] = True
        return found

    def _differ(self, codes: Codes) -> Flags:
        """Return in which groups URLs differ."""
        ordered = codes[self._rows]
        differ: Flags = np.minimum.reduceat(ordered, self._starts) != np.maximum.reduceat(ordered, self._starts)
        return differ

    def speak_for(self, joint: Sequence[Proposal]) -> bool:
        """Return whether proposals that only hold together may act."""
        table, keys = self._table, [one.key for one in joint if one.key in self._table.columns]
        asked = np.zeros(len(self._starts), dtype=np.bool_)
        for key in keys:
            asked |= self._differ(table.columns[key])
        match = joint[0].match
        changed = self._led[match] if match in self._led else matching(table, match)
        asked &= np.logical_or.reduceat(changed[self._rows], self._starts) & ~self._several
        for one in joint:
            asked[self._against.get(one, [])] = True
        chosen = asked[self._group]
        rows, group = self._rows[chosen], np.unique(self._group[chosen], return_inverse=True)[1]
        found = witnesses(group, table.content[rows], table.lone[rows], ValueKind.OTHER.prior)
        return bool(len(found)) and self._accepts(table.judge.posterior(found))

    def spelled(self, proposal: Proposal) -> list[Proposal]:
        """Return a proposal that case means nothing; for the spellings that were met alone, where others could have been.

        A value that was met twice or more, always with the same capitals, is one of which nobody knows.
        """
        table, codes = self._table, self._table.columns[proposal.key]
        changed = matching(table, proposal.match)
        tested = self._differ(codes) & np.logical_or.reduceat(changed[self._rows], self._starts) & ~self._several
        rows = self._rows[tested[self._group]]
        if table.repeated_capitals(codes[rows]) >= MIN_TESTED * table.repeated_capitals(codes[changed]):
            return [proposal]
        spellings = sorted(seen_values(table, rows, proposal.key))
        shown = {lower_value(value): value for value in reversed(spellings)}
        values: dict[str | None, str | None] = {
            value: shown[lower_value(value)] for value in spellings if shown[lower_value(value)] != value
        }
        return [replace(proposal, operation=Set(values))] if values else []

    def narrowed(self, proposal: Proposal, divisions: Sequence[Division]) -> list[Proposal]:
        """Return a proposal for the values and the parts of the site that its evidence reaches; none where it reaches none."""
        table, codes = self._table, self._table.columns[proposal.key]
        changed = matching(table, proposal.match) & concerned(table, proposal.key, proposal.operation)
        asked = self._differ(codes) & np.logical_or.reduceat(changed[self._rows], self._starts) & ~self._several
        asked[self._against.get(proposal, [])] = True
        chosen = asked[self._group]
        if not chosen.any():
            return []
        rows, group = self._rows[chosen], np.unique(self._group[chosen], return_inverse=True)[1]
        kind = kind_of_key(proposal.key, table.columns, table.vocabulary, np.flatnonzero(changed))
        operation = proposal.operation
        only = operation.only if isinstance(operation, Ignore | IgnoreValue) else None
        if isinstance(operation, Ignore | IgnoreValue) and isinstance(only, frozenset):
            values = self._values(proposal, sorted(only), rows, group, kind)
            if not values:
                return []
            if len(values) < len(only):
                proposal = replace(proposal, operation=replace(operation, only=frozenset(values)))
                changed &= concerned(table, proposal.key, proposal.operation)
        if isinstance(operation, Ignore | IgnoreValue) and isinstance(only, ValueClass):
            shape = widened(class_of(seen_values(table, rows, proposal.key)))
            if not shape.covers(class_of(seen_values(table, np.flatnonzero(changed), proposal.key))):
                # Nothing was seen of values of another class, or far longer or shorter ones.
                proposal = replace(proposal, operation=replace(operation, only=shape))
                changed &= concerned(table, proposal.key, proposal.operation)
        found = witnesses(
            group,
            table.content[rows],
            table.lone[rows],
            table.judge.prior(proposal.key, kind.prior),
            codes[rows],
        )
        first = rows[np.r_[True, group[1:] != group[:-1]]]
        sections, *others = divisions
        if sections.divides(proposal):
            split = Split.of(table.judge, found, sections.part_of_url[first], len(sections.names), kind.unlike)
            held = self._in_sections(proposal, changed, sections, split)
        else:
            split = Split.of(table.judge, found, np.zeros_like(first), 1, kind.unlike)
            held = [proposal] if self._accepts(split.strata[0]) else []
        others = [each for each in others if each.divides(proposal)]
        if not held or not others:
            return held
        splits = [
            Split.of(table.judge, found, each.part_of_url[first], len(each.names), kind.unlike) for each in others
        ]
        return [*held, *self._kept(held, split, zip(others, splits, strict=True), first)]

    def _kept(
        self, held: Sequence[Proposal], split: Split, others: Iterable[tuple[Division, Split]], first: Rows
    ) -> list[Proposal]:
        """Return what keeps a key where other divisions than the one of *split* show that a proposal that is *held* is wrong.

        *first* is a URL of each witness group.
        """
        divisions, splits = zip(*others, strict=True)
        passing = np.array([each.states for each in split.strata if self._accepts(each)])
        accepted = replace(split.unseen, states=passing.mean(axis=0)) if len(passing) else split.unseen
        # How likely each other division is the one that counts.
        gain = np.array([each.evidence - split.evidence for each in splits]) - np.log(
            current().division_odds * len(splits)
        )
        likely = np.exp(np.minimum(gain, 50.0))
        likely /= 1.0 + likely.sum()
        acting = [one for one in held if one.operation != Keep()]
        found: list[Proposal] = []
        for division, other, weight in zip(divisions, splits, likely.tolist(), strict=True):
            seen = np.unique(division.part_of_url[first]).tolist()
            wrong = [number for number in seen if not self._accepts(other.strata[number].mixed(accepted, weight))]
            found += [
                Proposal(match, one.key, Keep())
                for one in acting
                for match in division.matches(one.match, self._table, wrong)
            ]
        return found

    def _in_sections(self, proposal: Proposal, changed: Flags, sections: Division, split: Split) -> list[Proposal]:
        """Return a proposal for the sections in which it may act; *changed* are the URLs that it changes."""
        here = np.bincount(sections.part_of_url[changed], minlength=len(sections.names)) > 0
        passing = [number for number, each in enumerate(split.strata) if here[number] and self._accepts(each)]
        failing = [number for number, each in enumerate(split.strata) if here[number] and not self._accepts(each)]
        if self._accepts(split.unseen):
            kept = [sections.matches(proposal.match, self._table, [number]) for number in failing]
            return [proposal, *(Proposal(match, proposal.key, Keep()) for (match,) in kept)]
        return [
            _of_its_values(replace(proposal, match=match), self._table, changed)
            for match in sections.matches(proposal.match, self._table, passing)
        ]

    def _values(self, proposal: Proposal, values: Sequence[str], rows: Rows, group: Rows, kind: ValueKind) -> list[str]:
        """Return those of some values of a key that make no difference to any other."""
        codes = self._table.columns[proposal.key]
        numbers = {self._table.numbers.get(value, OTHER): number for number, value in enumerate(values)}
        # A drawn value may stand in one value with another one; forms are forms, and all others a choice of few.
        kind = kind if kind in (ValueKind.DRAWN, ValueKind.FORM) else ValueKind.ENUMERATED
        # Numbers are one quantity, and alike as the sections of a site are.
        unlike = VALUES_UNLIKE if kind is ValueKind.ENUMERATED and not are_numbers(values) else kind.unlike
        chosen = by_value(numbers, codes, self._table.content, rows, group)
        if not chosen.rows:
            return list(values)
        some = rows[chosen.rows]
        found = witnesses(
            np.repeat(np.arange(len(chosen.sizes)), chosen.sizes),
            self._table.content[some],
            self._table.lone[some],
            kind.prior.about(proposal.key),
            codes[some],
        )
        split = Split.of(self._table.judge, found, np.array(chosen.values), len(values), unlike)
        return [value for value, each in zip(values, split.strata, strict=True) if self._accepts(each)]


def _of_its_values(proposal: Proposal, table: Table, changed: Flags) -> Proposal:
    """Return a proposal that drops values of a class, with the class of those that were seen under its pattern."""
    operation = proposal.operation
    if not isinstance(operation, Ignore | IgnoreValue) or not isinstance(operation.only, ValueClass):
        return proposal
    rows = np.flatnonzero(changed & matching(table, proposal.match))
    return replace(
        proposal, operation=replace(operation, only=widened(class_of(seen_values(table, rows, proposal.key))))
    )
