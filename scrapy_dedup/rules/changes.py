"""What learning has changed of the rules that act."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .book import RuleBook
from .lifecycle import Departure, Reason
from .model import Rule

__all__ = ["RuleChange", "RuleChanges", "changes"]


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule that acts where others did before: ``before`` are those whose place it takes."""

    rule: Rule
    before: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleChanges:
    """The acting rules of some sites, by what has become of them.

    ``added``: there was none in their place; ``wider`` and ``narrower``: they take the place of others; ``dropped``: those
    that are gone, nothing in their place; ``unchanged``: the number of the others.
    """

    added: tuple[Rule, ...] = ()
    wider: tuple[RuleChange, ...] = ()
    narrower: tuple[RuleChange, ...] = ()
    dropped: tuple[Rule, ...] = ()
    unchanged: int = 0

    def __str__(self) -> str:
        """Return the changes in short: ``+2 rules, 1 wider, -1 rule, 3 unchanged``."""
        said = []
        if self.added:
            said.append(f"+{_rules(len(self.added))}")
        said += [f"{len(some)} {word}" for word, some in (("wider", self.wider), ("narrower", self.narrower)) if some]
        if self.dropped:
            said.append(f"-{_rules(len(self.dropped))}")
        if self.unchanged or not said:
            said.append(f"{self.unchanged} unchanged" if said else f"{_rules(self.unchanged)} unchanged")
        return ", ".join(said)

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
        unchanged=len(old) - len(left),
    )


def _acting(book: RuleBook, sites: Sequence[str] | None) -> list[Rule]:
    return [
        rule
        for site in book.sites
        if sites is None or site in sites
        for rule in book.for_site(site)
        if rule.status.acts
    ]


def _rules(number: int) -> str:
    return f"{number} rule" if number == 1 else f"{number} rules"
