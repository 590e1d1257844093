"""Rules of duplicate-url-discarder: written for it, and read from it."""

import argparse
import re
import sys
from pathlib import Path

from scrapy.exceptions import UsageError

from ..base import Project, Subcommand
from ..problems import DONE, Mistake, Nothing, output_file

# A host as URLs in normal form have it, with its port if any.
_is_host = re.compile(r"(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d+)?\Z").match


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

    def act(self, project: Project, args: list[str], opts: argparse.Namespace) -> int:
        from ...rules.exchange import write_url_discarder
        from ..console import print_json
        from ..observation_sources import site_named

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


class Import(Subcommand):
    """``scrapy dedup import``: rules of duplicate-url-discarder become the user's own.

    Exit codes: 0 done; 1 there is no rule in the file; 2 a mistake in what was asked.
    """

    name = "import"
    syntax = "[options] FILE [SITE...]"
    summary = "add rules of duplicate-url-discarder as manual rules"
    description = (
        "Read rules from a file of duplicate-url-discarder and write them as manual rules: those of SITE where any is named, "
        "else of all sites that the file names. Exit codes: 0 done; 1 there is no rule in the file; 2 a mistake in what was asked."
    )
    json_help = "print a line of JSON for each rule, and one for each line of FILE that was left out"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--dry-run", action="store_true", help="show the rules and write nothing")

    def act(self, project: Project, args: list[str], opts: argparse.Namespace) -> int:
        from ...files.site_files import text_of
        from ...learning.phrases import counted
        from ...rules.exchange import read_url_discarder
        from ...rules.files import add_to_site
        from ...rules.wording import condition_of, operations_of
        from ..console import show
        from ..observation_sources import site_named

        if not args:
            raise UsageError("no FILE: name a file of rules")
        file, *names = args
        settings = project.dedup_settings(opts.spider)
        sites = [site_named(name, settings) for name in names]
        for name, site in zip(names, sites, strict=True):
            if site not in settings.site_groups and _is_host(site) is None:
                raise Mistake(f"{name} is no site; right ones: example.com, http://example.com:8080/")
        text = text_of(Path(file))
        if text is None:
            raise Mistake(f"there is no file {file}")
        found = read_url_discarder(text, Path(file), sites, settings.site_groups)
        for each in found.left_out:
            record = {"type": "left out", "file": file, "message": str(each)}
            show(f"{file}, {each}", record, as_json=opts.json, file=sys.stderr)
        if not found.rules:
            raise Nothing(f"there is no rule in {file}" + (f" for {', '.join(sites)}" if sites else ""))
        for rule in found.rules:
            text = f"{rule.site}: {operations_of(rule.ops)}, {condition_of(rule.match)}"
            show(text, {"type": "rule", **rule.to_dict()}, as_json=opts.json)
        if opts.dry_run:
            if not opts.json:
                print("Nothing was written (--dry-run).")
            return DONE
        count = len(found.rules)
        for site in dict.fromkeys(rule.site for rule in found.rules):
            for name in add_to_site(
                settings.learned_directory, site, [each for each in found.rules if each.site == site]
            ):
                print(f"{site}: rule {name}: left off, as it is in the rule file", file=sys.stderr)
                count -= 1
        if not opts.json:
            verb = "is now a manual rule" if count == 1 else "are now manual rules"
            print(f"{counted(count, 'rule')} of {file} {verb} in {settings.learned_directory}.")
        return DONE
