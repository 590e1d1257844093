"""Crawl the demo shop without and with scrapy-dedup, and show what is saved. Run by ``make demo``.

The shop is served on loopback at a free port; nothing leaves this machine. What the crawls write is in demo-output/,
.scrapy/ and dedup-rules/ beside this file. Exits with 1 if a crawl fails or a page or an item is lost.
The pages have a clock, an advertisement, counters and tokens, so that no two downloads are equal; with --quiet they
have not.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from demo_site.pages import Page
from demo_site.server import Shop
from rich import box
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
WORK = HERE / "demo-output"

DAY = 86_400.0

console = Console()


@dataclass(frozen=True, slots=True)
class Crawl:
    """What one crawl did, counted at the server and in its feed."""

    name: str
    downloads: int
    pages: frozenset[Page]
    items: int
    products: frozenset[tuple[str, str]]
    seconds: float


def scrapy(*args: str, log: Path | None = None) -> None:
    """Run a Scrapy command in the example project; end the demo if it fails."""
    console.print(f"[dim]$ scrapy {' '.join(args)}[/dim]", highlight=False, soft_wrap=True)
    command = [sys.executable, "-m", "scrapy", *args]
    if log is None:
        status = subprocess.run(command, cwd=HERE, check=False).returncode
    else:
        with log.open("wb") as output:
            status = subprocess.run(command, cwd=HERE, check=False, stdout=output, stderr=output).returncode
    if status:
        if log is not None:
            console.print("".join(log.read_text(errors="replace").splitlines(keepends=True)[-30:]), markup=False)
        sys.exit(f"scrapy {args[0]} ended with exit code {status}")


def crawl(name: str, shop: Shop, *options: str) -> Crawl:
    """Crawl the shop, a day of its time after the last crawl, and count."""
    shop.pages.clear()
    shop.time += DAY
    stem = name.partition(",")[0].replace(" ", "-").lower()
    feed, log = WORK / f"{stem}.jsonl", WORK / f"{stem}.log"
    start = time.perf_counter()
    scrapy("crawl", "shop", "-a", f"start={shop.url}", "-O", str(feed.relative_to(HERE)), *options, log=log)
    seconds = time.perf_counter() - start
    items = [json.loads(line) for line in feed.read_text(encoding="utf-8").splitlines()]
    return Crawl(
        name,
        shop.pages.total(),
        frozenset(page for page in shop.pages if page is not None),
        len(items),
        frozenset((item["name"], item["language"]) for item in items),
        seconds,
    )


def table_of(crawls: list[Crawl]) -> Table:
    table = Table(title="The demo shop, crawled several times", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("crawl", no_wrap=True)
    for column in ("downloads", "distinct pages", "items", "distinct items", "seconds"):
        table.add_column(column, justify="right")
    for each in crawls:
        counts = (each.downloads, len(each.pages), each.items, len(each.products))
        table.add_row(each.name, *map(str, counts), f"{each.seconds:.1f}")
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quiet", action="store_true", help="pages without clock, advertisement, counters, tokens")
    options = parser.parse_args()
    for folder in (WORK, HERE / ".scrapy" / "dedup", HERE / "dedup-rules"):
        shutil.rmtree(folder, ignore_errors=True)
    WORK.mkdir()
    with Shop(passing=not options.quiet) as shop:
        plain = crawl("plain Scrapy", shop, "-s", "ADDONS={}")
        recorded = crawl("first crawl, recording", shop)
        scrapy("learn-rules")
        ruled = crawl("last crawl, with rules", shop)
    console.print()
    console.print(table_of([plain, recorded, ruled]))
    saved = plain.downloads - ruled.downloads
    console.print(
        f"With the learned rules {saved} of {plain.downloads} downloads were saved ({saved / plain.downloads:.0%}): "
        f"{saved} of the {plain.downloads - len(plain.pages)} that brought a page which was there already. "
        "The rules are in example_project/dedup-rules/, and a report is in example_project/.scrapy/dedup/report.html.",
        highlight=False,
    )
    lost = [crawl for crawl in (recorded, ruled) if plain.pages - crawl.pages or plain.products - crawl.products]
    for each in lost:
        pages, items = plain.pages - each.pages, plain.products - each.products
        console.print(f"LOST by the {each.name}: {len(pages)} pages and {len(items)} items, such as:", style="red")
        for page in sorted(pages, key=str)[:10]:
            console.print(f"  {page}", markup=False)
    if not lost:
        console.print(f"All {len(plain.pages)} pages and all {len(plain.products)} distinct items were reached.")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
