"""The paper's own decision for one site, and what its rules say by the keys that a rule file has.

The paper's keys are whole segments. A rule file knows the last one by its stem, and has keys of their own for its
extension, a slash at the end, matrix parameters and segments of the form name=value. So a rule is said once for each
layout of the paths that it acts on.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ....rules import Absent, Ignore, IgnoreValue, Literal, OfClass, Operation, Predicate, Replace, Set
from ....urls import normal_parts
from ....urls.paths import param_key, segments_of, split_extension
from ...data.judgement import SiteUrls
from ...data.url_table import RARE, REPEAT
from ...proposals.proposal import ANY_VALUE, Match
from ..formations import Decision, Formation, NotSayable, flags, some_of
from ..options import PatternTreeOptions
from .rules import IgnoreKey, KeepKey, KeyOperation, NormalizationRule, ReplaceKey
from .selection import PatternTreeRules, learn
from .tree import ANYTHING, Fixed, Part


def decide(sample: SiteUrls, options: PatternTreeOptions) -> Decision:
    """Return what the paper's method decides of a site."""
    rules = learn(sample.urls, sample.content, options, groups=sample.site_groups)
    formations, left_out = _formations(rules, sample)
    return Decision(
        canonical=rules.canonical,
        formations=formations,
        left_out=left_out,
        raw=rules.raw,
        qualified=rules.qualified,
        deployed=rules.deployed,
    )


def _formations(rules: PatternTreeRules, sample: SiteUrls) -> tuple[list[Formation], Mapping[str, int]]:
    """Return what the deployed rules say of keys, and how many cannot be said, by reason."""
    count = len(sample.urls)
    left = np.ones(count, dtype=np.bool_)
    found: list[Formation] = []
    left_out: Counter[str] = Counter()
    for rule in rules.acting:
        rows = rules.rows_of(rule)
        problems = set()
        for alike in _alike(rows[left[rows]].tolist(), sample.urls):
            try:
                match, ops, kept = _said(rule, [sample.urls[row] for row in alike])
            except NotSayable as problem:
                problems.add(str(problem))
                continue
            if ops:
                found.append(Formation(match, ops, flags(alike, count), kept))
        left[rows] = False
        left_out.update(problems)
    return found, left_out


def _said(rule: NormalizationRule, urls: Sequence[str]) -> tuple[Match, dict[str, Operation], list[Match]]:
    """Return the pattern, the operations, and patterns of URLs that are left alone. Raises NotSayable."""
    parts = rule.source.parts
    if RARE in parts or RARE in rule.operations:
        raise NotSayable("rare parameters together")
    layout = PathLayout([normal_parts(url)[1] for url in urls])
    others = {key: part for key, part in parts.items() if not key.startswith("path.")}
    match: dict[str, Predicate] = {}
    for key, part in others.items():
        if isinstance(part, Fixed):
            if REPEAT in part.value:
                raise NotSayable("several values of one name")
            match[key] = Literal(part.value)
        # A node's own rule asks for less than those of the nodes below it, so that theirs come first.
        elif not (part.optional or rule.of_one_node):
            match[key] = OfClass(ANY_VALUE)
    ops: dict[str, Operation] = {}
    for key, operation in rule.operations.items():
        if not key.startswith("path.") and (new := _operation(key, operation, others.get(key), layout)) is not None:
            ops[key] = new
    ops |= {key: Ignore() for key in others.keys() - rule.operations.keys()}
    kept: list[Match] = [
        ((key, some_of(value for value in part.excluded if REPEAT not in value)),)
        for key, part in others.items()
        if not isinstance(part, Fixed) and part.excluded
    ]
    ops |= layout.operations(parts, {key: one for key, one in rule.operations.items() if key.startswith("path.")})
    match |= layout.match(parts)
    match["path.len"] = Literal(str(layout.length))
    kept += layout.excluded(parts)
    return tuple(match.items()), ops, [tuple({**match, **dict(one)}.items()) for one in kept]


