"""Learning from files that others have written: records per second of each format, and peak memory.

    python -m tests.benchmarks.imports [--records 100000] [--sites 2000] [--only FORMAT]...

Each format is read in a process of its own, from a file that is made first, into the file that sites are learned from.
The last rows learn all sites from JSON lines and from a web archive. An HTTP cache of files has a tenth of the records, and is named so.
"""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from time import perf_counter

from .command import Arguments, Command, option, scratch
from .crawling.serving import ROOT
from .scoring.checks import print_table, rate
from .timing.learning import peak_mb

BEGAN = 1_769_860_800
#: Records of a made-up archive that are made of one page.
COPIES = 2


@dataclass(frozen=True, slots=True)
class Import:
    """What reading a file took."""

    kind: str
    records: int
    mb: float
    read_seconds: float
    learn_seconds: float | None
    before_mb: float
    peak_mb: float
    rules: int | None


def rows(records: int, sites: int) -> Iterator[tuple[str, str, int]]:
    """Yield (URL, digest, time): each page under two session ids, the sites mixed as in the log of a broad crawl."""
    for number in range(records):
        site, of_site = number % sites, number // sites
        page, copy = divmod(of_site, COPIES)
        sid = (number * 2654435761 + copy) % (1 << 64)
        yield f"http://site{site}.test/view?id={page}&sid={sid:016x}", f"{site:016x}{page:016x}", BEGAN + number


def html(digest: str) -> str:
    """A page of some hundred words."""
    words = " ".join(f"w{digest[-8:]}x{number}" for number in range(100))
    links = "".join(f'<li><a href="/view?id={number}">page {number}</a></li>' for number in range(20))
    return f"<html><head><title>{digest}</title></head><body><ul>{links}</ul><p>{words}</p></body></html>"


def _lines(line: Callable[[str, str, int], str], head: str = "") -> Callable[[Path, int, int], None]:
    """Return what writes a line for each record."""

    def write(path: Path, records: int, sites: int) -> None:
        with gzip.open(path, "wt", compresslevel=1) as file:
            file.write(head)
            file.writelines(f"{line(*row)}\n" for row in rows(records, sites))

    return write


def _parquet(path: Path, records: int, sites: int) -> None:
    import pyarrow
    from pyarrow import parquet

    urls, digests, times = zip(*rows(records, sites), strict=True)
    moments = [datetime.fromtimestamp(at, timezone.utc) for at in times]
    table = {"url": urls, "fingerprint": digests, "time": moments, "status": [200] * records}
    parquet.write_table(pyarrow.table(table), path)


def _warc(path: Path, records: int, sites: int) -> None:
    with path.open("wb") as file:
        for url, digest, at in rows(records, sites):
            content = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{html(digest)}"
            moment = datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            head = (
                f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {moment}\r\n"
                f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(content)}\r\n\r\n"
            )
            file.write(gzip.compress(f"{head}{content}\r\n\r\n".encode(), 1))


def _cache(path: Path, records: int, sites: int) -> None:
    for number, (url, digest, at) in enumerate(rows(records, sites)):
        folder = path / "spider" / f"{number % 256:02x}" / f"{number:040x}"
        folder.mkdir(parents=True)
        meta = {"url": url, "method": "GET", "status": 200, "response_url": url, "timestamp": float(at)}
        (folder / "meta").write_text(repr(meta))
        (folder / "request_body").touch()
        (folder / "response_headers").write_bytes(b"Content-Type: text/html; charset=utf-8")
        (folder / "response_body").write_text(html(digest))


def _stamp(at: int) -> str:
    return datetime.fromtimestamp(at, timezone.utc).strftime("%Y%m%d%H%M%S")


