"""Spill: observations of many sites in a temporary file, to be read site by site, whatever the order in which they came."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Final

from ..content.sketch import Sketch
from ..content.versions import Version
from ..observation import Observation
from ..urls import site_of_url

_BATCH: Final = 2_000
_SKETCHES: Final = 1_000
"""Of a site, the first ones: learning looks at a few hundred."""
_VERSIONS: Final = 20_000
"""Of a site, as many as a store keeps."""

_Row = tuple[int, str, bytes | None, bytes | None]


def text_of(observation: Observation) -> str:
    """Return an observation as a line of JSON, without sketch and version: equal ones have equal texts."""
    fields = [getattr(observation, name) for name in _FIELDS]
    while fields and fields[-1] is None:
        fields.pop()
    return json.dumps([observation.url, observation.fingerprint, *fields])


def observation_in(text: str, *, sketch: Sketch | None = None, version: Version | None = None) -> Observation:
    """Return the observation of which :func:`text_of` has made *text*."""
    url, fingerprint, *rest = json.loads(text)
    return Observation(url, fingerprint, **dict(zip(_FIELDS, rest, strict=False)), sketch=sketch, version=version)


class Spill:
    """Observations by site, on disk: no more than a batch of them is in memory.

    The file is in the folder for temporary files (TMPDIR), and only its owner can read it.
    """

    def __init__(self, site_groups: Mapping[str, Sequence[str]] | None = None) -> None:
        self._groups = site_groups
        self._folder = TemporaryDirectory(prefix="scrapy-dedup-")
        self._database = sqlite3.connect(Path(self._folder.name) / "spill.sqlite", isolation_level=None)
        # Nobody else reads it, and after a crash nobody needs it.
        self._database.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
            "CREATE TABLE seen (site INTEGER, fields TEXT, sketch BLOB, version BLOB); BEGIN"
        )
        self._numbers: dict[str, int] = {}
        self._rows: Counter[int] = Counter()
        self._declaring: set[int] = set()
        self._sketches: Counter[int] = Counter()
        self._versions: Counter[int] = Counter()
        self._waiting: list[_Row] = []
        self._is_read = False

    def __enter__(self) -> "Spill":  # noqa: PYI034 (Self needs Python 3.11)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()
        self._folder.cleanup()

    @property
    def sites(self) -> list[str]:
        """The names of the sites, in order."""
        return sorted(self._numbers)

    def has_versions(self, site: str) -> bool:
        """Return whether there are versions of pages of a site."""
        return self._versions[self._numbers[site]] > 0

    def add_all(self, observations: Iterable[Observation], wanted: AbstractSet[str] = frozenset()) -> int:
        """Add observations, of the sites *wanted* or, without these, of all; return the number of those that were asked for.

        Those of no site count, too, and are not kept.
        """
        added = 0
        for observation in observations:
            site = site_of_url(observation.url, groups=self._groups)
            if not wanted or site in wanted:
                added += 1
                if site:
                    self._add(site, observation)
        return added

    def declares(self, site: str) -> bool:
        """Return whether observations of a site tell of a redirect or a canonical URL."""
        return self._numbers[site] in self._declaring

    def rows(self, site: str) -> int:
        """Return the number of observations of a site."""
        return self._rows[self._numbers[site]]

    def texts(self, site: str) -> Iterator[str]:
        """Yield the observations of a site as :func:`text_of` has them, in their order."""
        self._end_writing()
        query = "SELECT fields FROM seen WHERE site = ? ORDER BY fields, rowid"
        yield from (fields for (fields,) in self._database.execute(query, (self._numbers[site],)))

    def observations(self, site: str, *, versions: bool = True) -> Iterator[Observation]:
        """Yield the observations of a site, in the order of their texts."""
        self._end_writing()
        version = "version" if versions else "NULL"
        query = f"SELECT fields, sketch, {version} FROM seen WHERE site = ? ORDER BY fields, rowid"  # noqa: S608 (of our own)
        for fields, sketch, packed in self._database.execute(query, (self._numbers[site],)):
            yield observation_in(
                fields,
                sketch=None if sketch is None else Sketch.from_bytes(sketch),
                version=None if packed is None else Version.from_bytes(packed),
            )

    def urls_with(self, part: str) -> Iterator[tuple[str, str]]:
        """Yield (site, URL) of the URLs that have a text after their beginning, and of some others."""
        self._end_writing()
        sites = {number: site for site, number in self._numbers.items()}
        query = "SELECT site, fields FROM seen WHERE instr(substr(fields, 10), ?) > 0"  # after ["http
        for number, fields in self._database.execute(query, (part,)):
            yield sites[number], json.loads(fields)[0]

    def _add(self, site: str, observation: Observation) -> None:
        number = self._numbers.setdefault(site, len(self._numbers))
        self._rows[number] += 1
        if observation.canonical or observation.redirect:
            self._declaring.add(number)
        sketch = version = None
        if observation.sketch is not None and self._sketches[number] < _SKETCHES:
            self._sketches[number] += 1
            sketch = observation.sketch.to_bytes()
        if observation.version is not None and self._versions[number] < _VERSIONS:
            self._versions[number] += 1
            version = observation.version.to_bytes()
        self._waiting.append((number, text_of(observation), sketch, version))
        if len(self._waiting) >= _BATCH:
            self._write()

    def _write(self) -> None:
        self._database.executemany("INSERT INTO seen VALUES (?, ?, ?, ?)", self._waiting)
        self._waiting = []

    def _end_writing(self) -> None:
        if self._is_read:
            return
        self._is_read = True
        self._write()
        self._database.execute("CREATE INDEX by_site ON seen (site)")
        self._database.execute("COMMIT")


#: Fields that are kept beside URL and fingerprint; those that are seldom told come last.
_FIELDS: Final = ("status", "time", "words", "bag", "length", "canonical", "redirect", "headers", "ends", "password")
