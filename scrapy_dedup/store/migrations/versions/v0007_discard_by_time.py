"""What was filtered is forgotten by its time, and found by it."""

from alembic import op

revision = "7"
down_revision = "6"


def upgrade() -> None:
    """Make the index."""
    op.create_index("discard_by_time", "discard", ["time"], unique=False)
