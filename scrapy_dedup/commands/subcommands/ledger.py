import argparse
import re
import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import UsageError

from ..base import Project, Subcommand, whole_number
from ..problems import DONE, NOTHING, Mistake

if TYPE_CHECKING:
    from ...crawl.settings.dedup_settings import DedupSettings
    from ...store.ledger_queries import LedgerFilter
    from ...store.store import Store

_AGO: Final = re.compile(r"(\d+)([smhdw])\Z").match
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
#: Rows that are shown unless --limit says otherwise.
SHOWN: Final = 50


class ShowLedger(Subcommand):
    """``scrapy dedup ledger``: what was filtered. Exit codes: 0 something was, 1 nothing was, 2 a mistake."""

    name = "ledger"
    syntax = "[options] [SITE...]"
    summary = "show which URLs were filtered, when, by which rule, for which page"
    description = (
        "Show the filtered requests of all sites, or of those named, the latest ones first: the URL, the rule that filtered "
        "it, the URL it was taken for, when, and what became of it. "
        "Exit codes: 0 done, 1 nothing was filtered that is asked for, 2 a mistake in what was asked."
    )
    json_help = "print a line of JSON for each filtered URL"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--url", help="was this URL filtered? Rows of exactly this URL")
        parser.add_argument(
            "--containing", metavar="TEXT", help="rows with TEXT in the URL, or in that it was taken for"
        )
        parser.add_argument("--rule", metavar="ID", help="rows of this rule")
        parser.add_argument("--since", metavar="TIME", help="a date, a date and time (UTC), or how long ago: 3h, 2d")
        parser.add_argument("--until", metavar="TIME", help="likewise")
        parser.add_argument("--limit", type=whole_number, metavar="N", help=f"show at most N rows ({SHOWN}; 0: all)")
        parser.add_argument("--by-rule", action="store_true", help="show how many URLs each rule has filtered")

    def act(self, project: Project, args: list[str], opts: argparse.Namespace) -> int:
        from ...store.ledger_queries import LedgerFilter
        from ..observation_sources import open_store, site_named

        if opts.limit is not None and opts.limit < 0:
            raise UsageError("--limit is a number of rows, or 0 for all")
        for name, value in (("--url", opts.url), ("--limit", opts.limit)):
            if opts.by_rule and value is not None:
                raise UsageError(f"{name} and --by-rule do not go together")
        settings = project.dedup_settings(opts.spider)
        now = time.time()
        asked = LedgerFilter(
            settings.scope,
            [site_named(name, settings) for name in args],
            spider=opts.spider,
            rule=opts.rule,
            url=opts.url,
            containing=opts.containing,
            since=time_of(opts.since, now) if opts.since else None,
            until=time_of(opts.until, now) if opts.until else None,
        )
        if asked.since is not None and asked.until is not None and asked.since >= asked.until:
            raise Mistake("--since is not before --until")
        with open_store(settings) as store:
            return self._show(store, settings, asked, opts)

    def _show(self, store: "Store", settings: "DedupSettings", asked: "LedgerFilter", opts: argparse.Namespace) -> int:
        from ..showing import shown_ledger

        if opts.by_rule:
            shown = shown_ledger.print_rules(store, asked, settings.load_rules(), json=opts.json)
        elif opts.json or opts.url is not None:
            shown = shown_ledger.print_rows(store, asked, opts.limit or None, json=opts.json)
        else:
            shown = shown_ledger.print_table(store, asked, SHOWN if opts.limit is None else opts.limit or None)
        if not shown and not opts.json:
            print(f"{opts.url} was not filtered." if opts.url else shown_ledger.why_nothing(store, asked))
        return DONE if shown else NOTHING


def time_of(text: str, now: float) -> float:
    """Return the time that a user means, in seconds since 1970: a date, a date and time (UTC), or how long ago.

    Raises Mistake.

    >>> time_of("2d", 1_000_000.0), time_of("2025-11-25", 0.0), time_of("2025-11-25T09:00:00Z", 0.0)
    (827200.0, 1764028800.0, 1764061200.0)
    """
    ago = _AGO(text)
    if ago is not None:
        return now - int(ago[1]) * _SECONDS[ago[2]]
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise Mistake(f"{text!r} is no time; right ones: 2025-11-25, 2025-11-25T09:00:00, 3h, 2d") from None
    return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()
