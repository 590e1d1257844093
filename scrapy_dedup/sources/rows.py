"""Rows with named columns as observations: observations themselves, an index of Common Crawl, or items of a feed."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, Final

from ..content.fingerprints import ContentKind
from ..observation import Observation, ObservationError
from .records import LeftOut, ReadOptions

#: Columns of an index of Common Crawl, and the fields of an observation that they are.
_CRAWL_INDEX: Final = {
    "content_digest": "fingerprint",
    "fetch_status": "status",
    "fetch_time": "time",
    "fetch_redirect": "redirect",
}
_DIGEST: Final = "content_digest"
#: Columns that are read of a file in columns.
COLUMNS: Final = (
    *(name for name in Observation.__dataclass_fields__ if name != "version"),
    *_CRAWL_INDEX,
    "content_mime_detected",
)
#: Digests of no content: SHA-1 in base 32, as archives write it.
EMPTY: Final = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
REVISIT: Final = "warc/revisit"

ReadRow = Callable[[Mapping[str, Any]], Observation | LeftOut]
"""Takes a row; raises ObservationError."""


def row_reader(names: Sequence[str], options: ReadOptions, *, typed: bool = False) -> ReadRow | None:
    """Return what reads the rows with columns of these names; None where these are no observations.

    Values are *typed* in JSON: numbers are no texts there.
    """
    there = {*names}
    if {"url", "fingerprint"} <= there:
        return Observation.from_json if typed else observation_of_row
    if {"url", _DIGEST} <= there:
        return _of_crawl_index
    body = next((name for name in options.body_fields if name in there), None)
    if body is not None and options.url_field in there:
        return lambda row: _of_item(row, options, body)
    return None


def observation_of_row(row: Mapping[str, Any]) -> Observation:
    """Return the observation in a row whose values may be texts, as in CSV."""
    values = {name: value for name, value in row.items() if name in _NAMES and value is not None}
    for name, convert in _CONVERT.items():
        value = values.get(name)
        if isinstance(value, str):
            if value.strip():
                values[name] = convert(name, value.strip())
            else:
                del values[name]
        elif isinstance(value, datetime):
            values[name] = seconds(value)
    for name in ("canonical", "redirect", "bag"):
        if values.get(name) == "":
            del values[name]
    if isinstance(values.get("headers"), list):  # a map in Parquet
        values["headers"] = dict(values["headers"])
    values.setdefault("fingerprint", "")
    return Observation.from_json(values)


def seconds(moment: datetime) -> float:
    """Return seconds since 1970; a time without a zone is UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


def stamp_seconds(stamp: str) -> float | None:
    """Return seconds since 1970 of a time in digits; None of what is none.

    >>> stamp_seconds("20260131120000")
    1769860800.0
    """
    if not re.fullmatch(r"[0-9]{14}", stamp):
        return None
    try:
        return seconds(datetime.strptime(stamp, "%Y%m%d%H%M%S"))
    except ValueError:
        return None


def archived(url: str, digest: str, status: Any, at: float | None, *, redirect: str | None = None) -> Observation:
    """Return the observation of a response of which an index of an archive has the digest."""
    code = int(status)
    if code == 200 and digest.removeprefix("sha1:") == EMPTY:
        return Observation(url, digest, time=at, words=0)  # hardly any text: no evidence
    return Observation(url, digest if code == 200 else "", status=code, time=at, redirect=redirect or None)


def _of_crawl_index(row: Mapping[str, Any]) -> Observation | LeftOut:
    digest, status, at = row.get(_DIGEST), row.get("fetch_status"), row.get("fetch_time")
    if not digest:
        return LeftOut("no digest")
    if isinstance(at, datetime):
        at = seconds(at)
    elif isinstance(at, str):
        at = stamp_seconds(at) or (_moment("fetch_time", at) if at else None)
    url = row.get("url")
    if not isinstance(url, str):
        raise ObservationError(f"url is {url!r}: it must be text.")
    if status in (None, "", "-"):
        status = 200
    try:
        return archived(url, str(digest), status, at, redirect=row.get("fetch_redirect"))
    except ValueError as error:
        if isinstance(error, ObservationError):
            raise
        raise ObservationError(f"fetch_status is {status!r}: it must be an HTTP status.") from None


def _of_item(row: Mapping[str, Any], options: ReadOptions, body: str) -> Observation | LeftOut:
    url, text, at = row.get(options.url_field), row.get(body), row.get("time")
    if not isinstance(url, str) or not url:
        raise ObservationError(f"{options.url_field} is {url!r}: it must be the URL of the page.")
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if not isinstance(text, str):
        raise ObservationError(f"{body} is of type {type(text).__name__}: it must be the text of the page.")
    if isinstance(at, str):
        at = _time("time", at) if at else None
    elif not isinstance(at, int | float) or isinstance(at, bool):
        at = None
    headers = {"Content-Type": ("text/html; charset=utf-8",)}
    page = text.encode("utf-8", "replace")
    found = options.pages.observation(url, 200, lambda name: headers.get(name, ()), page, at=at, kind=ContentKind.HTML)
    return found or LeftOut("robots.txt")


def _moment(name: str, text: str) -> float:
    try:
        return seconds(datetime.fromisoformat(text.replace("Z", "+00:00")))
    except ValueError:
        raise ObservationError(
            f"{name} is {text!r}: it must be seconds since 1970 or an ISO 8601 date such as 2026-01-31T12:00:00Z."
        ) from None


def _time(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return _moment(name, text)


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ObservationError(f"{name} is {text!r}: it must be a whole number.") from None


def _truth(name: str, text: str) -> bool:
    found = {"true": True, "1": True, "false": False, "0": False}.get(text.lower())
    if found is None:
        raise ObservationError(f"{name} is {text!r}: it must be true or false.")
    return found


def _pairs(name: str, text: str) -> Mapping[str, str]:
    import json

    try:
        found: Mapping[str, str] = json.loads(text)
    except ValueError:
        raise ObservationError(f"{name} is {text!r}: it must be a JSON object.") from None
    return found


_NAMES: Final = frozenset(Observation.__dataclass_fields__) - {"version"}
_CONVERT: Final[Mapping[str, Callable[[str, str], Any]]] = {
    "status": _whole,
    "time": _time,
    "length": _whole,
    "words": _whole,
    "ends": _truth,
    "password": _truth,
    "headers": _pairs,
    "sketch": lambda _, text: text,
}
