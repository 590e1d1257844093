"""The judge: how likely it is that filtering a request loses a page.

A *witness group* is a set of URLs that a proposal makes one. For *n* URLs of *d* contents, of which content *c* is shown by n_c:

    one      = sum_c (1-e)^n_c  prod_{c' != c} (e a_c')^n_c'  + all odd       one page, of which some responses are odd
    several  = (1-e)^n  r^(n-d)  (1-r)^(d-1)                                  several pages

*e* is the share of odd responses, *a* is 1 where no other URL of the site shows a content and AGAIN where one does, *r* how
often two pages show the same although what is dropped tells them apart. With *s*, the share of the groups that are several:

    L(s, r, e)         = prod_g [ (1-s) one + s several ]^w_g                  the content tells pages apart here
    L(s, r, e, shell)  = prod_places [ (1-k) prod_g one^w_g + k prod_g [ (1-s) one + s several ]^w_g ]

In a *shell* different pages show one content (an application's frame, an end point that says "true"), and groups are as likely as
those of one page, however many they are. *k* is the contrast of a place: how far different pages were seen to show
different contents there. All groups of a place share it: sixty end points are no sixty proofs.

The likelihoods do not weigh *e*: what speaks for it comes from elsewhere (responses to one URL, refetches). Otherwise any exceptions
would be odd responses.

Source: ours; the idea of a relevance prior is url-parameter-relevance's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log
from typing import Final

import numpy as np

from .evidence.arrays import Numbers, Rows
from .evidence.witnesses import EQUALS, RATES, SHARES, Prior

PRICE: Final = 20.0
"""Downloads that a lost page is worth."""
NOTICED: Final = 0.01
"""Share of wrong groups from which on a proposal is wrong, and not only spoiled by noise."""
MOST_DOUBT: Final = 0.5
"""Probability that the share of wrong groups is NOTICED or more, up to which a proposal may act."""
ODD: Final = 0.004
"""Mean share of odd responses before a site is seen (exponential)."""
ODD_TAIL: Final = 0.15
"""How much of that prior is flat, up to a tenth."""
AGAIN: Final = 0.02
"""An odd content that other URLs show, too, is rarer by this factor: errors of chance do not repeat themselves, pages do."""
UNTESTED: Final = 0.05
"""Expected share of wrong groups up to which a proposal acts where nothing was seen of it."""
TESTED: Final = 0.15
"""The same where something was seen of it."""

MOST_CONTRAST: Final = 0.97
"""Contrast of a place where nothing but other contents is seen."""
MOST_BETWEEN: Final = 0.9
"""How much of the prior of a shell contrast between places of one form takes away."""

OWN: Numbers = np.array([0.0, 0.1, 0.3, 1.0])
"""How often a section of a site may have a share of wrong groups of its own."""

Look = tuple[tuple[int, bool], ...]
"""What a group shows: of each content by how many of its URLs, and whether no other URL of the site shows it; sorted."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is believed of a proposal before anything is seen of it; probabilities.

    Its groups are one page each (``right``), some of them several (``mixed``), or most (``wrong``); two pages show the same this
    or that often (``equals``); sections of a site differ in it (``unlike``); where it stands contents tell no pages apart (``shell``).
    """

    right: float
    mixed: float
    wrong: float
    equals: tuple[float, ...]
    unlike: float
    shell: float
    is_position: bool = False
    """Whether it is about a place of the path, which mostly means something else in another section."""

    def states(self, shell: float) -> Numbers:
        """Return the logarithms of the probabilities of SHARES and of EQUALS without and in a shell: SHARES x (2 EQUALS)."""
        prior = Prior.of(self.right, self.mixed, self.wrong, self.equals)
        both = np.r_[prior.equals * (1 - shell), prior.equals * shell]
        states: Numbers = np.log(prior.shares)[:, None] + np.log(both)
        return states

    @property
    def own(self) -> Numbers:
        """The probabilities of OWN."""
        if self.is_position:
            return np.array([0.05, 0.05, 0.2, 0.7])
        return np.array([1 - self.unlike, 1 - self.unlike, self.unlike, self.unlike]) / 2


@lru_cache(maxsize=100_000)
def _of_look(look: Look) -> tuple[Numbers, Numbers, Numbers]:
    """Return the log-likelihoods of a group: of one page (RATES), of several (RATES x EQUALS), of any of SHARES (RATES x SHARES x EQUALS)."""
    urls = sum([number for number, _ in look])
    odd = [number * (np.log(RATES) + (0.0 if lone else log(AGAIN))) for number, lone in look]
    all_odd = np.sum(odd, axis=0)
    mains = [all_odd - each + number * np.log1p(-RATES) for (number, _), each in zip(look, odd, strict=True)]
    one = np.logaddexp.reduce([*mains, all_odd], axis=0)
    equal = (urls - len(look)) * np.log(EQUALS) + (len(look) - 1) * np.log1p(-EQUALS)
    several = urls * np.log1p(-RATES)[:, None] + equal
    any_share = np.logaddexp(
        (one[:, None] + np.log1p(-SHARES))[:, :, None], several[:, None, :] + np.log(SHARES)[:, None]
    )
    return one, several, any_share


@dataclass(frozen=True, slots=True)
class Groups:
    """The witness groups of a proposal, a row each.

    ``look`` is the number of each row's among the *looks*, ``place`` that of the place where it stands, ``contrast`` of each place how far
    different pages are seen to show different contents (0 to 1), ``shell`` how likely they do not before these groups are seen;
    ``weight`` is less than 1 where the page is in many groups; ``removed`` are downloads saved if a group is one page,
    ``lost`` pages lost if not; ``section`` is where on the site it stands.
    """

    looks: tuple[Look, ...]
    look: Rows
    place: Rows
    contrast: Numbers
    shell: float
    weight: Numbers
    removed: Numbers
    lost: Numbers
    section: Rows

    def __len__(self) -> int:
        return len(self.look)

    def part(self, rows: Rows) -> "Groups":
        """Return some of the rows."""
        return replace(
            self,
            look=self.look[rows],
            place=self.place[rows],
            weight=self.weight[rows],
            removed=self.removed[rows],
            lost=self.lost[rows],
            section=self.section[rows],
        )

    def _counted(self) -> tuple[Rows, Rows, Numbers]:
        """Return the looks and places that there are, and the weight of each look at each place (places x looks)."""
        looks, look = np.unique(self.look, return_inverse=True)
        places, place = np.unique(self.place, return_inverse=True)
        number = place.reshape(-1) * len(looks) + look.reshape(-1)
        weight = np.bincount(number, weights=self.weight, minlength=len(places) * len(looks))
        return looks, places, weight.reshape(len(places), len(looks)).astype(np.float64)

    def likelihood(self) -> Numbers:
        """Return the log-likelihood of all groups: RATES x SHARES x (2 EQUALS, without and in a shell)."""
        if not len(self):
            return np.zeros((len(RATES), len(SHARES), 2 * len(EQUALS)))
        looks, places, weight = self._counted()
        found = [_of_look(self.looks[look]) for look in looks]
        any_share = np.array([each[2] for each in found]).reshape(len(looks), -1)
        plain = (weight.sum(axis=0) @ any_share).reshape(len(RATES), len(SHARES), len(EQUALS))
        one = weight @ np.array([each[0] for each in found])
        contrast = self.contrast[places]
        shell = np.repeat((one[contrast <= 0].sum(axis=0))[:, None], len(SHARES) * len(EQUALS), axis=1)
        some = contrast > 0
        if some.any():
            k = contrast[some][:, None, None]
            of_places = (weight[some] @ any_share).reshape(int(some.sum()), len(RATES), -1)
            shell = shell + np.logaddexp(np.log1p(-k) + one[some][:, :, None], np.log(k) + of_places).sum(axis=0)
        return np.concatenate((plain, shell.reshape(plain.shape)), axis=2)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be expected of a proposal."""

    wrong: float
    """Expected share of its groups that are several pages."""
    doubt: float
    """Probability that this share is NOTICED or more."""
    removed: float
    """Downloads saved."""
    lost: float
    """Pages lost."""
    bad: Numbers
    """Probability of each group to be several pages."""
    shares: Numbers
    """Probabilities of SHARES."""

    @property
    def value(self) -> float:
        """Downloads saved, less those that the lost pages are worth."""
        return self.removed - PRICE * self.lost

    @property
    def is_right(self) -> bool:
        """Whether so few of the groups are wrong, and rather none."""
        return self.wrong <= 1 / PRICE and self.doubt <= MOST_DOUBT

    @property
    def may_act(self) -> bool:
        """Whether it is right, and saves more than lost pages are worth."""
        return self.is_right and self.value > 0


