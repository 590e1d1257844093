import argparse
import re
import sys
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from ..terminal.problems import DONE, Mistake, Nothing
from .subcommand import Subcommand

if TYPE_CHECKING:
    from ..inputs.project import Project

# Those of rules.exchange, which is not imported for every command that Scrapy runs.
# A host as URLs in normal form have it, with its port if any.
_is_host = re.compile(r"(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d+)?\Z").match

FORMATS = ("url-discarder", "no-vary-search", "clean-param")


class Import(Subcommand):
    """``scrapy dedup import``: rules of another tool become the user's own.

    Exit codes: 0 done; 1 there is no rule in the file; 2 a mistake in what was asked.
    """

    name = "import"
    syntax = "--format FORMAT [options] FILE [SITE...]"
    summary = "add the rules of another tool as manual rules"
    description = (
        "Read rules from a file of another tool and write them as manual rules: for the sites that the file names, or for SITE "
        "where it names none. Exit codes: 0 done; 1 there is no rule in the file; 2 a mistake in what was asked."
    )
    json_help = "print a line of JSON for each rule, and one for each line of FILE that was left out"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--format", dest="form", metavar="FORMAT", help=f"one of {', '.join(FORMATS)}")
        parser.add_argument("--dry-run", action="store_true", help="show the rules and write nothing")

    def act(self, project: "Project", args: list[str], opts: argparse.Namespace) -> int:
        from ...learning.phrases import counted
        from ...rules.exchange import add_rules, imported
        from ...rules.wording import condition_of, operations_of
        from ..inputs.observation_sources import site_named
        from ..terminal.console import print_json

        if not args:
            raise UsageError("no FILE: name the file of the other tool")
        if opts.form not in FORMATS:
            raise UsageError(f"--format is one of {', '.join(FORMATS)}")
        file, *names = args
        settings = project.dedup_settings(opts.spider)
        sites = [site_named(name, settings) for name in names]
        for name, site in zip(names, sites, strict=True):
            if site not in settings.site_groups and _is_host(site) is None:
                raise Mistake(f"{name} is no site; right ones: example.com, http://example.com:8080/")
        try:
            found = imported(file, opts.form, sites, settings.site_groups)
        except ValueError as error:
            raise Mistake(str(error)) from error
        for each in found.left_out:
            if opts.json:
                print_json({"type": "left out", "file": file, "message": str(each)})
            else:
                print(f"{file}, {each}", file=sys.stderr)
        if not found.rules:
            raise Nothing(f"there is no rule in {file}" + (f" for {', '.join(sites)}" if sites else ""))
        for rule in found.rules:
            if opts.json:
                print_json({"type": "rule", **rule.to_dict()})
            else:
                print(f"{rule.site}: {operations_of(rule.ops)}, {condition_of(rule.match)}")
        if opts.dry_run:
            if not opts.json:
                print("Nothing was written (--dry-run).")
            return DONE
        count, off = add_rules(settings.learned_directory, found.rules)
        for each in off:
            print(each, file=sys.stderr)
        if not opts.json:
            verb = "is now a manual rule" if count == 1 else "are now manual rules"
            print(f"{counted(count, 'rule')} of {file} {verb} in {settings.learned_directory}.")
        return DONE
