"""Samples of very large sites, by page: which of their observations are learned from.

URLs drawn one by one are hardly ever two of one page, so pages are drawn, with all their URLs. A page that has very many of them
(a log-in page behind every link) is a stratum of its own, of which some URLs are drawn. What is drawn depends on hashes alone: neither on the order of
observations nor on where they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...observation import Observation
from ...rules.exchange import CLEAN_PARAM
from ...store.schema import signed_hash
from ...urls import normal_form
from ..contents import plain_identity, why_no_page
from ..evidence.arrays import Flags

MOST_OF_SITE: Final = 500_000
"""Observations of a site that are learned from, about; learning takes a kilobyte for each."""
MOST_OF_URL: Final = 100
"""Observations of one URL of such a site, the latest ones."""
_LARGE_PAGES: Final = 100
"""A page is large if fewer than so many of its size would fill a sample."""
_LEAST: Final = -(1 << 63)
_MOST: Final = (1 << 63) - 1
ANY_WAY: Final = 0
"""Hash of the page of what is always kept: the robots.txt of a host."""

Numbers = npt.NDArray[np.int64]


class RowHashes(NamedTuple):
    """What a sample is drawn by: signed hashes of 64 bits of an observation's URL in normal form, of its page, and of all of it."""

    url: int
    page: int
    row: int
    #: Whether it tells its page; redirects and errors go by where they lead to, or by their URL.
    is_evidence: bool
    #: Seconds since 1970; what tells none is the oldest.
    time: float


def row_hashes(observation: Observation, text: str) -> RowHashes:
    """Return what a sample is drawn by; *text* is all of the observation."""
    url, row, time = normal_form(observation.url), signed_hash(text), observation.time or 0.0
    if why_no_page(observation) is None:
        return RowHashes(signed_hash(url), signed_hash(plain_identity(observation)), row, True, time)
    if observation.headers and CLEAN_PARAM in observation.headers:
        return RowHashes(signed_hash(url), ANY_WAY, row, False, time)
    return RowHashes(signed_hash(url), signed_hash(observation.redirect or url), row, False, time)


def large_page(most: int) -> int:
    """Return the number of observations from which on a page counts as large in a sample of *most*."""
    return max(most // _LARGE_PAGES, 1)


@dataclass(frozen=True, slots=True)
class PageSample:
    """Which pages of a site are drawn: those whose hash is up to a bound."""

    small: int
    large: int
    urls: Mapping[int, int]
    """Hash of each large page -> bound of the hashes of its URLs."""

    @classmethod
    def of(cls, rows: int, large: Mapping[int, int], most: int) -> "PageSample":
        """Return the sample of about *most* of a site's *rows*; *large* are the numbers of rows of its large pages."""
        part = large_page(most)
        of_small = max(rows - sum(large.values()), 0)
        of_large = part * len(large)
        room = min(of_large, max(most // 2, most - of_small))
        urls = {page: _bound(part / count) for page, count in large.items()}
        return cls(_bound((most - room) / max(of_small, 1)), _bound(room / max(of_large, 1)), urls)


def sampled_rows(hashes: npt.NDArray[np.void], most: int) -> Flags:
    """Return which rows of a site are in its sample of about *most*; *hashes* has the fields of :class:`RowHashes`.

    A URL goes with the page that it showed last. O(n log n).
    """
    pages, counts = np.unique(hashes["page"], return_counts=True)
    many = counts > large_page(most)
    large = dict(zip(pages[many].tolist(), counts[many].tolist(), strict=True))
    large.pop(ANY_WAY, None)
    sample = PageSample.of(len(hashes), large, most)
    # From the last one of a URL to the first one.
    keys = [hashes[name] for name in ("row", "page", "time", "is_evidence", "url")]
    order = np.lexsort(keys)[::-1]
    urls = hashes["url"][order]
    begins = np.flatnonzero(np.r_[True, urls[1:] != urls[:-1]])
    sizes = np.diff(np.r_[begins, len(order)])
    shown = hashes["page"][order][begins]
    bounds = np.full(len(shown), _MOST)
    is_large = np.isin(shown, list(large))
    bounds[is_large] = [sample.urls[page] for page in shown[is_large].tolist()]
    drawn = (shown <= np.where(is_large, sample.large, sample.small)) & (urls[begins] <= bounds)
    drawn |= shown == ANY_WAY
    number_of_url = np.arange(len(order)) - np.repeat(begins, sizes)
    chosen = np.zeros(len(hashes), dtype=np.bool_)
    chosen[order] = np.repeat(drawn, sizes) & (number_of_url < MOST_OF_URL)
    return chosen


HASHES: Final = np.dtype(
    [("url", np.int64), ("page", np.int64), ("row", np.int64), ("is_evidence", np.bool_), ("time", np.float64)]
)
"""Of an array of :class:`RowHashes`."""


def _bound(share: float) -> int:
    """Return the signed hash up to which a *share* of all hashes is."""
    return _MOST if share >= 1 else _LEAST + int(share * (1 << 64))
