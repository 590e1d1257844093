"""The priors of kinds of values, fitted to sites of which the pages are known: empirical Bayes, by expectation maximisation.

The likelihoods are the judge's own. For each kind of values are fitted: how likely it is that a proposal's groups are one page
each (right), some of them several (mixed), or most (wrong); and how likely some strata are exceptions. How often two pages
show the same though the key tells them apart (the distribution of EQUALS) stays as it was set by hand: nearly all of what tells it
are keys that nobody would drop, an id or the name of a directory, whose pages never look alike, and not the keys in doubt; fitted
to all, it lets two equal pairs prove a rule. A key counts by its sections, not value by value once more. The proposals of a site are not independent, so those of a kind
together count as the root of their number; generated sites together count no more than others do. What stood before
counts as so many proposals (``PSEUDO``): there are few real sites.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scrapy_dedup.learning.evidence.arrays import Numbers
from scrapy_dedup.learning.evidence.splits import EXCEPTIONS
from scrapy_dedup.learning.evidence.value_kinds import KindPrior, ValueKind
from scrapy_dedup.learning.evidence.witnesses import EQUALS, SHARES, likelihoods

from .strata_of_sites import Judged

__all__ = ["HAND_SET", "Known", "Priors", "fitted", "left_out", "log_likelihood"]

HAND_SET: Mapping[ValueKind, KindPrior] = {
    ValueKind.DRAWN: KindPrior(0.6, 0.1, 0.3, (0.75, 0.1, 0.1, 0.049, 0.001), 0.02),
    ValueKind.OTHER: KindPrior(0.2, 0.04, 0.76, (0.75, 0.1, 0.1, 0.049, 0.001), 0.2),
    ValueKind.FORM: KindPrior(0.6, 0.1, 0.3, (0.6, 0.1, 0.1, 0.198, 0.002), 0.8),
    ValueKind.ENUMERATED: KindPrior(0.15, 0.03, 0.82, (0.6, 0.1, 0.1, 0.198, 0.002), 0.5),
}
"""What was believed before anything was learned: the learned priors are drawn towards it.

That sections are unlike in a form is the likeliest of all known sites (.81), and hardly any of these is real: so what is inherited
is to be seen more often. At .5 a section that was seen under one host only inherits from three others, and is wrong too often.
"""
PSEUDO = 100.0
"""Proposals that what stood before counts for. At 10 and 30 random small sites lose pages that they do not at 100."""
ROUNDS, MORE_ROUNDS = 40, 6
"""Rounds of expectation and maximisation; those from a fit of nearly the same data on."""

FOLDS = 10
"""Of generated sites."""

Priors = Mapping[ValueKind, KindPrior]
Flags = npt.NDArray[np.bool_]
STATES = len(SHARES) * len(EQUALS)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of proposals: the likelihood of each state in each stratum (strata x states), and whose strata they are."""

    sites: Sequence[str]
    """Of each proposal; as the three that follow."""
    kinds: Sequence[ValueKind]
    generated: Flags
    strata: npt.NDArray[np.intp]
    """Strata of which anything is known."""
    log: Numbers

    @classmethod
    def of(cls, found: Sequence[Judged]) -> "Known":
        """Return what is known of some proposals, those without a group left out, and those that stand there value by value."""
        kept, logs, strata = [], [], []
        for one in found:
            if not len(one.known) or one.by_values:
                continue
            stratum = np.unique(one.of_known, return_inverse=True)[1]
            log = likelihoods(one.known, stratum, int(stratum.max()) + 1)
            logs.append(np.logaddexp.reduce(log + _rates(one)[None, :, None], axis=1))
            strata.append(len(log))
            kept.append(one)
        return cls(
            [one.site for one in kept],
            [one.kind for one in kept],
            np.array([one.generated for one in kept], dtype=np.bool_),
            np.array(strata, dtype=np.intp),
            np.concatenate(logs) if logs else np.zeros((0, STATES)),
        )

    def weights(self, chosen: Flags) -> Numbers:
        """Return what each proposal counts; nothing those that are not *chosen*."""
        times = Counter((s, k) for s, k, c in zip(self.sites, self.kinds, chosen.tolist(), strict=True) if c)
        weight = np.array(
            [times[s, k] ** -0.5 if c else 0.0 for s, k, c in zip(self.sites, self.kinds, chosen.tolist(), strict=True)]
        )
        for kind in ValueKind:
            of_kind = np.array([one is kind for one in self.kinds], dtype=np.bool_)
            real, made = weight[of_kind & ~self.generated].sum(), weight[of_kind & self.generated].sum()
            if 0 < real < made:
                weight[of_kind & self.generated] *= real / made
        return weight


def _rates(one: Judged) -> Numbers:
    """Return the log-probabilities of the error rate: none is left where the pages are known, and not only their labels."""
    if one.generated:
        rates = np.full(len(one.judge.rates), -1e3)
        rates[0] = 0.0
        return rates
    found: Numbers = one.judge.rates - np.logaddexp.reduce(one.judge.rates)
    return found


