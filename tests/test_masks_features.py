"""Distances between what a place shows, and the log-likelihood ratios that come of them."""

from itertools import pairwise

import pytest

from scrapy_dedup.masks.learning.judging.distances import Distances, ShownValue
from scrapy_dedup.masks.learning.judging.features import Features, features_of

DAY = 86_400.0


def shown(page: int, at: float, text: str) -> ShownValue:
    return ShownValue(f"p{page}", ((f"k{page % 2}",),), at, f"u{page}", (text,))


def features(*found: ShownValue) -> Features:
    return features_of(found, everywhere=0.5)


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


def test_a_date_is_a_matter_of_the_moment() -> None:
    names = ("Monday", "Tuesday", "Friday", "Sunday")
    found = features(*[shown(page, DAY * day + page, names[day]) for page in range(12) for day in range(4)])
    assert found.moment > 3
    assert found.page == 0  # the pages of one time show the same
    assert found.evidence > 2


def test_a_price_is_a_matter_of_its_page() -> None:
    found = features(
        *[shown(page, DAY * day + page, f"{20 * page + day} EUR") for page in range(12) for day in range(4)]
    )
    assert found.page > 3
    assert found.evidence < -3


def test_an_advertisement_is_drawn_anew() -> None:
    offers = ("new shoes", "fast trains", "cheap flights home", "a warm hat", "coffee")
    found = features(
        *[
            shown(page, 60.0 * page + again, offers[(page * page + 2 * again) % 5])
            for page in range(12)
            for again in (0, 1)
        ]
    )
    assert found.anew > 3
    assert found.evidence > 2


def test_a_clock_shows_the_time_of_the_response_in_any_time_zone() -> None:
    moments = [DAY * number + 3_727.0 * number * number for number in range(8)]
    found = features(
        *[
            shown(number, at, f"{int(at + 7200) // 3600 % 24:02}:{int(at) // 60 % 60:02}")
            for number, at in enumerate(moments)
        ]
    )
    assert found.moment > 3


def test_what_one_page_alone_shows_anew_may_be_its_content() -> None:
    """The start page is fetched twice in each crawl, and may show the latest article."""
    twice = [shown(0, DAY * crawl + again, f"article {2 * crawl + again}") for crawl in range(8) for again in (0, 1)]
    others = [shown(page, DAY * page + again, f"article {page} {again}") for page in range(1, 6) for again in (0, 1)]
    assert features(*twice).anew == 0
    assert features(*twice, *others).anew > 3
