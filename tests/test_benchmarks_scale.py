"""The benchmark of scale: its site, and its slope."""

import pytest

from .benchmarks.sites.ordinary import ordinary_site
from .benchmarks.timing.scale import Scale, learn, slope


def cost(urls: int, cpu_seconds: float) -> Scale:
    return Scale(urls, 1, 99.0, cpu_seconds, 0.5, 0.0, 0.0, 1, None, 0)


def test_site_gives_distinct_urls_and_the_same_ones_again():
    rows = list(ordinary_site(5000))
    assert rows == list(ordinary_site(5000))
    assert len({url for url, _ in rows}) == 5000
    pages = len({content for _, content in rows})
    assert 1000 < pages < 2500


def test_slope():
    assert slope([cost(1000, 2.0)]) is None
    assert slope([cost(1000, 2.0), cost(10_000, 20.0), cost(100_000, 200.0)]) == pytest.approx(1.0)
    assert slope([cost(1000, 1.0), cost(10_000, 100.0)]) == pytest.approx(2.0)


def test_cost_of_a_small_site():
    found = learn(2000)
    assert found.urls == 2000
    assert found.rules >= 1
    assert found.lost == 0
    assert found.times_parsing == pytest.approx(found.cpu_seconds / found.parse_seconds)
