"""What rules rest on, in words, for the terminal and the report."""

from typing import TYPE_CHECKING

from .phrases import counted

if TYPE_CHECKING:
    from ..rules.evidence import Evidence


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
    if evidence.samples:
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
    found = f"found by {', '.join(name.replace('_', ' ') for name in evidence.learners)}"
    return f"{found}, from the pack {evidence.pack}" if evidence.pack else found


def sampled(evidence: "Evidence") -> str:
    """Return what spot checks have shown: URLs that a rule filtered, fetched all the same.

    >>> from scrapy_dedup.rules import Evidence
    >>> sampled(Evidence(samples=59)), sampled(Evidence(samples=1)), sampled(Evidence(samples=9, refuted=1))
    ('59 spot checks: all duplicates', '1 spot check: a duplicate', '9 spot checks: 8 duplicates, 1 other page')
    """
    if not evidence.refuted:
        shown = "a duplicate" if evidence.samples == 1 else "all duplicates"
    else:
        duplicates = counted(evidence.samples - evidence.refuted, "duplicate")
        shown = f"{duplicates}, {counted(evidence.refuted, 'other page')}"
    return f"{counted(evidence.samples, 'spot check')}: {shown}"