FORMATS: dict[str, tuple[str, Callable[[Path, int, int], None]]] = {
    "JSON lines": (
        "seen.jsonl.gz",
        _lines(lambda url, name, at: json.dumps({"url": url, "fingerprint": name, "time": float(at), "words": 200})),
    ),
    "CSV": ("seen.csv.gz", _lines(lambda *row: ",".join(map(str, (*row, 200))), "url,fingerprint,time,words\n")),
    "Parquet": ("seen.parquet", _parquet),
    "CDX": (
        "all.cdx.gz",
        _lines(
            lambda url, name, at: f"x {_stamp(at)} {url} text/html 200 {name} - - 512 0 a.warc.gz",
            " CDX N b a m s k r M S V g\n",
        ),
    ),
    "CDXJ": (
        "all.cdxj.gz",
        _lines(
            lambda url, name, at: (
                f"x {_stamp(at)} {json.dumps({'url': url, 'mime': 'text/html', 'status': '200', 'digest': name})}"
            )
        ),
    ),
    "WARC": ("all.warc.gz", _warc),
    "HTTP cache": ("cache", _cache),
}
LEARNED = ("JSON lines", "WARC")


def _peak_mb() -> float:
    """Return the most memory of this process; what getrusage tells begins with that of the process that has started it."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return peak_mb()


def read(kind: str, path: Path, *, learning: bool) -> Import:
    """Read a source in this process, and learn from it if asked to."""
    from scrapy_dedup.learning.alternation import learn_rules_and_masks
    from scrapy_dedup.learning.imported import ImportedEvidence
    from scrapy_dedup.pages.versions import packed
    from scrapy_dedup.rules import RuleBook
    from scrapy_dedup.sources.pages import PageReader
    from scrapy_dedup.sources.reading import Reading

    before = _peak_mb()
    reading = Reading([str(path)], PageReader(pack=packed))
    with ImportedEvidence() as evidence:
        start = perf_counter()
        evidence.add_all(reading.observations())
        middle = perf_counter()
        rules = None
        if learning:
            rules = len(list(learn_rules_and_masks(evidence, known=RuleBook()).learned.book))
        end = perf_counter()
    most = _peak_mb()  # to find the files of a cache takes memory, too
    size = (
        sum(each.stat().st_size for each in path.rglob("*") if each.is_file()) if path.is_dir() else path.stat().st_size
    )
    return Import(
        kind,
        reading.records,
        size / 1e6,
        middle - start,
        end - middle if learning else None,
        before,
        most,
        rules,
    )


def measure(kind: str, path: Path, *, learning: bool = False) -> Import:
    """Read a source in a process of its own. Raises RuntimeError."""
    command = [sys.executable, "-m", "tests.benchmarks.imports", "--read", kind, str(path)]
    done = subprocess.run(
        [*command, *(["--learn"] if learning else [])], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"reading {kind} failed:\n{done.stderr[-4000:]}")
    return Import(**json.loads(done.stdout))


def measured(args: Arguments) -> list[Import]:
    """Make a file of each format, and read it."""
    found = []
    with scratch() as folder:
        for kind in args.only or FORMATS:
            name, write = FORMATS[kind]
            path = folder / name
            records = args.records // 10 if write is _cache else args.records
            write(path, records, min(args.sites, records // 10))
            found += [measure(kind, path, learning=learning) for learning in (False, True)[: 1 + (kind in LEARNED)]]
            if path.is_file():
                path.unlink()
    return sorted(found, key=lambda each: each.rules is not None)


def show(args: Arguments, found: Sequence[Import]) -> None:
    """Print a table."""
    shown = [
        (
            *(each.kind + (", learned" if each.rules is not None else ""), each.records, f"{each.mb:.0f}"),
            *(f"{each.read_seconds:.1f}", f"{each.records / each.read_seconds:,.0f}"),
            *(rate(each.learn_seconds, 0), "-" if each.rules is None else each.rules),
            *(f"{each.before_mb:.0f}", f"{each.peak_mb:.0f}"),
        )
        for each in found
    ]
    columns = ("format", "records", "MB", "seconds", "records/s", "learning s", "rules", "MB before", "MB peak")
    print_table(f"reading {args.records:,} records of {args.sites:,} sites", columns, shown)


main = Command(
    __doc__,
    [
        option("--records", type=int, default=100_000, help="of each file: 1000000 and 3000000 take longer"),
        option("--sites", type=int, default=2_000),
        option("--only", action="append", choices=FORMATS, help="this format (may be repeated)"),
    ],
    measure=measured,
    show=show,
)

if __name__ == "__main__":
    if sys.argv[1:2] != ["--read"]:
        sys.exit(main())
    print(json.dumps(asdict(read(sys.argv[2], Path(sys.argv[3]), learning=bool(sys.argv[4:])))))
