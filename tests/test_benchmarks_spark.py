"""The benchmark of Spark: its records."""

from .benchmarks.spark import rows


def test_one_site_has_half_of_all_records():
    found = list(rows(4_000, 20))
    assert len({url for url, _, _ in found}) == 4_000
    assert sum(url.startswith("http://site0.test/") for url, _, _ in found) == 2_000
    assert len({url.partition("/view")[0] for url, _, _ in found}) == 20
    assert len({digest for _, digest, _ in found}) <= 2_020, "each page has two URLs"
