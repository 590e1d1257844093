"""What was seen of one URL: the evidence that everything else is learned from."""

import base64
import binascii
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, NamedTuple

from .pages.sketch import Sketch
from .pages.versions import Version
from .urls.userinfo import without_userinfo

APART = 3600.0
"""Seconds between two responses that are taken to be of different crawls."""
AT_ONCE = 1.0
"""Seconds between two responses in which a clock need not have moved."""


class ObservationError(ValueError):
    """A value that an observation cannot have; the message names the field."""


class ObservationFileError(ObservationError):
    """A line of a file of observations that cannot be read."""

    def __init__(self, path: str, line: int, problem: str, remedy: str) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        self.remedy = remedy
        super().__init__(f"{path}, line {line}: {problem} {remedy}")


@dataclass(frozen=True, slots=True)
class Observation:
    """One response: its URL and what identifies its content.

    Two observations with the same *fingerprint* have the same text. *bag* is
    the fingerprint that does not depend on the order of the words. An
    observation without content (a redirect, an error, the answer to HEAD) has
    the fingerprint ``""``, which a response with status 200 cannot have unless
    it tells its *redirect*.

    User name and password are removed from every URL.

    Raises :exc:`ObservationError` for values of the wrong type.
    """

    url: str
    fingerprint: str
    #: What the page declares as its canonical URL, absolute.
    canonical: str | None = field(default=None, kw_only=True)
    #: Where a redirect leads to, absolute.
    redirect: str | None = field(default=None, kw_only=True)
    status: int = field(default=200, kw_only=True)
    #: Seconds since 1970.
    time: float | None = field(default=None, kw_only=True)
    #: Bytes of the body, decompressed.
    length: int | None = field(default=None, kw_only=True)
    bag: str | None = field(default=None, kw_only=True)
    #: Fingerprint of the values that nobody sees and that tell pages apart; "" where there are none.
    unseen: str | None = field(default=None, kw_only=True)
    #: Lower-case header names to values; only headers that tell about identity.
    headers: Mapping[str, str] | None = field(default=None, kw_only=True, hash=False)
    sketch: Sketch | None = field(default=None, kw_only=True, repr=False)
    #: Words of visible text; that of the sketch where there is one.
    words: int | None = field(default=None, kw_only=True)
    #: The texts of the page with their paths, where they are kept.
    version: Version | None = field(default=None, kw_only=True, repr=False)
    #: Whether the closing tags of the page have come; False only where nothing but these tells whether all of it
    #: has, since its response ended with the connection.
    ends: bool | None = field(default=None, kw_only=True)
    #: Whether the page has a field for a password.
    password: bool | None = field(default=None, kw_only=True)
    #: The number of the crawl that has fetched it; None where none is known.
    crawl: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name, types, what in _FIELDS:
            value = getattr(self, name)
            if value.__class__ not in types:
                raise ObservationError(f"{name} is {value!r}: it must be {what}.")
        if not self.url:
            raise ObservationError("url is empty: it must be an absolute URL.")
        if not self.fingerprint and self.status == 200 and not self.redirect:
            raise ObservationError(
                f"fingerprint of {self.url} is empty: a response with status 200 "
                "needs one (a digest of its text, for instance)."
            )
        for name in ("url", "canonical", "redirect"):
            url = getattr(self, name)
            if url is not None and "@" in url:
                object.__setattr__(self, name, without_userinfo(url))
        if self.headers is not None and not _is_headers(self.headers):
            raise ObservationError(f"headers is {self.headers!r}: it must be names and values, both text.")
        if self.sketch is not None:
            if not isinstance(self.sketch, Sketch):
                raise ObservationError(f"sketch is {self.sketch!r}: it must be a page sketch.")
            if self.words is None:
                object.__setattr__(self, "words", self.sketch.words)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Observation":
        """Return the observation that a JSON object describes.

        The object has the fields of the class; ``time`` may also be an ISO 8601
        date and ``sketch`` is base64. Unknown fields are ignored.
        Raises :exc:`ObservationError`.
        """
        if not isinstance(row, Mapping):
            raise ObservationError('not a JSON object: it must be {"url": ..., "fingerprint": ...}.')
        for name in ("url", "fingerprint"):
            if name not in row:
                raise ObservationError(f"{name} is missing: each observation needs url and fingerprint.")
        values = {name: row[name] for name in _NAMES if name in row}
        if isinstance(values.get("time"), str):
            values["time"] = _seconds(values["time"])
        if isinstance(values.get("sketch"), str):
            values["sketch"] = _sketch(values["sketch"])
        return cls(values.pop("url"), values.pop("fingerprint"), **values)


class KeptPage(NamedTuple):
    """A response of which the texts are kept."""

    #: As it was requested.
    url: str
    #: Seconds since 1970.
    time: float
    version: Version
    #: The number of the crawl that has fetched it; None where none is known.
    crawl: int | None = None


def numbered(kept: Iterable[KeptPage]) -> Iterator[tuple[int, KeptPage]]:
    """Yield responses, which are in order of time, each with the number of its crawl.

    Those without one are of the crawl before; where they are an hour apart of one of their own, with a number below 0.
    """
    last, own, number = float("-inf"), 0, 0
    for page in kept:
        if page.crawl is not None:
            number = page.crawl
        elif page.time - last >= APART:
            number = own = own - 1
        last = page.time
        yield number, page


