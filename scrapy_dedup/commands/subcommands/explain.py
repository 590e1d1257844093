import argparse
import fileinput
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from ..base import Project, Subcommand
from ..problems import DONE

if TYPE_CHECKING:
    from ...rules.book import RuleBook


class Explain(Subcommand):
    """``scrapy dedup explain``: what the rules make of a URL. Exit codes: 0 done, 2 a mistake in what was asked."""

    name = "explain"
    syntax = "[options] URL..."
    summary = "show what the rules make of a URL, and whether it was filtered"
    description = (
        "Show the keys and values of each URL, the rules that match, their evidence, the canonical key, and when the URL was "
        "filtered. The URL - stands for standard input, one URL per line. "
        "Exit codes: 0 done, 2 a mistake in what was asked."
    )
    json_help = "print a line of JSON for each URL"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--keys-only", action="store_true", help="print the canonical key of each URL and nothing else, in order"
        )
        parser.add_argument("--all", action="store_true", help="show all rules of the site that do not match, too")
        parser.add_argument(
            "--from", dest="file", metavar="FILE", help="read URLs from FILE, one per line (- is standard input)"
        )

    def act(self, project: Project, args: list[str], opts: argparse.Namespace) -> int:
        if not args and opts.file is None:
            raise UsageError("no URL: name one or more, --from FILE, or - for standard input")
        if opts.keys_only and opts.json:
            raise UsageError("--keys-only and --json do not go together")
        settings = project.dedup_settings(opts.spider)
        book = settings.load_rules()
        urls = _urls(args, opts.file)
        if opts.keys_only:
            _print_keys(book, urls)
        else:
            from ..showing.explained_url import print_explanations, print_explanations_as_json, store_answers

            with store_answers(settings, book) as answers:
                if opts.json:
                    print_explanations_as_json(book, filter(None, urls), answers)
                else:
                    print_explanations(book, filter(None, urls), answers, every=opts.all)
        return DONE


def _urls(args: list[str], file: str | None) -> Iterator[str]:
    for arg in args:
        yield from _lines("-") if arg == "-" else [arg]
    if file is not None:
        yield from _lines(file)


def _lines(name: str) -> Iterator[str]:
    with fileinput.input(name, encoding="utf-8", errors="surrogateescape") as lines:
        yield from (line.strip() for line in lines)


def _print_keys(book: "RuleBook", urls: Iterable[str]) -> None:
    """Print a line for each URL; an empty line stays one, so that the lines of both files correspond."""
    for url in urls:
        sys.stdout.write((book.canonical_key(url) if url else "") + "\n")
