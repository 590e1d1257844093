"""The paper's own decision for one site: candidate rules, the false-positive filter, one of the selections."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....rules import Absent, Ignore, IgnoreValue, Literal, OfClass, Operation, Predicate, Replace, Set
from ....urls.paths import split_extension
from ...data.judgement import SiteUrls
from ...data.url_table import RARE, REPEAT
from ...proposals.dropping import dropped, value_dropped
from ...proposals.proposal import ANY_VALUE, Match
from ..method_decision import Decision, Formation, NotSayable, some_of
from ..options import PatternTreeOptions
from ..pattern_tree_gaps import FAITHFUL, IMPROVED, PatternTreeChoices
from ..written import flags
from .normalization_rules import KeepKey, NormalizationRule, ReplaceKey, SetLiteral
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
        own = owners == number
        if not own.any():
            continue
        try:
            match, ops, kept = _Said(learned, rule, [sample.urls[i] for i in np.flatnonzero(own).tolist()]).formation()
        except NotSayable as problem:
            left_out[str(problem)] += 1
            continue
        if ops:
            found.append(Formation(match, ops, own, kept))
    return found, left_out


def _peeled(learned: LearnedTree, sample: SiteUrls) -> Iterator[Formation]:
    """Yield what is dropped everywhere, before there is a tree."""
    table, rows = learned.whole, learned.tree.root.rows
    everywhere = flags(range(len(sample.urls)), len(sample.urls))
    for key, (_, presence) in learned.peel.keys.items():
        if key != RARE:
            yield Formation((), {key: (value_dropped if presence else dropped)(table, rows, key)}, everywhere)


@dataclass(frozen=True, slots=True)
class _Said:
    """One rule of the tree, and the URLs that it acts on."""

    learned: LearnedTree
    rule: NormalizationRule
    urls: Sequence[str]

    @property
    def whole_segments(self) -> bool:
        """Whether segments of the path are shown with their extensions and parameters, as published."""
        return self.rule.options.parts == "segments"

    def formation(self) -> tuple[Match, dict[str, Operation], list[Match]]:
        """Return the pattern, the operations, and patterns of URLs that the rule leaves alone. Raises NotSayable."""
        parts = self.rule.source.parts
        if RARE in parts or RARE in self.rule.operations:
            raise NotSayable("rare parameters together")
        paths = [url.partition("?")[0] for url in self.urls]
        if self.whole_segments and any("=" in path or ";" in path for path in paths):
            raise NotSayable("parameters in the path")
        match = {**self._match(), **self._path_match()}
        ops = self._operations()
        excluded = {key: part.excluded for key, part in parts.items() if not isinstance(part, Fixed) and part.excluded}
        kept: list[Match] = []
        for key, values in excluded.items():
            named = {value for value in values if REPEAT not in value}
            if self.whole_segments and key.startswith("path."):
                named = {split_extension(value)[0] for value in named}
            kept.append(tuple({**match, key: some_of(named)}.items()))
        return tuple(match.items()), ops, kept

    def _match(self) -> dict[str, Predicate]:
        found: dict[str, Predicate] = {}
        for key, part in self.rule.source.parts.items():
            if self.whole_segments and key.startswith("path."):
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

    def _path_match(self) -> dict[str, Predicate]:
        """Return what the segments of the path must be, with the extension of the last one."""
        if not self.whole_segments:
            return {}
        parts = _segments(self.rule.source.parts)
        if any(not isinstance(part, Fixed) and part.optional for part in parts):
            lengths = range(sum(isinstance(part, Fixed) or not part.optional for part in parts), len(parts) + 1)
            last = None
        else:
            last = len(parts) - 1
            lengths = range(len(parts), len(parts) + 1)
        found: dict[str, Predicate] = {}
        for number, part in enumerate(parts):
            if not isinstance(part, Fixed):
                continue
            stem, extension = split_extension(part.value)
            if number == last and part.value == "":
                found["path.trail"] = Literal("/")
                lengths = range(number, number + 1)
            elif number == last:
                found |= {f"path.{number}": Literal(stem)}
                found["ext"] = Absent() if extension is None else Literal(extension)
            elif extension is not None and last is None:
                raise NotSayable("a segment that may be the last")
            else:
                found[f"path.{number}"] = Literal(part.value)
        found["path.len"] = some_of(str(length) for length in lengths)
        return {"path.trail": Absent(), **found}

    def _operations(self) -> dict[str, Operation]:
        here = self.rule.source.parts
        found: dict[str, Operation] = {}
        for key, operation in self.rule.operations.items():
            if key in self.learned.peel.keys or key == "path.len":
                continue
            part = here.get(key)
            new = self._operation(key, operation, part)
            if new is not None:
                found[key] = new
        for key in here.keys() - self.rule.operations.keys() - self.learned.peel.keys.keys() - {"path.len"}:
            is_segment = key.startswith("path.") and key[5:].isdigit()
            found[key] = Ignore(cut=True) if is_segment else Ignore()
        return self._with_extension(found) if self.whole_segments else found

    def _operation(self, key: str, operation: object, part: Part | None) -> Operation | None:
        """Return what is done to a key, None for nothing."""
        if isinstance(operation, (KeepKey, SetLiteral)):
            if part is None or (isinstance(part, Fixed) and part.value != operation.value):
                return Set({None if part is None else part.value: operation.value})
            return None if isinstance(part, Fixed) else Replace("", prefix=operation.value)
        if isinstance(operation, ReplaceKey):
            if operation == ReplaceKey(key):
                return None
            if self.whole_segments and operation.source.startswith("path."):
                self._no_extension(operation.source)
            return Replace(operation.source, operation.prefix, operation.suffix, "lower" if operation.lower else "")
        # The wildcard is written whether the key is there or not.
        always = part is not None and (isinstance(part, Fixed) or not part.optional)
        return IgnoreValue() if always else Replace("", prefix=ANYTHING)

    def _no_extension(self, key: str) -> None:
        """Raise NotSayable where a segment that is copied has an extension: rules know it by its stem."""
        number = int(key.removeprefix("path."))
        parts = _segments(self.rule.source.parts)
        if number == len(parts) - 1 and any(_extension(url) is not None for url in self.urls):
            raise NotSayable("a copy of a segment with its extension")

    def _with_extension(self, ops: Mapping[str, Operation]) -> dict[str, Operation]:
        """Return the operations with what they mean for the extension and the slash at the end of the path."""
        changed = [int(key[5:]) for key in ops if key.startswith("path.") and key[5:].isdigit()]
        if not changed:
            return dict(ops)
        found = dict(ops)
        here, there = len(_segments(self.rule.source.parts)), len(_segments(self.rule.target.parts))
        has_extension = any(_extension(url) is not None for url in self.urls)
        if here != there and has_extension and here - 1 not in changed:
            raise NotSayable("an extension that changes its place")
        if here - 1 in changed and has_extension:
            found["ext"] = Ignore()
        before, after = (_ends_with_slash(pattern.parts) for pattern in (self.rule.source, self.rule.target))
        if before:
            found.pop(f"path.{here - 1}", None)
        if after and not before:
            found.pop(f"path.{there - 1}", None)
            found["path.trail"] = Set({None: "/"})
        elif before and not after:
            found["path.trail"] = Ignore()
        return found


def _segments(parts: Mapping[str, Part]) -> list[Part]:
    """Return the parts of the path, in order."""
    numbers = sorted(int(key[5:]) for key in parts if key.startswith("path.") and key[5:].isdigit())
    if numbers != list(range(len(numbers))):
        raise NotSayable("a path with gaps")
    return [parts[f"path.{number}"] for number in numbers]


def _ends_with_slash(parts: Mapping[str, Part]) -> bool:
    segments = _segments(parts)
    return bool(segments) and segments[-1] == Fixed("")


def _extension(url: str) -> str | None:
    return split_extension(url.partition("?")[0].rpartition("/")[2])[1]
