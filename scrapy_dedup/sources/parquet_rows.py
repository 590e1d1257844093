"""Parquet, batch by batch."""

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from ..observation import ObservationError
from .csv_rows import wrong_columns
from .opened import opened_to_seek
from .records import BadRecord, ReadOptions, Record, Source, SourceError
from .rows import COLUMNS, row_reader

INSTALL: Final = "Parquet is read by pyarrow, which is not installed: pip install 'scrapy-dedup[parquet]'"
_BATCH: Final = 4_096


def read_parquet(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of a Parquet file. Raises SourceError."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise SourceError(INSTALL) from None
    with opened_to_seek(source) as whole:
        yield from _rows_of(whole, source, parquet)


def _rows_of(whole: BinaryIO, source: Source, parquet: Any) -> Iterator[Record]:
    import pyarrow

    try:
        file = parquet.ParquetFile(whole)
    except (pyarrow.ArrowException, ValueError) as error:
        raise SourceError(f"no whole Parquet file ({_first_line(error)})") from None
    with file:
        names = list(file.schema_arrow.names)
        read = row_reader(names)
        if read is None:
            raise SourceError(wrong_columns(names))
        columns = [name for name in names if name in COLUMNS]
        size = whole.seek(0, 2)
        groups = file.metadata.num_row_groups
        first = 1
        for group in range(groups):
            rows = file.metadata.row_group(group).num_rows
            number = first
            try:
                for batch in file.iter_batches(_BATCH, row_groups=[group], columns=columns, use_threads=False):
                    values = [_values(column) for column in batch.columns]
                    for row in zip(*values, strict=True):
                        try:
                            yield read(dict(zip(columns, row, strict=True)))
                        except ObservationError as error:
                            yield BadRecord(source.name, f"row {number}", str(error))
                        number += 1
            except (pyarrow.ArrowException, OSError, ValueError) as error:
                yield BadRecord(
                    source.name,
                    f"rows {number} to {first + rows - 1} (row group {group})",
                    f"unreadable ({_first_line(error)})",
                )
            first += rows
            source.read(size * (group + 1) // groups - size * group // groups)


def _values(column: Any) -> list[Any]:
    """Return the values of a column; sketches, which are bytes there, as text."""
    import pyarrow

    if pyarrow.types.is_binary(column.type) or pyarrow.types.is_large_binary(column.type):
        return [value if value is None else value.decode("utf-8", "replace") for value in column.to_pylist()]
    found: list[Any] = column.to_pylist()
    return found


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
