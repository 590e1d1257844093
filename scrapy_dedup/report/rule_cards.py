"""Rules as the report shows them: in a sentence, with status, support, spot checks, since when, and where they stand."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from ..files.errors import RuleFileError
from ..learning.config import current
from ..learning.evidence_phrases import evidence_of
from ..learning.phrases import counted
from ..rules.files import load_file, path_of_site
from ..rules.model import Rule, Status
from .data import RuleCard, RuleChangeShown, UrlPair
from .sentences import clauses_of, sentence_of

_ORDER: Final = (Status.SUSPENDED, Status.ACTIVE, Status.MANUAL, Status.OFF, Status.CANDIDATE)


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


def card_of(
    rule: Rule,
    place: Place | None,
    *,
    filtered: int = 0,
    since: float | None = None,
    is_new: bool = False,
    pairs: Sequence[UrlPair] = (),
) -> RuleCard:
    """Return the card of a rule."""
    evidence = rule.evidence
    where, clauses = clauses_of(rule)
    return RuleCard(
        site=rule.site,
        id=rule.id,
        status=rule.status.value,
        sentence=sentence_of(rule),
        where=where,
        clauses=clauses,
        short=str(rule),
        evidence=evidence_of(evidence) if evidence is not None or not rule.status.users else "you wrote it",
        note=rule.note,
        filtered=filtered,
        samples=evidence.samples if evidence is not None else 0,
        refuted=evidence.refuted if evidence is not None else 0,
        undecided=evidence.undecided if evidence is not None else 0,
        since=since,
        is_new=is_new,
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


def in_order(cards: Iterable[RuleCard]) -> tuple[RuleCard, ...]:
    """Return cards, the suspended ones first, then the new ones, then those that have filtered most."""
    order = {status.value: number for number, status in enumerate(_ORDER)}
    return tuple(
        sorted(
            cards,
            key=lambda card: (
                card.status != "suspended",
                not card.is_new,
                min(order[card.status], 3) if card.status not in ("active", "manual") else 1,
                -card.filtered,
                card.id,
            ),
        )
    )


def changes_of(
    before: Iterable[str], rules: Mapping[str, Rule], fates: Mapping[str, str] = MappingProxyType({})
) -> tuple[RuleChangeShown, ...]:
    """Return what has changed of the rules that act, since those with the ids of *before* did.

    *rules* are all there are now; *fates* are id of a rule that is gone -> what became of it, in words.
    """
    old = set(before)
    acting = {name for name, rule in rules.items() if rule.status.acts}
    found = [RuleChangeShown(name, came=True, said=sentence_of(rules[name])) for name in sorted(acting - old)]
    for name in sorted(old - acting):
        rule = rules.get(name)
        said = (
            f"it is {rule.status} now: {sentence_of(rule)}"
            if rule is not None
            else f"it is {fates.get(name, 'no longer there')}"
        )
        found.append(RuleChangeShown(name, came=False, said=said, known=rule is not None))
    return tuple(found)