def fitted(known: Known, chosen: Flags | None = None, start: Priors | None = None) -> Priors:
    """Return the priors that fit *chosen* proposals (all by default); from *start* on fewer rounds are enough."""
    if chosen is None:
        chosen = np.ones(len(known.sites), dtype=np.bool_)
    weight = known.weights(chosen)
    priors = dict(start or HAND_SET)
    index = {kind: number for number, kind in enumerate(ValueKind)}
    kinds = np.array([index[kind] for kind in known.kinds], dtype=np.intp)
    first = np.cumsum(known.strata) - known.strata
    owner = np.repeat(np.arange(len(kinds)), known.strata)
    if not len(kinds) or not weight.any():
        return priors
    several = known.strata > 1
    for _ in range(MORE_ROUNDS if start else ROUNDS):
        prior = np.log([priors[kind].prior.states for kind in ValueKind])[kinds]
        unlike = np.array([priors[kind].unlike for kind in ValueKind])[kinds]
        own = np.logaddexp.reduce(known.log + prior[owner], axis=1)
        of_share = np.stack([_of_share(known, first, own, share) for share in EXCEPTIONS])
        usual = np.stack([1 - unlike, *[unlike / (len(EXCEPTIONS) - 1)] * (len(EXCEPTIONS) - 1)])
        joint = np.exp(_normalised(of_share + prior + np.log(usual)[:, :, None]))
        by_share = joint.sum(axis=2)
        each = np.add.reduceat(np.exp(known.log + prior[owner] - own[:, None]), first, axis=0) / known.strata[:, None]
        states = weight[:, None] * (joint[:-1].sum(axis=0) + by_share[-1][:, None] * each)
        for kind in ValueKind:
            mine = kinds == index[kind]
            apart = 1 - by_share[0]
            priors[kind] = _shrunk(kind, states[mine].sum(axis=0), weight[mine & several], apart[mine & several])
    return priors


def _of_share(known: Known, first: "npt.NDArray[np.intp]", own: Numbers, share: float) -> Numbers:
    """Return the log-likelihood of each proposal and state, if that share of its strata are exceptions."""
    with np.errstate(divide="ignore"):  # none, and nothing but exceptions
        either = np.logaddexp(np.log1p(-share) + known.log, np.log(share) + own[:, None])
    found: Numbers = np.add.reduceat(either, first, axis=0)
    return found


def _normalised(joint: Numbers) -> Numbers:
    """Return log-probabilities of (shares of exceptions x states) that sum to 1 for each proposal."""
    found: Numbers = joint - np.logaddexp.reduce(np.logaddexp.reduce(joint, axis=2), axis=0)[None, :, None]
    return found


def _shrunk(kind: ValueKind, states: Numbers, weight: Numbers, apart: Numbers) -> KindPrior:
    """Return the prior of a kind from the expected counts of its states, drawn towards the one set by hand."""
    before = HAND_SET[kind]
    shares = states.reshape(len(SHARES), len(EQUALS)).sum(axis=1) + PSEUDO * before.prior.shares
    unlike = (float(weight @ apart) + PSEUDO * before.unlike) / (float(weight.sum()) + PSEUDO)
    modes = shares[0], shares[1:-2].sum(), shares[-2:].sum()
    right, mixed, wrong = (float(mode / sum(modes)) for mode in modes)
    return KindPrior(right, mixed, wrong, before.equals, unlike)


def left_out(known: Known, *, generated: bool = True) -> dict[str, Priors]:
    """Return, of each site, the priors that were fitted to others; without *generated* ones, to others that are real.

    Real sites are left out one by one, generated ones a tenth of them at a time.
    """
    usable = np.ones(len(known.sites), dtype=np.bool_) if generated else ~known.generated
    every = fitted(known, usable)
    fold_of = dict(zip(known.sites, known.generated.tolist(), strict=True))
    folds: defaultdict[str, list[str]] = defaultdict(list)
    for number, (name, is_generated) in enumerate(fold_of.items()):
        folds[str(number % FOLDS) if is_generated else name].append(name)
    names = np.array(known.sites)
    found: dict[str, Priors] = {}
    for out in folds.values():
        left = usable & np.isin(names, out)
        found.update(dict.fromkeys(out, fitted(known, usable & ~left, every) if left.any() else every))
    return found


def log_likelihood(known: Known, priors: Mapping[str, Priors]) -> float:
    """Return the logarithm of the likelihood of what is known, a proposal of a site, at the priors of each site; weighted."""
    weight = known.weights(np.ones(len(known.sites), dtype=np.bool_))
    total, place = 0.0, 0
    for number, (site, kind) in enumerate(zip(known.sites, known.kinds, strict=True)):
        log = known.log[place : place + int(known.strata[number])]
        place += len(log)
        believed: KindPrior = priors[site][kind]
        prior = np.log(believed.prior.states)
        own = np.logaddexp.reduce(log + prior, axis=1)
        alone = replace(known, strata=known.strata[number : number + 1], log=log)
        of_share = [_of_share(alone, np.zeros(1, dtype=np.intp), own, share)[0] for share in EXCEPTIONS]
        usual = [1 - believed.unlike, *[believed.unlike / (len(EXCEPTIONS) - 1)] * (len(EXCEPTIONS) - 1)]
        total += float(
            weight[number] * np.logaddexp.reduce(np.stack(of_share) + prior + np.log(usual)[:, None], axis=None)
        )
    return total / float(weight.sum())
