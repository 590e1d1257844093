"""The tables of a mask file: the names of those in its head, and the keys of a path."""

import re
from operator import attrgetter
from typing import Any, Final, get_args

from ...files.errors import FormError
from ...files.table_fields import TableField, flag, number, one_of, share, string, strings
from ..path import PathKind, State, TransientPath

__all__ = [
    "EXAMPLES",
    "FORMAT",
    "KINDS",
    "MACHINE",
    "PATH",
    "PATH_KEYS",
    "POSITION",
    "SLOT",
    "TEMPLATES",
    "is_head_table",
    "is_path_header",
]

FORMAT: Final = "dedup-mask/2"
is_path_header = re.compile(r"""\s*\[\[\s*(?:path|"path"|'path')\s*\]\]""").match
_position = re.compile(r"(-?[1-9][0-9]{0,5}) of (any|[1-9][0-9]{0,5})").fullmatch

#: Tables of the head: the kinds of pages by name, and what only the machine reads.
KINDS, MACHINE = "page-kinds", "machine"
is_head_table = re.compile(rf"""\s*\[\s*["']?(?:{KINDS}|{MACHINE})["']?\s*\]\s*(?:#|$)""").match
#: In the order in which they are written.
PATH_KEYS = (
    *("selector", "attribute", "position", "kind", "state", "text", "slot", "typed", "words"),
    *("on", "everywhere", "except", "untested"),
    *("changed", "compared", "pages", "confidence", "before", "after"),
)
#: Keys that name kinds of pages, and the attributes that hold their URL templates.
TEMPLATES = {"on": "templates", "except": "excepted", "untested": "untested"}


def _place(key: str, value: Any) -> tuple[int, int]:
    """Return the position of a block, and of how many; 0 for any number."""
    found = _position(value) if isinstance(value, str) else None
    position, of = (int(found[1]), int(found[2].replace("any", "0"))) if found is not None else (0, 0)
    if not position or (of and not 1 <= position <= of):
        remedy = 'write it as "3 of 5", or "1 of any" for the first and "-1 of any" for the last of any number'
        raise FormError(f"{key} is {value!r}", remedy)
    return position, of


def _texts(key: str, value: Any) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise FormError(f"{key} is {value!r}", f'write {key} = "a text that stood there"')
    return texts


def _was_compared(path: TransientPath) -> bool:
    return bool(path.opportunities or path.changes or path.pages or path.confidence)


#: Each of them is an attribute of a path.
PATH = (
    TableField("selector", string),
    TableField("attribute", string),
    TableField("kind", one_of(*get_args(PathKind))),
    TableField("state", one_of(*get_args(State))),
    TableField("typed", flag),
    TableField("words", strings, list),
    TableField("everywhere", flag),
    TableField("changed", number, when=_was_compared, attribute="changes"),
    TableField("compared", number, when=_was_compared, attribute="opportunities"),
    TableField("pages", number, when=_was_compared),
    TableField("confidence", share, when=attrgetter("confidence")),  # it is 0 where nothing was proven
)
#: Of these several make one attribute, or one makes several.
POSITION = (TableField("position", _place),)
SLOT = (TableField("text", string), TableField("slot", strings))
EXAMPLES = (TableField("before", _texts), TableField("after", _texts))
