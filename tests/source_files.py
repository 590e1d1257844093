"""Files that other programs write about what they have fetched, made of the same responses in every format."""

import csv
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from hashlib import sha1
from pathlib import Path
from typing import Any, NamedTuple

from scrapy.http import Headers, Request
from scrapy.responsetypes import responsetypes

from .crawling_parts import crawler
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

    @property
    def moment(self) -> datetime:
        return datetime.fromtimestamp(self.at, timezone.utc)

    @property
    def stamp(self) -> str:
        return self.moment.strftime("%Y%m%d%H%M%S")


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


def write_json_lines(path: Path, rows: Iterable[Any]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(path.read_bytes()))
    return path


def write_cdx(path: Path, fetched: Iterable[Fetched]) -> Path:
    lines = [" CDX N b a m s k r M S V g\n"]
    lines += [
        f"test,shop)/x {each.stamp} {each.url} text/html {each.status} {each.digest} - - 512 0 a.warc.gz\n"
        for each in fetched
    ]
    path.write_text("".join(lines))
    return path


def write_cdxj(path: Path, fetched: Iterable[Fetched]) -> Path:
    lines = [
        f"test,shop)/x {each.stamp} "
        + json.dumps(
            {"url": each.url, "mime": "text/html", "status": str(each.status), "digest": f"sha1:{each.digest}"}
        )
        + "\n"
        for each in fetched
    ]
    path.write_text("".join(lines))
    return path


def warc_records(fetched: Iterable[Fetched]) -> list[bytes]:
    """Records as FastWARC writes them, with a request and a warcinfo among them."""
    from io import BytesIO

    from fastwarc.warc import WarcRecord, WarcRecordType

    found = []
    for number, each in enumerate(fetched):
        head = f"HTTP/1.1 {each.status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in each.headers.items())
        kinds = [(WarcRecordType.response, head.encode() + b"\r\n" + each.body)]
        if not number:
            kinds.append((WarcRecordType.request, b"GET / HTTP/1.1\r\n\r\n"))
        for kind, content in kinds:
            record = WarcRecord()
            record.init_headers(kind, content_length=len(content))
            record.headers["WARC-Target-URI"] = each.url
            record.headers["WARC-Date"] = each.moment.strftime("%Y-%m-%dT%H:%M:%SZ")
            name = "response" if kind is WarcRecordType.response else "request"
            record.headers["Content-Type"] = f"application/http; msgtype={name}"
            if kind is WarcRecordType.response:
                record.headers["WARC-Payload-Digest"] = f"sha1:{each.digest}"
            record.set_bytes_content(content)
            stream = BytesIO()
            record.write(stream)
            found.append(stream.getvalue())
    return found


def revisit(fetched: Fetched, original: Fetched, profile: str = "identical-payload-digest") -> bytes:
    """A record that refers to the one of an earlier response, as FastWARC writes it."""
    from io import BytesIO

    from fastwarc.warc import WarcRecord, WarcRecordType

    content = b"HTTP/1.1 304 Not Modified\r\n\r\n" if profile == "server-not-modified" else b"HTTP/1.1 200 OK\r\n\r\n"
    record = WarcRecord()
    record.init_headers(WarcRecordType.revisit, content_length=len(content))
    record.headers["WARC-Target-URI"] = fetched.url
    record.headers["WARC-Date"] = fetched.moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    record.headers["WARC-Profile"] = f"http://netpreserve.org/warc/1.1/revisit/{profile}"
    record.headers["WARC-Refers-To-Target-URI"] = original.url
    record.headers["WARC-Payload-Digest"] = (
        f"sha1:{fetched.digest if profile != 'server-not-modified' else sha1(b'').hexdigest()}"
    )
    record.headers["Content-Type"] = "application/http; msgtype=response"
    record.set_bytes_content(content)
    stream = BytesIO()
    record.write(stream)
    return stream.getvalue()


def write_warc(path: Path, records: Iterable[bytes]) -> Path:
    path.write_bytes(b"".join(gzip.compress(each) if path.suffix == ".gz" else each for each in records))
    return path


def write_cache(folder: Path, fetched: Iterable[Fetched], storage: type[Any], **settings: Any) -> Path:
    """Store these as Scrapy does; return the folder of the cache."""
    made = crawler(HTTPCACHE_DIR=str(folder), **settings)
    spider = made.spider
    assert spider is not None
    store = storage(made.settings)
    store.open_spider(spider)
    for each in fetched:
        headers = Headers({name.encode(): value.encode() for name, value in each.headers.items()})
        kind = responsetypes.from_args(headers=headers, url=each.url, body=each.body)
        store.store_response(
            spider, Request(each.url), kind(each.url, status=each.status, headers=headers, body=each.body)
        )
    store.close_spider(spider)
    return folder
