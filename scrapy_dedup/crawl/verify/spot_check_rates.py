"""Rates of spot checks: a share of the filtered requests of a rule, and more of those of a young one.

How many more says the judge (:mod:`scrapy_dedup.learning.lifetime.spot_checks`), by the witness groups of the rule and its spot checks.
Nothing is left to chance, so that two crawls of one site check alike: a hash of rule and
URL decides, and where it has passed over too many, the next one is taken. A rule may be right for some
values and wrong for others (``lang=en`` is what goes without saying, ``lang=de`` is not): of a young
one, each kind of difference is checked once. It may be right of one kind of pages and wrong of another, which has
few of its filtered requests: each of these has its own spot checks, too.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from xxhash import xxh3_64_intdigest

from ...rules.model import Evidence, Status

if TYPE_CHECKING:
    from ...rules.model import Rule

#: Filtered requests per page of a site of which the share that is asked for is taken: where many more URLs are made up than
#: there are pages, a share of these URLs would be more than the pages.
PER_PAGE: Final = 3
#: Kinds of differences of a young rule, each of which gets a spot check; they are looked for among its first filtered requests.
KINDS: Final = 6
#: Spot checks for the sake of kinds, with those that told nothing and are taken again.
TRIES: Final = 12
LOOKED_AT: Final = 200
#: Witness groups that a rule of the user's counts as having.
USERS: Final = 30
#: Longer values are told apart by their shape.
_SHORT: Final = 12
#: Of so many filtered requests of one kind of pages one is checked, then of so many times as many.
OF_KIND: Final = 10
RARER: Final = 4
#: Kinds of pages that are told apart, of each rule.
MOST_KINDS: Final = 16


@dataclass(slots=True)
class SpotCheckRate:
    """The spot checks of one rule, taken and due.

    Of a rule of which nothing is known the first five filtered requests are checked, of one that was learned from ten witness groups one of
    twelve, ever fewer as they agree, until that is the *share* that is asked for, which goes on as long as there is
    room (:func:`has_room`).
    """

    share: float
    #: Witness groups that agree, and spot checks whatever they showed: whether those that differ are noise, or refute the rule,
    #: is asked elsewhere, and a clock or a form that is shown for any URL is not to be fetched again and again.
    #: And witness groups that do not agree.
    agreeing: int = 0
    differing: int = 0
    #: Spot checks that are due, and that were made.
    due: float = 0.0
    taken: float = 0.0
    #: By kind of pages: filtered requests since the last spot check, and how many there are to be before the next one.
    _pages: dict[object, tuple[int, int]] = field(default_factory=dict)
    #: Filtered requests that it has looked at, and the kinds of differences that were among them.
    looked_at: int = 0
    kinds: set[int] = field(default_factory=set)
    tries: int = 0

    @classmethod
    def of(cls, share: float, agreeing: int, differing: int = 0, *, checked: bool = False) -> "SpotCheckRate":
        """Return the rate of a rule with so much evidence, *checked* if it had spot checks in other crawls."""
        return cls(share, agreeing, differing, looked_at=LOOKED_AT if checked else 0)

    @property
    def looks(self) -> bool:
        """Whether it asks for the kinds of differences."""
        return self.looked_at < LOOKED_AT and self.tries < TRIES and len(self.kinds) < KINDS

    def is_new(self, kind: int) -> bool:
        """Whether the next filtered request is of a kind that was not there before, and so is to be checked."""
        self.looked_at += 1
        if kind in self.kinds:
            return False
        self.kinds.add(kind)
        self.tries += 1
        return True

    def showed_nothing(self, kind: int) -> None:
        """Note that the spot check of a kind could not be compared: the next request of the kind is to be one."""
        self.kinds.discard(kind)

    def takes(self, rule: str, url: str, pages: object = None, *, room: bool = True) -> bool:
        """Decide on the next filtered request, which is for *url*, one of these *pages*; without *room* ever fewer are taken."""
        from ...learning.lifetime.spot_checks import (
            spot_check_share,  # its libraries are not needed before there are rules
        )

        rate = max(self.share if room else 0.0, spot_check_share(self.agreeing, self.differing))
        self.due += rate
        lucky = xxh3_64_intdigest(f"{rule} {url}".encode("utf-8", "surrogatepass")) < rate * 2**64
        taken = self.due - self.taken >= 1 - 1e-9 or (lucky and self.taken < self.due)
        if pages in self._pages or len(self._pages) < MOST_KINDS:
            since, patience = self._pages.get(pages, (0, OF_KIND))
            taken = taken or since + 1 >= patience
            self._pages[pages] = (0, patience * RARER) if taken else (since + 1, patience)
        self.taken += taken
        self.agreeing += taken
        return taken

    def given(self) -> None:
        """Count a spot check that was made for the sake of another rule."""
        self.taken += 1
        self.agreeing += 1


def rate_of_rule(share: float, rule: "Rule | None") -> SpotCheckRate:
    """Return the rate of a rule by its evidence; None is one that is not in use any more."""
    if rule is None or rule.status is Status.MANUAL:
        return SpotCheckRate.of(share, USERS, checked=True)
    known = rule.evidence or Evidence()
    agreeing = known.samples - known.refuted
    return SpotCheckRate.of(share, known.groups + agreeing, known.counterexamples, checked=agreeing > 0)


def kind_of(differences: Iterable[tuple[str, str | None, str | None]]) -> int:
    """Return the kind of a filtered request: what tells its URL and its page apart (key, and both values), numbers being alike.

    Which of the two has which value makes no difference: that they are one page is said of both.

    >>> de, fr, two, ten = [("q.lang", "de", None)], [("q.lang", "fr", None)], [("q.n", "2", None)], [("q.n", "10", None)]
    >>> kind_of(de) == kind_of(fr), kind_of(two) == kind_of(ten), kind_of(de) == kind_of([("q.lang", None, "de")])
    (False, True, True)
    """
    return hash(frozenset((key, frozenset((shape_of(one), shape_of(two)))) for key, one, two in differences))


def shape_of(value: str | None) -> str | None:
    """Return what a value is like: itself if it is a short word, otherwise whether it is a number."""
    if value is None or (len(value) <= _SHORT and value.isalpha()):
        return value
    return "*" if re.search("[^0-9]", value) else "0"


def has_room(share: float, pages: int, checks: int) -> bool:
    """Whether a site that has sent so many *pages*, *checks* among them, is asked for the *share* of its filtered requests.

    >>> has_room(0.02, 1_000, 60), has_room(0.02, 1_000, 62), has_room(1, 1, 1_000)
    (True, False, True)
    """
    return share >= 1 or checks * (1 - share) < PER_PAGE * share * pages
