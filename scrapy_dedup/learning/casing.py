"""Upper and lower case: of a whole value, or of its first letter alone, as far as it was tested.

Source: url-parameter-relevance, the passage on case sensitivity, asked given the rest of the URL. Many wikis do not
tell ``/wiki/Cat`` from ``/wiki/cat``, and do tell ``/wiki/CAT`` from it: that pages were met under two spellings
of their first letter says nothing of the other letters.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from ..rules import Lower
from ..urls.percent import lower_first, lower_value
from .emission import Proposal
from .evidence import MIN_GROUPS, tolerable
from .judgement import Judgement
from .scope import MIN_OF_SHAPE, matching
from .table import ABSENT, Table


def case_operation(rows: Iterable[tuple[Hashable, str, int]]) -> Lower | None:
    """Return what case means nothing, given (all else of a URL, the value of a key, the page) of each URL.

    Ten pages are needed, and no more counterexamples than noise explains. For the whole value five of them must have
    been met under spellings that differ in more than the first letter: then it is not that letter alone. None where
    neither is shown. O(n).
    """
    rows = list(rows)
    if _holds(rows, lower_value, beyond=MIN_OF_SHAPE):
        return Lower()
    return Lower(first=True) if _holds(rows, lower_first) else None


def _holds(rows: Sequence[tuple[Hashable, str, int]], spelled: Callable[[str], str], beyond: int = 0) -> bool:
    """Tell whether pages do not depend on how a value is *spelled*, *beyond* of them not on more than its first letter."""
    groups: defaultdict[tuple[Hashable, str], tuple[set[str], set[int]]] = defaultdict(lambda: (set(), set()))
    for rest, value, page in rows:
        values, pages = groups[rest, spelled(value)]
        values.add(value)
        pages.add(page)
    informative = [(values, pages) for values, pages in groups.values() if len(values) > 1]
    good = {next(iter(pages)): values for values, pages in informative if len(pages) == 1}
    bad = sum(len(pages) > 1 for _, pages in informative)
    further = sum(len({lower_first(value) for value in values}) > 1 for values in good.values())
    return len(good) >= MIN_GROUPS and further >= beyond and tolerable(bad, len(good) + bad)


def first_letter_unless_tested(proposals: Sequence[Proposal], table: Table, judgement: Judgement) -> list[Proposal]:
    """Return the proposals, those that lower a whole value for its first letter only where hardly more was tested."""
    found = []
    for proposal in proposals:
        if proposal.operation == Lower() and not proposal.joint and proposal.key in table.columns:
            chosen = matching(table, proposal.match)
            codes = table.columns[proposal.key]
            spelled = {
                code: lower_first(table.vocabulary[code])
                for code in np.unique(codes[chosen]).tolist()
                if code != ABSENT
            }
            pages = set()
            for members in judgement.clean:
                spellings = {spelled[codes[row]] for row in members if chosen[row] and codes[row] in spelled}
                if len(spellings) > 1:
                    pages.add(table.content[members[0]])
            if len(pages) < MIN_OF_SHAPE:
                proposal = replace(proposal, operation=Lower(first=True))
        found.append(proposal)
    return found
