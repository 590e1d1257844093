"""The judge: how likely it is that URLs which a proposal makes one are one page.

A *witness group* is a set of URLs that become one. It is one page, of which some responses may be odd (an error with status
200, a body cut short, a clock that no mask hides), or it is several pages. Both have a likelihood, for *n* URLs of *k* contents:

    P(group | one page)      = sum over its contents c of  prod over its URLs (c: 1 - e, any other content: e or e * d)
    P(group | several pages) = r ** (n - k) * (1 - r) ** (k - 1)

*e* is the error rate of the site; *d* makes an odd content rarer that other URLs show, too, since errors of chance do not
repeat themselves, and pages do; *r* is how often two pages show the same although the key names the page. The share of a
proposal's groups that are several pages has a prior of two modes: what a part of a URL means is mostly all or nothing. How
few groups are enough, and how many exceptions are noise, follows from these and is written nowhere.

Source: the design, sections on evidence; the idea of a relevance prior is url-parameter-relevance's.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import lgamma

import numpy as np
import numpy.typing as npt

from .config import current

__all__ = ["EQUALS", "RATES", "SHARES", "Judge", "Posterior", "Prior", "Verdict", "Witnesses", "witnesses"]

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]
Codes = npt.NDArray[np.int32]

RATES: Numbers = np.array([0.0003, 0.001, 0.003, 0.006, 0.01, 0.015, 0.02, 0.03, 0.045, 0.07, 0.1, 0.15, 0.2, 0.27])
"""Error rates that a site may have."""
SHARES: Numbers = np.array([0.0001, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 0.95])
"""Shares of a proposal's witness groups that may be several pages."""
EQUALS: Numbers = np.array([0.01, 0.05, 0.2, 0.5, 0.75])
"""How often two pages may show the same, though what a proposal drops tells them apart."""


@dataclass(frozen=True, slots=True)
class Prior:
    """What is believed of a proposal before anything of it is seen: probabilities of SHARES, and of EQUALS."""

    shares: Numbers
    equals: Numbers

    @classmethod
    def of(cls, right: float, mixed: float, wrong: float, equals: Sequence[float]) -> "Prior":
        """Return the prior of a proposal whose groups are one page each, or some of them not, or most of them not."""
        shares = np.r_[right, np.full(6, mixed / 6), wrong * 0.3, wrong * 0.7]
        return cls(shares / shares.sum(), np.array(equals) / sum(equals))

    def given(self, log_odds: float) -> "Prior":
        """Return the prior in the light of what is said: the log-odds that what a proposal drops is relevant."""
        shares = self.shares.copy()
        shares[SHARES >= 0.5] *= np.exp(log_odds)
        return Prior(shares / shares.sum(), self.equals)

    @property
    def states(self) -> Numbers:
        """Return the probability of each pair of SHARES and EQUALS."""
        return np.outer(self.shares, self.equals).reshape(-1)


@dataclass(frozen=True, slots=True)
class Witnesses:
    """Witness groups, each with its likelihoods; groups that look alike stand in one row.

    ``one`` is the logarithm of the likelihood to be one page (rows x RATES), ``several`` that to be several (rows x RATES x
    EQUALS); ``weight`` says how many groups a row stands for; ``removed`` are the URLs of each that need no download if it is
    one page, ``lost`` the pages that are lost if not.
    """

    one: Numbers
    several: Numbers
    weight: Numbers
    removed: Numbers
    lost: Numbers
    prior: Prior

    def __len__(self) -> int:
        return len(self.several)

    def __add__(self, other: "Witnesses") -> "Witnesses":
        """Return these and other witness groups of the same proposal."""
        return Witnesses(
            np.concatenate((self.one, other.one)),
            np.concatenate((self.several, other.several)),
            np.concatenate((self.weight, other.weight)),
            np.concatenate((self.removed, other.removed)),
            np.concatenate((self.lost, other.lost)),
            self.prior,
        )

    def part(self, chosen: Flags | Rows) -> "Witnesses":
        """Return some of the rows."""
        one, several, weight = self.one[chosen], self.several[chosen], self.weight[chosen]
        return Witnesses(one, several, weight, self.removed[chosen], self.lost[chosen], self.prior)


