"""How a crawl is parted: what is learned from, and what is scored.

By page: the pages of ``new`` were never seen under any URL. But a page of hundreds of URLs (a mega
cluster) is parted by URL: nothing else could teach its rules. URLs of ``same`` are new ways to pages
that were seen. ``late`` came up after the turn; ``drifted`` so too, where the truth has changed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .crawl import Row
from .seeded import share_of

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
