"""Indexes of web archives: CDX with its header line, and CDXJ."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO, Final

from ..observation import Observation
from .pages import PageReader
from .records import Found, LeftOut, SourceError, found_in, lines_of, named

#: Digests of no content: SHA-1 in base 32, as archives write it.
_EMPTY: Final = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
#: Letters of the header of a CDX, and what their fields are.
_LETTERS: Final = {"a": "url", "b": "timestamp", "m": "mime", "s": "status", "k": "digest", "r": "redirect"}
_CDXJ: Final = re.compile(rb"\S+ ([0-9]{14}) (\{.*)", re.DOTALL)


def is_cdxj(line: bytes) -> bool:
    """Return whether a line is one of a CDXJ.

    >>> is_cdxj(b'test,a)/ 20260131120000 {"url": "http://a.test/"}')
    True
    """
    return line.startswith(b"!OpenWayback-CDXJ") or _CDXJ.match(line) is not None


def read_cdx(file: BinaryIO, pages: PageReader) -> Iterator[Found]:
    """Yield the records of a CDX, whose header line names its fields. Raises SourceError where these do not do."""
    return found_in(_fields_of_cdx(file), lambda fields: _archived(named(*fields)))


def read_cdxj(file: BinaryIO, pages: PageReader) -> Iterator[Found]:
    """Yield the records of a CDXJ: a key, a time and a JSON object in each line."""
    # What begins with an exclamation mark is about the file itself.
    return found_in(((at, line) for at, line in lines_of(file) if not line.startswith(b"!")), _of_cdxj)


def _fields_of_cdx(file: BinaryIO) -> Iterator[tuple[str, tuple[list[str], list[str]]]]:
    names: list[str] = []
    for position, line in lines_of(file):
        first, *rest = fields = line.decode("utf-8", "replace").split()
        if first != "CDX":
            yield position, (names, fields)
            continue
        names = [_LETTERS.get(letter, letter) for letter in rest]  # some have several headers, one of each file within
        if not {"url", "digest"} <= {*names}:
            raise SourceError("the CDX must have fields for url and digest: the letters a and k in its header")


def _of_cdxj(line: bytes) -> Observation | LeftOut:
    found = _CDXJ.match(line)
    if found is None:
        raise ValueError("no key, time and JSON object")
    return _archived({"url": None, **json.loads(found[2]), "timestamp": found[1].decode()})


def _archived(values: Mapping[str, Any]) -> Observation | LeftOut:
    """Return the observation of a response that an archive has; without a digest its index says nothing of content."""
    digest, status, redirect = (str(values.get(name) or "-") for name in ("digest", "status", "redirect"))
    if digest == "-":
        return LeftOut("no digest")
    if status == "-":
        if values.get("mime") != "warc/revisit":
            return LeftOut("no status")
        status = "200"  # the archive has this content already, which it keeps of such answers alone
    if not status.isdecimal():
        raise ValueError(f"status is {status!r}: it must be an HTTP status")
    stamp = values.get("timestamp")
    return Observation(
        values["url"],
        digest if status == "200" else "",
        status=int(status),
        time=datetime.strptime(f"{stamp}Z", "%Y%m%d%H%M%S%z").timestamp() if stamp else None,
        redirect=redirect if redirect != "-" else None,
        words=0 if digest.removeprefix("sha1:") == _EMPTY else None,  # hardly any text is no evidence
    )
