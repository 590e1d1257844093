"""Rules from logs, archives and caches: every format end to end, and what is damaged."""

import gzip
import json
import random
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scrapy.extensions.httpcache import FilesystemCacheStorage
from scrapy.http import Headers, Request
from scrapy.responsetypes import responsetypes

from scrapy_dedup.commands.inputs.observation_sources import scrapys_encoding
from scrapy_dedup.content.versions import packed_version
from scrapy_dedup.crawl.observe.store_rows import page_row
from scrapy_dedup.learning.__main__ import main as learn_as_a_process
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.learning.learning_options import LearningOptions
from scrapy_dedup.observation import Observation
from scrapy_dedup.sources.bodies import PageError, decompressed
from scrapy_dedup.sources.pages import PageReader
from scrapy_dedup.sources.reading import Reading
from scrapy_dedup.sources.records import ReadOptions, SourceError
from scrapy_dedup.sources.spill import Spill
from scrapy_dedup.store.rows import ObservationRow

from .server import page, prose
from .source_files import (
    BEGAN,
    SITE,
    Fetched,
    digests,
    responses,
    revisit,
    warc_records,
    write_cache,
    write_cdx,
    write_cdxj,
    write_csv,
    write_json_lines,
    write_warc,
)

Write = Callable[[Path, list[Fetched]], Path]


