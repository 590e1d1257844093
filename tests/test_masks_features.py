"""Distances between what a place shows: numbers are ranked with their sign and scale."""

from itertools import pairwise

import pytest

from scrapy_dedup.masks.learning.judging.distances import Distances, ShownValue

DAY = 86_400.0


def shown(page: int, at: float, text: str) -> ShownValue:
    return ShownValue(f"p{page}", ((f"k{page % 2}",),), at, f"u{page}", (text,))


@pytest.mark.parametrize(
    ("rising", "are_numbers"),
    [
        (("-12", "-3", "4", "15"), True),
        (("\N{MINUS SIGN}12 °C", "\N{MINUS SIGN}3 °C", "4 °C"), True),
        (("999 views", "1,002 views", "12,250 views"), True),
        (("999", "1 002", "12 250"), True),
        (("0.5", "0.875", "1.125", "7.25"), True),
        (("999.50", "1,234.50", "12,345.75"), True),
        (("999,50", "1.234,50", "12.345,75"), True),
        (("room 4, bed 12", "room 5, bed 9"), False),
    ],
)
def test_numbers_are_ranked_with_their_sign_and_scale(rising: tuple[str, ...], are_numbers: bool) -> None:
    found = [shown(0, DAY * number, text) for number, text in enumerate(rising)]
    distance = Distances(found)
    assert distance.are_numbers == are_numbers
    steps = [distance.rise(one, other) for one, other in pairwise(found)]
    assert steps == [1.0 if are_numbers else 0.0] * len(steps)
