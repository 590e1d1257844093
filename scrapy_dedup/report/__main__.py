"""Writing the report as a process of its own: ``python -m scrapy_dedup.report``, which a crawl starts when it has closed.

What it is to be made from, and where it goes, is a line of JSON on standard input. It exits 0, or 1 with one line on
standard error where it could not.
"""

import json
import os
import sys
from pathlib import Path

from ..files.errors import RuleFileError
from ..store.database import StoreError
from .collecting import ReportSource
from .rendering import write_report


def main() -> int:
    """Write the report; return the exit code."""
    if hasattr(os, "nice"):
        os.nice(5)
    asked = json.loads(sys.stdin.read())
    groups = {name: tuple(domains) for name, domains in asked["groups"].items()}
    source = ReportSource(asked["store"], asked["scope"], tuple(map(Path, asked["directories"])), groups)
    try:
        write_report(source, Path(asked["output"]))
    except (StoreError, RuleFileError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
