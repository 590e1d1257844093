"""Crawls write to the store by and by, whoever else writes to it; where they cannot they go on, and say so once."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup.store import Store

from .conftest import Serve
from .crawling import STORE, crawl_site, ignore, in_reactor, messages, observed
from .server import Asked, page, prose
from .waiting import wait_until

PAGES = 12


def site(at: dict[str, Callable[[], Any]]) -> Callable[[Asked], Any]:
    """Pages, each of which links to the next; what *at* has of a path is done when it is asked for, and then it is answered."""

    def answer(asked: Asked) -> Any:
        at.get(asked.path, lambda: None)()
        number = int(asked.path.strip("/") or 0)
        return page(prose(number), *([f"/{number + 1}"] if number < PAGES - 1 else []))

    return answer


def seen() -> int:
    """How many URLs the store knows; none as long as it is not made yet."""
    try:
        return len(observed())
    except Exception:  # noqa: BLE001 (it is being made)
        return 0


@in_reactor
async def test_rows_are_written_while_the_crawl_goes_on(serve: Serve) -> None:
    """So that a kill loses the last moment only: nobody asks for it, and the crawl is far from its end."""
    done = await crawl_site(serve, site({"/5": lambda: wait_until(lambda: seen() >= 5)}))
    assert done.stat("store/written") == PAGES == seen()


@in_reactor
async def test_a_store_that_somebody_else_writes_to_is_waited_for(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    Store.open(STORE).close()
    with closing(sqlite3.connect(STORE, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        done = await crawl_site(serve, site({f"/{PAGES - 1}": lambda: other.execute("COMMIT")}))
    assert (done.stat("store/written"), done.stat("store/dropped"), seen()) == (PAGES, 0, PAGES)
    assert messages(caplog) == []


@in_reactor
async def test_a_store_that_comes_back(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """What waited for it is written then, and that is told once, as its absence was."""
    STORE.parent.mkdir(parents=True)
    STORE.write_bytes(b"no database at all" * 100)

    def repair() -> None:
        wait_until(lambda: messages(caplog))
        STORE.unlink()

    with caplog.at_level("INFO"):
        done = await crawl_site(serve, site({"/4": repair}))
    assert (done.stat("store/written"), done.stat("store/dropped"), seen()) == (PAGES, 0, PAGES)
    (warning,) = messages(caplog)
    assert warning.startswith("The crawl goes on, but what it sees is not recorded: store ")
    assert "not a database. Move that file away" in warning
    assert [text for text in messages(caplog, 20) if text.endswith("can be written again")]


@in_reactor
async def test_a_vanished_directory_is_made_again(serve: Serve) -> None:
    def vanish() -> None:
        wait_until(lambda: seen() >= 4)
        STORE.parent.rename("elsewhere")

    done = await crawl_site(serve, site({"/4": vanish}))
    assert done.fetched.total() == PAGES
    assert seen() + len(observed(store=Path("elsewhere", STORE.name))) >= PAGES - 1


@in_reactor
async def test_a_row_that_the_database_refuses_takes_no_other_with_it(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    Store.open(STORE).close()
    with closing(sqlite3.connect(STORE)) as other:
        for table in ("observation", "discard"):
            refuse = "WHEN NEW.url LIKE '%/3%' BEGIN SELECT RAISE(ABORT, 'not this one'); END"
            other.execute(f"CREATE TRIGGER refuse_{table} BEFORE INSERT ON {table} {refuse}")
    done = await crawl_site(serve, site({}), ignore("q.sid"))
    assert (done.stat("store/written"), seen()) == (PAGES - 1, PAGES - 1)
    (error,) = messages(caplog)
    assert f"The store refused the row of {done.server.url('/3')}" in error
