"""Rewrite rules expressed in the common representation.

What no rule of that representation can say - another order of segments, a segment whose extension
outlives it - is left out, and counted, never bent.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ....rules import Literal, Predicate
from ....urls import DeepSplit
from ....urls.deep_tokens import ENDS
from ...config import current
from ...data.url_table import REPEAT, Table
from ...evidence.arrays import Flags  # mypy and the reader want it here
from ...evidence.value_kinds import is_token
from ...proposals.dropping import dropped
from ...proposals.proposal import Match, Proposal
from .cases import lowered_keys, lowering
from .path_operations import BESIDE, PathPattern, path_key, tested_pattern
from .pooling import Drop, Pooled, pooled, pooled_within
from .rewriting import Fixed, Form, RewriteRule
from .segments import is_named
from .views import PATH, path_positions

MAX_PATTERNS = 200
"""Patterns of paths at most, those with the most groups."""
MIN_COVERED = 0.5
"""Share of a rule's URLs for which what it drops is to be dropped under some wider pattern."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A rule that passed its test; ``confirmed``: numbers of the URLs, in clean groups, that it matches."""

    rule: RewriteRule
    confirmed: Sequence[int]
    groups: int

    @property
    def of_one_page(self) -> bool:
        """Return whether the right side is one URL: everything the rule matches is one page."""
        return not self.rule.variables


@dataclass(frozen=True, slots=True)
class Expressed:
    """Proposals, and how many rules or patterns could not be said, by reason."""

    proposals: list[Proposal]
    left_out: dict[str, int]


def expressed(accepted: Iterable[Accepted], table: Table, deep: Mapping[str, DeepSplit]) -> Expressed:
    """Return what the accepted rules say of keys, under the widest patterns that hold on the URLs of *table*.

    *deep* are the deep tokens that rules see.
    """
    left_out: Counter[str] = Counter()
    sayable = []
    for one in accepted:
        reason = unsayable(one.rule.form)
        if reason:
            left_out[reason] += 1
        else:
            sayable.append(one)
    of_one_page = [one for one in sayable if one.of_one_page]
    others = [one for one in sayable if not one.of_one_page]
    found: list[Proposal] = []
    for one in of_one_page:
        if any(not is_named(one.rule.form.keys[position]) for position in one.rule.form.dropped):
            left_out["one page under many paths"] += 1
        else:
            found += _of_one_page(one, table, deep)
    hidden = {key for key in deep if key in table.columns}
    held = pooled(table, _dropping(others, table), hidden)
    for match, rules in _uncovered(others, table, held, hidden).items():
        held += pooled_within(table, _dropping(rules, table), hidden, match, held)
    found += [Proposal(one.match, one.drop.key, one.drop.operation(table, one.rows)) for one in held]
    everywhere = [one.drop.key for one in held if not one.match and one.drop.values is None]
    for pattern in _patterns(others, table, left_out):
        if not pattern.gone and pattern.beside <= set(everywhere):
            continue
        of_path = tested_pattern(pattern, table, everywhere, deep)
        left_out["refuted or hardly tested on a path"] += not of_path
        found += of_path
    found += lowering([(lowered_keys(one.rule), one.confirmed) for one in others], table, everywhere, deep)
    return Expressed(list(dict.fromkeys(found)), {reason: count for reason, count in left_out.items() if count})


def unsayable(form: Form) -> str | None:
    """Return why no rule of the common representation says what a form does; None where one does."""
    kept = [position for position in form.kept if form.keys[position] == PATH]
    if any(a > b for a, b in pairwise(kept)):
        return "another order"
    paths = [position for position, key in enumerate(form.keys) if key == PATH]
    gone = [position for position in paths if position not in form.kept]
    if gone and any(key.startswith("path.") and key != "path.trail" for key in form.keys):
        return "deep tokens"
    if gone and paths[-1] in gone and any(form.keys[position] == "ext" for position in form.kept):
        return "extension of a dropped segment"
    return None