def _operation(key: str, wanted: KeyOperation, part: Part | None, layout: "PathLayout") -> Operation | None:
    """Return what is done to a key beside the path, None for nothing."""
    operation = layout.present(wanted)
    if isinstance(operation, KeepKey):
        if part is None or (isinstance(part, Fixed) and part.value != operation.value):
            return Set({None if part is None else part.value: operation.value})
        return None if isinstance(part, Fixed) else Replace("", prefix=operation.value)
    if isinstance(operation, ReplaceKey):
        return None if operation == ReplaceKey(key) else layout.copied(operation)
    return None if operation is None else _wildcard(part)


def _wildcard(part: Part | None) -> Operation:
    """Return what shows a key as the wildcard, which is written whether the key is there or not."""
    always = part is not None and (isinstance(part, Fixed) or not part.optional)
    return IgnoreValue() if always else Replace("", prefix=ANYTHING)


PARAMETERS = "parameters in the path"


def _alike(rows: Sequence[int], urls: Sequence[str]) -> list[list[int]]:
    """Return rows by the paths of their URLs: as many segments, a slash at the end or not, parameters or not."""
    found: dict[tuple[int, bool, bool], list[int]] = {}
    for row in rows:
        path = normal_parts(urls[row])[1]
        found.setdefault((path.count("/"), path.endswith("/"), "=" in path or ";" in path), []).append(row)
    return list(found.values())


