"""What ``scrapy learn-rules`` prints when it has learned."""

from typing import TYPE_CHECKING

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..learning.lifetime.spot_checks import UNINFORMATIVE
from ..learning.phrases import counted
from ..masks.slots import shown_slot
from .aliases import kinds_table
from .console import plain_console
from .wording import condition_of, operations_of, sampled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..learning.learn import Learned
    from ..learning.site_report import SiteReport
    from ..masks.model import Mask, TransientPath
    from ..rules.model import Rule

#: Rules shown for each site; the rule file has them all.
SHOWN = 20


def print_summary(learned: "Learned", masks: "Mapping[str, Mask] | None" = None) -> None:
    """Print a table with a row per site, then what was found there."""
    console = plain_console()
    console.print(site_table(learned.reports))
    for report in learned.reports:
        found = learned.book.for_site(report.site)
        rules = sorted([rule for rule in found if not rule.is_alias], key=_rank)
        kinds = [rule for rule in found if rule.is_alias]
        console.print(Text(f"{report.site}:", style="bold"))
        if not rules:
            console.print("  no rules")
        for rule in rules[:SHOWN]:
            console.print(Padding(Text(rule_line(rule)), (0, 0, 0, 2)))
        if len(rules) > SHOWN:
            console.print(f"  and {len(rules) - SHOWN} more, see the rule file")
        if kinds:
            console.print("  kinds of aliases:")
            console.print(Padding(kinds_table(kinds), (0, 0, 0, 2)))
        hidden = [path for path in masks[report.site].paths if path.is_hidden] if masks and report.site in masks else []
        if hidden:
            console.print("  transient content:")
            console.print(Padding(places_table(hidden[:SHOWN]), (0, 0, 0, 2)))
        if len(hidden) > SHOWN:
            console.print(f"  and {len(hidden) - SHOWN} more places, see the mask file")
        for note in report.notes:
            console.print(f"  {note}")


def site_table(reports: "Iterable[SiteReport]") -> Table:
    """Return the table of all sites, those with most duplicates first."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("site", overflow="fold")
    for name in ("URLs", "pages", "duplicates", "rules", "would skip", "of duplicates", "may be lost (95 %)"):
        table.add_column(name, justify="right")
    for report in sorted(reports, key=lambda report: (-report.duplicates, report.site)):
        table.add_row(
            report.site,
            str(report.urls),
            str(report.pages),
            str(report.duplicates),
            str(report.rules),
            str(report.removed),
            f"{report.share:.0%}" if report.duplicates else "-",
            f"{report.at_risk:.1f}" if report.at_risk <= UNINFORMATIVE * report.removed else "-",
        )
    return table


def places_table(paths: "Iterable[TransientPath]") -> Table:
    """Return the table of transient places: where they are, what passes there, and what speaks for it."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for name in ("place (CSS)", "what passes", "before → after"):
        table.add_column(name, overflow="fold")
    for name in ("changes", "pages", "confidence"):
        table.add_column(name, justify="right")
    for path in paths:
        table.add_row(
            path.css,
            shown_slot(path.slot, path.attribute),
            " → ".join(path.examples[0]) if path.examples else "",
            f"{path.changes} of {path.opportunities}",
            str(path.pages),
            path.state or f"{path.confidence:.2f}",
        )
    return table


def rule_line(rule: "Rule") -> str:
    """Return a rule in one line: its id, what it does and where, and how much speaks for it."""
    groups = f", {counted(rule.evidence.groups, 'group')}" if rule.evidence else ""
    if rule.evidence and rule.evidence.apart:
        groups = f", for {counted(rule.evidence.apart, 'page')}"
    elif rule.evidence and rule.evidence.pages == 1:
        groups += " of one page"
    if rule.evidence and rule.evidence.samples:
        groups += f", {sampled(rule.evidence)}"
    return f"{rule.id} ({rule.status}{groups}), {condition_of(rule)}: {operations_of(rule.ops)}"


def _rank(rule: "Rule") -> tuple[bool, int, str]:
    """Order rules: those that act first, then by how much speaks for them."""
    return not rule.status.acts, -(rule.evidence.groups if rule.evidence else 0), rule.id
