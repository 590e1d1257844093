"""The error rate of a site: how often a response is not the page of its URL.

URLs that were answered several times tell it at once, unless their kind of pages changes by itself, as a front page
does. The others tell it by what is found to be one page: the sets of keys in which URLs of one content differ, of which
those with most groups of one content are no page keys as a whole.
"""

from collections.abc import Iterable

import numpy as np

from ..config import current
from ..evidence.arrays import Numbers
from ..evidence.judge import Judge
from ..evidence.shares import of_any_share
from ..evidence.value_kinds import kind_of_values
from ..evidence.witnesses import RATES
from .frame import Frame, Level

MOST_SETS = 24
"""Difference sets that are looked at, those of most contents first."""
MOST_PAIRS = 60_000
NEIGHBOURS = (1, 2, 3)
"""Which of the next URLs of a content each is compared with."""


def judge_of(frame: Frame, controls: Iterable[tuple[int, int]]) -> Judge:
    """Return the judge of a site.

    *controls* are (responses that differed from the one before, responses compared) of URLs that were answered several
    times, a pair for each URL template.
    """
    judge = Judge().knowing(of_controls(odd, compared) for odd, compared in controls)
    found = []
    for keys in difference_sets_of(frame):
        groups = frame.groups(dict.fromkeys(keys, Level.DROPPED))
        clean = int(np.count_nonzero((groups.size > 1) & (groups.contents == 1)))
        kinds = [kind_of_values(key, frame.columns[key], frame.table.vocabulary) for key in keys]
        kind = max(kinds, key=lambda kind: kind.prior.shares[-1])
        found.append((clean, keys, frame.witnesses(groups, kind.prior)))
    found.sort(key=lambda each: -each[0])
    return judge.told_by(
        (keys, judge.posterior(each).evidence / current().error_rate_overlap)
        for _, keys, each in found[: current().error_rate_sets]
    )


def of_controls(odd: int, compared: int) -> Numbers:
    """Return the log-likelihood of RATES: so many of two responses differed, or the template changes by itself."""
    by_chance: Numbers = odd * np.log(2 * RATES) + (compared - odd) * 2 * np.log1p(-RATES)
    by_itself = of_any_share(odd, compared)
    changing = current().changing_templates
    found: Numbers = np.logaddexp(np.log(1 - changing) + by_chance, np.log(changing) + by_itself)
    return found


def difference_sets_of(frame: Frame) -> list[tuple[str, ...]]:
    """Return the sets of keys in which URLs of one content differ, those that most contents show first. O(n log n)."""
    order = np.argsort(frame.content, kind="stable")
    content = frame.content[order]
    same = [np.flatnonzero(content[step:] == content[:-step]) for step in NEIGHBOURS if step < len(content)]
    left = np.concatenate([order[place] for place in same]) if same else order[:0]
    right = (
        np.concatenate([order[place + step] for place, step in zip(same, NEIGHBOURS, strict=False)])
        if same
        else order[:0]
    )
    keys = list(frame.support())
    if not len(left) or not keys:
        return []
    if len(left) > MOST_PAIRS:
        some = np.linspace(0, len(left) - 1, MOST_PAIRS).astype(np.intp)
        left, right = left[some], right[some]
    differ = np.packbits([frame.columns[key][left] != frame.columns[key][right] for key in keys], axis=0)
    sets, place = np.unique(differ, axis=1, return_inverse=True)
    shown = np.unique(np.stack((place.reshape(-1), frame.content[left])), axis=1)[0]
    contents = np.bincount(shown, minlength=sets.shape[1])
    found = []
    for number in np.argsort(-contents, kind="stable")[:MOST_SETS]:
        flags = np.unpackbits(sets[:, number])[: len(keys)]
        chosen = tuple(key for key, flag in zip(keys, flags, strict=True) if flag)
        if chosen and contents[number] >= current().least_contents:
            found.append(chosen)
    return found
