"""The tables as they were before Alembic migrated them."""

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "alias_sighting",
        sa.Column("id", _ID, nullable=False),
        sa.Column("scope", _TEXT, nullable=False),
        sa.Column("site", _TEXT, nullable=False),
        sa.Column("page", _TEXT, nullable=False),
        sa.Column("link", _TEXT, nullable=False),
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("token", _TEXT, nullable=False),
        sa.Column("lead", _TEXT, nullable=False),
        sa.Column("prefix", _TEXT, nullable=False),
        sa.Column("sighting_key", sa.BigInteger(), nullable=False),
        sa.Column("time", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("alias_sighting_by_key", "alias_sighting", ["scope", "site", "sighting_key"], unique=True)
    op.create_index("alias_sighting_by_time", "alias_sighting", ["time"], unique=False)
    op.create_table(
        "crawl",
        sa.Column("id", _ID, nullable=False),
        sa.Column("scope", _TEXT, nullable=False),
        sa.Column("site", _TEXT, nullable=False),
        sa.Column("spider", _TEXT, nullable=False),
        sa.Column("job", _TEXT, nullable=False),
        sa.Column("began", sa.Float(), nullable=False),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("reason", _TEXT, nullable=False),
        sa.Column("pages", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("filtered", sa.BigInteger(), nullable=False),
        sa.Column("scheduled", sa.BigInteger(), nullable=False),
        sa.Column("avoided", sa.BigInteger(), nullable=False),
        sa.Column("avoided_bytes", sa.BigInteger(), nullable=False),
        sa.Column("avoided_seconds", sa.Float(), nullable=False),
        sa.Column("confirmed", sa.Integer(), nullable=False),
        sa.Column("differing", sa.Integer(), nullable=False),
        sa.Column("extra", sa.Integer(), nullable=False),
        sa.Column("learning_seconds", sa.Float(), nullable=False),
        sa.Column("dropped", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("crawl_by_time", "crawl", ["scope", "time"], unique=False)
    op.create_table(
        "discard",
        sa.Column("id", _ID, nullable=False),
        sa.Column("scope", _TEXT, nullable=False),
        sa.Column("spider", _TEXT, nullable=False),
        sa.Column("site", _TEXT, nullable=False),
        sa.Column("url", _TEXT, nullable=False),
        sa.Column("url_key", sa.BigInteger(), nullable=False),
        sa.Column("rule", _TEXT, nullable=False),
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("taken_for", _TEXT, nullable=False),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("callback", _TEXT, nullable=True),
        sa.Column("meta", _JSON, nullable=True),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("job", _TEXT, server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("discard_by_job", "discard", ["scope", "spider", "job", "url_key"], unique=True)
    op.create_table(
        "meta",
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("value", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "observation",
        sa.Column("id", _ID, nullable=False),
        sa.Column("scope", _TEXT, nullable=False),
        sa.Column("site", _TEXT, nullable=False),
        sa.Column("url", _TEXT, nullable=False),
        sa.Column("url_key", sa.BigInteger(), nullable=False),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("redirect", _TEXT, nullable=True),
        sa.Column("hops", _JSON, nullable=True),
        sa.Column("canonical", _TEXT, nullable=True),
        sa.Column("content_type", _TEXT, nullable=True),
        sa.Column("headers", _JSON, nullable=True),
        sa.Column("length", sa.BigInteger(), nullable=True),
        sa.Column("digest", sa.LargeBinary(), nullable=True),
        sa.Column("text", sa.LargeBinary(), nullable=True),
        sa.Column("bag", sa.LargeBinary(), nullable=True),
        sa.Column("words", sa.Integer(), nullable=True),
        sa.Column("sketch", sa.BigInteger(), nullable=True),
        sa.Column("from_cache", sa.Boolean(), nullable=False),
        sa.Column("spider", _TEXT, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=True),
        sa.Column("ends", sa.Boolean(), nullable=True),
        sa.Column("password", sa.Boolean(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("observation_by_site", "observation", ["scope", "site", "url_key"], unique=False)
    op.create_index("observation_by_time", "observation", ["time"], unique=False)
    op.create_index(
        "observation_without_end",
        "observation",
        ["scope", "site"],
        unique=False,
        sqlite_where=sa.text("ends IS 0"),
        postgresql_where=sa.text("ends IS false"),
    )
    op.create_table(
        "page_sketch",
        sa.Column("id", _ID, autoincrement=False, nullable=False),
        sa.Column("scope", _TEXT, nullable=False),
        sa.Column("site", _TEXT, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("page_sketch_by_site", "page_sketch", ["scope", "site"], unique=False)
    op.create_table(
        "page_version",
        sa.Column("id", _ID, autoincrement=False, nullable=False),
        sa.Column("scope", _TEXT, nullable=False),
        sa.Column("site", _TEXT, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("page_version_by_site", "page_version", ["scope", "site"], unique=False)
    op.create_table(
        "rule_check",
        sa.Column("id", _ID, nullable=False),
        sa.Column("scope", _TEXT, nullable=False),
        sa.Column("site", _TEXT, nullable=False),
        sa.Column("rule", _TEXT, nullable=False),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("samples", sa.Integer(), nullable=False),
        sa.Column("refuted", sa.Integer(), nullable=False),
        sa.Column("probes", sa.Integer(), nullable=False),
        sa.Column("contradicted", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("rule_check_by_site", "rule_check", ["scope", "site"], unique=False)
