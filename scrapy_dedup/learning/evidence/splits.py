"""Strata of a proposal, each believed by the evidence of its own and of the others.

They are alike and have one share of wrong groups, but for exceptions: these are each as it is. How likely there are
any before anything is seen is given; then it is by what is seen: none, a tenth, three tenths, or all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import Numbers, Rows
from .judge import Judge, Posterior
from .witnesses import Witnesses, likelihoods

EXCEPTIONS: Numbers = np.array([0.0, 0.1, 0.3, 1.0])
"""Shares of the strata of a proposal that are exceptions: each as it is, whatever the others are."""


@dataclass(frozen=True, slots=True)
class Split:
    """What is believed of the strata of a proposal, and of one of which nothing was seen."""

    strata: Sequence[Posterior]
    unseen: Posterior
    evidence: float
    """The logarithm of the likelihood of all that was seen: divisions are compared by it."""

    @classmethod
    def of(cls, judge: Judge, found: Witnesses, stratum: Rows, strata: int, unlike: float) -> "Split":
        """Judge witness groups by the number of the *stratum* of each; *unlike*: how likely there are exceptions."""
        log = likelihoods(found, stratum, strata)
        prior = np.log(found.prior.states)
        own = np.logaddexp.reduce(log + prior, axis=2, keepdims=True)
        with np.errstate(divide="ignore"):  # no exceptions, and nothing but exceptions
            as_others = [np.log1p(-share) + log for share in EXCEPTIONS]
            either = [np.logaddexp(log, np.log(share) + own) for log, share in zip(as_others, EXCEPTIONS, strict=True)]
        usual = np.r_[1 - unlike, np.full(len(EXCEPTIONS) - 1, unlike / (len(EXCEPTIONS) - 1))]
        weight = np.stack([each.sum(axis=0) for each in either])
        weight += prior + judge.rates_beside(found.prior.key)[:, None] + np.log(usual)[:, None, None]
        evidence = float(np.logaddexp.reduce(weight, axis=None))
        weight = np.exp(weight - evidence)
        rates = weight.sum(axis=(0, 2))
        # Each of strata x RATES x states: what is believed where the stratum is as the others, and where it is an exception.
        common: Numbers = np.sum(
            [one * np.exp(log - each) for one, log, each in zip(weight, as_others, either, strict=True)], axis=0
        )
        apart = np.exp(log + prior - own) * (rates - common.sum(axis=2))[:, :, None]
        shares = weight.sum(axis=(1, 2))
        unseen = (1 - EXCEPTIONS) @ weight.sum(axis=1) + (shares @ EXCEPTIONS) * found.prior.states
        return cls(
            [Posterior(states, rates, rates) for states in (common + apart).sum(axis=1)],
            Posterior(unseen, rates, rates),
            evidence,
        )
