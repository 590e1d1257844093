"""Which discards are fetched all the same: a share of them, and more of those of a young rule.

Nothing is left to chance, so that two crawls of one site sample alike: a hash of rule and
URL decides, and where it has passed over too many, the next one is taken.
"""

from dataclasses import dataclass
from typing import Final

from xxhash import xxh3_64_intdigest

#: Of the first discards of a young rule, one of so many is a sample.
YOUNG: Final = 5
#: Discards per page of a site of which the share that is asked for is taken: where many more URLs are made up than
#: there are pages, a share of these URLs would be more than the pages.
PER_PAGE: Final = 3
#: Samples that a rule which was sampled in earlier crawls, or is the user's, counts as having.
HEAD_START: Final = 2.0


@dataclass(slots=True)
class Sampling:
    """The sampling of the discards of one rule.

    The n-th sample is drawn of about ``YOUNG * n * n`` discards, until that is the *share*
    that is asked for: of the first 5 discards there is always one, of the first 50 there
    are 3, and with 0.02 one of 50 follows, as long as the site has :func:`room`.
    """

    share: float
    #: Samples that are due, and that were taken.
    due: float = 0.0
    taken: float = 0.0

    @classmethod
    def of(cls, share: float, earlier: float) -> "Sampling":
        """Return the sampling of a rule that had *earlier* samples in other crawls."""
        start = min(HEAD_START, earlier)
        return cls(share, start, start)

    def takes(self, rule: str, url: str, *, room: bool = True) -> bool:
        """Decide on the next discard, which is that of *url*; without *room* ever fewer are taken."""
        rate = max(self.share if room else 0.0, 1 / (YOUNG * max(1.0, self.due) ** 2))
        self.due += rate
        lucky = xxh3_64_intdigest(f"{rule} {url}".encode("utf-8", "surrogatepass")) < rate * 2**64
        taken = self.due - self.taken >= 1 - 1e-9 or (lucky and self.taken < self.due)
        self.taken += taken
        return taken

    def given(self) -> None:
        """Count a sample that was taken for the sake of another rule."""
        self.taken += 1


def has_room(share: float, pages: int, samples: int) -> bool:
    """Whether a site that has sent so many *pages*, *samples* among them, is asked for the *share* of its discards.

    >>> has_room(0.02, 1_000, 60), has_room(0.02, 1_000, 62), has_room(1, 1, 1_000)
    (True, False, True)
    """
    return share >= 1 or samples * (1 - share) < PER_PAGE * share * pages
