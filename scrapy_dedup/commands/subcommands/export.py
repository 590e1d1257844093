import argparse
import sys
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from ..terminal.problems import DONE, Mistake, Nothing, output_file
from .subcommand import Subcommand

if TYPE_CHECKING:
    from ..inputs.project import Project

# Those of rules.exchange, which is not imported for every command that Scrapy runs.
FORMATS = ("url-discarder", "no-vary-search", "clean-param", "python")


class Export(Subcommand):
    """``scrapy dedup export``: write the rules in the format of another tool.

    Exit codes: 0 done; 1 nothing to write; 2 a mistake in what was asked.
    """

    name = "export"
    syntax = "--format FORMAT [options] [SITE...]"
    summary = "write the rules in the format of another tool"
    description = (
        "Write the rules of all sites, or of those named, in the format of another tool. What the format cannot "
        "say is not written, and told on standard error. "
        "Exit codes: 0 done; 1 nothing to write; 2 a mistake in what was asked."
    )
    json_help = (
        "print a line of JSON: what was written, with the text unless --output names a file, and what was left out"
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--format", dest="form", metavar="FORMAT", help=f"one of {', '.join(FORMATS)}")
        parser.add_argument("--output", metavar="FILE", help="write to FILE instead of standard output")
        parser.add_argument(
            "--approximate",
            action="store_true",
            help="also write rules that become wider in the format, such as without the shape of dropped values",
        )

    def act(self, project: "Project", args: list[str], opts: argparse.Namespace) -> int:
        from ...rules.exchange import exported
        from ..inputs.observation_sources import site_named
        from ..terminal.console import print_json

        if opts.form not in FORMATS:
            raise UsageError(f"--format is one of {', '.join(FORMATS)}")
        output = output_file(opts.output, "--output") if opts.output is not None else None
        settings = project.dedup_settings(opts.spider)
        book = settings.load_rules()
        there = [site for site in book.sites if any(rule.status.acts for rule in book.for_site(site))]
        sites = [site if site in there else site_named(site, settings) for site in args] or there
        for site in sites:
            if site not in there:
                raise Mistake(f"there are no rules that act for {site}; there are for: {', '.join(there) or 'none'}")
        if not sites:
            raise Nothing("there are no rules yet: scrapy learn-rules learns some")
        try:
            done = exported(book, opts.form, sites, approximate=opts.approximate)
        except ValueError as error:
            raise Mistake(str(error)) from None
        if not opts.json:
            for each in done.left_out:
                print(each, file=sys.stderr)
        if done.empty:
            wider = "" if opts.approximate else "; --approximate also writes what becomes wider by it"
            raise Nothing(f"none of the rules can be written as {opts.form}{wider}")
        if output is not None:
            output.write_text(done.text, encoding="utf-8")
        if opts.json:
            written = {"text": done.text} if opts.output is None else {"file": opts.output}
            left_out = [str(each) for each in done.left_out]
            print_json({"type": "export", "format": opts.form, "sites": sites, **written, "left_out": left_out})
        elif opts.output is None:
            sys.stdout.write(done.text)
        return DONE
