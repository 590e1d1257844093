"""What a rule pack says: what keys mean, and under which URL templates."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log

from ..rules.model import is_mixed, key_problem, operation_problem
from ..rules.operations import Ignore, Keep, Operation
from ..rules.predicates import Predicate

__all__ = ["Pack", "PackRule"]

DOCUMENTED = 3
"""Sites that a public document counts as: it tells what the software does, and not what somebody has made of it."""
ENOUGH = 2.5
"""Log-odds that a pack's word counts as at most: with it two pages are enough, if none speaks against them. At 6 one
counterexample beside them would do no harm (:mod:`scrapy_dedup.learning.evidence.judge`)."""
_UNSEEN = 0.25
"""Sites of which nothing was seen that are reckoned with on either side."""


@dataclass(frozen=True, slots=True)
class PackRule:
    """What keys mean, on how many sites.

    ``template`` is where: the last segment of a path (``viewtopic.php``), one segment anywhere (``/product-category/``), "" for any
    URL. ``ops`` say which keys make no difference, as in a rule file; what is kept tells the page. ``sites`` are those that showed
    it, ``against`` those that showed the contrary. Raises ValueError for a key or an operation that no rule has.
    """

    ops: Mapping[str, Operation]
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
        """Log-odds that what the rule says is wrong on another site; negative where it is believed.

        >>> from scrapy_dedup.rules import Ignore
        >>> [round(PackRule({"q.a": Ignore()}, sites=n).log_odds, 1) for n in (0, 1, 2, 3, 9)]
        [0.0, -1.6, -2.2, -2.5, -2.5]
        """
        known = self.sites + (DOCUMENTED if self.source else 0)
        return max(-ENOUGH, min(ENOUGH, log((self.against + _UNSEEN) / (known + _UNSEEN))))


@dataclass(frozen=True, slots=True)
class Pack:
    """A rule pack."""

    name: str
    rules: tuple[PackRule, ...] = ()
    note: str = ""
