"""What is saved for good: discards that no sample takes back.

A discard of a rule that is refuted later is fetched after all. Until a sample has confirmed the
rule, nobody knows; so what it has discarded pays for nothing.
"""

from typing import TYPE_CHECKING

from ...rules.model import Status
from ..decide.discards import NORMAL_FORM

if TYPE_CHECKING:
    from ...rules.model import Rule
    from ..shared import Shared


def saved_for_good(shared: "Shared", site: str) -> int:
    """Return the downloads that were avoided on a site, less those by rules that may yet be refuted.

    It is 0 while that cannot be told: while samples are undecided, or discards are looked through that may be needed.
    """
    if (
        shared.resumed
        or shared.monitor.undecided
        or shared.learning.swapping.unsettled
        or site not in shared.tally.sites
    ):
        return 0
    counts = shared.tally.sites[site]
    if not shared.monitor.samples:  # nothing refutes a rule
        return counts.avoided
    known = {rule.id: rule for rule in shared.identities.book.for_site(site)}
    doubtful = sum(
        number
        for rules, number in counts.by_rules.items()
        if not all(is_confirmed(shared, site, rule, known.get(rule)) for rule in rules)
    )
    return max(0, counts.avoided - doubtful)


def is_confirmed(shared: "Shared", site: str, name: str, rule: "Rule | None") -> bool:
    """Whether a rule is the user's, or was confirmed by a sample, now or earlier, and not refuted."""
    if name == NORMAL_FORM:
        return True
    if (site, name) in shared.retraction.suspended:
        return False
    if rule is not None and rule.status is Status.MANUAL:
        return True
    trial = shared.monitor.suspects[site].trials.get(name) if site in shared.monitor.suspects else None
    if trial is not None and trial.samples > trial.differing:
        return True
    evidence = rule.evidence if rule is not None else None
    return evidence is not None and evidence.samples > evidence.refuted
