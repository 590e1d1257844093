"""How far to believe that a parameter is irrelevant: all that speaks for and against it, in log-odds.

Source: url-parameter-relevance, the passages on combining sources of information by Bayes's theorem
and on testing only what is uncertain. The document's accuracies (90 % for the entropies, 95 % for rules
made by hand, 80 % for lists of names) are the default weights; those of declared evidence are ours.

The sources are not independent, so what comes out is a rank rather than a frequency: it says what is
worth a probe, and how many pages must speak for a rule (:mod:`.said`). A prior cannot outvote a
counterexample.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import exp, log

from ...urls import GroupsLike, values_of
from ..evidence.judge import is_proven
from ..evidence.shares import upper_bound
from ..evidence.value_kinds import WHOLE
from ..methods.entropy import NameList, ParameterRule, Relevance, name_of
from .other_sites import Priors


class Source(str, Enum):
    """Who says that a parameter is relevant or not."""

    ENTROPY = "entropy"
    MANUAL = "manual"
    NAMES = "names"
    """A fixed list of names."""
    SITES = "sites"
    """The same name on other sites."""
    CANONICAL = "canonical"
    """rel=canonical."""
    REDIRECT = "redirect"
    NO_VARY_SEARCH = "no-vary-search"
    CLEAN_PARAM = "clean-param"
    """robots.txt."""

    __str__ = str.__str__


DEFAULT_WEIGHTS: Mapping[Source, float] = {
    Source.ENTROPY: 0.90,
    Source.MANUAL: 0.95,
    Source.NAMES: 0.80,
    Source.SITES: 0.80,
    Source.CANONICAL: 0.80,
    Source.REDIRECT: 0.90,
    Source.NO_VARY_SEARCH: 0.95,
    Source.CLEAN_PARAM: 0.95,
}
"""How often each source is right, between 0.5 (says nothing) and 1."""

LEAST, MOST = 0.1, 0.9
"""The band of uncertainty, the document's 10 % < p < 90 %."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one source says of a parameter."""

    source: Source
    relevance: Relevance


@dataclass(frozen=True, slots=True)
class Belief:
    """What there is on one parameter: opinions, and what its values did in groups of URLs.

    ``groups`` are informative groups that differ in the parameter alone (or in what is dropped with it),
    ``bad`` those of them that are several pages.
    """

    opinions: tuple[Opinion, ...] = ()
    groups: int = 0
    bad: int = 0
    weights: Mapping[Source, float] = field(default_factory=lambda: DEFAULT_WEIGHTS)

    @property
    def refuted(self) -> bool:
        """Whether there are more counterexamples to irrelevance than noise explains."""
        return self.bad > 0 and not is_proven(self.groups - self.bad, self.bad, WHOLE)

    @property
    def relevant(self) -> float:
        """Return the probability that the parameter is relevant; 1.0 where irrelevance is refuted."""
        return 1.0 if self.refuted else 1 / (1 + exp(-self.log_odds))

    @property
    def log_odds(self) -> float:
        """Return the log-odds of relevance, before any veto; 0.0 where nobody says anything.

        Groups of one page count by the bound of what they may have missed.
        """
        accuracy = 1 - upper_bound(self.bad, self.groups)
        return self.prior - max(0.0, log_odds(accuracy)) if accuracy > 0 else self.prior

    @property
    def prior(self) -> float:
        """Return the log-odds of relevance that the opinions give, whatever was seen of the values.

        A source counts once, with what it says most often: that two pages declare the same is one
        server's opinion.
        """
        total = 0.0
        for source, balance in self._balances().items():
            if balance:
                total += log_odds(self.weights[source]) * (1 if balance > 0 else -1)
        return total

    def _balances(self) -> dict[Source, int]:
        balance: dict[Source, int] = {}
        for opinion in self.opinions:
            says = 1 if opinion.relevance is Relevance.ACCEPT else -1
            balance[opinion.source] = balance.get(opinion.source, 0) + says
        return balance


def log_odds(probability: float) -> float:
    """Return log(p / (1 - p)).

    Raises ValueError for what no evidence can give, a probability of 0 or 1.
    """
    if not 0 < probability < 1:
        raise ValueError(f"{probability!r} is no probability that evidence can be weighed by: 0 < p < 1")
    return log(probability / (1 - probability))


def is_uncertain(probability: float, least: float = LEAST, most: float = MOST) -> bool:
    """Return whether a probability is within the band that is worth testing.

    >>> is_uncertain(0.5), is_uncertain(0.05), is_uncertain(0.9)
    (True, False, False)
    """
    return least < probability < most


def belief(
    key: str,
    *,
    entropy: Mapping[str, ParameterRule] | None = None,
    manual: NameList | None = None,
    names: NameList | None = None,
    priors: Priors | None = None,
    declared: Mapping[str, Iterable[Opinion]] | None = None,
    tested: tuple[int, int] = (0, 0),
    weights: Mapping[Source, float] | None = None,
) -> Belief:
    """Return what there is on the parameter *key*.

    *entropy* are the rules of the parameter's cluster, *declared* the opinions of
    :mod:`.declared`, *tested* the informative groups and the bad ones.
    Weights that are not given are the default ones.
    """
    said: list[tuple[Source, Relevance | None]] = []
    if entropy is not None and key in entropy:
        said.append((Source.ENTROPY, entropy[key].relevance))
    if manual is not None:
        said.append((Source.MANUAL, manual.relevance(key)))
    if names is not None:
        said.append((Source.NAMES, names.relevance(key)))
    if priors is not None:
        said.append((Source.SITES, priors.relevance(name_of(key))))
    opinions = [Opinion(source, relevance) for source, relevance in said if relevance is not None]
    opinions += (declared or {}).get(key, ())
    groups, bad = tested
    return Belief(tuple(opinions), groups, bad, {**DEFAULT_WEIGHTS, **(weights or {})})


def opinions_of_pairs(
    pairs: Iterable[tuple[str, str, Source]], *, site_groups: GroupsLike = None
) -> dict[str, tuple[Opinion, ...]]:
    """Return what (URL, declared URL, source) of one site say of its query parameters.

    A parameter that the declared URL of the same path lacks is irrelevant; one that it repeats with
    its value is relevant. Declarations can be wrong on a whole site: they propose, and never prove.
    """
    found: dict[str, list[Opinion]] = {}
    for url, target, source in pairs:
        values, declared = values_of(url, groups=site_groups), values_of(target, groups=site_groups)
        if _path(values) != _path(declared):
            continue
        for key, value in values.items():
            if key.startswith("q.") and (key not in declared or declared[key] == value):
                relevance = Relevance.ACCEPT if key in declared else Relevance.IGNORE
                found.setdefault(key, []).append(Opinion(source, relevance))
    return {key: tuple(opinions) for key, opinions in sorted(found.items())}


def _path(values: Mapping[str, str | None]) -> dict[str, str | None]:
    return {key: value for key, value in values.items() if key.startswith(("path.", "ext"))}
