"""Rows for the tests of the store."""

from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from scrapy_dedup.content.fingerprints import fingerprint_body
from scrapy_dedup.store.rows import DiscardRow, ObservationRow, StoreRow
from scrapy_dedup.store.schema import metadata
from scrapy_dedup.store.store import Store


def seen(path: str, /, text: str | None = "some text", **fields: Any) -> ObservationRow:
    """Return the row of an HTML page with this text; of a response without content if it is None."""
    row = ObservationRow("", "example.com", f"http://example.com/{path}", 1_000.0, 200)
    if text is not None:
        body = f"<title>{text}</title><p>template</p>".encode()
        row = row._replace(fingerprints=fingerprint_body(body, "text/html"), length=len(body))
    return row._replace(**fields)


def discarded(path: str, /, **fields: Any) -> DiscardRow:
    """Return the row of a discarded request."""
    row = DiscardRow(
        scope="",
        spider="shop",
        site="example.com",
        url=f"http://example.com/{path}",
        rule="0badcafe",
        key="http://example.com/key",
        taken_for="http://example.com/first",
        time=1_000.0,
    )
    return row._replace(**fields)


def record(store: str | Path, *rows: StoreRow) -> None:
    """Put rows into a store, as crawls do."""
    with Store.open(store) as opened:
        opened.add(rows)


def table_counts(store: Store) -> dict[str, int]:
    """Return the number of rows of each table."""
    return {
        table.name: next(iter(store.rows(select(func.count()).select_from(table))))[0]
        for table in metadata.sorted_tables
    }
