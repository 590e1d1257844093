"""The report as one HTML file that needs nothing else, no network and no other file, and as lines of JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..learning.phrases import counted, moment
from .filtered_urls import BECAME, fate_of, record_of, rules_of

if TYPE_CHECKING:
    from .data import Report

_FOLDER: Final = Path(__file__).parent / "templates"


def html_of(report: "Report") -> str:
    """Return the page."""
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        moment=_moment, time=_time, number=_number, size=size_of, duration=duration_of, percent="{:.0%}".format
    )
    environment.globals.update(counted=counted, web=_is_web, rules_of=rules_of)
    return environment.get_template("report.html.j2").render(
        report=report,
        style=_asset("report.css"),
        script=_asset("report.js"),
        ledger=_ledger_data(report),
        shown_rules={rule.id for site in report.sites for rule in site.rules},
    )


def _asset(name: str) -> Markup:
    return Markup((_FOLDER / name).read_text(encoding="utf-8"))  # noqa: S704 (our own file)


def _ledger_data(report: "Report") -> dict[str, Any]:
    """Return the rows as the page's script reads them: what comes again is a number."""
    names: dict[str, list[str]] = {"sites": [], "spiders": [], "rules": []}
    numbers: dict[str, dict[str, int]] = {name: {} for name in names}

    def number_of(kind: str, value: str) -> int:
        known = numbers[kind]
        if value not in known:
            known[value] = len(known)
            names[kind].append(value)
        return known[value]

    states = list(BECAME)
    rows = [
        [
            int(row.time),
            number_of("sites", row.site),
            number_of("rules", row.rule),
            row.url,
            row.taken_for,
            number_of("spiders", row.spider),
            states.index(row.state),
        ]
        for row in report.ledger.rows
    ]
    gone = {
        f"{site} {rule}": fate_of((site, rule), report.ledger.successors) for site, rule in report.ledger.successors
    }
    return {**names, "gone": gone, "states": [BECAME[state] for state in states], "rows": rows}


def _is_web(url: str) -> bool:
    """Whether an address may be a link: what sites write may be any text."""
    return url.startswith(("http://", "https://"))


def _moment(at: float | None) -> str:
    return "" if at is None else moment(at)


def _time(at: float | None) -> str:
    """Write a time as a reader likes it.

    >>> _time(1_764_061_200.5)
    '2025-11-25 09:00'
    """
    return "" if at is None else moment(at)[:16].replace("T", " ")


def _number(number: float) -> str:
    """Write a number.

    >>> _number(12_345)
    '12,345'
    """
    return f"{number:,.0f}"


def size_of(number: float) -> str:
    """Write a number of bytes.

    >>> size_of(512), size_of(20_480), size_of(3_000_000)
    ('512 B', '20 kB', '3.0 MB')
    """
    for unit in ("B", "kB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} MB" if number < 1000 else f"{number / 1000:.1f} GB"


def duration_of(seconds: float) -> str:
    """Write a time span.

    >>> duration_of(3), duration_of(200), duration_of(9_000)
    ('3 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3600:.1f} h"


def records_of(report: "Report") -> Iterator[dict[str, Any]]:
    """Yield what the report says as JSON has it, a type with each: the report, crawls, sites with their rules, filtered URLs."""
    savings = {**asdict(report.savings), "requests": report.savings.requests, "share": round(report.savings.share, 4)}
    head = {"made": moment(report.made), "version": report.version, "scope": report.scope, "place": report.place}
    counts = {"suspended": report.suspended, "more_sites": list(report.more_sites), "ledger_rows": report.ledger.total}
    yield {"type": "report", **head, **savings, **counts}
    for crawl in report.crawls:
        about = {"spider": crawl.spider, "job": crawl.job, "began": moment(crawl.began), "ended": moment(crawl.ended)}
        more = {"reason": crawl.reason, "sites": list(crawl.sites), **asdict(crawl.savings)}
        yield {"type": "crawl", **about, **more, "learning_seconds": crawl.learning_seconds, "dropped": crawl.dropped}
    for site in report.sites:
        whole = asdict(site)
        whole.pop("differing")  # they are among the filtered URLs
        rules = whole.pop("rules")
        yield {"type": "site", **whole}
        for rule in rules:
            yield {"type": "rule", **rule}
    for row in report.ledger.rows:
        rule_now = fate_of((row.site, row.rule), report.ledger.successors)
        yield {"type": "filtered", **record_of(row), "rule_now": rule_now}
