"""The life of a rule: its states, and all that moves it from one to another (docs: the life of a rule).

===========  ==========================  ====================================================
from         to                          by
===========  ==========================  ====================================================
(not there)  candidate, active           learning
candidate    active                      learning, from more evidence
candidate    gone                        a counterexample; another rule says as much
active       suspended                   a refuted spot check
active       gone, narrower              a counterexample; a declaration of the site
active       gone, wider                 another learned rule says as much
any learned  gone                        a published method, which is to decide alone, does not make it
active       candidate                   a file whose evidence for it is nothing; a declaration of the site
suspended    active                      learning, from what was seen after the refutation
any learned  manual                      the user, by editing it
any          off, gone                   the user, by ``off``, by deleting it
===========  ==========================  ====================================================

Nothing else moves a rule; want of evidence never does. Its evidence in the file is a snapshot of the moment when its
state changed last, up to the time ``until``; counts since then are running ones, and live in the store.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from ..urls import DeepSplit
from ..urls.deep_tokens import whole_key
from .model import Evidence, Rule, SiteRules, Status, content_id
from .operations import Keep


class Reason(str, Enum):
    """Why a learned rule leaves its file."""

    COUNTEREXAMPLE = "counterexample"
    DECLARED = "declared"
    COVERED = "covered"
    OFF = "off"
    METHOD = "method"
    ONE_ANSWER = "one answer"

    __str__ = str.__str__


@dataclass(frozen=True, slots=True)
class Departure:
    """A learned rule that leaves its file.

    ``urls``: two URLs that the rule makes one, and that led to different pages; ``by``: ids of the rules that take
    its place, narrower ones after a counterexample, wider ones where they cover it.
    """

    rule: Rule
    reason: Reason
    urls: tuple[str, str] | None = None
    by: tuple[str, ...] = ()

    @property
    def is_loss(self) -> bool:
        """Whether the rule acted, and less is filtered without it."""
        return self.rule.status is Status.ACTIVE and self.reason not in {Reason.COVERED, Reason.OFF}

    def __str__(self) -> str:
        return f"rule {self.rule.id} of {self.rule.site} {self.said}"

    @property
    def said(self) -> str:
        """What has become of the rule, and why."""
        what = "narrower" if self.by and self.is_loss else "wider" if self.by else "dropped"
        place = f", now {' and '.join(self.by)}" if self.by else ""
        text = f"is {what}{place}"
        if self.reason is Reason.COUNTEREXAMPLE and self.urls is not None:
            return f"{text}: it makes {self.urls[0]} and {self.urls[1]} one, which are different pages"
        return (
            text
            + {
                Reason.COUNTEREXAMPLE: ": pages that it makes one differ",
                Reason.DECLARED: ": the site declares that what it drops is content",
                Reason.COVERED: "" if self.by else ": pages were seen to be one where it keeps them apart",
                Reason.OFF: ": what it does was switched off",
                Reason.ONE_ANSWER: ": nothing speaks for it but answers that different pages have in common",
                Reason.METHOD: ": the method that decides now does not make it",
            }[self.reason]
        )


def merge(
    old: SiteRules,
    learned: Iterable[Rule],
    deep: Mapping[str, DeepSplit] | None = None,
    *,
    gone: Iterable[str] = (),
) -> SiteRules:
    """Return *old* with what was *learned* since; *gone* are the ids of learned rules that leave.

    - every rule of *old* stays that is not *gone*; one of the same state stays as it is, evidence and all;
    - manual and off rules stay whatever is learned, and none with the same id, or of the same content, is learned
      beside them: what is off is never learned back;
    - a learned rule that the user edited (its id no longer fits) is manual now (:func:`as_edited`);
    - a suspended rule stays so, learned again or not: it was refuted; unless it was learned again from what was seen
      after that (its ``refuted_at`` tells that the learner knew);
    - what spot checks and probes have shown stays with a rule, and so does a note of the user.

    *deep* are the deep tokens that the learned rules speak of; those of rules that stay are kept beside them. None
    leaves those of *old*.
    """
    before = [as_edited(rule) for rule in old.rules]
    gone = frozenset(gone)
    users = [rule for rule in before if rule.status.users]
    taken = {rule.id for rule in users} | {content_id(rule.site, rule.match, rule.ops) for rule in users}
    fresh = {
        rule.id: rule
        for rule in learned
        if rule.id not in taken and content_id(rule.site, rule.match, rule.ops) not in taken
    }
    rules = []
    for rule in before:
        again = fresh.pop(rule.id, None)
        if rule.status.users:
            rules.append(rule)
        elif again is not None:
            rules.append(_again(rule, again, is_gone=rule.id in gone))
        elif rule.id not in gone:
            rules.append(rule)
    rules += sorted(fresh.values(), key=lambda rule: rule.id)
    return SiteRules(old.site, tuple(rules), old.deep if deep is None else _deep_of(rules, old.deep, deep))


def _again(rule: Rule, again: Rule, *, is_gone: bool) -> Rule:
    """Return a rule that was learned again: as it was, unless its state changes."""
    again = _with_checks(again, rule)
    if again.status is Status.CANDIDATE and rule.status is Status.ACTIVE and not is_gone:
        return rule  # it is learned with less evidence than it has
    decided = again.evidence.method if again.evidence is not None else ""
    same = again.status is rule.status and decided in ("", rule.evidence.method if rule.evidence is not None else "")
    return rule if same else replace(again, note=again.note or rule.note)


def _with_checks(again: Rule, known: Rule) -> Rule:
    """Return a rule that was learned again, with what is known of its spot checks and probes."""
    before, evidence = known.evidence or Evidence(), again.evidence or Evidence()
    if before.probes:
        evidence = replace(evidence, probes=before.probes, contradicted=before.contradicted)
        again = replace(again, evidence=evidence)
    if evidence.refuted_at and evidence.refuted_at >= before.refuted_at:
        return again  # judged by what was seen since
    if before.samples or before.refuted_at:
        most = max((evidence, before), key=lambda each: (each.samples, each.refuted))
        checked = {name: getattr(most, name) for name in ("samples", "refuted", "undecided")}
        evidence = replace(evidence, **checked, refuted_at=before.refuted_at)
        again = replace(again, evidence=evidence)
    return replace(again, status=Status.SUSPENDED) if known.status is Status.SUSPENDED else again


def _deep_of(
    rules: Iterable[Rule], old: Mapping[str, DeepSplit], deep: Mapping[str, DeepSplit]
) -> dict[str, DeepSplit]:
    """Return the deep tokens *deep*, with those *old* ones that rules speak of."""
    named = {whole_key(key) for rule in rules for key in (*rule.match, *rule.ops)}
    return {**{key: split for key, split in old.items() if key in named}, **deep}


def pooled_evidence(snapshot: Evidence | None, fresh: Evidence, later: int) -> Evidence:
    """Return the evidence of a rule from its file and from what is recorded; what both have seen counts once.

    *fresh* counts all that is recorded, *later* are the witness groups of it that were seen after the snapshot. Without
    a snapshot it is *fresh*.
    """
    if snapshot is None:
        return fresh
    groups = max(fresh.groups, snapshot.groups + later)
    if groups == fresh.groups:
        return replace(
            fresh,
            samples=snapshot.samples,
            refuted=snapshot.refuted,
            undecided=snapshot.undecided,
            refuted_at=fresh.refuted_at or snapshot.refuted_at,
            probes=snapshot.probes,
            contradicted=snapshot.contradicted,
        )
    return replace(
        snapshot,
        learners=tuple(sorted({*snapshot.learners, *fresh.learners})),
        groups=groups,
        counterexamples=max(snapshot.counterexamples, fresh.counterexamples),
        pages=max(snapshot.pages, fresh.pages),
        urls=max(snapshot.urls, fresh.urls),
        removed=max(snapshot.removed, fresh.removed),
        until=max(snapshot.until, fresh.until),
    )


def as_edited(rule: Rule) -> Rule:
    """Return a rule as it is in a file: manual, if it was learned and the user has edited it since."""
    return replace(rule, status=Status.MANUAL) if not rule.status.users and rule.edited else rule


def without_evidence(rule: Rule) -> bool:
    """Return whether an acting learned rule says of itself that nothing speaks for it.

    That is one with an evidence table without a witness group or a spot check. A rule without such a table was not
    written by learning, one that keeps merges nothing, and without it pages might be lost; and published methods decide
    by other signs.
    """
    evidence = rule.evidence
    if rule.status is not Status.ACTIVE or evidence is None:
        return False
    if evidence.method or any(isinstance(operation, Keep) for operation in rule.ops.values()):
        return False
    return not evidence.groups and evidence.samples <= evidence.refuted


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule that acts where others did before: ``before`` are those whose place it takes."""

    rule: Rule
    before: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleChanges:
    """The acting rules of some sites, by what has become of them.

    ``added``: there was none in their place; ``wider`` and ``narrower``: they take the place of others; ``dropped``: those
    that are gone, nothing in their place; ``unchanged``: the others.
    """

    added: tuple[Rule, ...] = ()
    wider: tuple[RuleChange, ...] = ()
    narrower: tuple[RuleChange, ...] = ()
    dropped: tuple[Rule, ...] = ()
    unchanged: tuple[Rule, ...] = ()

    def __str__(self) -> str:
        """Return the changes in short: ``+2 rules, 1 wider, -1 rule, 3 unchanged``."""
        return in_short(*map(len, (self.added, self.wider, self.narrower, self.dropped, self.unchanged)))

    def to_dict(self) -> dict[str, Any]:
        """Return the changes by the ids of the rules, as JSON has them; of those that take a place, whose it was."""
        found: dict[str, Any] = {
            name: [rule.id for rule in rules]
            for name, rules in (("added", self.added), ("dropped", self.dropped), ("unchanged", self.unchanged))
        }
        for name, some in (("wider", self.wider), ("narrower", self.narrower)):
            found[name] = {each.rule.id: [rule.id for rule in each.before] for each in some}
        return found

    def __bool__(self) -> bool:
        """Whether anything has changed."""
        return bool(self.added or self.wider or self.narrower or self.dropped)


