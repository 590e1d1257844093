"""Made-up small sites: no page is lost to a rule that another section taught, or another value."""

import pytest

from .small_sites import learned, lost_pages

LOST_ONCE = (20, 75, 87, 133, 134, 135, 177, 186, 203, 223, 224, 254, 265, 299)
"""Sites of which pages were lost when a rule acted wherever nothing spoke against it."""


@pytest.mark.parametrize("seed", [*range(10), *LOST_ONCE])
def test_no_page_is_lost(seed: int) -> None:
    book, rows = learned(seed)
    assert not lost_pages(book, rows)


@pytest.mark.parametrize("noise", [0.01, 0.03])
@pytest.mark.parametrize("seed", LOST_ONCE[:5])
def test_noise_hides_no_page(seed: int, noise: float) -> None:
    book, rows = learned(seed, noise)
    assert not lost_pages(book, rows)
