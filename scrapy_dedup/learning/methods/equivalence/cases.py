"""Keys in which upper and lower case make no difference, from rules that show them in lower case."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ....rules import Literal, Lower, Predicate
from ....urls import DeepSplit
from ...config import current
from ...data.frame import Frame, Level
from ...data.grouping import varying
from ...data.url_table import Table
from ...evidence.arrays import ABSENT, Codes, Rows
from ...evidence.shares import worth_asking
from ...proposals.proposal import Match, Proposal
from .path_operations import holds_for, seen_at
from .rewriting import RewriteRule
from .views import path_positions


def lowered_keys(rule: RewriteRule) -> frozenset[str]:
    """Return the keys that a rule shows in lower case."""
    places = path_positions(rule.form.keys)
    return frozenset(
        f"path.{places[position]}" if position in places else rule.form.keys[position] for position in rule.form.lowered
    )


def lowering(
    confirmed: Iterable[tuple[frozenset[str], Sequence[int]]],
    table: Table,
    dropped_elsewhere: Iterable[str],
    deep: Mapping[str, DeepSplit],
) -> list[Proposal]:
    """Return the proposals of rules given as (keys in lower case, URLs for which that was confirmed).

    Rules on paths of one length are one pattern, and a key that makes it join different pages is taken
    out of it.
    """
    levels = dict.fromkeys(dropped_elsewhere, Level.DROPPED)
    of_length: defaultdict[int, list[tuple[frozenset[str], Sequence[int]]]] = defaultdict(list)
    for lowered, confirmed_rows in confirmed:
        if lowered and confirmed_rows:
            of_length[int(table.columns["path.len"][confirmed_rows[0]])].append((lowered, confirmed_rows))
    found = []
    lower = _lower_codes(table)
    for length, rules in sorted(of_length.items()):
        rows = np.unique(np.concatenate([np.asarray(some, dtype=np.intp) for _, some in rules]))
        keys = sorted({key for some, _ in rules for key in some})
        match = _match(table, rows, keys, length=table.vocabulary[length], deep=deep)
        matching = np.flatnonzero(holds_for(table, match, deep))
        while keys:
            outcomes = _outcomes(table, matching, keys, lower=lower, levels=levels)
            worst = max(keys, key=lambda key: outcomes[key][1])
            good, bad = outcomes[worst]
            if worth_asking(bad, good + bad):
                found += [
                    Proposal(match, key, Lower()) for key in keys if outcomes[key][0] >= current().proposed_groups
                ]
                break
            keys.remove(worst)
    return found


def _match(table: Table, rows: Rows, lowered: Sequence[str], *, length: str, deep: Mapping[str, DeepSplit]) -> Match:
    match: list[tuple[str, Predicate]] = [("path.len", Literal(length))]
    for number in range(int(length)):
        key = f"path.{number}"
        predicate = None if key in lowered else seen_at(table, rows, key, deep.get(key))
        if predicate is not None:
            match.append((key, predicate))
    return tuple(match)


def _lower_codes(table: Table) -> Codes:
    """Return, for each code of the vocabulary, one that all spellings of its value share."""
    first: dict[str, int] = {}
    spelled = [first.setdefault(value.lower(), code) for code, value in enumerate(table.vocabulary) if code != ABSENT]
    return np.array([ABSENT, *spelled], dtype=np.int32)


def _outcomes(
    table: Table, rows: Rows, keys: Sequence[str], *, lower: Codes, levels: dict[str, Level]
) -> dict[str, tuple[int, int]]:
    """Return, per key, the groups of one content whose URLs differ in its case, and those of several contents."""
    frame = Frame(table, rows)
    spelled = {key: frame.columns[key] for key in keys if key in frame.columns}
    for key, codes in spelled.items():
        frame.recode(key, lower[codes])
    groups = frame.groups(levels)
    bad = groups.contents > 1
    found = dict.fromkeys(keys, (0, 0))
    for key, codes in spelled.items():
        differs = varying(groups, codes)
        found[key] = int(np.count_nonzero(differs & ~bad)), int(np.count_nonzero(differs & bad))
    return found
