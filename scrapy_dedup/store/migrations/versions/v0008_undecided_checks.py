"""Spot checks that have shown nothing are counted, too."""

import sqlalchemy as sa
from alembic import op

revision = "8"
down_revision = "7"


def upgrade() -> None:
    """Make the columns."""
    for table in ("rule_check", "crawl"):
        op.add_column(table, sa.Column("undecided", sa.Integer(), nullable=False, server_default="0"))
