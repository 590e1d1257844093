"""Files that other programs write about what they have fetched, made of the same responses in every format."""

import csv
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from hashlib import sha1
from pathlib import Path
from typing import Any, NamedTuple

from .server import page, prose

SITE = "shop.test"
BEGAN = 1_769_860_800  # 2026-01-31T12:00:00Z


class Fetched(NamedTuple):
    """A response."""

    url: str
    body: bytes
    status: int = 200
    headers: Mapping[str, str] = {"Content-Type": "text/html; charset=utf-8"}
    at: int = BEGAN

    @property
    def digest(self) -> str:
        return sha1(self.body).hexdigest()

    def moment(self, form: str) -> str:
        return datetime.fromtimestamp(self.at, timezone.utc).strftime(form)


def responses(pages: int = 40, site: str = SITE) -> list[Fetched]:
    """Each page under two session ids, and a redirect and an error."""
    found = []
    for number in range(pages):
        for copy in range(2):
            url = f"http://{site}/view?id={number}&sid={number * 7919 + copy * 104729:032x}"
            found.append(Fetched(url, page(prose(number)).encode(), at=BEGAN + len(found)))
    found.append(Fetched(f"http://{site}/old", b"", 301, {"Location": "/view?id=1"}, BEGAN + 900))
    found.append(Fetched(f"http://{site}/gone", b"gone", 404, at=BEGAN + 901))
    return found


def digests(fetched: Iterable[Fetched]) -> list[dict[str, Any]]:
    """The observations of these, by the digests of their bodies."""
    return [
        {"url": each.url, "fingerprint": each.digest if each.status == 200 else "", "status": each.status}
        | {"time": float(each.at)}
        for each in fetched
    ]


def _written(path: Path, data: bytes) -> None:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_json_lines(path: Path, rows: Iterable[Any]) -> None:
    _written(path, "".join(json.dumps(row) + "\n" for row in rows).encode())


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    _written(path, path.read_bytes())


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    import pyarrow
    from pyarrow import parquet

    columns = {name: [row[name] for row in rows] for name in rows[0]}
    columns["time"] = [datetime.fromtimestamp(at, timezone.utc) for at in columns["time"]]
    parquet.write_table(pyarrow.table(columns), path, row_group_size=30, use_dictionary=False)


def write_cdx(path: Path, fetched: Iterable[Fetched]) -> None:
    lines = [" CDX N b a m s k r M S V g\n"]
    lines += [
        f"test,shop)/x {each.moment('%Y%m%d%H%M%S')} {each.url} text/html {each.status} {each.digest} - - 512 0 a.warc.gz\n"
        for each in fetched
    ]
    _written(path, "".join(lines).encode())


def write_cdxj(path: Path, fetched: Iterable[Fetched]) -> None:
    lines = []
    for each in fetched:
        values = {"url": each.url, "mime": "text/html", "status": str(each.status), "digest": f"sha1:{each.digest}"}
        lines.append(f"test,shop)/x {each.moment('%Y%m%d%H%M%S')} {json.dumps(values)}\n")
    _written(path, "".join(lines).encode())


def _head(headers: Mapping[str, str]) -> str:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items())


def warc_record(each: Fetched, kind: str = "response", **headers: str) -> bytes:
    """A record of a web archive."""
    content = f"HTTP/1.1 {each.status} X\r\n{_head(each.headers)}\r\n".encode() + each.body
    told = {
        "WARC-Type": kind,
        "WARC-Target-URI": each.url,
        "WARC-Date": each.moment("%Y-%m-%dT%H:%M:%SZ"),
        "WARC-Payload-Digest": f"sha1:{each.digest}",
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(content)),
    } | {name.replace("_", "-"): value for name, value in headers.items()}
    return b"WARC/1.1\r\n%b\r\n%b\r\n\r\n" % (_head(told).encode(), content)


def write_warc(path: Path, records: Iterable[bytes]) -> None:
    path.write_bytes(b"".join(gzip.compress(each) if path.suffix == ".gz" else each for each in records))


def write_cache(folder: Path, fetched: Iterable[Fetched], *, is_packed: bool = False) -> None:
    """Store these as Scrapy does."""
    from scrapy import Request, Spider
    from scrapy.extensions.httpcache import FilesystemCacheStorage
    from scrapy.http import Headers, Response
    from scrapy.utils.test import get_crawler

    crawler = get_crawler(Spider, {"HTTPCACHE_DIR": str(folder), "HTTPCACHE_GZIP": is_packed})
    spider = Spider.from_crawler(crawler, "shop")
    store = FilesystemCacheStorage(crawler.settings)
    store.open_spider(spider)
    for each in fetched:
        headers = Headers({name.encode(): value.encode() for name, value in each.headers.items()})
        store.store_response(spider, Request(each.url), Response(each.url, each.status, headers, each.body))
