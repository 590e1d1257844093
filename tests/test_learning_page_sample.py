"""Samples of very large sites: whole pages, about as many as are asked for, whatever the order."""

import numpy as np
import pytest

from scrapy_dedup import Observation
from scrapy_dedup.learning.data.page_sample import HASHES, MOST_OF_URL, row_hashes, sampled_rows
from scrapy_dedup.learning.imported import text_of
from scrapy_dedup.rules.exchange import CLEAN_PARAM


def drawn(observations: list[Observation], most: int) -> list[Observation]:
    hashes = np.array([row_hashes(each, text_of(each)) for each in observations], dtype=HASHES)
    return [each for each, is_drawn in zip(observations, sampled_rows(hashes, most), strict=True) if is_drawn]


def views(pages: int, copies: int = 2, time: float | None = None, page: str = "page {}") -> list[Observation]:
    return [
        Observation(f"http://a.test/?id={n}&sid={n}.{copy}", page.format(n), time=time)
        for n in range(pages)
        for copy in range(copies)
    ]


ROBOTS = Observation("http://a.test/robots.txt", "robots", headers={CLEAN_PARAM: "Clean-param: sid"})
LOG_IN = [Observation(f"http://a.test/?id={n}", "log in") for n in range(4_000)]


@pytest.mark.parametrize(
    ("seen", "most", "least", "greatest", "whole"),
    [
        pytest.param(views(4_000, 4), 2_000, 1_600, 2_400, 4, id="pages with all their URLs"),
        pytest.param(views(200, 100), 2_000, 1_200, 2_800, 0, id="pages that are all large"),
        pytest.param(views(2_000) + LOG_IN, 1_000, 750, 1_250, 0, id="a page with very many URLs"),
        # A URL goes with its latest page and brings the earlier ones.
        pytest.param(views(1_000, 1) + views(1_000, 1, -1.0, "before"), 500, 800, 1_200, 0, id="pages that changed"),
        pytest.param([ROBOTS, *views(500)], 100, 60, 140, 0, id="what hosts declare"),
    ],
)
def test_as_many_are_drawn_as_are_asked_for(
    seen: list[Observation], most: int, least: int, greatest: int, whole: int
) -> None:
    found = drawn(seen, most)
    assert least < len(found) < greatest
    pages, urls = {each.fingerprint for each in found}, {each.url for each in found}
    assert not whole or len(found) == whole * len(pages)
    assert "before" not in pages or len(found) == 2 * len(urls)
    assert sum(each.fingerprint == "log in" for each in found) < 60
    assert (ROBOTS in found) is (ROBOTS in seen)
    mixed = [seen[place] for place in np.random.default_rng(1).permutation(len(seen))]
    assert {text_of(each) for each in drawn(mixed, most)} == {text_of(each) for each in found}


def test_a_url_that_was_fetched_very_often_is_bounded() -> None:
    seen = views(1_000) + [Observation("http://a.test/", "home", time=float(n)) for n in range(1_000)]
    # The page is drawn by its hash: in the sample it has the latest answers, or none.
    sizes = {sum(each.url == "http://a.test/" for each in drawn(seen, most)) for most in (1_000, 1_900)}
    assert sizes <= {0, MOST_OF_URL}
