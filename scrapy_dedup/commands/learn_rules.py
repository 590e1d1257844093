import argparse
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from .base import DedupCommand, add_common_options, whole_number
from .problems import DONE

if TYPE_CHECKING:
    from ..crawl.settings.dedup_settings import DedupSettings

#: Requests that the probe of a parameter on one page takes.
LEAST_PROBE = 3


class LearnRules(DedupCommand):
    """``scrapy learn-rules``: learn from what crawls have recorded, show it, and write the rule files.

    Exit codes: 0 done; 1 nothing to learn from; 2 a mistake in what was asked.
    """

    name = "learn-rules"

    def syntax(self) -> str:
        return "[options] [SITE...]"

    def short_desc(self) -> str:
        return "Learn deduplication rules from what crawls have recorded"

    def long_desc(self) -> str:
        return (
            "Learn, for every recorded site or for those named, which URLs lead to the same page, and write the rules "
            "to DEDUP_DIR, one file per site. Hand edits in these files are kept. "
            "Exit codes: 0 done; 1 nothing to learn from; 2 a mistake in what was asked."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_common_options(parser, "print a line of JSON for each site, and one for each rule")
        parser.add_argument("--dry-run", action="store_true", help="show what would be learned and write no file")
        parser.add_argument(
            "--diff", action="store_true", help="show only the rules that are new, gone, wider or narrower"
        )
        parser.add_argument(
            "--from",
            dest="sources",
            metavar="SOURCE",
            action="append",
            default=[],
            help="learn from SOURCE instead of the store: a file, a folder, or - for standard input (may be repeated); "
            "JSON lines, CSV, Parquet, WARC, CDX, or an HTTP cache of Scrapy, told apart by what they hold",
        )
        parser.add_argument(
            "--method",
            metavar="NAME",
            help="what decides, instead of DEDUP_METHOD: judge, or one of the published methods alone, as its document "
            "decides: entropy, equivalence, pattern-tree; list shows them with their options",
        )
        parser.add_argument(
            "--method-option",
            dest="method_options",
            metavar="KEY=VALUE",
            action="append",
            default=[],
            help="an option of that method (may be repeated), such as --method equivalence --method-option min_urls=20",
        )
        parser.add_argument(
            "--probe",
            metavar="N",
            type=whole_number,
            help="first ask the sites about the parameters whose relevance is uncertain, by at most N requests to each",
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        # Before a crawl is set up, which logs a lot.
        if opts.probe is not None:
            if opts.sources:
                raise UsageError("--from and --probe do not go together")
            if opts.probe < LEAST_PROBE:
                raise UsageError(f"--probe {opts.probe}: the probe of one page takes {LEAST_PROBE} requests")
        if opts.method == "list" and opts.json:
            raise UsageError("--method list and --json do not go together")
        # Without probes there is nothing to crawl, and no reactor to install.
        self.requires_crawler_process = opts.probe is not None
        super().process_options(args, opts)

    def act(self, args: list[str], opts: argparse.Namespace) -> int:
        from .learning import learn, with_method
        from .observation_sources import Sources

        if opts.method == "list":
            from .showing.summary import print_methods

            print_methods()
            return DONE
        settings = with_method(self.project.dedup_settings(opts.spider), opts.method, opts.method_options)
        if opts.probe is not None:
            self._probe_and_learn(settings, args, opts)
        else:
            sources = Sources(opts.sources) if opts.sources else None
            learn(settings, args, sources, dry_run=opts.dry_run, diff=opts.diff, json=opts.json)
        return DONE

    def _probe_and_learn(self, settings: "DedupSettings", args: list[str], opts: argparse.Namespace) -> None:
        from .console import progress
        from .learning import learn
        from .probing import in_doubt, note_probes, print_probes, probe

        spider = self.project.spider_class(opts.spider) if opts.spider else None
        with progress("looking for parameters that are in doubt"):
            found = in_doubt(settings, args)
        tried = probe(self.crawler_process, spider, found, opts.probe) if found else []
        print_probes(tried, json=opts.json)
        book = learn(settings, args, dry_run=opts.dry_run, diff=opts.diff, json=opts.json)
        if tried:
            note_probes(tried, settings, book)
