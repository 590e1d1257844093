"""What a published method decides of one site: its own function of URLs, and what a rule file can say of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...rules import Literal, OneOf, Operation, Predicate
from ..evidence.arrays import Flags
from ..proposals.proposal import Match


def some_of(values: Iterable[str]) -> Predicate:
    """Return the predicate that a key has one of some values."""
    found = sorted(set(values))
    return Literal(found[0]) if len(found) == 1 else OneOf(found)


class NotSayable(Exception):
    """A rule that the common representation does not have; the message says what it asks for."""


@dataclass(frozen=True, slots=True)
class Formation:
    """One rule of a method, as keys and operations, and the URLs of the sample that it acts on.

    ``match``: what its URLs look like; ``ops``: key -> operation, each on the value as it came; ``own``: a flag for each URL
    of the sample; ``kept``: further patterns of URLs that the rule leaves alone.
    """

    match: Match
    ops: Mapping[str, Operation]
    own: Flags = field(repr=False, compare=False)
    kept: Sequence[Match] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What a method decides of one site, by the rule of its document alone.

    ``canonical``: URL -> the text that stands for its page, by the method's own rules; ``formations``: these rules in the
    common representation; ``left_out``: how many of them it cannot say, by reason; ``exclusive``: whether one rule acts
    on a URL, and not all that match. ``raw``, ``qualified`` and ``deployed`` are the rules that were candidates, passed
    the method's test, and act; None where the method counts none.
    """

    canonical: Callable[[str], str]
    formations: Sequence[Formation]
    left_out: Mapping[str, int] = field(default_factory=dict)
    exclusive: bool = True
    raw: int | None = None
    qualified: int | None = None
    deployed: int | None = None
