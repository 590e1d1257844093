"""What the commands have in common: they need no crawl, have no traceback for their user, and know the project they run in."""

import argparse
import sys
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from .problems import MISTAKE, NOTHING, Mistake, Nothing, escaping, mistakes

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from ..crawl.settings.dedup_settings import DedupSettings


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
        return Project(self.settings)


class Project:
    """The project that a command runs in; outside of one, Scrapy's default settings."""

    def __init__(self, settings: Any) -> None:
        self._settings: Settings = settings

    def dedup_settings(self, spider: str | None = None) -> "DedupSettings":
        """Return the plug-in's settings of the project, or of one of its spiders; others of that name are told.

        Raises DedupSettingError, Mistake.
        """
        from ..crawl.settings.dedup_settings import DedupSettings, unknown_settings

        settings = self.all_settings(spider)
        found = DedupSettings.from_crawler_settings(settings)
        for name in unknown_settings(settings):
            print(f"WARNING: {name} is no setting of scrapy-dedup", file=sys.stderr)
        return found

    def all_settings(self, spider: str | None = None) -> "Settings":
        """Return the settings of the project, or of one of its spiders. Raises Mistake."""
        if spider is None:
            return self._settings
        settings = self._settings.copy()
        self.spider_class(spider).update_settings(settings)
        return settings

    def spider_class(self, name: str) -> Any:
        """Return the class of a spider. Raises Mistake."""
        from scrapy.spiderloader import get_spider_loader

        loader = get_spider_loader(self._settings)
        try:
            return loader.load(name)
        except KeyError:
            known = ", ".join(sorted(loader.list())) or "none: is this a Scrapy project?"
            raise Mistake(f"there is no spider {name!r}; the spiders here are {known}") from None


class Subcommand(ABC):
    """A subcommand of ``scrapy dedup``: what one word after that does."""

    name: ClassVar[str]
    #: What follows its name.
    syntax: ClassVar[str]
    #: One line for the list of subcommands.
    summary: ClassVar[str]
    description: ClassVar[str]
    json_help: ClassVar[str] = "print lines of JSON instead of text"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add its options to those that all have."""
        add_common_options(parser, self.json_help)

    @abstractmethod
    def act(self, project: Project, args: list[str], opts: argparse.Namespace) -> int:
        """Do what it is for; return the exit code. Raises UsageError, Mistake, Nothing."""


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
