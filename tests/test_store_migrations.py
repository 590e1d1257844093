"""Tables that earlier versions have made: migrated once, whoever comes first, and their rows are what they were."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Table, create_engine, select, text

from scrapy_dedup.store import migrations, schema
from scrapy_dedup.store.database import StoreError
from scrapy_dedup.store.store import Store

from .store_rows import discarded, seen
from .waiting import PATIENCE


@pytest.fixture
def baseline(store_target: str) -> str:
    """A store of version 5, the first one, with a row of each kind."""
    url = store_target if "://" in store_target else f"sqlite:///{store_target}"
    Path(store_target).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url)
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(Path(migrations.__file__).parent))
        config.attributes["connection"] = connection
        command.upgrade(config, "5")
        connection.execute(text("DROP TABLE alembic_version"))  # Alembic came after it
        connection.execute(schema.meta.insert(), {"name": "schema", "value": "5"})
        connection.execute(schema.meta.insert(), {"name": "learned/example.com/", "value": "1"})
    engine.dispose()
    return store_target


def fill(target: str) -> None:
    with Store.open(target) as store:
        store.add([seen("a", version=b"texts", headers={"etag": "x"}), discarded("b", meta={"depth": 1})])


def rows_of(target: str) -> dict[str, list[object]]:
    """Return all rows of the tables of version 5."""
    engine = create_engine(target if "://" in target else f"sqlite:///{target}")
    with engine.connect() as connection:
        found: dict[str, list[object]] = {
            name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for name, table in schema.metadata.tables.items()
            if name not in ("site_text", "meta")
        }
    engine.dispose()
    return found


@pytest.mark.parametrize("readonly", [False, True])
def test_tables_of_version_5_are_migrated(baseline: str, monkeypatch: pytest.MonkeyPatch, *, readonly: bool) -> None:
    with monkeypatch.context() as patch:  # rows as that version has written them
        patch.setattr(schema, "VERSION", 5)
        fill(baseline)
    before = rows_of(baseline)
    assert [len(before[name]) for name in ("observation", "page_sketch", "page_version", "discard")] == [1] * 4
    with Store.open(baseline, readonly=readonly) as store:
        assert [each.url for each in store.observations()] == [seen("a").url]
        assert [row.meta for row in store.discards()] == [{"depth": 1}]
        assert [row.value for row in store.rows(select(schema.meta))] == ["1"]
    assert rows_of(baseline) == before
    fill(baseline)


@pytest.mark.parametrize("old", [False, True])
def test_migrated_tables_are_those_of_a_new_store(
    request: pytest.FixtureRequest, store_target: str, *, old: bool
) -> None:
    if old:
        request.getfixturevalue("baseline")
    with Store.open(store_target) as store, store._engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == str(schema.VERSION)


@pytest.mark.parametrize("table", schema.AGING)
def test_what_is_old_is_found_by_an_index(store_target: str, table: Table) -> None:
    with Store.open(store_target) as store, store._engine.connect() as connection:
        if connection.dialect.name == "postgresql":  # where nothing is, reading all is quick
            connection.execute(text("SET enable_seqscan = off"))
        explain = "EXPLAIN" if connection.dialect.name == "postgresql" else "EXPLAIN QUERY PLAN"
        query = f"{explain} SELECT id FROM {table.name} WHERE time < 1 LIMIT 10"
        plan = str(connection.execute(text(query)).all())
        assert f"{table.name}_by_time" in plan


def test_one_of_several_migrates(baseline: str) -> None:
    errors: list[BaseException] = []
    barrier = threading.Barrier(6)

    def open_it() -> None:
        try:
            barrier.wait()
            Store.open(baseline, timeout=PATIENCE).close()
        except BaseException as error:  # noqa: BLE001 (told below)
            errors.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_store_of_a_later_version_is_refused(store_target: str) -> None:
    Store.open(store_target).close()
    engine = create_engine(store_target if "://" in store_target else f"sqlite:///{store_target}")
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '99'"))
    engine.dispose()
    with pytest.raises(StoreError, match=r"newer version \(tables 99, this version knows \d+\)\. Upgrade scrapy-dedup"):
        Store.open(store_target)


def test_alembic_is_imported_for_a_migration_alone(tmp_path: Path) -> None:
    code = (
        "import sys; from scrapy_dedup.store.store import Store\n"
        "for _ in range(2): Store.open(sys.argv[1]).close()\n"
        "print([name for name in ('alembic', 'mako', 'psycopg') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "store.sqlite")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
