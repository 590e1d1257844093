"""Which URLs showed something else than their page: noise, told by what it does all over a site.

A clock, a cut connection, an error that is answered with status 200 or a duplicate that was not found out makes of one
URL a page of its own. Of five URLs at 3 % noise one group in seven has one: more than any rule may have against it.
What tells noise from a parameter that matters for some pages is that it knows nothing of URLs. It hits all kinds of
pages, the groups of all parameters and all values alike, as often as it hits any URL; and it leaves the other URLs of a
page, which show the page again, where a parameter shatters it. So the share of odd URLs is measured all over the site,
and what is in excess of it, of one kind, at one key or value, or by its shape, is no noise. Where a site has too few
kinds of pages to compare, nothing is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, exp, sqrt

import numpy as np
import numpy.typing as npt

from .frame import NEVER_KEPT, Frame
from .grouping import Flags, Groups, grouped, varying
from .table import ABSENT, Codes, Rows, Table

MIN_KINDS = 3
"""Kinds of pages that show the same noise."""
MIN_KIND = 20
"""URLs of a first segment from which on it names a kind."""
MIN_URLS = 20
"""URLs in groups of three and more, from which on a kind of pages tells how noisy a site is."""
MIN_ODD = 10
"""Odd URLs from which on a site is noisy."""
MOST_NOISE = 0.05
"""Share of odd URLs beyond which nobody can tell what matters for a part of the pages from noise."""
ALIKE = 3.0
"""Standard deviations that the noise of a kind may be from that of the others."""
MIN_VARYING = 3
MIN_VARYING_SHARE = 0.02
"""Clusters, and share of those that have a key, in which it varies: below that a cluster in which it does is odd."""
MIN_BESIDE = 3
"""Pages beside which one content stands, from which on it is no page but an error."""
MOST_TWICE = 0.1
"""Share of a group's URLs that one odd content may have, if it has two or more."""
DOUBT = 0.02
"""Probability below which noise is no explanation of what one kind of pages, or one key, shows."""
DOUBT_OF_KIND = 0.2
"""The same of all that one kind of pages shows: a kind that is learned strictly costs requests, a wrong rule pages."""
DOUBT_OF_PART = 0.005
"""The same of one value, and of one key or value on one kind of pages, of which there are many more."""
MAX_VALUES = 24
"""Values of a key that are asked, those with most odd URLs."""
MAX_SIZE = 40
"""URLs of a group beyond which noise does not shatter it."""
MAX_TAIL = 1_000
"""Counts up to which probabilities are added up one by one."""

Numbers = npt.NDArray[np.float64]


def repeated(table: Table) -> Rows:
    """Return the rows of contents that two URLs or more showed, less those that show as good as anywhere.

    An error page shows at URLs that differ in what hardly any other content differs in. O(n log n) a key.
    """
    _, place, sizes = np.unique(table.content, return_inverse=True, return_counts=True)
    frame = Frame(table, np.flatnonzero(sizes[place.reshape(-1)] > 1))
    if not len(frame):
        return frame.rows
    order = np.argsort(frame.content, kind="stable")
    content = frame.content[order]
    starts = _starts(content)
    anywhere = np.zeros(len(starts), dtype=np.bool_)
    for key, codes in frame.columns.items():
        if key not in NEVER_KEPT:
            ordered = codes[order]
            most = np.maximum.reduceat(ordered, starts)
            varies = np.minimum.reduceat(ordered, starts) != most
            if varies.sum() < max(MIN_VARYING, MIN_VARYING_SHARE * np.count_nonzero(most != ABSENT)):
                anywhere |= varies
    return frame.rows[~np.isin(frame.content, content[starts[anywhere]])]


def kinds_of(table: Table) -> Rows:
    """Return a number for the kind of page of each URL: how many segments it has, and the first where it is frequent."""
    found = np.zeros(len(table), dtype=np.intp)
    for key in ("path.len", "path.0"):
        codes = table.columns.get(key)
        if codes is not None:
            named = np.where(np.bincount(codes)[codes] >= MIN_KIND, codes, ABSENT)
            found = np.unique(found * (int(codes.max()) + 1) + named, return_inverse=True)[1].reshape(-1)
    return found


