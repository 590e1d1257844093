"""Rows as tables of Arrow, in which workers on many machines hand them over."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow


def arrow_table(rows: Sequence[tuple[Any, ...]], schema: str) -> "pyarrow.Table":
    """Return the table of rows whose columns are named and typed as in a schema of Spark (``site string, rows long``)."""
    import pyarrow

    types = {"string": pyarrow.string(), "boolean": pyarrow.bool_(), "int": pyarrow.int32(), "long": pyarrow.int64()}
    types |= {"double": pyarrow.float64(), "array<string>": pyarrow.list_(pyarrow.string())}
    typed = pyarrow.schema([(name, types[kind]) for name, kind in map(str.split, schema.split(", "))])
    columns = zip(*rows, strict=True) if rows else ((),) * len(typed)
    return pyarrow.table([pyarrow.array(values, each.type) for values, each in zip(columns, typed, strict=True)], typed)
