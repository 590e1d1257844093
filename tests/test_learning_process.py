"""``python -m scrapy_dedup.learning``, as the crawl runs it: a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.rules import Nested
from scrapy_dedup.store.store import Store

from .processes import CAN_FORK, run_module
from .store_rows import seen
from .waiting import PATIENCE


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it forked, where that is possible; a test starts it as a crawl does."""
    if CAN_FORK:
        return run_module("scrapy_dedup.learning", arguments, Path.cwd(), os.environ)
    command = [sys.executable, "-m", "scrapy_dedup.learning", *arguments]
    return subprocess.run(command, input="", capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    with Store.open(path) as opened:
        opened.add(
            seen(f"p?id={i}&sid={i * 3 + session:032x}", f"this is page number {i} of them all")
            for i in range(40)
            for session in range(3)
        )
    return path


def test_rules_are_written_and_a_summary_is_printed(store: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    done = run("--store", str(store), "--dir", str(rules))
    assert (done.returncode, done.stderr) == (0, "")
    summary = json.loads(done.stdout)
    assert summary["rules"] == 1
    assert summary["sites"][0]["site"] == "example.com"
    assert summary["sites"][0]["removed"] == summary["sites"][0]["duplicates"] == 80
    assert RuleBook.load(rules).equivalent("http://example.com/p?id=9&sid=" + "a" * 32, "http://example.com/p?id=9")


def test_names_of_parameters_are_told(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Store.open(path) as opened:
        opened.add(
            seen(f"p?id={i}&view={view}", f"this is page number {i} of them all") for i in range(5) for view in "ab"
        )
    found = {
        kind: json.loads(
            run("--store", str(path), "--dir", str(tmp_path / kind), "--names", json.dumps({kind: ["view"]})).stdout
        )["rules"]
        for kind in ("relevant", "irrelevant")
    }
    assert found == {"relevant": 0, "irrelevant": 1}
    wrong = run("--store", str(path), "--dir", str(tmp_path / "rules"), "--names", '["view"]')
    assert wrong.returncode == 1
    assert "it must be a dictionary" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_only_the_asked_sites_are_learned(store: Path, tmp_path: Path) -> None:
    done = run("--store", str(store), "--dir", str(tmp_path / "rules"), "--site", "example.org")
    assert (done.returncode, json.loads(done.stdout)["sites"]) == (0, [])


def test_nested_urls_are_compared_by_the_file_of_their_site(store: Path, tmp_path: Path) -> None:
    """One site is learned at a time, as in a crawl; the file of the other one is read for what is nested."""
    with Store.open(store) as opened:
        opened.add(
            seen(
                "",
                f"this is frame number {i} of them all",
                site="frames.com",
                url=f"http://frames.com/f?url=http%3A%2F%2Fexample.com%2Fp%3Fid%3D{i}%26sid%3D{i * 3 + session:032x}",
            )
            for i in range(40)
            for session in range(3)
        )
    rules = tmp_path / "rules"
    for site in ("example.com", "frames.com"):
        assert run("--store", str(store), "--dir", str(rules), "--site", site).returncode == 0
    book = RuleBook.load(rules)
    assert [rule.ops for rule in book.for_site("frames.com")] == [{"q.url": Nested()}]
    frame = "http://frames.com/f?url=http%3A%2F%2Fexample.com%2Fp%3Fid%3D9"
    assert book.equivalent(f"{frame}%26sid%3D{'a' * 32}", frame)


def test_a_store_that_is_none_is_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "store.sqlite"
    broken.write_bytes(b"this is no database" * 100)
    done = run("--store", str(broken), "--dir", str(tmp_path / "rules"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert str(broken) in done.stderr


def test_a_faulty_rule_file_is_one_line_and_stays(store: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    faulty = rules / "example.com.toml"
    faulty.write_text('format = "dedup-rules/1"\nsite = "example.com"\n[[rule]]\nstatus = "perhaps"\n')
    before = faulty.read_text()
    done = run("--store", str(store), "--dir", str(rules))
    assert done.returncode == 1
    assert str(faulty) in done.stderr
    assert "Traceback" not in done.stderr
    assert faulty.read_text() == before


def test_two_processes_that_learn_one_site_leave_a_whole_file(store: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    command = [sys.executable, "-m", "scrapy_dedup.learning", "--store", str(store), "--dir", str(rules)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    for process in running:
        process.communicate(timeout=PATIENCE)
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(RuleBook.load(rules)) == 1
    assert len(list(rules.glob("*.toml"))) == 1


def test_it_ends_with_the_process_that_started_it(store: Path, tmp_path: Path) -> None:
    command = ["--store", str(store), "--dir", str(tmp_path / "rules"), "--parent"]
    done = run(*command)
    assert done.returncode in {0, 3}, "it may have been faster than the end of its input"