@dataclass(frozen=True, slots=True)
class Passing:
    """What is odd where the URLs of a group are taken for one page; arrays with an entry per group, but for ``odd``."""

    table: Table
    groups: Groups
    kind: Rows
    odd: Flags
    """Which entries of the groups' order show something else than their group's page."""
    count: Rows
    """Odd URLs."""
    errors: Rows
    """Those of them that show what stands beside many pages."""
    shattered: Flags
    """Groups of several pages none of which shows twice."""
    twice: Rows
    """URLs of the most frequent odd content."""
    sure: Flags
    """Groups with an odd page that was the same in two crawls."""

    @classmethod
    def of(cls, table: Table, kinds: Rows, numbers: Rows) -> "Passing":
        """Return what is odd in groups: URLs of a table with the same of some *numbers*; *kinds* are :func:`kinds_of`."""
        groups = grouped(numbers.astype(np.uint64), table.content)
        content = table.content[groups.order]
        error = np.isin(content, _errors(groups, content))
        size = np.where(error, 0, np.bincount(groups.run)[groups.run])
        of_groups = _starts(groups.group)
        largest = np.maximum.reduceat(size, of_groups)
        # The first of the contents that show most often is the page.
        candidates = np.flatnonzero(size == largest[groups.group])
        page = groups.run[candidates[_starts(groups.group[candidates])]]
        odd = groups.run != page[groups.group]
        known = odd & (size == 1) & ~table.lone[groups.order] & (_sizes(content) == 1)
        return cls(
            table,
            groups,
            kinds[groups.first],
            odd,
            count=np.add.reduceat(odd, of_groups, dtype=np.intp),
            errors=np.add.reduceat(odd & error, of_groups, dtype=np.intp),
            shattered=(largest == 1) & (np.add.reduceat(~error, of_groups, dtype=np.intp) > 1),
            twice=np.maximum.reduceat(np.where(odd, size, 0), of_groups),
            sure=np.maximum.reduceat(known, of_groups),
        )

    def rate(self) -> float:
        """Return the probability that a URL shows something odd; 0.0 where too few kinds of pages agree on it.

        Kinds in which more is odd, or less, than in most take no part. Asked are the groups whose page shows twice
        and beside it others: what is no noise shatters pages, too, and of two URLs nobody knows which is odd.
        """
        telling = (self.groups.size > 2) & ~self.shattered
        kind, size, count = self.kind[telling], self.groups.size[telling], self.count[telling]
        if not len(kind):
            return 0.0
        urls, odd = np.bincount(kind, size), np.bincount(kind, count)
        asked = np.flatnonzero(urls >= MIN_URLS)
        shares = odd[asked] / urls[asked]
        order = np.argsort(shares, kind="stable")
        so_far = np.cumsum(urls[asked][order])
        if len(asked) < MIN_KINDS:
            return 0.0
        share = float(shares[order[int(np.searchsorted(so_far, so_far[-1] / 2))]])
        for _ in range(3):
            off = np.abs(odd[asked] - urls[asked] * share)
            alike = asked[off <= ALIKE * np.sqrt(urls[asked] * share) + 1]
            if len(alike) < MIN_KINDS:
                return 0.0
            share = float(odd[alike].sum() / urls[alike].sum())
        if odd[alike].sum() < MIN_ODD or 2 * urls[alike].sum() < urls.sum():
            return 0.0
        part = np.isin(kind, alike)
        found = _rate_of(size[part], int(count[part].sum()))
        return found if found <= MOST_NOISE else 0.0

    def noise(self) -> Flags:
        """Return which URLs of the table showed noise."""
        found = np.zeros(len(self.table), dtype=np.bool_)
        rate = self.rate()
        if rate:
            excused = (self.count > 0) & ~self.sure & ((self.twice < 2) | (self.twice <= MOST_TWICE * self.groups.size))
            excused &= ~self.in_excess(rate)
            excused &= ~self._at_values(excused)
            found[self.groups.order[self.odd & excused[self.groups.group]]] = True
        return found

    def in_excess(self, rate: float) -> Flags:
        """Return which groups are of a part of the site with more odd URLs, or shattered pages, than noise explains."""
        size = self.groups.size
        sizes, place = np.unique(size, return_inverse=True)
        place = place.reshape(-1)
        share = float(self.errors[self.count > 0].sum() / max(self.count.sum(), 1))
        odd = np.where(size > 1, size * rate - rate**size, 0.0)
        shattered = _shattered(sizes, rate, share)[place]
        large = size > 2
        measures = ((self.count, odd), (self.shattered, shattered), (self.shattered & large, shattered * large))
        _, kind = np.unique(self.kind, return_inverse=True)
        kind = kind.reshape(-1)
        small = np.bincount(kind, odd)[kind] < 1
        found = np.zeros(len(size), dtype=np.bool_)
        for part, doubt, doubt_of_kind in self._parts(small):
            for number, least in ((kind, doubt_of_kind), (np.zeros_like(kind), doubt)):
                # One kind that is no noise must not take the others along.
                left = part[~found[part]]
                places = number[left]
                excess = np.zeros(int(places.max(initial=0)) + 1, dtype=np.bool_)
                for seen, expected in measures:
                    counts, means = np.bincount(places, seen[left]), np.bincount(places, expected[left])
                    for one in np.flatnonzero(counts > means).tolist():
                        excess[one] |= _is_excess(int(counts[one]), float(means[one]), least)
                found[left[excess[places]]] = True
        return found

    def _parts(self, small: Flags) -> Iterator[tuple[Rows, float, float]]:
        """Yield numbers of groups, and the doubt that is asked of them as a whole, and of each kind of pages by itself.

        All, those of small kinds, pairs, those that differ in a key, and those that have a value of it.
        """
        several = self.groups.size > 1
        yield np.flatnonzero(several), DOUBT, DOUBT_OF_KIND
        yield np.flatnonzero(several & small), DOUBT, 0.0
        yield np.flatnonzero(self.groups.size == 2), DOUBT, DOUBT_OF_PART
        bad = self.count > 0
        for key, codes in self.table.columns.items():
            if key in NEVER_KEPT:
                continue
            differ = varying(self.groups, codes)
            if np.count_nonzero(differ & bad) > 1:
                yield np.flatnonzero(differ), DOUBT, DOUBT_OF_PART
                for part in self._by_value(codes, differ):
                    yield part, DOUBT_OF_PART, DOUBT_OF_PART

    def _by_value(self, codes: Codes, differ: Flags) -> Iterator[Rows]:
        """Yield the groups that differ in a key and have a value of it, for those values that odd URLs have."""
        group = self.groups.group
        chosen = np.flatnonzero(differ[group])
        values = codes[self.groups.order[chosen]]
        at_odd, counts = np.unique(values[self.odd[chosen]], return_counts=True)
        several = at_odd[np.argsort(-counts, kind="stable")][: np.count_nonzero(counts > 1)]
        for value in several[:MAX_VALUES].tolist():
            yield np.unique(group[chosen[values == value]])

    def _at_values(self, excused: Flags) -> Flags:
        """Return which groups are owed to a value: odd URLs stand at it more often than chance explains.

        Of a group with so many odd URLs each is any of its URLs, by chance.
        """
        found = np.zeros(len(excused), dtype=np.bool_)
        groups = self.groups
        chosen = np.flatnonzero((excused & ~self.shattered)[groups.group])
        group, odd = groups.group[chosen], self.odd[chosen]
        for key, codes in self.table.columns.items():
            values = codes[groups.order[chosen]]
            several = np.zeros(0, dtype=codes.dtype)
            if key not in NEVER_KEPT and odd.any():
                at_odd, counts = np.unique(values[odd], return_counts=True)
                several = at_odd[counts > 1]
            for value in several.tolist():
                there = values == value
                urls = np.bincount(group[there], minlength=len(found))
                divided = (urls > 0) & (urls < groups.size)
                expected = (urls * self.count / groups.size)[divided].sum()
                at_it = group[there & odd & divided[group]]
                if _is_excess(len(at_it), float(expected), DOUBT / len(several)):
                    found[at_it] = True
        return found


