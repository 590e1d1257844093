"""Running counts of rules: what spot checks and probes have shown since the snapshot in a rule's file.

The file of a rule is written when its state changes; until then its counts live in the store. What lies before the
snapshot's time counts once, as it stands in the file.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy.exc import ArgumentError

from ...rules import Evidence, Rule, RuleBook
from ...store.database import StoreError, database_path
from ...store.rows import CheckRow
from ...store.store import Store


def checks_in(target: str, scope: str) -> list[CheckRow]:
    """Return the running counts in the store at *target*; none where there is no store, or it cannot be read."""
    try:
        path = database_path(target)
        if path is not None and not path.exists():
            return []
        with Store.open(target, readonly=True) as store:
            return store.checks(scope)
    except (StoreError, ArgumentError):  # whoever writes or learns from it tells why
        return []


def with_checks(book: RuleBook, checks: Iterable[CheckRow]) -> RuleBook:
    """Return *book*, in which the evidence of learned rules has what *checks* have shown since its snapshot."""
    by_rule: defaultdict[tuple[str, str], list[CheckRow]] = defaultdict(list)
    for check in checks:
        by_rule[check.site, check.rule].append(check)
    if not any((rule.site, rule.id) in by_rule for rule in book):
        return book
    rules = [_with_checks(rule, by_rule.get((rule.site, rule.id), ())) for rule in book]
    return RuleBook(rules, {site: book.site_rules(site).deep for site in book.sites}, book.groups)


def _with_checks(rule: Rule, checks: Iterable[CheckRow]) -> Rule:
    """Return a learned rule with what later checks have shown added to its evidence."""
    evidence = rule.evidence or Evidence()
    later = [check for check in checks if check.time > evidence.until]
    if rule.status.users or not later:
        return rule
    return replace(
        rule,
        evidence=replace(
            evidence,
            samples=evidence.samples + sum(check.samples for check in later),
            refuted=evidence.refuted + sum(check.refuted for check in later),
            undecided=evidence.undecided + sum(check.undecided for check in later),
            probes=evidence.probes + sum(check.probes for check in later),
            contradicted=evidence.contradicted + sum(check.contradicted for check in later),
        ),
    )
