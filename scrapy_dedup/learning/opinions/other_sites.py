"""What names of parameters mean on other sites: an opinion on each, from three sites on.

Source: url-parameter-relevance, clusters of "any host/path combination", and parameters that are "universally
relevant or universally irrelevant". The document takes the URLs of all hosts together, where many sites with little
of a kind are outvoted by one with much; here each site has a voice, by its rules.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...rules import Ignore, IgnoreValue, Rule, RuleBook
from ..methods.entropy import HostRules, ParameterRule, Relevance, name_of

MIN_SITES = 3
"""Other sites with a name before they say anything of it."""
SURE = 0.8
"""Probability from which on what other sites say of a name is said of it here."""


@dataclass(frozen=True, slots=True)
class Priors:
    """Name of a parameter -> number of sites where it is (relevant, irrelevant).

    >>> priors = Priors({"sid": (0, 8)})
    >>> priors.probability("sid"), priors.relevance("sid"), priors.relevance("id")
    (0.1, <Relevance.IGNORE: 'ignore'>, None)
    """

    sites: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def probability(self, name: str) -> float:
        """Return the probability that a parameter of this name is relevant; 0.5 for an unknown name."""
        relevant, irrelevant = self.sites.get(name.lower(), (0, 0))
        return (relevant + 1) / (relevant + irrelevant + 2)

    def relevance(self, name: str) -> Relevance | None:
        """Return what other sites say of a name, None where they are too few or of two minds."""
        if sum(self.sites.get(name.lower(), (0, 0))) < MIN_SITES:
            return None
        probability = self.probability(name)
        if probability >= SURE:
            return Relevance.ACCEPT
        return Relevance.IGNORE if 1 - probability >= SURE else None

    def __add__(self, other: "Priors") -> "Priors":
        """Return the priors of both sets of sites, which should have no site in common."""
        relevant, irrelevant = Counter[str](), Counter[str]()
        for sites in (self.sites, other.sites):
            for name, (for_it, against) in sites.items():
                relevant[name] += for_it
                irrelevant[name] += against
        names = sorted(relevant.keys() | irrelevant.keys())
        return Priors({name: (relevant[name], irrelevant[name]) for name in names})


def learned_priors(sites: Iterable[HostRules]) -> Priors:
    """Return the priors that the rules of several *sites* make.

    A name that is relevant under any path of a site counts as relevant there.
    """
    total = Priors()
    for rules in sites:
        relevant: dict[str, bool] = {}
        for found in (rules.everywhere, *rules.by_path.values()):
            for name, yes in _verdicts(found):
                relevant[name] = relevant.get(name, False) or yes
        total += Priors({name: (int(yes), int(not yes)) for name, yes in relevant.items()})
    return total


def _verdicts(rules: Mapping[str, ParameterRule]) -> Iterable[tuple[str, bool]]:
    # A segment or a label of a host has no name that another site would share.
    for key, rule in rules.items():
        if key.startswith(("q.", "m.", "s.")):
            yield name_of(key).lower(), rule.relevance is Relevance.ACCEPT


def priors_of_rules(book: RuleBook, site: str) -> Priors:
    """Return the priors from the rules of all sites but *site*: the names that they drop."""
    others = [other for other in book.sites if other != site]
    if len(others) < MIN_SITES:
        return Priors()
    return learned_priors(HostRules(_dropped(book.for_site(other))) for other in others)


def _dropped(rules: Iterable[Rule]) -> dict[str, ParameterRule]:
    """Return the parameters that rules which act drop whatever their values."""
    found: dict[str, ParameterRule] = {}
    for rule in rules:
        if rule.status.acts:
            for key, operation in rule.ops.items():
                drops = isinstance(operation, Ignore | IgnoreValue) and not isinstance(operation.only, frozenset)
                if drops and key.startswith("q.") and not key.endswith("*"):
                    found[key] = ParameterRule(key, Relevance.IGNORE)
    return found
