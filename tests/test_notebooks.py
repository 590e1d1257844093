"""The notebooks of the example project: run from top to bottom, with the results that are stored in them."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "example_project"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def run(source: str, names: dict[str, Any]) -> dict[str, str]:
    """Run a cell as a notebook does; return what it shows, by MIME type."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)
    if last is None:
        return {}
    assert isinstance(last, ast.Expr)
    value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    shown = {"text/plain": repr(value)}
    return shown | ({"text/html": value._repr_html_()} if hasattr(value, "_repr_html_") else {})


def test_there_are_notebooks() -> None:
    assert [path.name for path in NOTEBOOKS] == ["learn_from_a_file.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_cells_give_what_is_stored(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            stored = {kind: "".join(text) for each in cell["outputs"] for kind, text in each["data"].items()}
            assert run("".join(cell["source"]), names) == stored
            shown.append(stored)
    assert any("q.sid ignore hex{32}" in output.get("text/html", "") for output in shown)
    assert {"text/plain": "'http://shop.example/view?id=77'"} in shown
    assert not list(tmp_path.iterdir()), "a notebook leaves nothing behind"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_the_form_is_right(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    for cell in notebook["cells"]:
        only = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert cell.keys() == {"cell_type", "id", "metadata", "source"} | only
        for output in cell.get("outputs", ()):
            assert output.keys() == {"data", "execution_count", "metadata", "output_type"}
            assert output["output_type"] == "execute_result"
