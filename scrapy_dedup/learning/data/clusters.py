"""Duplicate clusters: which observed URLs are the same page.

Identity is the page's visible text: its words in any order where the observation has that
fingerprint (sort orders of one list are one page), in order otherwise. Redirects and declared
canonical URLs are weaker evidence of another kind and never make a cluster.
"""

from array import array
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ...masks.model import Mask
from ...observation import APART, Observation
from ...rules.exchange import CLEAN_PARAM
from ...urls import normal_form
from ...urls.templates import template_of
from .lasting import MIN_WORDS, lasting_identities, plain_identity

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
    identities = PageIdentities(observations, mask)
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
        reason = no_evidence(observation)
        page = None if reason else identities.of(observation)
        if page is None:
            left_out[reason or identities.why_not(observation)] += 1
            continue
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


def no_evidence(observation: Observation) -> str | None:
    """Return why an observation says nothing about duplicates, None where it does."""
    if observation.headers and CLEAN_PARAM in observation.headers:
        return "robots.txt"
    if observation.status != 200:
        return "redirect" if observation.redirect is not None else "status"
    if not observation.fingerprint:
        return "no content"
    if observation.words is not None and observation.words < MIN_WORDS:
        return "hardly any text"
    return None


class PageIdentities:
    """What tells the pages of a site apart, under its mask."""

    def __init__(self, observations: Collection[Observation], mask: Mask | None = None) -> None:
        #: URL templates whose pages have closing tags, as far as pages are in doubt that have none.
        self._ending: set[tuple[object, ...]] = set()
        if any(each.ends is False for each in observations):
            self._ending = {template_of(each.url) for each in observations if each.ends}
        self._mask = mask if mask is not None and mask.version else None
        #: Fingerprint of all of a page -> that of what lasts of it.
        self._masked: dict[str, str | None] = {}
        if self._mask is not None:
            told = [each for each in observations if each.version is not None and no_evidence(each) is None]
            self._masked = lasting_identities(told, self._mask)

    def of(self, observation: Observation) -> str | None:
        """Return the identity of an observation's page; None if it has none.

        Of a page whose texts are not kept, what passes cannot be left out: it is the same page as one that
        shows the same with all that passes, and nothing is known about it beside any other. Nor is it of a page
        of which the mask hides most that is its own.
        """
        if self._is_cut_off(observation):
            return None
        mask = self._mask
        plain = plain_identity(observation)
        if mask is None:
            return plain
        if plain in self._masked:
            return self._masked[plain]
        return None if mask.applies_to(observation.url) else plain

    def why_not(self, observation: Observation) -> str:
        """Return why :meth:`of` cannot tell the page of an observation."""
        if self._is_cut_off(observation):
            return "cut off"
        return "its texts are not kept" if observation.version is None else "what is its own passes"

    def _is_cut_off(self, observation: Observation) -> bool:
        """Whether a page that ended with the connection lacks the closing tags that others of its template have."""
        return observation.ends is False and template_of(observation.url) in self._ending
