"""Checking the rule files, and forgetting what was recorded of a site."""

import argparse
import sys

from scrapy.exceptions import UsageError

from ..base import Project, Subcommand
from ..problems import DONE, NOTHING, Nothing


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

    def act(self, project: Project, args: list[str], opts: argparse.Namespace) -> int:
        from ...learning.phrases import counted
        from ...masks.files import check_masks
        from ...rules.files import check as faults_of
        from ..console import show

        if args:
            raise UsageError("all files are checked: name none")
        settings = project.dedup_settings(opts.spider)
        faults = [
            fault
            for directory in settings.rule_directories
            for fault in (*faults_of(directory), *check_masks(directory))
        ]
        for fault in faults:
            about = {"file": str(fault.path), "line": fault.line, "problem": fault.problem, "remedy": fault.remedy}
            show(str(fault), {"type": "fault", **about}, as_json=opts.json, file=sys.stderr)
        if faults:
            return NOTHING
        book = settings.load_rules()
        right = f"{counted(len(book), 'rule')} for {counted(len(book.sites), 'site')}: all files are right."
        show(right, {"type": "check", "rules": len(book), "sites": len(book.sites)}, as_json=opts.json)
        return DONE


class Forget(Subcommand):
    """``scrapy dedup forget``: what was recorded of a site goes from the store; its rule files stay."""

    name = "forget"
    syntax = "[options] SITE..."
    summary = "remove what was recorded of a site; its rules stay"
    description = (
        "Remove all that crawls have recorded of the sites from the store: responses, texts, the ledger, counts of crawls. "
        "Their rules and masks stay, and so does a report that was written. "
        "Exit codes: 0 done, 1 nothing is recorded, 2 a mistake in what was asked."
    )
    json_help = "print a line of JSON for each site"

    def act(self, project: Project, args: list[str], opts: argparse.Namespace) -> int:
        from ...learning.phrases import counted
        from ..console import show
        from ..observation_sources import known_site, open_store

        if not args:
            raise UsageError("no SITE: name one or more")
        settings = project.dedup_settings(opts.spider)
        with open_store(settings, readonly=False) as store:
            known = {count.site for count in store.sites()}
            if not known:
                raise Nothing(f"nothing is recorded in {store.place}")
            for site in [known_site(name, known, settings) for name in args]:
                removed = store.forget(site)
                text = (
                    f"{site}: {counted(removed, 'recorded response')} removed, with the ledger of its filtered URLs and "
                    "the counts of its crawls. Its rules and its mask are kept."
                )
                show(text, {"type": "forgotten", "site": site, "responses": removed}, as_json=opts.json)
        report = settings.report_file
        if report is not None and report.exists() and not opts.json:
            print(f"The report in {report} is from before: write it anew (scrapy dedup report), or delete it.")
        return DONE
