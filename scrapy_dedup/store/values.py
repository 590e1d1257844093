"""From rows to the values of columns."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Insert, Table
from sqlalchemy.dialects import sqlite

from ..observation import without_userinfo
from .rows import DiscardRow, ObservationRow, SightingRow
from .schema import signed_hash


def observation_values(row: ObservationRow, sketch: int | None, version: int | None) -> dict[str, Any]:
    """Return the columns of an observation whose sketch and version have these ids."""
    url = clean_url(row.url)
    prints = row.fingerprints
    return {
        "scope": row.scope,
        "site": row.site,
        "url": url,
        "url_key": signed_hash(url),
        "time": row.time,
        "status": row.status,
        "redirect": row.redirect and clean_url(row.redirect),
        "hops": [clean_url(hop) for hop in row.hops] or None,
        "canonical": row.canonical and clean_url(row.canonical),
        "content_type": row.content_type and clean(row.content_type),
        "headers": dict(row.headers) if row.headers else None,
        "length": row.length,
        "digest": prints and prints.digest,
        "text": prints and prints.text,
        "bag": prints and prints.bag,
        "words": prints and prints.words,
        "sketch": sketch,
        "from_cache": row.from_cache,
        "spider": clean(row.spider),
        "version": version,
    }


def discard_values(row: DiscardRow) -> dict[str, Any]:
    """Return the columns of a discard."""
    url = clean_url(row.url)
    return {
        "scope": row.scope,
        "spider": clean(row.spider),
        "site": row.site,
        "url": url,
        "url_key": signed_hash(url),
        "rule": row.rule,
        "key": clean_url(row.key),
        "taken_for": clean_url(row.taken_for),
        "time": row.time,
        "callback": row.callback,
        "meta": dict(row.meta) if row.meta else None,
        "state": row.state.value,
    }


def sighting_values(row: SightingRow) -> dict[str, Any]:
    """Return the columns of a sighting."""
    page, link = clean_url(row.page), clean_url(row.link)
    return {
        "scope": row.scope,
        "site": row.site,
        "page": page,
        "link": link,
        "key": clean(row.key),
        "token": row.token,
        "lead": row.lead,
        "prefix": row.prefix,
        "sighting_key": signed_hash(page, link, clean(row.key), row.prefix),
        "time": row.time,
    }


def clean(text: str) -> str:
    """Return *text* with escapes in the place of what no database takes (lone surrogates)."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def clean_url(url: str) -> str:
    """Return *url* as it is stored: clean, and without user name and password."""
    return clean(without_userinfo(url))


def insert_of(connection: Connection) -> Callable[[Any], Any]:
    """Return the insert() of the connection's database, the one with ON CONFLICT."""
    if connection.dialect.name != "postgresql":
        return sqlite.insert
    from sqlalchemy.dialects import postgresql  # here, since it is a tenth of what the start of a crawl costs

    return postgresql.insert


def insert_or_ignore(connection: Connection, table: Table) -> Insert:
    """Return the insert() that leaves out rows which are there already."""
    if connection.dialect.name == "sqlite":
        # Not ON CONFLICT: with that, each row would be a statement.
        return table.insert().prefix_with("OR IGNORE")
    insert: Insert = insert_of(connection)(table).on_conflict_do_nothing()
    return insert