def _dropping(accepted: Sequence[Accepted], table: Table) -> dict[Drop, Flags]:
    """Return the keys that the rules drop, and the URLs for which that was confirmed."""
    found: dict[Drop, Flags] = {}
    for one in accepted:
        form = one.rule.form
        with_path = _drops_segments(form)
        for position in form.dropped:
            key, slot = form.keys[position], one.rule.slots[position]
            if is_named(key) and not (with_path and key in BESIDE):
                drop = Drop(key, frozenset({slot.value}) if isinstance(slot, Fixed) else None)
                found.setdefault(drop, np.zeros(len(table), dtype=np.bool_))[list(one.confirmed)] = True
    return found


def _uncovered(
    accepted: Sequence[Accepted], table: Table, held: Sequence[Pooled], hidden: Container[str]
) -> dict[Match, list[Accepted]]:
    """Return the rules that drop what is not *held* for most of their URLs, by what their paths have in common."""
    covered: dict[str, Flags] = {}
    for one in held:
        covered.setdefault(one.drop.key, np.zeros(len(table), dtype=np.bool_))[one.rows] = True
    found: dict[Match, list[Accepted]] = {}
    for rule in accepted:
        keys = [rule.rule.form.keys[position] for position in rule.rule.form.dropped]
        named = [key for key in keys if is_named(key) and key not in BESIDE]
        rows = list(rule.confirmed)
        if any(key not in covered or covered[key][rows].mean() < MIN_COVERED for key in named):
            found.setdefault(_path_of(rule, table, hidden), []).append(rule)
    most = sorted(found.items(), key=lambda item: -sum(rule.groups for rule in item[1]))
    return dict(most[:MAX_PATTERNS])


def _path_of(one: Accepted, table: Table, hidden: Container[str]) -> Match:
    """Return what the path of a rule's URLs has in common: its length, and the segments that are fixed."""
    match: list[tuple[str, Predicate]] = [
        ("path.len", Literal(table.value(int(table.columns["path.len"][one.confirmed[0]])) or "0"))
    ]
    for place, number in path_positions(one.rule.form.keys).items():
        slot, key = one.rule.slots[place], f"path.{number}"
        if isinstance(slot, Fixed) and place not in one.rule.form.lowered and key not in hidden:
            match.append((key, Literal(slot.value)))
    return tuple(match)


def _drops_segments(form: Form) -> bool:
    return any(form.keys[position] == PATH for position in form.dropped)


def _patterns(accepted: Sequence[Accepted], table: Table, left_out: Counter[str]) -> list[PathPattern]:
    """Return the patterns of the rules that drop segments of a path, those with the most groups first."""
    found: dict[str, PathPattern] = {}
    for one in accepted:
        if any(one.rule.form.keys[position] in {PATH, *BESIDE} for position in one.rule.form.dropped):
            length = int(table.value(int(table.columns["path.len"][one.confirmed[0]])) or "0")
            fresh = path_key(one.rule, length)
            pattern = found.setdefault(repr(fresh), fresh)
            pattern.rows += one.confirmed
            pattern.groups += one.groups
    enough = [pattern for pattern in found.values() if pattern.groups >= current().proposed_groups]
    left_out["little evidence on a path"] += len(found) - len(enough)
    left_out["too many paths"] += max(0, len(enough) - MAX_PATTERNS)
    return sorted(enough, key=lambda pattern: -pattern.groups)[:MAX_PATTERNS]


def _of_one_page(one: Accepted, table: Table, deep: Mapping[str, DeepSplit]) -> list[Proposal]:
    """Return the proposals of a rule whose right side is one URL."""
    form = one.rule.form
    places = path_positions(form.keys)
    rows = np.asarray(one.confirmed, dtype=np.intp)
    match: list[tuple[str, Predicate]] = [
        ("path.len", Literal(table.value(int(table.columns["path.len"][rows[0]])) or "0"))
    ]
    for position in form.kept:
        slot = one.rule.slots[position]
        key = f"path.{places[position]}" if position in places else form.keys[position]
        if isinstance(slot, Fixed) and not is_token(slot.value) and REPEAT not in slot.value and key != "scheme":
            tokens = deep[key].parts(slot.value) if key in deep else None
            if tokens is None:
                match.append((key, Literal(slot.value)))
            else:
                match += [
                    (key + end, Literal(token)) for end, token in zip(ENDS, tokens, strict=True) if token is not None
                ]
    keys = [form.keys[position] for position in form.dropped]
    return [Proposal(tuple(match), key, dropped(table, rows, key)) for key in keys]
