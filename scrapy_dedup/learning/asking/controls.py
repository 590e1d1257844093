"""Controls: pages of a site that were fetched again, and the like pages that they leave undecided.

What differs between two responses to one URL is not what the page is. Of like pages that differ, those are *undecided*
that may be equal but for what is transient: as far as no control shows that pages of their URL template do not change.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ...content.sketch import sketch_of_texts
from ...content.versions import Version
from ...masks.model import Mask, Template
from ...observation import APART, AT_ONCE
from ...urls import normal_form
from ...urls.templates import template_of
from .like_pairs import like_pairs

SETTLED = 4
"""URL templates whose controls show no change, where no others have any: nothing is transient on the site."""


@dataclass(frozen=True, slots=True)
class SeenPage:
    """A page as it was seen last, at *url* as it was requested then.

    ``seen`` holds the time of each response, in seconds since 1970, with the fingerprint of what is compared of it under
    the mask, without what was only carried over to it, too; ``verified`` is that of the last response with this.
    ``late`` is the number of its responses since the latest pause between crawls. ``unproven``: its URLs are one page by
    rules, and show the same only without what no page fetched again, of their URL templates or with the same places, has
    shown to change.
    """

    url: str
    version: Version
    seen: tuple[tuple[float, Hashable], ...]
    verified: Hashable
    late: int = 1
    unproven: bool = False

    @property
    def carried(self) -> Hashable:
        """The compared fingerprints of the last response, also without carried-over content."""
        return self.seen[-1][1]

    @property
    def waits(self) -> bool:
        """Whether something of it is transient only if it is so on pages like it."""
        return self.verified != self.carried

    @property
    def is_control(self) -> bool:
        """Whether it was fetched again, and not at once."""
        return self.seen[-1][0] - self.seen[0][0] >= AT_ONCE

    @property
    def is_settled(self) -> bool:
        """Whether all its responses are equal under the mask."""
        return len({fingerprint for _, fingerprint in self.seen}) == 1


@dataclass(frozen=True, slots=True)
class UnequalPair:
    """Two like pages that are not equal under the mask, and the share of their own words that they have in common."""

    one: SeenPage
    other: SeenPage
    share: float


def seen_pages(
    kept: Sequence[tuple[str, float, Version]], mask: Mask | None, key_of: Callable[[str], str]
) -> list[SeenPage]:
    """Return the pages of a site, sorted by their names; URLs of one key are one page.

    *kept* is (URL as it was requested, seconds since 1970, version), in any order. Linear in the blocks.
    """
    responses: dict[str, list[tuple[float, str, Version]]] = {}
    for url, at, version in kept:
        responses.setdefault(key_of(normal_form(url)), []).append((at, url, version))
    proven = _proven(mask, kept) if mask is not None else None
    times = sorted(at for found in responses.values() for at, _, _ in found)
    since = max((late for early, late in pairwise(times) if late - early > APART), default=0.0)
    pages = []
    for _, found in sorted(responses.items()):
        found.sort(key=lambda response: response[:2])
        seen = tuple([(at, _fingerprint(mask, version, url, carried=True)) for at, url, version in found])
        _, url, version = found[-1]
        unproven = False
        if len({url for _, url, _ in found}) > 1:
            latest = {url: (version, carried) for (_, url, version), (_, carried) in zip(found, seen, strict=True)}
            shown = {_fingerprint(proven, version, url, carried=False) for url, (version, _) in latest.items()}
            unproven = len(shown) > len({carried for _, carried in latest.values()})
        verified = _fingerprint(mask, version, url, carried=False)
        pages.append(SeenPage(url, version, seen, verified, sum(at >= since for at, _ in seen), unproven))
    return pages


def _proven(mask: Mask, kept: Sequence[tuple[str, float, Version]]) -> Mask:
    """Return *mask* so that it hides nothing on pages unless a page fetched again is of their URL template or has their places.

    Nor does it where only the rules say that one was: that of which they took URLs for one page.
    """
    fetched: dict[str, list[tuple[float, Version]]] = {}
    for url, at, version in kept:
        fetched.setdefault(url, []).append((at, version))
    again = {
        url: found[0][1]
        for url, found in fetched.items()
        if max(at for at, _ in found) - min(at for at, _ in found) >= AT_ONCE
    }
    return replace(
        mask,
        paths=tuple([path if path.state else replace(path, typed=False) for path in mask.paths]),
        templates=frozenset(map(template_of, again)) | {()},  # none at all would stand for every one
        layouts=frozenset([mask.layout(version.blocks) for version in again.values()]),
    )


def _fingerprint(mask: Mask | None, version: Version, url: str, *, carried: bool) -> str:
    if mask is None:
        return sketch_of_texts(text for _, attribute, text in version.blocks if not attribute).bag
    return mask.masked(version, url=url, carried=carried)


def unequal_pairs(pages: Iterable[SeenPage]) -> list[UnequalPair]:
    """Return the like pairs of pages that differ, those with the most in common first; of pages that are equal one counts."""
    distinct: dict[Hashable, SeenPage] = {}
    for page in sorted(pages, key=lambda page: page.url):
        distinct.setdefault(page.carried, page)
    some = list(distinct.values())
    pairs = like_pairs([page.version for page in some])
    return [UnequalPair(some[one], some[other], share) for one, other, share in pairs]


def undecided(pages: Sequence[SeenPage], pairs: Sequence[UnequalPair], *, masked: bool) -> list[UnequalPair]:
    """Return the *pairs* of which it is not known that they differ in their content.

    *masked* tells whether the mask of the site hides anything. Where nothing does, and a few templates have shown
    nothing transient, nothing is on the others.
    """
    settled, restless = settled_templates(pages)
    if not masked and not restless and len(settled) >= SETTLED:
        return []
    return [pair for pair in pairs if not {template_of(pair.one.url), template_of(pair.other.url)} <= settled]


def settled_templates(pages: Iterable[SeenPage]) -> tuple[set[Template], set[Template]]:
    """Return the URL templates all of whose controls are equal under the mask, and those of other controls."""
    controls = [page for page in pages if page.is_control]
    restless = {template_of(page.url) for page in controls if not page.is_settled}
    return {template_of(page.url) for page in controls} - restless, restless
