"""The paper's own decision for one site: candidate rules, the false-positive filter, one of the selections."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....rules import Ignore, IgnoreValue, Literal, OfClass, Operation, Predicate, Replace, Set
from ...data.judgement import SiteUrls
from ...data.url_table import RARE, REPEAT
from ...proposals.dropping import dropped, value_dropped
from ...proposals.proposal import ANY_VALUE, Match
from ..method_decision import Decision, Formation, NotSayable, some_of
from ..options import PatternTreeOptions
from ..pattern_tree_gaps import FAITHFUL, IMPROVED, PatternTreeChoices
from ..written import flags
from .normalization_rules import KeepKey, KeyOperation, NormalizationRule, ReplaceKey, SetLiteral
from .path_formations import PathLayout, alike, is_of_path, path_of
from .patterns import ANYTHING, Fixed, Part
from .whole_method import LearnedTree, PatternTreeRules, learn_tree, rules_of_tree


def choices_of(options: PatternTreeOptions) -> PatternTreeChoices:
    """Return how the gaps of the paper are filled."""
    return replace(FAITHFUL if options.resolutions == "faithful" else IMPROVED, **dict(options.choices))


def decide(sample: SiteUrls, options: PatternTreeOptions) -> Decision:
    """Return what the paper's method decides of a site."""
    choices = choices_of(options)
    learned = learn_tree(sample.urls, sample.content, choices, fpr_max=options.fpr_max, groups=sample.site_groups)
    rules = rules_of_tree(learned, choices, options.selection, sample.site_groups)
    formations, left_out = ([], {}) if learned is None else _formations(learned, rules, sample)
    return Decision(
        canonical=rules.canonical,
        formations=formations,
        left_out=left_out,
        raw=rules.raw,
        qualified=rules.qualified,
        deployed=rules.deployed,
    )


def _formations(
    learned: LearnedTree, rules: PatternTreeRules, sample: SiteUrls
) -> tuple[list[Formation], Mapping[str, int]]:
    """Return what the deployed rules say of keys, and how many cannot be said, by reason."""
    owners = np.full(len(sample.urls), -1, dtype=np.intp)
    both = [*rules.rules, *rules.completing]
    # Deeper nodes come later and overwrite what was said for their ancestors.
    for number in sorted(range(len(both)), key=lambda i: learned.tree.nodes[both[i].nodes[0]].depth):
        owners[learned.places[learned.tree.nodes[both[number].nodes[0]].rows]] = number
    found = list(_peeled(learned, sample))
    left_out: Counter[str] = Counter()
    for number, rule in enumerate(both):
        own = np.flatnonzero(owners == number).tolist()
        said = _Said(learned, rule, sample.urls)
        problems = set()
        together: dict[tuple[Match, tuple[tuple[str, Operation], ...], tuple[Match, ...]], Lengths] = {}
        for rows in said.alike(own):
            try:
                length, match, ops, kept = said.formation(rows)
            except NotSayable as problem:
                problems.add(str(problem))
                continue
            together.setdefault((match, ops, kept), {})[length] = rows
        left_out.update(problems)
        found += [_formation(*what, by_length, len(sample.urls)) for what, by_length in together.items() if what[1]]
    return found, left_out


Lengths = dict[str | None, list[int]]
"""Number of segments of a path, None where it is not asked for -> the URLs that are so."""


def _formation(
    match: Match, ops: Iterable[tuple[str, Operation]], kept: Iterable[Match], by_length: Lengths, count: int
) -> Formation:
    """Return what is said of URLs alike, of paths of any of some lengths."""
    lengths = [length for length in by_length if length is not None]
    asked: Match = (*match, ("path.len", some_of(lengths))) if lengths else match
    own = flags((row for rows in by_length.values() for row in rows), count)
    return Formation(asked, dict(ops), own, [tuple({**dict(asked), **dict(one)}.items()) for one in kept])


def _peeled(learned: LearnedTree, sample: SiteUrls) -> Iterator[Formation]:
    """Yield what is dropped everywhere, before there is a tree."""
    table, rows = learned.whole, learned.tree.root.rows
    everywhere = flags(range(len(sample.urls)), len(sample.urls))
    for key, (_, presence) in learned.peel.keys.items():
        if key != RARE:
            yield Formation((), {key: (value_dropped if presence else dropped)(table, rows, key)}, everywhere)


