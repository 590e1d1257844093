"""Rules from logs, archives and caches: every format end to end, and what is damaged."""

import gzip
import json
import random
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.commands.observation_sources import scrapys_encoding
from scrapy_dedup.sources.pages import PageReader
from scrapy_dedup.sources.reading import Reading
from scrapy_dedup.store import Store

from .server import Answer, page, prose
from .source_files import (
    BEGAN,
    SITE,
    Fetched,
    digests,
    responses,
    warc_record,
    write_cache,
    write_cdx,
    write_cdxj,
    write_csv,
    write_json_lines,
    write_parquet,
    write_warc,
)

stream_io = pytest.importorskip("fastwarc.stream_io", reason="WARC is read by FastWARC")
pytest.importorskip("pyarrow", reason="Parquet is read by pyarrow")

GONE = ("since", "until", "first", "last", "evidence", "notes", "changes")


def write_archive(path: Path, fetched: Sequence[Fetched]) -> None:
    request = warc_record(fetched[0], "request", Content_Type="application/http; msgtype=request")
    write_warc(path, [request, *map(warc_record, fetched)])


#: Sources with a digest of each content, and sources with pages.
DIGESTS: Mapping[str, Callable[[Path, list[Fetched]], None]] = {
    **{name: lambda path, fetched: write_json_lines(path, digests(fetched)) for name in ("a.jsonl", "a.jsonl.gz")},
    **{name: lambda path, fetched: write_csv(path, digests(fetched)) for name in ("a.csv", "a.csv.gz")},
    "a.parquet": lambda path, fetched: write_parquet(path, digests(fetched)),
    **dict.fromkeys(("a.cdx", "a.cdx.gz"), write_cdx),
    **dict.fromkeys(("a.cdxj", "a.cdxj.gz"), write_cdxj),
}
PAGES: Mapping[str, Callable[[Path, list[Fetched]], None]] = {
    **dict.fromkeys(("a.warc", "a.warc.gz"), write_archive),
    "cache": write_cache,
    "packed": partial(write_cache, is_packed=True),
}
FORMATS = DIGESTS | PAGES


def learned(project: Any, *sources: str, stdin: bytes = b"", code: int = 0) -> tuple[list[dict[str, Any]], list[str]]:
    """The lines of JSON of what the command has learned, and what it has said of what it could not read."""
    done = project.scrapy("learn-rules", "--json", *(f"--from={each}" for each in sources), stdin=stdin)
    assert done.returncode == code, done.stderr
    said = [line for line in done.stderr.splitlines() if not line.startswith("learning from ")]
    return [json.loads(line) for line in done.stdout.splitlines()], said


def urls(lines: list[dict[str, Any]]) -> dict[str, int]:
    return {line["site"]: line["urls"] for line in lines if line["type"] == "site"}


def rules(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in line.items() if name not in GONE} for line in lines if line["type"] == "rule"
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_tells_the_same(project, name):
    FORMATS[name](project.folder / name, responses())
    write_json_lines(project.folder / "same.jsonl", digests(responses()))
    (lines, said), (same, _) = learned(project, name), learned(project, "same.jsonl")
    assert said == []
    assert "q.sid" in str(rules(lines)[0]["ops"])
    assert urls(lines) == urls(same) == {SITE: 80}
    assert name in PAGES or rules(lines) == rules(same)


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.csv", "a.parquet", "a.cdx", "a.warc.gz"])
def test_standard_input(project, name):
    FORMATS[name](project.folder / name, responses())
    lines, said = learned(project, "-", stdin=(project.folder / name).read_bytes())
    assert (urls(lines), said) == ({SITE: 80}, [])


