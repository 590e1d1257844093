"""Which versions of a page are kept: laws, and pages that were fetched as real ones are."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.masks.retention import MOMENTS, MOST_VERSIONS, PAIRS, Fetch, retained

DAY, MINUTE = 86_400.0, 60.0
TIMES = st.lists(
    st.one_of(
        st.integers(0, 20 * 86_400).map(float),
        st.integers(0, 90).map(lambda day: day * DAY),
        st.integers(0, 60).map(lambda minute: 3 * DAY + minute * MINUTE),
    ),
    min_size=1,
    max_size=60,
)
FETCHES = TIMES.flatmap(
    lambda times: st.lists(st.sampled_from("uv"), min_size=len(times), max_size=len(times)).map(
        lambda urls: sorted(zip(times, urls, strict=True))
    )
)
MOST = st.integers(2, 12)


def kept(fetches: list[Fetch], most: int = MOST_VERSIONS) -> list[Fetch]:
    return [fetches[place] for place in retained(fetches, most)]


def of_one_url(*times: float) -> list[Fetch]:
    return [(at, "u") for at in sorted(times)]


def pairs(fetches: list[Fetch]) -> int:
    return sum(one[1] == other[1] and other[0] - one[0] <= MOMENTS for one, other in pairwise(fetches))


def ages(fetches: list[Fetch]) -> list[float]:
    return [fetches[-1][0] - at for at, _ in fetches]


def days(fetches: list[Fetch]) -> set[int]:
    return {int(at // DAY) for at, _ in fetches}


@given(FETCHES, MOST)
def test_the_first_and_the_last_one_are_kept_and_the_bound_is(fetches: list[Fetch], most: int) -> None:
    places = retained(fetches, most)
    assert len(places) == min(len(fetches), most)
    assert places == sorted(set(places))
    assert (places[0], places[-1]) == (0, len(fetches) - 1)


@given(FETCHES, FETCHES, MOST)
def test_what_was_left_out_never_comes_back(fetches: list[Fetch], later: list[Fetch], most: int) -> None:
    """So it makes no difference either how often some are left out."""
    later = [(fetches[-1][0] + at, url) for at, url in later]
    assert kept(kept(fetches, most) + later, most) == kept(fetches + later, most)


@given(FETCHES)
def test_pairs_within_moments_are_kept(fetches: list[Fetch]) -> None:
    assert pairs(kept(fetches)) >= min(PAIRS, pairs(fetches))


@given(st.integers(9, 200), st.integers(1, 30))
def test_ages_are_spread_in_proportion(number: int, hours: int) -> None:
    """Of a page crawled at regular times no age in between is more than some times the next one."""
    found = ages(kept(of_one_url(*(place * 3_600.0 * hours for place in range(number)))))
    assert all(older <= 6 * younger for older, younger in pairwise(found[:-1]))


BURST = [minute * 10 * MINUTE for minute in range(144)]
WEEK = [day * DAY for day in range(7)]


@pytest.mark.parametrize(
    ("times", "least"),
    [
        ([*BURST, *(2 * DAY + at for at in WEEK)], 5),
        ([*WEEK, *(7 * DAY + at for at in BURST)], 3),
        ([*WEEK, *(7 * DAY + MINUTE * place for place in range(12))], 5),
        ([10 * MINUTE * place for place in range(7 * 144)], 4),
    ],
    ids=["every ten minutes, then daily", "daily, then every ten minutes", "while a spider is debugged", "a week"],
)
def test_a_page_crawled_often_is_kept_of_several_days_and_within_moments(times: list[float], least: int) -> None:
    fetches = of_one_url(*times)
    assert len(days(kept(fetches))) >= least
    assert pairs(kept(fetches)) >= PAIRS


def test_two_urls_of_a_page_are_no_pair() -> None:
    """That they show the same is by a rule: what differs between them is no proof of what is drawn anew."""
    fetches = [(day * DAY + place, url) for day in range(20) for place, url in enumerate("ab")]
    assert len(days(kept(fetches))) == MOST_VERSIONS
    assert len(days(kept([(at, "a") for at, _ in fetches]))) < MOST_VERSIONS
