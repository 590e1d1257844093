"""What significant affixes say of keys: families of names, numbered hosts, boundaries inside values.

Source: url-parameter-relevance, FIG. 2, 6 and 7. Other learners speak of the names and values that were
seen; an affix says which others belong to them: ``utm_term`` to ``utm_source``, ``www4`` to ``www1``.
File extensions and key=value segments are keys of their own already.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..rules import Ignore
from ..urls import DELIMITERS, DeepSplit, class_of
from ..urls.affixes import ALPHANUMERIC, snapped_prefixes, snapped_suffixes, uniform
from .constant_pages import constant_pages
from .emission import Proposal, seen_values, widened
from .entropy.joint import irrelevant
from .entropy.proposals import table_of
from .frame import Frame
from .judgement import Sample
from .table import Table

MIN_FAMILY = 3
"""Names, or hosts, that show that an affix means something."""
MIN_PREFIX = 3
MIN_VALUES = 20
MIN_COVERED = 0.9
"""Share of a key's values that must have one of the affixes that part them."""
MAX_AFFIXES = 12
MAX_SEARCHED = 1_000
"""Values of a key that are asked for affixes; of more, every n-th."""

_numbered = re.compile(r"([a-z][a-z\-]*?)([0-9]+)").fullmatch


def proposals(sample: Sample, deep: Mapping[str, DeepSplit], table: Table | None = None) -> list[Proposal]:
    """Return what holds of whole families of names and hosts, of which some were seen to be irrelevant.

    Empty where there is nothing to learn from. Nothing of it is validated: what it says of names that were
    not seen follows from those that were. *table* are the URLs encoded with the deep tokens, made where not given.
    """
    table = table_of(sample, deep, table)
    if table is None:
        return []
    _, covered = constant_pages(Frame(table, np.arange(len(table))), sample.confirmed_urls())
    found = irrelevant(Frame(table, np.flatnonzero(~covered)))
    return [*_names(table, found.dropped), *_hosts(table, found.dropped)]


def families(names: Iterable[str], least: int = MIN_FAMILY) -> dict[str, list[str]]:
    """Return, per significant prefix that ends at a boundary, the *least* or more names that have it.

    >>> families(["utm_source", "utm_medium", "utm_term", "id", "page"])
    {'utm_': ['utm_medium', 'utm_source', 'utm_term']}
    """
    names = sorted(set(names))
    prefixes = snapped_prefixes(names, model=uniform(ALPHANUMERIC), shortest=MIN_PREFIX)
    found = {affix.text: [name for name in names if name.startswith(affix.text)] for affix in prefixes}
    return {prefix: own for prefix, own in sorted(found.items()) if len(own) >= least}


def _names(table: Table, dropped: Sequence[str]) -> list[Proposal]:
    """Return the families of parameter names of which every member is irrelevant."""
    kept = {key for key in table.columns if key.startswith("q.")}.difference(dropped)
    rows = np.arange(len(table))
    found = []
    for prefix, keys in families([key for key in dropped if key.startswith("q.")] + list(kept)).items():
        beginning = prefix.removeprefix("q.")
        if len(beginning) >= MIN_PREFIX and "%" not in beginning and not kept.intersection(keys):
            values = [value for key in keys for value in seen_values(table, rows, key)]
            found.append(Proposal((), f"{prefix}*", Ignore(only=widened(class_of(values)))))
    return found


def _hosts(table: Table, dropped: Sequence[str]) -> list[Proposal]:
    """Return numbered hosts that are one site, with those of the numbers in between and next."""
    rows = np.arange(len(table))
    found = []
    for key in dropped:
        if key.startswith("host."):
            numbers: dict[str, list[str]] = {}
            for label in seen_values(table, rows, key):
                if match := _numbered(label):
                    numbers.setdefault(match[1], []).append(match[2])
            for prefix, own in sorted(numbers.items()):
                if len(own) >= MIN_FAMILY and all(number[0] != "0" and len(number) < 3 for number in own):
                    most = 2 * max(map(int, own))
                    found.append(Proposal((), key, Ignore(only={f"{prefix}{n}" for n in range(1, most + 1)})))
    return found


def affix_splits(columns: Mapping[str, Sequence[str]]) -> dict[str, DeepSplit]:
    """Return deep tokens of keys whose values begin, or end, with one of a few significant affixes.

    They complete :func:`~scrapy_dedup.urls.learn_deep_splits`, which wants a number or an id at one end:
    here the words themselves show the boundary; of several the one with the fewest affixes. *columns* holds the distinct
    values of each key, of which a thousand are looked at.

    >>> pages = ["shoes", "hat", "coats", "scarf", "belt", "socks", "glove"]
    >>> kinds = ["print", "view", "mobile"]
    >>> affix_splits({"path.0": [f"{kind}-{page}" for kind in kinds for page in pages]})
    {'path.0': DeepSplit(delimiter='-', side='first')}
    >>> affix_splits({"path.0": [f"{page}-{kind}" for kind in kinds for page in pages]})
    {'path.0': DeepSplit(delimiter='-', side='last')}
    """
    found = {}
    for key, column in columns.items():
        if key.startswith(("q.", "path.", "m.", "s.")):
            some = list(dict.fromkeys(filter(None, column[:: len(column) // MAX_SEARCHED + 1])))
            if len(some) >= MIN_VALUES:
                splits = [DeepSplit(delimiter, side) for side in ("first", "last") for delimiter in DELIMITERS]
                affixes = {split: count for split in splits if (count := _affixes(some, split))}
                if affixes:
                    found[key] = min(affixes, key=lambda split: affixes[split])
    return found


def _affixes(values: Sequence[str], split: DeepSplit) -> int:
    """Return how few significant affixes that end at the delimiter part nearly all values, 0 where none do."""
    end = 0 if split.side == "first" else 1
    few: set[str] = set()
    for value in values:
        parts = split.parts(value)
        if parts is not None:
            few.add(parts[end])
            if len(few) > MAX_AFFIXES:
                return 0
    if len(few) < 2:
        return 0
    chance = uniform(ALPHANUMERIC)
    if split.side == "first":
        prefixes = {affix.text for affix in snapped_prefixes(values, model=chance)}
        affixes = tuple(prefixes & {word + split.delimiter for word in few})
        covered = sum(value.startswith(affixes) for value in values)
    else:
        suffixes = {affix.text for affix in snapped_suffixes(values, model=chance)}
        affixes = tuple(suffixes & {split.delimiter + word for word in few})
        covered = sum(value.endswith(affixes) for value in values)
    return len(affixes) if covered >= MIN_COVERED * len(values) else 0