ObservationLike = Observation | tuple[str, str] | Mapping[str, Any]
"""An observation, a pair (URL, fingerprint), or a mapping with the fields of :class:`Observation`."""


def observations_from(rows: Iterable[ObservationLike]) -> Iterator[Observation]:
    """Yield the observation that each of *rows* is or describes.

    Raises TypeError for what describes none, and :exc:`ObservationError` for a wrong value; both name its position.

    >>> [seen.fingerprint for seen in observations_from([("http://a.test/", "1"), {"url": "u", "fingerprint": "2"}])]
    ['1', '2']
    """
    if isinstance(rows, str | bytes | PathLike) or not isinstance(rows, Iterable):
        raise TypeError(f"observations is {_shown(rows)}: it must be {_MANY}.")
    for position, row in enumerate(rows):
        if isinstance(row, Observation):
            yield row
            continue
        try:
            found = described(row)
        except ObservationError as error:
            raise ObservationError(f"observations[{position}]: {error}") from None
        if found is None:
            raise TypeError(f"observations[{position}] is {_shown(row)}: observations must be {_MANY}.")
        yield found


def described(row: object) -> Observation | None:
    """Return the observation that a pair or a mapping describes; None for anything else. Raises ObservationError."""
    if isinstance(row, Mapping):
        return Observation.from_json(row)
    return Observation(*row) if isinstance(row, tuple | list) and len(row) == 2 else None


_MANY = (
    "Observation objects, (url, fingerprint) pairs or dicts with the fields of Observation, for example "
    '[("http://example.com/a?sid=1", "9f86d081"), {"url": "http://example.com/a", "fingerprint": "9f86d081"}]; '
    "read_jsonl of scrapy_dedup.observation reads a file"
)


def _shown(value: object) -> str:
    """Return the type of a value, and the beginning of how it is written."""
    text = repr(value)
    return f"of type {type(value).__name__} ({text if len(text) <= 60 else text[:57] + '...'})"


_NAMES = tuple(name for name in Observation.__dataclass_fields__ if name != "version")
_NONE: type[Any] = type(None)
_TEXT: tuple[frozenset[type[Any]], str] = frozenset((str,)), "text"
_OPTIONAL_TEXT: tuple[frozenset[type[Any]], str] = frozenset((str, _NONE)), "text or nothing"
_FIELDS: tuple[tuple[str, frozenset[type[Any]], str], ...] = (
    ("url", *_TEXT),
    ("fingerprint", *_TEXT),
    ("canonical", *_OPTIONAL_TEXT),
    ("redirect", *_OPTIONAL_TEXT),
    ("status", frozenset((int,)), "an HTTP status, as a whole number"),
    ("time", frozenset((int, float, _NONE)), "seconds since 1970 or nothing"),
    ("length", frozenset((int, _NONE)), "a number of bytes or nothing"),
    ("bag", *_OPTIONAL_TEXT),
    ("unseen", *_OPTIONAL_TEXT),
    ("words", frozenset((int, _NONE)), "a number of words or nothing"),
    ("ends", frozenset((bool, _NONE)), "true, false or nothing"),
    ("password", frozenset((bool, _NONE)), "true, false or nothing"),
    ("crawl", frozenset((int, _NONE)), "a whole number or nothing"),
)


def _is_headers(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(text, str) for name, text in value.items()
    )


def _seconds(date: str) -> float:
    try:
        moment = datetime.fromisoformat(date.replace("Z", "+00:00"))
    except ValueError:
        raise ObservationError(
            f"time is {date!r}: it must be seconds since 1970 or an ISO 8601 date such as 2026-01-31T12:00:00Z."
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


def _sketch(text: str) -> Sketch:
    try:
        return Sketch.from_bytes(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError) as error:
        raise ObservationError(
            f"sketch cannot be read ({error}): it must be the base64 of Sketch.to_bytes()."
        ) from None


def read_jsonl(path: str | PathLike[str]) -> Iterator[Observation]:
    """Yield the observations of a file of JSON lines, plain or ``.gz``.

    A line is an object (:meth:`Observation.from_json`) or a pair ``[url, fingerprint]``; empty ones are skipped. Raises :exc:`ObservationFileError` at the first line
    that is no observation, OSError when the file cannot be opened.
    """
    name = fspath(path)
    number = 0
    with _open(name) as lines:
        try:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    row = described(json.loads(line))
                    if row is None:
                        raise ObservationFileError(name, number, "neither an object nor a pair of texts.", _RIGHT)
                    yield row
                except json.JSONDecodeError as error:
                    raise ObservationFileError(name, number, f"not JSON ({error.msg}).", _RIGHT) from None
                except ObservationFileError:
                    raise
                except ObservationError as error:
                    raise ObservationFileError(name, number, str(error), _RIGHT) from None
        except (EOFError, UnicodeDecodeError, gzip.BadGzipFile) as error:
            raise ObservationFileError(name, number + 1, f"unreadable ({error}).", "Is the file whole?") from None


_RIGHT = 'A right line: {"url": "http://example.com/a?b=1", "fingerprint": "9f86d081"}'


def _open(name: str) -> IO[str]:
    if name.endswith(".gz"):
        return gzip.open(name, "rt", encoding="utf-8")
    return Path(name).open(encoding="utf-8")
