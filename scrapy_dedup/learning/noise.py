"""Which groups of several contents may be one page and noise: a clock, a counter, a cut connection."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from .evidence import explained
from .judgement import Judgement


@dataclass(frozen=True, slots=True)
class Noise:
    """What the noise of a site looks like in the groups of a judgement.

    ``twos`` are the groups of two URLs, ``odd`` the contents of one URL that stand beside one page among
    the ``urls`` of larger groups.
    """

    twos: int
    odd: int
    urls: int

    @classmethod
    def of(cls, judgement: Judgement) -> "Noise":
        """Return the noise that a judgement shows."""
        merged = judgement.merged
        beside = [members for members in judgement.bad if len(members) > 2 and judgement.is_lone(members)]
        return cls(
            twos=sum(len(members) == 2 for members in merged),
            odd=sum(judgement.lost_in(members) for members in beside),
            urls=sum(len(members) for members in (*beside, *judgement.clean) if len(members) > 2),
        )

    def groups(self, judgement: Judgement) -> AbstractSet[int]:
        """Return the numbers of the bad groups of a judgement that may be one page each, and noise."""
        bad = judgement.bad
        lone = {number for number, members in enumerate(bad) if judgement.is_lone(members)}
        pairs = {number for number, members in enumerate(bad) if judgement.is_lone_pair(members)}
        return lone | pairs if explained(len(pairs), self.twos, self.odd, self.urls) else lone
