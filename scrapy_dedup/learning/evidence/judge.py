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

import numpy as np

from ...urls.deep_tokens import whole_key
from ..config import current
from .arrays import Codes, Flags, Numbers, Rows, mixed, numbered, pairs, spans
from .contents import Contents
from .shares import of_any_share

__all__ = ["EQUALS", "EVERY_KEY", "RATES", "SHARES", "Judge", "Posterior", "Prior", "Verdict", "Witnesses", "witnesses"]

RATES: Numbers = np.array([0.0003, 0.001, 0.003, 0.006, 0.01, 0.015, 0.02, 0.03, 0.045, 0.07, 0.1])
"""Error rates that a site may have: were more than a tenth of its responses odd, they would explain any page away."""
SHARES: Numbers = np.array([0.0001, 0.001, 0.003, 0.01, 0.02, 0.04, 0.08, 0.16, 0.3, 0.6, 0.95])
"""Shares of a proposal's witness groups that may be several pages."""
EQUALS: Numbers = np.array([0.01, 0.05, 0.2, 0.5, 0.75])
"""How often two pages may show the same, though what a proposal drops tells them apart."""

EVERY_KEY = "*"
"""Stands for all keys of a site's URLs."""
AT_ONCE = 1_000
"""Proposals that are judged together, so that the memory they take has a bound."""


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
        """Return the prior in the light of what is said: the log-odds that what a proposal drops is relevant."""
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
    of_parts = np.add.reduceat(_one_page(parts.part(inner)), np.cumsum(values) - values, axis=0)
    several = of_parts[:, :, None] + equal[:, None, :]
    size, number = whole.size.astype(np.float64), whole.number.astype(np.float64)
    _, place, times = np.unique(whole.page, return_inverse=True, return_counts=True)
    weight = np.minimum(1.0, current().witnesses_of_page / times[place])
    return Witnesses(_one_page(whole.part(shown)), several, look.reshape(-1), weight, size - 1, number - 1, prior)


def remembered(clean: float, bad: float, prior: Prior) -> Witnesses:
    """Return witness groups of which only their numbers are known: two URLs each, that showed the same or not."""
    one = np.stack((2 * np.log1p(-RATES), np.log(2 * RATES) + np.log1p(-RATES)))
    equal = np.stack((np.log(EQUALS), np.log1p(-EQUALS)))
    several = np.repeat(equal[:, None, :], len(RATES), axis=1)
    weight, removed, lost = np.array([clean, bad]), np.ones(2), np.array([0.0, 1.0])
    return Witnesses(one, several, np.arange(2), weight, removed, lost, prior)


def is_proven(clean: float, bad: float, prior: Prior) -> bool:
    """Tell whether so many witness groups let something act, on a site of which nothing else is known."""
    return Judge().posterior(remembered(clean, bad, prior)).may_act


def _one_page(groups: Contents) -> Numbers:
    """Return of each group the log-likelihood to be one page: groups x RATES."""
    urls = groups.urls[:, None]
    odd = urls * (np.log(RATES) + np.where(groups.lone, 0.0, np.log(current().repeated_odd))[:, None])
    all_odd = np.add.reduceat(odd, groups.starts, axis=0)
    main = all_odd[groups.of_group] - odd + urls * np.log1p(-RATES)
    one: Numbers = np.logaddexp(np.logaddexp.reduceat(main, groups.starts, axis=0), all_odd)
    return one


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
        return bool(_may_act(self.shares))

    @property
    def right(self) -> float:
        """Probability that hardly any of the groups is wrong."""
        return float(self.shares[SHARES < current().noticed].sum())

    @property
    def is_likely(self) -> bool:
        """Whether hardly any of the groups is wrong rather than not: a proposal may not act yet, but is worth waiting for."""
        return self.right > 1 - current().most_doubt

    def mixed(self, other: "Posterior", weight: float) -> "Posterior":
        """Return what is believed where this is true with a probability of *weight*, and the other one else."""
        return replace(self, states=weight * self.states + (1 - weight) * other.states)


def _may_act(shares: Numbers) -> Flags:
    """Tell by the probability of each of SHARES (the last axis) whether a proposal may act."""
    doubt = shares[..., SHARES >= current().noticed].sum(axis=-1)
    few: Flags = (shares @ SHARES <= current().most_wrong) & (doubt <= current().most_doubt)
    return few


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
        """Whether the proposal may act: its groups are one page each, and it saves more than what it loses is worth."""
        return self.posterior.may_act and self.value >= 0


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


def _usual_rates() -> Numbers:
    """Return the logarithms of the prior of RATES: exponential, each for the rates that are nearer to it than to others."""
    prior: Numbers = np.log(np.gradient(RATES)) - RATES / current().usual_error_rate
    return prior


