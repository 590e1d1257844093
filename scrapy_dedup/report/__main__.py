"""Writing the report as a process of its own: ``python -m scrapy_dedup.report``, which a crawl starts when it has closed.

It exits 0, or 1 with one line on standard error where it could not.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ..files.errors import RuleFileError
from ..store.database import StoreError
from .collecting import ReportSource
from .rendering import write_report


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the report; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scrapy_dedup.report", description=main.__doc__)
    parser.add_argument(
        "--store", required=True, nargs="?", const=os.environ.get("DEDUP_STORE", ""), help="path or URL"
    )
    parser.add_argument("--scope", default="")
    parser.add_argument("--directory", action="append", default=[], help="of rules and masks; more than one")
    parser.add_argument("--groups", default="{}", help="JSON: name of a site group -> domains")
    parser.add_argument("--output", required=True, type=Path)
    options = parser.parse_args(arguments)
    if hasattr(os, "nice"):
        os.nice(5)
    groups = {name: tuple(domains) for name, domains in json.loads(options.groups).items()}
    try:
        write_report(
            ReportSource(options.store, options.scope, tuple(map(Path, options.directory)), groups), options.output
        )
    except (StoreError, RuleFileError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
