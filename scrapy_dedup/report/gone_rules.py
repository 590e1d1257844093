"""Rules that have filtered URLs and are not in the rule files any more, and the rules that are in their place."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from ..rules.canonical import NORMAL_FORM

if TYPE_CHECKING:
    from ..rules.book import RuleBook
    from ..store.rows import DiscardRow

#: Filtered URLs of a rule that tell what is in its place.
_LOOKED_AT: Final = 20


def successors_of(rows: "Iterable[DiscardRow]", book: "RuleBook") -> dict[tuple[str, str], tuple[str, ...]]:
    """Return (site, id) of each rule that is gone -> ids of the rules that filter most of the same URLs now, if any do."""
    known: dict[str, set[str]] = {}
    found: defaultdict[tuple[str, str], list[DiscardRow]] = defaultdict(list)
    for row in rows:
        if row.site not in known:
            known[row.site] = {NORMAL_FORM, *(rule.id for rule in book.for_site(row.site))}
        if row.rule not in known[row.site]:
            some = found[row.site, row.rule]
            if len(some) < _LOOKED_AT:
                some.append(row)
    return {rule: _successors(some, book) for rule, some in found.items()}


def _successors(rows: "list[DiscardRow]", book: "RuleBook") -> tuple[str, ...]:
    counts: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        if row.taken_for:
            one, two = book.canonical(row.url), book.canonical(row.taken_for)
            counts[one.filtering_rules(two) if one.key == two.key else ()] += 1
    successors = counts.most_common(1)[0][0] if counts else ()
    return tuple(rule for rule in successors if rule != NORMAL_FORM)


def fate_of(rule: tuple[str, str], successors: Mapping[tuple[str, str], tuple[str, ...]]) -> str:
    """Return in words what became of a rule that is gone; "" for any other.

    >>> fate_of(("a.test", "0badcafe"), {("a.test", "0badcafe"): ("f00dcafe",)})
    'replaced by f00dcafe'
    >>> fate_of(("a.test", "0badcafe"), {("a.test", "0badcafe"): ()}), fate_of(("a.test", "f00dcafe"), {})
    ('no longer there', '')
    """
    if rule not in successors:
        return ""
    return f"replaced by {' and '.join(successors[rule])}" if successors[rule] else "no longer there"