NOTHING = Verdict(1.0, 1.0, 0.0, 0.0, np.zeros(0), np.r_[np.zeros(len(SHARES) - 1), 1.0])
"""The verdict of a proposal that makes no URLs one."""


def usual_rates() -> Numbers:
    """Return the logarithms of the prior of RATES."""
    each = np.gradient(RATES)
    falling = each * np.exp(-RATES / ODD)
    rates: Numbers = np.log((1 - ODD_TAIL) * falling / falling.sum() + ODD_TAIL * each / each.sum())
    return rates


def told_rates(odd: float, responses: float) -> Numbers:
    """Return the log-likelihood of RATES where so many of some *responses* were odd."""
    rates: Numbers = odd * np.log(RATES) + (responses - odd) * np.log1p(-RATES)
    return rates


def verdict(groups: Groups, kind: Kind, rates: Numbers) -> Verdict:
    """Return the verdict of a proposal; *rates*: logarithms of what is believed of RATES."""
    if not len(groups):
        return NOTHING
    joint = kind.states(groups.shell) + groups.likelihood()
    joint -= joint.max(axis=(1, 2), keepdims=True)
    states = np.exp(joint)
    states /= states.sum(axis=(1, 2), keepdims=True)
    states *= np.exp(rates - np.logaddexp.reduce(rates))[:, None, None]
    shares = states.sum(axis=(0, 2))
    bad = _bad(groups, states)
    return Verdict(
        wrong=float(shares @ SHARES),
        doubt=float(shares[SHARES >= NOTICED].sum()),
        removed=float(groups.removed.sum()),
        lost=float(bad @ groups.lost),
        bad=bad,
        shares=shares,
    )


