"""Scrapy's own tests, without the add-on and with it in the default settings: which fail only with it?

    python -m tests.scrapy_suite [--scrapy 2.19.0] [--work FOLDER] [--venv FOLDER] [PATTERN..]

The source distribution is downloaded and its test requirements are installed into a virtual environment of their own,
so this needs a package index; some minutes to an hour, as the machine is. A PATTERN chooses test modules, such as
``test_engine*``. A test that fails with the add-on alone is run again on both sides, one at a time: what fails by chance is
left out. The exit code is 1 if any remains.
"""

import argparse
import configparser
import os
import re
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

PROJECT: Final = Path(__file__).parent.parent

#: Modules that run crawls, or parts of one that the plug-in stands beside.
PATTERNS: Final = (
    *("test_addons*", "test_closespider*", "test_cmdline*", "test_command*", "test_contracts*", "test_core_*"),
    *("test_crawl*", "test_downloadermiddleware*", "test_downloaderslotssettings*", "test_dupefilters*"),
    *("test_engine*", "test_extension_throttle*", "test_feedexport*", "test_pipeline*", "test_request_attribute*"),
    *("test_request_cb_kwargs*", "test_request_left*", "test_scheduler*", "test_signals*", "test_spider_crawl*"),
    *("test_spider_start*", "test_spidermiddleware*", "test_spiderstate*"),
)

#: Below Scrapy's default settings.
_ADDED: Final = """

# The add-on, with a store and rules of each test's own.
import os

ADDONS = {"scrapy_dedup.Addon": 600}
DEDUP_STORE = os.environ["DEDUP_SUITE"] + "/store.sqlite"
DEDUP_DIR = os.environ["DEDUP_SUITE"] + "/dedup-rules"
"""

#: A pytest plug-in: processes that a test starts get its folder from the environment.
_PLUGIN: Final = """
import pytest


@pytest.fixture(autouse=True)
def _own_store(tmp_path_factory, monkeypatch):
    from scrapy.settings import default_settings

    folder = str(tmp_path_factory.mktemp("dedup"))
    monkeypatch.setenv("DEDUP_SUITE", folder)
    monkeypatch.setattr(default_settings, "DEDUP_STORE", folder + "/store.sqlite")
    monkeypatch.setattr(default_settings, "DEDUP_DIR", folder + "/dedup-rules")
"""


