"""Pages in several versions, with the truth of every token: what the benchmark of transient content is scored on.

A case is a site with some of the passing slots X1 to X10. Half of the pages of each kind are learned from, in *k*
versions each; the others were never seen. One kind of pages was not learned from at all.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from ..sites.levels import KINDS
from ..sites.levels import site as site_of
from ..sites.model import DAY, START, TURN, Endpoint, Knobs, Site
from ..sites.render import EDITS, Page, render
from ..sites.seeded import rng_of

CASES: Mapping[str, tuple[str, ...]] = {
    "none": (),
    **{f"X{number}": (f"X{number}",) for number in (1, 2, 3, 4, 5, 6, 7, 8)},
    "X9": ("X9", "X1", "X4"),
    "X10": ("X10",),
    "all": ("X1", "X2", "X3", "X4", "X5", "X6", "X7", "X8", "X10"),
    **{name: (name, "X4") for name in EDITS},
    "stay": (*EDITS, "X1", "X2", "X3", "X4"),
}
"""The slots of each case. A redesign alone has nothing that passes: a clock and a counter come with it. A counter
stands beside the prices and the stock figures, which change and are content."""

STAYING = (*EDITS, "stay")
"""Cases with content that changes."""
VOLATILE = (*EDITS[2:], "stay")
"""Those of them in which it is always new, so that pages are compared without it: a change of it is not told."""

TRAINED = ("D1", "T1", "T13", "T14")
"""Kinds that are learned from: a thread, its pages, siblings that are all but the same, short pages."""
STRANGE = "D14"
"""The kind of which no page is ever seen in two versions."""

GAPS = (300.0, DAY, 7 * DAY, 14 * DAY)
"""Seconds between two versions of a page; which of them come first differs from page to page."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is learned from, and what is scored: URL -> versions in order of time.

    *times* are those of the versions in *seen*. The first *past* versions of each page are of a design that is no more; they are learned from, and not scored.
    """

    name: str
    site: Site
    seen: Mapping[str, Sequence[Page]]
    unseen: Mapping[str, Sequence[Page]]
    strange: Mapping[str, Sequence[Page]]
    times: Mapping[str, Sequence[float]]
    past: int = 0

    def html(self) -> dict[str, list[str]]:
        """What is learned from, as ``learn_mask`` takes it."""
        return {url: [page.html for page in pages] for url, pages in self.seen.items()}


def case_of(name: str, seed: int, k: int, pages: int) -> Case:
    """The case of that name: *k* versions of each of so many pages of a kind, half of them to learn from.

    A case with a redesign has *k* versions before it and *k* after it.
    """
    knobs = Knobs(pages=pages)
    site = site_of(f"{name.lower()}-{seed}", seed, [KINDS[kind] for kind in (*TRAINED, STRANGE)], knobs)
    seen: dict[str, list[Page]] = {}
    times: dict[str, list[float]] = {}
    unseen: dict[str, list[Page]] = {}
    for kind in TRAINED:
        urls = urls_of(site.endpoints[kind], seed, pages)
        # Siblings follow each other: half of a family is seen.
        for number, url in enumerate(urls):
            (unseen if number % 2 else seen)[url] = versions(site, url, name, k, number)
            if not number % 2:
                times[url] = times_of(name, k, number)
    strange = {url: versions(site, url, name, k, 0) for url in urls_of(site.endpoints[STRANGE], seed, pages)}
    return Case(name, site, seen, unseen, strange, times, k if "X9" in CASES[name] else 0)


def versions(site: Site, url: str, case: str, k: int, number: int) -> list[Page]:
    """Versions of a page; *number* decides when they were fetched."""
    times = times_of(case, k, number)
    pages = [render(site, url, time, nonce, CASES[case]) for nonce, time in enumerate(times)]
    return [page for page in pages if page is not None]


def times_of(case: str, k: int, number: int) -> list[float]:
    """When the versions of a page were fetched."""
    epochs = (START, TURN) if "X9" in CASES[case] else (START,)
    return [epoch + after for epoch in epochs for after in moments(k, number)]


def moments(k: int, number: int) -> Iterator[float]:
    """Seconds from the beginning of a month at which a page is fetched, *k* times within 30 days.

    >>> [round(time / DAY) for time in moments(3, 0)]
    [0, 0, 1]
    """
    time = number * 3777.0
    yield time
    for step in range(k - 1):
        time += GAPS[(number // 2 + step) % len(GAPS)]
        yield time


def urls_of(endpoint: Endpoint, seed: int, pages: int) -> list[str]:
    """A URL of each page, all of the first one's shape: one template by anybody's reckoning."""
    found: list[str] = []
    for page in range(pages):
        drawn = (endpoint.url(page, rng_of(seed, endpoint.id, page, attempt)) for attempt in range(100))
        url = next((url for url in drawn if not found or shape_of(url) == shape_of(found[0])), None)
        if url is not None:
            found.append(url)
    return found


def shape_of(url: str) -> tuple[object, ...]:
    """The number of segments and the names in the query."""
    parts = urlsplit(url)
    return parts.path.count("/"), tuple(sorted({name for name, _ in parse_qsl(parts.query)}))
