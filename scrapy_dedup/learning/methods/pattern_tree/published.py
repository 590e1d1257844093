"""The paper's own decision for one site, and what its rules say by the keys that a rule file has.

The paper's keys are whole segments. A rule file knows the last one by its stem, and has keys of their own for its
extension, a slash at the end, matrix parameters and segments of the form name=value. So a rule is said once for each
layout of the paths that it acts on: what it makes of a URL is written down as texts in which a mark, the key between two
NULs, stands for a value that is not always the same.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ....rules import Absent, Ignore, IgnoreValue, Literal, OfClass, Operation, Predicate, Replace, Set
from ....urls import normal_parts
from ....urls.paths import PathSegment, param_key, segments_of, split_extension
from ...data.judgement import SiteUrls
from ...data.url_table import RARE, REPEAT
from ...proposals.proposal import ANY_VALUE, Match
from ..formations import Decision, Formation, NotSayable, flags, some_of
from ..options import PatternTreeOptions
from .rules import IgnoreKey, KeepKey, KeyOperation, NormalizationRule
from .selection import PatternTreeRules, learn
from .tree import ANYTHING, Fixed, Part

PARAMETERS = "parameters in the path"
_MARK = "\0"


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


def _alike(rows: Sequence[int], urls: Sequence[str]) -> list[list[int]]:
    """Return rows by the paths of their URLs: as many segments, a slash at the end, parameters, an extension or not."""
    found: dict[object, list[int]] = {}
    for row in rows:
        path = normal_parts(urls[row])[1]
        extended = [segment.extension is not None for segment in segments_of(path)[0]]
        found.setdefault((path.endswith("/"), "=" in path or ";" in path, tuple(extended)), []).append(row)
    return list(found.values())


def _said(rule: NormalizationRule, urls: Sequence[str]) -> tuple[Match, dict[str, Operation], list[Match]]:
    """Return the pattern, the operations, and patterns of URLs that are left alone. Raises NotSayable."""
    parts, wanted = rule.source.parts, rule.operations
    if RARE in parts or RARE in wanted:
        raise NotSayable("rare parameters together")
    layout = PathLayout([normal_parts(url)[1] for url in urls], parts)
    texts, match, kept = layout.texts, layout.match, layout.kept
    others = {key: part for key, part in parts.items() if not key.startswith("path.")}
    for key, part in others.items():
        if isinstance(part, Fixed):
            if REPEAT in part.value:
                raise NotSayable("several values of one name")
            texts[key] = part.value
            match[key] = Literal(part.value)
            continue
        texts[key] = _mark(key)
        # A node's own rule asks for less than those of the nodes below it, so that theirs come first.
        if not (part.optional or rule.of_one_node):
            match[key] = OfClass(ANY_VALUE)
        if part.excluded:
            kept.append(((key, some_of(value for value in part.excluded if REPEAT not in value)),))
    ops: dict[str, Operation] = {key: Ignore() for key in others.keys() - wanted.keys()}
    for key, operation in wanted.items():
        text, before = _shown(operation, texts), texts.get(key)
        if not key.startswith("path.") and text not in (None, before):
            known = others.get(key)
            always = known is not None and (isinstance(known, Fixed) or not known.optional)
            ops[key] = _operation(before, text or "", always=always)
    ops |= layout.operations(wanted)
    return tuple(match.items()), ops, [tuple({**match, **dict(one)}.items()) for one in kept]


def _mark(key: str) -> str:
    return f"{_MARK}{key}{_MARK}"


def _shown(operation: KeyOperation, texts: Mapping[str, str]) -> str | None:
    """Return the text that an operation makes of a URL with some *texts*; None if it copies what is not there."""
    if isinstance(operation, IgnoreKey):
        return ANYTHING
    return operation.value if isinstance(operation, KeepKey) else texts.get(operation.source)


def _operation(before: str | None, text: str, *, always: bool) -> Operation:
    """Return what shows a key as a text; *before* it shows another one, or None if it is absent. Raises NotSayable.

    The wildcard is written whether the key is there, as it is *always*, or not.
    """
    if text == ANYTHING and always:
        return IgnoreValue()
    prefix, *rest = text.split(_MARK)
    if rest:
        between = set(rest[1:-1:2])
        if len(between) > 1:
            raise NotSayable(PARAMETERS)
        return Replace(rest[::2], prefix, rest[-1], join="".join(between))
    varies = before is not None and _MARK in before
    return Replace("", prefix=text) if varies or text == ANYTHING else Set({before: text})


class PathLayout:
    """The keys of paths that are alike, and what the parts of a pattern say of them.

    ``texts``: key of the paper -> segment, with marks; ``match``: what the path must be; ``kept``: what the segments of URLs
    are that are left alone. Raises NotSayable where their parameters have other names, one name twice, or no value.
    """

    def __init__(self, paths: Sequence[str], parts: Mapping[str, Part]) -> None:
        self.segments, self.slash = segments_of(paths[0])
        keys = [key for segment in self.segments for key in _keys(segment)]
        others = ([key for segment in segments_of(path)[0] for key in _keys(segment)] for path in paths)
        if len({*keys}) < len(keys) or any(other != keys for other in others):
            raise NotSayable(PARAMETERS)
        positions = [place for place, segment in enumerate(self.segments) if not segment.name]
        self.length, self.last = len(positions), max(positions, default=-1)
        self.texts = {f"path.{len(self.segments)}": ""} if self.slash else {}
        self.match: dict[str, Predicate] = {
            "path.trail": Literal("/") if self.slash else Absent(),
            "path.len": Literal(str(self.length)),
        }
        self.kept: list[Match] = []
        for place, segment in enumerate(self.segments):
            part, (key, *names) = parts[f"path.{place}"], _keys(segment)
            if isinstance(part, Fixed):
                self._fixed(place)
            else:
                self.match |= dict.fromkeys(names if not segment.name else [key, *names], OfClass(ANY_VALUE))
                self.kept += self._excluded(place, part.excluded) if key.startswith("path.") and not names else ()
            self.texts[f"path.{place}"] = (segment if isinstance(part, Fixed) else _marked(segment)).compose()

    def _fixed(self, place: int) -> None:
        """Ask for the values of the keys of a segment."""
        segment = self.segments[place]
        values = [segment.value, *(value for _, value in segment.params)]
        for key, value in zip(_keys(segment), values, strict=True):
            if value is None:
                raise NotSayable(PARAMETERS)
            self.match[key] = Literal(value)
        if place == self.last:
            self.match["ext"] = Absent() if segment.extension is None else Literal(segment.extension)

    def _excluded(self, place: int, values: frozenset[str]) -> Iterator[Match]:
        """Yield what a segment is of URLs that a rule leaves alone."""
        by_extension: dict[str | None, set[str]] = {}
        for value in values:
            if REPEAT not in value and "=" not in value and ";" not in value:
                stem, extension = split_extension(value) if place == self.last else (value, None)
                by_extension.setdefault(extension, set()).add(stem)
        for extension, stems in sorted(by_extension.items(), key=lambda one: one[0] or ""):
            ends: Match = (("ext", Absent() if extension is None else Literal(extension)),)
            yield ((self.segments[place].key, some_of(stems)), *(ends if place == self.last else ()))

    def operations(self, wanted: Mapping[str, KeyOperation]) -> dict[str, Operation]:
        """Return what is done to the keys of the path. Raises NotSayable."""
        keys = [f"path.{place}" for place in range(sum(key.startswith("path.") for key in wanted))]
        if not wanted.keys() >= {*keys}:
            raise NotSayable("a path with gaps")
        written = [text for key in keys if (text := _shown(wanted[key], self.texts)) is not None]
        slash = written[-1:] == [""]
        written = written[:-1] if slash else written
        found: dict[str, Operation] = {}
        for place, text in enumerate(written):
            segment = self.segments[place] if place < len(self.segments) else None
            before = self.texts[f"path.{place}"] if segment else None
            moves_extension = (
                segment is not None and segment.extension is not None and len(written) > len(self.segments)
            )
            if text == before and not moves_extension:
                continue
            if ";" in text or (segment is not None and segment.name):  # no operation writes a parameter
                raise NotSayable(PARAMETERS)
            if segment is None:
                key = f"path.{self.length + place - len(self.segments)}"
                found[key] = _operation(None, text, always=False)
            else:
                known = before if before and _MARK in before else segment.value
                found |= {segment.key: _operation(known, text, always=True), **self._with(segment)}
        for segment in self.segments[len(written) :]:
            found |= {segment.key: Ignore(cut=not segment.name), **self._with(segment)}
        if slash != self.slash:
            found["path.trail"] = Set({None: "/"}) if slash else Ignore()
        return found

    def _with(self, segment: PathSegment) -> dict[str, Operation]:
        """Return what goes with the value of a segment: its matrix parameters, and the extension of the last one."""
        ends = [] if segment.extension is None else ["ext"]
        return {key: Ignore() for key in (*_keys(segment)[1:], *ends)}


def _keys(segment: PathSegment) -> list[str]:
    """Return the keys of a segment and of its parameters."""
    return [segment.key, *(param_key(name) for name, _ in segment.params)]


def _marked(segment: PathSegment) -> PathSegment:
    """Return a segment with marks in place of its values."""
    params = tuple((name, None if value is None else _mark(param_key(name))) for name, value in segment.params)
    extension = None if segment.extension is None else _mark("ext")
    return replace(segment, value=_mark(segment.key), extension=extension, params=params)
