"""Evidence from sources that no crawl has written, such as logs, archives and caches: kept on disk, and learned site by site."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Final

import numpy as np

from ..observation import KeptPage, Observation
from ..pages.sketch import Sketch
from ..pages.versions import Version
from ..urls import site_of_url
from .data.by_site import inner_sites, innermost_first
from .data.page_sample import HASHES, MOST_OF_SITE, row_hashes, sampled_rows
from .memory import Memory

_SKETCHES: Final = 1_000
"""Of a site, the first ones: learning looks at a few hundred."""
_VERSIONS: Final = 20_000
"""Of a site, as many as a store keeps."""
#: Fields that are kept beside URL and fingerprint; those that are seldom told come last.
_FIELDS: Final = (
    "status",
    "time",
    "words",
    "bag",
    "length",
    "canonical",
    "redirect",
    "headers",
    "ends",
    "password",
    "crawl",
    "unseen",
)


def text_of(observation: Observation) -> str:
    """Return an observation as a line of JSON, without sketch and version: equal ones have equal texts."""
    fields = [getattr(observation, name) for name in _FIELDS]
    while fields and fields[-1] is None:
        fields.pop()
    return json.dumps([observation.url, observation.fingerprint, *fields])


def observation_in(text: str, sketch: bytes | None = None, version: bytes | None = None) -> Observation:
    """Return the observation of which :func:`text_of` has made *text*, with what was packed of it beside that."""
    url, fingerprint, *rest = json.loads(text)
    return Observation(
        url,
        fingerprint,
        **dict(zip(_FIELDS, rest, strict=False)),
        sketch=None if sketch is None else Sketch.from_bytes(sketch),
        version=None if version is None else Version.from_bytes(version),
    )


@dataclass
class ImportedEvidence:
    """Observations of many sites in whatever order, which SQLite sorts on disk: one site is in memory at a time.

    The file is in the folder for temporary files (TMPDIR); only its owner can read it, and at the end it is removed.
    """

    site_groups: Mapping[str, Sequence[str]] | None = None
    most_of_site: int = MOST_OF_SITE
    memory: Memory = field(default_factory=Memory, repr=False, compare=False)
    #: Observations of each site.
    _rows: Counter[str] = field(default_factory=Counter, init=False)
    #: Sites of which some observation tells of a redirect or a canonical URL.
    _declaring: set[str] = field(default_factory=set, init=False)
    #: Sketches and versions of each site.
    _packed: Counter[tuple[str, str]] = field(default_factory=Counter, init=False)

    def __enter__(self) -> "ImportedEvidence":  # noqa: PYI034 (Self needs Python 3.11)
        self._folder = TemporaryDirectory(prefix="scrapy-dedup-")
        self._database = sqlite3.connect(Path(self._folder.name) / "observations.sqlite", isolation_level=None)
        # Nobody else reads it, and after a crash nobody needs it.
        self._database.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
            "CREATE TABLE seen (site TEXT, fields TEXT, sketch BLOB, version BLOB); BEGIN"
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()
        self._folder.cleanup()

    def add_all(self, observations: Iterable[Observation], wanted: AbstractSet[str] = frozenset()) -> int:
        """Add observations, of the sites *wanted* or, without these, of all; return the number of those that were asked for.

        Those of no site count, too, and nothing is learned from them.
        """
        sited = ((site_of_url(each.url, groups=self.site_groups), each) for each in observations)
        rows = (self._row(site, each) for site, each in sited if not wanted or site in wanted)
        return self._database.executemany("INSERT INTO seen VALUES (?, ?, ?, ?)", rows).rowcount

    @cached_property
    def nested(self) -> dict[str, frozenset[str]]:
        """Site -> the sites whose URLs are nested in its own; each comes after these."""
        inner: dict[str, set[str]] = {site: set() for site in sorted(self._rows)}
        # URL by URL: of sites that are not observed, of which a site may name any number, nothing is held.
        for site, fields in self._database.execute(
            "SELECT site, fields FROM seen WHERE site != '' AND instr(substr(fields, 10), 'http') > 0"  # after ["http
        ):
            inner[site].update(inner_sites([json.loads(fields)[0]], site, self.site_groups) & inner.keys())
        return {site: frozenset(inner[site]) for site in innermost_first(inner)}

    def named(self) -> list[str]:
        """Return the names of the sites, each after those whose URLs are nested in its own."""
        return list(self.nested)

    def sizes(self) -> dict[str, int]:
        """Return the number of observations of each site that it is learned from, about."""
        return {site: min(rows, self.most_of_site) for site, rows in sorted(self._rows.items())}

    def observations(self, site: str, *, versions: bool) -> Iterator[Observation]:
        """Yield the observations of *site*, a sample of them where they are very many, in an order that does not depend on theirs."""
        rows = self._of_site(f"fields, sketch, {'version' if versions else 'NULL'}", site)
        found = (observation_in(*row) for row in rows)
        if self._rows[site] <= self.most_of_site:
            return found
        told = ((text, observation_in(text)) for (text,) in self._of_site("fields", site))
        hashes = np.fromiter((row_hashes(each, text) for text, each in told), HASHES, self._rows[site])
        chosen = sampled_rows(hashes, self.most_of_site)
        # Their texts are kept of a few pages alone, and masks are learned from all of these.
        return (each for each, drawn in zip(found, chosen, strict=True) if drawn or each.version is not None)

    def declaring(self, site: str, versions: bool) -> Iterable[Observation]:
        """Return the observations of a site where some of them tell of a redirect or a canonical URL, none otherwise."""
        return self.observations(site, versions=versions) if site in self._declaring else ()

    def versions(self, site: str) -> list[KeptPage]:
        """Return the observations of *site* whose texts are kept."""
        self.memory.forget()  # with this the learning of a site begins
        if not self._packed[site, "version"]:
            return []
        found = (observation_in(*row) for row in self._of_site("fields, sketch, version", site))
        return [
            KeptPage(each.url, each.time or 0.0, each.version, each.crawl) for each in found if each.version is not None
        ]

    def _row(self, site: str, seen: Observation) -> tuple[str, str, bytes | None, bytes | None]:
        if not site:
            return "", "", None, None
        self._rows[site] += 1
        if seen.canonical or seen.redirect:
            self._declaring.add(site)
        sketch = self._packed_of(site, "sketch", seen.sketch, _SKETCHES)
        return site, text_of(seen), sketch, self._packed_of(site, "version", seen.version, _VERSIONS)

    def _packed_of(self, site: str, name: str, found: Sketch | Version | None, most: int) -> bytes | None:
        if found is None or self._packed[site, name] >= most:
            return None
        self._packed[site, name] += 1
        return found.to_bytes()

    def _of_site(self, columns: str, site: str) -> sqlite3.Cursor:
        self._database.execute("CREATE INDEX IF NOT EXISTS by_site ON seen (site)")
        query = f"SELECT {columns} FROM seen WHERE site = ? ORDER BY fields, rowid"  # noqa: S608 (of our own)
        return self._database.execute(query, (site,))
