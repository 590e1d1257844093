"""The document's own decision for one site: rewrite rules that no counterexample refutes and enough URLs support."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ....rules import Absent, Ignore, Literal, Lower, OfClass, Operation, Predicate
from ....urls import GroupsLike, ValueClass, normal_form, values_of
from ....urls.paths import param_key, split_extension
from ...data.clusters import NO_EVIDENCE
from ...data.judgement import SiteUrls
from ...proposals.proposal import ANY_VALUE
from ..formations import Decision, Formation, NotSayable, flags, some_of
from ..options import EquivalenceOptions
from .rewriting import Fixed, RewriteRule, Slot, VariableKind
from .segments import SegmentedUrl, is_named, segmented
from .testing import Observed, inferred

_is_name = re.compile(r"[A-Za-z0-9_.\-]+").fullmatch


def decide(sample: SiteUrls, options: EquivalenceOptions) -> Decision:
    """Return what the document's method decides of a site; each of its web servers has rules of its own."""
    times: Sequence[float | None] = sample.times if sample.times is not None else [None] * len(sample.urls)
    observed = [
        Observed(url, content, time)
        for url, content, time in zip(sample.urls, sample.content, times, strict=True)
        if content != NO_EVIDENCE
    ]
    inference = inferred(observed, options)
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


def _formations(rules: Sequence[RewriteRule], sample: SiteUrls) -> tuple[list[Formation], Mapping[str, int]]:
    """Return what rewrite rules say of keys, and how many cannot be said, by reason: the first that matches acts."""
    members = [segmented(url) for url in sample.urls]
    by_shape: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for number, member in enumerate(members):
        by_shape.setdefault((member.origin, member.keys), []).append(number)
    found: list[Formation] = []
    left_out: Counter[str] = Counter()
    for rule in rules:
        shape = by_shape.get((rule.form.origin, rule.form.keys), [])
        own = [number for number in shape if rule.matches(members[number].values)]
        taken = {*own}
        by_shape[rule.form.origin, rule.form.keys] = [number for number in shape if number not in taken]
        if not own:
            continue
        try:
            match, ops = _said(rule, [members[number] for number in own], sample.site_groups)
        except NotSayable as problem:
            left_out[str(problem)] += 1
            continue
        found.append(Formation(match, ops, flags(own, len(members))))
    return found, left_out


def _said(
    rule: RewriteRule, own: Sequence[SegmentedUrl], groups: GroupsLike
) -> tuple[tuple[tuple[str, Predicate], ...], dict[str, Operation]]:
    """Return the pattern and the operations of a rewrite rule; *own* are URLs that it acts on. Raises NotSayable."""
    form = rule.form
    keys = list(_keys(rule, own))
    in_path = [position for position in form.kept if not form.keys[position].startswith("?")]
    if any(a > b for a, b in pairwise(in_path)):
        raise NotSayable("another order of segments")
    match = _of_origin(form.origin, groups)
    ops: dict[str, Operation] = {}
    kept: dict[str, bool] = {}
    for position, key in enumerate(keys):
        slot, stays = rule.slots[position], position in form.kept
        if not key:
            match["path.len"] = Literal("0")
            continue
        name = _name(key)
        if kept.setdefault(name, stays) != stays:
            raise NotSayable("some of several values of one name")
        if key.startswith("path.") and key != "path.trail" and position == _last(keys):
            match |= _of_last(key, slot, own, position, lowered=position in form.lowered)
            if not stays:
                ops["ext"] = Ignore()
        else:
            match[key] = _predicate(slot, own, position, lowered=position in form.lowered)
        if not stays:
            ops[name] = Ignore(cut=True) if key.startswith("path.") and key != "path.trail" else Ignore()
        elif position in form.lowered:
            ops[name] = Lower()
    match.setdefault("path.len", Literal(str(sum(key.startswith("path.") and key != "path.trail" for key in keys))))
    match.setdefault("path.trail", Absent())
    return tuple(match.items()), ops


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


def _last(keys: Sequence[str]) -> int:
    """Return the place of the last segment of the path, which the extension belongs to."""
    return max(place for place, key in enumerate(keys) if key.startswith("path.") and key != "path.trail")


def _name(key: str) -> str:
    """Return the key of an operation: it is on all values of a name."""
    return key.partition("[")[0] if key.endswith("]") else key


def _predicate(slot: Slot, own: Sequence[SegmentedUrl], position: int, *, lowered: bool) -> Predicate:
    if isinstance(slot, Fixed) and lowered:
        return some_of(member.values[position] for member in own)  # no predicate is blind to case
    if isinstance(slot, Fixed):
        return Literal("/" if slot.value == "" and own[0].keys[position] == "/" else slot.value)
    if slot.kind is VariableKind.STRING:
        return OfClass(ANY_VALUE)
    digits = all(member.values[position].isdecimal() for member in own)
    return OfClass(ValueClass("int" if digits else "alnum"))


def _of_last(
    key: str, slot: Slot, own: Sequence[SegmentedUrl], position: int, *, lowered: bool
) -> dict[str, Predicate]:
    """Return what the last segment of a path must be: it is asked for by its stem and its extension."""
    if not isinstance(slot, Fixed):
        return {key: _predicate(slot, own, position, lowered=lowered), "ext": OfClass(ANY_VALUE, optional=True)}
    both = [split_extension(member.values[position] if lowered else slot.value) for member in own]
    extensions = {extension for _, extension in both}
    found: dict[str, Predicate] = {key: some_of(stem for stem, _ in both) if lowered else Literal(both[0][0])}
    found["ext"] = Absent() if extensions == {None} else some_of(extension or "" for extension in extensions)
    return found
