"""The pages of the methods: each says what a reader needs, and its figures are those of the table of benchmarks."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted((DOCS / "methods").glob("*.md"))
PREFIXES = {"entropy": "entropy", "equivalence": "equivalence", "pattern-tree": "pattern tree"}
LEVELS = ["L0", "L1", "L2", "L3"]


def tables(path: Path) -> Iterator[tuple[list[str], list[list[str]]]]:
    """(heads, rows) of the tables of a page."""
    for block in re.findall(r"(?:^\|.*\n)+", path.read_text(encoding="utf-8"), re.MULTILINE):
        heads, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
        yield heads, rows


def measured() -> dict[str, dict[str, str]]:
    """The table of made-up sites: method -> head -> figure."""
    (found,) = [(heads, rows) for heads, rows in tables(DOCS / "benchmarks.md") if heads[:5] == ["method", *LEVELS]]
    heads, rows = found
    return {row[0]: dict(zip(heads, row, strict=True)) for row in rows}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_what_its_method_assumes_costs_and_how_it_errs(page: Path) -> None:
    text = page.read_text(encoding="utf-8").lower()
    for what in ("source", "assumes", "which way it errs", "cost"):
        assert what in text, f"{page.name} says nothing of its {what}"


def test_figures_of_the_pages_are_those_of_the_table() -> None:
    table = measured()
    compared = set()
    for page in PAGES:
        for heads, rows in tables(page):
            if heads[1:5] == LEVELS:
                for row in rows:
                    own = dict(zip(heads, row, strict=True))
                    name = row[0].strip("`")
                    name = name if name in table else f"{PREFIXES[page.stem]} {name}"
                    for head in (*LEVELS, "ways / traps passed on L3"):
                        assert own[head] == table[name][head], f"{page.name}, {name}, {head}"
                    compared.add(name)
    assert "the judge" in compared
    assert {name for name in table if "as published" in name} <= compared
