"""What rule packs say of a site: an opinion on proposals, and proposals that two pages are enough for.

A pack moves the prior of what its rules say by Bayes's theorem, as other opinions do (:mod:`.said`): where widespread
software makes no difference of a parameter, fewer pages are enough, and never none. Of what the packs
call the page, more are. A counterexample is answered by the judge: at these odds it outweighs two pages.

Source: url-parameter-relevance, universally relevant and irrelevant parameters, here by URL template.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...packs.model import Pack, PackRule
from ...rules import Absent, Keep, Literal, Rule
from ...rules.normal_texts import normal_key, normal_predicate
from ...urls import DeepSplit
from ...urls.paths import split_extension
from ..data.judgement import SiteUrls
from ..data.url_table import Table
from ..decision.validation import pages_for, validation
from ..evidence.arrays import ABSENT, Flags
from ..evidence.shares import MIN_STATED
from ..proposals.coverage import says_as_much
from ..proposals.dropping import concerned, matching
from ..proposals.proposal import Match, Proposal

PACK = "pack"
"""What rules name as their learner that packs have proposed."""


@dataclass(frozen=True, slots=True)
class Taught:
    """What packs say in the keys of a site: proposals, each with its pack and rule, and the log-odds of whole parameters."""

    proposals: tuple[tuple[Proposal, str, PackRule], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.proposals)

    @classmethod
    def of(cls, packs: Iterable[Pack], table: Table) -> "Taught":
        """Return what packs say of the URLs of a table. O(URLs) for each rule that has its template there."""
        return cls(
            tuple((one, pack.name, rule) for pack in packs for rule in pack.rules for one in proposals_of(rule, table))
        )

    def said(self) -> dict[str, float]:
        """Return the log-odds that parameters are relevant which packs speak of as a whole, by key."""
        found: dict[str, float] = {}
        for one, _, rule in self.proposals:
            if rule.is_of_names or rule.is_kept:
                said = -rule.log_odds if rule.is_kept else rule.log_odds
                found[one.key] = max((found.get(one.key, 0.0), said), key=abs)
        return found

    def log_odds(self, proposal: Proposal) -> float:
        """Return the log-odds that a proposal is wrong, of what the packs say that say as much as it does."""
        said = [
            rule.log_odds
            for one, _, rule in self.proposals
            if not (rule.is_of_names or rule.is_kept) and says_as_much(one, proposal)
        ]
        return max(said, key=abs, default=0.0)

    def dropping(self) -> list[Proposal]:
        """Return what packs would have dropped, and may on evidence."""
        return list(dict.fromkeys(one for one, _, rule in self.proposals if _drops(rule)))

    def with_packs(self, rules: Iterable[Rule]) -> list[Rule]:
        """Return rules, those that packs have proposed with the names of these."""
        found = []
        for rule in rules:
            if rule.evidence is not None and PACK in rule.evidence.learners and not rule.evidence.pack:
                packs = {pack for one, pack, said in self.proposals if one.key in rule.ops and _drops(said)}
                rule = replace(rule, evidence=replace(rule.evidence, pack=", ".join(sorted(packs))))
            found.append(rule)
        return found


def proposals(sample: SiteUrls, deep: Mapping[str, DeepSplit], taught: Taught) -> list[Proposal]:
    """Return what the packs say that enough pages of the site speak for, and that none refutes.

    Empty where no two URLs of the sample lead to one page.
    """
    if not taught or len(set(sample.content)) == len(sample.content):
        return []
    found = validation(taught.dropping(), sample, deep).kept
    pages = pages_for(found, sample, deep) if found else {}
    return [one for one in found if pages[one] >= MIN_STATED]


def _drops(rule: PackRule) -> bool:
    return not rule.is_kept and rule.log_odds < 0


def proposals_of(rule: PackRule, table: Table) -> Iterable[Proposal]:
    """Yield what a rule of a pack says of the URLs of a table: of each key that it means, at each place of its template."""
    asked = [(normal_key(key), normal_predicate(key, predicate)) for key, predicate in rule.match.items()]
    for place in _places(rule.template, table):
        match: Match = (*place, *asked)
        here = matching(table, match)
        if not here.any():
            continue
        for name, operation in rule.ops.items():
            for key in _keys(normal_key(name), table.columns):
                if isinstance(operation, Keep) or (concerned(table, key, operation) & here).any():
                    yield Proposal(match, key, operation)


def _keys(name: str, columns: Iterable[str]) -> list[str]:
    """Return the keys of a site that a key of a pack means, which may end in ``*``."""
    return [key for key in columns if key == name or (name.endswith("*") and key.startswith(name[:-1]))]


def _places(text: str, table: Table) -> Iterable[Match]:
    """Yield the patterns by which URLs of a site have a template."""
    if not text:
        yield ()
        return
    anywhere = text.startswith("/")
    stem, extension = (text.strip("/"), None) if anywhere else split_extension(text)
    code = table.numbers.get(stem)
    if code is None:
        return
    none = np.zeros(len(table), dtype=np.int32)
    for key, codes in table.columns.items():
        if not key.startswith("path.") or not key[5:].isdigit():
            continue
        following = f"path.{int(key[5:]) + 1}"
        here: Flags = codes == code
        if not anywhere:
            here &= table.columns.get(following, none) == ABSENT
        if here.any():
            last: Match = () if anywhere else ((following, Absent()),)
            ending: Match = (("ext", Literal(extension)),) if extension else ()
            yield ((key, Literal(stem)), *last, *ending)
