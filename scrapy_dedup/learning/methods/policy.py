"""The published methods by name, each with its options: what decides instead of the judge.

>>> policy = policy_of("equivalence", {"min_urls": 20})
>>> policy.method, policy.options.min_urls
('equivalence', 20)
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...observation import Observation
from ...urls import values_of
from ..choices import JUDGE, METHOD_NAMES
from ..data.clusters import Clusters
from ..data.judgement import SiteUrls
from ..data.url_table import encode
from ..phrases import counted
from . import entropy, equivalence
from .formations import Decision, Written, written
from .options import METHODS, EquivalenceOptions, MethodOptions, WrongOption, options_of
from .pattern_tree import published as pattern_tree
from .shingles import near_identical

_DECIDE: Mapping[str, Callable[[SiteUrls, Any], Decision]] = {
    "entropy": entropy.decide,
    "equivalence": equivalence.decide,
    "pattern-tree": pattern_tree.decide,
}


@dataclass(frozen=True, slots=True)
class MethodPolicy:
    """A published method with its options."""

    method: str
    options: MethodOptions

    @property
    def compares_texts(self) -> bool:
        """Whether the method compares pages by their texts, where these are stored, and not by fingerprints alone."""
        return isinstance(self.options, EquivalenceOptions) and self.options.pages != "text"

    def clusters(self, found: Clusters, seen: Iterable[Observation]) -> Clusters:
        """Return the duplicate clusters of a site as the method has them; *found* are those of pages with equal text."""
        if not isinstance(self.options, EquivalenceOptions) or self.options.pages == "text":
            return found
        return near_identical(found, seen, self.options.pages)

    def decide(self, sample: SiteUrls) -> Decision:
        """Return what the method decides of a site, as its document decides."""
        return _DECIDE[self.method](sample, self.options)

    def written(self, sample: SiteUrls) -> tuple[Written, tuple[str, ...]]:
        """Return the rules of a site that a rule file says, and what the user should know of those that it does not."""
        decision = self.decide(sample)
        urls = [values_of(url, groups=sample.site_groups) for url in sample.urls]
        found = written(decision, sample, encode(sample.urls, urls, sample.content))
        return found, tuple(_notes(self.method, decision, found))


def policy_of(method: str, options: "Mapping[str, Any] | MethodOptions | None" = None) -> MethodPolicy | None:
    """Return the policy of a published method, None for the judge, which has no options.

    *options* are values by name, as texts or as they are, or the dataclass of the method's options.
    Raises WrongOption, a ValueError, for a method or an option that is not there, and for a wrong value.
    """
    if method not in METHOD_NAMES:
        raise WrongOption(f"there is no method {method!r}; there are {', '.join(METHOD_NAMES)}")
    if method == JUDGE:
        if options:
            raise WrongOption(f"the method {JUDGE} has no options; {', '.join(METHODS)} have")
        return None
    if options is not None and not isinstance(options, Mapping | METHODS[method]):
        raise WrongOption(f"options is {options!r}: it must be a dict, or {METHODS[method].__name__}")
    if isinstance(options, MethodOptions):
        return MethodPolicy(method, options)
    return MethodPolicy(method, options_of(method, options or {}))


def _notes(method: str, decision: Decision, found: Written) -> list[str]:
    said = ", ".join(_counts(decision))
    notes = [f"decided by the method {method} alone" + (f": {said}" if said else "")]
    if found.left_out:
        reasons = ", ".join(f"{reason} ({count})" for reason, count in sorted(found.left_out.items()))
        notes.append(f"{counted(sum(found.left_out.values()), 'rule')} that a rule file cannot say: {reasons}")
    if found.missed > 0:
        notes.append(f"the rules leave {found.missed} of {counted(found.duplicates, 'duplicate')} of the method apart")
    return notes


def _counts(decision: Decision) -> Iterator[str]:
    """Yield how many rules there were at each step, as far as the method has it."""
    if decision.raw is not None:
        yield counted(decision.raw, "candidate")
    if decision.qualified is not None:
        yield f"{decision.qualified} passed its test"
    if decision.deployed is not None:
        yield f"{decision.deployed} {'acts' if decision.deployed == 1 else 'act'}"