def main() -> int:
    """Run both, print the difference and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--scrapy", metavar="VERSION", help="of Scrapy; the installed one otherwise")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="where all is put; a temporary one otherwise")
    parser.add_argument("--venv", type=Path, metavar="FOLDER", help="a virtual environment that has all that is needed")
    parser.add_argument("--workers", default="2", help="processes that run tests at the same time (%(default)s)")
    parser.add_argument("--timeout", type=int, default=180, help="seconds that a test may take (%(default)s)")
    parser.add_argument(
        "patterns", nargs="*", default=PATTERNS, help="test modules; all that concern a crawl otherwise"
    )
    options = parser.parse_args()
    version = options.scrapy or _installed()
    work = (options.work or Path(mkdtemp(prefix="scrapy-suite-"))).absolute()
    work.mkdir(parents=True, exist_ok=True)
    source = _source(work, version)
    python = (options.venv / "bin" / "python").absolute() if options.venv else _environment(work, version, source)
    suites = [Suite(work, source, python, addon=addon) for addon in (False, True)]
    arguments = ["-n", options.workers, f"--timeout={options.timeout}"]
    outcomes = [suite.run(suite.modules(options.patterns), arguments) for suite in suites]
    for name, found in zip(("without", "with"), outcomes, strict=True):
        print(f"{name:8} {', '.join(f'{number} {what}' for what, number in sorted(Counter(found.values()).items()))}")
    without, with_addon = outcomes
    suspects = sorted(test for test, what in with_addon.items() if what == "failed" and without.get(test) == "passed")
    if suspects:
        again = [suite.run(suite.files(suspects), ["-n", "0", *arguments[2:]], suspects) for suite in suites]
        suspects = [test for test in suspects if again[0].get(test) == "passed" and again[1].get(test) != "passed"]
    print(f"{len(suspects)} fail only with the add-on, twice" + (":" if suspects else ""))
    for test in suspects:
        print(f"  {test}")
    print(f"what they said: {work}")
    return 1 if suspects else 0


class Suite:
    """One copy of Scrapy and its tests."""

    def __init__(self, work: Path, source: Path, python: Path, *, addon: bool) -> None:
        self._name = "with" if addon else "without"
        self._work = work
        self._python = python
        self._folder = work / self._name / source.name.removesuffix(".tar.gz")
        self._times = 0
        if not self._folder.is_dir():
            with tarfile.open(source) as archive:
                archive.extractall(work / self._name, filter="data")
            if addon:
                settings = self._folder / "scrapy" / "settings" / "default_settings.py"
                settings.write_text(settings.read_text(encoding="utf-8") + _ADDED, encoding="utf-8")
        self._addon = addon
        (work / "plugin").mkdir(exist_ok=True)
        (work / "plugin" / "own_store.py").write_text(_PLUGIN, encoding="utf-8")

    def modules(self, patterns: "list[str] | tuple[str, ...]") -> list[str]:
        """Return the files and folders of tests that one of *patterns* fits."""
        found = {path for pattern in patterns for path in (self._folder / "tests").glob(pattern)}
        return sorted(str(path.relative_to(self._folder)) for path in found)

    def files(self, tests: list[str]) -> list[str]:
        """Return the files that *tests* stand in."""
        names = {test.partition("::")[0] for test in tests}
        found = []
        for name in sorted(names):
            path = Path(*name.split("."))
            while not (self._folder / path).with_suffix(".py").is_file() and path.parent.name:
                path = path.parent  # a class
            found.append(str(path.with_suffix(".py")))
        return sorted(set(found))

    def run(self, files: list[str], arguments: list[str], only: "list[str] | None" = None) -> dict[str, str]:
        """Run *files*, of these *only* some tests; return test -> what became of it."""
        self._times += 1
        report = self._work / f"{self._name}-{self._times}.xml"
        report.unlink(missing_ok=True)
        more = ["-p", "own_store"] if self._addon else []
        if only is not None:
            names = sorted({re.split(r"[\[ ]", test.rpartition("::")[2])[0] for test in only})
            more += ["-k", " or ".join(names)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(self._folder), str(self._work / "plugin"))),
            "DEDUP_SUITE": mkdtemp(dir=self._work),
        }
        command = [str(self._python), "-m", "pytest", "-q", "--no-header", "--tb=short", "-p", "no:cacheprovider"]
        with (self._work / f"{self._name}-{self._times}.log").open("wb") as log:
            subprocess.run(
                [*command, f"--junitxml={report}", *arguments, *more, *files],
                cwd=self._folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if not report.is_file():
            sys.exit(f"pytest has failed, see {log.name}")
        return dict(_outcomes(report))


def _outcomes(report: Path) -> "list[tuple[str, str]]":
    """Return the tests of a JUnit report, and whether each has passed, failed or was skipped."""
    found = []
    for case in ET.parse(report).getroot().iter("testcase"):
        parts = {child.tag for child in case}
        what = "failed" if parts & {"failure", "error"} else "skipped" if "skipped" in parts else "passed"
        found.append((f"{case.get('classname')}::{case.get('name')}", what))
    return found


def _installed() -> str:
    import scrapy

    return scrapy.__version__


def _source(work: Path, version: str) -> Path:
    """Return the source distribution."""
    found = list(work.glob(f"*-{version}.tar.gz"))
    if not found:
        download = ["download", "--quiet", "--no-binary", ":all:", "--no-deps", "--dest", str(work)]
        subprocess.run([sys.executable, "-m", "pip", *download, f"scrapy=={version}"], check=True)
        found = list(work.glob(f"*-{version}.tar.gz"))
    return found[0]


def _environment(work: Path, version: str, source: Path) -> Path:
    """Return the Python of a virtual environment with Scrapy, what its tests need, and the plug-in."""
    folder = work / "venv"
    python = folder / "bin" / "python"
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, f"scrapy=={version}", *_requirements(source), str(PROJECT)], check=True)
    return python


def _requirements(source: Path) -> list[str]:
    """Return what the tox.ini of Scrapy says that its tests need."""
    with tarfile.open(source) as archive:
        name = next(name for name in archive.getnames() if name.count("/") == 1 and name.endswith("/tox.ini"))
        file = archive.extractfile(name)
        assert file is not None
        text = file.read().decode()
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    lines = "\n".join(parser.get(part, "deps", fallback="") for part in ("test-requirements", "testenv")).splitlines()
    plain = [
        re.sub(r"\s+", "", line.partition("#")[0])
        for line in lines
        if "{" not in line and ":" not in line.split("#")[0]
    ]
    # Warnings are errors there, and later ones have some that Scrapy's tests know nothing of.
    return [*filter(None, plain), "pytest<9", "pytest-timeout", "pytest-xdist"]


if __name__ == "__main__":
    sys.exit(main())