def witnesses(group: Rows, content: Codes, lone: Flags, prior: Prior, value: Rows | Codes | None = None) -> Witnesses:
    """Return the witness groups of some URLs, a row each, in the order of their numbers.

    *group* is the number of each URL's group, from 0 without gaps; *content* what it shows; *lone* whether no other URL of
    the site shows that; *value* what a proposal drops of it: if a group is several pages, URLs of one value are one of these.
    Without it each URL has a value of its own. O(n log n).
    """
    if not len(group):
        none = np.zeros(0)
        return Witnesses(np.zeros((0, len(RATES))), np.zeros((0, len(RATES), len(EQUALS))), none, none, none, prior)
    one, pages, size, contents = _one_page(group, content, lone)
    if value is None:
        value = np.arange(len(group))
    _, part = np.unique(np.stack((group, value)), axis=1, return_inverse=True)
    part = part.reshape(-1)
    of_part, page_of_part, _, _ = _one_page(part, content, lone)
    group_of_part = np.zeros(len(page_of_part), dtype=np.intp)
    group_of_part[part] = group
    first = np.flatnonzero(np.r_[True, group_of_part[1:] != group_of_part[:-1]])
    values = np.diff(np.r_[first, len(group_of_part)])
    distinct = np.bincount(np.unique(np.stack((group_of_part, page_of_part)), axis=1)[0], minlength=len(values))
    equal = np.outer(values - distinct, np.log(EQUALS)) + np.outer(distinct - 1, np.log1p(-EQUALS))
    shown, at = np.unique(content, return_index=True)
    alone = lone[at][np.searchsorted(shown, page_of_part)]
    others = np.minimum(np.add.reduceat(alone.astype(np.float64), first), distinct - 1)
    equal += (others * np.log(current().page_alone))[:, None]
    several = np.add.reduceat(of_part, first, axis=0)[:, :, None] + equal[:, None, :]
    _, page, times = np.unique(pages, return_inverse=True, return_counts=True)
    weight = np.minimum(1.0, current().witnesses_of_page / times[page])
    return Witnesses(one, several, weight, size - 1, contents - 1, prior)


def remembered(clean: float, bad: float, prior: Prior) -> Witnesses:
    """Return witness groups of which only their numbers are known: two URLs each, that showed the same or not."""
    one = np.stack((2 * np.log1p(-RATES), np.log(2 * RATES) + np.log1p(-RATES)))
    equal = np.stack((np.log(EQUALS), np.log1p(-EQUALS)))
    several = np.repeat(equal[:, None, :], len(RATES), axis=1)
    return Witnesses(one, several, np.array([clean, bad]), np.ones(2), np.array([0.0, 1.0]), prior)


def is_proven(clean: float, bad: float, prior: Prior) -> bool:
    """Tell whether so many witness groups let something act, on a site of which nothing else is known."""
    return Judge().posterior(remembered(clean, bad, prior)).may_act


def _one_page(group: Rows, content: Codes, lone: Flags) -> tuple[Numbers, Codes, Numbers, Numbers]:
    """Return of each group the log-likelihood to be one page, its most frequent content, its URLs and its contents."""
    order = np.lexsort((content, group))
    group, content, lone = group[order], content[order], lone[order]
    is_new = np.r_[True, group[1:] != group[:-1]]
    runs = np.flatnonzero(is_new | np.r_[True, content[1:] != content[:-1]])
    urls = np.diff(np.r_[runs, len(group)]).astype(np.float64)
    of = (np.cumsum(is_new) - 1)[runs]
    first = np.flatnonzero(np.r_[True, of[1:] != of[:-1]])
    odd = urls[:, None] * (np.log(RATES) + np.where(lone[runs], 0.0, np.log(current().repeated_odd))[:, None])
    all_odd = np.add.reduceat(odd, first, axis=0)
    main = all_odd[of] - odd + urls[:, None] * np.log1p(-RATES)
    one = np.logaddexp(np.logaddexp.reduceat(main, first, axis=0), all_odd)
    size = np.add.reduceat(urls, first)
    contents = np.diff(np.r_[first, len(of)]).astype(np.float64)
    largest = np.lexsort((-urls, of))[first]
    return one, content[runs][largest], size, contents


