import argparse
import sys
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from ..terminal.problems import DONE, NOTHING
from .subcommand import Subcommand

if TYPE_CHECKING:
    from ..inputs.project import Project


class Check(Subcommand):
    """``scrapy dedup check``: what is wrong with the rule files. Exit codes: 0 nothing, 1 something is, 2 a mistake."""

    name = "check"
    syntax = "[options]"
    summary = "check the rule files, for instance in a CI"
    description = (
        "Read every rule file and mask file of the project, and say what is wrong with them, and where. "
        "Exit codes: 0 all files are right, 1 a file is faulty, 2 a mistake in what was asked."
    )
    json_help = "print a line of JSON for each fault, or one of the whole where there is none"

    def act(self, project: "Project", args: list[str], opts: argparse.Namespace) -> int:
        from ...learning.phrases import counted
        from ...masks.files.mask_files import check_masks
        from ...rules.files import check as faults_of
        from ..terminal.console import print_json

        if args:
            raise UsageError("all files are checked: name none")
        settings = project.dedup_settings(opts.spider)
        faults = [
            fault
            for directory in settings.rule_directories
            for fault in (*faults_of(directory), *check_masks(directory))
        ]
        for fault in faults:
            if opts.json:
                about = {"file": str(fault.path), "line": fault.line, "problem": fault.problem, "remedy": fault.remedy}
                print_json({"type": "fault", **about})
            else:
                print(fault, file=sys.stderr)
        if faults:
            return NOTHING
        book = settings.load_rules()
        if opts.json:
            print_json({"type": "check", "rules": len(book), "sites": len(book.sites)})
        else:
            print(f"{counted(len(book), 'rule')} for {counted(len(book.sites), 'site')}: all files are right.")
        return DONE
