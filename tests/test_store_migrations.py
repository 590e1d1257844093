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
from sqlalchemy import Table, create_engine, inspect, select, text

from scrapy_dedup.store import migrations, schema
from scrapy_dedup.store.database import StoreError, leaving_old_tables
from scrapy_dedup.store.store import Store

from .conftest import Project
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
    """Return all rows of the tables of version 5, as far as that has their columns."""
    engine = create_engine(target if "://" in target else f"sqlite:///{target}")
    with engine.connect() as connection:
        found: dict[str, list[object]] = {
            name: [
                tuple(row)
                for row in connection.execute(
                    select(*(column for column in table.c if column.name != "undecided")).order_by(*table.primary_key)
                )
            ]
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


def version_of(target: str) -> str:
    """Return the version that a store of version 5, or a migrated one, notes."""
    engine = create_engine(target if "://" in target else f"sqlite:///{target}")
    with engine.connect() as connection:
        table = "alembic_version" if inspect(connection).has_table("alembic_version") else "meta"
        found = {"alembic_version": "SELECT version_num FROM alembic_version"}
        version = connection.scalar(text(found.get(table, "SELECT value FROM meta WHERE name = 'schema'")))
    engine.dispose()
    return str(version)


def test_what_only_reads_leaves_the_tables_of_a_server(baseline: str) -> None:
    """A file is migrated, which is one user's."""
    with leaving_old_tables():
        if "://" not in baseline:
            Store.open(baseline, readonly=True).close()
        else:
            for _ in range(2):
                with pytest.raises(StoreError, match=rf"tables of version 5, this release knows {schema.VERSION}, "):
                    Store.open(baseline, readonly=True)
            assert version_of(baseline) == "5"
            Store.open(baseline).close()  # what writes migrates
        assert version_of(baseline) == str(schema.VERSION)
        Store.open(baseline, readonly=True).close()


@pytest.mark.postgresql
def test_commands_that_only_read_migrate_no_server(
    baseline: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "://" not in baseline:
        pytest.skip("a file is migrated")
    with monkeypatch.context() as patch:  # rows as that version has written them
        patch.setattr(schema, "VERSION", 5)
        fill(baseline)
    settings = project.folder / "shop" / "settings.py"
    settings.write_text(f"{settings.read_text()}\nDEDUP_STORE = {baseline!r}\n")
    reading = [
        ("dedup", "ledger"),
        ("dedup", "ledger", "--json"),
        ("dedup", "report"),
        ("dedup", "prune", "--dry-run"),
        ("dedup", "copy", "store:", "rules"),
        ("learn-rules", "--dry-run"),
        ("learn-rules", "--pack", "mine"),
    ]
    for words in reading:
        done = project.scrapy(*words)
        assert done.returncode == 2, (words, done.stdout, done.stderr)
        (line,) = done.stderr.splitlines()
        assert f"tables of version 5, this release knows {schema.VERSION}," in line
        assert (
            "A crawl or scrapy learn-rules of this release does; older releases cannot use the store after that."
            in line
        )
        assert version_of(baseline) == "5"
    done = project.scrapy("dedup", "explain", "http://example.com/a")  # which is about rules first of all
    assert done.returncode == 0
    assert "what crawls have recorded is left out" in done.stderr
    assert "tables of version 5" in done.stderr
    assert version_of(baseline) == "5"
    done = project.scrapy("learn-rules")
    assert "nothing to learn" in done.stderr  # it was read: what is in it is too old
    assert version_of(baseline) == str(schema.VERSION)
    assert "http://example.com/b" in project.scrapy("dedup", "ledger").stdout


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
