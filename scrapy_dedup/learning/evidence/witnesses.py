"""Witness groups: sets of URLs that a proposal makes one, and how likely what they show is if they are one page, or several.

A group is one page, of which some responses may be odd (an error with status 200, a body cut short, a clock that no mask
hides), or it is several pages. Both have a likelihood, for *n* URLs of *k* contents:

    P(group | one page)      = sum over its contents c of  prod over its URLs (c: 1 - e, any other content: e or e * d)
    P(group | several pages) = r ** (n - k) * (1 - r) ** (k - 1)

*e* is the error rate of the site; *d* makes an odd content rarer that other URLs show, too, since errors of chance do not
repeat themselves, and pages do; *r* is how often two pages show the same although the key names the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..config import current
from .arrays import Codes, Flags, Numbers, Rows, mixed, numbered, pairs, spans
from .contents import Contents

RATES: Numbers = np.array([0.0003, 0.001, 0.003, 0.006, 0.01, 0.015, 0.02, 0.03, 0.045, 0.07, 0.1])
"""Error rates that a site may have: were more than a tenth of its responses odd, they would explain any page away."""
SHARES: Numbers = np.array([0.0001, 0.001, 0.003, 0.01, 0.02, 0.04, 0.08, 0.16, 0.3, 0.6, 0.95])
"""Shares of a proposal's witness groups that may be several pages."""
EQUALS: Numbers = np.array([0.01, 0.05, 0.2, 0.5, 0.75])
"""How often two pages may show the same, though what a proposal drops tells them apart."""

EVERY_KEY = "*"
"""Stands for all keys of a site's URLs."""


@dataclass(frozen=True, slots=True)
class Prior:
    """What is believed of a proposal before anything of it is seen: probabilities of SHARES, and of EQUALS."""

    shares: Numbers
    equals: Numbers
    key: str | None = None
    """The key that the proposal is about, EVERY_KEY for all of them; None where it is about none in particular."""

    @classmethod
    def of(cls, right: float, mixed: float, wrong: float, equals: Sequence[float]) -> "Prior":
        """Return the prior of a proposal whose groups are one page each, or some of them not, or most of them not."""
        between = len(SHARES) - 3
        shares = np.r_[right, np.full(between, mixed / between), wrong * 0.3, wrong * 0.7]
        return cls(shares / shares.sum(), np.array(equals) / sum(equals))

    def given(self, log_odds: float) -> "Prior":
        """Return the prior shifted by an opinion: the log-odds that the dropped key is relevant."""
        shares = self.shares.copy()
        shares[SHARES >= 0.5] *= np.exp(log_odds)
        return replace(self, shares=shares / shares.sum())

    def about(self, key: str) -> "Prior":
        """Return the prior of a proposal that is about this key."""
        return replace(self, key=key)

    @property
    def states(self) -> Numbers:
        """Return the probability of each pair of SHARES and EQUALS."""
        return np.outer(self.shares, self.equals).reshape(-1)


@dataclass(frozen=True, slots=True)
class Witnesses:
    """Witness groups, a row each, and the likelihoods of what they look like.

    Groups look alike whose contents are shown by as many URLs; ``look`` is the number of each row's. ``one`` is the logarithm
    of the likelihood to be one page (looks x RATES), ``several`` that to be several (looks x RATES x EQUALS); ``weight`` says
    how many groups a row stands for; ``removed`` are the URLs of each that need no download if it is one page, ``lost`` the
    pages that are lost if not.
    """

    one: Numbers
    several: Numbers
    look: Rows
    weight: Numbers
    removed: Numbers
    lost: Numbers
    prior: Prior

    def __len__(self) -> int:
        return len(self.look)

    def __add__(self, other: "Witnesses") -> "Witnesses":
        """Return these and other witness groups of the same proposal."""
        return Witnesses(
            np.concatenate((self.one, other.one)),
            np.concatenate((self.several, other.several)),
            np.concatenate((self.look, other.look + len(self.one))),
            np.concatenate((self.weight, other.weight)),
            np.concatenate((self.removed, other.removed)),
            np.concatenate((self.lost, other.lost)),
            self.prior,
        )

    def part(self, chosen: Flags | Rows) -> "Witnesses":
        """Return some of the rows."""
        look, weight, removed, lost = self.look[chosen], self.weight[chosen], self.removed[chosen], self.lost[chosen]
        return replace(self, look=look, weight=weight, removed=removed, lost=lost)


