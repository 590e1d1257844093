"""What learning has changed of the rules that act."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .book import RuleBook
from .lifecycle import Departure, Reason
from .model import Rule

__all__ = ["RuleChange", "RuleChanges", "changes", "in_short"]


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule that acts where others did before: ``before`` are those whose place it takes."""

    rule: Rule
    before: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleChanges:
    """The acting rules of some sites, by what has become of them.

    ``added``: there was none in their place; ``wider`` and ``narrower``: they take the place of others; ``dropped``: those
    that are gone, nothing in their place; ``unchanged``: the others.
    """

    added: tuple[Rule, ...] = ()
    wider: tuple[RuleChange, ...] = ()
    narrower: tuple[RuleChange, ...] = ()
    dropped: tuple[Rule, ...] = ()
    unchanged: tuple[Rule, ...] = ()

    def __str__(self) -> str:
        """Return the changes in short: ``+2 rules, 1 wider, -1 rule, 3 unchanged``."""
        return in_short(*map(len, (self.added, self.wider, self.narrower, self.dropped, self.unchanged)))

    def to_dict(self) -> dict[str, Any]:
        """Return the changes by the ids of the rules, as JSON has them; of those that take a place, whose it was."""
        found: dict[str, Any] = {
            name: [rule.id for rule in rules]
            for name, rules in (("added", self.added), ("dropped", self.dropped), ("unchanged", self.unchanged))
        }
        for name, some in (("wider", self.wider), ("narrower", self.narrower)):
            found[name] = {each.rule.id: [rule.id for rule in each.before] for each in some}
        return found

    def __bool__(self) -> bool:
        """Whether anything has changed."""
        return bool(self.added or self.wider or self.narrower or self.dropped)


def changes(
    before: RuleBook, after: RuleBook, departures: Iterable[Departure], sites: Sequence[str] | None = None
) -> RuleChanges:
    """Return what has changed from one rule book to another, in all sites or some.

    A rule leaves only by one of *departures*, which say what takes its place.
    """
    old, new = ({(rule.site, rule.id): rule for rule in _acting(book, sites)} for book in (before, after))
    left = {place: each for each in departures if (place := (each.rule.site, each.rule.id)) in old and place not in new}
    replaced: dict[tuple[str, str], list[Departure]] = {}
    for departure in left.values():
        for name in departure.by:
            replaced.setdefault((departure.rule.site, name), []).append(departure)
    fresh = [place for place in new if place not in old]
    moved = [
        (RuleChange(new[place], tuple(each.rule for each in its)), its)
        for place, its in replaced.items()
        if place in fresh
    ]
    return RuleChanges(
        added=tuple(new[place] for place in fresh if place not in replaced),
        wider=tuple(change for change, its in moved if all(each.reason is Reason.COVERED for each in its)),
        narrower=tuple(change for change, its in moved if any(each.reason is not Reason.COVERED for each in its)),
        dropped=tuple(each.rule for each in left.values() if not each.by),
        unchanged=tuple(rule for place, rule in old.items() if place not in left),
    )


def _acting(book: RuleBook, sites: Sequence[str] | None) -> list[Rule]:
    return [
        rule
        for site in book.sites
        if sites is None or site in sites
        for rule in book.for_site(site)
        if rule.status.acts
    ]


def in_short(added: int, wider: int, narrower: int, dropped: int, unchanged: int) -> str:
    """Return numbers of rules in short.

    >>> in_short(2, 1, 0, 1, 3), in_short(0, 0, 0, 0, 1), in_short(0, 0, 0, 0, 0)
    ('+2 rules, 1 wider, -1 rule, 3 unchanged', '1 rule unchanged', 'no rules')
    """
    said = [f"+{_rules(added)}"] if added else []
    said += [f"{number} {word}" for number, word in ((wider, "wider"), (narrower, "narrower")) if number]
    said += [f"-{_rules(dropped)}"] if dropped else []
    if unchanged:
        said.append(f"{unchanged} unchanged" if said else f"{_rules(unchanged)} unchanged")
    return ", ".join(said) or "no rules"


def _rules(number: int) -> str:
    return f"{number} rule" if number == 1 else f"{number} rules"