def _parquet(path: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    pyarrow = pytest.importorskip("pyarrow", reason="Parquet is read by pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=30, **options)
    return path


def _warc(path: Path, fetched: list[Fetched]) -> Path:
    pytest.importorskip("fastwarc", reason="WARC is read by FastWARC")
    return write_warc(path, warc_records(fetched))


#: Sources that hold a digest of each content.
DIGESTS: dict[str, Write] = {
    "seen.jsonl": lambda path, fetched: write_json_lines(path, digests(fetched)),
    "seen.jsonl.gz": lambda path, fetched: write_json_lines(path, digests(fetched)),
    "seen.csv": lambda path, fetched: write_csv(path, digests(fetched)),
    "seen.csv.gz": lambda path, fetched: write_csv(path, digests(fetched)),
    "seen.parquet": lambda path, fetched: _parquet(path, digests(fetched)),
    "all.cdx": write_cdx,
    "all.cdxj": write_cdxj,
}
#: Sources that hold pages.
PAGES: dict[str, Write] = {
    "all.warc": _warc,
    "all.warc.gz": _warc,
    "cache": lambda path, fetched: write_cache(path, fetched, FilesystemCacheStorage),
    "packed": lambda path, fetched: write_cache(path, fetched, FilesystemCacheStorage, HTTPCACHE_GZIP=True),
}


def learned(project: Any, *args: str, fresh: bool = False) -> tuple[list[dict[str, Any]], str]:
    """What a command has learned: its lines of JSON but for the notes, and what it said on standard error."""
    done = project.scrapy("learn-rules", "--json", *args, fresh=fresh)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for line in lines:
        line.pop("notes", None)
        line.pop("changes", None)
    return lines, done.stderr


def complaints(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if not line.startswith("learning from ")]


def as_recorded(fetched: list[Fetched]) -> list[dict[str, Any]]:
    """What a crawl records of responses, as fields of observations."""
    rows = []
    for each in fetched:
        row = _row_of_a_crawl(each)
        prints = row.fingerprints
        rows.append(
            {"url": each.url, "fingerprint": prints.text if prints else "", "status": each.status}
            | {"bag": prints and prints.bag, "words": prints and prints.words, "length": row.length}
            | {"password": row.password, "ends": row.ends, "redirect": row.redirect}
        )
    return rows


def _row_of_a_crawl(each: Fetched) -> ObservationRow:
    headers = Headers({name.encode(): value.encode() for name, value in each.headers.items()})
    made = responsetypes.from_args(headers=headers, url=each.url, body=each.body)
    response = made(each.url, status=each.status, headers=headers, body=each.body, request=Request(each.url))
    base = ObservationRow("", SITE, each.url, float(each.at), each.status)
    if each.status != 200:
        location = each.headers.get("Location")
        return base._replace(redirect=location and response.urljoin(location))
    return page_row(response, base, 1 << 20)


@pytest.mark.parametrize("name", DIGESTS)
def test_digests(project, name):
    fetched = responses()
    path = DIGESTS[name](project.folder / name, fetched)
    lines, stderr = learned(project, "--from", str(path))
    assert complaints(stderr) == []
    assert ["rule", "site"] == sorted({line["type"] for line in lines})
    want = write_json_lines(project.folder / "same.jsonl", digests(fetched))
    file = project.folder / "dedup-rules" / f"{SITE}.toml"
    text = file.read_text()
    file.unlink()
    assert "q.sid" in text
    assert lines == learned(project, "--from", str(want))[0]
    assert file.read_text() == text


@pytest.mark.parametrize("name", PAGES)
def test_pages(project, name):
    fetched = [each for each in responses() if each.status == 200]
    path = PAGES[name](project.folder / name, fetched)
    lines, stderr = learned(project, "--from", str(path))
    assert complaints(stderr) == []
    want = write_json_lines(project.folder / "same.jsonl", as_recorded(fetched))
    (project.folder / "dedup-rules" / f"{SITE}.toml").unlink()
    same, _ = learned(project, "--from", str(want))
    assert [_without_dates(line) for line in lines] == [_without_dates(line) for line in same]
    assert "q.sid" in (project.folder / "dedup-rules" / f"{SITE}.toml").read_text()


def _without_dates(line: dict[str, Any]) -> dict[str, Any]:
    """A line without what depends on when pages were seen: a feed does not tell."""
    text = json.dumps(line)
    found: dict[str, Any] = json.loads(text)
    for part in (found, found.get("evidence") or {}, found.get("rule") or {}):
        for name in ("since", "until", "first", "last", "evidence"):
            part.pop(name, None)
    return found


TRICKY = [
    Fetched("http://a.test/", page(prose(1), canonical="/canonical").encode()),
    Fetched("http://a.test/latin", "<html><body>é ü".encode("latin-1") + prose(2).encode(), headers={}),
    Fetched(
        "http://a.test/bom", b"\xef\xbb\xbf" + page("é " + prose(3)).encode(), headers={"Content-Type": "text/html"}
    ),
    Fetched(
        "http://a.test/meta", b'<html><meta charset="windows-1251"><p>' + ("привет " + prose(4)).encode("cp1251")
    )._replace(headers={"Content-Type": "text/html"}),
    Fetched(
        "http://a.test/cp1252", b"<html><p>\x93quoted\x94 " + prose(5).encode(), headers={"Content-Type": "text/html"}
    ),
    Fetched("http://a.test/json", b'{"b": 1.50, "a": [true]}', headers={"Content-Type": "application/json"}),
    Fetched("http://a.test/plain", b"plain <html>", headers={"Content-Type": "text/plain"}),
    Fetched("http://a.test/page.html", page(prose(6)).encode(), headers={}),
    Fetched("http://a.test/page.html", page(prose(6)).encode(), headers={"Content-Type": "application/octet-stream"}),
    Fetched("http://a.test/untyped", b"\n<!-- x --><HTML><p>" + prose(7).encode(), headers={}),
    Fetched("http://a.test/image", b"\x89PNG\r\n\x1a\n\x00\x00", headers={"Content-Type": "image/png"}),
    Fetched("http://a.test/image.png", b"\x89PNG\r\n\x1a\n\x00\x00", headers={}),
    Fetched("http://a.test/password", b"<html><form><input type=password></form>" + prose(8).encode()),
    Fetched("http://a.test/empty", b""),
    Fetched("http://a.test/xhtml", page(prose(9)).encode(), headers={"Content-Type": "application/xhtml+xml"}),
    Fetched("http://a.test/big", page(prose("big", 130_000)).encode()),
    Fetched(
        "http://a.test/headers",
        page(prose(10)).encode(),
        headers={"Content-Type": "text/html", "ETag": '"1"', "Link": '</other>; rel="canonical"', "Vary": "Accept"},
    ),
    Fetched("http://a.test/gone", b"gone", 404),
    Fetched("http://a.test/moved", b"", 302, {"Location": "next?x=1"}),
]


@pytest.mark.parametrize("each", TRICKY, ids=lambda each: each.url.rpartition("/")[2])
def test_a_page_is_recorded_as_in_a_crawl(each):
    row = _row_of_a_crawl(each)
    prints = row.fingerprints
    named = {name.lower(): value for name, value in each.headers.items()}
    reader = PageReader(encoding_of=scrapys_encoding)
    seen = reader.observation(
        each.url,
        each.status,
        lambda name: [named[name.lower()]] if name.lower() in named else [],
        each.body,
        at=float(each.at),
    )
    assert seen is not None
    assert (seen.fingerprint, seen.bag) == ((prints.text, prints.bag) if prints else ("", None))
    assert (seen.status, seen.time, seen.redirect) == (row.status, row.time, row.redirect)
    assert (seen.canonical, seen.headers, seen.password) == (row.canonical, row.headers, row.password)
    assert (seen.length, seen.words) == (row.length, prints.words if prints else None)
    assert seen.sketch == (prints.sketch if prints else None)


def read(*paths: Path, **options: Any) -> tuple[list[Observation], Reading]:
    reading = Reading([str(path) for path in paths], ReadOptions(**options))
    return list(reading.observations()), reading


@pytest.mark.parametrize("name", PAGES)
def test_redirects_and_errors_in_archives_and_caches(tmp_path, name):
    fetched = responses(2)
    seen, reading = read(PAGES[name](tmp_path / name, fetched))
    assert not reading.bad
    found = {each.url: each for each in seen}
    assert found.keys() == {each.url for each in fetched}
    assert found[f"http://{SITE}/old"].redirect == f"http://{SITE}/view?id=1"
    assert (found[f"http://{SITE}/gone"].status, found[f"http://{SITE}/gone"].fingerprint) == (404, "")
    times = {each.time for each in seen}
    assert None not in times
    if name.startswith("all"):
        assert times == {float(each.at) for each in fetched}


def test_below_a_spider_of_a_cache(tmp_path):
    folder = write_cache(tmp_path / "cache", responses(2), FilesystemCacheStorage)
    (spider,) = folder.iterdir()
    assert len(read(spider)[0]) == len(read(folder)[0]) == 6


def _zstandarded(body: bytes) -> bytes:
    zstandard = pytest.importorskip("zstandard", reason="Zstandard is packed by zstandard")
    packed: bytes = zstandard.ZstdCompressor().compress(body)
    return packed


def _brotlied(body: bytes) -> bytes:
    brotli = pytest.importorskip("brotli", reason="Brotli is packed by brotli")
    packed: bytes = brotli.compress(body)
    return packed


ENCODINGS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "gzip": (gzip.compress, ""),
    "deflate": (zlib.compress, ""),
    "br": (_brotlied, "brotli"),
    "zstd": (_zstandarded, "zstandard"),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_compressed_bodies_are_unpacked(tmp_path, monkeypatch, name):
    pytest.importorskip("fastwarc", reason="WARC is read by FastWARC")
    pack, package = ENCODINGS[name]
    body = page(prose(1)).encode()
    plain = Fetched(f"http://{SITE}/a", body)
    headers = {**plain.headers, "Content-Encoding": name}
    packed = plain._replace(url=f"http://{SITE}/b", body=pack(body), headers=headers)
    unknown = packed._replace(url=f"http://{SITE}/c", headers={**plain.headers, "Content-Encoding": "compress"})
    archive = _warc(tmp_path / "a.warc.gz", [plain, packed, unknown])
    both, reading = read(archive)
    assert len({each.fingerprint for each in both}) == 1
    assert len(both) == 2
    assert "its Content-Encoding is compress: only gzip, " in reading.examples[0].why
    cache = write_cache(tmp_path / "cache", [plain, packed], FilesystemCacheStorage)
    assert len({each.fingerprint for each in read(cache)[0]}) == 1
    with pytest.raises(PageError, match="cut off"):
        decompressed(pack(body)[:-20], [name])
    with pytest.raises(PageError, match=f"no {name}"):
        decompressed(b"something else", [name])
    if package:
        monkeypatch.setitem(sys.modules, package, None)
        _, reading = read(cache)
        assert (reading.records, reading.bad) == (1, 1)
        assert (
            reading.examples[0].why == f"its Content-Encoding is {name}, which needs {package}: pip install {package}"
        )


def test_what_an_archive_has_kept_once_is_read_of_each_url(tmp_path):
    """Revisits: of the same payload, under another URL or later, and of what was not modified."""
    pytest.importorskip("fastwarc", reason="WARC is read by FastWARC")
    original = Fetched(f"http://{SITE}/view?id=1", page(prose(1)).encode())
    other = original._replace(url=f"http://{SITE}/view?id=1&sid=f", at=BEGAN + 60)
    again = original._replace(at=BEGAN + 3_600)
    unknown = Fetched(f"http://{SITE}/view?id=2", page(prose(2)).encode())
    records = [
        *warc_records([original]),
        revisit(other, original),
        revisit(again, original, profile="server-not-modified"),
        revisit(unknown, unknown),
    ]
    seen, reading = read(write_warc(tmp_path / "all.warc.gz", records))
    assert [(each.url, each.time) for each in seen] == [(each.url, each.at) for each in (original, other, again)]
    assert len({(each.fingerprint, each.bag, each.words) for each in seen}) == 1
    assert reading.bad == 0
    assert reading.left_out["revisit record of a response that was not read before"] == 1


def test_what_sites_declare_is_learned_from_what_is_imported(project):
    """Redirects and canonical URLs, as in a crawl: kinds of aliases with their evidence."""
    fetched = []
    for number in range(30):
        name = prose(number, 1).lower()
        url = f"http://{SITE}/{name}-{number}"
        body = page(prose(number), canonical=url).encode()
        fetched += [Fetched(url, body), Fetched(f"http://{SITE}/node/{number * 7919}", body)]
        fetched.append(Fetched(f"http://{SITE}/go/{number}", b"", 301, {"Location": url}))
    write_cache(project.folder / "cache", fetched, FilesystemCacheStorage)
    learned(project, "--from", "cache")
    text = (project.folder / "dedup-rules" / f"{SITE}.toml").read_text()
    assert '"alias.canonical" = "declared"' in text


@pytest.mark.parametrize("name", [*DIGESTS, *PAGES])
def test_learning_as_a_process_reads_all_formats(tmp_path, capsys, name):
    fetched = [each for each in responses() if each.status == 200]
    path = (DIGESTS | PAGES)[name](tmp_path / name, fetched)
    assert learn_as_a_process(["--from", str(path), "--dir", str(tmp_path / "rules")]) == 0
    assert json.loads(capsys.readouterr().out)["rules"] == 1
    assert "q.sid" in (tmp_path / "rules" / f"{SITE}.toml").read_text()


def test_the_order_of_records_makes_no_difference(tmp_path, capsys):
    rows = digests(responses())
    # Of one URL two answers, at no time.
    rows += [{"url": row["url"], "fingerprint": f"{number}"} for number, row in enumerate(rows[:9])]
    texts = set()
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        folder = tmp_path / str(seed)
        path = write_json_lines(tmp_path / f"{seed}.jsonl", rows)
        assert learn_as_a_process(["--from", str(path), "--dir", str(folder)]) == 0
        texts.add((folder / f"{SITE}.toml").read_text())
    assert len(texts) == 1


def test_transient_content_is_learned_from_an_archive_of_several_visits(project):
    pytest.importorskip("fastwarc", reason="WARC is read by FastWARC")
    fetched = [
        Fetched(
            f"http://{SITE}/page/{number}",
            (
                f"<html><body><p>{prose(number)}</p><p class=stock>{random.Random(number * 9 + visit).random()} left</p>"
                "</body></html>"
            ).encode(),
            at=BEGAN + visit * 86_400 + number,
        )
        for visit in range(3)
        for number in range(30)
    ]
    _warc(project.folder / "all.warc.gz", fetched)
    learned(project, "--from", "all.warc.gz")
    assert "stock" in (project.folder / "dedup-rules" / f"{SITE}.mask.toml").read_text()


def test_standard_input(project):
    text = write_json_lines(project.folder / "seen.jsonl", digests(responses())).read_text()
    done = project.scrapy("learn-rules", "--from", "-", stdin=text, fresh=True)
    assert done.returncode == 0, done.stderr
    assert "q.sid" in done.stdout
    done = project.learning("--from", "-", "--dir", "elsewhere", stdin=text)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rules"] == 1
    assert "q.sid" in (project.folder / "elsewhere" / f"{SITE}.toml").read_text()


@pytest.mark.parametrize("name", ["seen.jsonl.gz", "seen.parquet", "all.warc.gz", "all.cdx"])
def test_bytes_on_standard_input(project, name):
    fetched = [each for each in responses() if each.status == 200]
    path = (DIGESTS | PAGES)[name](project.folder / name, fetched)
    done = project.scrapy("learn-rules", "--from", "-", stdin=path.read_bytes())
    assert done.returncode == 0, done.stderr
    assert complaints(done.stderr) == []
    assert "q.sid" in (project.folder / "dedup-rules" / f"{SITE}.toml").read_text()


def test_several_sources_and_folders_of_files(project):
    fetched = responses()
    folder = project.folder / "parts"
    folder.mkdir()
    write_json_lines(folder / "part-1.jsonl.gz", digests(fetched[:40]))
    write_csv(folder / "part-2.csv", digests(fetched[40:]))
    (folder / "_SUCCESS").write_text("")
    (folder / ".part-1.jsonl.gz.crc").write_bytes(b"\x00\x01crc")
    other = write_json_lines(project.folder / "other.jsonl", digests(responses(site="other.test")))
    lines, stderr = learned(project, "--from", "parts", "--from", str(other))
    assert complaints(stderr) == []
    assert [line["site"] for line in lines if line["type"] == "site"] == ["other.test", SITE]
    lines, _ = learned(project, "--from", "parts", "--from", str(other), SITE)
    assert [line["site"] for line in lines if line["type"] == "site"] == [SITE]


def test_sites_are_learned_from_the_spill_as_from_memory():
    rows = [row for number in range(6) for row in digests(responses(12, f"site{number}.test"))]
    rows += digests(responses(3, "small.test"))
    seen = [Observation.from_json(row) for row in rows]
    from scrapy_dedup.learning.alternation import learn_rules_and_masks
    from scrapy_dedup.learning.imported import ImportedEvidence
    from scrapy_dedup.rules import RuleBook

    options = LearningOptions(diagnose=True)
    at_once = learn(seen, options)
    with Spill() as spill:
        assert spill.add_all(seen) == len(seen)
        by_site = learn_rules_and_masks(ImportedEvidence(spill), options, known=RuleBook()).learned
    assert {str(rule) for rule in by_site.book} == {str(rule) for rule in at_once.book}
    assert sorted(map(str, by_site.reports)) == sorted(map(str, at_once.reports))


def test_nested_sites_that_are_not_observed_are_not_held(monkeypatch):
    """A site that leads to any number of others makes learning no larger than the sites that are learned."""
    from scrapy_dedup.learning import imported

    asked = []

    def noted(urls, *more):
        asked.append(len(urls))
        return inner_sites(urls, *more)

    inner_sites = imported.inner_sites
    monkeypatch.setattr(imported, "inner_sites", noted)
    seen = [Observation(f"http://out.test/?url=http%3A%2F%2Fsite{n}.test%2F", f"{n}") for n in range(300)]
    seen += [Observation(f"http://site{n}.test/", f"{n}") for n in (7, 8)]
    with Spill() as spill:
        spill.add_all(seen)
        nested = imported.ImportedEvidence(spill).nested
    assert nested == {"out.test": {"site7.test", "site8.test"}, "site7.test": set(), "site8.test": set()}
    assert list(nested)[-1] == "out.test"
    assert set(asked) == {1}  # URLs are not gathered, however many a site has


def test_a_spill_gives_back_what_it_took():
    version = PageReader(pack=packed_version)
    seen = [
        Observation(
            "http://a.test/é",
            "f",
            canonical="http://a.test/\ud800",
            words=3,
            headers={"etag": "1"},
            password=True,
            ends=False,
        ),
        Observation("http://a.test/b", "", status=301, redirect="http://a.test/c", time=2.5),
        Observation("no url", "f"),
    ]
    one = version.observation("http://a.test/c", 200, lambda _: [], page(prose(1)).encode(), at=1.0)
    assert one is not None
    assert one.version is not None
    seen.append(one)
    with Spill() as spill:
        assert spill.add_all(seen, {"a.test"}) == 3
        back = list(spill.observations("a.test"))
        assert spill.has_versions("a.test")
        assert [each.version for each in spill.observations("a.test", versions=False)] == [None] * 3
    assert back == [seen[0], seen[1], seen[3]]
    assert back[2].version == one.version


# What is damaged


@pytest.mark.parametrize("name", ["seen.jsonl.gz", "seen.csv.gz", "all.warc.gz"])
def test_a_file_that_is_cut_off(project, name):
    fetched = responses()
    path = (DIGESTS | PAGES)[name](project.folder / name, fetched)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 4 // 5])
    _, stderr = learned(project, "--from", name)
    told = complaints(stderr)
    assert len(told) == 2
    assert told[0].startswith(f"not read: {name}, ")
    assert told[1].startswith("1 of ")
    assert "q.sid" in (project.folder / "dedup-rules" / f"{SITE}.toml").read_text()


def _damaged(path: Path, name: str) -> tuple[Path, str]:
    """Write a file of 42 responses of which those in the middle are damaged; return it, and what is to be said."""
    fetched = responses(20)
    if name.endswith("jsonl"):
        lines = [json.dumps(row) + "\n" for row in digests(fetched)]
        lines[20:22] = ["{broken\n", '{"url": "http://shop.test/", "fingerprint": 7}\n']
        path.write_text("".join(lines))
        return path, "line 21: not JSON"
    if name.endswith("csv"):
        lines = write_csv(path, digests(fetched)).read_text().splitlines(keepends=True)
        lines[21:23] = ["http://shop.test/,1\n", "http://shop.test/,1,two hundred,1\n"]
        path.write_text("".join(lines))
        return path, "line 22: it has 2 columns"
    if name.endswith("cdx"):
        lines = write_cdx(path, fetched).read_text().splitlines(keepends=True)
        lines[21:23] = ["broken\n", lines[21].replace(" 200 ", " OK ")]
        path.write_text("".join(lines))
        return path, "line 22: it has 1 fields"
    if name.endswith("cdxj"):
        lines = write_cdxj(path, fetched).read_text().splitlines(keepends=True)
        lines[20:22] = ["broken\n", lines[20].replace('"200"', '"OK"')]
        path.write_text("".join(lines))
        return path, "line 21: no key"
    if name == "cache":
        write_cache(path, fetched, FilesystemCacheStorage)
        entries = sorted(each.parent for each in path.rglob("pickled_meta"))
        (entries[20] / "response_body").unlink()
        (entries[21] / "pickled_meta").write_bytes(b"cbuiltins\neval\n(V1\ntR.")
        return path, "No such file"
    if name.endswith("parquet"):
        rows = digests(fetched)
        rows[20] |= {"fingerprint": None}
        rows[21] |= {"url": ""}
        return _parquet(path, rows), "row 21: fingerprint of"
    pytest.importorskip("fastwarc", reason="WARC is read by FastWARC")
    records = warc_records(fetched)
    packed = [gzip.compress(each) if name.endswith("gz") else each for each in records]
    packed[20:22] = [b"\x00\xff" * 300, packed[21][:60]]
    path.write_bytes(b"".join(packed))
    return path, "damaged"


@pytest.mark.parametrize(
    "name",
    [*("a.jsonl", "a.csv", "a.cdx", "a.cdxj", "a.parquet", "a.warc", "a.warc.gz", "cache")],
)
def test_broken_records_in_the_middle(tmp_path, name):
    path, said = _damaged(tmp_path / name, name)
    seen, reading = read(path)
    assert said in str(reading.examples[0])
    assert 1 <= reading.bad <= 2
    whole = 40 if name in ("a.jsonl", "a.csv", "a.cdx", "a.cdxj", "a.parquet", "cache") else 38
    assert len(seen) >= whole - (1 if "warc" in name else 0)
    assert str(reading.examples[0]).startswith(str(tmp_path))


def test_a_damaged_row_group(tmp_path):
    path = _parquet(tmp_path / "a.parquet", digests(responses()), compression="snappy", use_dictionary=False)
    data = bytearray(path.read_bytes())
    start = len(data) // 2
    data[start : start + 400] = b"\xff" * 400
    path.write_bytes(data)
    seen, reading = read(path)
    assert 20 <= len(seen) < 82
    assert reading.bad >= 1


def test_many_bad_records_are_counted(project):
    rows: list[Any] = [*digests(responses()), *([{"url": "http://a.test/"}] * 30)]
    write_json_lines(project.folder / "seen.jsonl", rows)
    told = complaints(learned(project, "--from", "seen.jsonl")[1])
    assert len(told) == 7
    assert told[5:] == ["not read: 25 more", "30 of 112 records could not be read"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("junk.bin", bytes(range(256)) * 40, "of no format that is known"),
        ("junk.jsonl", b"\x00\xff\x00" * 400, "of no format that is known"),
        ("junk.gz", b"\x1f\x8b\x08" + b"junk" * 100, "damaged from the start"),
        ("wrong.csv", b"name,price\nx,1\n", "its columns are name, price"),
        ("wrong.jsonl", b'{"name": 1}\n{"name": 2}\n', "line 1: no observation"),
        ("array.json", b'[{"url": "http://a.test/", "fingerprint": "x"}]', "line 1: no observation"),
        ("wrong.cdx", b" CDX N b m s\nx 1 t 200\n", "no field for url and digest"),
        ("cut.parquet", b"PAR1" + b"x" * 100, "no whole Parquet file"),
        ("junk.warc", b"WARC/1.0\r\nnothing", "junk.warc"),
        ("text.txt", b"some text of one column\nand more\n", "of no format that is known"),
        ("a.zst", b"\x28\xb5\x2f\xfd" + b"x" * 50, "zstd -dc"),
        ("store.sqlite", b"SQLite format 3\0" + b"x" * 200, "DEDUP_STORE"),
    ],
)
def test_a_source_of_which_nothing_can_be_read(project, name, content, said):
    if name == "cut.parquet":
        pytest.importorskip("pyarrow", reason="Parquet is read by pyarrow")
    if name == "junk.warc":
        pytest.importorskip("fastwarc", reason="WARC is read by FastWARC")
    (project.folder / name).write_bytes(content)
    done = project.scrapy("learn-rules", "--from", name)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert said in done.stderr
    assert name in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done = project.learning("--from", name, "--dir", "rules")
    assert done.returncode == 1
    assert said in done.stderr


@pytest.mark.parametrize("name", ["empty.jsonl", "empty.csv", "empty.warc.gz", "empty.parquet", "folder"])
def test_an_empty_source(project, name):
    path = project.folder / name
    if name == "folder":
        path.mkdir()
    else:
        path.write_bytes(gzip.compress(b"") if name.endswith("gz") else b"")
    done = project.scrapy("learn-rules", "--from", name)
    assert done.returncode == 1, done.stderr
    assert done.stderr == f"learn-rules: there is no observation in {name}\n"


def test_what_is_left_out_is_told_where_nothing_is_left(project):
    (project.folder / "a.cdx").write_text(" CDX N b a m s k\nx 20260131120000 http://shop.test/ text/html 200 -\n")
    done = project.scrapy("learn-rules", "--from", "a.cdx")
    assert done.returncode == 1
    assert "left out were: no digest 1" in done.stderr


def test_what_is_not_installed_is_named(project):
    """Without pyarrow and FastWARC."""
    project.write(
        "without.py",
        "import sys; sys.modules['pyarrow'] = sys.modules['fastwarc'] = sys.modules['fastwarc.warc'] = None; "
        "from scrapy.cmdline import execute\n"
        "for name in sys.argv[1:]:\n"
        "    try: execute(['scrapy', 'learn-rules', '--from', name])\n"
        "    except SystemExit as end: print(end.code)\n",
    )
    files = {"a.parquet": (b"PAR1....", "parquet"), "a.warc": (b"WARC/1.0\r\n", "warc")}
    for name, (content, _) in files.items():
        (project.folder / name).write_bytes(content)
    done = project.module("without", *files)
    assert done.stdout.split() == ["2", "2"], done.stderr
    for _, extra in files.values():
        assert f"pip install 'scrapy-dedup[{extra}]'" in done.stderr


def test_nothing_is_imported_that_is_not_asked_for(project):
    write_json_lines(project.folder / "seen.jsonl", digests(responses(2)))
    code = (
        "import sys; from scrapy_dedup.learning.__main__ import main; main(sys.argv[1:]); "
        "print([name for name in sys.modules if name.startswith(('pyarrow', 'fastwarc', 'scrapy.'))])"
    )
    done = project.python("-c", code, "--from", "seen.jsonl", "--dir", "rules")
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
    code = (
        "import sys, scrapy_dedup.crawl.composition, scrapy_dedup.learning.__main__; "
        "print([name for name in sys.modules if name.startswith(('pyarrow', 'fastwarc', 'scrapy_dedup.sources'))])"
    )
    assert project.python("-c", code).stdout == "[]\n"


def test_pickles_run_no_code(tmp_path):
    folder = write_cache(tmp_path / "cache", responses(1), FilesystemCacheStorage)
    entry = next(folder.rglob("pickled_meta"))
    made = tmp_path / "made"
    entry.write_bytes(f"cpathlib\nPath\n(V{made}\ntRp0\n0cbuiltins\nopen\n(V{made}\nVw\ntR.".encode())
    _, reading = read(folder)
    assert "is not read" in reading.examples[0].why
    assert not made.exists()


def test_a_source_error_names_what_is_wrong(tmp_path):
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match=r"nothing of .*bad\.csv can be read"):
        read(tmp_path / "bad.csv")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_the_spill_is_private_and_goes_away():
    with Spill() as spill:
        folder = Path(spill._folder.name)
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()
