"""Rules that spot checks have refuted, suspended in their files."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from .evidence import Evidence
from .files import changed_site
from .model import Rule, SiteRules, Status

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["Refutation", "suspend"]


@dataclass(frozen=True, slots=True)
class Refutation:
    """When a rule was refuted, in seconds since 1970, and what its spot checks and probes have shown in all by then."""

    time: float
    samples: int = 0
    refuted: int = 0
    probes: int = 0
    contradicted: int = 0


def suspend(
    directory: "str | PathLike[str]", site: str, rules: Mapping[str, Rule], found: Mapping[str, Refutation]
) -> None:
    """Suspend the rules that were *found* to be wrong, by their ids, in the file of *site*, with their counts.

    A rule that is not in the file, since it stands in another directory, is written into it: as of two rules of one id
    the one that is suspended counts. *rules* are those that the crawl has used. Manual rules, and those that are
    off, are left alone.

    Raises RuleFileError, RuleWriteError.
    """

    def changed(old: SiteRules) -> SiteRules:
        there = {rule.id: rule for rule in old.rules}
        for name, refutation in found.items():
            rule = there.get(name) or rules.get(name)
            if rule is not None and not rule.status.users:
                there[name] = _suspended(rule, refutation)
        return replace(old, rules=tuple(there.values()))

    changed_site(directory, site, changed)


def _suspended(rule: Rule, found: Refutation) -> Rule:
    evidence = replace(
        rule.evidence or Evidence(),
        samples=found.samples,
        refuted=found.refuted,
        probes=found.probes,
        contradicted=found.contradicted,
        refuted_at=ceil(found.time),
        until=ceil(found.time),
    )
    return replace(rule, evidence=evidence, status=Status.SUSPENDED)
