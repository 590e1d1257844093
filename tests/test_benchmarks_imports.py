"""The benchmark of imports: its files are of one content, and are read whole."""

import pytest

from .benchmarks.imports import FORMATS, main, read, rows


def test_each_page_has_two_urls_of_one_site():
    found = list(rows(400, 10))
    assert len({url for url, _, _ in found}) == 400
    assert len({digest for _, digest, _ in found}) == 200


@pytest.mark.parametrize("kind", FORMATS)
def test_all_records_are_read(tmp_path, kind):
    for package, kinds in (("pyarrow", ("Parquet",)), ("fastwarc", ("WARC",))):
        if kind in kinds:
            pytest.importorskip(package, reason=f"{kind} is read by {package}")
    name, write = FORMATS[kind]
    write(tmp_path / name, 60, 2)
    found = read(kind, tmp_path / name, learning=True)
    assert found.records == 60
    assert found.rules == 2


def test_the_table(capsys):
    assert main(["--records", "40", "--sites", "2", "--only", "JSON lines"]) == 0
    printed = capsys.readouterr().out
    assert "JSON lines, learned" in printed
    assert "MB peak" in printed
