"""Files of rules and masks may stand in the store."""

import sqlalchemy as sa
from alembic import op

revision = "6"
down_revision = "5"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table of their texts."""
    op.create_table(
        "site_text",
        sa.Column("id", _ID, nullable=False),
        sa.Column("folder", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("time", sa.Float(), nullable=False),
        sa.Column("text", _TEXT, nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("site_text_by_name", "site_text", ["folder", "name", "version"], unique=True)
    # The version of the tables stands in alembic_version from now on.
    op.execute("DELETE FROM meta WHERE name = 'schema'")
