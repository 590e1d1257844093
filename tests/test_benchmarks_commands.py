"""The commands of the benchmarks: each runs on a tiny input, and prints what was counted by hand, or what there is to be found."""

import gzip
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup import Observation

from .benchmarks.imports import FORMATS, rows
from .benchmarks.methods.compared import Keys, Safe, asked_for, available
from .benchmarks.scoring.checks import Check, report
from .benchmarks.sites.many_keys import ordinary_site
from .benchmarks.timing.learning import learn, slope


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two directories, one page a number, each under three session ids."""
    path = tmp_path_factory.mktemp("labelled") / "made.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for number in range(60):
            for copy in range(3):
                url = f"http://example.com/{'ab'[number % 2]}/view?id={number}&sid={number * 7 + copy}x"
                file.write(json.dumps({"url": url, "fingerprint": f"p{number}", "words": 90}) + "\n")
    return str(path)


COMMANDS = {
    "labelled": "--split none",
    "pattern_trees": "--share 1 --least 1",
    "synthetic": "--level L0 --only D1 --pages 60 --methods pipeline,w3lib --show 1",
    "small_sites": "--seeds 2",
    "transient": "--only cases --cases X4 --pages 6 --sites 1",
    "aliases": "--no-crawl --seeds 1 --threads 4",
    "pages": "--pages 4 --rounds 1",
    "imports": "--records 40 --sites 2 --only CSV",
    "calibration": "--small 4 --seeds 0 --by kind",
}
PRINTED = {
    "labelled": "learned rules",
    "pattern_trees": "pattern trees of 1 sites",
    "synthetic": "scored on unseen pages",
    "small_sites": "2 sites: ",
    "transient": "All cases together",
    "aliases": "phpbb",
    "pages": "made-up, 50 kB",
    "imports": "records/s",
    "calibration": "log loss",
}
CRAWLING = ("recorded", "likeness", "lifecycle", "live", "fleet", "news.command", "items", "speed", "priors", "spark")
"""Commands that crawl, or take long: that they can be started is all that is asked of them here."""


def arguments_of(name: str, labelled: str) -> list[str]:
    files = [labelled] if name in ("labelled", "pattern_trees") else []
    return [*files, *COMMANDS[name].split()]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_its_table(name: str, labelled: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert import_module(f"tests.benchmarks.{name}").main(arguments_of(name, labelled)) == 0
    assert PRINTED[name] in capsys.readouterr().out


@pytest.mark.parametrize("name", CRAWLING)
def test_a_command_says_what_it_does(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        import_module(f"tests.benchmarks.{name}").main(["--help"])
    assert f"python -m tests.benchmarks.{name.removesuffix('.command')}" in capsys.readouterr().out


def shown(name: str, labelled: str, capsys: pytest.CaptureFixture[str]) -> Any:
    assert import_module(f"tests.benchmarks.{name}").main([*arguments_of(name, labelled), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_figures_that_were_counted_by_hand(labelled: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = shown("labelled", labelled, capsys)["files"][0]["methods"]
    assert (found["learned rules"]["urls"], found["learned rules"]["pages"], found["learned rules"]["lost"]) == (
        *(180, 60),
        0,
    )
    assert found["learned rules"]["oracle_compression"] == 1
    assert found["w3lib canonicalize_url"]["saved"] == 0
    (tree,) = shown("pattern_trees", labelled, capsys)
    assert (tree["urls"], tree["nodes"], tree["height"]) == (180, 3, 2), "the root and its two directories"
    level = shown("synthetic", labelled, capsys)["levels"]["L0"]
    assert level["w3lib"]["micro"]["saved"] == 0
    assert level["pipeline"]["micro"]["lost"] == 0
    assert level["pipeline"]["rules"]["deployed"] > 0


def test_methods_by_name_learn_from_little_and_from_nothing() -> None:
    assert list(asked_for("pattern tree, graph,w3lib")[0]) == ["pattern tree, graph", "w3lib"]
    with pytest.raises(ValueError, match="magic"):
        asked_for("w3lib,magic")
    few = [
        Observation(f"http://a.example/t?id={page}&sid={page}{visit}", f"{page}" * 20)
        for page in range(9)
        for visit in (1, 2)
    ]
    for name, method in available()[0].items():
        for observations in (few, few[:1], []):
            keys = method(observations)
            assert isinstance(keys, Keys), name
            assert isinstance(keys.key("http://a.example/t?id=1&sid=77"), str), name
    listed = available()[0]["tracker list"]([]).key
    assert listed("http://a.example/x;jsessionid=1?utm_source=a&id=2&PHPSESSID=3") == "http://a.example/x?id=2"
    safe = Safe(lambda url: str(1 / len(url)))
    assert (safe("ab"), safe(""), safe.errors) == ("0.5", "", 1)


def test_a_missed_figure_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([Check("fine", 0.5, 0.5)]) == 0
    assert report([Check("fine", 1, most=1), Check("shop: saved", 0.25, 0.5), Check("none", None, 1)]) == 1
    printed = capsys.readouterr().err
    assert "shop: saved: 0.25, must be at least 0.5" in printed
    assert "none: no figure" in printed
    assert "fine: 1," not in printed


@pytest.mark.parametrize("kind", FORMATS)
def test_all_records_of_a_format_are_read(tmp_path: Path, kind: str) -> None:
    imports: Any = import_module("tests.benchmarks.imports")
    for package, of in (("pyarrow", "Parquet"), ("fastwarc", "WARC")):
        if kind == of:
            pytest.importorskip(package, reason=f"{kind} is read by {package}")
    name, write = FORMATS[kind]
    write(tmp_path / name, 60, 2)
    found = imports.read(kind, tmp_path / name, learning=True)
    assert (found.records, found.rules) == (60, 2)
    made = list(rows(400, 10))
    assert (len({url for url, _, _ in made}), len({digest for _, digest, _ in made})) == (400, 200)


def test_how_learning_grows() -> None:
    assert slope([(1000, 2.0)]) is None
    assert slope([(1000, 2.0), (10_000, 20.0), (100_000, 200.0)]) == pytest.approx(1.0)
    assert slope([(1000, 1.0), (10_000, 100.0)]) == pytest.approx(2.0)
    assert len({url for url, _ in ordinary_site(2000)}) == 2000
    found = learn(2000)
    assert (found.urls, found.lost) == (2000, 0)
    assert found.rules >= 1
