"""Learning on a noisy site: first from what shows again, then from all that is no noise.

A response that is odd shows at one URL. So what is learned from the contents that show at several is hardly disturbed
by it, but has seen no counterexample of a single URL either. It is only used to tell which URLs are taken for one
page: there the odd ones are tested (:mod:`.passing`). Those that noise explains are left out, the others stay evidence,
and all is learned anew, by the same strict gates as on any site.
"""

from collections.abc import Mapping

import numpy as np

from ..rules import Keep
from .emission import Proposal
from .learners import Evidence, Learner
from .passing import MIN_KINDS, Passing, kinds_of, repeated
from .scope import scoped
from .selection import Selected, judged_together, selected
from .untested import kept_where_untested
from .validation import validated


def without_noise(evidence: Evidence, learners: Mapping[str, Learner]) -> Selected | None:
    """Return what the learners say of the URLs that showed no noise; None where there is none, or none can be told."""
    kinds = kinds_of(evidence.plain)
    if len(np.unique(kinds)) < MIN_KINDS:
        return None
    core = dict(list(learners.items())[:1])
    if not _passing(of_what_shows_again(evidence, core), evidence).rate():
        return None
    again = of_what_shows_again(evidence, learners)
    noise = _passing(again, evidence).noise()
    if not noise.any():
        return None
    rows = np.flatnonzero(~noise)
    quiet = evidence.part(rows)
    found = _joined(selected(quiet, learners), again, quiet)
    return Selected(found.proposals, found.sources, found.used, rows)


def of_what_shows_again(evidence: Evidence, learners: Mapping[str, Learner]) -> Selected:
    """Return what the learners say of the contents that show at several URLs."""
    return selected(evidence.part(repeated(evidence.table)), learners)


def _passing(found: Selected, evidence: Evidence) -> Passing:
    numbers = judged_together(found.proposals, evidence).numbers
    return Passing.of(evidence.table, kinds_of(evidence.plain), numbers)


def _joined(one: Selected, other: Selected, evidence: Evidence) -> Selected:
    """Return a function completed by what another one adds, as far as that was tested on this evidence, too."""
    chosen, more = _without_keeping(one), _without_keeping(other)
    narrowed = scoped(more, evidence.table, judged_together(more, evidence))
    # What only holds together is not narrowed one by one.
    added = {old if old.joint else new: other.sources[old] for old, new in zip(more, narrowed, strict=True)}
    union = validated([*chosen, *(each for each in added if each not in chosen)], evidence.sample, evidence.deep)
    before, after = judged_together(chosen, evidence), judged_together(union, evidence)
    if after.removed <= before.removed or after.lost > before.lost:
        return one
    kept = kept_where_untested(union, evidence.table, after)
    used = tuple(dict.fromkeys((*one.used, *other.used)))
    return Selected([*union, *kept], {**added, **one.sources, **dict.fromkeys(kept, used[:1])}, used)


def _without_keeping(found: Selected) -> list[Proposal]:
    return [each for each in found.proposals if not isinstance(each.operation, Keep)]
