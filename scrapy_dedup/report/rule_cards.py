"""Rules as the report shows them: in words, with status, support, spot checks, and where they stand."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from ..files.errors import RuleFileError
from ..learning.config import current
from ..learning.evidence_phrases import evidence_of
from ..learning.phrases import counted
from ..rules.files import load_file, path_of_site
from ..rules.model import Evidence, Rule, Status
from ..rules.wording import condition_of, operations_of

_ORDER: Final = {"suspended": 0, "active": 1, "manual": 1, "off": 3, "candidate": 4}


def cards_of(
    rules: Iterable[Rule],
    directories: Iterable[Path],
    filtered: Mapping[str, int],
    pairs: Mapping[str, list[dict[str, Any]]],
) -> list[dict[str, Any]]:
    """Return the cards of the rules of a site: the suspended ones first, then those that act by what they have filtered, then
    those that do not act. *filtered* and *pairs* are by the id of a rule.
    """
    some = list(rules)
    places = _places(directories, some[0].site) if some else {}
    cards = []
    for rule in some:
        counts = rule.evidence or Evidence()
        file, line = places.get(rule.id, ("", None))
        cards.append(
            {
                "site": rule.site,
                "id": rule.id,
                "status": rule.status.value,
                "says": f"{operations_of(rule.ops)}, {condition_of(rule.match)}",
                "evidence": evidence_of(rule.evidence) if rule.evidence or not rule.status.users else "you wrote it",
                "note": rule.note,
                "filtered": filtered.get(rule.id, 0),
                "samples": counts.samples,
                "refuted": counts.refuted,
                "undecided": counts.undecided,
                "file": file,
                "line": line,
                "waits": waits_for(rule),
                "pairs": pairs.get(rule.id, []),
            }
        )
    return sorted(cards, key=lambda card: (_ORDER[card["status"]], -card["filtered"], card["id"]))


def _places(directories: Iterable[Path], site: str) -> dict[str, tuple[str, int | None]]:
    """Return id of a rule of a site -> its file, the first one that has it, and the line of its ``[[rule]]`` there; None where
    that cannot be told."""
    found: dict[str, tuple[str, int | None]] = {}
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
            found.setdefault(rule.id, (str(path), headers[number] if told else None))
    return found


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
