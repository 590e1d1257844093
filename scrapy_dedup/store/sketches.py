"""Page sketches on their way into the store: shared by equal pages, capped per site."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, func, select

from .rows import ObservationRow
from .schema import page_sketch, signed_hash
from .values import insert_of

_IDS = 500  # ids in one query


class SketchKeeper:
    """Writes the sketches of rows, at most *cap* per scope and site.

    It counts what it writes, so that the sketches of a site are counted in the
    database once only. Other processes' sketches since then are not seen: the cap
    is a bound of order, not to the last sketch.
    """

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._numbers: dict[tuple[str, str], int] = {}

    def forget(self) -> None:
        """Count anew: sketches were removed."""
        self._numbers.clear()

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
        found: dict[int, dict[str, object]] = {}
        for row in rows:
            sketch = row.fingerprints and row.fingerprints.sketch
            if not sketch:
                ids.append(None)
                continue
            data = sketch.to_bytes()
            number = signed_hash(row.scope, row.site, data)
            ids.append(number)
            found[number] = {"id": number, "scope": row.scope, "site": row.site, "data": data}
        known = self._known(connection, list(found))
        new = [values for number, values in found.items() if number not in known]
        kept = [values for values in new if self._room(connection, str(values["scope"]), str(values["site"]))]
        if kept:
            connection.execute(insert_of(connection)(page_sketch).on_conflict_do_nothing(), kept)
        known.update(int(str(values["id"])) for values in kept)
        return [number if number in known else None for number in ids]

    def _known(self, connection: Connection, ids: Sequence[int]) -> set[int]:
        known: set[int] = set()
        for start in range(0, len(ids), _IDS):
            query = select(page_sketch.c.id).where(page_sketch.c.id.in_(ids[start : start + _IDS]))
            known.update(connection.scalars(query))
        return known

    def _room(self, connection: Connection, scope: str, site: str) -> bool:
        """Return True, and count one more, if the site may have another sketch."""
        key = scope, site
        if key not in self._numbers:
            query = select(func.count()).where(page_sketch.c.scope == scope, page_sketch.c.site == site)
            self._numbers[key] = connection.scalar(query) or 0
        if self._numbers[key] >= self._cap:
            return False
        self._numbers[key] += 1
        return True
