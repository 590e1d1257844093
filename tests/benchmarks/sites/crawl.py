"""What a crawl of a site sees: one row per response, with the truth beside it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

import numpy as np

from scrapy_dedup import Observation

from .model import START, TURN, Content, Endpoint, Knobs, PageKey, Site
from .seeded import digest, rng_of, share_of

TRIES = 8
"""Draws for a URL that the page has not shown yet, before the page counts as exhausted."""
UNAVAILABLE = 503
"""The status of a page that could not be had."""


@dataclass(frozen=True, slots=True)
class Row:
    """One response, and what only the truth knows: the page, and which endpoint answered.

    late: it came up after the turn, when no crawl to learn from could have seen it. drifted: so it
    did, and what was true before is true no more.
    """

    url: str
    time: float
    status: int
    fingerprint: str
    words: int
    canonical: str | None
    redirect: str | None
    headers: Mapping[str, str]
    page: PageKey
    endpoint: str
    late: bool = False
    drifted: bool = False

    @property
    def page_text(self) -> str:
        """The page key as one text."""
        return "\x1f".join(self.page)

    def observation(self) -> Observation:
        """The row as a learner takes it."""
        return Observation(
            self.url,
            self.fingerprint,
            canonical=self.canonical,
            redirect=self.redirect,
            status=self.status,
            time=self.time,
            bag=self.fingerprint or None,
            headers=self.headers or None,
            words=self.words,
        )


def crawl(site: Site) -> list[Row]:
    """All responses of a crawl of the site, in order of time; those after the turn at the end."""
    visits = [(*visit, "") for endpoint in site.endpoints.values() for visit in visited(endpoint)]
    once = {url: endpoint for endpoint, url, _ in visits}
    visits += [(one, url, "again") for url, one in once.items() if share_of(site.seed, url, "again") < site.knobs.again]
    rng_of(site.seed, site.domain, "order").shuffle(visits)
    step = min(10.0, (TURN - START) / (2 * len(visits) + 1))
    rows = []
    for number, (endpoint, url, visit) in enumerate(visits):
        rows.append(row_of(site, endpoint, url, START + number * step, late=False, visit=visit))
    late = [visit for endpoint in site.endpoints.values() for visit in late_visits(endpoint)]
    for number, (endpoint, url) in enumerate(late):
        rows.append(row_of(site, endpoint, url, TURN + number * step, late=True))
    return without_singles(rows, site.knobs.singles)


def variants(endpoint: Endpoint) -> Iterator[tuple[int, str]]:
    """(page, URL) of every URL that is in the crawl, each once.

    The URLs of a page beyond its first are as many as the ratio of duplicates asks for, shared out
    by Zipf's law over the pages in an arbitrary order.
    """
    knobs = endpoint.knobs
    pages = list(range(knobs.pages))
    counts = endpoint.counts()
    rng = rng_of(endpoint.seed, "variants")
    wanted = shared_out(knobs, rng) if not counts else [counts.get(page, 1) for page in pages]
    seen: set[str] = set()
    for page, count in zip(pages, wanted, strict=True):
        draw = rng_of(endpoint.seed, "urls", page)
        for _ in range(count):
            for _ in range(TRIES):
                url = endpoint.url(page, draw)
                if url not in seen:
                    seen.add(url)
                    yield page, url
                    break
            else:
                break


def shared_out(knobs: Knobs, rng: Random) -> list[int]:
    """How many URLs each page has: at least one, at most ``most_variants``."""
    ranks = list(range(knobs.pages))
    rng.shuffle(ranks)
    cumulated = list(accumulate((rank + 1) ** -knobs.zipf for rank in ranks))
    counts = [1] * knobs.pages
    left = round(knobs.pages * knobs.ratio / (1 - knobs.ratio))
    left = min(left, knobs.pages * (knobs.most_variants - 1))
    everyone = range(knobs.pages)
    while left:
        for page in rng.choices(everyone, cum_weights=cumulated, k=left):
            if counts[page] < knobs.most_variants:
                counts[page] += 1
                left -= 1
        if left:  # the great ones are full: the rest goes to the others evenly
            cumulated = list(accumulate(float(count < knobs.most_variants) for count in counts))
    return counts


def visited(endpoint: Endpoint) -> Iterator[tuple[Endpoint, str]]:
    """Every fetch of the crawl, in no order."""
    for page, url in variants(endpoint):
        for _ in range(endpoint.fetches(page)):
            yield endpoint, url


def late_visits(endpoint: Endpoint) -> Iterator[tuple[Endpoint, str]]:
    """Every fetch after the turn."""
    rng = rng_of(endpoint.seed, "late")
    for page in range(endpoint.knobs.pages):
        url = endpoint.late_url(page, rng)
        if url is not None:
            yield endpoint, url


def row_of(site: Site, endpoint: Endpoint, url: str, time: float, *, late: bool, visit: str = "") -> Row:
    """The response at *url*, with the noise that the site's knobs ask for; another one for each *visit*."""
    key = site.page_key(url, time)
    content = site.content(url, time)
    if key is None or content is None:
        raise ValueError(f"{endpoint.id} has no page at its own URL {url}")
    status, identity = content.status, content.identity
    if status == 200:
        identity = blurred(site, url + visit, content)
    if status == 200 and share_of(site.seed, url, "missing") < site.knobs.missing:
        status = UNAVAILABLE
    return Row(
        url=url,
        time=time,
        status=status,
        fingerprint=digest(site.seed, site.domain, *identity) if status == 200 else "",
        words=endpoint.words or content.words,
        canonical=content.canonical,
        redirect=content.redirect,
        headers=content.headers,
        page=key,
        endpoint=endpoint.id,
        late=late,
        drifted=late and endpoint.drifts,
    )


