"""Replace rules: URLs of one form that are pages of another (pattern-tree §4.2, key-key mappings).

``/display?pageid=10`` is ``/archive0/10/display``, ``/people/john/`` is ``/~john/``, ``?p=7`` is ``?t=7``,
``/a/index.html`` is ``/a/``. Forms that share duplicate clusters are aligned, value by value; a
mapping counts only where it is verified: the URL that it leads to was fetched too and is in the same
cluster, for enough distinct pages and with no counterexample. So values that two forms share by
chance (``?page=3`` and ``?id=3``) map nothing. Each connected set of forms has one destination, and
chains towards it are composed by the rules themselves.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ...rules import Absent, Ignore, Literal, Lower, OfClass, Operation, Predicate, Replace, Set
from ...rules.actions import transformed
from ...urls import DeepSplit, class_of, values_of
from ...urls.percent import lower_first, lower_value
from ..config import current
from ..data.judgement import SiteUrls
from ..evidence.shares import worth_asking
from ..evidence.value_kinds import other_part
from ..proposals.dropping import widened
from ..proposals.proposal import Match, Proposal
from .url_forms import (
    TRANSFORMED,
    FormMapping,
    UrlForm,
    Values,
    forms_of,
    head_of,
    is_segment,
    spelled,
    way_between,
    with_whole_values,
)

MAX_FORMS = 8
"""Forms of one cluster that are paired, those with most URLs first: pairs grow with their square."""
MAX_PAIRS = 2_000
"""Pairs of URLs that are kept of two forms: more tell nothing new."""


def proposals(sample: SiteUrls, deep: Mapping[str, DeepSplit]) -> list[Proposal]:
    """Return the mappings between the forms of a sample, as operations that hold together."""
    if len(set(sample.content)) in {0, len(sample.content)}:
        return []
    views = [
        {
            key: value or ""
            for key, value in values_of(url, groups=sample.site_groups, deep=deep).items()
            if key != "path.len"
        }
        for url in sample.urls
    ]
    forms = forms_of(views, sample.content)
    found: list[Proposal] = []
    for way in destined(mappings(forms, views, sample.content, deep)):
        found += emitted(way, views)
    for form in forms:
        found += _spellings(form, views, sample.content)
    return list(dict.fromkeys(found))


def mappings(
    forms: Sequence[UrlForm],
    views: Sequence[dict[str, str]],
    content: Sequence[int],
    deep: Mapping[str, DeepSplit],
) -> list[FormMapping]:
    """Return the verified mappings between *forms*, in both directions where both can be expressed."""
    found = []
    for (one, other), rows in _pairs(forms, content).items():
        if len({content[row] for row, _ in rows}) < current().proposed_groups:
            continue
        pairs = [(views[a], views[b]) for a, b in rows]
        for source, target, aligned in (
            (forms[one], forms[other], pairs),
            (forms[other], forms[one], [(b, a) for a, b in pairs]),
        ):
            way = way_between(source, with_whole_values(target, source, deep, views), aligned)
            if way is None or _only_drops(way):
                continue
            way = replace(way, pages=_pages(way, views, content))
            if way.pages:
                found.append(way)
    return found


def _pairs(forms: Sequence[UrlForm], content: Sequence[int]) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Return, per pair of forms, pairs of rows of one cluster: one of each cluster."""
    members: defaultdict[int, dict[int, int]] = defaultdict(dict)
    order = sorted(range(len(forms)), key=lambda number: (-len(forms[number].rows), number))
    for number in order:
        for row in forms[number].rows:
            cluster = members[content[row]]
            if number not in cluster and len(cluster) < MAX_FORMS:
                cluster[number] = row
    found: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for cluster in members.values():
        chosen = sorted(cluster.items())
        for place, (one, row) in enumerate(chosen):
            for other, twin in chosen[place + 1 :]:
                if len(found[one, other]) < MAX_PAIRS:
                    found[one, other].append((row, twin))
    return found


