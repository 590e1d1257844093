"""Large sites: what a few odd pages may cost, and what a sample has to hold."""

import random
from collections.abc import Set as AbstractSet

import numpy as np

from scrapy_dedup import Observation
from scrapy_dedup.learning.data.clusters import clusters
from scrapy_dedup.learning.data.frame import Frame, Level
from scrapy_dedup.learning.data.judgement import SiteUrls
from scrapy_dedup.learning.data.sampling import sampled
from scrapy_dedup.learning.data.url_table import encode
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.urls import values_of

SITE = "http://shop.example.com"


def passed_on(seed: int, odd: float, pages: int = 750, names: int = 15) -> list[Observation]:
    """Pages under keys that say nothing, a third of them on each URL; a share of the responses is odd."""
    rng = random.Random(seed)
    seen = []
    for i in range(pages):
        for _ in range(4):
            keys = rng.sample(range(names), names // 3)
            url = f"{SITE}/v?id={i}&" + "&".join(f"k{key}={rng.randrange(10**6)}" for key in keys)
            seen.append(Observation(url, f"clock {rng.random()}" if rng.random() < odd else f"page {i}"))
    return seen


def test_a_clock_takes_no_rule_away() -> None:
    """Each odd page is in one group with URLs that differ in all keys: none of these is to blame."""
    report = learn(passed_on(1, 1 / 1000)).reports[0]
    assert report.duplicates - report.removed <= 20
    assert report.share > 0.99


def lists(rng: random.Random, odd: float) -> list[tuple[str, str, str]]:
    """(URL, what it showed, page): lists of news, forty URLs each, that may be fresher on one of them."""
    rows = []
    for number in range(100):
        for _ in range(40):
            shown = f"list {number}" + (f" at {rng.random()}" if rng.random() < odd else "")
            rows.append((f"{SITE}/list?cat={number}&sid={rng.getrandbits(64):016x}", shown, f"list {number}"))
    return rows


def products(rng: random.Random, urls: int, real: int, odd: float = 0.0) -> list[tuple[str, str, str]]:
    """900 products under so many URLs; of *real* ones ``lang=de`` is another page, seen under one URL."""
    rows = []
    for i in range(900):
        for copy in range(urls):
            german = i < real and not copy
            lang = "de" if german else rng.choice(("en", "fr", "it") if i < real else ("en", "de", "fr", "it"))
            page = f"product {i}{' de' * german}"
            shown = f"{page} at {rng.random()}" if rng.random() < odd else page
            rows.append((f"{SITE}/p?id={i}&lang={lang}&sid={rng.getrandbits(64):016x}", shown, page))
    return rows


def sids(rng: random.Random, urls: int, real: int) -> list[tuple[str, str, str]]:
    """900 letters; of *real* ones each ``sid`` is another page."""
    rows = []
    for i in range(900):
        for copy in range(urls):
            page = f"letter {i} {copy if i < real else 0}"
            rows.append((f"{SITE}/letter?id={i}&sid={rng.getrandbits(64):016x}", page, page))
    return rows


def test_clocks_at_any_value_are_clocks() -> None:
    rng = random.Random(4)
    rows = products(rng, 5, 0, odd=1 / 2000)
    rng.shuffle(rows)
    book = learn([Observation(url, shown) for url, shown, _ in rows]).book
    assert book.equivalent(f"{SITE}/p?id=7&lang=en&sid={7:016x}", f"{SITE}/p?id=7&lang=de&sid={8:016x}")


def test_what_one_url_showed_in_two_crawls_is_a_page() -> None:
    """``sid`` is another page on 4 of 900 letters; whoever crawls a second time sees that it was no clock."""
    rng = random.Random(5)
    rows = sids(rng, 5, 4)
    rows = [
        (url, "letter 4 of one reader" if number == 24 else shown, page)
        for number, (url, shown, page) in enumerate(rows)
    ]
    days = [0.0, 86_400.0]
    seen = [Observation(url, shown, time=day + 1) for day in days for url, shown, _ in rows]
    sample = SiteUrls.of("example.com", clusters(seen), None)
    assert not sample.lone
    assert SiteUrls.of("example.com", clusters(seen[: len(rows)]), None).lone


def test_a_random_gallery_is_as_many_pages_as_urls() -> None:
    rng = random.Random(6)
    rows = [
        (f"{SITE}/gallery?id={i}&sid={rng.getrandbits(64):016x}", f"gallery {rng.random()}")
        for i in range(300)
        for _ in "abc"
    ]
    rows += [(f"{SITE}/p?id={i}&sid={rng.getrandbits(64):016x}", f"page {i}") for i in range(300) for _ in "abc"]
    book = learn([Observation(url, shown) for url, shown in rows]).book
    assert not book.equivalent(f"{SITE}/gallery?id=7&sid={7:016x}", f"{SITE}/gallery?id=7&sid={8:016x}")
    assert book.equivalent(f"{SITE}/p?id=7&sid={7:016x}", f"{SITE}/p?id=7&sid={8:016x}")


def test_price_lists_that_changed_while_they_were_crawled() -> None:
    """Of each list half the URLs show the prices of yesterday: that is no noise, and nothing else is held to it."""
    rng = random.Random(7)
    rows = [
        (f"{SITE}/prices?of={i}&sid={rng.getrandbits(64):016x}", f"prices {i} {k % 2}")
        for i in range(200)
        for k in range(6)
    ]
    rows += [(f"{SITE}/p?id={i}&sid={rng.getrandbits(64):016x}", f"page {i}") for i in range(200) for _ in "abc"]
    book = learn([Observation(url, shown) for url, shown in rows]).book
    assert not book.equivalent(f"{SITE}/prices?of=7&sid={7:016x}", f"{SITE}/prices?of=7&sid={8:016x}")
    assert book.equivalent(f"{SITE}/p?id=7&sid={7:016x}", f"{SITE}/p?id=7&sid={8:016x}")


def test_a_page_that_shows_twice_is_no_noise() -> None:
    """``k0`` is another page on 3 of 600 products, each seen under two URLs."""
    seen = passed_on(3, 0, 600, 30)
    for i in (5, 6, 7):
        seen += [Observation(f"{SITE}/v?id={i}&k0=1&k{key}=12", f"special {i}") for key in (1, 2)]
    book = learn(seen).book
    assert not book.equivalent(f"{SITE}/v?id=5&k0=1&k1=12", f"{SITE}/v?id=5&k3=77")
    assert book.equivalent(f"{SITE}/v?id=5&k4=34567&k1=12345", f"{SITE}/v?id=5&k3=77777")


def frame_of(rows: list[tuple[str, int]], lone: AbstractSet[int] = frozenset()) -> Frame:
    urls = [SITE + url for url, _ in rows]
    table = encode(urls, (values_of(url) for url in urls), [content for _, content in rows], lone)
    return Frame(table, np.arange(len(table)))


def test_a_sample_keeps_clusters_whole_and_what_collides_with_them() -> None:
    """``a`` makes no difference to ten pages, and may be dropped: where it does comes along."""
    rows = [(f"/v?id={i}&a={3 if i < 10 and n else 1}&sid={i * 3 + n}", i) for i in range(400) for n in range(3)]
    rows += [(f"/v?id={i}&a=2&sid={5000 + i}", 1000 + i) for i in range(400)]
    rows += [(f"/other/{i}", 3000 + i) for i in range(4000)]
    frame = frame_of(rows)
    sample = sampled(frame, {}, 600, np.random.default_rng(0))
    assert len(sample.frame) <= 600
    assert 0 < sample.share < 1
    contents = sample.frame.content.tolist()
    taken = [content for content in set(contents) if content < 400]
    assert len(taken) > 50
    assert sum(contents.count(content) == 3 for content in taken) > 0.9 * len(taken)
    assert sum(content >= 3000 for content in contents) < 40, "pages that nothing collides with teach nothing"
    assert sum(1000 + content in contents for content in taken) > 0.9 * len(taken)


def test_of_urls_that_are_merged_already_a_sample_keeps_one() -> None:
    frame = frame_of([(f"/v?id={i}&sid={n}", i) for i in range(50) for n in range(20)])
    sample = sampled(frame, {"q.sid": Level.DROPPED}, 8000, np.random.default_rng(0))
    assert sorted(sample.frame.content.tolist()) == list(range(50))
    assert sample.share == 1.0
