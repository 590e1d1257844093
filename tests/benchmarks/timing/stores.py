"""What a store on a PostgreSQL server costs a crawl, against one in a file: CPU of the process tree per response.

Measured as the cost of the add-on is (:mod:`.crawl`), with the same pages; each crawl has an empty store. The CPU of the server is
that of another machine, and is not counted.
"""

import tempfile
from pathlib import Path

from ...servers import PostgreSQLServer, postgresql_programs
from ..crawling.project import Project
from .crawl import KINDS, NOT_LEARNING, CrawlBench, Overhead, served

DATABASE = "benchmark"


class StoreBench(CrawlBench):
    """Crawls of which some record into an empty database of a server."""

    database: PostgreSQLServer

    def _crawl(self, project: Project, plan: Path) -> tuple[float, float, int]:
        if project.folder.name == "postgresql":
            from psycopg import connect

            with connect(self.database.url().replace("+psycopg", ""), autocommit=True) as connection:
                connection.execute(f"DROP DATABASE IF EXISTS {DATABASE}".encode())
                connection.execute(f"CREATE DATABASE {DATABASE}".encode())
        return super()._crawl(project, plan)


def measure(*, quick: bool, quiet: bool = False) -> list[Overhead]:
    """Every kind of crawl; nothing where PostgreSQL is not installed."""
    if postgresql_programs() is None:
        return []
    found = []
    fixed: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="speed-") as place, PostgreSQLServer(Path(place)) as database:
        url = database.url(DATABASE)
        for kind in KINDS:
            with served(StoreBench, kind, fixed, quick=quick, quiet=quiet) as bench:
                bench.database = database
                file = bench.project("sqlite", NOT_LEARNING)
                shared = bench.project("postgresql", {**NOT_LEARNING, "DEDUP_STORE": url})
                found.append(bench.compare("postgresql", file, shared, 3 if quick else 9))
    return found
