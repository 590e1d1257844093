"""The rewrite rules of single classes.

Source: "url-normalization-rule-inference", detailed description, step (c), and FIG. 2, step 230: from
each URL of a class to its representative; the values of ``name=value`` segments that are not in it are
``*``.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .representatives import Method, by_intersection, case_varies
from .rewriting import Anything, Fixed, Form, RewriteRule, Slot, kind_of
from .segments import SegmentedUrl

Values = tuple[str, ...]


@dataclass(slots=True)
class ClassRules:
    """The rules of single classes that have one form.

    ``rows``: (values of a URL on the left side, its class). The rule of a row asks for its values at
    ``form.asked``; the rest of its left side is ``*``.
    """

    form: Form
    rows: list[tuple[Values, int]] = field(default_factory=list)

    @property
    def asked(self) -> dict[Values, int]:
        """The values that the rules ask for, each once, with a class that has them."""
        return {asked_values(self.form, values): number for values, number in self.rows}

    @property
    def support(self) -> int:
        """The number of different classes."""
        return len({number for _, number in self.rows})


def rules_of_classes(
    members: Sequence[SegmentedUrl],
    content: Sequence[int],
    *,
    method: Method = by_intersection,
    fold_case: bool = False,
) -> list[ClassRules]:
    """Return the rules of all classes of two URLs or more, those of one form together.

    ``content[i]`` is the class of ``members[i]``; URLs of different origins are of different classes
    (the document learns per web server). Linear in the number of segments.
    """
    classes: defaultdict[tuple[str, int], list[SegmentedUrl]] = defaultdict(list)
    for member, number in zip(members, content, strict=True):
        classes[member.origin, number].append(member)
    found: dict[Form, ClassRules] = {}
    for (origin, number), urls in classes.items():
        if len(urls) < 2:
            continue
        alignments = method(urls, fold_case)
        lowered_places = case_varies(urls, alignments) if fold_case else frozenset()
        for url, kept in zip(urls, alignments, strict=True):
            lowered = frozenset([kept[place] for place in lowered_places])
            if len(kept) == len(url.segments) and not lowered and _in_order(kept):
                continue  # it is the representative
            if not kept:
                continue  # the URLs have nothing in common
            form = Form(origin, url.keys, kept, lowered)
            rules = found.get(form)
            if rules is None:
                rules = found[form] = ClassRules(form)
            rules.rows.append((url.values, number))
    return list(found.values())


def rule_of_class(rules: ClassRules, asked: Values) -> RewriteRule:
    """Return the rule with these values."""
    fixed: Mapping[int, str] = dict(zip(rules.form.asked, asked, strict=True))
    slots: list[Slot] = []
    for position in range(len(rules.form.keys)):
        if position in fixed:
            slots.append(Fixed(fixed[position]))
        else:
            slots.append(Anything(kind_of(values[position] for values, _ in rules.rows)))
    return RewriteRule(rules.form, tuple(slots))


def asked_values(form: Form, values: Values) -> Values:
    """Return the values of a URL that the rule of its class asks for."""
    return tuple([form.lower(position, values[position]) for position in form.asked])


def _in_order(kept: tuple[int, ...]) -> bool:
    return all(a < b for a, b in pairwise(kept))
