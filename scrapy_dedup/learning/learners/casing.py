"""Upper and lower case: of a whole value, or of its first letter alone, as far as it was tested.

Source: url-parameter-relevance, the passage on case sensitivity, asked given the rest of the URL. Many wikis do not
tell ``/wiki/Cat`` from ``/wiki/cat``, and do tell ``/wiki/CAT`` from it: that pages were met under two spellings
of their first letter says nothing of the other letters.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

import numpy as np

from ...rules import Ignore, IgnoreValue, Lower, Replace, Set
from ...rules.actions import transformed
from ...urls.percent import lower_first, lower_value
from ..config import current
from ..data.url_table import MIN_TESTED, Table
from ..evidence.shares import worth_asking
from ..proposals.dropping import matching
from ..proposals.proposal import Match, Proposal
from .generalising import Wider


def case_operation(rows: Iterable[tuple[Hashable, str, int]]) -> Lower | None:
    """Return what case means nothing, given (all else of a URL, the value of a key, the page) of each URL.

    Ten pages are needed, and no more counterexamples than noise explains. For the whole value five of them must have
    been met under spellings that differ in more than the first letter: then it is not that letter alone. None where
    neither is shown. O(n).
    """
    rows = list(rows)
    if _holds(rows, lower_value, beyond=current().case_pages):
        return Lower()
    return Lower(first=True) if _holds(rows, lower_first) else None


def number_operation(key: str, rows: Iterable[tuple[Hashable, str, int]]) -> Replace | None:
    """Return what takes zeros off the beginning of the numbers of a key, where they mean nothing. O(n)."""
    if _holds(list(rows), partial(transformed, transform="number")):
        return Replace(key, transform="number")
    return None


def _holds(rows: Sequence[tuple[Hashable, str, int]], spelled: Callable[[str], str], beyond: int = 0) -> bool:
    """Return whether pages do not depend on how a value is *spelled*, *beyond* of them not on more than its first letter."""
    groups: defaultdict[tuple[Hashable, str], tuple[set[str], set[int]]] = defaultdict(lambda: (set(), set()))
    for rest, value, page in rows:
        values, pages = groups[rest, spelled(value)]
        values.add(value)
        pages.add(page)
    informative = [(values, pages) for values, pages in groups.values() if len(values) > 1]
    good = {next(iter(pages)): values for values, pages in informative if len(pages) == 1}
    bad = sum(len(pages) > 1 for _, pages in informative)
    further = sum(len({lower_first(value) for value in values}) > 1 for values in good.values())
    return len(good) >= current().proposed_groups and further >= beyond and worth_asking(bad, len(good) + bad)


def wider_spellings(accepted: Sequence[Proposal], table: Table) -> list[Wider]:
    """Return keys whose case means nothing, where proposals name the spellings of their values one by one.

    Two values in two spellings each, or one in three, are no chance; and hardly any capitals are elsewhere, none of
    them in what may be an id, whose case nobody has tested.
    """
    by_place: dict[tuple[Match, str], list[Proposal]] = {}
    for proposal in accepted:
        by_place.setdefault((proposal.match, proposal.key), []).append(proposal)
    found = []
    for (match, key), own in by_place.items():
        values = _spellings(own)
        if key in table.columns and values is not None and not any(proposal.joint for proposal in own):
            alike = [spellings for spellings in values.values() if len(spellings) > 1]
            enough = len(alike) > 1 or any(len(spellings) > 2 for spellings in alike)
            if enough and _are_tested(table, match, key, set[str]().union(*alike)):
                first = all(len({lower_first(value) for value in spellings}) == 1 for spellings in alike)
                found.append(Wider(Proposal(match, key, Lower(first=first)), tuple(own)))
    return found


def _spellings(proposals: Sequence[Proposal]) -> dict[str, set[str]] | None:
    """Return the values that proposals on one key make one, by their lower case; None where they do more than that."""
    found: dict[str, set[str]] = {}
    for proposal in proposals:
        operation = proposal.operation
        if isinstance(operation, Lower):
            continue
        if isinstance(operation, Set):
            pairs = list(operation.values)
        elif isinstance(operation, Ignore | IgnoreValue) and isinstance(operation.only, frozenset) and operation.only:
            pairs = [(value, min(operation.only)) for value in operation.only]
        else:
            return None
        for old, new in pairs:
            if old is None or new is None or lower_value(old) != lower_value(new):
                return None
            found.setdefault(lower_value(old), set()).update((old, new))
    return found


def _are_tested(table: Table, match: Match, key: str, spelled: AbstractSet[str]) -> bool:
    """Return whether nearly all capitals in the values of a key are in those that were met in several spellings."""
    codes, counts = np.unique(table.columns[key][matching(table, match)], return_counts=True)
    values: dict[str, int] = dict(zip((table.vocabulary[code] for code in codes), counts.tolist(), strict=True))
    capitals = {value: count for value, count in values.items() if value != lower_value(value)}
    others = capitals.keys() - spelled
    if not all(value.isalpha() and value[1:] in (value[1:].lower(), value[1:].upper()) for value in others):
        return False
    untested = sum(capitals[value] for value in others)
    return untested <= (1 - MIN_TESTED) * sum(capitals.values())
