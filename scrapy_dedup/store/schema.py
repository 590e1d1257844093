"""The tables of the store."""

import re
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
)
from xxhash import xxh3_64_intdigest

#: Version of the tables: a file of another version is set aside, a database on a server is refused.
VERSION = 11
#: Ids, sites or contents that one query names at most.
IDS_IN_A_QUERY = 500

_BYTES = 16
_HEXADECIMAL = re.compile("[0-9a-f]{32}")


class FingerprintType(TypeDecorator[str]):
    """A fingerprint: 16 bytes for 32 hexadecimal digits, any other text after a zero byte."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        """Return the stored form."""
        if value is None:
            return None
        if _HEXADECIMAL.fullmatch(value):
            return bytes.fromhex(value)
        text = b"\0" + value.encode("utf-8", "surrogatepass")
        return text if len(text) != _BYTES else text + b"\0"

    def process_result_value(self, value: Any | None, dialect: Dialect) -> str | None:
        """Return the fingerprint."""
        if value is None:
            return None
        data = bytes(value)
        if len(data) == _BYTES:
            return data.hex()
        return data.strip(b"\0").decode("utf-8", "surrogatepass")


def signed_hash(*parts: str | bytes) -> int:
    """Return a hash of 64 bits that fits the database's signed integers."""
    data = b"\0".join([p.encode("utf-8", "surrogatepass") if isinstance(p, str) else p for p in parts])
    number = xxh3_64_intdigest(data)
    return number - (1 << 64) if number >> 63 else number


metadata = MetaData()

# SQLite numbers rows by itself only in a column of the type INTEGER.
_Id = BigInteger().with_variant(Integer, "sqlite")
_Json = JSON(none_as_null=True)
# In the order of its characters' codes, whatever the language of a server's database.
_Text = Text().with_variant(Text(collation="C"), "postgresql")

meta = Table(
    "meta",
    metadata,
    Column("name", _Text, primary_key=True),
    Column("value", _Text, nullable=False),
)

observation = Table(
    "observation",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("scope", _Text, nullable=False),
    Column("site", _Text, nullable=False),
    Column("url", _Text, nullable=False),
    # A hash of the URL: an index of it takes a tenth of the place of an index of URLs.
    Column("url_key", BigInteger, nullable=False),
    Column("time", Float, nullable=False),
    Column("status", Integer, nullable=False),
    Column("redirect", _Text),
    Column("canonical", _Text),
    Column("headers", _Json),
    Column("length", BigInteger),
    Column("text", FingerprintType),
    Column("bag", FingerprintType),
    Column("words", Integer),
    Column("sketch", BigInteger),
    Column("from_cache", Boolean, nullable=False),
    Column("spider", _Text, nullable=False),
    Column("version", BigInteger),
    Column("ends", Boolean),
    Column("password", Boolean),
    # The number of its crawl; two responses of one crawl say something else of what lasts than two of several.
    Column("crawl", BigInteger),
    Column("unseen", FingerprintType),
    Index("observation_by_site", "scope", "site", "url_key"),
    Index("observation_by_time", "time"),
)
# Few have no end, and these are asked for by themselves.
_WITHOUT_END = observation.c.ends.is_(False)
observation_without_end = Index(
    "observation_without_end",
    observation.c.scope,
    observation.c.site,
    sqlite_where=_WITHOUT_END,
    postgresql_where=_WITHOUT_END,
)


def _page_data_table(name: str) -> Table:
    """Return the table of what is kept of pages: the id is a hash of scope, site and data, so that equal ones share one row."""
    return Table(
        name,
        metadata,
        Column("id", _Id, primary_key=True, autoincrement=False),
        Column("scope", _Text, nullable=False),
        Column("site", _Text, nullable=False),
        Column("data", LargeBinary, nullable=False),
        Index(f"{name}_by_site", "scope", "site"),
    )


#: The hashes of a page's texts, of every page up to a cap.
page_sketch = _page_data_table("page_sketch")
#: The texts themselves with their paths, of some pages: what comes and goes is found in them.
page_version = _page_data_table("page_version")

discard = Table(
    "discard",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("scope", _Text, nullable=False),
    Column("spider", _Text, nullable=False),
    Column("site", _Text, nullable=False),
    Column("url", _Text, nullable=False),
    Column("url_key", BigInteger, nullable=False),
    Column("rule", _Text, nullable=False),
    Column("key", _Text, nullable=False),
    Column("taken_for", _Text, nullable=False),
    Column("time", Float, nullable=False),
    Column("callback", _Text),
    Column("meta", _Json),
    Column("state", _Text, nullable=False),
    Column("job", _Text, nullable=False, server_default=""),
    Index("discard_by_job", "scope", "spider", "job", "url_key", unique=True),
    Index("discard_by_time", "time"),
)

# URLs seen on a page that may be another URL of that page.
alias_sighting = Table(
    "alias_sighting",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("scope", _Text, nullable=False),
    Column("site", _Text, nullable=False),
    Column("page", _Text, nullable=False),
    Column("link", _Text, nullable=False),
    Column("key", _Text, nullable=False),
    Column("token", _Text, nullable=False),
    Column("lead", _Text, nullable=False),
    Column("prefix", _Text, nullable=False),
    # A hash of page, link, key and prefix.
    Column("sighting_key", BigInteger, nullable=False),
    Column("time", Float, nullable=False),
    Index("alias_sighting_by_key", "scope", "site", "sighting_key", unique=True),
    Index("alias_sighting_by_time", "time"),
)

#: What spot checks and probes of one crawl have shown of a rule, beyond what stands in its file.
rule_check = Table(
    "rule_check",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("scope", _Text, nullable=False),
    Column("site", _Text, nullable=False),
    Column("rule", _Text, nullable=False),
    Column("time", Float, nullable=False),
    Column("samples", Integer, nullable=False),
    Column("refuted", Integer, nullable=False),
    Column("probes", Integer, nullable=False),
    Column("contradicted", Integer, nullable=False),
    Column("undecided", Integer, nullable=False, server_default="0"),
    Index("rule_check_by_site", "scope", "site"),
)

#: What crawls have saved and spent: a row for each crawl and site, written when the crawl closes.
crawl = Table(
    "crawl",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("scope", _Text, nullable=False),
    Column("site", _Text, nullable=False),
    Column("spider", _Text, nullable=False),
    Column("job", _Text, nullable=False),
    Column("began", Float, nullable=False),
    # When it ended.
    Column("time", Float, nullable=False),
    Column("reason", _Text, nullable=False),
    Column("pages", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("filtered", BigInteger, nullable=False),
    Column("scheduled", BigInteger, nullable=False),
    Column("avoided", BigInteger, nullable=False),
    Column("avoided_bytes", BigInteger, nullable=False),
    Column("avoided_seconds", Float, nullable=False),
    Column("confirmed", Integer, nullable=False),
    Column("differing", Integer, nullable=False),
    Column("extra", Integer, nullable=False),
    Column("learning_seconds", Float, nullable=False),
    Column("dropped", BigInteger, nullable=False),
    Column("undecided", Integer, nullable=False, server_default="0"),
    Index("crawl_by_time", "scope", "time"),
)

#: The tables that hold something of single sites, and those of them whose rows are forgotten when they are old.
OF_SITES = (page_sketch, page_version, discard, alias_sighting, rule_check, crawl, observation)
AGING = (observation, discard, alias_sighting, crawl)
