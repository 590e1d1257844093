"""What rule packs say of a site: an opinion on proposals, and proposals that two pages are enough for.

A pack moves the prior of what its rules say by Bayes's theorem, as other opinions do (:mod:`.said`): where a platform's
software makes no difference of a parameter on other sites, fewer pages are enough here, and never none. Of what the packs
call the page, more are. A counterexample is answered by the judge: at these odds it outweighs two pages.

Source: url-parameter-relevance, universally relevant and irrelevant parameters, here by platform and URL template.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...observation import Observation
from ...packs.model import ENOUGH, Pack, PackRule
from ...packs.platforms import Template, generators_of, platforms_told
from ...rules import Absent, Evidence, Keep, Literal, Rule, Status
from ...rules.normal_texts import normal_key, normal_predicate
from ...urls import DeepSplit
from ..data.judgement import SiteUrls
from ..data.url_table import Table
from ..decision.validation import validated
from ..decision.witness_counts import pages_for
from ..evidence.arrays import ABSENT, Flags
from ..evidence.shares import MIN_STATED
from ..proposals.combining import rules_of
from ..proposals.coverage import says_as_much
from ..proposals.matching import concerned, matching
from ..proposals.proposal import Match, Proposal

PACK = "pack"
"""What rules name as their learner that packs have proposed."""
TRUST = 2 * ENOUGH
"""Log-odds that the word of a trusted pack counts as."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A rule of a pack that may hold on a site."""

    pack: str
    rule: PackRule
    trusted: bool = False

    @property
    def log_odds(self) -> float:
        """Log-odds that what it says is wrong here."""
        believed = self.rule.log_odds
        return -TRUST if self.trusted and believed < 0 else believed


def lessons_for(packs: Iterable[Pack], observations: Sequence[Observation]) -> tuple[Lesson, ...]:
    """Return what packs have to say of a site, by its platforms."""
    found: list[Lesson] = []
    for pack in packs:
        urls = [seen.url for seen in observations if seen.status == 200]
        told = platforms_told(urls, generators_of(seen.headers for seen in observations), pack.platforms)
        found += [Lesson(pack.name, rule, pack.trusted) for rule in pack.of_platforms(told)]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Taught:
    """What lessons say in the keys of a site: proposals, each with its lesson, and the log-odds of whole parameters."""

    proposals: tuple[tuple[Proposal, Lesson], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.proposals)

    @classmethod
    def of(cls, lessons: Iterable[Lesson], table: Table) -> "Taught":
        """Return what lessons say of the URLs of a table. O(URLs) for each lesson that has its template there."""
        return cls(
            tuple(
                (one, lesson) for lesson in lessons for one in proposals_of(lesson.rule, table, unseen=lesson.trusted)
            )
        )

    def said(self) -> dict[str, float]:
        """Return the log-odds that parameters are relevant which lessons speak of as a whole, by key."""
        found: dict[str, float] = {}
        for one, lesson in self.proposals:
            if lesson.rule.is_of_names:
                said = -lesson.log_odds if lesson.rule.is_kept else lesson.log_odds
                found[one.key] = max((found.get(one.key, 0.0), said), key=abs)
        return found

    def log_odds(self, proposal: Proposal) -> float:
        """Return the log-odds that a proposal is wrong, of what the lessons say that say as much as it does."""
        said = [
            lesson.log_odds
            for one, lesson in self.proposals
            if not (lesson.rule.is_of_names or lesson.rule.is_kept) and says_as_much(one, proposal)
        ]
        return max(said, key=abs, default=0.0)

    def dropping(self) -> list[Proposal]:
        """Return what lessons would have dropped, and may on evidence."""
        return list(dict.fromkeys(one for one, lesson in self.proposals if _drops(lesson) and not lesson.trusted))

    def trusted_rules(self, site: str, before: Iterable[Rule]) -> list[Rule]:
        """Return the rules of trusted packs, acting; those left out that are rules of *before*, whatever their status."""
        known = {rule.id for rule in before}
        said: dict[str, list[Proposal]] = {}
        for one, lesson in self.proposals:
            if lesson.trusted and _drops(lesson):
                said.setdefault(lesson.pack, []).append(one)
        return [
            replace(rule, status=Status.ACTIVE, evidence=Evidence(learners=(PACK,), pack=pack))
            for pack, some in said.items()
            for rule in rules_of(site, dict.fromkeys(some))
            if rule.id not in known
        ]

    def with_packs(self, rules: Iterable[Rule]) -> list[Rule]:
        """Return rules, those that packs have proposed with the names of these."""
        found = []
        for rule in rules:
            if rule.evidence is not None and PACK in rule.evidence.learners and not rule.evidence.pack:
                packs = {lesson.pack for one, lesson in self.proposals if one.key in rule.ops and _drops(lesson)}
                rule = replace(rule, evidence=replace(rule.evidence, pack=", ".join(sorted(packs))))
            found.append(rule)
        return found


def proposals(sample: SiteUrls, deep: Mapping[str, DeepSplit], taught: Taught) -> list[Proposal]:
    """Return what the lessons say that enough pages of the site speak for, and that none refutes.

    Empty where no two URLs of the sample lead to one page.
    """
    if not taught or len(set(sample.content)) == len(sample.content):
        return []
    found = validated(taught.dropping(), sample, deep)
    pages = pages_for(found, sample, deep) if found else {}
    return [one for one in found if pages[one] >= MIN_STATED]


def _drops(lesson: Lesson) -> bool:
    return not lesson.rule.is_kept and lesson.log_odds < 0


def proposals_of(rule: PackRule, table: Table, *, unseen: bool = False) -> Iterable[Proposal]:
    """Yield what a rule of a pack says of the URLs of a table: of each key that it means, at each place of its template.

    With *unseen* also of keys that no URL has yet.
    """
    asked = [(normal_key(key), normal_predicate(key, predicate)) for key, predicate in rule.match.items()]
    for place in _places(rule.template, table):
        match: Match = (*place, *asked)
        here = matching(table, match)
        if not (unseen or here.any()):
            continue
        for name, operation in rule.ops.items():
            keys = _keys(normal_key(name), table.columns)
            if unseen:
                keys = keys or [normal_key(name)]
            for key in keys:
                if unseen or isinstance(operation, Keep) or (concerned(table, key, operation) & here).any():
                    yield Proposal(match, key, operation)


def _keys(name: str, columns: Iterable[str]) -> list[str]:
    """Return the keys of a site that a key of a pack means, which may end in ``*``."""
    return [key for key in columns if key == name or (name.endswith("*") and key.startswith(name[:-1]))]


def _places(text: str, table: Table) -> Iterable[Match]:
    """Yield the patterns by which URLs of a site have a template."""
    if not text:
        yield ()
        return
    template = Template.of(text)
    code = table.numbers.get(template.stem)
    if code is None:
        return
    none = np.zeros(len(table), dtype=np.int32)
    anywhere = text.startswith("/")
    for key, codes in table.columns.items():
        if not key.startswith("path.") or not key[5:].isdigit():
            continue
        following = f"path.{int(key[5:]) + 1}"
        here: Flags = codes == code
        if not anywhere:
            here &= table.columns.get(following, none) == ABSENT
        if here.any():
            last: Match = () if anywhere else ((following, Absent()),)
            extension: Match = (("ext", Literal(template.extension)),) if template.extension else ()
            yield ((key, Literal(template.stem)), *last, *extension)


Lessons = Sequence[Lesson]
