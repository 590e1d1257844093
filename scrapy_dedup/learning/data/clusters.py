"""Duplicate clusters: which observed URLs are the same page.

Identity is the page's content (:mod:`..contents`): its words in any order where the observation has that
fingerprint (sort orders of one list are one page), in order otherwise, and what nobody sees where the text tells nothing. Redirects and declared
canonical URLs are weaker evidence of another kind and never make a cluster.
"""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...masks.model import Mask
from ...observation import APART, Observation
from ...urls import normal_form
from ...urls.templates import template_of
from ..contents import Contents, NoEvidence

NO_EVIDENCE = -1


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
    times: Sequence[float] | None = field(default=None, repr=False)
    """When each URL was last seen, in seconds since 1970; None where no times are known."""
    passwords: frozenset[int] | None = None
    """Clusters whose pages have a password field; None where no observation tells."""
    again: frozenset[str] = frozenset()
    """URLs that were answered more than once in one crawl."""
    stable: frozenset[str] = frozenset()
    """Those of them whose last two answers were the same page: what they show is no odd response."""
    controls: Mapping[object, tuple[int, int]] = field(default_factory=dict)
    """URL template -> (responses that differed from the one before in the same crawl, responses compared)."""

    @property
    def pages(self) -> int:
        """Return the number of distinct pages."""
        return len(set(self.content) - {NO_EVIDENCE})

    @property
    def duplicates(self) -> int:
        """Return the number of URLs that lead to a page another URL leads to."""
        return sum(1 for number in self.content if number != NO_EVIDENCE) - self.pages


def clusters(observations: Sequence[Observation], mask: Mask | None = None) -> Clusters:
    """Return the duplicate clusters of the observations of one site, under its *mask*, in O(n).

    Of several responses to one URL the latest counts (the last one, where times are equal).
    """
    contents = Contents(observations, mask)
    identity: dict[str, str] = {}
    latest: dict[str, float] = {}
    since: dict[str, float] = {}
    confirmed: set[str] = set()
    again: set[str] = set()
    stable: set[str] = set()
    left_out: Counter[str] = Counter()
    noisy = compared = 0
    timed = False
    looked = False
    passwords: set[str] = set()
    controls: dict[object, tuple[int, int]] = {}
    for observation in observations:
        timed = timed or observation.time is not None
        found = contents.of(observation)
        if isinstance(found, NoEvidence):
            left_out[found.why] += 1
            continue
        page = found.identity
        looked = looked or observation.password is not None
        if observation.password:
            passwords.add(page)
        url = normal_form(observation.url)
        if url == observation.url:
            url = observation.url  # one text, and not two that are the same
        if url in identity:
            compared += 1
            noisy += identity[url] != page
            if abs((observation.time or 0.0) - latest[url]) <= APART:  # between crawls pages change
                kind = template_of(url)
                odd, all_of_it = controls.get(kind, (0, 0))
                controls[kind] = odd + (identity[url] != page), all_of_it + 1
                again.add(url)
                (stable.add if identity[url] == page else stable.discard)(url)
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
    return Clusters(
        list(identity),
        content,
        noisy,
        compared,
        dict(left_out),
        frozenset(confirmed) if timed else None,
        times=array("d", latest.values()) if timed else None,
        passwords=frozenset(numbers[page] for page in passwords if page in numbers) if looked else None,
        again=frozenset(again),
        stable=frozenset(stable),
        controls=controls,
    )