#: Pages whose encodings, types and forms are read in more than one way.
TRICKY = {
    "/canonical": Answer(page(prose(1), canonical="/elsewhere")),
    "/latin": Answer("<html><body>é ü".encode("latin-1") + prose(2).encode(), content_type="text/html"),
    "/bom": Answer(b"\xef\xbb\xbf" + page("é " + prose(3)).encode(), content_type="text/html"),
    "/meta": Answer(f'<meta charset="windows-1251"><p>привет {prose(4)}'.encode("cp1251"), content_type="text/html"),
    "/cp1252": Answer(b"<html><p>\x93quoted\x94 " + prose(5).encode(), content_type="text/html"),
    "/json": Answer(b'{"b": 1.50, "a": [true]}', content_type="application/json"),
    "/plain": Answer(b"plain <html>", content_type="text/plain"),
    "/page.html": Answer(page(prose(6)), content_type="application/octet-stream"),
    "/image": Answer(b"\x89PNG\r\n\x1a\n\x00\x00", content_type="image/png"),
    "/password": Answer(b"<html><form><input type=password></form>" + prose(8).encode()),
    "/xhtml": Answer(page(prose(9)), content_type="application/xhtml+xml"),
    "/big": Answer(page(prose("big", 130_000))),
    "/headers": Answer(page(prose(10)), headers={"ETag": '"1"', "Link": '</other>; rel="canonical"', "Vary": "Accept"}),
    "/packed": Answer(gzip.compress(page(prose(11)).encode()), headers={"Content-Encoding": "gzip"}),
    "/gone": Answer(b"gone", 404),
    "/moved": Answer(b"", 302, {"Location": "canonical?x=1"}),
}


def test_a_page_of_a_cache_is_what_the_crawl_has_recorded(project, serve):
    server = serve({"/": page("start", *TRICKY), **TRICKY, "/canonical?x=1": "moved"})
    settings = ("HTTPCACHE_ENABLED=1", "HTTPCACHE_DIR=cache", "DEDUP_LEARN=off", "DEDUP_STORE=store.sqlite")
    done = project.scrapy("crawl", "shop", "-a", f"start={server.url('/')}", *(f"-s{each}" for each in settings))
    assert done.returncode == 0, done.stderr
    with Store.open(str(project.folder / "store.sqlite"), readonly=True) as store:
        crawled = {
            each.url: replace(each, time=None, sketch=None, ends=None, crawl=None) for each in store.observations()
        }
    reading = Reading([str(project.folder / ".scrapy" / "cache")], PageReader(encoding_of=scrapys_encoding))
    cached = {each.url: replace(each, time=None, sketch=None, ends=None) for each in reading.observations()}
    assert len(cached) == len(TRICKY) + 2
    assert cached == crawled


def packed_by(writer: str, body: bytes) -> bytes:
    packed = BytesIO()
    with closing(getattr(stream_io, writer)(packed)) as stream:
        stream.write(body)
    return packed.getvalue()


ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": partial(packed_by, "BrotliWriter"),
    "zstd": partial(packed_by, "ZstdWriter"),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_compressed_bodies_are_unpacked(project, name):
    whole = responses()
    packed = [
        each._replace(body=ENCODINGS[name](each.body), headers={**each.headers, "Content-Encoding": name})
        for each in whole[1:80:2]
    ]
    cut = packed[0]._replace(url=f"http://{SITE}/cut", body=packed[0].body[:-20])
    unknown = cut._replace(headers={"Content-Encoding": "compress"})
    no_chunk = cut._replace(headers={"Transfer-Encoding": "chunked"}, body=b"zz\r\nno chunk")
    packed[0] = packed[0]._replace(
        headers={**packed[0].headers, "Transfer-Encoding": "chunked"},
        body=b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed[0].body), packed[0].body),
    )
    write_archive(project.folder / "a.warc", [no_chunk, *whole[0:80:2], *packed, cut, unknown])
    lines, said = learned(project, "a.warc")
    assert "q.sid" in str(rules(lines)[0]["ops"]), "packed and plain bodies are the same page"
    assert urls(lines) == {SITE: 80}
    assert "byte 303: its body cannot be unpacked as chunked" in said[0]
    assert "its body " in said[1]
    assert "its Content-Encoding is compress: only gzip, " in said[2]


def test_what_an_archive_has_kept_once_is_read_of_each_url(project):
    """Revisits: of the same payload, under another URL or later, and of what was not modified."""
    first, others = responses()[0:80:2], responses()[1:80:2]
    same = [
        warc_record(each._replace(body=b""), "revisit", WARC_Payload_Digest=f"sha1:{each.digest}") for each in others
    ]
    referring = {"WARC_Profile": "http://netpreserve.org/warc/1.1/revisit/server-not-modified"}
    later = first[0]._replace(url=f"http://{SITE}/later", status=304, body=b"")
    unmodified = warc_record(later, "revisit", **referring, WARC_Refers_To_Target_URI=first[0].url)
    unknown = warc_record(first[0]._replace(body=b"other"), "revisit")
    write_warc(project.folder / "a.warc.gz", [*map(warc_record, first), *same, unmodified, unknown])
    lines, said = learned(project, "a.warc.gz")
    assert (urls(lines), said) == ({SITE: 81}, [])
    assert "q.sid" in str(rules(lines)[0]["ops"])


