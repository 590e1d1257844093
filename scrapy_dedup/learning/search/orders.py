"""Orders that make no difference: parameters divided by ``;``, matrix parameters, facets as segments of the path.

What is compared are URLs as the rules that were found show them, so that a session id hides no order. URLs that are one
but for the order are a witness group, and the judge decides. Of segments only those are moved that were seen in another
place on one and the same page: by the beginnings that they have in common (``color-``), by names that are segments
(``color/red``), or, where they have none, all after a place in one section of the site.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...rules import AnyOrder, Literal
from ...rules.order import in_order, segments_in_order
from ...urls import normal_parts
from ...urls.paths import split_extension
from ..config import current
from ..data.judgement import Judgement
from ..evidence.value_kinds import ORDER
from ..evidence.witnesses import witnesses
from ..proposals.proposal import Proposal

BETWEEN = "-_:=.,~+|!"
"""What may stand between the name of a facet and its value."""

Unit = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shown:
    """A URL after the rules so far, in parts, and the numbers of the URLs that have it."""

    origin: str
    path: str
    query: str
    members: Sequence[int]


def any_orders(judgement: Judgement) -> list[Proposal]:
    """Return proposals that orders make no difference; *judgement* is that of the rules that were found before. O(n log n)."""
    if len(judgement.by_key) == len(set(judgement.sample.content)):
        return []
    shown = [_Shown(*normal_parts(key), members) for key, members in judgement.by_key.items()]
    found = []
    for key, form in (("query", _query_form), ("matrix", _matrix_form)):
        if _may_act(shown, form, judgement):
            found.append(Proposal((), key, AnyOrder()))
    for proposal in _of_segments(shown, judgement):
        if proposal.operation.names and _passes(proposal, shown, judgement):  # type: ignore[union-attr]
            found.append(proposal)
        else:
            found += [one for one in _by_section(proposal, shown) if _passes(one, shown, judgement)]
    return found


def _query_form(one: _Shown) -> Hashable:
    return one.origin, one.path, tuple(sorted(one.query.replace(";", "&").split("&")))


def _matrix_form(one: _Shown) -> Hashable:
    if ";" not in one.path:
        return one.origin, one.path, one.query
    return one.origin, in_order(one.path, "matrix", AnyOrder()), one.query


def _may_act(shown: Iterable[_Shown], form: Callable[[_Shown], Hashable], judgement: Judgement) -> bool:
    """Return whether URLs that a form makes one are one page, as far as they were not one before."""
    groups = [some for some in _grouped(shown, form) if len(some) > 1]
    if not groups:
        return False
    sample = judgement.sample
    rows: list[int] = []
    number: list[int] = []
    value: list[int] = []
    place = 0
    for n, some in enumerate(groups):
        for one in some:
            rows += one.members
            number += [n] * len(one.members)
            value += [place] * len(one.members)
            place += 1
    content, lone = sample.shown(rows)
    found = witnesses(np.array(number), content, lone, ORDER.prior, np.array(value))
    return sample.judge.posterior(found).may_act


def _grouped(shown: Iterable[_Shown], form: Callable[[_Shown], Hashable]) -> Iterable[list[_Shown]]:
    groups: defaultdict[Hashable, list[_Shown]] = defaultdict(list)
    for one in shown:
        groups[form(one)].append(one)
    return groups.values()


def _passes(proposal: Proposal, shown: Sequence[_Shown], judgement: Judgement) -> bool:
    """Return whether an order of segments makes no difference where a proposal says so."""
    operation = proposal.operation
    assert isinstance(operation, AnyOrder)
    asked = [predicate.value for _, predicate in proposal.match if isinstance(predicate, Literal)]
    some = [one for one in shown if not asked or _first(one) == asked[0]]
    return _may_act(some, lambda one: (one.origin, segments_in_order(one.path, operation), one.query), judgement)


def _by_section(proposal: Proposal, shown: Sequence[_Shown]) -> list[Proposal]:
    """Return a proposal for each section of the site in which it moves anything, unless the section is what it moves."""
    operation = proposal.operation
    assert isinstance(operation, AnyOrder)
    if not operation.after:
        return []
    sections = sorted({_first(one) for one in shown if segments_in_order(one.path, operation) != one.path})
    return [Proposal((("path.0", Literal(section)),), "path", operation) for section in sections]


def _first(one: _Shown) -> str:
    return one.path.split("/")[1].partition(";")[0] if "/" in one.path else ""


@dataclass(frozen=True, slots=True)
class _Moved:
    """The segments of one page in two orders, from the first to the last that differ, and how many stand before them."""

    one: Sequence[str]
    other: Sequence[str]
    before: int


def _of_segments(shown: Sequence[_Shown], judgement: Judgement) -> Iterator[Proposal]:
    """Yield what may be said of the order of segments: by their names, and else of all after a place."""
    moved = list(_moved(shown, judgement.sample.content))
    if len(moved) < current().least_contents:
        return
    after = min(each.before for each in moved)
    names = _names_of_pairs(moved) or _names_of_segments(moved)
    yield Proposal((), "path", AnyOrder(names, after=after))


def _moved(shown: Sequence[_Shown], content: Sequence[int]) -> Iterator[_Moved]:
    """Yield the segments of pages that were seen in two orders, a pair of each two neighbours."""
    for with_extension in (False, True):
        groups = _grouped(shown, lambda one: (one.origin, one.query, *_multiset(one.path, with_extension)))  # noqa: B023
        for some in groups:
            first: dict[int, Sequence[str]] = {}
            for one in some if len(some) > 1 else ():
                page = Counter(content[i] for i in one.members).most_common(1)[0][0]
                texts, *_ = _segments(one.path, with_extension)
                known = first.setdefault(page, texts)
                if known != texts:
                    differ = [n for n, (a, b) in enumerate(zip(known, texts, strict=True)) if a != b]
                    start, end = differ[0], differ[-1] + 1
                    yield _Moved(known[start:end], texts[start:end], start)


def _multiset(path: str, with_extension: bool) -> tuple[Hashable, ...]:
    texts, extension, slash = _segments(path, with_extension)
    if with_extension and extension is None:
        return path, None, slash  # it was compared before
    return tuple(sorted(texts)), extension, slash


def _segments(path: str, with_extension: bool) -> tuple[list[str], str | None, bool]:
    """Return (segments of a path, its extension, whether a slash follows); the extension is split off only on request."""
    texts = path.split("/")[1:]
    slash = bool(texts) and not texts[-1]
    if slash:
        del texts[-1]
    extension = None
    if with_extension and texts:
        texts[-1], extension = split_extension(texts[-1])
    return texts, extension, slash


def _names_of_pairs(moved: Sequence[_Moved]) -> list[str]:
    """Return the names, where a segment is a name and the next one its value; none where they are not."""
    units: set[Unit] = set()
    for each in moved:
        one, other = _pairs(each.one), _pairs(each.other)
        if len(each.one) % 2 or sorted(one) != sorted(other):
            return []
        units.update(one)
    names = {name for name, _ in units}
    if len(units) < 2 * len(names):  # a name has several values
        return []
    return [f"{name}/" for name in names if name]


def _pairs(texts: Sequence[str]) -> list[Unit]:
    return [(texts[n], texts[n + 1]) for n in range(0, len(texts) - 1, 2)]


def _names_of_segments(moved: Sequence[_Moved]) -> list[str]:
    """Return the common prefixes of the moved segments, by the separator of name and value."""
    texts = {text for each in moved for text in each.one}
    found: list[list[str]] = []
    for divider in BETWEEN:
        parts = [text.partition(divider) for text in texts]
        names = {name + divider for name, _, value in parts if name and value}
        if all(name and value for name, _, value in parts) and len(texts) >= 2 * len(names):
            found.append(sorted(names))
    return min(found, key=len, default=[])
