"""The report as one HTML file that needs nothing else, no network and no other file, and as lines of JSON."""

import os
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..learning.phrases import counted
from .collecting import report_of
from .filtered_urls import BECAME

if TYPE_CHECKING:
    from .collecting import Report, ReportSource

_FOLDER: Final = Path(__file__).parent / "templates"


def write_report(source: "ReportSource", path: Path) -> "Report":
    """Write the report on a store into a file, which is replaced as a whole; return what it says.

    Nobody but the user may read it, as the store, unless the file is there and others may. Raises StoreError,
    RuleFileError and OSError.
    """
    report = report_of(source)
    write_text(path, html_of(report))
    return report


def write_text(path: Path, text: str) -> None:
    """Make *text* what stands in a file. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}-{token_hex(4)}.tmp")
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
            # What sites write may hold lone surrogates.
            file.write(text.encode("utf-8", "replace").decode("utf-8"))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def html_of(report: "Report") -> str:
    """Return the page."""
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number="{:,.0f}".format, duration=duration_of, percent="{:.0%}".format)
    environment.globals.update(counted=counted, web=_is_web)
    return environment.get_template("report.html.j2").render(
        report=report,
        style=_asset("report.css"),
        script=_asset("report.js"),
        ledger=_ledger_data(report),
        shown_rules={rule["id"] for site in report.sites for rule in site["rules"]},
    )


def _asset(name: str) -> Markup:
    return Markup((_FOLDER / name).read_text(encoding="utf-8"))  # noqa: S704 (our own file)


def _ledger_data(report: "Report") -> dict[str, Any]:
    """Return the rows as the page's script reads them."""
    columns = ("time", "site", "rule", "url", "taken_for", "spider", "state")
    return {
        "states": {state.value: said for state, said in BECAME.items()},
        "gone": {f"{row['site']} {row['rule']}": row["rule_now"] for row in report.filtered if row["rule_now"]},
        "rows": [[row[name] for name in columns] for row in report.filtered],
    }


def _is_web(url: str) -> bool:
    """Whether an address may be a link: what sites write may be any text."""
    return url.startswith(("http://", "https://"))


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
    yield {"type": "report", **report.head}
    for crawl in report.crawls:
        yield {"type": "crawl", **crawl}
    for site in report.sites:
        # Those that differ are among the filtered URLs.
        yield {"type": "site"} | {name: each for name, each in site.items() if name not in ("rules", "differing")}
        for rule in site["rules"]:
            yield {"type": "rule", **rule}
    for row in report.filtered:
        yield {"type": "filtered", **row}
