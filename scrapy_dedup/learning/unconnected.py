"""Values of a dropped key that were never seen to be the same page as the others: they are kept.

That ``sort=date`` is the same as no ``sort`` says nothing of ``sort=price``, and nothing of another section of the
site. So values are linked where a group of one page has both; what is linked with most URLs is dropped, any other value
is kept, and so are those of a section in which nothing was linked. Of two parameters that only count together
(``a=1&b=0`` is ``a=0&b=1``, and not ``a=0&b=0``) each is linked by itself: their pairs of values are asked, too.
To keep what is not linked keeps no two of the observed URLs apart.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

import numpy as np

from ..rules import Absent, Ignore, IgnoreValue, Keep, Literal, OneOf, Set
from ..urls import ValueClass
from .components import components
from .emission import Proposal
from .evidence import CONFIDENCE, MIN_GROUPS
from .grouping import Flags
from .judgement import Judgement
from .scope import MAX_KINDS, SECTIONS, concerned, is_like_session, matching, name_sections
from .table import ABSENT, REPEAT, Codes, Rows, Table, is_token

MIN_WITNESSES = 2
"""Pages that were seen under several values, in each section."""
MIN_SHARE = 3
"""Pages that a section has on average: fewer are those of names of pages."""
MIN_ABSENT = 3
"""Pages without a key from which on they are asked, too: a key is dropped by making it absent."""
MIN_RECURRING = 3
"""URLs and pages of a value among many, from which on it is asked by itself."""
MAX_VALUES = 64
"""Values of a key that are asked one by one."""
MAX_PAIRED = 12
"""Values of a key that is asked together with another one."""
MAX_KEYS = 64
"""Keys that are asked two by two."""
TOGETHER = 0.01
"""Chance that two keys which say nothing look as if they counted together."""


def kept_where_not_linked(proposals: Sequence[Proposal], table: Table, judgement: Judgement) -> list[Proposal]:
    """Return proposals that keep values where another proposal drops them, and no page was seen under both.

    O(URLs) per proposal and for each pair of keys.
    """
    groups = _Groups(table, judgement)
    found: dict[Proposal, None] = {}
    for proposal in proposals:
        codes = table.columns.get(proposal.key)
        if codes is not None and _is_asked(proposal):
            rows = np.flatnonzero(matching(table, proposal.match))
            changed = concerned(table, proposal.key, proposal.operation)[rows]
            literal = {key for key, predicate in proposal.match if isinstance(predicate, Literal | Absent)}
            names = [name for name in SECTIONS if name not in literal and _is_section(table, name, rows)] or [""]
            for name in names:
                found.update(dict.fromkeys(_keeping(proposal, name, groups, rows, changed)))
    found.update(dict.fromkeys(_kept_pairs(proposals, groups)))
    return list(found)


def _is_section(table: Table, name: str, rows: Rows) -> bool:
    """Tell whether a segment is that of sections, and not of names of pages."""
    column = table.columns.get(name)
    if column is None:
        return False
    kinds = np.unique(column[rows]).tolist()
    if len(kinds) > MAX_KINDS or MIN_SHARE * len(kinds) > len(np.unique(table.content[rows])):
        return False
    return name_sections(table, kinds)


def _is_asked(proposal: Proposal) -> bool:
    """Tell whether a proposal drops values that can be told one by one."""
    operation = proposal.operation
    if proposal.joint or not proposal.key.startswith(("q.", "m.", "s.", "host.")):
        return False
    if isinstance(operation, Set):
        return all(source is not None for source, _ in operation.values)
    if not isinstance(operation, Ignore | IgnoreValue):
        return False
    return not (isinstance(operation.only, ValueClass) and is_like_session(operation.only))


class _Groups:
    """The groups of one page of a judgement."""

    def __init__(self, table: Table, judgement: Judgement) -> None:
        self.table = table
        clean = judgement.clean
        self.number: Rows = np.full(len(table), -1, dtype=np.intp)
        for number, members in enumerate(clean):
            self.number[members] = number

    def links(self, rows: Rows, nodes: Rows) -> dict[int, int]:
        """Return, for each of the *nodes* (one for each of *rows*), the least one that it is linked with."""
        numbers = self.number[rows]
        inside = numbers >= 0
        known, place = np.unique(nodes, return_inverse=True)
        pairs = np.unique(np.stack((numbers[inside], place[inside])), axis=1)
        same = pairs[0][1:] == pairs[0][:-1]
        edges = np.unique(np.stack((pairs[1][:-1][same], pairs[1][1:][same])), axis=1)
        least = components(len(known), zip(*edges.tolist(), strict=True))
        return {int(node): int(known[top]) for node, top in zip(known, least, strict=True)}

    def several(self, rows: Rows, nodes: Rows) -> Flags:
        """Return which of *rows* are in a group that has several of the *nodes*."""
        numbers = self.number[rows]
        inside = numbers >= 0
        pairs = np.unique(np.stack((numbers[inside], nodes[inside])), axis=1)[0]
        counted = np.bincount(pairs, minlength=int(self.number.max()) + 1) > 1
        found: Flags = inside.copy()
        found[inside] = counted[numbers[inside]]
        return found


@dataclass(frozen=True, slots=True)
class _Values:
    """The values that a key has in one section: how many URLs and pages have each, and which are one page.

    ``codes`` are those of the values; what follows is in the order of ``there``, the places of those that the
    section has. ``linked`` is the number of the component of each, ``dropped`` whether a proposal drops it; ``witnesses``
    are the pages that were seen under several of them.
    """

    codes: Codes
    there: Sequence[int]
    urls: Mapping[int, int]
    pages: Mapping[int, int]
    linked: Mapping[int, int]
    dropped: Sequence[int]
    witnesses: int

    @property
    def components(self) -> Counter[int]:
        """How many values are linked with each other."""
        return Counter(self.linked.values())


def _keeping(proposal: Proposal, name: str, groups: _Groups, rows: Rows, changed: Flags) -> Iterator[Proposal]:
    """Yield what must be kept of a key in the sections that the key *name* tells apart."""
    table = groups.table
    if not changed.any():
        return
    column = table.columns[name][rows] if name else np.zeros(len(rows), dtype=np.int32)
    found = _by_section(groups, rows, column, table.columns[proposal.key][rows], changed)
    if found is None or (name and sum(each.witnesses > 0 for each in found.values()) >= MIN_GROUPS):
        return  # as many sections as a rule needs groups speak for it in any other
    for code, values in found.items():
        match = proposal.match
        if name:
            text = table.vocabulary[code]
            if code == ABSENT or text.isdigit() or REPEAT in text or is_token(text):
                continue
            match = (*(part for part in match if part[0] != name), (name, Literal(text)))
        left = _not_linked(proposal, table, values)
        if name and (left == values.dropped or values.witnesses < MIN_WITNESSES):
            yield Proposal(match, proposal.key, Keep())
            continue
        texts = [table.vocabulary[int(values.codes[place])] for place in left]
        if name:
            known = {table.vocabulary[int(values.codes[place])] for place in values.there}
            texts += sorted(_named(proposal) - known)
        if texts and not any(REPEAT in text or is_token(text) for text in texts):
            others = tuple(part for part in match if part[0] != proposal.key)
            predicate = Literal(texts[0]) if len(texts) == 1 else OneOf(texts)
            yield Proposal((*others, (proposal.key, predicate)), proposal.key, Keep())


def _by_section(groups: _Groups, rows: Rows, column: Codes, codes: Codes, changed: Flags) -> dict[int, _Values] | None:
    """Return the values in each section of which a proposal changes one, by its code; None where they are too many."""
    values, value = np.unique(codes, return_inverse=True)
    if len(values) > MAX_VALUES:
        return None
    sections, section = np.unique(column, return_inverse=True)
    width = len(values)
    nodes = section * width + value
    linked = groups.links(rows, nodes)
    content = groups.table.content[rows]
    shape = (len(sections), width)
    pages = np.bincount(np.unique(np.stack((nodes, content)), axis=1)[0], minlength=shape[0] * width).reshape(shape)
    urls = np.bincount(nodes, minlength=shape[0] * width).reshape(shape)
    drops = np.zeros(shape[0] * width, dtype=np.bool_)
    drops[nodes[changed]] = True
    drops = drops.reshape(shape)
    several = groups.several(rows, nodes)
    witnesses = np.bincount(np.unique(np.stack((section, content))[:, several], axis=1)[0], minlength=len(sections))
    found = {}
    for number in np.flatnonzero(drops.any(axis=1)).tolist():
        there = np.flatnonzero(urls[number]).tolist()
        found[int(sections[number])] = _Values(
            values,
            there,
            {place: int(urls[number, place]) for place in there},
            {place: int(pages[number, place]) for place in there},
            {place: linked[number * width + place] for place in there},
            np.flatnonzero(drops[number]).tolist(),
            int(witnesses[number]),
        )
    return found


def _named(proposal: Proposal) -> frozenset[str]:
    """Return the values that are dropped by their names."""
    operation = proposal.operation
    if isinstance(operation, Set):
        return frozenset(source for source, _ in operation.values if source is not None)
    only = getattr(operation, "only", None)
    return only if isinstance(only, frozenset) else frozenset()


def _not_linked(proposal: Proposal, table: Table, values: _Values) -> list[int]:
    """Return the places of the dropped values of a section that are not linked with what they are merged with."""
    dropped, linked = list(values.dropped), values.linked
    if isinstance(proposal.operation, Set):
        targets = dict(proposal.operation.values)
        texts = {place: table.value(int(values.codes[place])) for place in values.there}
        places = {text: place for place, text in texts.items()}
        aims = {place: places.get(targets.get(texts[place])) for place in dropped}
        return [place for place, aim in aims.items() if aim is None or linked[place] != linked[aim]]
    together = values.components
    if not _named(proposal):
        return _apart(values, [place for place in dropped if together[linked[place]] == 1])
    sizes: Counter[int] = Counter()
    for place in values.there:
        sizes[linked[place]] += values.urls[place]
    main = max(sizes, key=lambda component: (together[component] > 1, sizes[component], -component))
    if together[main] == 1:
        return dropped  # a single value is the same page as itself, whatever it says
    absent = next((place for place in values.there if values.codes[place] == ABSENT), None)
    if absent is not None and linked[absent] != main and values.pages[absent] >= MIN_ABSENT:
        return dropped
    return [place for place in dropped if linked[place] != main]


def _apart(values: _Values, left: Sequence[int]) -> list[int]:
    """Return those values of many that no page shares with any other, though by chance some would."""
    alone = sum(values.urls[place] for place in left)
    share = max(alone / sum(values.urls.values()), 1e-9)
    least = log((1 - CONFIDENCE) / len(values.there)) / log(share) if share < 1 else float("inf")
    return [place for place in left if min(values.urls[place], values.pages[place]) >= max(MIN_RECURRING, least)]


def _kept_pairs(proposals: Sequence[Proposal], groups: _Groups) -> Iterator[Proposal]:
    """Yield what must be kept of two keys that are linked one by one, and not together."""
    table = groups.table
    by_key: defaultdict[str, list[Proposal]] = defaultdict(list)
    for proposal in proposals:
        if proposal.key in table.columns and _is_asked(proposal) and not isinstance(proposal.operation, Set):
            by_key[proposal.key].append(proposal)
    dropped = {}
    for key, several in by_key.items():
        flags = np.zeros(len(table), dtype=np.bool_)
        for proposal in several:
            flags |= matching(table, proposal.match) & concerned(table, key, proposal.operation)
        if 2 <= len(np.unique(table.columns[key][flags])) <= MAX_PAIRED:
            dropped[key] = flags
    keys = sorted(dropped, key=lambda key: (-int(dropped[key].sum()), key))[:MAX_KEYS]
    for one, other in combinations(keys, 2):
        both = np.flatnonzero(dropped[one] & dropped[other])
        if len(both) < MIN_GROUPS:
            continue
        for name, kind, rows in _sections(table, both):
            if not _count_together(groups, rows, table.columns[one][rows], table.columns[other][rows]):
                continue
            for proposal in (*by_key[one], *by_key[other]):
                others = tuple(part for part in proposal.match if part[0] != name)
                asked = dict(proposal.match).get(name)
                text = table.vocabulary[kind]
                if asked is None or asked.holds(text):
                    yield Proposal((*others, (name, Literal(text))) if name else proposal.match, proposal.key, Keep())


def _sections(table: Table, rows: Rows) -> Iterator[tuple[str, int, Rows]]:
    """Yield the sections that some URLs lie in: key, value, and the URLs."""
    column = table.columns.get("path.0")
    if column is None:
        yield "", ABSENT, rows
        return
    for code, count in zip(*np.unique(column[rows], return_counts=True), strict=True):
        text = table.vocabulary[int(code)]
        if code != ABSENT and count >= MIN_GROUPS and REPEAT not in text and not is_token(text):
            yield "path.0", int(code), rows[column[rows] == code]


def _count_together(groups: _Groups, rows: Rows, one: Codes, other: Codes) -> bool:
    """Tell whether pairs of values fall apart into kinds that no page has two of, though each key does not."""
    pairs, place = np.unique(np.stack((one, other)), axis=1, return_inverse=True)
    place = place.reshape(-1)
    linked = groups.links(rows, place)
    share: Counter[int] = Counter()
    for pair, count in enumerate(np.bincount(place).tolist()):
        share[linked[pair]] += count
    if len(share) < 2 or pairs.shape[1] < 4:
        return False
    total = len(rows)
    numbers = groups.number[rows]
    inside = np.unique(np.stack((numbers[numbers >= 0], place[numbers >= 0])), axis=1)[0]
    _, sizes = np.unique(inside, return_counts=True)
    chance = 0.0
    for size in sizes[sizes > 1].tolist():
        chance += log(sum((count / total) ** size for count in share.values()))
    return chance < log(TOGETHER)
