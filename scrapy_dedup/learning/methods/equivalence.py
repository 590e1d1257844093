"""Rewrite rules from the URLs of equivalence classes: tested, and what they decide of a site.

Source: "url-normalization-rule-inference", FIG. 1, step 130, and FIG. 2, steps 220 to 260, claims 1, 4 and 8: URLs that a
rule gives one normalized URL must lead to near-identical pages. A single counterexample rejects; more
URLs than a threshold, and none, activate; and what is tested may be bounded by a window of time.

>>> seen = [Observed(f"http://a.example/x?id={i}&sid={i * 31 + s}", i) for i in range(5) for s in range(3)]
>>> found = inferred(seen)
>>> for rule in found.active:
...     print(rule)
http://a.example/x?id=a&sid=* -> http://a.example/x?id=a
>>> found.normalized("http://a.example/x?id=77&sid=9")
'http://a.example/x?id=77'
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...rules import Absent, Ignore, Literal, Lower, OfClass, Operation, Predicate
from ...urls import GroupsLike, ValueClass, normal_form, values_of
from ...urls.paths import param_key, split_extension
from ..data.judgement import SiteUrls
from ..proposals.proposal import ANY_VALUE
from .formations import Decision, Formation, NotSayable, flags, some_of
from .options import EquivalenceOptions
from .rewriting import (
    Fixed,
    Form,
    RewriteRule,
    SegmentedUrl,
    Slot,
    Values,
    VariableKind,
    by_intersection,
    by_prefix_and_suffix,
    generalised,
    is_named,
    rules_of_classes,
    segmented,
    spread_of,
)

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Observed:
    """A URL, the class of what it led to (any number), and when (seconds, None where unknown)."""

    url: str
    content: int
    time: float | None = None


def within_window(observed: Iterable[Observed], days: float | None) -> list[Observed]:
    """Return what was observed in the last *days* before the latest observation.

    Naming schemes of a site change over time. Without a window, all; what has no time stays.
    """
    rows = list(observed)
    latest = max((row.time for row in rows if row.time is not None), default=None)
    if days is None or latest is None:
        return rows
    return [row for row in rows if row.time is None or row.time >= latest - days * _DAY]


class Index:
    """Observed URLs by their shape, origin and keys: a rule is tested on those that it can match, and on no others."""

    def __init__(self, observed: Iterable[Observed]) -> None:
        rows = list(observed)
        self.members = [segmented(row.url) for row in rows]
        self.content = [row.content for row in rows]
        self._shapes: defaultdict[tuple[str, Values], dict[Values, list[int]]] = defaultdict(dict)
        for row, member in enumerate(self.members):
            self._shapes[member.origin, member.keys].setdefault(member.values, []).append(row)

    def left(self, form: Form) -> Mapping[Values, Sequence[int]]:
        """Return the URLs that rules of a form may match, by their values."""
        return self._shapes.get((form.origin, form.keys), {})

    def right(self, form: Form) -> Mapping[Values, Sequence[int]]:
        """Return the URLs that may stand on the right of rules of a form, by their values."""
        return self._shapes.get((form.origin, form.right_keys), {})

    def pages(self, rows: Iterable[int]) -> set[int]:
        """Return the classes of what some URLs led to."""
        return {self.content[row] for row in rows}


@dataclass(frozen=True, slots=True)
class Tested:
    """A rule and the outcome of its test.

    ``urls``: URLs, in groups of one normalized URL and one content, for which the prediction held;
    ``bad``: groups of two contents or more.
    """

    rule: RewriteRule
    urls: int
    bad: int

    def activates(self, min_urls: int) -> bool:
        """Return the document's verdict: one counterexample rejects, more URLs than *min_urls* activate."""
        return not self.bad and self.urls > min_urls


def outcomes(rules: Sequence[RewriteRule], index: Index) -> list[Tested]:
    """Return how each of *rules* does, all of which have right sides of one shape, when all are applied.

    The URLs of a group may have come there by several rules, or stand there: each of the rules counts it. Linear in the
    URLs of the shapes.
    """
    taken: list[set[Values]] = []
    groups: dict[Values, set[int]] = {}
    for rule in rules:
        own = set()
        for values, rows in index.left(rule.form).items():
            if rule.matches(values):
                right = rule.form.right(values)
                own.add(right)
                groups.setdefault(right, {*index.right(rule.form).get(right, ())}).update(rows)
        taken.append(own)
    held = {right: len(rows) for right, rows in groups.items() if len(index.pages(rows)) == 1}
    return [
        Tested(
            rule, urls=sum(held[right] for right in own & held.keys() if held[right] > 1), bad=len(own - held.keys())
        )
        for rule, own in zip(rules, taken, strict=True)
    ]


