"""The words of mask files: the format, the tables, and the keys of a path."""

import re
from collections.abc import Mapping
from typing import Final

__all__ = ["FORMAT", "KINDS", "MACHINE", "PATH_KEYS", "RENAMED", "is_path_header"]

FORMAT = "dedup-mask/2"
is_path_header = re.compile(r"""\s*\[\[\s*(?:path|"path"|'path')\s*\]\]""").match

#: Tables of the head: the kinds of pages by name, and what only the machine reads.
KINDS, MACHINE = "page-kinds", "machine"
#: In the order in which they are written.
PATH_KEYS = (
    *("selector", "attribute", "position", "kind", "state", "text", "slot", "typed", "words"),
    *("on", "everywhere", "except", "untested"),
    *("changed", "compared", "pages", "confidence", "before", "after"),
)
#: What a key of the first format is called now; of its selectors for other tools nothing is written any more.
RENAMED: Final[Mapping[str, str]] = {
    "slot": "text",
    "templates": "on",
    "changes": "changed",
    "opportunities": "compared",
    "examples": "before",
    "css": "selector",
    "xpath": "selector",
}
