"""Made-up small sites, where a parameter means something else in each section: what is lost, and what is saved."""

import pytest

from .small_sites import learned, lost_pages

SITES = range(15)


@pytest.mark.parametrize(("noise", "least"), [(0.0, 0.8), (0.01, 0.7), (0.03, 0.65)])
def test_hardly_any_page_is_lost_and_most_duplicates_go(noise: float, least: float) -> None:
    lost = pages = removed = duplicates = 0
    for seed in SITES:
        book, rows = learned(seed, noise)
        keys = {book.canonical_key(url) for url, _ in rows}
        known = {page for _, page in rows}
        lost += len(lost_pages(book, rows))
        pages += len(known)
        duplicates += len(rows) - len(known)
        removed += len(rows) - len(keys)
    assert lost <= 0.001 * pages
    assert removed >= least * duplicates
