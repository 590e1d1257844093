"""The first crawl of an unknown site: downloads until its distinct pages are there, with and without other tools.

    python -m tests.benchmarks.live [--seconds N] [--quiet] [--json] [--check]

Crawls the site of tests/benchmarks/sites/families.py breadth first with Scrapy's own settings: plain; with
duplicate-url-discarder and the rules it ships, and with rules written by hand for this site; with MaybeDont; with
scrapy-dedup, which knows nothing of the site and learns while it crawls (cold); and with what it learned (warm). All
is counted at the server, which waits 20 ms before it answers, as no site on the network is faster: a crawler that
learns while it waits can learn nothing from a server that never lets it wait. After 1200 downloads a crawl is ended, and
pages have no more links, since the site's never end.
The pages carry a clock, a counter, a token and rotating teasers, unless they are to be quiet; which page one is, its URL
says.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .command import KEEP, QUIET, Arguments, Command, option, scratch
from .crawling.project import PLUGIN_SETTINGS, Project
from .methods.peers import duplicate_url_discarder_settings, has_duplicate_url_discarder
from .scoring.checks import Check, print_table
from .sites.families import FAMILIES, PAGES, FamilySite, Served, page_of

MOST_DOWNLOADS = 1200
SECONDS = 0.02
"""That the server waits before it answers."""
MOST_COLD, MOST_WARM = 479, 253
"""Aims: downloads until all distinct pages are there. Hand-written rules for duplicate-url-discarder needed 480 on
such a site when it was first measured, and 427 in later runs."""
PLAIN, SHIPPED, BY_HAND, MAYBE_DONT = "plain", "discarder, its own rules", "discarder, rules by hand", "MaybeDont"
COLD, WARM = "scrapy-dedup, cold", "scrapy-dedup, warm"
DISCARDER = "tests.benchmarks.methods.peer_parts.Discarder"


@dataclass(frozen=True, slots=True)
class Crawled:
    """One crawl, counted at the server.

    until: downloads until 50, 90 and 100 % of the distinct pages were there (None: never). lost: pages that a crawl
    that ended by itself has not fetched; 0 for one that was cut off. extra: requests that stock Scrapy would not have
    made. families: downloads of each.
    """

    name: str
    downloads: int
    distinct: int
    until: tuple[int | None, ...]
    lost: int
    extra: int
    families: dict[str, int]
    seconds: float
    stats: dict[str, Any]


def crawled(name: str, served: Served, seconds: float, stats: dict[str, Any]) -> Crawled:
    """The figures of a crawl."""
    families = Counter((page_of(target) or "").partition(" ")[0] for target in served.targets)
    ended = stats["finish_reason"] == "finished"
    return Crawled(
        name=name,
        downloads=len(served.targets),
        distinct=served.distinct,
        until=tuple(served.downloads_until(share) for share in (0.5, 0.9, 1)),
        lost=PAGES - served.distinct if ended else 0,
        extra=served.extra,
        families={family: families[family] for family in FAMILIES},
        seconds=seconds,
        stats=stats,
    )


def rules_by_hand(site: str) -> list[dict[str, Any]]:
    """The best rules for the site that duplicate-url-discarder can express: nothing says that a slug is noise."""

    def rule(pattern: str, processor: str, *args: str) -> dict[str, Any]:
        patterns = {"include": [f"{site}{pattern}"], "exclude": []}
        return {"args": list(args), "order": 0, "processor": processor, "urlPattern": patterns}

    return [
        rule("/view.php", "queryRemoval", "start", "sid", "utm_source", "utm_medium"),
        rule("/print", "queryRemoval", "ts"),
        rule("/t/", "normalizer"),
    ]


def variants(site: str, folder: Path) -> Iterator[tuple[str, Project]]:
    """Each crawl with the project in which it runs; what is not installed is left out, with a note."""

    def project(name: str, settings: dict[str, Any]) -> Project:
        return Project(folder / name, {"LOG_LEVEL": "WARNING", **ending, **settings})

    # Where it is set, scrapy-dedup postpones nothing: it has to come to an end by itself.
    ending = {"CLOSESPIDER_PAGECOUNT": MOST_DOWNLOADS}

    yield PLAIN, project("plain", {})
    if has_duplicate_url_discarder() and find_spec("maybedont"):
        shipped = {**duplicate_url_discarder_settings(), "ADDONS": {DISCARDER: 600}}
        yield SHIPPED, project("shipped", shipped)
        rules = folder / "rules.json"
        rules.write_text(json.dumps(rules_by_hand(site)), encoding="utf-8")
        yield BY_HAND, project("by-hand", {**shipped, "DUD_LOAD_RULE_PATHS": [str(rules)]})
        middleware = {"tests.benchmarks.methods.peer_parts.MaybeDont": 200}
        yield (
            MAYBE_DONT,
            project("maybedont", {"AVOID_DUP_CONTENT_ENABLED": True, "DOWNLOADER_MIDDLEWARES": middleware}),
        )
    else:
        print("duplicate-url-discarder and MaybeDont are not installed (the extra bench)", file=sys.stderr)
    ending = {}
    ours = project("ours", {**PLUGIN_SETTINGS, "DEDUP_LEARN": "live"})
    yield COLD, ours
    yield WARM, ours


def run(seconds: float, folder: Path, *, quiet: bool = False) -> list[Crawled]:
    """All crawls, one after the other, in projects under *folder*."""
    found = []
    with FamilySite(seconds, quiet=quiet) as site:
        for name, project in variants(f"127.0.0.1:{site.port}", folder):
            done, stats = project.crawl("families", start=f"http://127.0.0.1:{site.port}/")
            found.append(crawled(name, site.served(), done.seconds, stats))
    return found


def checks(found: Sequence[Crawled]) -> list[Check]:
    """The figures that ``--check`` looks at."""
    of = {each.name: each for each in found}
    cold, warm, plain = of[COLD], of[WARM], of[PLAIN]
    most = MOST_COLD
    if (until := of[BY_HAND].until[-1] if BY_HAND in of else None) is not None:
        most = min(most, until - 1)
    return [
        Check("cold: downloads until all pages are there", cold.until[-1], most=most),
        Check("warm: downloads until all pages are there", warm.until[-1], most=MOST_WARM),
        *(Check(f"{each.name}: pages lost", PAGES - each.distinct, most=0) for each in (cold, warm)),
        *(
            Check(f"{each.name}: requests of the whole crawl", each.downloads, most=plain.downloads)
            for each in (cold, warm)
        ),
        *(Check(f"{each.name}: faults", sum(_faults(each)), most=0) for each in (cold, warm)),
    ]


def _faults(crawl: Crawled) -> Iterator[int]:
    for name, value in crawl.stats.items():
        if name.startswith("dedup/errors") or name == "log_count/ERROR":
            yield value


def print_crawls(found: Sequence[Crawled]) -> None:
    """Print the crawls as a table."""
    rows = [
        (
            *(each.name, *each.until, each.distinct, each.lost, each.downloads, each.extra),
            *(*each.families.values(), f"{each.seconds:.1f}"),
        )
        for each in found
    ]
    columns = ("crawl", "50 %", "90 %", "100 %", "pages", "lost", "downloads", "extra", *FAMILIES, "seconds")
    print_table(f"A site of {PAGES} distinct pages: downloads until 50, 90 and 100 % of them were there", columns, rows)


def measured(args: Arguments) -> list[Crawled]:
    """Crawl in projects of a folder."""
    with scratch(args.keep) as folder:
        return run(args.seconds, folder, quiet=args.quiet)


main = Command(
    __doc__,
    [option("--seconds", type=float, default=SECONDS, help=f"before an answer ({SECONDS})"), QUIET, KEEP],
    measure=measured,
    show=lambda _, found: print_crawls(found),
    as_json=lambda _, found: [asdict(each) for each in found],
    checks=lambda _, found: checks(found),
)

if __name__ == "__main__":
    sys.exit(main())
