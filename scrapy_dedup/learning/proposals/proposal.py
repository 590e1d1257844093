"""Proposals: operations under patterns, which learners make and validation accepts or rejects."""

from dataclasses import dataclass, field

from ...rules import Operation, Predicate
from ...urls import ValueClass

Match = tuple[tuple[str, Predicate], ...]

ANY_VALUE = ValueClass("any", 0, 1_000_000)
"""For a pattern that asks for any value of a key."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One operation under one pattern, the unit that validation accepts or rejects."""

    match: Match
    key: str
    operation: Operation
    joint: bool = False
    """It only holds together with the other joint proposals of its match (a bundle of keys)."""
    constant: bool = field(default=False, compare=False)
    """Its URLs are all one page."""

    def __post_init__(self) -> None:
        # Two learners say the same in whatever order they say it.
        object.__setattr__(self, "match", tuple(sorted(self.match, key=lambda part: part[0])))
