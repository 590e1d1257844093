"""Indexes of web archives: CDX with its header line, and CDXJ."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from ..observation import Observation, ObservationError
from .opened import numbered_lines
from .records import BadRecord, LeftOut, ReadOptions, Record, Source, SourceError
from .rows import seconds

#: Digests of no content: SHA-1 in base 32, as archives write it.
_EMPTY: Final = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
_REVISIT: Final = "warc/revisit"
#: Letters of the header of a CDX, and what their fields are.
_LETTERS: Final = {"a": "url", "b": "timestamp", "m": "mime", "s": "status", "k": "digest", "r": "redirect"}
_CDXJ: Final = re.compile(rb"^\S+ [0-9]{14} \{")


def is_cdx(line: bytes) -> bool:
    """Return whether a line is the header of a CDX."""
    return line.lstrip(b" ").startswith(b"CDX ")


def is_cdxj(line: bytes) -> bool:
    """Return whether a line is one of a CDXJ.

    >>> is_cdxj(b'test,a)/ 20260131120000 {"url": "http://a.test/"}')
    True
    """
    return _CDXJ.match(line) is not None


def read_cdx(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of a CDX, whose header line names its fields. Raises SourceError where these do not do."""
    places: dict[str, int] = {}
    fields = 0
    for found in numbered_lines(source):
        if isinstance(found, BadRecord):
            yield found
            continue
        number, line = found
        if is_cdx(line):  # some have several, one of each file that they were made of
            letters = line.decode("utf-8", "replace").split()[1:]
            places = {_LETTERS[letter]: place for place, letter in enumerate(letters) if letter in _LETTERS}
            fields = len(letters)
            if missing := [name for name in ("url", "digest") if name not in places]:
                raise SourceError(f"the CDX has no field for {' and '.join(missing)} (a is the URL, k the digest)")
            continue
        if not line.strip():
            continue
        values = line.decode("utf-8", "replace").split()
        if len(values) != fields:
            yield BadRecord(source.name, f"line {number}", f"it has {len(values)} fields, the header has {fields}")
            continue
        yield _record(source, number, {name: values[place] for name, place in places.items()})


def read_cdxj(source: Source, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of a CDXJ: a key, a time and a JSON object in each line."""
    for found in numbered_lines(source):
        if isinstance(found, BadRecord):
            yield found
            continue
        number, line = found
        if not line.strip() or line.startswith(b"!"):  # lines about the file itself
            continue
        parts = line.split(b" ", 2)
        try:
            values = json.loads(parts[2]) if len(parts) == 3 else None
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict) or "url" not in values:
            yield BadRecord(source.name, f"line {number}", "no key, time and JSON object with url")
            continue
        yield _record(source, number, {**values, "timestamp": parts[1].decode("ascii", "replace")})


def _record(source: Source, number: int, values: Mapping[str, Any]) -> Record:
    """Return the record that the fields of a line describe; one without a digest says nothing about content."""
    digest, status = str(values.get("digest") or "-"), str(values.get("status") or "-")
    if digest == "-":
        return LeftOut("no digest")
    if status == "-":
        if values.get("mime") != _REVISIT:
            return LeftOut("no status")
        status = "200"  # the archive has this content already, which it keeps of such answers alone
    try:
        at = _stamp_seconds(str(values.get("timestamp")))
        redirect = values.get("redirect")
        return _archived(str(values["url"]), digest, status, at, redirect=redirect if redirect != "-" else None)
    except ObservationError as error:
        return BadRecord(source.name, f"line {number}", str(error))
    except ValueError:
        return BadRecord(source.name, f"line {number}", f"status is {status!r}: it must be an HTTP status")


def _stamp_seconds(stamp: str) -> float | None:
    """Return seconds since 1970 of a time in digits; None of what is none.

    >>> _stamp_seconds("20260131120000")
    1769860800.0
    """
    if not re.fullmatch(r"[0-9]{14}", stamp):
        return None
    try:
        return seconds(datetime.strptime(stamp, "%Y%m%d%H%M%S"))
    except ValueError:
        return None


def _archived(url: str, digest: str, status: Any, at: float | None, *, redirect: str | None = None) -> Observation:
    """Return the observation of a response of which an index of an archive has the digest."""
    code = int(status)
    if code == 200 and digest.removeprefix("sha1:") == _EMPTY:
        return Observation(url, digest, time=at, words=0)  # hardly any text: no evidence
    return Observation(url, digest if code == 200 else "", status=code, time=at, redirect=redirect or None)