def changes(
    before: Iterable[Rule], after: Iterable[Rule], departures: Iterable[Departure], sites: Sequence[str] | None = None
) -> RuleChanges:
    """Return what has changed from the rules of one book to those of another, in all sites or some.

    A rule leaves only by one of *departures*, which say what takes its place.
    """
    old, new = (
        {(rule.site, rule.id): rule for rule in rules if rule.status.acts and (sites is None or rule.site in sites)}
        for rules in (before, after)
    )
    left = {place: each for each in departures if (place := (each.rule.site, each.rule.id)) in old and place not in new}
    replaced: dict[tuple[str, str], list[Departure]] = {}
    for departure in left.values():
        for name in departure.by:
            replaced.setdefault((departure.rule.site, name), []).append(departure)
    fresh = [place for place in new if place not in old]
    moved = [
        (RuleChange(new[place], tuple(each.rule for each in its)), its)
        for place, its in replaced.items()
        if place in fresh
    ]
    return RuleChanges(
        added=tuple(new[place] for place in fresh if place not in replaced),
        wider=tuple(change for change, its in moved if all(each.reason is Reason.COVERED for each in its)),
        narrower=tuple(change for change, its in moved if any(each.reason is not Reason.COVERED for each in its)),
        dropped=tuple(each.rule for each in left.values() if not each.by),
        unchanged=tuple(rule for place, rule in old.items() if place not in left),
    )


def in_short(added: int, wider: int, narrower: int, dropped: int, unchanged: int) -> str:
    """Return numbers of rules in short.

    >>> in_short(2, 1, 0, 1, 3), in_short(0, 0, 0, 0, 1), in_short(0, 0, 0, 0, 0)
    ('+2 rules, 1 wider, -1 rule, 3 unchanged', '1 rule unchanged', 'no rules')
    """
    said = [f"+{_rules(added)}"] if added else []
    said += [f"{number} {word}" for number, word in ((wider, "wider"), (narrower, "narrower")) if number]
    said += [f"-{_rules(dropped)}"] if dropped else []
    if unchanged:
        said.append(f"{unchanged} unchanged" if said else f"{_rules(unchanged)} unchanged")
    return ", ".join(said) or "no rules"


def _rules(number: int) -> str:
    return f"{number} rule" if number == 1 else f"{number} rules"