def _errors(groups: Groups, content: Codes) -> Codes:
    """Return the contents that mostly stand beside a page that shows more often, and beside several pages."""
    runs = np.bincount(groups.run)
    first = _starts(groups.run)
    group, what = groups.group[first], content[first]
    several = groups.contents[group] > 1
    beside = several & (runs < np.maximum.reduceat(runs, _starts(group))[group])
    contents, place = np.unique(what, return_inverse=True)
    place = place.reshape(-1)
    times, among = (np.bincount(place[chosen], minlength=len(contents)) for chosen in (beside, several))
    return contents[(times >= MIN_BESIDE) & (2 * times > among)]


def _starts(numbers: npt.NDArray[np.integer]) -> Rows:
    """Return where each run of equal numbers starts."""
    return np.flatnonzero(np.r_[True, numbers[1:] != numbers[:-1]])[: len(numbers)]


def _sizes(content: Codes) -> Rows:
    """Return how often each entry's content occurs."""
    _, place, sizes = np.unique(content, return_inverse=True, return_counts=True)
    return sizes[place.reshape(-1)]


def _rate_of(size: Rows, odd: int) -> float:
    """Return how probable it is that a URL is odd, where *odd* URLs are in groups of these sizes two of which are not."""
    sizes, times = np.unique(size, return_counts=True)
    low, high = 0.0, 1.0
    for _ in range(30):
        rate = (low + high) / 2
        none, one = rate**sizes, sizes * (1 - rate) * rate ** (sizes - 1.0)
        expected = (sizes * rate - sizes * none - (sizes - 1) * one) / np.maximum(1 - none - one, 1e-12)
        low, high = (rate, high) if float(expected @ times) < odd else (low, rate)
    return low


def _shattered(sizes: Rows, rate: float, share: float) -> Numbers:
    """Return how probable it is that noise leaves no page of a group that shows twice, and two URLs or more of pages.

    A *share* of what is odd are errors, which are no pages.
    """
    found = np.zeros(len(sizes))
    error = rate * share
    other = (rate - error) / (1 - error)
    for place, size in enumerate(sizes.tolist()):
        if size <= MAX_SIZE:
            found[place] = sum(
                comb(size, m) * (1 - error) ** m * error ** (size - m) * (m * (1 - other) * other ** (m - 1) + other**m)
                for m in range(2, size + 1)
            )
    return found


def _is_excess(count: int, expected: float, doubt: float) -> bool:
    """Tell whether *count* is more than chance explains where *expected* are (Poisson)."""
    if count <= expected or not doubt:
        return False
    if count > MAX_TAIL:
        return count - expected > ALIKE * sqrt(expected)
    return 1 - _at_most(count - 1, expected) < doubt


def _at_most(count: int, expected: float) -> float:
    term = total = exp(-expected)
    for k in range(1, count + 1):
        term *= expected / k
        total += term
    return total
