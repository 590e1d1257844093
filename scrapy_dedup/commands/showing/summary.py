"""What ``scrapy learn-rules`` prints when it has learned, and of its methods."""

from textwrap import wrap
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from ...learning.choices import JUDGE
from ...learning.evidence_phrases import sampled
from ...learning.lifetime.spot_checks import UNINFORMATIVE
from ...learning.methods.options import METHODS, described
from ...learning.phrases import counted
from ...masks.slots import slot_text
from ...rules.lifecycle import changes
from ...rules.model import ALIAS
from ...rules.operations import Anchored
from ...rules.wording import condition_of, operations_of
from ..console import print_json, print_lines, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rich.console import RenderableType
    from rich.table import Table

    from ...learning.learn import Learned
    from ...learning.site_report import SiteReport
    from ...masks.model import Mask, Place
    from ...rules.book import RuleBook
    from ...rules.model import Rule

#: Rules shown for each site; the rule file has them all.
SHOWN = 20


def print_summary(learned: "Learned", before: "RuleBook", masks: "Mapping[str, Mask] | None" = None) -> None:
    """Print a table with a row per site, then what was found there, and how that differs from the rules of *before*."""
    print_lines(_site_table(learned.reports))
    for report in learned.reports:
        print_lines(*_site_lines(report, learned, before, masks))


def _site_lines(
    report: "SiteReport", learned: "Learned", before: "RuleBook", masks: "Mapping[str, Mask] | None"
) -> "Iterator[RenderableType]":
    found = learned.book.for_site(report.site)
    rules = sorted([rule for rule in found if not rule.is_alias], key=_rank)
    kinds = [rule for rule in found if rule.is_alias]
    changed = changes(before, learned.book, learned.departures, [report.site])
    yield Text.assemble((report.site, "bold"), f": {changed}")
    for rule in rules[:SHOWN]:
        yield Padding(Text(_rule_line(rule)), (0, 0, 0, 2))
    if len(rules) > SHOWN:
        yield f"  and {len(rules) - SHOWN} more, see the rule file"
    if kinds:
        yield "  kinds of aliases:"
        yield Padding(_kinds_table(kinds), (0, 0, 0, 2))
    hidden = list(masks[report.site].stripping.places) if masks and report.site in masks else []
    if hidden:
        yield "  transient content:"
        yield Padding(_places_table(hidden[:SHOWN]), (0, 0, 0, 2))
    if len(hidden) > SHOWN:
        yield f"  and {len(hidden) - SHOWN} more places, see the mask file"
    for note in report.notes:
        yield f"  {note}"


def print_changes(learned: "Learned", before: "RuleBook") -> None:
    """Print, for each site, the rules that are new, gone, wider or narrower than those of *before*."""
    reasons = {(each.rule.site, each.rule.id): each.said for each in learned.departures}
    for report in learned.reports:
        changed = changes(before, learned.book, learned.departures, [report.site])
        lines = [f"  + {_rule_line(rule)}" for rule in changed.added]
        for word, some in (("wider", changed.wider), ("narrower", changed.narrower)):
            for each in some:
                lines.append(f"  {word}: {_rule_line(each.rule)}")
                lines += [f"    was {_rule_line(rule)}" for rule in each.before]
        for rule in changed.dropped:
            lines += [f"  - {_rule_line(rule)}", f"    {reasons[rule.site, rule.id]}"]
        print_lines(Text.assemble((report.site, "bold"), f": {changed}"), *map(Text, lines))


def print_json_summary(learned: "Learned", before: "RuleBook") -> None:
    """Print a line of JSON for each site, for each of its rules, and for each rule that leaves."""
    for report in learned.reports:
        changed = changes(before, learned.book, learned.departures, [report.site])
        print_json(
            {
                "type": "site",
                "site": report.site,
                "urls": report.urls,
                "pages": report.pages,
                "duplicates": report.duplicates,
                "rules": report.rules,
                "would_skip": report.removed,
                "may_be_lost": report.at_risk,
                "changes": changed.to_dict(),
                "notes": list(report.notes),
            }
        )
        for rule in learned.book.for_site(report.site):
            print_json({"type": "rule", **rule.to_dict()})
        for each in learned.departures:
            if each.rule.site == report.site:
                gone = {"site": report.site, "id": each.rule.id, "reason": each.reason.value, "by": list(each.by)}
                print_json({"type": "departure", **gone, "urls": each.urls, "message": str(each)})


