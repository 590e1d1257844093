"""The benchmark of Spark: its records, and that it prints what both ways have learned."""

import pytest

from .benchmarks.spark import main, rows
from .spark_session import why_no_spark


def test_one_site_has_half_of_all_records():
    found = list(rows(4_000, 20))
    assert len({url for url, _, _ in found}) == 4_000
    assert sum(url.startswith("http://site0.test/") for url, _, _ in found) == 2_000
    assert len({url.partition("/view")[0] for url, _, _ in found}) == 20
    assert len({digest for _, digest, _ in found}) <= 2_020, "each page has two URLs"


@pytest.mark.spark
@pytest.mark.skipif(why_no_spark() is not None, reason=str(why_no_spark()))
def test_the_tables(capsys):
    assert main(["--records", "160", "--sites", "5", "--sizes", "1", "--cores", "1"]) == 0
    printed = capsys.readouterr().out
    assert "records/processor s" in printed
    assert "rule files that are the same byte for byte: 5 of 5" in printed
