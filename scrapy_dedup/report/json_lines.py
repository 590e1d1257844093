"""The report as lines of JSON, whose ``type`` says what each is of."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..learning.phrases import moment
from .filtered_urls import record_of
from .gone_rules import fate_of

if TYPE_CHECKING:
    from .data import Report, SitePart


def records_of(report: "Report") -> Iterator[dict[str, Any]]:
    """Yield what the report says: itself, crawls, sites with their rules, candidates and masks, filtered URLs, and health."""
    savings = {**asdict(report.savings), "requests": report.savings.requests, "share": round(report.savings.share, 4)}
    head = {"made": moment(report.made), "version": report.version, "scope": report.scope}
    counts = {"suspended": report.suspended, "more_sites": list(report.more_sites), "faults": list(report.faults)}
    yield {"type": "report", **head, **savings, **counts}
    for crawl in report.crawls:
        about = {"spider": crawl.spider, "job": crawl.job, "began": moment(crawl.began), "ended": moment(crawl.ended)}
        more = {"reason": crawl.reason, "sites": list(crawl.sites), **asdict(crawl.savings)}
        yield {"type": "crawl", **about, **more, "learning_seconds": crawl.learning_seconds, "dropped": crawl.dropped}
    for site in report.sites:
        yield from _of_site(site)
    for row in report.ledger.rows:
        yield {
            "type": "filtered",
            **record_of(row),
            "rule_now": fate_of((row.site, row.rule), report.ledger.successors),
        }
    health = asdict(report.health)
    times = {name: moment(at) if (at := health[name]) is not None else None for name in ("first", "last")}
    yield {"type": "health", **health, **times, "ledger_rows": report.ledger.total}


def _of_site(site: "SitePart") -> Iterator[dict[str, Any]]:
    whole = asdict(site)
    whole.pop("differing")  # they are among the filtered URLs
    lists = {name: whole.pop(name) for name in ("rules", "candidates", "masks")}
    yield {"type": "site", **whole}
    for name, kind in (("rules", "rule"), ("candidates", "candidate"), ("masks", "mask")):
        for each in lists[name]:
            if "since" in each:
                each["since"] = moment(each["since"]) if each["since"] is not None else None
            if "time" in each:
                each["time"] = moment(each["time"])
            yield {"type": kind, **each}
