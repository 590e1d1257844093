"""The checks of ``make lint`` that are our own: links, and phrases that are not to be used."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"


@pytest.fixture(name="checks")
def _checks(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any, Any]:
    monkeypatch.syspath_prepend(str(DOCS))
    texts, links, wording = map(importlib.import_module, ("_texts", "_links", "_wording"))
    return texts, links, wording


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    (tmp_path / "docs" / "usage").mkdir(parents=True)
    (tmp_path / "docs" / "_build").mkdir()
    (tmp_path / "scrapy_dedup").mkdir()
    return tmp_path


@pytest.mark.parametrize("script", ["_links.py", "_wording.py"])
def test_the_documentation_is_right(script: str) -> None:
    done = subprocess.run([sys.executable, DOCS / script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_a_script_fails_where_something_is_wrong(root: Path) -> None:
    for name in ("_links.py", "_wording.py", "_texts.py", "_wording.txt"):
        (root / "docs" / name).write_text((DOCS / name).read_text(encoding="utf-8"), encoding="utf-8")
    (root / "README.rst").write_text("See `this <docs/none.rst>`_ of\nwhat\npasses.\n")
    for script, said in (("_links.py", "README.rst:1: docs/none.rst"), ("_wording.py", 'README.rst:2: "what passes"')):
        done = subprocess.run([sys.executable, root / "docs" / script], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert done.stdout.startswith(said)


def test_code_is_left_out_and_all_else_stays_where_it_was(checks: Any) -> None:
    without_code = checks[0].without_code
    assert without_code("see ``passing`` parts", ".rst") == "see             parts"
    assert without_code("see `passing` [parts](a)", ".md") == "see           [parts](a)"
    assert without_code("a\n\n```\nb\n```\nc", ".md") == "a\n\n   \n \n   \nc"
    assert without_code("a::\n\n    b\n\n    c\n\nd\n", ".rst") == "a::\n\n     \n\n     \n\nd\n"


def test_links_of_markdown(checks: Any, root: Path) -> None:
    (root / "SECURITY.md").write_text(
        "[a](docs/a.md) [b](docs/none.md) [c](docs/a.md#two-words) [d](docs/a.md#none)\n"
        "[e](#here) [f](https://example.com/x) [g](http:/example.com) [h](ftp://example.com/)\n"
        "`[code](docs/none.md)` <https://nowhere> [i](docs/a.md#same-1) [j](docs/a.md#own)\n\n# Here\n\n"
        "```\n[code](docs/none.md)\n```\n"
    )
    (root / "docs" / "a.md").write_text("# Two, words\n\n## Same\n\n(own)=\n## Same\n")
    assert [fault.partition(": ")[2].partition(": ")[0] for fault in checks[1].faults(root)] == [
        "docs/none.md",
        "docs/a.md#none",
        "http:/example.com",
        "ftp://example.com/",
        "https://nowhere",
    ]


def test_links_of_restructured_text(checks: Any, root: Path) -> None:
    (root / "README.rst").write_text(
        "`first\nsteps <docs/a.rst>`_, `other <docs/none.rst>`_, `more <docs/a.rst#a-title>`__\n\n"
        ".. _named: docs/gone.rst\n\n.. image:: https://example.com/a.svg\n   :target: nowhere.rst\n\n"
        "``code <docs/none.rst>``\n\n.. code-block:: text\n\n   `code <docs/none.rst>`_\n\n:doc:`left to Sphinx <gone>`\n"
    )
    (root / "docs" / "a.rst").write_text("A title\n=======\n\n`up <../README.rst#none>`_ :doc:`/x`\n")
    (root / "docs" / "_build" / "b.rst").write_text("`x <none.rst>`_\n")
    assert list(checks[1].faults(root)) == [
        "README.rst:2: docs/none.rst: there is no such file",
        "README.rst:4: docs/gone.rst: there is no such file",
        "README.rst:7: nowhere.rst: there is no such file",
        "docs/a.rst:4: ../README.rst#none: the file has no such heading",
    ]


def test_phrases(checks: Any, root: Path) -> None:
    wording = checks[2]
    unwanted = {"what passes": "transient content", "revisit*": "refetch"}
    (root / "README.rst").write_text("See What\npasses, and ``what passes`` as code. It surpasses what passesby.\n")
    (root / "docs" / "a.md").write_text("# Revisits\n\n`revisits`, DEDUP_REVISITS, dedup/revisits, revisited\n")
    (root / "scrapy_dedup" / "a.py").write_text(
        '"""Of what passes."""\nlogger.info("It %s", f"is {1} revisit")\nname = "what passes"\n'
        'faults.report("x", "what passes is lost")\nkept: int = setting(1, int, "int", "How what passes.")\n'
    )
    assert list(wording.faults(unwanted, root)) == [
        'README.rst:1: "What passes": write "transient content"',
        'docs/a.md:1: "Revisits": write "refetch"',
        'docs/a.md:3: "revisited": write "refetch"',
        'scrapy_dedup/a.py:2: "revisit": write "refetch"',
        'scrapy_dedup/a.py:4: "what passes": write "transient content"',
        'scrapy_dedup/a.py:5: "what passes": write "transient content"',
    ]


def test_the_list_of_phrases(checks: Any) -> None:
    found = checks[2].phrases()
    assert found["what passes"] == "transient content"
    assert all(phrase and instead for phrase, instead in found.items())
