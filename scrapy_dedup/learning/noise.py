"""Which groups of several contents may be one page and noise: a clock, a counter, a cut connection.

Noise knows nothing of URLs. So it is believed only where it was seen: beside pages of the same kind, and
not where the odd contents stand at one and the same value more often than chance explains (``lang=de``,
which is another page for a few articles), nor where hardly anything of the page is in them. What freshens on
the lists of a site excuses nothing elsewhere.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np

from ..urls import values_of
from .evidence import explained
from .judgement import Judgement, Sample
from .noise_floor import Kind, kind_of
from .odd_values import MIN_ODD, is_too_often, owed_to_values
from .table import encode, joined_repeats

MAX_GROUPS = 500
"""Groups that are looked at; of more, every n-th is."""
MAX_MEMBERS = 20
"""URLs of a group that are looked at."""

Value = tuple[str, str | bool]
"""A key and its value, or whether it is there."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the noise of one kind of pages looks like.

    ``twos`` are the groups of two URLs, ``odd`` the contents of one URL that stand beside one page among
    the ``urls`` of larger groups.
    """

    twos: int = 0
    odd: int = 0
    urls: int = 0


@dataclass(frozen=True, slots=True)
class Noise:
    """What the noise of a site looks like in the groups of a judgement, by kind of pages; ``usual`` is how many
    of the groups of two URLs of one page differ in a value.
    """

    kinds: Mapping[Kind, Seen] = field(default_factory=dict)
    usual: Mapping[Value, float] = field(default_factory=dict)

    @classmethod
    def of(cls, judgement: Judgement) -> "Noise":
        """Return the noise that a judgement shows."""
        if not any(judgement.is_lone(members) or judgement.is_lone_pair(members) for members in judgement.bad):
            return cls()
        twos, odd, urls = Counter[Kind](), Counter[Kind](), Counter[Kind]()
        for members in judgement.merged:
            kind = kind_of(judgement.sample.urls[members[0]])
            if len(members) == 2:
                twos[kind] += 1
                continue
            lost = judgement.lost_in(members)
            if not lost or judgement.is_lone(members):
                odd[kind] += lost
                urls[kind] += len(members)
        kinds = {kind: Seen(twos[kind], odd[kind], urls[kind]) for kind in twos.keys() | urls.keys()}
        return cls(kinds, _usual(judgement, [members for members in judgement.clean if len(members) == 2]))

    def groups(self, judgement: Judgement, owed: Mapping[str, AbstractSet[int]] | None = None) -> AbstractSet[int]:
        """Return the numbers of the bad groups of a judgement that may be one page each, and noise.

        *owed* is what :meth:`owed` returns, if it is known.
        """
        bad = judgement.bad
        lone = {number for number, members in enumerate(bad) if judgement.is_lone(members)}
        pairs = {number for number, members in enumerate(bad) if judgement.is_lone_pair(members)}
        if judgement.sample.own_pages:
            lone, pairs = ({n for n in numbers if not are_apart(judgement.sample, bad[n])} for numbers in (lone, pairs))
        pairs = self._explained(judgement, pairs)
        pairs -= _at_values({number: _differing(judgement, bad[number]) for number in pairs}, self.usual)
        return lone.difference(*(self.owed(judgement) if owed is None else owed).values()) | pairs

    def owed(self, judgement: Judgement) -> Mapping[str, AbstractSet[int]]:
        """Return the numbers of the bad groups of one page and odd contents that are owed to a value, by its key."""
        lone = [(number, members) for number, members in enumerate(judgement.bad) if judgement.is_lone(members)]
        if len(lone) < MIN_ODD:
            return {}
        some = lone[:: len(lone) // MAX_GROUPS + 1]
        sample = judgement.sample
        odd = {url for _, members in some for url in members if sample.content[url] in sample.lone}
        return groups_owed(sample, some, odd)

    def _explained(self, judgement: Judgement, pairs: AbstractSet[int]) -> set[int]:
        """Return those of some groups of two URLs whose kind shows as much noise elsewhere."""
        by_kind: defaultdict[Kind, set[int]] = defaultdict(set)
        for number in pairs:
            by_kind[kind_of(judgement.sample.urls[judgement.bad[number][0]])].add(number)
        found: set[int] = set()
        for kind, numbers in by_kind.items():
            seen = self.kinds.get(kind, Seen())
            if explained(len(numbers), seen.twos, seen.odd, seen.urls):
                found |= numbers
        return found


def are_apart(sample: Sample, members: Sequence[int]) -> bool:
    """Tell whether an odd content of a group is known to be a page of its own: too little of the other is in it."""
    known = [number for number in members if sample.urls[number] in sample.own_pages.sketches]
    odd = [number for number in known if sample.content[number] in sample.lone][:MAX_MEMBERS]
    return any(
        sample.content[one] != sample.content[other]
        and sample.own_pages.are_apart(sample.urls[one], sample.urls[other])
        for one in odd
        for other in known[:MAX_MEMBERS]
    )


def said(sample: Sample, members: Iterable[int]) -> list[set[Value]]:
    """Return what each of some URLs says for each key that one of them has: its value, and whether it is there."""
    views = [dict(joined_repeats(values_of(sample.urls[number], groups=sample.groups))) for number in members]
    keys = set[str]().union(*views)
    return [{(key, key in view) for key in keys} | {(key, view[key]) for key in view.keys() & keys} for view in views]


def _differing(judgement: Judgement, members: Sequence[int]) -> set[Value]:
    """Return what one of two URLs says, and the other one does not."""
    one, other = said(judgement.sample, members)
    return one ^ other


def _usual(judgement: Judgement, twos: Sequence[Sequence[int]]) -> dict[Value, float]:
    """Return the share of some groups of two URLs of one page that differ in a value, for each."""
    some = twos[:: len(twos) // MAX_GROUPS + 1]
    counts = Counter(value for members in some for value in _differing(judgement, members))
    return {value: count / len(some) for value, count in counts.items()}


def _at_values(differing: Mapping[int, set[Value]], usual: Mapping[Value, float]) -> set[int]:
    """Return those of some groups of two pages that differ in a value more often than groups of one page do."""
    counts = Counter(value for values in differing.values() for value in values)
    tried = {value: count for value, count in counts.items() if count >= MIN_ODD}
    owed = {
        value
        for value, count in tried.items()
        if is_too_often(count, len(differing), usual.get(value, 0.0), len(tried))
    }
    return {number for number, values in differing.items() if values & owed}


def groups_owed(
    sample: Sample, groups: Sequence[tuple[int, Sequence[int]]], odd: AbstractSet[int]
) -> dict[str, set[int]]:
    """Return which of some groups, (number, its URLs), have *odd* URLs that are owed to a value, by the key of the value."""
    chosen: list[tuple[int, int]] = []
    for number, members in groups:
        # The odd ones come first, so that they are among those that are looked at.
        chosen += [(number, url) for url in sorted(members, key=lambda url: url not in odd)[:MAX_MEMBERS]]
    urls = [sample.urls[url] for _, url in chosen]
    views = (values_of(url, groups=sample.groups) for url in urls)
    columns = encode(urls, views, [sample.content[url] for _, url in chosen], sample.lone).columns
    group = np.array([number for number, _ in chosen], dtype=np.intp)
    flags = np.array([url in odd for _, url in chosen], dtype=np.bool_)
    return {key: set(numbers.tolist()) for key, numbers in owed_to_values(group, flags, columns.items()).items()}
