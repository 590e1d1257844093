"""Page sketches on their way into the store: shared by equal pages, capped per site, spread over templates."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, func, select

from .rows import ObservationRow
from .schema import page_sketch, signed_hash
from .values import insert_of

_IDS = 500  # ids in one query

_Site = tuple[str, str]  # scope and site

RESERVED = 4
"""One of so many sketches of a site is for templates that have few."""
FEW = 20

_number = re.compile("[0-9]+").sub
_name = re.compile("(?:^|[&;])([^=&;]*)").findall


def template_of(url: str) -> tuple[object, ...]:
    """Return a rough name of the kind of page that *url* leads to, without parsing it.

    >>> template_of("http://a.example/item/12?id=1") == template_of("http://a.example/item/7?id=2")
    True
    >>> template_of("http://a.example/item/12") == template_of("http://a.example/tag/12")
    False
    """
    path, _, query = url.partition("#")[0].partition("?")
    segments = path.split("/")
    # The first three are scheme, nothing and host.
    return len(segments), _number("0", segments[3]) if len(segments) > 4 else "", *sorted(set(_name(query)))


class SketchKeeper:
    """Writes the sketches of rows, at most *cap* per scope and site.

    It counts what it writes, so that the sketches of a site are counted in the
    database only once. What other processes add since then is not seen: the cap
    bounds the order of magnitude, not the last sketch.
    """

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._numbers: dict[_Site, int] = {}
        self._templates: dict[_Site, Counter[int]] = {}
        """Sketches that were written by template, by the hash of its name: at most as many as sketches."""

    def forget(self) -> None:
        """Count anew: sketches were removed."""
        self._numbers = {}
        self._templates = {}

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
        """Write the sketches of *rows* and return their ids, None where there is or is kept none."""
        ids: list[int | None] = []
        sites: dict[_Site, dict[int, bytes]] = {}
        templates: dict[int, int] = {}
        for row in rows:
            number = None
            if row.fingerprints is not None and row.fingerprints.sketch is not None:
                data = row.fingerprints.sketch.to_bytes()
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
        room = self._cap - self._number(connection, site)
        kept = self._templates.setdefault(site, Counter())
        if len(found) <= room - self._cap // RESERVED:
            kept.update(templates[number] for number in found)
            self._insert(connection, site, found)
            return set(found)
        # Near the cap it matters which of them are there already.
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

    def _insert(self, connection: Connection, site: _Site, sketches: dict[int, bytes]) -> None:
        scope, name = site
        values: list[dict[str, Any]] = [
            {"id": number, "scope": scope, "site": name, "data": data} for number, data in sketches.items()
        ]
        insert = insert_of(connection)(page_sketch).on_conflict_do_nothing()
        result = connection.execute(insert, values, execution_options={"preserve_rowcount": True})
        self._numbers[site] += result.rowcount if result.rowcount >= 0 else len(values)

    def _number(self, connection: Connection, site: _Site) -> int:
        if site not in self._numbers:
            scope, name = site
            query = select(func.count()).where(page_sketch.c.scope == scope, page_sketch.c.site == name)
            self._numbers[site] = connection.scalar(query) or 0
        return self._numbers[site]

    def _known(self, connection: Connection, ids: Sequence[int]) -> set[int]:
        known: set[int] = set()
        for start in range(0, len(ids), _IDS):
            query = select(page_sketch.c.id).where(page_sketch.c.id.in_(ids[start : start + _IDS]))
            known.update(connection.scalars(query))
        return known
