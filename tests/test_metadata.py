"""What stands in more than one file about the package is the same everywhere: versions, Pythons, environments."""

import re
from pathlib import Path
from typing import Any

import pytest
import tomlkit
import yaml

ROOT = Path(__file__).resolve().parent.parent
PROJECT: Any = tomlkit.parse((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if re.fullmatch(r".* :: Python :: 3\.\d+", each)]
#: What tests read outside of the package, beside what hatch takes in by itself (README.rst, pyproject.toml).
READ = (".github", ".readthedocs.yaml", "CHANGES.rst", "Makefile", "docs", "example_project", "tests", "tox.ini")
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def tox() -> str:
    return (ROOT / "tox.ini").read_text(encoding="utf-8")


def test_the_oldest_python() -> None:
    assert PYTHONS == ["3.10", "3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    assert "[testenv:min]\n" in tox()
    assert f"basepython = python{PYTHONS[0]}" in tox()


def test_the_oldest_versions_are_tested() -> None:
    pins = dict(re.findall(r"^    ([A-Za-z0-9-]+)==(\S+)$", tox(), re.MULTILINE))
    wanted = dict(each.split(">=") for each in PROJECT["dependencies"])
    assert pins.pop("Twisted"), "of the time of the oldest Scrapy"
    assert pins == wanted


def test_the_workflow_runs_every_environment() -> None:
    (names,) = re.findall(r"^envlist = (.*)$", tox(), re.MULTILINE)
    environments = names.split(",")
    matrix = loaded(".github/workflows/test.yml")["jobs"]["tox"]["strategy"]["matrix"]["include"]
    assert [row["env"] for row in matrix if not row["env"].startswith("py3")] == [
        name for name in environments if not name.startswith("py3")
    ]
    for version in PYTHONS:
        name = f"py{version.replace('.', '')}"
        assert name in environments
        assert {"python-version": version, "env": name} in matrix
    assert {"python-version": PYTHONS[0], "env": "min"} in matrix


def test_tox_and_make_check_the_same() -> None:
    """What ``make lint``, ``make types`` and ``make docs`` run, tox runs, too."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for tool in ("ruff check", "ruff format --check", "lint-imports", "mypy", "sphinx -W"):
        assert tool in makefile
        assert tool in tox()


def test_what_is_published() -> None:
    jobs = loaded(".github/workflows/publish.yml")["jobs"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["needs"] == "build"
    runs = [step.get("run", "") for step in jobs["build"]["steps"]]
    assert {"python -m build", "twine check --strict dist/*"} <= {*runs}
    # "on" is a truth to YAML 1.1.
    (pattern,) = loaded(".github/workflows/publish.yml")[True]["push"]["tags"]
    assert pattern == "[0-9]+.[0-9]+.[0-9]+*"
    config: Any = tomlkit.parse((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert config["bumpversion"]["tag_name"] == "{new_version}", "a tag that the workflow waits for"


def test_the_documentation_is_built_with_its_extra() -> None:
    config = loaded(".readthedocs.yaml")
    (install,) = config["python"]["install"]
    assert {*install["extra_requirements"]} <= {*PROJECT["optional-dependencies"]}
    assert (ROOT / config["sphinx"]["configuration"]).is_file()
    assert config["sphinx"]["fail_on_warning"]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_issue_forms_are_forms(form: Path) -> None:
    content = loaded(str(form.relative_to(ROOT)))
    if form.name == "config.yml":
        assert all({*link} == {"name", "url", "about"} for link in content["contact_links"])
        return
    assert {"name", "description", "body"} <= {*content}
    for field in content["body"]:
        assert field["type"] in {"textarea", "input", "dropdown", "checkboxes", "markdown"}
        assert field["attributes"]["label"]
    names = [field["id"] for field in content["body"]]
    assert len(set(names)) == len(names)
    assert any(field.get("validations", {}).get("required") for field in content["body"])


def test_links_of_the_project_lead_to_it() -> None:
    assert {*PROJECT["urls"]} == {"Documentation", "Changes", "Source", "Issues"}
    for name in ("Documentation", "Source"):
        assert PROJECT["urls"][name] in (ROOT / "README.rst").read_text(encoding="utf-8")


def test_badges_stay_outside_of_the_documentation() -> None:
    """The start page takes in what stands between two marks of the README; no picture of another host is in there."""
    readme = (ROOT / "README.rst").read_text(encoding="utf-8")
    before, rest = readme.split(".. intro starts\n")
    intro, _ = rest.split(".. intro ends\n")
    assert before.count(".. image:: https://") == 2
    assert ".. image::" not in intro


def test_the_source_distribution_has_what_tests_read() -> None:
    config: Any = tomlkit.parse((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    included = config["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {f"/{name}" for name in READ} <= {*included}
    assert all((ROOT / name).exists() for name in READ)
