"""The judge: how likely it is that URLs which a proposal makes one are one page.

The likelihoods of its witness groups are those of :mod:`.witnesses`. The share of a
proposal's groups that are several pages has a prior of two modes: what a part of a URL means is mostly all or nothing. How
few groups are enough, and how many exceptions are noise, follows from these and is written nowhere.

Source: ours; the idea of a relevance prior is url-parameter-relevance's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...urls.deep_tokens import whole_key
from ..config import current
from .arrays import Codes, Flags, Numbers, Rows
from .contents import Contents
from .shares import of_any_share
from .witnesses import EQUALS, EVERY_KEY, RATES, SHARES, Prior, Witnesses, likelihoods, one_page, remembered

SEEN = 0.95
"""Probability of a group to be several pages from which on these count as lost, and not as odd responses. At a half, one page
with two odd responses among four used up the budget of a small site, and with it a rule that saved two hundred downloads."""
AT_ONCE = 1_000
"""Proposals that are judged together, so that the memory they take has a bound."""


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
    """Return whether each proposal may act, from the probability of each of SHARES (the last axis)."""
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
    """Pages that are lost in rows that are surely several pages (SEEN)."""

    @property
    def value(self) -> float:
        """Downloads that are saved, less those that lost pages are worth."""
        return self.removed - current().price * self.lost

    @property
    def passes(self) -> bool:
        """Whether the proposal may act: its groups are one page each, and it saves more than what it loses is worth."""
        return self.posterior.may_act and self.value >= 0


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
        log_odds = self.said.get(key, 0.0)
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
        """Return whether each of many proposals may act; *part* is the number of each row's, ascending, of so many *parts*."""
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
        seen_lost = float(found.lost[bad > SEEN].sum())
        return Verdict(posterior, float(found.removed.sum()), float(bad @ found.lost), bad, seen_lost)

    def is_one_page(self, content: Codes, lone: Flags) -> bool:
        """Return whether many URLs are one page with odd responses among them, and not a page that has others among its URLs.

        The share of those others may be any.
        """
        likelihood = one_page(Contents.of(np.zeros(len(content), dtype=np.intp), content, lone))
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


def is_proven(clean: float, bad: float, prior: Prior) -> bool:
    """Return whether so many witness groups let something act, on a site of which nothing else is known."""
    return Judge().posterior(remembered(clean, bad, prior)).may_act
