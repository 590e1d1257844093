"""A subcommand of ``scrapy dedup``."""

import argparse
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from ..base import add_common_options

if TYPE_CHECKING:
    from ..inputs.project import Project


class Subcommand(ABC):
    """What one word after ``scrapy dedup`` does."""

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
    def act(self, project: "Project", args: list[str], opts: argparse.Namespace) -> int:
        """Do what it is for; return the exit code. Raises UsageError, Mistake, Nothing."""
