"""A made-up site as files.

    python -m tests.benchmarks.sites.writing DIR [--level L2] [--seed 0] [--only D4,T1] [--pages N] [--versions K]

For each site a folder of its domain: ``crawl.jsonl`` (what a crawl sees, in order of time),
``truth.jsonl`` (the page key of each URL), ``rules/<domain>.toml`` (the truth in the package's own rule
format, as far as rules can say it), ``traps.json`` (what each endpoint is about), ``versions/``
(K versions of some pages as HTML, with the truth of every token in ``tokens.jsonl``). The same
arguments write the same bytes.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .crawl import Row, crawl
from .levels import LEVELS, level_knobs, sites_of
from .model import DAY, Knobs
from .render import SLOTS, Kind, render
from .seeded import digest
from .site import Site

VERSION_GAPS = (0.0, 300.0, DAY, 7 * DAY)
"""Seconds from the first version of a page to the next ones: per request, intraday, daily, weekly."""
PAGES_WITH_VERSIONS = 20


def write(site: Site, folder: Path, *, versions: int = 3) -> None:
    """Write all files of a site below *folder*."""
    folder = folder / site.domain
    folder.mkdir(parents=True, exist_ok=True)
    rows = crawl(site)
    dump(folder / "crawl.jsonl", (crawl_line(site, row) for row in rows))
    dump(folder / "truth.jsonl", ({"url": row.url, "t": row.time, "page_key": list(row.page)} for row in rows))
    rules = folder / "rules"
    rules.mkdir(exist_ok=True)
    for old in rules.glob("*.toml"):
        old.unlink()
    site.book().save(rules)
    described = {
        endpoint.id: {
            "title": endpoint.title,
            "directory": endpoint.place.directory,
            "trap": endpoint.is_trap,
            "hard": endpoint.hard,
            "near": endpoint.near,
            "may_lose": endpoint.allowed,
            "rules": [rule.id for rule in site.rules(endpoint)],
        }
        for endpoint in site.endpoints.values()
    }
    (folder / "traps.json").write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
    write_versions(site, rows, folder / "versions", versions)


def crawl_line(site: Site, row: Row) -> dict[str, Any]:
    """What is written of one response."""
    page = render(site, row.url, row.time) if row.status == 200 else None
    text = page.text() if page else ""
    return {
        "url": row.url,
        "t": row.time,
        "status": row.status,
        "headers": dict(row.headers),
        "fingerprint": row.fingerprint,
        "body_hash": digest(page.html if page else ""),
        "words": row.words,
        "canonical": row.canonical,
        "redirect": row.redirect,
        "text": text,
    }


def write_versions(site: Site, rows: Sequence[Row], folder: Path, versions: int) -> None:
    """Write versions of the first pages of a crawl that have one URL at least, with all passing slots."""
    folder.mkdir(exist_ok=True)
    first: dict[tuple[str, ...], Row] = {}
    for row in rows:
        if row.status == 200 and not row.late:
            first.setdefault(row.page, row)
    some = list(first.values())[:PAGES_WITH_VERSIONS]
    dump(folder / "tokens.jsonl", token_lines(site, some, folder, versions))


def token_lines(site: Site, rows: Sequence[Row], folder: Path, versions: int) -> Iterator[dict[str, Any]]:
    """One line per version, whose HTML is written beside it."""
    for number, row in enumerate(rows):
        for version in range(versions):
            time = row.time + VERSION_GAPS[version % 4] + 30 * DAY * (version // 4)
            page = render(site, row.url, time, version, SLOTS)
            assert page is not None
            name = f"{number:03}-{version}.html"
            (folder / name).write_text(page.html, encoding="utf-8")
            yield {
                "file": name,
                "url": row.url,
                "t": time,
                "tokens": [[token.path, token.text, token.kind.value, token.slot] for token in page.tokens],
                "transient": page.text(Kind.TRANSIENT),
            }


def dump(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Write JSON lines."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for line in lines:
            out.write(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Write the sites that the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.sites.writing", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--level", choices=LEVELS, default="L2")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="D4,T1")
    parser.add_argument("--pages", type=int)
    parser.add_argument("--versions", type=int, default=3, metavar="K")
    args = parser.parse_args(argv)
    knobs = level_knobs(args.level, Knobs(pages=args.pages) if args.pages else None)
    for site in sites_of(args.level, args.seed, knobs, [name for name in args.only.split(",") if name]):
        write(site, args.folder, versions=args.versions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
