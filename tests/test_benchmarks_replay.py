"""The replay of first crawls, on a small recording."""

import json
from pathlib import Path

import pytest

from .benchmarks import replay
from .benchmarks.recordings.recording import answer, write_recording
from .server import prose

PAGES, COPIES = 60, 3
SITE = "http://127.0.0.1:8123"


def linking(text: str, *targets: str) -> str:
    links = "".join(f'<a href="{target.replace("&", "&amp;")}">{target}</a>' for target in targets)
    return f"<html><body><p>{prose(text)}</p>{links}</body></html>"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A shop whose pages stand under several session ids, page after page; one of them redirects."""
    targets = [f"/p?id={number}&ref=r{number}x{copy}" for number in range(PAGES) for copy in range(COPIES)]
    answers = [answer(f"{SITE}/", linking("start", "/old", *targets), depth=0)]
    answers += [answer(SITE + target, linking(target.partition("&")[0])) for target in targets]
    answers.append(answer(f"{SITE}/old", status=301, location="/p?id=1&ref=r1x1"))
    path = tmp_path / "shop.jsonl.gz"
    write_recording(path, answers)
    return path


def test_a_first_crawl_is_replayed_in_simulated_time(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.main([str(recording), "--rate", "0", "--rate", "1000", "--json"]) == 0
    at_once, late = json.loads(capsys.readouterr().out)
    for found in (at_once, late):
        assert found["downloads"]["plain"] == 1 + PAGES * COPIES
        assert found["lost"] == 0
        saved = found["saved"]
        assert saved["warm"] == 1
        assert 1 > saved["after 3"] > saved["after 10"] > 0.8
    assert at_once["stats"]["dedup/learned/times"] >= 1  # late, the crawl may end before
    assert at_once["saved"]["cold"] > 0.5
    assert late["saved"]["cold"] < at_once["saved"]["cold"], "the later the rules come, the less they save"


def test_what_is_printed(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.main([str(recording), "--rate", "0", "--check"]) == 0
    table = capsys.readouterr().out
    assert "First crawls in simulated time" in table
    assert "shop" in table