@dataclass(frozen=True, slots=True)
class Judge:
    """The judge of a site.

    ``rates`` are the logarithms of what is believed of its error rate (RATES), less what groups of URLs tell: ``told`` are
    keys in which URLs of groups differ, and the logarithms of the likelihoods of RATES that these give. ``said`` are the log-odds, by key,
    that it is relevant: what is said of it by others than its pages.
    """

    rates: Numbers = field(default_factory=_usual_rates)
    told: tuple[tuple[frozenset[str], Numbers], ...] = ()
    said: Mapping[str, float] = field(default_factory=dict)

    def prior(self, key: str, prior: Prior) -> Prior:
        """Return the *prior* of a key in the light of what is said of it."""
        log_odds = self.said.get(key)
        return (prior.given(log_odds) if log_odds else prior).about(key)

    def rates_beside(self, key: str | None) -> Numbers:
        """Return the logarithms of what is believed of RATES, without what groups say that differ in a key.

        These groups are judged themselves: were they to tell the error rate first, any exceptions would be odd responses.
        """
        if key == EVERY_KEY:
            return self.rates
        whole = None if key is None else whole_key(key)
        return self.rates + sum((each for keys, each in self.told if whole not in keys), np.zeros(len(RATES)))

    def posterior(self, found: Witnesses) -> Posterior:
        """Return what is believed after some witness groups were seen."""
        log = np.log(found.prior.states) + np.zeros((len(RATES), 1))
        if len(found):
            log = log + likelihoods(found)[0]
        joint = log + self.rates_beside(found.prior.key)[:, None]
        share = np.exp(joint - joint.max())
        share /= share.sum()
        is_right = np.repeat(SHARES < current().noticed, len(EQUALS))
        # Groups of several pages say nothing of the error rate: how often each of these shows the same is not known.
        wrong = np.logaddexp.reduce(log[:, ~is_right], axis=1).max()
        evidence = np.logaddexp(np.logaddexp.reduce(log[:, is_right], axis=1), wrong)
        return Posterior(share.sum(axis=0), share.sum(axis=1), evidence)

    def may_act(self, found: Witnesses, part: Rows, parts: int) -> Flags:
        """Tell of each of many proposals whether it may act; *part* is the number of each row's, ascending, of so many *parts*."""
        result = np.zeros(parts, dtype=np.bool_)
        prior = np.log(found.prior.states) + self.rates_beside(found.prior.key)[:, None]
        for start in range(0, parts, AT_ONCE):
            number = min(AT_ONCE, parts - start)
            rows = np.arange(*np.searchsorted(part, (start, start + number)))
            log = prior + likelihoods(found.part(rows), part[rows] - start, number)
            states: Numbers = np.exp(log - log.max(axis=(1, 2), keepdims=True)).sum(axis=1)
            shares = states.reshape(number, len(SHARES), len(EQUALS)).sum(axis=2)
            result[start : start + number] = _may_act(shares / shares.sum(axis=1)[:, None])
        return result

    def verdict(self, found: Witnesses) -> Verdict:
        """Return what is to be expected of a proposal with these witness groups."""
        posterior = self.posterior(found)
        rate = int(posterior.rates.argmax())
        one = found.one[:, rate, None, None] + np.log1p(-SHARES)[:, None]
        several = found.several[:, rate, None, :] + np.log(SHARES)[:, None]
        of_look: Numbers = 1 / (1 + np.exp(np.clip(one - several, -50, 50)))
        bad = (of_look.reshape(len(found.one), len(posterior.states)) @ posterior.states)[found.look]
        bad[bad < 1e-3] = 0.0
        seen_lost = float(found.lost[bad > 0.5].sum())
        return Verdict(posterior, float(found.removed.sum()), float(bad @ found.lost), bad, seen_lost)

    def is_one_page(self, content: Codes, lone: Flags) -> bool:
        """Tell whether many URLs are one page with odd responses among them, and not a page that has others among its URLs.

        The share of those others may be any.
        """
        likelihood = _one_page(Contents.of(np.zeros(len(content), dtype=np.intp), content, lone))
        rates = self.rates_beside(None)
        one = np.logaddexp.reduce(likelihood[0] + rates) - np.logaddexp.reduce(rates)
        urls = len(content)
        others = urls - int(np.unique(content, return_counts=True)[1].max())
        return bool(one > of_any_share(others, urls))

    def knowing(self, evidence: Iterable[Numbers]) -> "Judge":
        """Return the judge that knows more of the error rate: logarithms of likelihoods of RATES."""
        return replace(self, rates=self.rates + sum(evidence, np.zeros(len(RATES))))

    def told_by(self, groups: Iterable[tuple[Iterable[str], Numbers]]) -> "Judge":
        """Return the judge that knows what groups tell of the error rate whose URLs differ in these keys."""
        return replace(self, told=tuple((frozenset(keys), each) for keys, each in groups))
