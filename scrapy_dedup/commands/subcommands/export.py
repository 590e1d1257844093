import argparse
import sys
from typing import TYPE_CHECKING

from ..terminal.problems import DONE, Mistake, Nothing, output_file
from .subcommand import Subcommand

if TYPE_CHECKING:
    from ..inputs.project import Project


class Export(Subcommand):
    """``scrapy dedup export``: write the rules as those of duplicate-url-discarder.

    Exit codes: 0 done; 1 nothing to write; 2 a mistake in what was asked.
    """

    name = "export"
    syntax = "[options] [SITE...]"
    summary = "write the rules for duplicate-url-discarder"
    description = (
        "Write the rules of all sites, or of those named, as JSON of duplicate-url-discarder. What that cannot "
        "say is not written, and told on standard error. "
        "Exit codes: 0 done; 1 nothing to write; 2 a mistake in what was asked."
    )
    json_help = (
        "print a line of JSON: what was written, with the text unless --output names a file, and what was left out"
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--output", metavar="FILE", help="write to FILE instead of standard output")
        parser.add_argument(
            "--approximate",
            action="store_true",
            help="also write rules that become wider by it, such as without the shape of dropped values",
        )

    def act(self, project: "Project", args: list[str], opts: argparse.Namespace) -> int:
        from ...rules.exchange import write_url_discarder
        from ..inputs.observation_sources import site_named
        from ..terminal.console import print_json

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
        done = write_url_discarder(book, sites, approximate=opts.approximate)
        if not opts.json:
            for each in done.left_out:
                print(each, file=sys.stderr)
        if done.empty:
            wider = "" if opts.approximate else "; --approximate also writes what becomes wider by it"
            raise Nothing(f"none of the rules can be written{wider}")
        if output is not None:
            output.write_text(done.text, encoding="utf-8")
        if opts.json:
            written = {"text": done.text} if opts.output is None else {"file": opts.output}
            left_out = [str(each) for each in done.left_out]
            print_json({"type": "export", "sites": sites, **written, "left_out": left_out})
        elif opts.output is None:
            sys.stdout.write(done.text)
        return DONE