def _only_drops(way: FormMapping) -> bool:
    """Return whether the target is the source less some parameters: other learners drop them."""
    source, target = way.source, way.target
    dropped = source.parts - target.parts
    return (
        target.parts <= source.parts
        and all(target.literals[key] == source.literals.get(key) for key in target.literals)
        and all(copy == Replace(key) for key, copy in way.copies.items())
        and not any(is_segment(key) or key in {"ext", "path.trail"} for key in dropped)
    )


def _pages(way: FormMapping, views: Sequence[Values], content: Sequence[int]) -> int:
    """Return the distinct pages that a mapping was seen to keep; 0 where they are too few, or too much is against it.

    URLs that are mapped to one URL, and that URL, are a group. It is informative when both were
    fetched, and bad when it holds two contents.
    """
    groups: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
    for row in way.source.rows:
        if (mapped := way.of(views[row])) is not None:
            groups[mapped].add(content[row])
    met = set()
    for row in way.target.rows:
        values = tuple(views[row][key] for key in way.target.keys)
        if values in groups:
            groups[values].add(content[row])
            met.add(values)
    good = {next(iter(groups[values])) for values in met if len(groups[values]) == 1}
    bad = sum(len(pages) > 1 for pages in groups.values())
    enough = len(good) >= current().proposed_groups and worth_asking(bad, len(good) + bad)
    return len(good) if enough else 0


def destined(found: Sequence[FormMapping]) -> list[FormMapping]:
    """Return the mappings that lead, maybe over others, to the one destination of their forms.

    The destination is what most forms can be led to; of several, the one with most URLs, then the
    shortest. Every form has one way out, so that there is no circle.
    """
    into: defaultdict[int, list[FormMapping]] = defaultdict(list)
    open_forms: dict[int, UrlForm] = {}
    for way in found:
        into[way.target.number].append(way)
        open_forms |= {form.number: form for form in (way.source, way.target)}
    chosen: list[FormMapping] = []
    while open_forms:
        ways = [(form, _leading_to(number, into, open_forms)) for number, form in open_forms.items()]
        _, best = max(
            ways, key=lambda one: (len(one[1]), len(one[0].rows), -one[0].segments - len(one[0].keys), -one[0].number)
        )
        if not best:
            break
        chosen += best
        for way in best:
            open_forms.pop(way.source.number, None)
            open_forms.pop(way.target.number, None)
    return chosen


def _leading_to(
    destination: int, into: Mapping[int, Sequence[FormMapping]], allowed: Mapping[int, UrlForm]
) -> list[FormMapping]:
    """Return one mapping out of each form that can be led to *destination*, the nearest first."""
    reached = {destination}
    queue = [destination]
    ways: list[FormMapping] = []
    for number in queue:
        for way in sorted(into.get(number, ()), key=lambda way: -way.pages):
            source = way.source.number
            if source in allowed and source not in reached:
                reached.add(source)
                queue.append(source)
                ways.append(way)
    return ways


def emitted(way: FormMapping, views: Sequence[Values]) -> list[Proposal]:
    """Return a mapping as operations on the keys of its source, all under one match."""
    source, target = way.source, way.target
    match = _match(way, views)
    operations: dict[str, Operation] = {}
    for key, value in target.literals.items():
        place = head_of(key, source)
        if place in source.keys:
            operations[place] = Replace("", value)
        elif source.literals.get(place) != value:
            operations[place] = Set({source.literals.get(place): value})
    for key, copy in way.copies.items():
        if copy == Replace(key, transform="lower"):
            operations[key] = Lower()
        elif copy != Replace(key):
            operations[head_of(key, source)] = copy
    guards = dict(match)
    for key in sorted(source.parts - target.parts - {head_of(key, source) for key in target.parts}):
        guard = guards.get(key)
        if is_segment(key):
            operations[key] = Ignore(cut=True)
        elif isinstance(guard, OfClass):
            operations[key] = Ignore(only=guard.value_class)
        else:
            operations[key] = Ignore(only={source.literals[key]}) if key != "path.trail" else Ignore()
    return [Proposal(match, key, operation, joint=True) for key, operation in sorted(operations.items())]


