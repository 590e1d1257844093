"""From the rows of the database to what was observed."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ..content.sketch import Sketch
from ..content.versions import Version
from ..observation import Observation

OBSERVED: Final = (
    "url",
    "text",
    "canonical",
    "redirect",
    "status",
    "time",
    "length",
    "bag",
    "headers",
    "words",
    "ends",
    "password",
)
"""Columns of an observation that are read."""


Unpack = Callable[[bytes | None], Version | None]
"""As :func:`version_in`; it may remember what it has unpacked before."""


def observation_of(row: Any, unpack: Unpack | None = None) -> Observation:
    """Return the observation in a row with these columns, the ``data`` of its sketch, and its ``version``."""
    return Observation(
        row.url,
        row.text or "",
        canonical=row.canonical,
        redirect=row.redirect,
        status=row.status,
        time=row.time,
        length=row.length,
        bag=row.bag,
        headers=row.headers,
        sketch=_sketch(row.data),
        words=row.words,
        version=(unpack or version_in)(row.version),
        ends=row.ends,
        password=row.password,
    )


def _sketch(data: bytes | None) -> Sketch | None:
    try:
        return None if data is None else Sketch.from_bytes(data)
    except ValueError:  # damaged, or of a later version: the fingerprints are there all the same
        return None


def version_in(data: bytes | None) -> Version | None:
    """Return the version of a page that is packed as *data*; None where there is none, or it cannot be read."""
    try:
        return None if data is None else Version.from_bytes(data)
    except ValueError:  # as above
        return None


class SiteCount(NamedTuple):
    """What the store holds of one site."""

    scope: str
    site: str
    responses: int
    urls: int
    #: Seconds since 1970, of the first and of the last response.
    first: float
    last: float