def refuted_classes(form: Form, rows: Iterable[Values], index: Index) -> set[Values]:
    """Return which of the rules of single classes, of one form, have a counterexample, by what they ask for.

    All are tested in one pass over the URLs of their shape.
    """
    pages: dict[Values, set[int]] = {form.asked_of(values): set() for values in rows}
    for values, members in index.left(form).items():
        if (asked := form.asked_of(values)) in pages:
            pages[asked] |= index.pages(members)
    for asked, own in pages.items():
        own |= index.pages(index.right(form).get(asked[: len(form.kept)], ()))
    return {asked for asked, own in pages.items() if len(own) > 1}


@dataclass(frozen=True, slots=True)
class Inference:
    """All rules that were tested, and what became of them; ``refuted`` are the rules of single classes with a counterexample."""

    rules: tuple[Tested, ...]
    refuted: tuple[RewriteRule, ...]
    min_urls: int

    @property
    def active(self) -> tuple[RewriteRule, ...]:
        """The rules that were activated."""
        return tuple(test.rule for test in self.rules if test.activates(self.min_urls))

    def normalized(self, url: str) -> str:
        """Return *url* as the first active rule that matches it has it; without one, *url*."""
        rewritten = (rule.rewrite(url) for rule in self.active)
        return next((found for found in rewritten if found is not None), url)


def inferred(observed: Iterable[Observed], options: EquivalenceOptions | None = None) -> Inference:
    """Return the rules that observations of any web servers lead to.

    Rules of single classes are tested before they are generalised; those without a counterexample are
    generalised over classes, and what comes of it is tested: by itself, and then with all rules that
    have similar right sides. A rule that is refuted by itself is no part of that second test.
    """
    options = options or EquivalenceOptions()
    index = Index(within_window(observed, options.window_days))
    method = by_prefix_and_suffix if options.representative == "ends" else by_intersection
    every: dict[Form, list[Values]] = {}
    refuted: list[RewriteRule] = []
    classes = rules_of_classes(index.members, index.content, method=method, fold_case=options.fold_case)
    for form, rows in classes.items():
        wrong = refuted_classes(form, rows, index)
        alone = [[values for values in rows if form.asked_of(values) == asked] for asked in sorted(wrong)]
        refuted += [generalised(form, own) for own in alone]
        if sound := [values for values in rows if form.asked_of(values) not in wrong]:
            every[form] = sound
    spread = spread_of(every)
    families: defaultdict[tuple[str, Values], list[RewriteRule]] = defaultdict(list)
    found = []
    for form, rows in every.items():
        rule = generalised(form, rows, spread[form.origin, form.right_keys])
        (by_itself,) = outcomes([rule], index)
        if by_itself.bad:
            found.append(by_itself)
        else:
            families[form.origin, form.right_keys].append(rule)
    for together in families.values():
        found += outcomes(together, index)
    return Inference(tuple(found), tuple(refuted), options.min_urls)


def decide(sample: SiteUrls, options: EquivalenceOptions) -> Decision:
    """Return what the document's method decides of a site; each of its web servers has rules of its own."""
    times: Sequence[float | None] = sample.times if sample.times is not None else [None] * len(sample.urls)
    inference = inferred(map(Observed, sample.urls, sample.content, times), options)
    active = inference.active
    found, left_out = _formations(active, sample)
    return Decision(
        canonical=lambda url: inference.normalized(normal_form(url)),
        formations=found,
        left_out=left_out,
        raw=len(inference.rules),
        qualified=len(active),
        deployed=len(active),
    )


# What rewrite rules say of the keys that a rule file has

_is_name = re.compile(r"[A-Za-z0-9_.\-]+").fullmatch


def _formations(rules: Sequence[RewriteRule], sample: SiteUrls) -> tuple[list[Formation], Mapping[str, int]]:
    """Return what rewrite rules say of keys, and how many cannot be said, by reason: the first that matches acts."""
    members = [segmented(url) for url in sample.urls]
    by_shape: dict[tuple[str, Values], list[int]] = {}
    for number, member in enumerate(members):
        by_shape.setdefault((member.origin, member.keys), []).append(number)
    found: list[Formation] = []
    left_out: Counter[str] = Counter()
    for rule in rules:
        shape = by_shape.get((rule.form.origin, rule.form.keys), [])
        own = [number for number in shape if rule.matches(members[number].values)]
        by_shape[rule.form.origin, rule.form.keys] = sorted({*shape}.difference(own))
        if not own:
            continue
        try:
            match, ops = _said(rule, [members[number] for number in own], sample.site_groups)
            found.append(Formation(tuple(match.items()), ops, flags(own, len(members))))
        except NotSayable as problem:
            left_out[str(problem)] += 1
    return found, left_out