class PathLayout:
    """The keys of paths that are alike: those of each segment, and the extensions that the last one has.

    Raises NotSayable where their parameters have other names, or one name twice.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        read = [segments_of(path) for path in paths]
        self.slash = read[0][1]
        layouts = {
            tuple((one.key, tuple(param_key(name) for name, _ in one.params)) for one in segments)
            for segments, _ in read
        }
        self.segments = layouts.pop()
        keys = [key for own, names in self.segments for key in (own, *names)]
        if layouts or len({*keys}) < len(keys):
            raise NotSayable(PARAMETERS)
        positions = [place for place, (key, _) in enumerate(self.segments) if key.startswith("path.")]
        self.length = len(positions)
        self.last = positions[-1] if positions else -1
        self.extensions = {segments[self.last].extension for segments, _ in read} if positions else {None}
        self._asked: dict[str, Predicate] = {}

    def match(self, parts: Mapping[str, Part]) -> dict[str, Predicate]:
        """Return what the path must be for the operations said so far, but for the number of its segments."""
        found: dict[str, Predicate] = {"path.trail": Literal("/") if self.slash else Absent()}
        for place, (key, names) in enumerate(self.segments):
            part = parts[f"path.{place}"]
            if isinstance(part, Fixed):
                found |= self._literals(place, part.value)
            else:
                found |= dict.fromkeys([*names, *([] if key.startswith("path.") else [key])], OfClass(ANY_VALUE))
        return {**found, **self._asked}

    def _literals(self, place: int, text: str) -> dict[str, Predicate]:
        """Return the values of the keys of a segment."""
        key, names = self.segments[place]
        text, *params = text.split(";") if names else [text]
        found: dict[str, Predicate] = {}
        for name, param in zip(names, params, strict=True):
            _, mark, value = param.partition("=")
            if not mark:
                raise NotSayable(PARAMETERS)
            found[name] = Literal(value)
        if not key.startswith("path."):
            return {key: Literal(text.partition("=")[2]), **found}
        stem, extension = self._stem(place, text)
        if place == self.last:
            found["ext"] = Absent() if extension is None else Literal(extension)
        return {key: Literal(stem), **found}

    def _stem(self, place: int, text: str) -> tuple[str, str | None]:
        return split_extension(text) if place == self.last else (text, None)

    def excluded(self, parts: Mapping[str, Part]) -> Iterator[Match]:
        """Yield what the segments of URLs are that a rule leaves alone."""
        for place, (key, names) in enumerate(self.segments):
            part = parts[f"path.{place}"]
            if isinstance(part, Fixed) or names or not key.startswith("path."):
                continue
            by_extension: dict[str | None, set[str]] = {}
            for value in part.excluded:
                if REPEAT not in value and "=" not in value and ";" not in value:
                    stem, extension = self._stem(place, value)
                    by_extension.setdefault(extension, set()).add(stem)
            for extension, stems in sorted(by_extension.items(), key=lambda one: one[0] or ""):
                ends: Match = (("ext", Absent() if extension is None else Literal(extension)),)
                yield ((key, some_of(stems)), *(ends if place == self.last else ()))

    def operations(self, parts: Mapping[str, Part], wanted: Mapping[str, KeyOperation]) -> dict[str, Operation]:
        """Return what is done to the keys of the path; *wanted* is by segment."""
        written = self._written(wanted)
        slash = bool(written) and getattr(written[-1], "value", None) == ""
        if slash:
            written.pop()
        found: dict[str, Operation] = {}
        added = len(written) - len(self.segments)
        for place, operation in enumerate(written):
            if place >= len(self.segments):
                new = self._operation(operation, None, place)
                found[f"path.{self.length + place - len(self.segments)}"] = new
                continue
            part = parts[f"path.{place}"]
            same = operation == ReplaceKey(f"path.{place}") or (
                isinstance(part, Fixed) and getattr(operation, "value", None) == part.value
            )
            if same and not (added > 0 and place == self.last and self.extensions != {None}):
                continue
            key, _ = self.segments[place]
            if not key.startswith("path."):
                raise NotSayable(PARAMETERS)
            found |= {key: self._operation(operation, part, place), **self._dropped(place)}
        for place in range(len(written), len(self.segments)):
            key, _ = self.segments[place]
            found |= {key: Ignore(cut=key.startswith("path.")), **self._dropped(place)}
        if slash != self.slash:
            found["path.trail"] = Set({None: "/"}) if slash else Ignore()
        return found

    def _written(self, wanted: Mapping[str, KeyOperation]) -> list[KeyOperation]:
        """Return the operation for each segment of the canonical path, without those that copy what is not there."""
        found = [self.present(wanted[key]) for key in sorted(wanted, key=lambda key: int(key[5:]))]
        if wanted and f"path.{len(wanted) - 1}" not in wanted:
            raise NotSayable("a path with gaps")
        return [operation for operation in found if operation is not None]

    def present(self, operation: KeyOperation) -> KeyOperation | None:
        """Return an operation on a URL of this layout, None for one that copies what such a URL does not have."""
        if isinstance(operation, ReplaceKey) and operation.source.startswith("path."):
            source = int(operation.source[5:])
            if source >= len(self.segments):
                at_end = self.slash and source == len(self.segments)
                return KeepKey("") if at_end else None
        return operation

    def _operation(self, operation: KeyOperation, part: Part | None, place: int) -> Operation:
        """Return what is done to one segment."""
        if isinstance(operation, IgnoreKey):
            return _wildcard(part)
        if isinstance(operation, KeepKey):
            if ";" in operation.value:  # no operation writes a parameter
                raise NotSayable(PARAMETERS)
            if part is None:
                return Set({None: operation.value})
            if isinstance(part, Fixed):
                return Set({self._stem(place, part.value.partition(";")[0])[0]: operation.value})
            return Replace("", prefix=operation.value)
        return self.copied(operation)

    def copied(self, operation: ReplaceKey) -> Replace:
        """Return what copies the value of a segment, with its extension, or of another key."""
        source, suffix = operation.source, ""
        if source.startswith("path."):
            place = int(source[5:])
            source, names = self.segments[place]
            if names or not source.startswith("path."):
                raise NotSayable(PARAMETERS)
            if place == self.last and self.extensions != {None}:
                if len(self.extensions) > 1:
                    raise NotSayable("a copy of a segment with one of several extensions")
                extension = "".join(one for one in self.extensions if one)
                self._asked["ext"] = Literal(extension)
                suffix = f".{extension}"
        return Replace(source, suffix=suffix)

    def _dropped(self, place: int) -> dict[str, Operation]:
        """Return what goes with the value of a segment: its matrix parameters, and the extension of the last one."""
        _, names = self.segments[place]
        ends = ["ext"] if place == self.last and self.extensions != {None} else []
        return {key: Ignore() for key in (*names, *ends)}
