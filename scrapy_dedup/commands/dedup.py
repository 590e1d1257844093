import argparse
from typing import Final, NoReturn

from scrapy.exceptions import UsageError

from .base import DedupCommand, Subcommand
from .subcommands.exchange import Export, Import
from .subcommands.explain import Explain
from .subcommands.ledger import ShowLedger
from .subcommands.page import ExplainPage
from .subcommands.report import WriteReport
from .subcommands.upkeep import Check, Forget

SUBCOMMANDS: Final[tuple[type[Subcommand], ...]] = (
    WriteReport,
    ShowLedger,
    Explain,
    ExplainPage,
    Check,
    Import,
    Export,
    Forget,
)


class Dedup(DedupCommand):
    """``scrapy dedup``: one family of subcommands about what was learned and filtered.

    Exit codes: 0 done; 1 there is nothing to work on, or what was checked is faulty; 2 a mistake in what was asked.
    """

    name = "dedup"

    def syntax(self) -> str:
        return "SUBCOMMAND [options] [arguments]"

    def short_desc(self) -> str:
        return "Show, check, explain and exchange deduplication rules"

    def long_desc(self) -> str:
        return "Subcommands about deduplication rules and what they filter; scrapy learn-rules learns them."

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        # Scrapy's own options follow the subcommand: given before it as well, those after it would undo them.
        scrapys = argparse.ArgumentParser(add_help=False)
        super().add_options(scrapys)
        parser.set_defaults(**vars(scrapys.parse_args([])))
        added = parser.add_subparsers(title="Subcommands", metavar="SUBCOMMAND", prog="scrapy dedup")
        for kind in SUBCOMMANDS:
            one = kind()
            own = added.add_parser(
                one.name,
                usage=f"scrapy dedup {one.name} {one.syntax}",
                help=one.summary,
                description=one.description,
                formatter_class=parser.formatter_class,
            )
            super().add_options(own)
            one.add_options(own)
            own.set_defaults(subcommand=one, usage_error=own.error)

    def act(self, args: list[str], opts: argparse.Namespace) -> int:
        subcommand: Subcommand | None = getattr(opts, "subcommand", None)
        if subcommand is None:
            names = ", ".join(kind.name for kind in SUBCOMMANDS)
            raise UsageError(f"name a subcommand: one of {names}")
        self.name = f"dedup {subcommand.name}"
        try:
            return subcommand.act(self.project, args, opts)
        except UsageError as error:
            self.refuse(str(error), opts)

    def refuse(self, problem: str, opts: argparse.Namespace) -> NoReturn:
        if hasattr(opts, "usage_error"):  # that of the subcommand, which says how that one is used
            opts.usage_error(problem)
        super().refuse(problem, opts)
