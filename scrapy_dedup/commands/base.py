"""What the commands have in common: the settings they act under, and how they speak of mistakes."""

import argparse
import sys
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from ..crawl.settings.dedup_settings import DedupSettings

#: Exit codes.
DONE, NOTHING, MISTAKE = 0, 1, 2


class Mistake(Exception):
    """What the user asked for cannot be done; the message is one line that says why and what would be right."""


class Nothing(Exception):
    """There is nothing to work on; the message is one line that says what to do about it."""


class DedupCommand(ScrapyCommand):
    """A command that needs no crawl, works inside and outside a project, and has no traceback for its user."""

    requires_crawler_process = False
    name = ""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--spider", metavar="NAME", help="use the settings of this spider (its custom_settings)")

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        from ..crawl.support.compatibility import without_crawl

        super().process_options(args, opts)
        if not self.requires_crawler_process:
            without_crawl(self.settings)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        # Scrapy hands unknown options over as arguments.
        unknown = [arg for arg in args if arg.startswith("-") and arg != "-"]
        if unknown:
            raise UsageError(f"unknown option: {unknown[0]}")
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

    @abstractmethod
    def act(self, args: list[str], opts: argparse.Namespace) -> int:
        """Do what the command is for; return the exit code."""

    def dedup_settings(self, spider: str | None = None) -> "DedupSettings":
        """Return the plug-in's settings of the project, or of one of its spiders."""
        from ..crawl.settings.dedup_settings import DedupSettings

        return DedupSettings.from_crawler_settings(self.all_settings(spider))

    def all_settings(self, spider: str | None = None) -> "Settings":
        """Return the settings of the project, or of one of its spiders."""
        from scrapy.settings import Settings

        assert isinstance(self.settings, Settings)
        settings = self.settings
        if spider is not None:
            settings = settings.copy()
            self._spider_class(spider).update_settings(settings)
        return settings

    def _spider_class(self, name: str) -> Any:

        from ..crawl.support.compatibility import spider_loader

        assert self.settings is not None
        loader = spider_loader(self.settings)
        try:
            return loader.load(name)
        except KeyError:
            known = ", ".join(sorted(loader.list())) or "none: is this a Scrapy project?"
            raise Mistake(f"there is no spider {name!r}; the spiders here are {known}") from None


@contextmanager
def mistakes() -> Iterator[None]:
    """Turn the errors that a user can mend into :exc:`Mistake`."""
    from ..crawl.settings.dedup_settings import DedupSettingError
    from ..files.errors import RuleFileError
    from ..observation import ObservationError
    from ..store.store import StoreError

    try:
        yield
    except (DedupSettingError, ObservationError, RuleFileError, StoreError) as error:
        raise Mistake(str(error)) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Mistake(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error
