"""The two tokens of a value that duplicate clusters tell apart."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from ...urls import DELIMITERS, DeepSplit
from ..config import current
from ..evidence.arrays import ABSENT
from .url_table import REPEAT, Table

MAX_CLUSTERS = 400
"""Maximum number of clusters of a key to compare, and of values of each."""
MAX_VALUES = 12

# A character that is no letter or digit, as the normal form writes it; no byte of a letter of other scripts.
_is_url = re.compile(r"(?i:https?)(?::|%3A)(?:/|%2F){2}").match
_delimiters = re.compile(r"%[0-7][0-9A-F]|[^A-Za-z0-9%]").findall


def significant_splits(table: Table, keys: Iterable[str]) -> dict[str, DeepSplit]:
    """Return the splits of keys of which one token stays where URLs show one page, and tells the pages apart.

    That token has no delimiter in it. Whatever delimiter it is; and where some values are that token alone, the
    other one is optional.
    """
    found = {}
    for key in keys:
        split = _split_of(list(_varying(table, key)))
        if split is not None:
            found[key] = split
    return found


def lists_of_values(table: Table, keys: Iterable[str]) -> dict[str, str]:
    """Return the keys whose values hold the same parts in another order where URLs show one page, and what parts these."""
    found = {}
    for key in keys:
        orders: Counter[str] = Counter()
        for values in _varying(table, key):
            for delimiter in {each for value in values for each in _delimiters(value)}:
                parts = [tuple(sorted(value.split(delimiter))) for value in values if delimiter in value]
                orders[delimiter] += len(set(parts)) < len(parts)
        if orders and max(orders.values()) >= current().least_contents:
            found[key] = max(sorted(orders), key=orders.__getitem__)
    return found


def _varying(table: Table, key: str) -> Iterable[list[str]]:
    """Yield the values of a key in each cluster in which it has several, those that differ in case alone taken for one."""
    rows = np.flatnonzero(table.columns[key] != ABSENT)
    order = rows[np.lexsort((table.columns[key][rows], table.content[rows]))]
    content, codes = table.content[order], table.columns[key][order]
    first = np.r_[True, (np.diff(content) != 0) | (np.diff(codes) != 0)] if len(order) else np.zeros(0, dtype=np.bool_)
    content, codes = content[first], codes[first]
    starts = np.flatnonzero(np.r_[True, np.diff(content) != 0])
    sizes = np.diff(np.r_[starts, len(content)])
    several = np.flatnonzero(sizes > 1)
    for place in several[:: len(several) // MAX_CLUSTERS + 1].tolist():
        cluster = codes[starts[place] : starts[place] + min(sizes[place], MAX_VALUES)]
        texts = [table.vocabulary[code] for code in cluster.tolist()]
        values = list({text.lower(): text for text in texts}.values())
        # A URL in a value has parts of its own, which rules speak of as those of a URL.
        if len(values) > 1 and not any(REPEAT in value or _is_url(value) for value in values):
            yield values


def _split_of(clusters: Sequence[Sequence[str]]) -> DeepSplit | None:
    """Return the split that explains most clusters, and more than half of them; None where none does."""
    if len(clusters) < current().least_contents:
        return None
    delimiters = sorted(
        {delimiter for values in clusters for value in values for delimiter in _delimiters(value)},
        key=lambda one: (DELIMITERS.find(one) % (len(DELIMITERS) + 1), one),
    )
    least = max(current().least_contents, len(clusters) // 2 + 1)
    best, merit = None, (least - 1, 0)
    for delimiter, (end, side) in product(delimiters, enumerate(("first", "last"))):
        split = DeepSplit(delimiter, side, optional=True)
        kept = [{parts[end] for value in values if (parts := split.parts(value))} for values in clusters]
        staying = [tokens.pop() for tokens in kept if len(tokens) == 1]
        pages = len(set(staying))
        if (len(staying), pages) > merit and 2 * pages > len(staying):
            merit = len(staying), pages
            alone = sum(any(delimiter not in value for value in values) for values in clusters)
            best = DeepSplit(delimiter, side, optional=alone >= current().least_contents)
    return best