@dataclass(frozen=True, slots=True)
class Posterior:
    """What is believed of the witness groups of a proposal, and of the error rate.

    ``states`` are the probabilities of each pair of SHARES and EQUALS, ``rates`` those of RATES; ``evidence`` is the logarithm
    of the marginal likelihood of each error rate.
    """

    states: Numbers
    rates: Numbers
    evidence: Numbers

    @property
    def shares(self) -> Numbers:
        """Return the probability of each of SHARES."""
        shares: Numbers = self.states.reshape(len(SHARES), len(EQUALS)).sum(axis=1)
        return shares

    @property
    def wrong(self) -> float:
        """Expected share of wrong groups."""
        return float(self.shares @ SHARES)

    @property
    def may_act(self) -> bool:
        """Whether so few of the groups are wrong, and rather none, that a proposal may act."""
        return (
            self.wrong <= current().most_wrong
            and float(self.shares[SHARES >= current().noticed].sum()) <= current().most_doubt
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be expected of a proposal."""

    posterior: Posterior
    removed: float
    """Downloads that are saved."""
    lost: float
    """Pages that are lost."""
    bad: Numbers
    """Probability of each row of its witnesses to be several pages."""
    seen_lost: float
    """Pages that are lost in rows that are several pages rather than one."""

    @property
    def value(self) -> float:
        """Downloads that are saved, less those that lost pages are worth."""
        return self.removed - current().price * self.lost

    @property
    def passes(self) -> bool:
        """Whether the proposal may act."""
        return self.posterior.may_act


def likelihoods(found: Witnesses) -> Numbers:
    """Return the log-likelihood of each row at each error rate and state (SHARES x EQUALS): rows x RATES x states."""
    one = found.one[:, :, None, None] + np.log1p(-SHARES)[:, None]
    several = found.several[:, :, None, :] + np.log(SHARES)[:, None]
    both: Numbers = np.logaddexp(one, several)
    return found.weight[:, None, None] * both.reshape(*found.one.shape, len(SHARES) * len(EQUALS))


def alike_together(found: Witnesses, stratum: Rows | None = None) -> tuple[Witnesses, Rows]:
    """Return witness groups with those that look alike, and are of one *stratum*, in one row; and the stratum of each row."""
    if stratum is None:
        stratum = np.zeros(len(found), dtype=np.intp)
    looks = np.c_[stratum, found.several[:, 0], found.several[:, -1], found.one[:, 0], found.one[:, -1]]
    _, first, place = np.unique(looks, axis=0, return_index=True, return_inverse=True)
    weight: Numbers = np.bincount(place.reshape(-1), weights=found.weight, minlength=len(first)).astype(np.float64)
    return replace(found.part(first), weight=weight), stratum[first]


def _usual_rates() -> Numbers:
    """Return the logarithms of the prior of RATES: exponential, each for the rates that are nearer to it than to others."""
    prior: Numbers = np.log(np.gradient(RATES)) - RATES / current().usual_error_rate
    return prior


@dataclass(frozen=True, slots=True)
class Judge:
    """The judge of a site; ``rates`` are the logarithms of what is believed of its error rate (RATES).

    ``said`` are the log-odds, by key, that it is relevant: what is said of it by others than its pages.
    """

    rates: Numbers = field(default_factory=_usual_rates)
    said: Mapping[str, float] = field(default_factory=dict)

    def prior(self, key: str, prior: Prior) -> Prior:
        """Return the *prior* of a key in the light of what is said of it."""
        log_odds = self.said.get(key)
        return prior.given(log_odds) if log_odds else prior

    def posterior(self, found: Witnesses) -> Posterior:
        """Return what is believed after some witness groups were seen."""
        log = np.log(found.prior.states) + np.zeros((len(RATES), 1))
        if len(found):
            log = log + likelihoods(alike_together(found)[0]).sum(axis=0)
        joint = log + self.rates[:, None]
        share = np.exp(joint - joint.max())
        share /= share.sum()
        is_right = np.repeat(SHARES < current().noticed, len(EQUALS))
        # Groups of several pages say nothing of the error rate: how often each of these shows the same is not known.
        wrong = np.logaddexp.reduce(log[:, ~is_right], axis=1).max()
        evidence = np.logaddexp(np.logaddexp.reduce(log[:, is_right], axis=1), wrong)
        return Posterior(share.sum(axis=0), share.sum(axis=1), evidence)

    def verdict(self, found: Witnesses) -> Verdict:
        """Return what is to be expected of a proposal with these witness groups."""
        posterior = self.posterior(found)
        rate = int(posterior.rates.argmax())
        one = found.one[:, rate, None, None] + np.log1p(-SHARES)[:, None]
        several = found.several[:, rate, None, :] + np.log(SHARES)[:, None]
        bad: Numbers = (1 / (1 + np.exp(np.clip(one - several, -50, 50)))).reshape(
            len(found), len(posterior.states)
        ) @ posterior.states
        bad[bad < 1e-3] = 0.0
        seen_lost = float(found.lost[bad > 0.5].sum())
        return Verdict(posterior, float(found.removed.sum()), float(bad @ found.lost), bad, seen_lost)

    def is_one_page(self, content: Codes, lone: Flags) -> bool:
        """Tell whether many URLs are one page with odd responses among them, and not a page that has others among its URLs.

        The share of those others may be any.
        """
        likelihood, *_ = _one_page(np.zeros(len(content), dtype=np.intp), content, lone)
        one = np.logaddexp.reduce(likelihood[0] + self.rates) - np.logaddexp.reduce(self.rates)
        urls = len(content)
        others = urls - int(np.unique(content, return_counts=True)[1].max())
        among = lgamma(others + 1) + lgamma(urls - others + 1) - lgamma(urls + 2)
        return bool(one > among)

    def knowing(self, evidence: Iterable[Numbers]) -> "Judge":
        """Return the judge that knows more of the error rate: logarithms of likelihoods of RATES."""
        return replace(self, rates=self.rates + sum(evidence, np.zeros(len(RATES))))
