"""The store: what crawls have seen, and what they filtered."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, and_, delete, exists, func, null, or_, select, true, update

from ..observation import KeptPage, Observation
from .conversions import (
    Unpack,
    discard_values,
    learned_mark,
    observation_of,
    observation_values,
    sighting_values,
    version_in,
)
from .database import StoreError, clear_errors, database_path, open_engine, place_of
from .inserting import insert_rows
from .postgresql import claiming, take_turn
from .rows import SCHEDULED, CheckRow, CrawlRow, DiscardRow, DiscardState, ObservationRow, SightingRow, StoreRow
from .schema import (
    AGING,
    IDS_IN_A_QUERY,
    OF_SITES,
    alias_sighting,
    crawl,
    discard,
    meta,
    observation,
    page_sketch,
    page_version,
    rule_check,
)
from .sketches import CappedWriter, sketch_of, thin_versions

__all__ = ["SiteCount", "Store", "StoreError", "in_part"]

_DAY = 86_400
_CHUNK = 10_000  # rows changed in one transaction, so that writers need not wait long
_STREAM = 1_000  # rows fetched at a time


class SiteCount(NamedTuple):
    """What the store holds of one site."""

    scope: str
    site: str
    responses: int
    urls: int
    #: Seconds since 1970, of the first and of the last response.
    first: float
    last: float


class Store:
    """A database of what crawls record; threads and processes may share it. All methods raise :exc:`StoreError` if it fails."""

    def __init__(self, target: str | Path, engine: Engine, timeout: float, sketches_per_site: int) -> None:
        self.place = place_of(target)
        #: The file, None if the database is not a file.
        self.path = database_path(target)
        self._identity = self._file_identity()
        self._engine = engine
        self._timeout = timeout
        self._is_server = engine.dialect.name == "postgresql"
        self._sketches = CappedWriter(page_sketch, sketch_of, sketches_per_site)
        self._versions = CappedWriter(page_version, lambda row: row.version, sketches_per_site, thin_versions)

    @classmethod
    def open(
        cls,
        target: str | Path,
        *,
        readonly: bool = False,
        timeout: float = 5.0,
        sketches_per_site: int = 20_000,
        patience: Callable[[], float] | None = None,
    ) -> "Store":
        """Open the store at *target*, a path or an SQLAlchemy URL, and create it if it does not exist.

        *timeout* is the seconds to wait for another process that writes. *sketches_per_site* bounds the sketches of a scope
        and site, beyond which only fingerprints are kept, and the versions, of which older ones make room for later ones. *patience* gives
        the seconds that a server may be silent after a quick statement.
        """
        engine = open_engine(target, readonly=readonly, timeout=timeout, patience=patience)
        return cls(target, engine, timeout, sketches_per_site)

    def __enter__(self) -> "Store":  # noqa: PYI034 (Self needs Python 3.11)
        return self

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def intact(self) -> bool:
        """Return False if the file of the store was removed or replaced since it was opened."""
        return self.path is None or (self._identity is not None and self._file_identity() == self._identity)

    def add(self, rows: Iterable[StoreRow]) -> None:
        """Write rows of all kinds in one transaction."""
        kinds: dict[type, list[Any]] = {ObservationRow: [], DiscardRow: [], SightingRow: [], CheckRow: [], CrawlRow: []}
        sites = set()
        for row in rows:
            kinds[type(row)].append(row)
            sites.add((row.scope, row.site))
        seen, discarded, sighted, checked, ended = kinds.values()
        with self._transaction(sites) as connection:
            sketches = self._sketches.keep(connection, seen)
            versions = self._versions.keep(connection, seen)
            values = [observation_values(*each) for each in zip(seen, sketches, versions, strict=True)]
            insert_rows(connection, observation, values)
            ledger = list(map(discard_values, discarded))
            insert_rows(connection, discard, ledger, ("scope", "spider", "job", "url_key"))
            sightings = list(map(sighting_values, sighted))
            insert_rows(connection, alias_sighting, sightings, ("scope", "site", "sighting_key"))
            insert_rows(connection, rule_check, checked)
            insert_rows(connection, crawl, ended)

    def end_job(self, scope: str, spider: str, job: str) -> None:
        """Note that a job of a spider has ended, which nothing goes on with: of all ended ones a URL has one discard."""
        d = discard.c
        its = d.scope == scope, d.spider == spider
        some = select(d.url_key).where(*its, d.job == job).order_by(d.url_key).limit(_CHUNK)
        ended = _CHUNK
        while ended == _CHUNK:
            with self._transaction(slow=True) as connection:
                connection.execute(delete(discard).where(*its, d.job == "", d.url_key.in_(some)))
                renamed = update(discard).where(*its, d.job == job, d.url_key.in_(some)).values(job="")
                ended = connection.execute(renamed).rowcount

    def lose_queue(self, scope: str, spider: str, job: str) -> None:
        """Note that a run of a job was killed: what it had scheduled of its discards is lost with Scrapy's queue."""
        d = discard.c
        its = d.scope == scope, d.spider == spider, d.job == job
        with self._transaction(slow=True) as connection:
            lost = update(discard).where(*its, d.state.in_([state.value for state in SCHEDULED]))
            connection.execute(lost.values(state=DiscardState.LOST.value))

    def mark_discards(self, ids: Sequence[int], state: DiscardState) -> None:
        """Set the state of discards."""
        with self._transaction() as connection:
            for start in range(0, len(ids), IDS_IN_A_QUERY):
                chosen = discard.c.id.in_(ids[start : start + IDS_IN_A_QUERY])
                connection.execute(update(discard).where(chosen).values(state=state.value))

    # Reading

    def observations(
        self,
        scope: str = "",
        site: str | None = None,
        *,
        since: float | None = None,
        versions: bool = False,
        repeats_within: float | None = None,
        unpack: Unpack = version_in,
    ) -> Iterator[Observation]:
        """Yield the latest observation of each URL, redirects included, in a fixed order without meaning.

        *since* is seconds since 1970. With *repeats_within* (seconds), pages that the same URL has shown so shortly before come,
        too, the oldest first, unless a cache has answered. Responses with status 200 and no content (to HEAD) are left out.
        """
        o, n = observation, observation.alias()
        later = exists().where(
            n.c.scope == o.c.scope, n.c.site == o.c.site, n.c.url_key == o.c.url_key, n.c.id > o.c.id, _known(n)
        )
        if repeats_within is not None:
            is_page = [each.c[name] for each in (o, n) for name in ("status", "from_cache")]
            late = n.c.time > o.c.time + repeats_within
            later = later.where(or_(late, is_page[0] != 200, is_page[1], is_page[2] != 200, is_page[3]))
        query = with_contents(versions=versions).where(in_part(scope, site, since), _known(o), ~later)
        for row in self.rows(query.order_by(o.c.scope, o.c.site, o.c.url_key, o.c.id)):
            yield observation_of(row, unpack)

    def versions(
        self,
        scope: str = "",
        site: str | None = None,
        *,
        since: float | None = None,
        unpack: Unpack = version_in,
    ) -> Iterator[KeptPage]:
        """Yield the responses whose texts are kept, URL by URL, the oldest first."""
        o = observation.c
        query = select(o.url, o.time, page_version.c.data, o.crawl).join(page_version, page_version.c.id == o.version)
        query = query.where(in_part(scope, site, since)).order_by(o.scope, o.site, o.url_key, o.id)
        for url, at, data, number in self.rows(query):
            version = unpack(data)
            if version is not None:
                yield KeptPage(url, at, version, number)

    def unstable_urls(self, scope: str = "", site: str | None = None) -> set[str]:
        """Return the URLs whose text changed between responses with status 200."""
        o = observation.c
        query = select(func.min(o.url)).where(in_part(scope, site, None), o.status == 200)
        query = query.group_by(o.site, o.url_key).having(func.count(o.text.distinct()) > 1)
        return {url for (url,) in self.rows(query)}

    def sites(self, scope: str | None = None) -> list[SiteCount]:
        """Return the counts of each site, of one scope or of all."""
        o = observation.c
        query = select(
            o.scope, o.site, func.count(), func.count(o.url_key.distinct()), func.min(o.time), func.max(o.time)
        )
        query = query.where(true() if scope is None else o.scope == scope)
        return [SiteCount(*row) for row in self.rows(query.group_by(o.scope, o.site).order_by(o.scope, o.site))]

    def discards(
        self,
        scope: str = "",
        *,
        spider: str | None = None,
        state: DiscardState | None = DiscardState.PENDING,
        job: str | None = None,
        since: float | None = None,
        mixed: bool = False,
    ) -> Iterator[DiscardRow]:
        """Yield discards, the oldest first, or *mixed*: the first ones are as any others; None means any."""
        d = discard.c
        query = select(*(d[name] for name in DiscardRow._fields)).where(in_part(scope, None, since, d))
        asked = {d.spider: spider, d.state: state, d.job: job}
        query = query.where(*(column == value for column, value in asked.items() if value is not None))
        for row in self.rows(query.order_by(d.url_key if mixed else d.id)):
            yield DiscardRow._make(row)._replace(state=DiscardState(row.state))

    def sightings(
        self, scope: str = "", site: str | None = None, *, since: float | None = None
    ) -> Iterator[SightingRow]:
        """Yield the sightings of aliases, the oldest first."""
        s = alias_sighting.c
        query = select(*(s[name] for name in SightingRow._fields)).where(in_part(scope, site, since, s))
        for row in self.rows(query.order_by(s.id)):
            yield SightingRow._make(row)

    def checks(self, scope: str = "") -> list[CheckRow]:
        """Return what spot checks and probes have shown, the oldest first."""
        query = select(*(rule_check.c[name] for name in CheckRow._fields)).where(rule_check.c.scope == scope)
        return [CheckRow._make(row) for row in self.rows(query.order_by(rule_check.c.id))]

    # Learning

    def note_learned(self, scope: str, learned: Mapping[str, int]) -> None:
        """Note that sites have been learned, each from its observations up to an id."""
        marks = [(learned_mark(site, scope), str(last)) for site, last in learned.items()]
        with self._transaction() as connection:
            insert_rows(connection, meta, marks, ("name",))

    # Forgetting

    def forget(self, site: str, scope: str | None = None) -> int:
        """Remove all that is known of a site, in one scope or in all. Return the number of its responses.

        The bytes are overwritten in a file, and not only marked as free.
        """
        removed = 0
        for table in OF_SITES:
            removed = self._delete(table, table.c.site == site, true() if scope is None else table.c.scope == scope)
        noted = meta.c.name.startswith(learned_mark(site), autoescape=True)
        with self._transaction() as connection:
            connection.execute(delete(meta).where(noted if scope is None else meta.c.name == learned_mark(site, scope)))
        self._shrink()
        return removed

    def prune(self, max_age_days: float | None = None, max_rows: int | None = None, *, now: float | None = None) -> int:
        """Remove rows that are too old, then the oldest beyond *max_rows*. Return their number.

        *max_rows* bounds responses, discards and what is known of crawls, each by itself.
        """
        removed = 0
        for table in AGING:
            if max_age_days is not None:
                oldest = (time.time() if now is None else now) - max_age_days * _DAY
                removed += self._delete(table, table.c.time < oldest)
            if max_rows is not None:
                beyond = select(table.c.id).order_by(table.c.id.desc()).offset(max_rows).limit(1)
                for row in list(self.rows(beyond)):
                    removed += self._delete(table, table.c.id <= row.id)
        if removed:
            for table, used in ((page_sketch, observation.c.sketch), (page_version, observation.c.version)):
                unused = select(table.c.id).except_(select(used).where(used.is_not(None)))
                self._delete(table, table.c.id.in_(unused))
            self._shrink()
        return removed

    # Connections

    def _delete(self, table: Any, *conditions: Any) -> int:
        """Delete the rows of *table* for which all *conditions* hold, in chunks. Return their number."""
        chunk = select(table.c.id).where(*conditions).limit(_CHUNK)
        removed, number = 0, _CHUNK
        while number == _CHUNK:
            with self._transaction(slow=True) as connection:
                number = connection.execute(delete(table).where(table.c.id.in_(chunk))).rowcount
            removed += number
        return removed

    def _shrink(self) -> None:
        """Give free pages back to the file system."""
        if self.path is None:
            return
        with clear_errors(self.place), self._engine.connect() as connection:
            raw = connection.connection.dbapi_connection
            assert raw is not None
            # execute() would stop after one page, since there is no row to fetch.
            raw.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _transaction(
        self, sites: Iterable[tuple[str, str]] | None = None, *, slow: bool = False
    ) -> Iterator[Connection]:
        """Begin to write: rows of these sites (scope and site), None: any rows; *slow* is for what reads much to find them."""
        writing = self._engine.execution_options(writes=True, slow=slow)
        with clear_errors(self.place), writing.begin() as connection:
            if self._is_server:
                take_turn(connection, self._timeout, sites)
            yield connection

    @contextmanager
    def claimed(self, scope: str, sites: Iterable[str]) -> Iterator[set[str]]:
        """Give those of *sites* that no other process learns now, and keep others from learning them meanwhile.

        It is so on a server; of a file they are all given.
        """
        with ExitStack() as held:
            found = set(sites)
            if self._is_server:
                with clear_errors(self.place):
                    found = held.enter_context(claiming(self._engine, f"learn/{scope}/", found))
            yield found

    def rows(self, query: Any) -> Iterator[Any]:
        """Yield the rows of a query, some thousand of which are held at a time."""
        streaming = self._engine.execution_options(slow=True, yield_per=_STREAM)
        with clear_errors(self.place), streaming.connect() as connection, connection.execute(query) as result:
            yield from result

    def _file_identity(self) -> tuple[int, int] | None:
        with suppress(OSError):
            found = None if self.path is None else self.path.stat()
            return found and (found.st_dev, found.st_ino)
        return None


def with_contents(*, versions: bool) -> Any:
    """Return a query for responses with what is kept of their pages, as :func:`.observation_of` reads them."""
    o, kept = observation.c, page_version.c
    version = kept.data if versions else null()
    names = "url text canonical redirect status time length bag headers words ends password crawl unseen".split()
    query = select(*(o[name] for name in names), page_sketch.c.data, version.label("version"))
    query = query.outerjoin_from(observation, page_sketch, page_sketch.c.id == o.sketch)
    return query.outerjoin(page_version, kept.id == o.version) if versions else query


def _known(table: Any) -> Any:
    """Return the condition that a response of *table*, the observations or an alias of them, has content or is no page."""
    return or_(table.c.status != 200, table.c.text.is_not(None))


def in_part(scope: str, site: str | None, since: float | None, columns: Any = observation.c) -> Any:
    """Return the condition that a row is of a scope, of a site (None: of any) and not from before *since*."""
    of_site = true() if site is None else columns.site == site
    return and_(columns.scope == scope, of_site, true() if since is None else columns.time >= since)
