"""JSON lines: objects or pairs."""

import json
from collections.abc import Iterator
from typing import Any

from ..observation import Observation, ObservationError
from .opened import numbered_lines
from .records import BadRecord, ReadOptions, Record, Source
from .rows import ReadRow, row_reader


class _Rows:
    """Makes observations of JSON values; most have the keys of the one before."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._read: ReadRow | None = None

    def of(self, value: Any) -> Observation:
        """Return the observation that a value describes. Raises ObservationError."""
        if isinstance(value, dict):
            names = tuple(value)
            if names != self._names:
                self._names, self._read = names, row_reader(names, typed=True)
            if self._read is not None:
                return self._read(value)
        elif isinstance(value, list) and len(value) == 2:
            return Observation(*value)
        raise ObservationError("no observation: it has no url and fingerprint")


def read_json_lines(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of a file of JSON lines; empty ones are skipped."""
    rows = _Rows()
    for found in numbered_lines(source):
        if isinstance(found, BadRecord):
            yield found
            continue
        number, line = found
        if not line.strip():
            continue
        try:
            yield rows.of(json.loads(line))
        except json.JSONDecodeError as error:
            yield BadRecord(source.name, f"line {number}", f"not JSON ({error.msg})")
        except (ObservationError, UnicodeDecodeError, RecursionError) as error:
            yield BadRecord(source.name, f"line {number}", str(error))
