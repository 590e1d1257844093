"""TOML as text: cut into the blocks that tables are, edited without touching the rest, and written."""

import json
from collections.abc import Callable, Iterable, Mapping
from io import StringIO
from itertools import pairwise
from typing import Any

from .control_characters import escaped

__all__ = ["Block", "assembled", "blocks_of", "comments_before", "edit", "edited", "lines_of", "toml", "toml_key"]

Block = tuple[tuple[Any, ...], str]
"""The place of a block in the order of its file, which begins with whether it is the machine's, and its text."""
IsHeader = Callable[[str], object]
"""Tells whether a line is the header of a table that begins a block."""


def lines_of(text: str) -> list[str]:
    """Return the lines of a TOML text with their ends; nothing but a newline ends one there."""
    return list(StringIO(text))


def blocks_of(text: str, is_header: IsHeader) -> list[str]:
    """Return the head of a file and the block of each table, with the comments before it.

    Comments that follow a table without an empty line between are that table's.
    """
    lines = lines_of(text)
    cuts = [0]
    for number, line in enumerate(lines):
        if not is_header(line):
            continue
        cut = number
        while cut > cuts[-1] and (not lines[cut - 1].strip() or lines[cut - 1].lstrip().startswith("#")):
            cut -= 1
        while cut < number and lines[cut].strip():
            cut += 1
        cuts.append(cut)
    cuts.append(len(lines))
    return ["".join(lines[start:end]) for start, end in pairwise(cuts)]


def assembled(head: str, kept: Iterable[Block], new: Iterable[Block]) -> str:
    """Return the text of a file: the *kept* blocks as they stand, each of the *new* before the machine's that are later."""
    blocks = list(kept)
    for place, text in sorted(new):
        later = (n for n, (other, _) in enumerate(blocks) if other[0] and other > place)
        blocks.insert(next(later, len(blocks)), (place, "\n" + text))
    texts = [head, *[text for _, text in blocks]]
    return "".join([text if text.endswith("\n") or not text else text + "\n" for text in texts])


def edited(text: str, change: Callable[[Any], None]) -> str | None:
    """Return *text* after a *change* of its document; None where tomlkit cannot read or change it so."""
    import tomlkit  # here, since most crawls write nothing
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        change(document)
        return tomlkit.dumps(document)
    except (TOMLKitError, KeyError, IndexError, TypeError, AttributeError, ValueError, RecursionError):
        return None


def examples_alone(key: str, value: Any) -> bool:
    """Return whether each item of a list has a line of its own: only examples have."""
    return key == "examples" and bool(value)


def edit(table: Any, content: Mapping[str, Any], *, lines: Callable[[str, Any], bool] = examples_alone) -> None:
    """Make the keys of *content* have these values in *table*; None removes one.

    *lines* tells of which lists each item has a line of its own.
    """
    import tomlkit

    old = table.unwrap()
    for key, value in content.items():
        if value is None:
            if key in old:
                del table[key]
        elif old.get(key) != value:
            table[key] = tomlkit.parse(f"x = {toml(value, lines=lines(key, value))}")["x"]


def comments_before(block: str, is_header: IsHeader) -> str:
    """Return what stands before the header of a block."""
    lines = lines_of(block)
    return "".join(lines[: next(number for number, line in enumerate(lines) if is_header(line))])


def toml_key(key: str) -> str:
    """Return a key as TOML writes it."""
    return key if key.isascii() and key.replace("_", "").isalnum() else toml(key)


def toml(value: Any, *, lines: bool = False) -> str:
    """Return *value* as TOML writes it; the items of a list on *lines* of their own.

    JSON's strings are TOML's, but what has quotes or backslashes in it is written without escapes where it can be, so that it can be
    copied. tomlkit would do as well, at a hundred times the cost.
    """
    if isinstance(value, str):
        text = escaped(json.dumps(value, ensure_ascii=False))
        return f"'{value}'" if "\\" in text and escaped(value) == value and not set(value) & set("'\n\t") else text
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        items = [f"{toml_key(key)} = {toml(item)}" for key, item in value.items()]
        return "{ " + ", ".join(items) + " }" if items else "{}"
    if isinstance(value, list):
        if lines and value:
            return "[\n" + "".join([f"    {toml(item)},\n" for item in value]) + "]"
        return "[" + ", ".join([toml(item) for item in value]) + "]"
    return repr(value)
