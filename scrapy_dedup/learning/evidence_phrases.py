"""What rules rest on, in words, for the terminal and the report."""

from typing import TYPE_CHECKING

from .phrases import counted

if TYPE_CHECKING:
    from ..rules.model import Evidence


def evidence_of(evidence: "Evidence | None") -> str:
    """Return what a rule rests on, in one line."""
    if evidence is None:
        return "no evidence is known"
    from .lifetime.spot_checks import UNINFORMATIVE, share_lost

    if evidence.apart:
        found_by = f"; {_found_by(evidence)}" if evidence.learners else ""
        return f"it keeps {counted(evidence.apart, 'page')} apart that no witness group joins{found_by}"
    said = [
        f"{counted(evidence.groups, 'witness group')} for it, {evidence.counterexamples} against it",
        f"{counted(evidence.pages, 'page')}, {counted(evidence.urls, 'URL')}, {evidence.removed} of them would have been filtered",
    ]
    if evidence.samples or evidence.undecided:
        said.append(sampled(evidence))
    share = share_lost(evidence)
    if share < UNINFORMATIVE or evidence.counterexamples or evidence.refuted:
        said.append(f"at most {share:.1%} of what it filters are other pages (95 %)")
    if evidence.probes:
        said.append(f"{counted(evidence.probes, 'probed page')}, {evidence.contradicted} against it")
    if evidence.learners:
        said.append(_found_by(evidence))
    return "; ".join(said)


def _found_by(evidence: "Evidence") -> str:
    """Return who proposed a rule, or which published method decided on it alone."""
    if evidence.method:
        return f"decided by the method {evidence.method} alone"
    return f"found by {', '.join(name.replace('_', ' ') for name in evidence.learners)}"


def sampled(evidence: "Evidence") -> str:
    """Return what spot checks of a rule have shown."""
    return spot_checks_of(evidence.samples - evidence.refuted, evidence.refuted, evidence.undecided)


def spot_checks_of(confirmed: int, differing: int, undecided: int) -> str:
    """Return what spot checks have shown: URLs that a rule filtered, fetched all the same.

    >>> spot_checks_of(59, 0, 0), spot_checks_of(1, 0, 0), spot_checks_of(8, 1, 0)
    ('59 spot checks: all duplicates', '1 spot check: a duplicate', '9 spot checks: 8 duplicates, 1 other page')
    >>> spot_checks_of(1, 0, 17)
    '18 spot checks: 1 duplicate, 17 of which nobody can tell'
    """
    return f"{counted(confirmed + differing + undecided, 'spot check')}: {shown_by(confirmed, differing, undecided)}"


def shown_by(confirmed: int, differing: int, undecided: int) -> str:
    """Return what so many spot checks were."""
    if not (differing or undecided):
        return "a duplicate" if confirmed == 1 else "all duplicates"
    parts = [counted(confirmed, "duplicate"), *([counted(differing, "other page")] if differing else [])]
    return ", ".join([*parts, *([f"{undecided} of which nobody can tell"] if undecided else [])])
