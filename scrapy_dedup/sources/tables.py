"""Tables of observations: JSON lines, CSV with a header, and Parquet."""

import csv
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import Any, BinaryIO, Final

from ..observation import Observation, described
from .pages import PageReader
from .records import Found, SourceError, checked_columns, found_in, lines_of, named

#: Columns that are read of a file in columns.
COLUMNS: Final = frozenset(Observation.__dataclass_fields__) - {"version"}
#: Those that hold texts, whatever these look like.
_TEXTS: Final = frozenset(("url", "fingerprint", "canonical", "redirect", "bag", "sketch"))
_WORDS: Final = {"True": "true", "False": "false"}
"""How Python writes the words of JSON."""


def read_json_lines(file: BinaryIO, pages: PageReader) -> Iterator[Found]:
    """Yield the records of a file of JSON lines, objects or pairs; empty ones are skipped."""
    return found_in(lines_of(file), _observation_in)


def read_csv(file: BinaryIO, pages: PageReader) -> Iterator[Found]:
    """Yield the records of a CSV file. Raises SourceError where its columns are none of ours."""
    texts = (line.decode("utf-8", "replace") for _, line in lines_of(file, empty=True))
    header = next(filter(str.strip, texts))
    rows = csv.reader(chain([header], texts), delimiter=separator_of(header))
    names = checked_columns(name.strip().removeprefix("\ufeff") for name in next(rows))
    records = ((f"line {rows.line_num}", row) for row in rows if row)
    yield from found_in(records, lambda row: observation_of_row(named(names, row)))


def read_parquet(file: BinaryIO, pages: PageReader) -> Iterator[Found]:
    """Yield the records of a Parquet file. Raises SourceError."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise SourceError(
            "Parquet needs pyarrow, which is not installed: pip install 'scrapy-dedup[parquet]'"
        ) from None
    table = ParquetFile(file)
    names = [name for name in checked_columns(table.schema_arrow.names) if name in COLUMNS]
    batches = (
        batch
        for group in range(table.num_row_groups)  # one by one: where one is damaged, those before it are read
        for batch in table.iter_batches(4_096, [group], names, use_threads=False)
    )
    rows = enumerate((row for batch in batches for row in batch.to_pylist()), 1)
    yield from found_in(((f"row {number}", row) for number, row in rows), observation_of_row)


def separator_of(header: str) -> str:
    """Return what separates the columns of a header line of CSV; nothing where there is one column.

    >>> separator_of("url;fingerprint")
    ';'
    """
    found = max(",;\t|", key=header.count)
    return found if found in header else ""


def observation_of_row(row: Mapping[str, Any]) -> Observation:
    """Return the observation in a row whose values may be texts, as in CSV. Raises ObservationError.

    >>> observation_of_row({"url": "http://a.test/", "fingerprint": "7", "status": "200", "words": ""}).status
    200
    """
    values = {name: _value(name, value) for name, value in row.items() if value not in (None, "") and name in COLUMNS}
    return Observation.from_json({"url": "", "fingerprint": "", **values})


def _observation_in(line: bytes) -> Observation:
    found = described(json.loads(line))
    if found is None:
        raise ValueError("no observation: it must be an object with url and fingerprint, or a pair of these")
    return found


def _value(name: str, value: Any) -> Any:
    if isinstance(value, str) and name not in _TEXTS:
        try:
            return json.loads(_WORDS.get(value, value))
        except ValueError:
            return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return dict(value) if isinstance(value, list) else value  # a map in Parquet