def test_what_sites_declare_and_what_is_transient_is_learned_from_what_is_imported(project):
    fetched = []
    for number in range(30):
        url = f"http://{SITE}/{prose(number, 1).lower()}-{number}"
        body = page(prose(number), canonical=url).encode()
        fetched += [Fetched(url, body), Fetched(f"http://{SITE}/node/{number * 7919}", body)]
        fetched.append(Fetched(f"http://{SITE}/go/{number}", b"", 301, {"Location": url}))
        for visit in range(3):
            left = f"<html><body><p>{prose(number)}<p class=stock>{random.Random(number * 9 + visit).random()} left"
            fetched.append(
                Fetched(f"http://other.test/page/{number}", left.encode(), at=BEGAN + visit * 86_400 + number)
            )
    write_archive(project.folder / "a.warc.gz", fetched)
    learned(project, "a.warc.gz")
    assert '"alias.canonical" = "declared"' in (project.folder / "dedup-rules" / f"{SITE}.toml").read_text()
    assert "stock" in (project.folder / "dedup-rules" / "other.test.mask.toml").read_text()


def test_several_sources_and_folders_in_any_order(project):
    """Sites that are mixed are learned as each alone, and as from memory."""
    rows = [row for number in range(4) for row in digests(responses(12, f"site{number}.test"))]
    # Of one URL two answers, at no time.
    rows += [{"url": row["url"], "fingerprint": f"{number}"} for number, row in enumerate(rows[:9])]
    texts = set()
    for seed in range(2):
        random.Random(seed).shuffle(rows)
        folder = project.folder / f"parts{seed}"
        folder.mkdir()
        write_json_lines(folder / "1.jsonl.gz", rows[:40])
        write_csv(folder / "2.csv", [{"time": "", "status": 200, **row} for row in rows[40:60]])
        (folder / "_SUCCESS").write_text("")
        (folder / ".1.jsonl.gz.crc").write_bytes(b"\x00\x01crc")
        write_json_lines(project.folder / "3.jsonl", rows[60:])
        lines, said = learned(project, folder.name, "3.jsonl")
        assert (urls(lines), said) == ({f"site{number}.test": 24 for number in range(4)}, [])
        texts.add("".join(map(str, rules(lines))))
    assert len(texts) == 1
    found = RuleBook.load(project.folder / "dedup-rules")
    at_once = learn_rules([Observation.from_json(row) for row in rows])
    assert {str(rule) for rule in found} == {str(rule) for rule in at_once}
    done = project.scrapy("learn-rules", "--json", "--from", "3.jsonl", "site1.test", "--dry-run")
    assert urls([json.loads(line) for line in done.stdout.splitlines()]).keys() == {"site1.test"}


# What is damaged


def _lines_changed(path: Path) -> None:
    """Break one line, and a value in the next one."""
    lines = path.read_text().splitlines(keepends=True)
    lines[21] = "{broken\n"
    for right, wrong in ((" 200 ", " OK "), ('"status": 200', '"status": "OK"'), ('"200"', '"OK"'), (";200;", ";OK;")):
        lines[22] = lines[22].replace(right, wrong)
    path.write_text("".join(lines))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 4 // 5])


def _overwritten(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 400] = b"\xff" * 400
    path.write_bytes(data)


def _entries_changed(path: Path) -> None:
    """Take away a file of one entry; another one would run code."""
    entries = sorted(each.parent for each in path.rglob("meta"))
    (entries[20] / "response_body").unlink()
    (entries[21] / "meta").write_text(f"open({str(path / 'made')!r}, 'w')")