def _bad(groups: Groups, states: Numbers) -> Numbers:
    """Return the probability of each group to be several pages, from those of the states (RATES x SHARES x 2 EQUALS)."""
    looks, places, weight = groups._counted()
    found = [_of_look(groups.looks[look]) for look in looks]
    any_share = np.array([each[2] for each in found])
    several = np.array([each[1] for each in found])[:, :, None, :] + np.log(SHARES)[:, None]
    is_several = np.exp(np.clip(several - any_share, -60, 0)).reshape(len(looks), -1)
    plain, shell = states[..., : len(EQUALS)].reshape(-1), states[..., len(EQUALS) :].reshape(-1)
    one = np.repeat(weight @ np.array([each[0] for each in found]), len(SHARES) * len(EQUALS), axis=1)
    contrast = groups.contrast[places][:, None]
    with np.errstate(divide="ignore"):
        odds = np.log(contrast) - np.log1p(-contrast) + weight @ any_share.reshape(len(looks), -1) - one
    told = shell / (1 + np.exp(-np.clip(odds, -60, 60)))  # the content tells pages apart at this place: places x states
    share = np.repeat(np.tile(SHARES, len(RATES)), len(EQUALS))
    of_place = told @ is_several.T + ((shell - told) @ share)[:, None]
    of_look = is_several @ plain
    look = np.searchsorted(looks, groups.look)
    bad: Numbers = of_look[look] + of_place[np.searchsorted(places, groups.place), look]
    bad[bad < 1e-3] = 0.0
    return bad


def by_section(groups: Groups, kind: Kind, rates: Numbers) -> tuple[float, dict[int, float]]:
    """Return the expected share of wrong groups in a section that nobody has seen, and in each that was seen.

    A section is as the others are, or, with a probability of its own prior (OWN), one of its own.
    """
    rate = int(np.exp(rates - np.logaddexp.reduce(rates)) @ np.arange(len(RATES)) + 0.5)
    states = kind.states(groups.shell)
    likelihoods = {
        section: groups.part(np.flatnonzero(groups.section == section)).likelihood()[rate]
        for section in np.unique(groups.section).tolist()
    }
    alone = {section: np.logaddexp.reduce((states + each).ravel()) for section, each in likelihoods.items()}
    prior_wrong = float(np.exp(states).sum(axis=1) @ SHARES)
    chance, wrong_new = np.log(kind.own), []
    seen: dict[int, list[float]] = {section: [] for section in likelihoods}
    for number, own in enumerate(OWN):
        with np.errstate(divide="ignore"):
            alike, apart = np.log(1 - own), np.log(own)
        mixed = {section: np.logaddexp(alike + each, apart + alone[section]) for section, each in likelihoods.items()}
        joint = states + sum(mixed.values(), np.zeros(states.shape))
        total = np.logaddexp.reduce(joint.ravel())
        chance[number] += total
        believed = np.exp(joint - total)
        wrong = float(believed.sum(axis=1) @ SHARES)
        wrong_new.append((1 - own) * wrong + own * prior_wrong)
        for section, each in likelihoods.items():
            is_alike = np.exp(alike + each - mixed[section])
            by_itself = float(np.exp(states + each - alone[section]).sum(axis=1) @ SHARES)
            as_others = believed * is_alike
            seen[section].append(
                float(as_others.sum(axis=1) @ SHARES) + float((believed - as_others).sum()) * by_itself
            )
    chance = np.exp(chance - np.logaddexp.reduce(chance))
    return float(chance @ wrong_new), {section: float(chance @ each) for section, each in seen.items()}


def contrast_of(contents: Numbers, size: Numbers) -> Numbers:
    """Return how far different pages are seen to show different contents at places, from *contents* beyond one and beyond odd ones.

    *size*: URLs of a group at each place beyond one: a few contents say little of groups of many.

    >>> contrast_of(np.array([0.0, 75.0]), np.array([79.0, 1.0])).round(2).tolist()
    [0.0, 0.97]
    """
    contrast: Numbers = MOST_CONTRAST * np.minimum(1.0, contents / np.maximum(1.0, size)) * -np.expm1(-contents / 2)
    return contrast


def shell_of(kind: Kind, contrast: Sequence[float]) -> float:
    """Return how likely a proposal of a *kind* stands in a shell, from the contrast between its forms of URLs."""
    return kind.shell * (1 - MOST_BETWEEN * float(np.mean(contrast))) if len(contrast) else kind.shell
