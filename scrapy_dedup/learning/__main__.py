"""Learning as a process of its own: ``python -m scrapy_dedup.learning``.

It reads the store, or files that others have written (``--from``), writes the rule files, prints one JSON object to standard output and exits 0; 1
where it could not, with one line on standard error. The crawl starts it with ``--parent`` and asks it
as often as it wants: each line on standard input is a JSON object with ``sites`` (None: all of the
scope), those of them whose texts are to be ``compared``, and ``seconds``, and is answered by one line on standard output, what would be printed else, or an object
with ``error``. It then ends as soon as its standard input is closed, which it is when the process that
started it has died, or when it has not been asked for a minute.
"""

import argparse
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from ..files.errors import RuleFileError
from ..masks.files import load_masks
from ..masks.token_changes import Options
from ..rules import RuleBook, SiteRules
from ..rules.lifecycle import changes
from ..rules.writing import written_rules
from ..store.database import StoreError
from ..store.store import Store
from .alternation import StoredEvidence, learn_rules_and_masks
from .choices import JUDGE
from .deadline import Deadline
from .evidence.user_names import names_of
from .learning_options import MAX_LOSS, LearningOptions
from .memory import Memory
from .methods.policy import policy_of
from .saving import save

if TYPE_CHECKING:
    from ..pages.versions import Pack
    from .imported import ImportedEvidence

#: Seconds after which a process that nobody asks ends.
_PATIENCE: Final = 60.0
_TROUBLES: Final = (StoreError, RuleFileError, OSError, ValueError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Learn from a store or from files, write the rule files, print a summary; return the exit code."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(message)s")
    if options.parent:
        if options.sources:
            print("--parent goes with --store", file=sys.stderr)
            return 2
        return _answer(options)
    try:
        print(json.dumps(_learned(options, options.site or None, options.timeout, Memory())))
    except _TROUBLES as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def _answer(options: argparse.Namespace) -> int:
    """Learn whenever a line asks for it."""
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    memory = Memory()
    while True:
        try:
            asked = json.loads(lines.get(timeout=_PATIENCE))
        except Empty:
            return 0
        try:
            answer = _learned(options, asked["sites"], asked["seconds"], memory, asked["compared"])
        except _TROUBLES as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


