"""Sketches and versions of pages on their way into the store: shared by equal pages, capped per site, spread over templates."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Final

from sqlalchemy import Connection, Table, delete, func, select, update

from ..content.retention import MOST_OF_KIND, MOST_VERSIONS, Fetch, retained
from ..urls.templates import template_of
from .inserting import OnConflict, insert_rows
from .rows import ObservationRow
from .schema import IDS_IN_A_QUERY, observation, page_sketch, page_version, signed_hash

#: Versions that pages keep, MOST_OF_KIND of each URL template apart, as long as too many are left in all.
_STEPS: Final = (MOST_VERSIONS, MOST_VERSIONS // 2, 2)

#: Ids of observations with their fetches, in order of time.
_Page = list[tuple[int, Fetch]]

_COLUMNS = ("id", "scope", "site", "data")

_Site = tuple[str, str]  # scope and site

#: Takes rows of a scope and a site out, so that no more than a number is left, where that is possible.
MakeRoom = Callable[[Connection, str, str, int], None]

RESERVED = 4
"""One of so many rows of a site is for templates that have few."""
FEW = 20
GROWN = 8
"""By one of so many rows that it may have a site has grown when room is made in it again."""


class CappedWriter:
    """Writes what *data_of* gives of rows into *table*, at most *cap* per scope and site.

    It counts what it writes, so that what is there of a site is counted in the
    database only once. What other processes add since then is not seen: the cap
    bounds the order of magnitude, not the last row.
    """

    def __init__(
        self,
        table: Table,
        data_of: Callable[[ObservationRow], bytes | None],
        cap: int,
        make_room: MakeRoom | None = None,
    ) -> None:
        self._table = table
        self._data_of = data_of
        self._cap = cap
        self._make_room = make_room
        self._left: dict[_Site, int] = {}
        """How many rows of a site were left when room was made the last time."""
        self._numbers: dict[_Site, int] = {}
        self._templates: dict[_Site, Counter[int]] = {}
        """Number of rows by template, by the hash of its name: at most as many as rows."""

    def forget(self) -> None:
        """Count anew: some were removed."""
        self._numbers = {}
        self._templates = {}
        self._left = {}

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Take the counts back if the transaction fails."""
        before = dict(self._numbers)
        try:
            yield
        except BaseException:
            self._numbers = before
            raise

    def keep(self, connection: Connection, rows: Sequence[ObservationRow]) -> list[int | None]:
        """Write what there is of *rows* and return the ids, None where there is or is kept nothing."""
        ids: list[int | None] = []
        sites: dict[_Site, dict[int, bytes]] = {}
        templates: dict[int, int] = {}
        for row in rows:
            number = None
            data = self._data_of(row)
            if data is not None:
                number = signed_hash(row.scope, row.site, data)
                sites.setdefault((row.scope, row.site), {})[number] = data
                templates[number] = hash(template_of(row.url))
            ids.append(number)
        kept: set[int] = set()
        for site, found in sites.items():
            kept |= self._keep_site(connection, site, found, templates)
        return [number if number in kept else None for number in ids]

    def _keep_site(
        self, connection: Connection, site: _Site, found: dict[int, bytes], templates: dict[int, int]
    ) -> set[int]:
        room = self._room(connection, site, len(found))
        kept = self._templates.setdefault(site, Counter())
        known = self._known(connection, list(found))
        new: list[int] = []
        for number in found:
            # Of what room there is, the last part is for kinds of pages that come late in a crawl.
            reserved = self._cap // RESERVED if kept[templates[number]] >= FEW else 0
            if number not in known and len(new) < room - reserved:
                new.append(number)
                kept[templates[number]] += 1
        if new:
            self._insert(connection, site, {number: found[number] for number in new})
        return known.union(new)

    def _insert(self, connection: Connection, site: _Site, found: dict[int, bytes]) -> None:
        scope, name = site
        values = [(number, scope, name, data) for number, data in found.items()]
        # Another process may have written some of them since they were looked for.
        insert_rows(connection, self._table, _COLUMNS, values, OnConflict())
        self._numbers[site] += len(values)

    def _room(self, connection: Connection, site: _Site, wanted: int) -> int:
        """Return how many rows of a site may be written; where these are hardly more than *wanted*, room is made."""
        number = self._number(connection, site)
        grown = number - self._left.get(site, 0) >= self._cap // GROWN
        if self._make_room is not None and grown and self._cap - number - self._cap // RESERVED < wanted:
            self._make_room(connection, *site, self._cap // 2)
            del self._numbers[site]
            number = self._left[site] = self._number(connection, site)
        return self._cap - number

    def _number(self, connection: Connection, site: _Site) -> int:
        if site not in self._numbers:
            scope, name = site
            query = select(func.count()).where(self._table.c.scope == scope, self._table.c.site == name)
            self._numbers[site] = connection.scalar(query) or 0
        return self._numbers[site]

    def _known(self, connection: Connection, ids: Sequence[int]) -> set[int]:
        known: set[int] = set()
        for start in range(0, len(ids), IDS_IN_A_QUERY):
            # As text: what SQLAlchemy makes of so many values takes longer than to look for them.
            numbers = ",".join(map(str, ids[start : start + IDS_IN_A_QUERY]))
            query = f"SELECT id FROM {self._table.name} WHERE id IN ({numbers})"  # noqa: S608 (numbers of our own)
            known.update(connection.exec_driver_sql(query).scalars())
        return known


def sketch_keeper(cap: int) -> CappedWriter:
    """Return what keeps the sketches of pages."""
    return CappedWriter(page_sketch, _sketch_of, cap)


def version_keeper(cap: int) -> CappedWriter:
    """Return what keeps the versions of pages."""
    return CappedWriter(page_version, _version_of, cap, _thin)


def _sketch_of(row: ObservationRow) -> bytes | None:
    prints = row.fingerprints
    return None if prints is None or prints.sketch is None else prints.sketch.to_bytes()


def _version_of(row: ObservationRow) -> bytes | None:
    return row.version


def _thin(connection: Connection, scope: str, site: str, most: int) -> None:
    """Leave of each page of a site as many versions as are compared, or fewer until at most *most* are left in all.

    What goes first is what learning would leave out, too (see :mod:`scrapy_dedup.content.retention`); then it is versions of
    pages beyond those that are enough of their kind.
    """
    o, v = observation.c, page_version.c
    pages = _pages(connection, scope, site)
    used = select(o.version).where(o.scope == scope, o.site == site, o.version.is_not(None))
    for number in _STEPS:
        surplus = list(_surplus(pages, number))
        for start in range(0, len(surplus), IDS_IN_A_QUERY):
            chosen = o.id.in_(surplus[start : start + IDS_IN_A_QUERY])
            connection.execute(update(observation).where(chosen).values(version=None))
        if surplus:
            connection.execute(delete(page_version).where(v.scope == scope, v.site == site, v.id.not_in(used)))
        left = connection.scalar(select(func.count()).where(v.scope == scope, v.site == site)) or 0
        if left <= most:
            return


def _pages(connection: Connection, scope: str, site: str) -> list[list[_Page]]:
    """Return the pages of which there are versions, by URL template, those with the most versions first."""
    o = observation.c
    query = select(o.id, o.url, o.url_key, o.time).where(o.scope == scope, o.site == site, o.version.is_not(None))
    kinds: defaultdict[object, list[_Page]] = defaultdict(list)
    for _, rows in groupby(connection.execute(query.order_by(o.url_key, o.time, o.id)), key=lambda row: row.url_key):
        page = list(rows)
        kinds[template_of(page[0].url)].append([(row.id, (row.time, row.url)) for row in page])
    return [sorted(pages, key=len, reverse=True) for pages in kinds.values()]


def _surplus(kinds: list[list[_Page]], number: int) -> Iterator[int]:
    """Yield the ids of observations whose version is one too many of its page, and take them out."""
    for pages in kinds:
        for place, page in enumerate(pages):
            most = MOST_VERSIONS if place < MOST_OF_KIND else number
            if len(page) > most:
                kept = retained([fetch for _, fetch in page], most)
                ids = {page[each][0] for each in kept}
                yield from (each for each, _ in page if each not in ids)
                page[:] = [page[each] for each in kept]
