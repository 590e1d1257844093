"""Bounds of shares, against the figures of the design."""

import pytest

from scrapy_dedup.learning.evidence.shares import upper_bound


@pytest.mark.parametrize(
    ("bad", "total", "bound"),
    [
        (0, 10, 0.259),
        (0, 30, 0.095),
        (0, 59, 0.0495),
        (0, 299, 0.0100),
        (0, 2995, 0.0010),
        (1, 100, 0.047),
        (1, 1000, 0.0047),
    ],
)
def test_upper_bound_is_that_of_clopper_and_pearson(bad: int, total: int, bound: float) -> None:
    assert upper_bound(bad, total) == pytest.approx(bound, abs=0.0006)


def test_no_evidence_is_no_safety() -> None:
    assert upper_bound(0, 0) == 1.0
    assert upper_bound(5, 5) == 1.0
