"""What Alembic runs for each command: the steps, in the transaction of the connection that is given."""

from alembic import context

from scrapy_dedup.store.schema import metadata

if __name__ == "env_py":  # as Alembic names it; imported by others it does nothing
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        render_as_batch=True,  # SQLite cannot alter what is there
        transactional_ddl=True,
    )
    context.run_migrations()