def _learned(
    options: argparse.Namespace,
    sites: Sequence[str] | None,
    seconds: float | None,
    memory: Memory,
    compared: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Learn *sites*, none of which is begun after *seconds*, and write their files; return a summary.

    Masks are learned of those to be *compared*, None for all.
    """
    began = time.process_time()
    site_groups = json.loads(options.groups) if options.groups else None
    directories = [*options.also, options.dir]
    if sites is None:
        known = RuleBook.load(*directories, groups=site_groups, missing_ok=True)
    else:
        known = _known(directories, sites, site_groups)
    since = time.time() - options.evidence_days * 86_400 if options.evidence_days else None
    chosen = LearningOptions(
        max_loss=options.max_loss,
        site_groups=site_groups,
        names=names_of(json.loads(options.names)) if options.names else None,
        # Seconds of the processor: one that it has to share makes learning take longer, and find no less.
        deadline=Deadline(began + seconds if seconds else None, time.process_time),
        policy=policy_of(options.method, json.loads(options.method_options)),
        candidates=options.parent,
    )
    with _evidence(options, sites, site_groups, since, memory) as evidence:
        both = learn_rules_and_masks(
            evidence,
            chosen,
            known=known,
            masks=load_masks(directories),
            elsewhere=lambda inner: _known(directories, sorted(inner), site_groups),
            published=_published(options),
            compared=compared,
        )
        save(both, options.dir, options.also)
    learned = both.learned
    reports = [
        asdict(report)
        | {"share": report.share, "changes": changes(known, learned.book, learned.departures, [report.site]).to_dict()}
        for report in learned.reports
    ]
    return {
        "cpu_seconds": time.process_time() - began,
        "rules": sum(report.rules for report in learned.reports),
        "sites": reports,
        "losses": [str(each) for each in learned.departures if each.is_loss],
        "refetch": {site: list(urls) for site, urls in both.refetches.items()},
        "candidates": {
            site: written_rules(SiteRules(site, rules)) for site, rules in learned.candidates.items() if rules
        },
        # Sites of which it is not known: the time was up.
        "undecided": sorted(set(sites or ()) - learned.candidates.keys()),
    }


@contextmanager
def _evidence(
    options: argparse.Namespace,
    sites: Sequence[str] | None,
    site_groups: Mapping[str, Sequence[str]] | None,
    since: float | None,
    memory: Memory,
) -> Iterator["StoredEvidence | ImportedEvidence"]:
    """Open the store, or read the sources. Raises StoreError, SourceError, OSError."""
    if not options.sources:
        with Store.open(options.store, readonly=True) as store:
            wanted = [count.site for count in store.sites(options.scope)] if sites is None else sites
            with store.claimed(options.scope, wanted) as free:  # what others learn now is left to them
                yield StoredEvidence(store, options.scope, sorted(free), since, memory)
        return
    from ..pages.versions import packed
    from ..sources.pages import PageReader
    from ..sources.reading import Reading
    from .imported import ImportedEvidence

    pack: Pack = packed
    if _published(options) is not None:
        from ..masks.token_changes import packed_with_table

        pack = packed_with_table
    with ImportedEvidence(site_groups, memory=memory) as evidence:
        reading = Reading(options.sources, PageReader(pack=pack))
        evidence.add_all(reading.observations(), frozenset(sites or ()))
        for line in reading.complaints():
            print(line, file=sys.stderr)
        yield evidence


def _published(options: argparse.Namespace) -> Options | None:
    given = options.published_masks
    return Options(**json.loads(given)) if given else None


def _known(
    directories: Sequence[str], sites: Sequence[str], site_groups: Mapping[str, Sequence[str]] | None
) -> RuleBook:
    return RuleBook(groups=site_groups).reloaded(directories, sites)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m scrapy_dedup.learning", description=__doc__.split("\n", 1)[0])
    evidence = parser.add_mutually_exclusive_group(required=True)
    evidence.add_argument(
        "--store",
        nargs="?",
        const=os.environ.get("DEDUP_STORE", ""),
        help="path or URL of the store; by itself, the one in the environment variable DEDUP_STORE",
    )
    evidence.add_argument(
        "--from",
        dest="sources",
        metavar="SOURCE",
        action="append",
        help="a file, a folder, or - for standard input, as of scrapy learn-rules --from (may be repeated)",
    )
    parser.add_argument("--dir", required=True, help="directory of the rule files that are written")
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        help="another directory of rule files and masks, which are minded and never written (may be repeated); "
        "those named first count",
    )
    parser.add_argument("--scope", default="", help="scope of the evidence")
    parser.add_argument("--site", action="append", default=[], help="learn only this site (may be repeated)")
    parser.add_argument("--method", default=JUDGE, help="what decides: the judge, or a published method")
    parser.add_argument("--method-options", default="{}", help="the options of a published method, as a JSON object")
    parser.add_argument(
        "--published-masks",
        help="learn masks with the transient-content document's method, with these options, as a JSON object",
    )
    parser.add_argument("--max-loss", type=float, default=MAX_LOSS, help="share of pages that may be lost")
    parser.add_argument("--evidence-days", type=float, help="age of the oldest evidence, in days")
    parser.add_argument("--groups", help="site groups, as a JSON object")
    parser.add_argument("--names", help="names of parameters whose meaning is known, as a JSON object of lists")
    parser.add_argument("--timeout", type=float, help="seconds of the processor after which nothing more is looked for")
    parser.add_argument("--parent", action="store_true", help="learn whenever a line on standard input asks for it")
    return parser


def _listen(lines: "SimpleQueue[bytes]") -> None:
    """Hand on the lines of standard input; at its end, end the process at once."""
    # Not by sys.stdin: its lock, held here, would make Python abort when the work is done.
    waiting = b""
    while data := os.read(0, 65_536):
        *whole, waiting = (waiting + data).split(b"\n")
        for line in whole:
            lines.put(line)
    os._exit(3)


if __name__ == "__main__":
    sys.exit(main())
