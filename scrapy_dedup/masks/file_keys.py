"""The words of mask files: the format, the tables, and the keys of a path."""

import re

__all__ = ["FORMAT", "KINDS", "MACHINE", "PATH_KEYS", "is_path_header"]

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
