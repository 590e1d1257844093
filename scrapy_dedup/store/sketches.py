"""Sketches and versions of pages on their way into the store: shared by equal pages, capped per site, spread over templates."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from sqlalchemy import Connection, Table, delete, func, select, update

from ..masks.retention import MOST_OF_KIND, MOST_VERSIONS, retained
from ..urls.templates import template_of
from .inserting import insert_rows
from .rows import ObservationRow
from .schema import IDS_IN_A_QUERY, observation, page_version, signed_hash

_Site = tuple[str, str]  # scope and site

RESERVED = 4
"""One of so many rows of a site is for templates that have few."""
FEW = 20
GROWN = 8
"""By one of so many rows that it may have a site has grown when room is made in it again."""
FEW_VERSIONS = 2
"""Versions that are left of a page, its first and its last, where there are enough pages of its kind."""


class CappedWriter:
    """Writes what *data_of* gives of rows into *table*, about *cap* per scope and site; *make_room* takes rows of a site out."""

    def __init__(
        self,
        table: Table,
        data_of: Callable[[ObservationRow], bytes | None],
        cap: int,
        make_room: Callable[[Connection, _Site], None] | None = None,
    ) -> None:
        self._table = table
        self._data_of = data_of
        self._cap = cap
        self._make_room = make_room
        #: How many rows of a site were left when room was made the last time.
        self._left: defaultdict[_Site, int] = defaultdict(int)
        #: Number of rows by site and template that were written here.
        self._templates: Counter[tuple[_Site, int]] = Counter()

    def keep(self, connection: Connection, rows: Sequence[ObservationRow]) -> list[int | None]:
        """Write what there is of *rows* and return the ids, None where there is or is kept nothing."""
        ids: list[int | None] = []
        sites: defaultdict[_Site, dict[int, tuple[str, bytes]]] = defaultdict(dict)
        for row in rows:
            data = self._data_of(row)
            if data is None:
                ids.append(None)
                continue
            number = signed_hash(row.scope, row.site, data)
            ids.append(number)
            sites[row.scope, row.site][number] = row.url, data
        kept: set[int] = set()
        for site, found in sites.items():
            kept |= self._keep_site(connection, site, found)
        return [number if number in kept else None for number in ids]

    def _keep_site(self, connection: Connection, site: _Site, found: Mapping[int, tuple[str, bytes]]) -> set[int]:
        known = self._known(connection, list(found))
        room = self._room(connection, site, len(found)) if len(known) < len(found) else 0
        new: dict[int, tuple[int, str, str, bytes]] = {}
        for number, (url, data) in found.items():
            template = site, hash(template_of(url))
            # Of what room there is, the last part is for kinds of pages that come late in a crawl.
            reserved = self._cap // RESERVED if self._templates[template] >= FEW else 0
            if number not in known and len(new) < room - reserved:
                new[number] = (number, *site, data)
                self._templates[template] += 1
        if new:
            # Another process may have written some of them since they were looked for.
            insert_rows(connection, self._table, new.values(), ())
        return known.union(new)

    def _room(self, connection: Connection, site: _Site, wanted: int) -> int:
        """Return how many rows of a site may be written; where these are hardly more than *wanted*, room is made."""
        number = self._number(connection, site)
        grown = number - self._left[site] >= self._cap // GROWN
        if self._make_room is not None and grown and self._cap - number - self._cap // RESERVED < wanted:
            self._make_room(connection, site)
            number = self._left[site] = self._number(connection, site)
        return self._cap - number

    def _number(self, connection: Connection, site: _Site) -> int:
        scope, name = site
        query = select(func.count()).where(self._table.c.scope == scope, self._table.c.site == name)
        return connection.scalar(query) or 0

    def _known(self, connection: Connection, ids: Sequence[int]) -> set[int]:
        known: set[int] = set()
        for start in range(0, len(ids), IDS_IN_A_QUERY):
            # As text: what SQLAlchemy makes of so many values takes longer than to look for them.
            numbers = ",".join(map(str, ids[start : start + IDS_IN_A_QUERY]))
            query = f"SELECT id FROM {self._table.name} WHERE id IN ({numbers})"  # noqa: S608 (numbers of our own)
            known.update(connection.exec_driver_sql(query).scalars())
        return known


def sketch_of(row: ObservationRow) -> bytes | None:
    """Return the sketch of a page as it is stored."""
    prints = row.fingerprints
    return None if prints is None or prints.sketch is None else prints.sketch.to_bytes()


def thin_versions(connection: Connection, site: _Site) -> None:
    """Leave of each page of a site as many versions as are compared, and few of pages beyond those that are enough of their kind.

    What goes is what learning would leave out, too (see :mod:`scrapy_dedup.masks.retention`).
    """
    o, v = observation.c, page_version.c
    its = o.scope == site[0], o.site == site[1], o.version.is_not(None)
    query = select(o.id, o.url, o.url_key, o.time).where(*its).order_by(o.url_key, o.time, o.id)
    pages = [list(rows) for _, rows in groupby(connection.execute(query), key=lambda row: row.url_key)]
    kinds: Counter[object] = Counter()
    surplus: list[int] = []
    for page in sorted(pages, key=len, reverse=True):
        kind = template_of(page[0].url)
        kinds[kind] += 1
        most = MOST_VERSIONS if kinds[kind] <= MOST_OF_KIND else FEW_VERSIONS
        kept = retained([(row.time, row.url) for row in page], most)
        surplus += {row.id for row in page}.difference(page[place].id for place in kept)
    for start in range(0, len(surplus), IDS_IN_A_QUERY):
        chosen = o.id.in_(surplus[start : start + IDS_IN_A_QUERY])
        connection.execute(update(observation).where(chosen).values(version=None))
    used = select(o.version).where(*its)
    connection.execute(delete(page_version).where(v.scope == site[0], v.site == site[1], v.id.not_in(used)))
