"""What the commands have in common: they need no crawl, and have no traceback for their user."""

import argparse
import sys
from abc import abstractmethod
from typing import TYPE_CHECKING, NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from .terminal.escaping import escaping
from .terminal.problems import MISTAKE, NOTHING, Mistake, Nothing, mistakes

if TYPE_CHECKING:
    from .inputs.project import Project


class DedupCommand(ScrapyCommand):
    """A command that works inside and outside a project."""

    requires_crawler_process = False
    name = ""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        with escaping():
            self._run(args, opts)

    def _run(self, args: list[str], opts: argparse.Namespace) -> None:
        # Scrapy hands unknown options over as arguments.
        unknown = [arg for arg in args if arg.startswith("-") and arg != "-"]
        if unknown:
            self.refuse(f"unknown option: {unknown[0]}", opts)
        try:
            with mistakes():
                self.exitcode = self.act(args, opts)
        except (Mistake, Nothing) as problem:
            print(f"{self.name}: {problem}", file=sys.stderr)
            self.exitcode = NOTHING if isinstance(problem, Nothing) else MISTAKE
        except KeyboardInterrupt:
            print(f"{self.name}: interrupted", file=sys.stderr)
            self.exitcode = 130
        except BrokenPipeError:
            # Whoever read the output has had enough. Closing it here keeps Python from complaining at exit.
            sys.stderr.close()

    def refuse(self, problem: str, opts: argparse.Namespace) -> NoReturn:
        """Say what is wrong with the arguments, after how the command is used."""
        raise UsageError(problem)

    @abstractmethod
    def act(self, args: list[str], opts: argparse.Namespace) -> int:
        """Do what the command is for; return the exit code."""

    @property
    def project(self) -> "Project":
        """The project that the command runs in."""
        from scrapy.settings import Settings

        from .inputs.project import Project

        assert isinstance(self.settings, Settings)
        return Project(self.settings)


def add_common_options(parser: argparse.ArgumentParser, json_help: str) -> None:
    """Add the options that every command has besides Scrapy's own."""
    parser.add_argument("--spider", metavar="NAME", help="use the settings of this spider (its custom_settings)")
    parser.add_argument("--json", action="store_true", help=json_help)


def whole_number(text: str) -> int:
    """Return the number that an option is given as. Raises ArgumentTypeError."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number; a right one: 20") from None