def _match(way: FormMapping, views: Sequence[Values]) -> Match:
    source, target = way.source, way.target
    predicates: dict[str, Predicate] = {}
    for key, value in source.literals.items():
        if not key.startswith(("host.", "scheme")) or target.literals.get(key) != value:
            predicates[key] = Literal(value)
    copied_keys = {each for key, copy in way.copies.items() if copy != Replace(key) for each in copy.sources}
    asked = copied_keys | (source.parts - target.parts)
    asked |= {key for key in source.keys if is_segment(key)}
    for key in source.keys:
        if key in asked:
            predicates[key] = OfClass(widened(class_of([views[row][key] for row in source.rows])))
    for key in asked:
        # Where one part of a value is copied alone, the other one was not there.
        other = other_part(key)
        if other is not None and other not in source.parts | source.left_out:
            predicates[other] = Absent()
    for key in (f"path.{source.segments}", "ext", "path.trail", *(target.parts - source.parts)):
        if key not in source.parts and not key.endswith((".head", ".tail")):
            predicates.setdefault(key, Absent())
    return tuple(sorted(predicates.items()))


def _spellings(form: UrlForm, views: Sequence[Values], content: Sequence[int]) -> Iterator[Proposal]:
    """Yield the keys of a form whose values have several spellings.

    Letters may be of either case (``/wiki/Cat`` is ``/wiki/cat``), numbers may begin with zeros (``007`` is ``7``).
    """
    for key in form.keys:
        for transform in TRANSFORMED:
            spellings: defaultdict[str, set[str]] = defaultdict(set)
            for row in form.rows:
                spellings[transformed(views[row][key], transform)].add(views[row][key])
            several = {value for value, seen in spellings.items() if len(seen) > 1}
            if not several:
                continue
            others = [other for other in form.keys if other != key]
            rows = [
                (tuple([spelled(views[row][other]) for other in others]), views[row][key], content[row])
                for row in form.rows
                if transformed(views[row][key], transform) in several
            ]
            if (operation := _spelling(key, transform, rows)) is not None:
                yield Proposal(_fixed_parts(form), key, operation)


def _fixed_parts(form: UrlForm) -> Match:
    return tuple(
        (key, Literal(value)) for key, value in form.literals.items() if not key.startswith(("host.", "scheme"))
    )


def _spelling(key: str, transform: str, rows: Sequence[tuple[Hashable, str, int]]) -> Lower | Replace | None:
    """Return what takes zeros off the beginning of the numbers of a key, or its case, where these mean nothing; else None.

    *rows* are (all else of a URL, the value of the key, the page) of each URL. That no case matters must be shown by five
    pages that were met under spellings which differ in more than the first letter, or it is that of the first letter alone:
    many wikis do not tell ``/wiki/Cat`` from ``/wiki/cat``, and do tell ``/wiki/CAT`` from it. O(n).
    """
    if transform == "number":
        return Replace(key, transform="number") if _holds(rows, partial(transformed, transform="number")) else None
    if _holds(rows, lower_value, beyond=current().case_pages):
        return Lower()
    return Lower(first=True) if _holds(rows, lower_first) else None


def _holds(rows: Sequence[tuple[Hashable, str, int]], spelled: Callable[[str], str], beyond: int = 0) -> bool:
    """Return whether pages do not depend on how a value is *spelled*, *beyond* of them not on more than its first letter."""
    groups: defaultdict[tuple[Hashable, str], tuple[set[str], set[int]]] = defaultdict(lambda: (set(), set()))
    for rest, value, page in rows:
        values, pages = groups[rest, spelled(value)]
        values.add(value)
        pages.add(page)
    informative = [(values, pages) for values, pages in groups.values() if len(values) > 1]
    good = {next(iter(pages)): values for values, pages in informative if len(pages) == 1}
    bad = sum(len(pages) > 1 for _, pages in informative)
    further = sum(len({lower_first(value) for value in values}) > 1 for values in good.values())
    return len(good) >= current().proposed_groups and further >= beyond and worth_asking(bad, len(good) + bad)
