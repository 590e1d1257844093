"""Record the sites of this folder anew: install, fill, serve, crawl, label.

    python -m tests.benchmarks.recorded_sites.make NAME... --into DIR [--environments DIR]

Each site's software, of the version that stands here, goes into a virtual environment of its own; pip has to reach a package
index. The site is filled with made-up texts, serves on 127.0.0.1 at a port that the system gives, and is crawled to its end, or to
its limit. The texts are always the same ones; times of day, ports and the tokens of the sites are not.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..crawling.project import Project
from ..crawling.serving import ROOT
from .labels import write_labels
from .recorder import SETTINGS


@dataclass(frozen=True, slots=True)
class Site:
    """What is installed, and how many responses are recorded at most."""

    packages: tuple[str, ...]
    most: int


SITES = {
    "moin": Site(("moin==2.0.0b5",), 820),
    "klaus": Site(("klaus==3.0.1",), 2500),
    "devpi": Site(("devpi-server==6.20.3", "devpi-web==5.1.1"), 1500),
    "machina": Site(("django-machina==1.3.1", "Django==5.2.19"), 2000),
    "cartridge": Site(("Cartridge==1.3.4", "Mezzanine==6.1.1", "Django==4.2.30", "setuptools<81"), 1500),
}
LONGEST = 4 * 3600
"""Seconds that a crawl takes at most."""


def installed(name: str, folder: Path) -> Path:
    """The interpreter of a site's virtual environment, which is made where it is not there."""
    python = folder / name / "bin" / "python"
    if not python.exists():
        venv.create(folder / name, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *SITES[name].packages], check=True)
    return python


@contextmanager
def served(name: str, python: Path, folder: Path) -> Iterator[str]:
    """The start page of a site that is filled in *folder*, while it is served."""
    command = [python, "-m", f"{__package__}.{name}_site", folder]
    pipe = subprocess.PIPE
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=folder, env=environment) as process:
        assert process.stdout is not None
        port = next((line.split()[1] for line in process.stdout if line.startswith("port ")), None)
        if port is None:
            raise RuntimeError(f"{name} did not start")
        yield f"http://127.0.0.1:{port}/"
        process.communicate()


def record(name: str, into: Path, environments: Path) -> None:
    """Make a recording and its labels."""
    python = installed(name, environments)
    with tempfile.TemporaryDirectory(prefix="recording-") as scratch:
        folder, lines = Path(scratch) / "site", Path(scratch) / "rows"
        folder.mkdir()
        with served(name, python, folder) as start:
            options = {"start": start, "file": str(lines), "most": str(SITES[name].most)}
            words = [word for each in options.items() for word in ("-a", "=".join(each))]
            Project(Path(scratch) / "crawl", SETTINGS).scrapy("crawl", "recorder", *words, timeout=LONGEST)
        rows = [json.loads(line) for line in lines.open(encoding="utf-8")]
    write(name, rows, into)


def write(name: str, rows: Sequence[dict[str, Any]], into: Path) -> None:
    """Write a recording and its labels, in files that do not say when."""
    write_labels(into / f"{name}.labels.tsv.gz", name, rows)
    lines = [json.dumps({key: value for key, value in row.items() if key != "sha1_body"}) for row in rows]
    (into / f"{name}.jsonl.gz").write_bytes(gzip.compress("\n".join([*lines, ""]).encode(), 9, mtime=0))
    print(f"{name}: {len(rows)} responses")


def main(argv: Sequence[str] | None = None) -> int:
    """Record what is asked for."""
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="+", choices=SITES, metavar="NAME", help=", ".join(SITES))
    parser.add_argument("--into", type=Path, required=True, metavar="DIR", help="the folder of the recordings")
    parser.add_argument("--environments", type=Path, metavar="DIR", help="keep the virtual environments here")
    args = parser.parse_args(argv)
    args.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="environments-") as scratch:
        for name in args.names:
            record(name, args.into, (args.environments or Path(scratch)).resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
