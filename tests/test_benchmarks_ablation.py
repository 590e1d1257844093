"""The ablation benchmark switches parts off that are there, in this process and in those that it starts, and goes on where it was."""

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from .benchmarks import ablation
from .benchmarks.crawling.project import Project
from .benchmarks.crawling.serving import ROOT
from .benchmarks.parts import FOLDER, NONE, PARTS, SWITCH, part_of, place_of, without


def standing(part: str) -> list[Any]:
    """Return what stands at the places of a part."""
    return [vars(owner)[name] for owner, name in map(place_of, part_of(part).changes)]


@pytest.mark.parametrize("part", [part for part in PARTS if part != NONE])
def test_a_part_is_left_out_for_as_long_as_asked(part: str) -> None:
    there = standing(part)
    assert there or part_of(part).settings
    with without(part):
        assert all(one is not other for one, other in zip(there, standing(part), strict=True))
    assert standing(part) == there


def test_it_is_left_out_of_the_processes_that_are_started() -> None:
    with without("guards"):
        found = run("print(__import__('scrapy_dedup.learning.search.guards', fromlist='_').best_guard())")
    assert found.stdout == "None\n"


def run(code: str) -> "subprocess.CompletedProcess[str]":
    """Run a line of Python as a crawl is run."""
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_process_that_cannot_do_without_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "none of them")
    monkeypatch.setenv("PYTHONPATH", str(FOLDER))
    assert run("print('it goes on')").returncode == 3


def test_settings_of_a_part_are_those_of_projects(tmp_path: Path) -> None:
    with without("postponing"):
        Project(tmp_path / "without", {})
    Project(tmp_path / "with", {})
    settings = [(tmp_path / name / "benchmark_settings.py").read_text() for name in ("without", "with")]
    assert ["DEDUP_POSTPONE = False" in each for each in settings] == [True, False]


def test_what_is_measured_is_not_measured_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "results.jsonl"
    rows = [(NONE, 0.5, 1), ("budget", 0.5, 4), ("opinions", 0.504, 1), ("strata", 0.52, 1)]
    found = [
        {"part": part, "column": "made-up", "figures": {"removed": removed, "lost": lost}}
        for part, removed, lost in rows
    ]
    results.write_text("".join(json.dumps(row) + "\n" for row in found))
    asked = ["--only", *(part for part, *_ in rows), "--columns", "made-up", "--results", str(results)]
    assert ablation.main(["--data", str(tmp_path), *asked]) == 0
    cells = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert cells[1:] == [
        ["opinions", "removed +0.004", "..."],
        ["strata", "removed +0.020", "made-up ..."],
        ["budget", "lost +3", "made-up ..."],
    ]


def test_parts_may_be_left_out_together() -> None:
    there = {part: standing(part) for part in PARTS}
    with ExitStack() as stack:
        for part in PARTS:
            stack.enter_context(without(part))
    assert {part: standing(part) for part in PARTS} == there
    modules = [module for name, module in sys.modules.items() if name.startswith("scrapy_dedup")]
    assert not any(
        getattr(value, "__module__", "") == without.__module__ for each in modules for value in vars(each).values()
    )
