"""What is readable in a store: texts of pages where they are wanted, and else none."""

import sqlite3
import zlib
from contextlib import closing
from typing import Any

import pytest

from scrapy_dedup.masks.model import Mask, TransientPath
from scrapy_dedup.rules import Ignore, Status

from .conftest import Serve
from .crawling import STORE, Links, crawl, in_reactor, rule, write_rules
from .mask_files import save_mask
from .server import Answer, Asked, page

PAGES = 20


def site(asked: Asked) -> Any:
    """Pages under two session ids, with words that stand in no URL."""
    if asked.path == "/":
        return page("Welcome to our catalogue", *(f"/p?id={i}&sid=s{i}x{j}" for i in range(PAGES) for j in range(2)))
    words = " ".join(f"readable{asked.query['id']}x{number}" for number in range(30))
    return page(words, title="Secret title")


def readable() -> bytes:
    """All that the files of the store hold, and what is packed in it."""
    found = [path.read_bytes() for path in sorted(STORE.parent.iterdir())]
    with closing(sqlite3.connect(STORE)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for table in tables for row in connection.execute(f"SELECT * FROM {table}")]
    for value in (value for row in rows for value in row if isinstance(value, bytes)):
        for start in range(4):  # what is packed has a number in front
            try:
                found.append(zlib.decompress(value[start:]))
            except zlib.error:
                continue
    return b"\n".join(found)


@pytest.mark.parametrize("kept", [True, False])
@in_reactor
async def test_the_store_has_texts_only_where_they_are_wanted(serve: Serve, kept: bool) -> None:
    """Spot checks, refetches and a mask ask for versions, too."""
    server = serve(site)
    name = f"127.0.0.1:{server.port}"
    write_rules(rule(name, {"q.sid": Ignore()}, status=Status.ACTIVE))
    save_mask("dedup-rules", Mask(name, paths=(TransientPath("html/body/p"),)))
    done = await crawl(
        Links, server.url("/"), DEDUP_STORE_TEXTS=kept, DEDUP_SAMPLE=0.5, DEDUP_REVISITS=3, DEDUP_LEARN="close"
    )
    assert done.stats["dedup/samples"] > 3
    assert done.stats["dedup/revisits/recorded"] > 0
    found = readable()
    assert b"/p?id=1&sid=" in found, "URLs are there"
    for text in (b"readable1x2", b"readable11x29", b"Secret title", b"catalogue"):
        assert (text in found) is kept
    for file in STORE.parent.iterdir():
        assert file.stat().st_mode & 0o077 == 0


@in_reactor
async def test_user_names_and_passwords_that_a_site_writes_are_not_stored(serve: Serve) -> None:
    """In addresses of its links and images, and in headers."""
    there = "//someone:S3CRET@shop.test"

    def leaking(asked: Asked) -> Any:
        links = [f"/p?id={i}&sid={j}" for i in range(5) for j in range(2)] if asked.path == "/" else []
        shown = page(
            f"words {asked.target} " * 5, f"http:{there}/a", f"{there}/b", *links, canonical=f"http:{there}{asked.path}"
        )
        shown = shown.replace("<p>", f'<img src="http:{there}/i.png"><input value="ftp:{there}/"><p>')
        headers = {"Content-Location": f"http:{there}/c", "Link": f'<http:{there}/d>; rel="canonical"'}
        return Answer(shown, headers=headers)

    server = serve(leaking)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}, status=Status.ACTIVE))
    await crawl(Links, server.url("/"), DEDUP_SAMPLE=0.5, DEDUP_REVISITS=3, DEDUP_LEARN="close", DNS_TIMEOUT=1)
    found = readable()
    assert b"//shop.test/c" in found, "headers are there"
    assert b"//shop.test/i.png" in found, "so are versions"
    assert b"S3CRET" not in found
