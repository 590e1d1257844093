"""Learning as a process of its own: ``python -m scrapy_dedup.learning`` (design, section 7).

The crawl starts it and never waits for it longer than it wants: it reads the store, writes the rule
files, prints one JSON object to standard output and exits 0; 1 where it could not, with one line on
standard error. With ``--parent`` it ends as soon as its standard input is closed, which it is when
the process that started it has died.
"""

import argparse
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from ..observation import Observation
from ..rules import RuleBook
from ..rules.errors import RuleFileError
from ..store.database import StoreError
from ..store.store import Store
from .learn import MAX_LOSS, learn
from .sighted import with_aliases


def main(arguments: Sequence[str] | None = None) -> int:
    """Learn from a store, write the rule files, print a summary; return the exit code."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(message)s")
    if options.parent:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        groups = json.loads(options.groups) if options.groups else None
        known = RuleBook.load(options.dir, groups=groups)
        deadline = time.monotonic() + options.timeout if options.timeout else None
        with Store.open(options.store, readonly=True) as store:
            learned = learn(
                _observations(store, options),
                max_loss=options.max_loss,
                groups=groups,
                known=known,
                learners=options.learner or None,
                deadline=deadline,
            )
            since = time.time() - options.evidence_days * 86_400 if options.evidence_days else None
            learned = with_aliases(learned, store, scope=options.scope, since=since, known=known, deadline=deadline)
        learned.book.save(options.dir)
    except (StoreError, RuleFileError, OSError, ValueError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    reports = [asdict(report) | {"share": report.share} for report in learned.reports]
    print(json.dumps({"rules": sum(report.rules for report in learned.reports), "sites": reports}))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m scrapy_dedup.learning", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--store", required=True, help="path or URL of the store")
    parser.add_argument("--dir", required=True, help="directory of the rule files that are written")
    parser.add_argument("--scope", default="", help="scope of the evidence")
    parser.add_argument("--site", action="append", default=[], help="learn only this site (may be repeated)")
    parser.add_argument("--learner", action="append", default=[], help="ask only this learner (may be repeated)")
    parser.add_argument("--max-loss", type=float, default=MAX_LOSS, help="share of pages that may be lost")
    parser.add_argument("--evidence-days", type=float, help="age of the oldest evidence, in days")
    parser.add_argument("--groups", help="site groups, as a JSON object")
    parser.add_argument("--timeout", type=float, help="seconds after which nothing more is looked for")
    parser.add_argument("--parent", action="store_true", help="end when standard input is closed")
    return parser


def _observations(store: Store, options: argparse.Namespace) -> Iterator[Observation]:
    since = time.time() - options.evidence_days * 86_400 if options.evidence_days else None
    for site in options.site or [None]:
        yield from store.observations(options.scope, site, since=since)


def _end_with_parent() -> None:
    """Wait for the end of standard input, then end the process at once."""
    # Not by sys.stdin: its lock, held here, would make Python abort when the work is done.
    while os.read(0, 4096):
        pass
    os._exit(3)


if __name__ == "__main__":
    sys.exit(main())
