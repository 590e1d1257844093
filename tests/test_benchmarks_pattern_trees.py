"""Table 2 of the pattern-tree paper, as the benchmark prints it."""

import gzip
import json
from pathlib import Path

import pytest

from tests.benchmarks.pattern_trees import main


def labelled(path: Path, count: int = 60) -> Path:
    """Two directories, one page a number, each under three session ids."""
    rows = [
        {"url": f"http://example.com/{'ab'[n % 2]}/view?id={n}&sid={n * 7 + copy}", "fingerprint": f"p{n}", "words": 90}
        for n in range(count)
        for copy in range(3)
    ]
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_nodes_height_and_time_of_each_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(labelled(tmp_path / "made.jsonl.gz"))
    assert main([file, "--share", "1", "--json"]) == 0
    (tree,) = json.loads(capsys.readouterr().out)
    assert (tree["site"], tree["urls"]) == ("made: example.com", 180)
    assert (tree["nodes"], tree["height"]) == (3, 2), "the root and its two directories"
    assert tree["seconds"] > 0


def test_the_table_has_least_most_and_average(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(labelled(tmp_path / f"{name}.jsonl.gz", count)) for name, count in (("one", 60), ("two", 80))]
    assert main([*files, "--share", "1", "--sites"]) == 0
    shown = capsys.readouterr().out
    assert "pattern trees of 2 sites" in shown
    (urls,) = [line for line in shown.splitlines() if "URLs it was built of" in line and "180" in line]
    assert urls.split()[-3:] == ["180", "240", "210"]
    assert "two: example.com" in shown


def test_small_sites_are_left_out_and_mistakes_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(labelled(tmp_path / "made.jsonl.gz"))
    assert main([file]) == 1, "a fifth of them are fewer than a hundred"
    assert "see --least" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([file, "--share", "0"])