def _said(
    rule: RewriteRule, own: Sequence[SegmentedUrl], groups: GroupsLike
) -> tuple[dict[str, Predicate], dict[str, Operation]]:
    """Return the pattern and the operations of a rewrite rule; *own* are URLs that it acts on. Raises NotSayable."""
    form = rule.form
    keys = list(_keys(rule, own))
    in_path = [position for position in form.kept if not form.keys[position].startswith("?")]
    if any(a > b for a, b in pairwise(in_path)):
        raise NotSayable("another order of segments")
    segments = [position for position, key in enumerate(keys) if key.startswith("path.") and key != "path.trail"]
    match = _of_origin(form.origin, groups)
    match |= {"path.len": Literal(str(len(segments))), "path.trail": Absent()}
    ops: dict[str, Operation] = {}
    kept: dict[str, bool] = {}
    for position, key in enumerate(keys):
        if not key:
            continue
        slot, stays, lowered = rule.slots[position], position in form.kept, position in form.lowered
        values = [member.values[position] for member in own]
        name = key.partition("[")[0] if key.endswith("]") else key  # an operation is on all values of a name
        if kept.setdefault(name, stays) != stays:
            raise NotSayable("some of several values of one name")
        if position in segments[-1:]:
            match |= _of_last(key, slot, values, lowered=lowered)
            if not stays:
                ops["ext"] = Ignore()
        elif form.keys[position] == "/" and slot == Fixed(""):
            match[key] = Literal("/")
        else:
            match[key] = _predicate(slot, values, lowered=lowered)
        if not stays:
            ops[name] = Ignore(cut=position in segments)
        elif lowered:
            ops[name] = Lower()
    return match, ops


def _of_origin(origin: str, groups: GroupsLike) -> dict[str, Predicate]:
    """Return what identifies a web server."""
    values = values_of(f"{origin}/", groups=groups)
    found: dict[str, Predicate] = {
        key: Literal(value or "") for key, value in values.items() if key.startswith(("scheme", "host."))
    }
    found[f"host.{1 + sum(key.startswith('host.') and key != 'host.0' for key in found)}"] = Absent()
    return found


def _keys(rule: RewriteRule, own: Sequence[SegmentedUrl]) -> Iterator[str]:
    """Yield the key that rules know each segment by; "" for the root of a site. Raises NotSayable."""
    number, seen = 0, Counter[str]()
    form = rule.form
    in_path = [position for position, key in enumerate(form.keys) if not key.startswith("?")]
    for position, key in enumerate(form.keys):
        if key == "/":
            empty = {member.values[position] == "" for member in own}
            if empty == {True} and position == in_path[-1]:
                yield "path.trail" if number else ""
                continue
            if any("=" in member.values[position] for member in own):
                raise NotSayable("names with other characters")
            yield f"path.{number}"
            number += 1
            continue
        separator, name = key[0], key[1:]
        if not is_named(key) or separator not in "/;?":
            raise NotSayable("a separator without a name")
        name = name.removeprefix(";") if separator == "?" else name
        if name.startswith(("/", "?")):
            raise NotSayable("a separator inside of a value")
        if separator == "/" and not _is_name(name):
            raise NotSayable("names with other characters")
        full = {"?": f"q.{name}", ";": param_key(name), "/": f"s.{name}"}[separator]
        yield full + (f"[{seen[full]}]" if seen[full] else "")
        seen[full] += 1


def _predicate(slot: Slot, values: Sequence[str], *, lowered: bool) -> Predicate:
    """Return what a value must be; no predicate is blind to case."""
    if isinstance(slot, Fixed):
        return some_of(values) if lowered else Literal(slot.value)
    if slot.kind is VariableKind.STRING:
        return OfClass(ANY_VALUE)
    return OfClass(ValueClass("int" if all(map(str.isdecimal, values)) else "alnum"))


def _of_last(key: str, slot: Slot, values: Sequence[str], *, lowered: bool) -> dict[str, Predicate]:
    """Return what the last segment of a path must be: it is asked for by its stem and its extension."""
    if not isinstance(slot, Fixed):
        return {key: _predicate(slot, values, lowered=lowered), "ext": OfClass(ANY_VALUE, optional=True)}
    both = [split_extension(value) for value in (values if lowered else [slot.value])]
    extensions = {extension for _, extension in both}
    ends = Absent() if extensions == {None} else some_of(extension or "" for extension in extensions)
    return {key: some_of(stem for stem, _ in both), "ext": ends}
