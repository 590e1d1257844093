"""The published methods by name, each with its options: what decides instead of the judge.

>>> policy = policy_of("equivalence", {"min_urls": 20})
>>> policy.method, policy.options.min_urls
('equivalence', 20)
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...observation import Observation
from ...rules import Rule
from ..choices import JUDGE, METHOD_NAMES
from ..data.clusters import Clusters
from ..data.judgement import SiteUrls
from ..phrases import counted
from . import entropy, equivalence
from .formations import Decision, written
from .options import METHODS, MethodOptions, WrongOption, options_of
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
        return getattr(self.options, "pages", "text") != "text"

    def clusters(self, found: Clusters, seen: Iterable[Observation]) -> Clusters:
        """Return the duplicate clusters of a site as the method has them; *found* are those of pages with equal text."""
        return near_identical(found, seen, getattr(self.options, "pages", "")) if self.compares_texts else found

    def decide(self, sample: SiteUrls) -> Decision:
        """Return what the method decides of a site, as its document decides."""
        return _DECIDE[self.method](sample, self.options)

    def written(self, sample: SiteUrls) -> tuple[list[Rule], tuple[str, ...]]:
        """Return the rules of a site that a rule file says, and what the user should know of those that it does not."""
        decision = self.decide(sample)
        rules, notes = written(decision, sample)
        steps = []
        if decision.raw is not None:
            steps = [counted(decision.raw, "candidate"), f"{decision.qualified} passed its test"]
        steps.append(f"{decision.deployed} {'acts' if decision.deployed == 1 else 'act'}")
        return rules, (f"decided by the method {self.method} alone: {', '.join(steps)}", *notes)


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
    return MethodPolicy(
        method, options_of(method, options or {}) if not isinstance(options, MethodOptions) else options
    )
