"""Rules as the report shows them: in words, with status, support, spot checks, and where they stand."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ..files.errors import RuleFileError
from ..learning.config import current
from ..learning.evidence_phrases import evidence_of
from ..learning.phrases import counted
from ..rules.files import load_file, path_of_site
from ..rules.model import Rule, Status
from ..rules.wording import condition_of, operations_of
from .data import RuleCard, UrlPair

_ORDER: Final = ("suspended", "active", "manual", "off", "candidate")


class Place(NamedTuple):
    """Where a rule stands."""

    file: str
    #: Of its ``[[rule]]``; None where it cannot be told.
    line: int | None


def places_of(directories: Iterable[Path], site: str) -> dict[str, Place]:
    """Return id of a rule -> where it stands, of a site; of several directories the first one that has it."""
    found: dict[str, Place] = {}
    for directory in directories:
        path = path_of_site(directory, site)
        try:
            rules = load_file(path).rules
            lines = path.read_text(encoding="utf-8").split("\n")
        except (RuleFileError, OSError):
            continue
        headers = [number for number, line in enumerate(lines, 1) if line.strip().startswith("[[rule]]")]
        told = len(headers) == len(rules)
        for number, rule in enumerate(rules):
            found.setdefault(rule.id, Place(str(path), headers[number] if told else None))
    return found


def card_of(rule: Rule, place: Place | None, *, filtered: int = 0, pairs: Sequence[UrlPair] = ()) -> RuleCard:
    """Return the card of a rule."""
    evidence = rule.evidence
    return RuleCard(
        site=rule.site,
        id=rule.id,
        status=rule.status.value,
        says=f"{operations_of(rule.ops)}, {condition_of(rule.match)}",
        evidence=evidence_of(evidence) if evidence is not None or not rule.status.users else "you wrote it",
        note=rule.note,
        filtered=filtered,
        samples=evidence.samples if evidence is not None else 0,
        refuted=evidence.refuted if evidence is not None else 0,
        undecided=evidence.undecided if evidence is not None else 0,
        file=place.file if place is not None else "",
        line=place.line if place is not None else None,
        waits=waits_for(rule),
        pairs=tuple(pairs),
    )


def waits_for(rule: Rule) -> str:
    """Return what a rule waits for that does not act; "" for one that acts.

    >>> from scrapy_dedup.rules import Evidence, Ignore
    >>> waits_for(Rule("a.test", {}, {"q.b": Ignore()}, Status.CANDIDATE, Evidence(groups=3)))
    'more pages under two URLs: 3 witness groups so far; some ten are enough for most kinds of values'
    """
    if rule.status.acts:
        return ""
    if rule.status is Status.OFF:
        return "nothing: you have switched it off"
    evidence = rule.evidence
    if rule.status is Status.SUSPENDED:
        return "pages that speak for it: a spot check or a probe has shown another page, so it filters nothing"
    if evidence is None or not evidence.groups + evidence.counterexamples:
        return "evidence: no page was seen under two of the URLs that it would make one"
    if evidence.counterexamples:
        against = counted(evidence.counterexamples, "group")
        return f"more pages that speak for it: {counted(evidence.groups, 'witness group')} for it, {against} against it"
    enough = "ten" if current().proposed_groups == 10 else str(current().proposed_groups)
    return (
        f"more pages under two URLs: {counted(evidence.groups, 'witness group')} so far; some {enough} are enough for most "
        "kinds of values"
    )


def in_order(cards: Iterable[RuleCard]) -> list[RuleCard]:
    """Return cards: the suspended ones first, then those that act by what they have filtered, then those that do not act."""
    return sorted(
        cards,
        key=lambda card: (1 if card.status == "manual" else _ORDER.index(card.status), -card.filtered, card.id),
    )
