"""Duplicate clusters: which observed URLs are the same page.

Identity is the page's visible text: its words in any order where the observation has that
fingerprint (sort orders of one list are one page), in order otherwise. Redirects and declared
canonical URLs are weaker evidence of another kind and never make a cluster.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..content.sketch import Mask
from ..observation import Observation
from ..urls import normal_form

MIN_WORDS = 6
"""A page with fewer words is no evidence: that two such pages are equal says nothing."""

NO_EVIDENCE = -1
APART = 3600.0
"""Seconds between two responses that are taken to be of different crawls."""


class Masks(Protocol):
    """Gives the mask of passing content of a page, if its site has one."""

    def __call__(self, url: str) -> Mask | None:
        """Return the mask of the page at *url*, or None."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """The URLs of one site, each once in its normal form, and their duplicate clusters.

    ``content[i]`` is the cluster of ``urls[i]``, a number from 0, or -1 where the page is no
    evidence. ``noise`` tells how often two responses to the same normal form differed: what no rule
    can be blamed for.
    """

    urls: Sequence[str]
    content: Sequence[int]
    noisy: int = 0
    compared: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    """URLs that are no evidence, by reason."""
    confirmed: frozenset[str] | None = None
    """URLs that were the same page at two times, an hour or more apart; None where no times are known."""

    @property
    def pages(self) -> int:
        """Return the number of distinct pages."""
        return len(set(self.content) - {NO_EVIDENCE})

    @property
    def duplicates(self) -> int:
        """Return the number of URLs that lead to a page another URL leads to."""
        return sum(1 for number in self.content if number != NO_EVIDENCE) - self.pages


def clusters(observations: Iterable[Observation], masks: Masks | None = None) -> Clusters:
    """Return the duplicate clusters of the observations of one site, in O(n).

    Of several responses to one URL the latest counts (the last one, where times are equal).
    """
    identity: dict[str, str] = {}
    latest: dict[str, float] = {}
    since: dict[str, float] = {}
    confirmed: set[str] = set()
    left_out: Counter[str] = Counter()
    noisy = compared = 0
    timed = False
    for observation in observations:
        timed = timed or observation.time is not None
        reason = no_evidence(observation)
        if reason:
            left_out[reason] += 1
            continue
        url = normal_form(observation.url)
        if url == observation.url:
            url = observation.url  # one text, and not two that are the same
        page = page_identity(observation, masks)
        if url in identity:
            compared += 1
            noisy += identity[url] != page
            if identity[url] == page and abs((observation.time or 0.0) - since[url]) >= APART and observation.time:
                confirmed.add(url)
            if (observation.time or 0.0) < latest[url]:
                continue
        if identity.get(url) != page:
            since[url] = observation.time or 0.0
            confirmed.discard(url)
        identity[url] = page
        latest[url] = observation.time or 0.0
    numbers: dict[str, int] = {}
    content = [numbers.setdefault(page, len(numbers)) for page in identity.values()]
    return Clusters(list(identity), content, noisy, compared, dict(left_out), frozenset(confirmed) if timed else None)


def no_evidence(observation: Observation) -> str | None:
    """Return why an observation says nothing about duplicates, None where it does."""
    if observation.status != 200:
        return "redirect" if observation.redirect is not None else "status"
    if not observation.fingerprint:
        return "no content"
    if observation.words is not None and observation.words < MIN_WORDS:
        return "hardly any text"
    return None


def page_identity(observation: Observation, masks: Masks | None = None) -> str:
    """Return what tells the page of an observation from other pages, under the mask of its site."""
    mask = masks(observation.url) if masks is not None else None
    if mask is not None and observation.sketch is not None:
        return f"{mask.version}:{observation.sketch.masked(mask).bag}"
    return observation.bag or observation.fingerprint
