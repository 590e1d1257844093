"""CSV with a header."""

import csv
from collections.abc import Iterator
from typing import Final

from ..observation import ObservationError
from .opened import numbered_lines
from .records import BadRecord, ReadOptions, Record, Source, SourceError
from .rows import row_reader

_LONGEST_FIELD: Final = 1 << 26
_DELIMITERS: Final = ",;\t|"


def delimiter_of(header: str) -> str | None:
    """Return what separates the columns of a header line; None where there is one column.

    >>> delimiter_of("url;fingerprint")
    ';'
    """
    return max(_DELIMITERS, key=header.count) if any(each in header for each in _DELIMITERS) else None


def names_of_columns(header: str) -> list[str]:
    """Return the names of the columns in a header line."""
    delimiter = delimiter_of(header)
    names = next(csv.reader([header], delimiter=delimiter or ","), [])
    return [name.strip().removeprefix("\ufeff") for name in names]


def read_csv(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of a CSV file. Raises SourceError where its columns are none of ours."""
    csv.field_size_limit(_LONGEST_FIELD)
    damaged: list[BadRecord] = []

    def lines() -> Iterator[str]:
        for found in numbered_lines(source):
            if isinstance(found, BadRecord):
                damaged.append(found)
                return
            yield found[1].decode("utf-8", "replace").replace("\0", "")

    text = lines()
    header = next((line for line in text if line.strip()), "")
    names = names_of_columns(header)
    read = row_reader(names)
    if read is None:
        yield from damaged
        if header:
            raise SourceError(wrong_columns(names))
        return
    rows = csv.reader(text, delimiter=delimiter_of(header) or ",")
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield BadRecord(source.name, f"line {rows.line_num + 1}", f"not CSV ({error})")
            continue
        if row is None:
            break
        if not row:
            continue
        try:
            if len(row) != len(names):
                raise ObservationError(f"it has {len(row)} columns, the header has {len(names)}")
            yield read(dict(zip(names, row, strict=True)))
        except ObservationError as error:
            yield BadRecord(source.name, f"line {rows.line_num + 1}", str(error))
    yield from damaged


def wrong_columns(names: list[str]) -> str:
    """Return what is wrong with columns of these names."""
    shown = ", ".join(name[:40] for name in names[:8]) + (", ..." if len(names) > 8 else "")
    return f"its columns are {shown or 'none'}: url and fingerprint must be among them"
