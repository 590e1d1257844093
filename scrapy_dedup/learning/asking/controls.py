"""Controls: pages of a site that were fetched again, and the like pages that they leave undecided.

What differs between two responses to one URL is not what the page is. Of like pages that differ, those are *undecided*
that may be equal but for what does not last: as far as no control shows that pages of their kind do not change.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...masks.kinds import kind_of
from ...masks.model import Mask
from ...observation import APART, AT_ONCE, KeptPage
from ...pages.versions import Version
from ...urls import normal_form
from .like_pairs import like_pairs

SETTLED = 4
"""Kinds of pages whose controls show no change, where no others have any: on this site everything lasts."""


@dataclass(frozen=True, slots=True)
class SeenPage:
    """A page as it was seen last, at *url* as it was requested then.

    ``seen`` holds the time of each response, in seconds since 1970, with the fingerprint of what lasts of it. ``late`` is the number of its
    responses since the latest pause between crawls. ``merged``: its URLs are one page by rules, and show the same only without what
    does not last. ``is_control``: one of its URLs was fetched again, and not at once.
    """

    url: str
    version: Version
    seen: tuple[tuple[float, str], ...]
    late: int = 1
    merged: bool = False
    is_control: bool = False

    @property
    def kind(self) -> str:
        """The kind of page."""
        return kind_of(self.url)

    @property
    def lasting(self) -> str:
        """The fingerprint of what lasts of its last response."""
        return self.seen[-1][1]

    @property
    def is_settled(self) -> bool:
        """Whether what lasts of all its responses is the same."""
        return len({fingerprint for _, fingerprint in self.seen}) == 1


@dataclass(frozen=True, slots=True)
class UnequalPair:
    """Two like pages that are not equal under the mask, and the share of their own words that they have in common."""

    one: SeenPage
    other: SeenPage
    share: float


def seen_pages(kept: Sequence[KeptPage], mask: Mask | None, key_of: Callable[[str], str]) -> list[SeenPage]:
    """Return the pages of a site, sorted by their names; URLs of one key are one page.

    *kept* come in any order, under the URLs as they were requested. Linear in the blocks.
    """
    responses: dict[str, list[KeptPage]] = {}
    for each in kept:
        responses.setdefault(key_of(normal_form(each.url)), []).append(each)
    times = sorted(each.time for each in kept)
    since = max((late for early, late in pairwise(times) if late - early > APART), default=0.0)
    mask, plain = mask or Mask(), Mask()
    pages = []
    for _, found in sorted(responses.items()):
        found.sort(key=lambda each: (each.time, each.url))
        seen = tuple([(each.time, mask.sketch(each.version, each.url).bag) for each in found])
        latest = {
            each.url: (plain.sketch(each.version, each.url).bag, bag)
            for each, (_, bag) in zip(found, seen, strict=True)
        }
        shown, lasting = (len(set(bags)) for bags in zip(*latest.values(), strict=True))
        late = sum(each.time >= since for each in found)
        pages.append(
            SeenPage(
                found[-1].url, found[-1].version, seen, late, merged=shown > lasting, is_control=_is_control(found)
            )
        )
    return pages


def _is_control(responses: Sequence[KeptPage]) -> bool:
    """Return whether a URL was fetched again, and not at once."""
    first: dict[str, float] = {}
    return any(each.time - first.setdefault(each.url, each.time) >= AT_ONCE for each in responses)


def unequal_pairs(pages: Iterable[SeenPage]) -> list[UnequalPair]:
    """Return the like pairs of pages that differ, those with the most in common first; of pages that are equal one counts."""
    distinct: dict[str, SeenPage] = {}
    for page in sorted(pages, key=lambda page: page.url):
        distinct.setdefault(page.lasting, page)
    some = list(distinct.values())
    pairs = like_pairs([page.version for page in some])
    return [UnequalPair(some[one], some[other], share) for one, other, share in pairs]


def undecided(pages: Sequence[SeenPage], pairs: Sequence[UnequalPair], *, masked: bool) -> list[UnequalPair]:
    """Return the *pairs* of which it is not known that they differ in their content.

    *masked* tells whether the mask of the site hides anything. Where nothing does, and a few kinds of pages have been seen to last,
    all others do.
    """
    settled, restless = settled_kinds(pages)
    if not masked and not restless and len(settled) >= SETTLED:
        return []
    return [pair for pair in pairs if not {pair.one.kind, pair.other.kind} <= settled]


def settled_kinds(pages: Iterable[SeenPage]) -> tuple[set[str], set[str]]:
    """Return the kinds of pages all of whose controls are equal under the mask, and those of other controls."""
    controls = [page for page in pages if page.is_control]
    restless = {page.kind for page in controls if not page.is_settled}
    return {page.kind for page in controls} - restless, restless
