"""What tells pages apart under a mask: what lasts of them, where that is enough.

A mask that hides what a page is about makes all pages of a kind equal: their frame lasts. So what lasts of a page
from which something is hidden must hold words of its own, such as do not stand on all pages, and more than the mask
hides of them; otherwise the page says nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from xxhash import xxh3_64_intdigest

from ...masks.model import Mask
from ...observation import Observation

MIN_WORDS = 6
"""A page with fewer words is no evidence: that two such pages are equal says nothing."""
BOILERPLATE_SHARE = 0.8
"""Share of a site's distinct pages that show a text from which on it belongs to the frame: navigation, footer."""
SHARED = 3
"""Different pages on which a hidden text stands that is none's own; and of which a site has a frame."""


@dataclass(frozen=True, slots=True)
class _Page:
    """The stable and the hidden texts of a page: hashes, and numbers of words."""

    bag: str
    lasting: tuple[tuple[int, int], ...]
    hidden: tuple[tuple[int, int], ...]


def plain_identity(observation: Observation) -> str:
    """Return the fingerprint of all that a page shows."""
    return observation.bag or observation.fingerprint


def lasting_identities(observations: Iterable[Observation], mask: Mask) -> dict[str, str | None]:
    """Return what tells pages apart under *mask*, by the fingerprint of all they show; None where nothing does.

    *observations* are of pages whose versions are kept. O(their blocks).
    """
    found: dict[str, str | None] = {}
    pages: dict[str, _Page] = {}
    undecided: dict[str, str] = {}
    carried: defaultdict[str, set[str]] = defaultdict(set)
    for observation in observations:
        plain = plain_identity(observation)
        if plain in pages:
            continue
        found[plain] = plain
        if observation.version is None or not mask.applies_to(observation.url):
            continue
        whole, cut = mask.parted(observation.version, url=observation.url)
        lasting = [*whole, *(rest for _, rest in cut if rest)]
        sketch = mask.masked_sketch(observation.version, url=observation.url)
        if sketch.words < MIN_WORDS:
            continue  # told apart by all that it shows
        pages[plain] = _Page(
            sketch.bag,
            tuple([(_hash(text), len(text.split())) for text in lasting]) if cut else (),
            tuple([(_hash(text), len(text.split()) - len(rest.split())) for text, rest in cut]),
        )
        found[plain] = f"{mask.version}:{sketch.bag}"
        if_verified = sketch.bag
        if not mask.is_verified(observation.version, url=observation.url):
            if_verified = mask.masked(observation.version, url=observation.url, carried=True)
        carried[if_verified].add(sketch.bag)
        if if_verified != sketch.bag:
            undecided[plain] = if_verified
    # Two pages may differ only in what has not been seen to change on pages like them: nothing is known of these.
    for plain, if_verified in undecided.items():
        if len(carried[if_verified]) > 1:
            found[plain] = None
    for plain in _emptied(pages):
        found[plain] = None
    return found


def _emptied(pages: dict[str, _Page]) -> list[str]:
    """Return the pages of which too little of their own lasts."""
    cut = {plain: page for plain, page in pages.items() if page.hidden}
    if not cut:
        return []
    # Pages that are equal under the mask count once, whatever number of URLs they stand under.
    frame: Counter[int] = Counter()
    hiding: defaultdict[int, set[str]] = defaultdict(set)
    met = set()
    for page in cut.values():
        if page.bag not in met:
            met.add(page.bag)
            frame.update({text for text, _ in page.lasting})
        for text, _ in page.hidden:
            if len(hiding[text]) < SHARED:
                hiding[text].add(page.bag)
    most = BOILERPLATE_SHARE * len(met) if len(met) >= SHARED else len(met) + 1
    found = []
    for plain, page in cut.items():
        lasting = sum(words for text, words in page.lasting if frame[text] < most)
        hidden = sum(words for text, words in page.hidden if len(hiding[text]) < SHARED)
        if lasting < MIN_WORDS or lasting <= hidden:
            found.append(plain)
    return found


def _hash(text: str) -> int:
    return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
