import argparse
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from ..terminal.problems import DONE, Nothing
from .subcommand import Subcommand

if TYPE_CHECKING:
    from ..inputs.project import Project


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

    def act(self, project: "Project", args: list[str], opts: argparse.Namespace) -> int:
        from ...learning.phrases import counted
        from ..inputs.observation_sources import known_site, open_store
        from ..terminal.console import print_json

        if not args:
            raise UsageError("no SITE: name one or more")
        settings = project.dedup_settings(opts.spider)
        with open_store(settings, readonly=False) as store:
            known = {count.site for count in store.sites()}
            if not known:
                raise Nothing(f"nothing is recorded in {store.place}")
            for site in [known_site(name, known, settings) for name in args]:
                removed = store.forget(site)
                if opts.json:
                    print_json({"type": "forgotten", "site": site, "responses": removed})
                else:
                    print(
                        f"{site}: {counted(removed, 'recorded response')} removed, with the ledger of its filtered URLs and "
                        "the counts of its crawls. Its rules and its mask are kept."
                    )
        report = settings.report_file
        if report is not None and report.exists() and not opts.json:
            print(f"The report in {report} is from before: write it anew (scrapy dedup report), or delete it.")
        return DONE
