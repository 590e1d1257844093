"""Tables of many machines: the columns that are read and their types, and rows as tables of Arrow, in which workers hand them over."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .records import SourceError
from .rows import COLUMNS

if TYPE_CHECKING:
    import pyarrow

_WHOLE: Final = ("byte", "short", "integer", "long")
_TEXT: Final = ("string",)
#: Types of columns that are no text, by Spark's names.
_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "status": (*_WHOLE, "string"),
    **dict.fromkeys(("length", "words"), _WHOLE),
    "time": ("timestamp", "timestamp_ntz", "double", "float", *_WHOLE, "string"),
    **dict.fromkeys(("ends", "password"), ("boolean",)),
    "headers": ("map", "string"),
}


def columns_read(types: Mapping[str, str]) -> dict[str, str]:
    """Return those columns of a table that are read, with their types.

    Raises SourceError where one is missing or has a type that cannot be read.

    >>> columns_read({"url": "string", "fingerprint": "string", "colour": "string"})
    {'url': 'string', 'fingerprint': 'string'}
    """
    if not {"url", "fingerprint"} <= types.keys():
        shown = ", ".join([*types][:8]) + (", ..." if len(types) > 8 else "")
        raise SourceError(f"the columns are {shown}: url and fingerprint must be among them")
    found = {name: kind for name, kind in types.items() if name in COLUMNS}
    for name, kind in found.items():
        right = _TYPES.get(name, _TEXT)
        if kind not in right:
            raise SourceError(f"the column {name} is of type {kind}: it must be {' or '.join(right)}; cast it before")
    return found


def arrow_table(rows: Sequence[tuple[Any, ...]], schema: str) -> "pyarrow.Table":
    """Return the table of rows whose columns are named and typed as in a schema of Spark (``site string, rows long``)."""
    import pyarrow

    types = {"string": pyarrow.string(), "boolean": pyarrow.bool_(), "int": pyarrow.int32(), "long": pyarrow.int64()}
    types |= {"double": pyarrow.float64(), "array<string>": pyarrow.list_(pyarrow.string())}
    typed = pyarrow.schema([(name, types[kind]) for name, kind in map(str.split, schema.split(", "))])
    columns = zip(*rows, strict=True) if rows else ((),) * len(typed)
    return pyarrow.table([pyarrow.array(values, each.type) for values, each in zip(columns, typed, strict=True)], typed)
