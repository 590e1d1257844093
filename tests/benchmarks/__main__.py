"""Run all benchmarks that the data at hand allows.

    python -m tests.benchmarks [--data DIR]... [--quick] [--check]

Without ``--data`` those are the ones on made-up sites, of speed, of a first crawl and of a news site, which make their own data,
and the recorded sites of this package. Below each DIR every ``*.jsonl.gz`` is taken for what its first line shows it to be: a recorded site or a labelled URL set.
"""

import argparse
import gzip
import json
import sys
from pathlib import Path

from . import labelled, lifecycle, live, recorded, speed, synthetic, transient
from .news import command as news
from .recorded_sites import RECORDED_SITES


def kind_of(path: Path) -> str | None:
    """The kind of a file by its first line: "recorded", "labelled", or None for any other."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        try:
            row = json.loads(next(lines, ""))
        except ValueError:
            return None
    if not isinstance(row, dict):
        return None
    if "requested_url" in row:
        return "recorded"
    return "labelled" if {"url", "fingerprint"} <= row.keys() else None


def main() -> int:
    """Run them one after the other; the exit code is the worst of theirs."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions of the speed benchmark")
    parser.add_argument("--check", action="store_true", help="exit non-zero on a missed figure")
    args = parser.parse_args()
    files = sorted(path for folder in args.data for path in folder.rglob("*.jsonl.gz"))
    options = ["--check"] if args.check else []
    codes = []
    for kind, main_of_kind in (("labelled", labelled.main), ("recorded", recorded.main)):
        found = [str(path) for path in [*RECORDED_SITES, *files] if kind_of(path) == kind]
        if found:
            codes.append(main_of_kind([*found, *options]))
        else:
            print(f"no {kind} data: --data DIR says where it is")
    levels = ["L2"] if args.quick else ["L0", "L1", "L2", "L3"]
    codes.append(synthetic.main([*options, *(f"--level={level}" for level in levels)]))
    codes.append(transient.main([*options, *(["--quick"] if args.quick else [])]))
    codes.append(lifecycle.main(options))
    codes.append(live.main(options))
    codes.append(news.main(options))
    codes.append(speed.main([*options, *(["--quick"] if args.quick else [])]))
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
