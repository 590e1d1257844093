"""Rules of single classes generalised over classes by variables.

Source: "url-normalization-rule-inference", detailed description, step (d), and FIG. 2, step 240: rules
whose right sides are similar - the same segments, some with other values - become one, in which what
differs is a variable on both sides.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from .class_rules import ClassRules, Values
from .rewriting import Anything, Fixed, Form, RewriteRule, Slot, Variable, kind_of

Rows = Sequence[tuple[Values, int]]
"""(Values of a URL on the left side, its class)."""
Spread = dict[int, set[str]]
"""Place on the right side -> the values that were met there."""


def spread_of(every: Iterable[ClassRules]) -> dict[tuple[str, tuple[str, ...]], Spread]:
    """Return origin and keys of the right sides -> how these differ: what has the same keys is similar."""
    found: dict[tuple[str, tuple[str, ...]], Spread] = {}
    for rules in every:
        form = rules.form
        spread = found.setdefault((form.origin, form.right_keys), {place: set() for place in range(len(form.kept))})
        for values, _ in rules.rows:
            for place, value in enumerate(form.right_values(values)):
                spread[place].add(value)
    return found


def generalised(form: Form, rows: Rows, spread: Spread, pinned: Mapping[int, str] | None = None) -> RewriteRule:
    """Return the rule that says what the rules of *rows*, of one form, say together.

    *spread* tells where the right sides of similar rules differ; *pinned* are positions of the left
    side that must have a value of their own. A segment that is dropped is ``*``, but if it is no
    ``name=value`` only where it differs between the rows.
    """
    names = _names()
    place_of = {position: place for place, position in enumerate(form.kept)}
    literal = set(form.asked)
    slots: list[Slot] = []
    for position in range(len(form.keys)):
        if pinned and position in pinned:
            slots.append(Fixed(pinned[position]))
            continue
        values = {form.lower(position, values[position]) for values, _ in rows}
        if position in place_of:
            values |= spread[place_of[position]]
        if position in literal and len(values) == 1:
            slots.append(Fixed(values.pop()))
        elif position in place_of:
            slots.append(Variable(next(names), kind_of(values)))
        else:
            slots.append(Anything(kind_of(values)))
    return RewriteRule(form, tuple(slots))


def _names() -> Iterator[str]:
    """Yield a, b, .., z, a1, b1, .."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    number = ""
    while True:
        yield from (letter + number for letter in letters)
        number = str(int(number or 0) + 1)
