"""What the learner of difference sets proposes of a node of its guard tree."""

import numpy as np

from scrapy_dedup.learning.data.url_table import encode
from scrapy_dedup.learning.search.emission import proposals
from scrapy_dedup.learning.search.guards import PRESENT, GuardNode
from scrapy_dedup.learning.search.recoding import SegmentGone
from scrapy_dedup.urls import values_of


def test_a_pattern_asks_for_a_key_once() -> None:
    urls = [f"http://example.com/shop/{number}/shoes/x{number}" for number in range(9)]
    table = encode(urls, map(values_of, urls), list(range(9)), set(range(9)))
    node = GuardNode((("path.2", PRESENT),), recodings=[SegmentGone("path.2", "shoes", 9, 0)])
    (found,) = proposals(table, np.arange(9), node, ())
    asked = [key for key, _ in found.match]
    assert asked == sorted(set(asked))
    assert dict(found.match)["path.2"].holds("shoes")
    assert not dict(found.match)["path.2"].holds("boots")