def blurred(site: Site, url: str, content: Content) -> tuple[str, ...]:
    """What a response seems to be: noise replaces it, and not every equality is found.

    Noise is in equal parts an error page with status 200, a body cut short, and another version of
    the page (an A/B test).
    """
    knobs = site.knobs
    draw = share_of(site.seed, url, "noise")
    if draw < knobs.noise:
        part = int(3 * draw / knobs.noise)
        if part == 0:
            return ("error",)
        return (*content.identity, url) if part == 1 else (*content.identity, "B")
    if knobs.clusters < 1 and share_of(site.seed, url, "cluster") >= knobs.clusters:
        return (*content.identity, url, "apart")
    return content.identity


def without_singles(rows: list[Row], share: float) -> list[Row]:
    """Rows less that share of the pages that have one row only."""
    if not share:
        return rows
    counts: dict[PageKey, int] = {}
    for row in rows:
        counts[row.page] = counts.get(row.page, 0) + 1
    return [row for row in rows if counts[row.page] > 1 or share_of(row.page_text, "single") >= share]


NEW_PAGES = 0.4
SAME_PAGES = 0.2
MEGA_PAGE = 100
"""URLs of a page from which on it is parted by URL."""
MOST_TRAINING = 100_000
"""URLs that are learned from at most when a share is asked for, as in the pattern-tree paper."""
PAPER_SHARE = 0.2
"""Share of the URLs that the paper learns from."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Rows to learn from, and rows to score on; each of the latter has a URL once."""

    train: list[Row]
    same: list[Row]
    new: list[Row]
    late: list[Row]
    drifted: list[Row]

    @property
    def unseen(self) -> list[Row]:
        """New pages and late ones: nothing that was learned from."""
        return self.new + self.late


def split(rows: Sequence[Row], seed: int = 0, train: float | None = None, *, by_url: bool = False) -> Parts:
    """Part a crawl; *train* is a share of its rows that is learned from (None: all that may be).

    The share is one of pages, under all their URLs; with *by_url* it is one of URLs. A share of 1
    learns from the whole crawl, new pages and all, as the pattern-tree paper does at the end.
    """
    new: list[Row] = []
    same: list[Row] = []
    late: list[Row] = []
    drifted: list[Row] = []
    left: list[Row] = []
    counts = Counter(row.page for row in rows)
    for row in rows:
        text = row.page_text if counts[row.page] < MEGA_PAGE else row.url
        if row.late:
            (drifted if row.drifted else late).append(row)
        elif share_of(seed, "page", text) < NEW_PAGES:
            new.append(row)
        elif share_of(seed, "url", row.url) < SAME_PAGES:
            same.append(row)
        else:
            left.append(row)
    if train == 1:
        left = [row for row in rows if not row.late]
    elif train is not None:
        most = min(round(train * len(rows)), MOST_TRAINING)
        order = sorted(left, key=lambda row: share_of(seed, "train", row.url if by_url else row.page_text))
        chosen = {id(row) for row in order[:most]}
        left = [row for row in left if id(row) in chosen]
    return Parts(left, each_once(same), each_once(new), each_once(late), each_once(drifted))


def each_once(rows: Sequence[Row]) -> list[Row]:
    """The first row of every URL."""
    first: dict[str, Row] = {}
    for row in rows:
        first.setdefault(row.url, row)
    return list(first.values())


def training_split(content: Sequence[int], seed: int = 0, *, unseen_pages: bool = False) -> tuple[list[int], list[int]]:
    """The pattern-tree paper's split (section 6.1, gap 26): (training, test) as places in *content*.

    The paper draws 20 % of the URLs, 100,000 at most, and tests on all of them, so that clusters are
    cut apart and what was learned from is tested on. With *unseen_pages* 20 % of the pages are drawn, and the test
    is on the others.
    """
    rng = np.random.default_rng(seed)
    if not unseen_pages:
        count = min(round(PAPER_SHARE * len(content)), MOST_TRAINING)
        chosen = rng.choice(len(content), count, replace=False) if count else np.zeros(0, dtype=np.intp)
        return sorted(chosen.tolist()), list(range(len(content)))
    pages = np.unique(np.asarray(content, dtype=np.int64))
    drawn = set(rng.permutation(pages)[: max(1, round(PAPER_SHARE * len(pages)))].tolist()) if len(pages) else set()
    training = [i for i, page in enumerate(content) if page in drawn]
    return training, [i for i, page in enumerate(content) if page not in drawn]
