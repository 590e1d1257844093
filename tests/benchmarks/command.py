"""What the commands of all benchmarks have in common: options, a table or JSON, and the check of the figures."""

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .scoring.checks import Check, report

Option = tuple[tuple[str, ...], Mapping[str, Any]]
Arguments = argparse.Namespace


class Unusable(Exception):
    """What is wrong with the arguments of a command."""


def option(*names: str, **given: Any) -> Option:
    """Return an option or an argument, as argparse takes it."""
    return names, given


def flag(name: str, text: str) -> Option:
    """Return an option without a value."""
    return (name,), {"action": "store_true", "help": text}


FILES = option("files", nargs="+", type=Path, metavar="FILE.jsonl.gz")
QUIET = flag("--quiet", "pages without clock, counter, token and teasers")
LABELS = option("--labels", type=Path, metavar="FILE.tsv.gz", help="other labels, for a single recording")
INJECTED = flag("--injected", "pages with a clock, a visitor counter, a token, a duration and teasers")
KEEP = option("--keep", type=Path, help="keep projects, stores and rules in this new folder")


def comma_separated(text: str) -> list[str]:
    """Return what an option names with commas between."""
    return text.split(",")


def parsed(doc: str | None, options: Iterable[Option], arguments: Sequence[str] | None) -> Arguments:
    """Return the arguments of the command that is named in *doc*."""
    (name, *_) = re.findall(r"python -m (\S+)", doc or "")
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog=f"python -m {name}", description=doc, formatter_class=formatter)
    for names, given in options:
        parser.add_argument(*names, **given)
    args = parser.parse_args(arguments)
    args.error = parser.error
    return args


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what it measures is printed as JSON with ``--json``, else as tables, and checked with ``--check``."""

    doc: str | None
    options: Sequence[Option]
    measure: Callable[[Arguments], Any]
    """Raises Unusable."""
    show: Callable[[Arguments, Any], None]
    as_json: Callable[[Arguments, Any], Any] | None = None
    checks: Callable[[Arguments, Any], Iterable[Check]] | None = None

    def __call__(self, arguments: Sequence[str] | None = None) -> int:
        """Measure, print, check; return the exit code."""
        also = [flag("--json", "print JSON")] if self.as_json else []
        also += [flag("--check", "exit non-zero on a missed figure")] if self.checks else []
        args = parsed(self.doc, (*self.options, *also), arguments)
        try:
            found = self.measure(args)
        except Unusable as error:
            args.error(str(error))
        if self.as_json and args.json:
            print(json.dumps(self.as_json(args, found), indent=1, default=str))
        else:
            self.show(args, found)
        return report(self.checks(args, found)) if self.checks and args.check else 0


@contextmanager
def scratch(keep: Path | None = None) -> Iterator[Path]:
    """Make a folder for projects that is there for a while, or for good where it is to be kept."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        yield keep.resolve() if keep else Path(folder)