@pytest.mark.parametrize(
    ("name", "damage", "said", "least"),
    [
        ("a.jsonl", _lines_changed, ["line 22: not JSON (", "line 23: status is 'OK': it must be an HTTP status"], 78),
        ("a.csv", _lines_changed, ["line 22: it has 1 columns, the header has 4", "line 23: status is 'OK'"], 78),
        ("a.cdx", _lines_changed, ["line 22: it has 1 columns, the header has 11", "line 23: status is 'OK'"], 78),
        ("a.cdxj", _lines_changed, ["line 22: no key, time and JSON object", "line 23: status is 'OK'"], 78),
        ("cache", _entries_changed, ["no whole cached response", "malformed node or string"], 78),
        ("a.jsonl.gz", _cut, ["unreadable after line "], 40),
        ("a.csv.gz", _cut, ["unreadable after line "], 40),
        ("a.cdxj.gz", _cut, ["unreadable after line "], 40),
        ("a.warc", _cut, [": cut off"], 60),
        ("a.warc.gz", _cut, [""], 60),
        ("a.warc.gz", _overwritten, ["unreadable after byte "], 35),
        ("a.parquet", _overwritten, ["unreadable after row "], 20),
    ],
)
def test_what_is_damaged_is_named_and_the_rest_is_read(project, name, damage, said, least):
    path = project.folder / name
    FORMATS[name](path, responses())
    damage(path)
    lines, told = learned(project, name)
    assert least <= urls(lines)[SITE] < 80
    assert len(told) == len(said) + 1
    for line, part in zip(told, said, strict=False):
        assert line.startswith(f"not read: {name}")
        assert part in line
    assert told[-1].startswith(f"{len(said)} of ")
    assert not (path.parent / "cache" / "made").exists()


def test_many_bad_records_are_counted(project):
    write_json_lines(project.folder / "seen.jsonl", [*digests(responses()), *([{"url": "http://a.test/"}] * 30)])
    assert learned(project, "seen.jsonl")[1][5:] == ["not read: 25 more", "30 of 112 records could not be read"]


@pytest.mark.parametrize(
    ("name", "content", "code", "said"),
    [
        ("junk.bin", bytes(range(256)) * 40, 2, "of no format that is known"),
        ("junk.gz", b"\x1f\x8b\x08" + b"junk" * 100, 2, "while decompressing"),
        ("a.zst", b"\x28\xb5\x2f\xfd" + b"x" * 50, 2, "plain or packed by gzip"),
        ("store.sqlite", b"SQLite format 3\0" + b"x" * 200, 2, "DEDUP_STORE"),
        ("text.txt", b"some text of one column\nand more\n", 2, "of no format that is known"),
        ("wrong.csv", b"name,price\nx,1\n", 2, "its columns are name, price: url and fingerprint must be among them"),
        ("wrong.jsonl", b'{"name": 1}\n{"name": 2}\n', 2, "line 1: url is missing"),
        ("array.json", b'[{"url": "http://a.test/", "fingerprint": "x"}]', 2, "line 1: no observation"),
        ("wrong.cdx", b" CDX N b a m s\nx 1 t 200\n", 2, "must have fields for url and digest"),
        ("cut.parquet", b"PAR1" + b"x" * 100, 2, "not a parquet file"),
        ("junk.warc", b"WARC/1.0\r\nnothing", 2, "junk.warc"),
        ("missing.jsonl", None, 2, "No such file"),
        ("empty.csv", b"", 1, "there is no observation in empty.csv"),
        ("empty.gz", gzip.compress(b"", mtime=0), 1, "there is no observation in empty.gz"),
        ("none.cdx", b" CDX a b s k\nhttp://shop.test/ 20260131120000 200 -\n", 1, "left out were: no digest 1"),
    ],
)
def test_a_source_of_which_nothing_is_learned(project, name, content, code, said):
    if content is not None:
        (project.folder / name).write_bytes(content)
    lines, told = learned(project, name, code=code)
    assert (lines, len(told)) == ([], 1)
    assert said in told[0]
    assert name in told[0]
    assert not (project.folder / "dedup-rules").exists()


def test_what_is_not_installed_is_named_and_nothing_else_needs_it(project):
    code = (
        "import sys; sys.modules |= dict.fromkeys(('pyarrow', 'pyarrow.parquet', 'fastwarc', 'fastwarc.warc')); "
        "from scrapy_dedup.learning.__main__ import main; sys.exit(main(['--dir', 'rules', '--from', sys.argv[1]]))"
    )
    write_parquet(project.folder / "parquet", digests(responses()))
    write_archive(project.folder / "warc", responses())
    for extra in ("parquet", "warc"):
        assert f"pip install 'scrapy-dedup[{extra}]'" in project.python("-c", code, extra).stderr
    write_cache(project.folder / "cache", responses())
    assert json.loads(project.python("-c", code, "cache").stdout)["rules"] == 1
