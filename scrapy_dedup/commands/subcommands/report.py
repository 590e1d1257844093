import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..base import Project, Subcommand
from ..problems import DONE, Nothing, output_file

if TYPE_CHECKING:
    from ...crawl.settings.dedup_settings import DedupSettings
    from ...report.collecting import ReportSource

#: Where there is no store that is a file, and no DEDUP_REPORT.
_DEFAULT = "report.html"


class WriteReport(Subcommand):
    """``scrapy dedup report``: what was saved, and how sure that is, in one file of HTML.

    Exit codes: 0 done; 1 nothing is recorded; 2 a mistake in what was asked.
    """

    name = "report"
    syntax = "[options] [SITE...]"
    summary = "write a report to look at: what was saved, and how sure that is"
    description = (
        "Write a file of HTML, which needs no network, about all sites or those named: what each crawl has saved, rules in "
        "words with their evidence, the URL templates of the sites, and what was filtered. A crawl writes "
        "the same into DEDUP_REPORT when it closes. "
        "Exit codes: 0 done, 1 nothing is recorded, 2 a mistake in what was asked."
    )
    json_help = "print what the report says as lines of JSON, and write no HTML"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("-o", "--output", metavar="FILE", help="write into FILE, not into that of DEDUP_REPORT")
        parser.add_argument("--open", action="store_true", help="open the report in the browser")

    def act(self, project: Project, args: list[str], opts: argparse.Namespace) -> int:
        from scrapy.exceptions import UsageError

        if opts.json and opts.open:
            raise UsageError("--json and --open do not go together")
        settings = project.dedup_settings(opts.spider)
        output = output_file(opts.output, "-o") if opts.output else None
        source = _source(settings, args)
        if opts.json:
            _print_json(source, output)
            return DONE
        from ...report.rendering import write_report
        from ..console import progress

        path = output or settings.report_file or Path(_DEFAULT)
        with progress("making the report"):
            report = write_report(source, path)
        avoided, requests = report.head["avoided"], report.head["requests"]
        print(f"{avoided} of {requests} requests were filtered and not fetched. The report is in {path}.")
        if opts.open:
            import webbrowser

            if not webbrowser.open(path.absolute().as_uri()):
                print(f"dedup {self.name}: no browser could be opened", file=sys.stderr)
        return DONE


def _source(settings: "DedupSettings", names: list[str]) -> "ReportSource":
    """Return what the report is made from. Raises Nothing and Mistake."""
    from ...report.collecting import ReportSource
    from ..observation_sources import known_site, open_store

    with open_store(settings) as store:
        known = {count.site for count in store.sites(settings.scope)}
        if not known:
            raise Nothing(f"nothing is recorded in {store.place}: run a crawl first (scrapy crawl NAME)")
    sites = tuple(dict.fromkeys(known_site(name, known, settings) for name in names))
    return ReportSource(settings.store, settings.scope, settings.rule_directories, settings.site_groups, sites)


def _print_json(source: "ReportSource", output: Path | None) -> None:
    import json

    from ...report.collecting import report_of
    from ...report.rendering import records_of, write_text
    from ..console import print_json, progress

    with progress("making the report"):
        records = list(records_of(report_of(source)))
    if output is None:
        for record in records:
            print_json(record)
        return
    write_text(output, "".join(json.dumps(record) + "\n" for record in records))
