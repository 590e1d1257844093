"""A generalised rule that is refuted, made less general until it holds.

The document rejects a rule at its first counterexample and leaves it at that. What was marked a
variable, or ``*``, may hold for some values only - ``sort`` is noise where ``route`` is ``product``,
``page`` is where it is ``1`` -, so that the rules of the classes are parted by the value that tells
counterexamples from confirmations best, and each part is generalised and tested by itself.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from ...evidence.shares import worth_asking
from .class_rules import ClassRules
from .generalization import Rows, generalised, spread_of
from .rewriting import Form, RewriteRule
from .testing import Groups, Index, groups_of

MIN_CLASSES = 2
"""Classes that a rule over classes needs."""
MIN_URLS = 30
"""URLs that a rule of a single class needs."""
MAX_VALUES = 12
"""Different values of a part at most, for it to be asked for one by one."""
MAX_PARTED = 2


def refined(rules: ClassRules, index: Index) -> Iterator[RewriteRule]:
    """Yield rules of one form that hold on the indexed URLs, the most general ones that were found."""
    yield from _refined(rules.form, rules.rows, index, {})


def _refined(form: Form, rows: Rows, index: Index, pinned: Mapping[int, str]) -> Iterator[RewriteRule]:
    classes = len({number for _, number in rows})
    if classes < MIN_CLASSES and (len(rows) < MIN_URLS or not pinned.keys() <= set(form.kept)):
        return
    (spread,) = spread_of([ClassRules(form, list(rows))]).values()
    rule = generalised(form, rows, spread, pinned)
    groups = groups_of(rule, index)
    targets = index.targets(form)
    good, bad = _outcomes(groups, targets, index)
    if worth_asking(bad, good + bad):
        yield rule
        return
    if len(pinned) >= MAX_PARTED:
        return
    position = _telling(form, rows, index, pinned=pinned, groups=groups)
    if position is None:
        return
    parts = defaultdict(list)
    for values, number in rows:
        parts[form.lower(position, values[position])].append((values, number))
    for value, part in sorted(parts.items()):
        yield from _refined(form, part, index, {**pinned, position: value})


def _outcomes(groups: Groups, targets: Groups, index: Index) -> tuple[int, int]:
    """Return the number of informative groups of one content, and that of the others."""
    good = bad = 0
    for right, members in groups.items():
        every = {*members, *targets.get(right, ())}
        if len(every) > 1:
            same = len({index.content[row] for row in every}) == 1
            good, bad = good + same, bad + (not same)
    return good, bad


def _telling(form: Form, rows: Rows, index: Index, *, pinned: Mapping[int, str], groups: Groups) -> int | None:
    """Return the position whose values, one by one, leave most groups of one content and none of several."""
    targets = index.targets(form)
    candidates = []
    for position in range(len(form.keys)):
        values = {form.lower(position, values[position]) for values, _ in rows}
        enough = 1 if position not in form.kept else 2
        if position not in pinned and enough <= len(values) <= MAX_VALUES:
            candidates.append((position, values))
    best: tuple[int, int] | None = None
    for position, wanted in candidates:
        clean: Counter[str] = Counter()
        wrong: set[str] = set()
        for right, members in groups.items():
            by_value: defaultdict[str, list[int]] = defaultdict(list)
            for row in members:
                by_value[form.lower(position, index.members[row].segments[position].value)].append(row)
            for value, some in by_value.items():
                every = {*some, *targets.get(right, ())}
                if value in wanted and len(every) > 1:
                    if len({index.content[row] for row in every}) == 1:
                        clean[value] += 1
                    else:
                        wrong.add(value)
        merit = sum(count for value, count in clean.items() if value not in wrong)
        if merit and (best is None or merit > best[0]):
            best = merit, position
    return best[1] if best else None
