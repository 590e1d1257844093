"""Prior odds of a site's parameters from lists of names, and the site's own declarations.

Source: url-parameter-relevance, the passages on combining sources of information by Bayes's theorem. What is said moves
the prior of a parameter (:meth:`.judge.Judge.prior`): one that is called relevant needs more pages that show it to be
irrelevant, one that the site itself calls irrelevant fewer, but never none. No opinion outvotes a counterexample.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from ..data.url_table import Table
from ..evidence.arrays import ABSENT
from ..evidence.user_names import Names
from ..methods.entropy import KNOWN_NAMES, NameList
from .belief import belief
from .declared import Declarations, linked_opinions, stated_opinions

SOME = 100
"""URLs that are checked against headers and lines of a robots.txt."""


def said_of(
    table: Table,
    declarations: Declarations,
    site_groups: Mapping[str, Sequence[str]] | None = None,
    names: Names | None = None,
) -> dict[str, float]:
    """Return the log-odds that query parameters of a site are relevant, of those with any opinion.

    *names* are what the user says of names. O(URLs x parameters).
    """
    manual = manual_names(names)
    linked = linked_opinions(declarations, site_groups)
    found = {}
    for key, codes in table.columns.items():
        if not key.startswith("q."):
            continue
        rows = np.flatnonzero(codes != ABSENT)
        some = [table.urls[row] for row in rows[:: len(rows) // SOME + 1]]
        opinions = (*linked.get(key, ()), *stated_opinions(declarations, key, some))
        if said := belief(key, manual=manual, names=known_names(key, manual), declared={key: opinions}).prior:
            found[key] = said
    return found


def manual_names(names: Names | None) -> NameList:
    """Return what the user says of names."""
    return NameList(names.relevant, names.irrelevant) if names else NameList()


def known_names(key: str, manual: NameList) -> NameList | None:
    """Return the names that are known on all sites; None for a key that the user has said something of."""
    return KNOWN_NAMES if manual.relevance(key) is None else None
