"""The names of stats: those in the code, in the reference and in the rest of the documentation are the same."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: What begins like a stat, and is none: the folder of the store.
NO_STATS = {"dedup/store.sqlite", "dedup/report.html"}


@pytest.fixture(name="stats")
def _stats(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return dict(importlib.import_module("_stats").STATS)


def _in_code() -> Iterator[str]:
    """Yield the names in the code, those of f-strings with ``<>`` for what varies."""
    for path in (ROOT / "scrapy_dedup").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                yield "".join(part.value if isinstance(part, ast.Constant) else "<>" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def _plain(name: str) -> str:
    return re.sub(r"<[^>]*>", "<>", name)


def _known(stats: dict[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(_plain(name)).replace("<>", ".+") for name in stats))


def test_the_reference_has_the_stats_of_the_code(stats: dict[str, str]) -> None:
    in_code = {*_in_code()}
    found = {name for name in in_code if re.fullmatch(r"dedup/[a-z_/]+[a-z](/?<>)?", name)} - NO_STATS
    assert {_plain(name) for name in stats} <= in_code
    assert not {name for name in found if not _known(stats).fullmatch(name)}


def test_the_documentation_names_stats_that_are_there(stats: dict[str, str]) -> None:
    wrong = {
        (path.name, name)
        for path in [*(ROOT / "docs").rglob("*.rst"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.rst"]
        for name in re.findall(r"(?<![\w./])(?:`|\")(dedup/[^`\"\s]+)", path.read_text(encoding="utf-8"))
        if not name.endswith("/") and not _known(stats).fullmatch(name)
    }
    assert not wrong


def test_each_stat_is_described_by_itself(stats: dict[str, str]) -> None:
    """They are shown by name, so that none may lean on the one before it."""
    for what in stats.values():
        assert what.endswith(".")
        assert not re.match(r"Those|The same|Likewise", what)


def test_the_monitor_of_the_guide_counts_stats_that_are_there(stats: dict[str, str]) -> None:
    text = (ROOT / "docs" / "how-to" / "monitor.rst").read_text(encoding="utf-8")
    counted = re.findall(r'self\.count\("([^"]+)"\)', text)
    assert len(counted) == 7
    assert {f"dedup/{name}" for name in counted} <= stats.keys()
