import argparse
from typing import TYPE_CHECKING

from ..terminal.problems import DONE
from .subcommand import Subcommand

if TYPE_CHECKING:
    from ..inputs.project import Project


class Prune(Subcommand):
    """``scrapy dedup prune``: learned rules that what is recorded does not support any more leave their files.

    Exit codes: 0 done; 1 there is nothing to learn from; 2 a mistake in what was asked.
    """

    name = "prune"
    syntax = "[options] [SITE...]"
    summary = "remove learned rules that what is recorded does not support any more"
    description = (
        "Learn all recorded sites, or those named, again without their learned rules of before, and remove those that are not "
        "found again. learn-rules keeps such rules until something speaks against them. "
        "Exit codes: 0 done; 1 nothing to learn from; 2 a mistake in what was asked."
    )
    json_help = "print a line of JSON for each site and each rule, as learn-rules does"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--dry-run", action="store_true", help="show what would be removed and write nothing")

    def act(self, project: "Project", args: list[str], opts: argparse.Namespace) -> int:
        from ..learning import learn

        shown = {"dry_run": opts.dry_run, "json": opts.json, "diff": True}
        learn(project.dedup_settings(opts.spider), args, prune=True, **shown)
        return DONE
