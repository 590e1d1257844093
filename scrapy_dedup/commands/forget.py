import argparse
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from .problems import DONE
from .subcommand import Subcommand

if TYPE_CHECKING:
    from .project import Project


class Forget(Subcommand):
    """``scrapy dedup forget``: what was recorded of a site goes from the store; its rule files stay."""

    name = "forget"
    syntax = "[options] SITE..."
    summary = "remove what was recorded of a site; its rules stay"
    description = (
        "Remove all that crawls have recorded of the sites from the store. Their rules and masks stay. "
        "Exit codes: 0 done, 1 nothing is recorded, 2 a mistake in what was asked."
    )
    json_help = "print a line of JSON for each site"

    def act(self, project: "Project", args: list[str], opts: argparse.Namespace) -> int:
        from .console import print_json
        from .observation_sources import known_site, open_store

        if not args:
            raise UsageError("no SITE: name one or more")
        settings = project.dedup_settings(opts.spider)
        with open_store(settings, readonly=False) as store:
            known = {count.site for count in store.sites()}
            for site in [known_site(name, known, settings) for name in args]:
                removed = store.forget(site)
                if opts.json:
                    print_json({"type": "forgotten", "site": site, "responses": removed})
                else:
                    print(f"{site}: {removed} recorded responses removed. Its rules and its mask are kept.")
        return DONE
