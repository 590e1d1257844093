"""Figures that were frozen, and today's: what is told of them. No benchmark is run."""

import json
from pathlib import Path

import pytest

from .benchmarks import baseline
from .benchmarks.baseline import TOLERANCES, Entry, compare, kind_of
from .benchmarks.baseline_table import SITES, benchmarks

FROZEN = {"warm: share": 0.8, "warm: downloads": 1000.0, "warm: lost": 1.0, "learning: time": 2.0}


def entry(figures: dict[str, float]) -> Entry:
    return {"commit": "abc", "seconds": 1, "cpu": 1, "figures": figures}


@pytest.mark.parametrize(
    ("figure", "today", "verdict"),
    [
        ("warm: share", 0.78, ""),
        ("warm: share", 0.77, "worse"),
        ("warm: share", 0.83, "better"),
        ("warm: downloads", 1020.0, ""),
        ("warm: downloads", 1021.0, "worse"),
        ("warm: downloads", 900.0, "better"),
        ("warm: lost", 2.0, "worse"),
        ("warm: lost", 0.0, "better"),
        ("learning: time", 2.3, ""),
        ("learning: time", 2.4, "worse"),
        ("learning: time", 1.0, "better"),
    ],
)
def test_what_differs_by_more_than_its_tolerance_is_told(
    figure: str, today: float, verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = compare({"site": entry(FROZEN)}, {"site": entry({**FROZEN, figure: today})}, [], [])

    printed = capsys.readouterr().out
    assert code == (verdict == "worse")
    assert (f"site; {figure}" in printed) == bool(verdict)
    assert "4 figures of 1 benchmarks compared" in printed.splitlines()[-1]
    assert (f"3 within tolerance, 1 {verdict}" if verdict else "4 within tolerance") in printed.splitlines()[-1]


def test_what_is_gone_failed_or_lacks_data_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    found = {"site": entry({"warm: share": 0.8, "warm: rules": 3.0})}

    assert compare({"site": entry(FROZEN)}, found, ["labelled"], []) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert "1 within tolerance, 1 new, 3 gone" in last
    assert last.endswith("left out for lack of data: labelled")

    assert compare({"site": entry(FROZEN)}, {}, [], ["site"]) == 1
    assert capsys.readouterr().out.endswith("failed: site\n")


def test_the_frozen_figures_are_of_kinds_that_there_are() -> None:
    frozen = json.loads(baseline.FILE.read_text("utf-8"))

    assert {kind_of(figure) for each in frozen.values() for figure in each["figures"]} <= TOLERANCES.keys()


def test_recorded_sites_labels_and_scripts_are_found_in_the_folder_of_the_data(tmp_path: Path) -> None:
    names = (
        "sites/shop.jsonl.gz",
        "sites/shop-quiet.labels.tsv.gz",
        "repro/cases/07_case.py",
        "data/urls/forum.jsonl.gz",
    )
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    found = benchmarks(tmp_path)

    assert f"--labels={tmp_path}/sites/shop-quiet.labels.tsv.gz" in found["recorded, shop, injected"].command
    assert found["cases, 07_case"].command == (f"{tmp_path}/repro/cases/07_case.py",)
    assert {"replay, shop", "likeness, shop, typed", "labelled, odd .01"} <= found.keys()
    assert "worlds, quiet" not in found


def test_what_is_kept_of_a_run_that_was_interrupted_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, file = tmp_path / "today.json", tmp_path / "baseline.json"
    baseline.write(kept, {"lifecycle": entry(FROZEN)}, ())
    baseline.write(file, {"news": entry(FROZEN)}, ())
    monkeypatch.setattr(baseline, "FILE", file)

    assert baseline.main(["--freeze", "--only", "lifecycle", "--today", str(kept)]) == 0
    assert baseline.read(file) == {"news": entry(FROZEN), "lifecycle": entry(FROZEN)}
    assert baseline.main(["--compare", "--only", "lifecycle", "--today", str(kept)]) == 0
    assert "4 figures of 1 benchmarks compared, 4 within tolerance" in capsys.readouterr().out


def test_the_sites_of_the_repository_need_no_data() -> None:
    names = [path.name.split(".")[0] for path in SITES.glob("*.jsonl.gz")]

    assert {f"{kind}, {name}" for kind in ("recorded", "replay") for name in names} <= benchmarks(None).keys()