def witnesses(group: Rows, content: Codes, lone: Flags, prior: Prior, value: Rows | Codes | None = None) -> Witnesses:
    """Return the witness groups of some URLs, a row each, in the order of their numbers.

    *group* is the number of each URL's group, from 0 without gaps; *content* what it shows; *lone* whether no other URL of
    the site shows that; *value* what a proposal drops of it: if a group is several pages, URLs of one value are one of these.
    Without it each URL has a value of its own. O(n log n).
    """
    if not len(group):
        none = np.zeros(0)
        look = np.zeros(0, dtype=np.intp)
        return Witnesses(
            np.zeros((0, len(RATES))), np.zeros((0, len(RATES), len(EQUALS))), look, none, none, none, prior
        )
    whole = Contents.of(group, content, lone)
    part = numbered(pairs(group, np.arange(len(group)) if value is None else value))
    parts = Contents.of(part, content, lone)  # what a group shows under one value
    group_of_part = np.zeros(len(parts), dtype=np.intp)
    group_of_part[part] = group
    first = np.flatnonzero(np.r_[True, group_of_part[1:] != group_of_part[:-1]])
    values = np.diff(np.r_[first, len(parts)])
    distinct = Contents.of(group_of_part, parts.page, np.zeros(len(parts), dtype=np.bool_)).number
    part_look = parts.look
    looks = mixed(whole.look) + np.add.reduceat(mixed(part_look), first) + mixed(distinct.astype(np.uint64))
    # What looks alike is worked out once.
    shown, look = np.unique(looks, return_index=True, return_inverse=True)[1:]
    values, distinct = values[shown], distinct[shown]
    inner = spans(first[shown], values)
    inner = inner[np.lexsort((part_look[inner], np.repeat(np.arange(len(shown)), values)))]
    equal = np.outer(values - distinct, np.log(EQUALS)) + np.outer(distinct - 1, np.log1p(-EQUALS))
    of_parts = np.add.reduceat(one_page(parts.part(inner)), np.cumsum(values) - values, axis=0)
    several = of_parts[:, :, None] + equal[:, None, :]
    size, number = whole.size.astype(np.float64), whole.number.astype(np.float64)
    _, place, times = np.unique(whole.page, return_inverse=True, return_counts=True)
    weight = np.minimum(1.0, current().witnesses_of_page / times[place])
    return Witnesses(one_page(whole.part(shown)), several, look.reshape(-1), weight, size - 1, number - 1, prior)


def remembered(clean: float | Sequence[float], bad: float | Sequence[float], prior: Prior) -> Witnesses:
    """Return witness groups of which only their numbers are known: two URLs each, that showed the same or not.

    Of several strata it is two rows each, one after the other.
    """
    one = np.stack((2 * np.log1p(-RATES), np.log(2 * RATES) + np.log1p(-RATES)))
    equal = np.stack((np.log(EQUALS), np.log1p(-EQUALS)))
    several = np.repeat(equal[:, None, :], len(RATES), axis=1)
    weight = np.stack((np.atleast_1d(clean), np.atleast_1d(bad)), axis=1).reshape(-1).astype(np.float64)
    look = np.tile(np.arange(2), len(weight) // 2)
    return Witnesses(one, several, look, weight, np.ones(len(look)), look.astype(np.float64), prior)


def one_page(groups: Contents) -> Numbers:
    """Return of each group the log-likelihood to be one page: groups x RATES."""
    urls = groups.urls[:, None]
    odd = urls * (np.log(RATES) + np.where(groups.lone, 0.0, np.log(current().usual_error_rate))[:, None])
    all_odd = np.add.reduceat(odd, groups.starts, axis=0)
    main = all_odd[groups.of_group] - odd + urls * np.log1p(-RATES)
    one: Numbers = np.logaddexp(np.logaddexp.reduceat(main, groups.starts, axis=0), all_odd)
    return one


def likelihoods(found: Witnesses, part: Rows | None = None, parts: int = 1) -> Numbers:
    """Return the log-likelihood of witness groups at each error rate and state: parts x RATES x (SHARES x EQUALS).

    *part* is the number of each row's part, of so many *parts*; all are of one by default.
    """
    looks, states = len(found.one), len(SHARES) * len(EQUALS)
    number = found.look if part is None else part * looks + found.look
    weight: Numbers = np.bincount(number, weights=found.weight, minlength=parts * looks).astype(np.float64)
    weight = weight.reshape(parts, looks)
    some = np.flatnonzero(weight.any(axis=0))
    one = found.one[some, :, None, None] + np.log1p(-SHARES)[:, None]
    several = found.several[some][:, :, None, :] + np.log(SHARES)[:, None]
    both: Numbers = weight[:, some] @ np.logaddexp(one, several).reshape(len(some), len(RATES) * states)
    return both.reshape(parts, len(RATES), states)
