"""Migrations of the store's tables, run by Alembic; the name of a revision is the version of the tables that it makes."""

import logging
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection


def migrate(connection: Connection, *, stamp: int | None) -> None:
    """Migrate the tables to the latest version, in the transaction of *connection*.

    *stamp* is their version where Alembic has not noted it yet.
    """
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it tells each step
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    if stamp is not None:
        command.stamp(config, str(stamp))
    command.upgrade(config, "head")
