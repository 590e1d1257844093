"""The report as one HTML file that needs nothing else: no network, no other file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..learning.phrases import counted, moment
from .charts import bars
from .data import Report
from .filtered_urls import BECAME, rules_of
from .gone_rules import fate_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_FOLDER: Final = Path(__file__).parent / "templates"
#: Crawls and sites that a chart shows.
_CRAWLS: Final = 40
_BARS: Final = 15


def html_of(report: Report) -> str:
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
        crawls_chart=_crawls_chart(report),
        sites_chart=_sites_chart(report),
        ledger=_ledger_data(report),
        shown_rules={rule.id for site in report.sites for rule in (*site.rules, *site.candidates)},
    )


def _asset(name: str) -> Markup:
    return Markup((_FOLDER / name).read_text(encoding="utf-8"))  # noqa: S704 (our own file)


def _crawls_chart(report: Report) -> Markup | None:
    crawls = report.crawls[-_CRAWLS:]
    if not crawls:
        return None
    series: dict[str, Sequence[float]] = {
        "fetched (without spot checks and extra requests)": [crawl.savings.pages for crawl in crawls],
        "filtered, not fetched": [crawl.savings.avoided for crawl in crawls],
    }
    return bars("Requests of each crawl: fetched, and filtered", [_time(crawl.ended) for crawl in crawls], series)


def _sites_chart(report: Report) -> Markup | None:
    sites = report.sites[:_BARS]
    if not sites:
        return None
    series: dict[str, Sequence[float]] = {
        "fetched, new": [site.counts.new for site in sites],
        "fetched, duplicate": [site.counts.duplicates for site in sites],
        "filtered, not fetched": [site.counts.filtered for site in sites],
    }
    title = "URLs of each site: fetched and new, fetched and duplicate, and filtered and not fetched"
    return bars(title, [site.site for site in sites], series, horizontal=True)


def _ledger_data(report: Report) -> dict[str, Any]:
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
