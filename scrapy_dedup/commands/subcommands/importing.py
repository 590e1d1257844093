import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from ..terminal.problems import DONE, Mistake, Nothing
from .subcommand import Subcommand

if TYPE_CHECKING:
    from ..inputs.project import Project

# A host as URLs in normal form have it, with its port if any.
_is_host = re.compile(r"(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d+)?\Z").match


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

    def act(self, project: "Project", args: list[str], opts: argparse.Namespace) -> int:
        from ...files.site_files import text_of
        from ...learning.phrases import counted
        from ...rules.exchange import read_url_discarder
        from ...rules.files import add_to_site
        from ...rules.wording import condition_of, operations_of
        from ..inputs.observation_sources import site_named
        from ..terminal.console import print_json

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
