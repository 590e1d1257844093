"""What names of parameters mean on other sites: an opinion on each, from three sites on.

Source: url-parameter-relevance, clusters of "any host/path combination", and parameters that are "universally
relevant or universally irrelevant". The document takes the URLs of all hosts together, where many sites with little
of a kind are outvoted by one with much; here each site has a voice, on what its own URLs show: those that differ in
the parameter alone are other pages again and again, or never. Rules that act on a site are a voice, too.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from ...masks.model import Mask
from ...observation import Observation
from ...rules import Ignore, IgnoreValue, Rule, RuleBook
from ...urls import GroupsLike, values_of
from ..config import current
from ..data.clusters import clusters
from ..data.frame import Frame, Level
from ..data.judgement import SiteUrls
from ..data.url_table import encode
from ..evidence.shares import worth_asking
from ..methods.entropy import HostRules, ParameterRule, Relevance, name_of

MIN_SITES = 3
"""Other sites with a name before they say anything of it."""
MAX_SITES = 100
"""Maximum number of sites whose URLs are used (of more, every n-th); the rules of all are."""
MAX_URLS = 2_000
"""Observations of a site that are looked at, the first ones."""
MAX_KEYS = 100
"""Parameters of a site that are looked at."""
MIN_TOLD = 0.5
"""Share of the values, of URLs that differ in one parameter alone, that lead to pages of their own where it is relevant."""
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

    def __sub__(self, other: "Priors") -> "Priors":
        """Return the priors of these sites without those of *other*, which are among them."""
        left = {}
        for name, (relevant, irrelevant) in self.sites.items():
            of_other = other.sites.get(name, (0, 0))
            if (relevant, irrelevant) != of_other:
                left[name] = (relevant - of_other[0], irrelevant - of_other[1])
        return Priors(left)


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


def priors_by_site(
    by_site: Mapping[str, Sequence[Observation]], known: RuleBook, masks: Mapping[str, Mask] | None = None
) -> dict[str, Priors]:
    """Return, per site of *by_site*, the priors that all other sites make, of its rules or of its URLs.

    *known* are rules of before, *masks* tell what does not last on pages. Empty where there are fewer than four sites. Takes
    O(URLs x parameters), of 2,000 URLs of 100 sites.
    """
    names = {*by_site, *known.sites}
    if len(names) <= MIN_SITES:
        return {}
    asked = {*asked_sites(sorted(by_site), len(by_site))}
    voices = {
        site: voice_of(site, by_site[site] if site in asked else (), known, (masks or {}).get(site))
        for site in sorted(names)
    }
    total = Priors()
    for voice in voices.values():
        total += voice
    return {site: total - voices[site] for site in by_site}


def asked_sites(sites: Iterable[str], number: int) -> Iterator[str]:
    """Yield the sites whose URLs are used, of a *number* of them in order."""
    return islice(sites, 0, None, number // MAX_SITES + 1)


def voice_of(site: str, observations: Sequence[Observation], known: RuleBook, mask: Mask | None = None) -> Priors:
    """Return what a site tells others of its parameters: by its *known* rules, and by the URLs that were observed."""
    # What its URLs show counts more than its rules.
    shown = _shown(observations, known.groups, mask)
    return learned_priors([HostRules({**_dropped(known.for_site(site)), **shown})])


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


def _shown(observations: Sequence[Observation], site_groups: GroupsLike, mask: Mask | None) -> dict[str, ParameterRule]:
    """Return what URLs of one site that differ in a query parameter alone show of it."""
    if not observations:
        return {}
    sample = SiteUrls.of("", clusters(observations[:MAX_URLS], mask), None)
    if len(sample.urls) < 2:
        return {}
    views = (values_of(url, groups=site_groups) for url in sample.urls)
    table = encode(sample.urls, views, sample.content, sample.lone)
    frame = Frame(table, np.arange(len(table)))
    found = {}
    for key in [key for key in frame.columns if key.startswith("q.")][:MAX_KEYS]:
        told = frame.groups({key: Level.DROPPED})
        others = int((told.size - 1).sum())
        if told.lost >= current().proposed_groups and told.lost >= MIN_TOLD * others:
            found[key] = ParameterRule(key, Relevance.ACCEPT)
        elif told.informative >= current().proposed_groups and worth_asking(told.bad, told.informative):
            found[key] = ParameterRule(key, Relevance.IGNORE)
    return found
