"""Typed columns, as a table of many machines has them: those that are read, and the types that they may have."""

from collections.abc import Mapping
from typing import Final

from .records import SourceError
from .rows import COLUMNS

_WHOLE: Final = ("byte", "short", "integer", "long")
_TEXT: Final = ("string",)
#: Types of columns that are no text, by Spark's names.
_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("status", "fetch_status"), (*_WHOLE, "string")),
    **dict.fromkeys(("length", "words"), _WHOLE),
    **dict.fromkeys(("time", "fetch_time"), ("timestamp", "timestamp_ntz", "double", "float", *_WHOLE, "string")),
    **dict.fromkeys(("ends", "password"), ("boolean",)),
    "headers": ("map", "string"),
}


def columns_read(types: Mapping[str, str]) -> dict[str, str]:
    """Return those columns of a table that are read, with their types.

    Raises SourceError where one is missing or has a type that cannot be read.

    >>> columns_read({"url": "string", "fingerprint": "string", "colour": "string"})
    {'url': 'string', 'fingerprint': 'string'}
    """
    if "url" not in types or not {"fingerprint", "content_digest"} & types.keys():
        shown = ", ".join([*types][:8]) + (", ..." if len(types) > 8 else "")
        raise SourceError(f"the columns are {shown}: they must be url and fingerprint, or url and content_digest")
    found = {name: kind for name, kind in types.items() if name in COLUMNS}
    for name, kind in found.items():
        right = _TYPES.get(name, _TEXT)
        if kind not in right:
            raise SourceError(f"the column {name} is of type {kind}: it must be {' or '.join(right)}; cast it before")
    return found