@dataclass(frozen=True, slots=True)
class _Said:
    """One rule of the tree, and the URLs of the sample."""

    learned: LearnedTree
    rule: NormalizationRule
    urls: Sequence[str]

    @property
    def whole_segments(self) -> bool:
        """Whether segments of the path are shown with their extensions and parameters, as published."""
        return self.rule.options.parts == "segments"

    def alike(self, rows: Sequence[int]) -> list[list[int]]:
        """Return the URLs that are said together."""
        if not self.whole_segments:
            return [list(rows)] if rows else []
        return [[rows[place] for place in some] for some in alike([path_of(self.urls[row]) for row in rows])]

    def formation(
        self, rows: Sequence[int]
    ) -> tuple[str | None, Match, tuple[tuple[str, Operation], ...], tuple[Match, ...]]:
        """Return the length of the paths, the pattern, the operations, and patterns of URLs that are left alone.

        Raises NotSayable.
        """
        parts = self.rule.source.parts
        if RARE in parts or RARE in self.rule.operations:
            raise NotSayable("rare parameters together")
        if any(self._is_apart(key) for key in self.learned.peel.keys):
            raise NotSayable("a path with gaps")
        layout = PathLayout([path_of(self.urls[row]) for row in rows]) if self.whole_segments else None
        match, ops, kept = self._match(), self._operations(layout), list[Match]()
        for key, part in parts.items():
            if not self._is_apart(key) and not isinstance(part, Fixed) and part.excluded:
                kept.append(((key, some_of(value for value in part.excluded if REPEAT not in value)),))
        if layout is None:
            return None, tuple(match.items()), tuple(ops.items()), tuple(kept)
        wanted = {key: op for key, op in self.rule.operations.items() if key != "path.len" and is_of_path(key)}
        ops |= layout.operations(parts, wanted)
        match |= layout.match(parts)
        kept += layout.excluded(parts)
        return str(layout.length), tuple(match.items()), tuple(ops.items()), tuple(kept)

    def _is_apart(self, key: str) -> bool:
        """Return whether a key is said as a part of the path."""
        return self.whole_segments and is_of_path(key)

    def _match(self) -> dict[str, Predicate]:
        found: dict[str, Predicate] = {}
        for key, part in self.rule.source.parts.items():
            if self._is_apart(key):
                continue
            predicate = self._predicate(part)
            if predicate is not None and key not in self.learned.peel.keys:
                found[key] = predicate
        return found

    def _predicate(self, part: Part) -> Predicate | None:
        """Return what a part asks for; None where it may be anything, or where a rule of one node says nothing of it."""
        if isinstance(part, Fixed):
            if REPEAT in part.value:
                raise NotSayable("several values of one name")
            return Literal(part.value)
        if part.shape is not None:
            return OfClass(part.shape, part.optional)
        # A node's own rule asks for less than those of the nodes below it, so that theirs come first.
        return None if part.optional or self.rule.of_one_node else OfClass(ANY_VALUE)

    def _operations(self, layout: PathLayout | None) -> dict[str, Operation]:
        here = self.rule.source.parts
        found: dict[str, Operation] = {}
        for key, operation in self.rule.operations.items():
            if key in self.learned.peel.keys or key == "path.len" or self._is_apart(key):
                continue
            new = self._operation(key, operation, here.get(key), layout)
            if new is not None:
                found[key] = new
        for key in here.keys() - self.rule.operations.keys() - self.learned.peel.keys.keys() - {"path.len"}:
            if not self._is_apart(key):
                found[key] = Ignore(cut=True) if is_of_path(key) else Ignore()
        return found

    def _operation(
        self, key: str, wanted: KeyOperation, part: Part | None, layout: PathLayout | None
    ) -> Operation | None:
        """Return what is done to a key, None for nothing."""
        operation = wanted if layout is None else layout.present(wanted)
        if isinstance(operation, (KeepKey, SetLiteral)):
            if part is None or (isinstance(part, Fixed) and part.value != operation.value):
                return Set({None if part is None else part.value: operation.value})
            return None if isinstance(part, Fixed) else Replace("", prefix=operation.value)
        if isinstance(operation, ReplaceKey):
            if operation == ReplaceKey(key):
                return None
            if layout is not None:
                return layout.copied(operation)
            return Replace(operation.source, operation.prefix, operation.suffix, "lower" if operation.lower else "")
        if operation is None:
            return None
        # The wildcard is written whether the key is there or not.
        always = part is not None and (isinstance(part, Fixed) or not part.optional)
        return IgnoreValue() if always else Replace("", prefix=ANYTHING)
