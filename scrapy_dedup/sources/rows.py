"""Rows with named columns as observations."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from typing import Any, Final

from ..observation import Observation, ObservationError

#: Columns that are read of a file in columns.
COLUMNS: Final = tuple(name for name in Observation.__dataclass_fields__ if name != "version")

ReadRow = Callable[[Mapping[str, Any]], Observation]
"""Takes a row; raises ObservationError."""


def row_reader(names: Iterable[str], *, typed: bool = False) -> ReadRow | None:
    """Return what reads the rows with columns of these names; None where these are no observations.

    Values are *typed* in JSON: numbers are no texts there.
    """
    if not {"url", "fingerprint"} <= {*names}:
        return None
    return Observation.from_json if typed else observation_of_row


def observation_of_row(row: Mapping[str, Any]) -> Observation:
    """Return the observation in a row whose values may be texts, as in CSV."""
    values = {name: value for name, value in row.items() if name in COLUMNS and value is not None}
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
