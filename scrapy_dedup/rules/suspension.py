"""What samples and probes have shown, written into rule files: counts, and the suspension of what samples refute."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from .files import changed_site
from .model import Evidence, Rule, SiteRules, Status

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["Samples", "note_samples"]


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples of one rule's discards, and how many of them were other pages; probes, and how many contradicted it."""

    samples: int = 0
    refuted: int = 0
    #: When the rule was refuted, in seconds since 1970; None if it was not.
    time: float | None = None
    probes: int = 0
    contradicted: int = 0


def note_samples(
    directory: "str | PathLike[str]", site: str, rules: Mapping[str, Rule], found: Mapping[str, Samples]
) -> None:
    """Add the samples that were *found*, by the id of the rule, to the evidence in the file of *site*.

    A rule that is not in the file, since it stands in another directory, is written
    into it only if it is refuted: as of two rules of one id the one that is suspended counts. *rules*
    are those that the crawl has used. Manual rules, and those that are off, are left alone.

    Raises RuleFileError, RuleWriteError.
    """

    def changed(old: SiteRules) -> SiteRules:
        there = {rule.id: rule for rule in old.rules}
        for name, samples in found.items():
            rule = there.get(name) or (rules.get(name) if samples.time is not None else None)
            if rule is not None and not rule.status.users:
                there[name] = _noted(rule, samples)
        return replace(old, rules=tuple(there.values()))

    changed_site(directory, site, changed)


def _noted(rule: Rule, found: Samples) -> Rule:
    evidence = rule.evidence or Evidence()
    evidence = replace(
        evidence,
        samples=evidence.samples + found.samples,
        refuted=evidence.refuted + found.refuted,
        probes=evidence.probes + found.probes,
        contradicted=evidence.contradicted + found.contradicted,
    )
    if found.time is None:
        return replace(rule, evidence=evidence)
    return replace(rule, evidence=replace(evidence, refuted_at=ceil(found.time)), status=Status.SUSPENDED)
