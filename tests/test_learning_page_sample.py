"""Samples of very large sites: whole pages, about as many as are asked for, whatever the order."""

import numpy as np

from scrapy_dedup.learning.data.page_sample import HASHES, MOST_OF_URL, row_hashes, sampled_rows
from scrapy_dedup.observation import Observation
from scrapy_dedup.rules.exchange import CLEAN_PARAM
from scrapy_dedup.sources.spill import text_of


def drawn(observations: list[Observation], most: int) -> list[Observation]:
    hashes = np.array([row_hashes(each, text_of(each)) for each in observations], dtype=HASHES)
    return [each for each, is_drawn in zip(observations, sampled_rows(hashes, most), strict=True) if is_drawn]


def views(pages: int, copies: int = 2) -> list[Observation]:
    return [
        Observation(f"http://a.test/?id={n}&sid={n}.{copy}", f"page {n}")
        for n in range(pages)
        for copy in range(copies)
    ]


def test_pages_are_drawn_with_all_their_urls():
    found = drawn(views(10_000, copies=4), 4_000)
    assert 3_400 < len(found) < 4_600
    assert len(found) == 4 * len({each.fingerprint for each in found})


def test_the_order_makes_no_difference():
    seen = views(500) + [Observation(f"http://a.test/?id={n}&sid={n}.0", f"other {n}", time=5.0) for n in range(100)]
    found = drawn(seen, 200)
    mixed = [seen[place] for place in np.random.default_rng(1).permutation(len(seen))]
    assert {text_of(each) for each in drawn(mixed, 200)} == {text_of(each) for each in found}


def test_a_url_goes_with_its_latest_page_and_brings_the_earlier_ones():
    seen = views(2_000, copies=1)
    seen += [Observation(each.url, "before", time=-1.0) for each in seen]
    found = drawn(seen, 1_000)
    assert len(found) == 2 * len({each.url for each in found})


def test_of_a_page_with_very_many_urls_some_are_drawn():
    seen = views(5_000) + [Observation(f"http://a.test/?id={n}", "log in") for n in range(10_000)]
    found = drawn(seen, 2_000)
    assert 10 <= sum(each.fingerprint == "log in" for each in found) < 60
    assert 1_500 < len(found) < 2_500


def test_where_all_pages_are_large_as_many_are_drawn():
    found = drawn(views(200, copies=200), 4_000)
    assert 2_500 < len(found) < 5_500
    assert len({each.fingerprint for each in found}) > 60


def test_a_url_that_was_fetched_very_often_is_bounded():
    seen = views(1_000) + [Observation("http://a.test/", "home", time=float(n)) for n in range(1_000)]
    # The page is drawn by its hash: in the sample it has the latest answers, or none.
    sizes = {sum(each.url == "http://a.test/" for each in drawn(seen, most)) for most in (1_000, 1_900)}
    assert sizes <= {0, MOST_OF_URL}


def test_what_hosts_declare_in_robots_txt_is_kept():
    robots = Observation("http://a.test/robots.txt", "robots", headers={CLEAN_PARAM: "Clean-param: sid"})
    assert robots in drawn([robots, *views(1_000)], 100)
