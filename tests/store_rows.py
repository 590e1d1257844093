"""Rows for the tests of the store."""

from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from scrapy_dedup.pages.response import fingerprint_body, version_of
from scrapy_dedup.pages.versions import Version
from scrapy_dedup.store.rows import CrawlRow, DiscardRow, DiscardState, ObservationRow, SightingRow, StoreRow
from scrapy_dedup.store.schema import metadata
from scrapy_dedup.store.store import Store

#: What became of a filtered request.
State = DiscardState


def seen(path: str, /, text: str | None = "some text", **fields: Any) -> ObservationRow:
    """Return the row of an HTML page with this text; of a response without content if it is None."""
    row = ObservationRow("", "example.com", f"http://example.com/{path}", 1_000.0, 200)
    if text is not None:
        body = f"<title>{text}</title><p>template</p>".encode()
        row = row._replace(fingerprints=fingerprint_body(body, "text/html"), length=len(body))
    return row._replace(**fields)


def of_bytes(path: str, body: bytes, content_type: str) -> ObservationRow:
    """Return the row of a response with this body."""
    return seen(path, None, fingerprints=fingerprint_body(body, content_type))


def version(text: str) -> bytes:
    """Return the version of a page that shows one text, as a row has it."""
    return Version((("html/body/p", "", text),)).to_bytes()


def texts(found: Any) -> str:
    """Return what a version shows."""
    return " ".join(text for *_, text in found.seen)


def sighting(name: str) -> SightingRow:
    """Return the row of a URL that may be another one of a page."""
    return SightingRow("", "example.com", "http://example.com/", f"http://example.com/#{name}", "fragment", 5.0)


def crawl_row(job: str, **fields: Any) -> CrawlRow:
    """Return the row of a crawl that has ended."""
    return CrawlRow("", "example.com", "shop", job, 0.0, 1.0, "finished")._replace(**fields)


def seen_page(url: str, html: str, time: float) -> ObservationRow:
    """Return the row of a page whose texts are kept."""
    return seen("")._replace(site=url.split("/")[2], url=url, time=time, version=version_of(html).to_bytes())


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