def _site_table(reports: "Iterable[SiteReport]") -> "Table":
    """Return the table of all sites, those with most duplicates first."""
    names = "URLs", "pages", "duplicates", "rules", "would skip", "share of duplicates", "expected to be lost"
    rows = [
        (
            report.site,
            report.urls,
            report.pages,
            report.duplicates,
            report.rules,
            report.removed,
            f"{report.share:.0%}" if report.duplicates else "-",
            f"{report.at_risk:.1f}".removesuffix(".0") if report.at_risk <= UNINFORMATIVE * report.removed else "-",
        )
        for report in sorted(reports, key=lambda report: (-report.duplicates, report.site))
    ]
    return table(("site", *names), rows, right=names)


def _places_table(places: "Iterable[Place]") -> "Table":
    """Return the table of transient places: where they are, what is transient there, and what speaks for it."""
    numbers = "changes", "pages"
    rows = [
        (
            place.css,
            slot_text(place.slot, place.attribute),
            " → ".join(place.example or ()),
            place.state or f"{place.changes} of {place.opportunities}",
            place.pages,
        )
        for place in places
        if place.state != "keep"
    ]
    return table(("place (CSS)", "transient", "before → after", *numbers), rows, right=numbers)


def _kinds_table(rules: "Iterable[Rule]") -> "Table":
    """Return the table of kinds of aliases, those that act first."""
    numbers = "pages", "against", "URLs"
    rows = []
    for rule in sorted(rules, key=lambda rule: (not rule.status.acts, rule.id)):
        evidence = rule.evidence
        counts = (evidence.groups, evidence.counterexamples, evidence.urls) if evidence else ("", "", "")
        rows.append((rule.id, rule.status.value, alias_words(rule), condition_of(rule.match), *counts))
    return table(("id", "status", "a URL is the page that", "where", *numbers), rows, right=numbers)


def alias_words(rule: "Rule") -> str:
    """Return what a kind says of its URLs, in words."""
    said = []
    for key, operation in rule.ops.items():
        name = key.removeprefix(ALIAS)
        if isinstance(operation, Anchored):
            on = f" and looks like {' or '.join(operation.pages)}" if operation.pages else ""
            said.append(f'holds id="{operation.prefix}N"{on}, by {name} = {operation.lead}N')
        else:
            said.append(f"declares it as {name}")
    return "; ".join(said)


def _rule_line(rule: "Rule") -> str:
    """Return a rule in one line: its id, what it does and where, and how much speaks for it."""
    groups = f", {counted(rule.evidence.groups, 'group')}" if rule.evidence else ""
    if rule.evidence and rule.evidence.apart:
        groups = f", for {counted(rule.evidence.apart, 'page')}"
    elif rule.evidence and rule.evidence.pages == 1:
        groups += " of one page"
    if rule.evidence and (rule.evidence.samples or rule.evidence.undecided):
        groups += f", {sampled(rule.evidence)}"
    return f"{rule.id} ({rule.status}{groups}), {condition_of(rule.match)}: {operations_of(rule.ops)}"


def _rank(rule: "Rule") -> tuple[bool, int, str]:
    """Order rules: those that act first, then by how much speaks for them."""
    return not rule.status.acts, -(rule.evidence.groups if rule.evidence else 0), rule.id


def print_methods() -> None:
    """Print each method with its options: name, default, help and the values that are right."""
    print(f"{JUDGE}: all learners propose, and one estimate decides. The default; it has no options.")
    for name, kind in METHODS.items():
        print(f"\n{name}: {kind.__doc__}")
        for option, right, default, text in described(name):
            for number, line in enumerate(wrap(f"{text} ({right})", 68)):
                print(f"  {f'{option}={default}' if not number else '':38}  {line}")
