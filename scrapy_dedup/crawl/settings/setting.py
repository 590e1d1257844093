"""A setting: its name, its default, how its value is read, its type in words, and what it is for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as a user writes it."""

    name: str
    default: Any
    #: From the value that a settings file or the command line gives to the one that is used. Raises WrongValue.
    read: Callable[[Any], Any] = field(repr=False)
    #: In words.
    type: str
    help: str


def setting(default: Any, read: Callable[[Any], Any], type: str, help: str) -> Any:  # noqa: A002 - as argparse calls them
    """Return the field of a setting (see :class:`Setting`)."""
    return field(metadata={"default": default, "read": read, "type": type, "help": help})
