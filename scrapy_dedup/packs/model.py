"""What a rule pack says: platforms and how they are told, and what keys mean under their URL templates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log

from ..rules.model import is_mixed, key_problem, operation_problem
from ..rules.operations import Ignore, Keep, Operation
from ..rules.predicates import Predicate

__all__ = ["DOCUMENTED", "ENOUGH", "Pack", "PackRule", "Platform"]

DOCUMENTED = 3
"""Sites that a public document counts as: it tells what the software does, and not what somebody has made of it."""
ENOUGH = 2.5
"""Log-odds that a pack's word counts as at most: with it two pages are enough, if none speaks against them. At 6 one
counterexample beside them would do no harm (:mod:`scrapy_dedup.learning.evidence.judge`)."""
_UNSEEN = 0.25
"""Sites of which nothing was seen that are reckoned with on either side."""


@dataclass(frozen=True, slots=True)
class Platform:
    """Software that many sites run, and the signs by which one of its sites is told.

    *generators* are beginnings of what pages or headers name as their generator; *templates* are URL templates
    (:mod:`.platforms`) that other software hardly has.
    """

    name: str
    kind: str = ""
    generators: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    source: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackRule:
    """What a key means under a URL template of a platform, on how many sites.

    ``platform`` is "" for any site, ``template`` "" for any URL. ``ops`` say which keys make no difference, as in a rule
    file; what is kept tells the page. ``sites`` are those that showed it, ``against`` those that showed the contrary.
    Raises ValueError for a key or an operation that no rule has.
    """

    ops: Mapping[str, Operation]
    platform: str = ""
    template: str = ""
    match: Mapping[str, Predicate] = field(default_factory=dict)
    sites: int = 0
    against: int = 0
    source: tuple[str, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "match", dict(sorted(self.match.items())))
        object.__setattr__(self, "ops", dict(sorted(self.ops.items())))
        problems = [*map(key_problem, self.match), *(operation_problem(key, one) for key, one in self.ops.items())]
        for problem in problems:
            if problem is not None:
                raise ValueError(problem)
        if is_mixed(self.ops) or any(key.startswith("alias.") for key in self.ops):
            raise ValueError("a pack has no aliases; leave them to the site")

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def name(self) -> tuple[str, str, str, str]:
        """What tells it from other rules: where it holds, and what it does."""
        return self.platform, self.template, repr(self.match), repr(self.ops)

    @property
    def is_kept(self) -> bool:
        """Whether it says that its keys tell the page."""
        return all(isinstance(operation, Keep) for operation in self.ops.values())

    @property
    def is_of_names(self) -> bool:
        """Whether it is about all that keys may say, wherever they stand."""
        return not (self.template or self.match) and all(one in (Ignore(), Keep()) for one in self.ops.values())

    @property
    def log_odds(self) -> float:
        """Log-odds that what the rule says is wrong on another site of the platform; negative where it is believed.

        >>> from scrapy_dedup.rules import Ignore
        >>> [round(PackRule({"q.a": Ignore()}, sites=n).log_odds, 1) for n in (0, 1, 2, 3, 9)]
        [0.0, -1.6, -2.2, -2.5, -2.5]
        """
        known = self.sites + (DOCUMENTED if self.source else 0)
        return max(-ENOUGH, min(ENOUGH, log((self.against + _UNSEEN) / (known + _UNSEEN))))

    def counted(self, sites: int, against: int) -> "PackRule":
        """Return the rule with other counts."""
        return replace(self, sites=sites, against=against)


@dataclass(frozen=True, slots=True)
class Pack:
    """A rule pack; *trusted* tells whether its rules act without evidence of the site."""

    name: str
    platforms: tuple[Platform, ...] = ()
    rules: tuple[PackRule, ...] = ()
    note: str = ""
    trusted: bool = False

    def of_platforms(self, names: Sequence[str]) -> tuple[PackRule, ...]:
        """Return the rules for a site of these platforms."""
        return tuple(rule for rule in self.rules if not rule.platform or rule.platform in names)
