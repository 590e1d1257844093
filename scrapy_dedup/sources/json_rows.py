"""JSON: lines of objects or pairs, or one array of objects, as feeds and logs have them."""

import json
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from ..observation import Observation, ObservationError
from .opened import DAMAGED, numbered_lines, opened
from .records import BadRecord, LeftOut, ReadOptions, Record, Source
from .rows import ReadRow, row_reader

_CHUNK: Final = 1 << 16
_LONGEST: Final = 1 << 24
_WRONG: Final = "neither an observation (url and fingerprint) nor an item with the fields {} and {}"


class _Rows:
    """Makes observations of JSON values; most have the keys of the one before."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._names: tuple[str, ...] = ()
        self._read: ReadRow | None = None

    def of(self, value: Any) -> Observation | LeftOut:
        """Return the observation that a value describes. Raises ObservationError."""
        if isinstance(value, dict):
            names = tuple(value)
            if names != self._names:
                self._names, self._read = names, row_reader(names, self._options, typed=True)
            if self._read is not None:
                return self._read(value)
        elif isinstance(value, list) and len(value) == 2:
            return Observation(*value)
        options = self._options
        raise ObservationError(_WRONG.format(options.url_field, " or ".join(options.body_fields)))


def read_json_lines(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of a file of JSON lines; empty ones are skipped."""
    rows = _Rows(options)
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


def read_json_array(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of a file that is one array, a part of which is held at a time.

    After an item that is not JSON, reading goes on at the next line that begins with a brace.
    """
    rows = _Rows(options)
    decode = json.JSONDecoder().raw_decode
    item = 0
    with opened(source) as file:
        text = _Text(file)
        text.rest = text.rest.lstrip().removeprefix("[")
        while True:
            if not text.skip(", \t\r\n"):
                if text.damage:
                    yield BadRecord(source.name, f"item {item + 1}", text.damage)
                elif not text.closed:
                    yield BadRecord(source.name, f"item {item + 1}", "cut off here: the array has no end")
                return
            if text.rest[text.at] == "]":
                text.closed = True
                text.at += 1
                continue
            item += 1
            try:
                value = text.value(decode)
                yield rows.of(value)
            except json.JSONDecodeError as error:
                if text.damage:
                    continue
                yield BadRecord(source.name, f"item {item}", f"not JSON ({error.msg})")
                text.skip_line()
            except (ObservationError, RecursionError) as error:
                yield BadRecord(source.name, f"item {item}", str(error))


class _Text:
    """The text of a file from which values are taken, one after the other."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._ended = False
        self.rest = ""
        self.at = 0
        self.damage = ""
        self.closed = False
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._more(_CHUNK)
        self.rest = self.rest.removeprefix("\ufeff")

    def skip(self, characters: str) -> bool:
        """Go on to what is none of *characters*; return False at the end."""
        while True:
            while self.at < len(self.rest):
                if self.rest[self.at] not in characters:
                    return True
                self.at += 1
            if not self._more(_CHUNK):
                return False

    def value(self, decode: Any) -> Any:
        """Return the next value. Raises JSONDecodeError."""
        size = _CHUNK
        while True:
            try:
                value, end = decode(self.rest, self.at)
            except json.JSONDecodeError:
                if len(self.rest) - self.at > _LONGEST or not self._more(size):
                    raise
                size *= 2  # what is looked at again and again has doubled each time
                continue
            # A number may go on in what has not been read.
            if end < len(self.rest) or not self._more(_CHUNK):
                self.at = end
                return value

    def skip_line(self) -> None:
        """Go on to the next line that begins with a brace."""
        while True:
            place = self.rest.find("\n{", self.at)
            if place >= 0:
                self.at = place + 1
                return
            self.at = max(self.at, len(self.rest) - 1)
            if not self._more(_CHUNK):
                self.at = len(self.rest)
                return

    def _more(self, size: int) -> bool:
        """Read on; return False at the end."""
        if self._ended:
            return False
        try:
            data = self._file.read(size)
        except DAMAGED as error:
            self.damage, data = f"unreadable from here on ({error}). Is the file whole?", b""
        self._ended = not data
        self.rest, self.at = self.rest[self.at :] + self._decoder.decode(data, self._ended), 0
        return not self._ended
