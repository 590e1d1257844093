"""One site's URLs, learned: from a sample to proposals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..rules.model import ORDERED
from ..urls import DeepSplit, learn_deep_splits, values_of
from ..urls.deep_tokens import may_be_parted
from .config import current
from .data.error_rate import judge_of
from .data.frame import Frame
from .data.judgement import Sample
from .data.soft_errors import soft_errors
from .data.table import REPEAT, Table, encode
from .data.tokens import lists_of_values, significant_splits
from .deadline import NEVER, Deadline
from .evidence.arrays import ABSENT
from .evidence.value_kinds import ORDER, kind_of_key
from .learners.affixes import wider_families
from .learners.casing import wider_spellings
from .learners.generalising import generalised
from .learners.registry import LEARNERS, Evidence, Learner
from .methods.entropy import Priors
from .opinions.declared import Declarations
from .opinions.said import said_of
from .proposals.proposal import Proposal
from .search.constant_pages import constant_pages, numbers_of
from .search.linked_directories import in_linked_directories
from .selection import Selected, selected

SEARCH = 0.4
"""Share of the time left that is spent on looking for rules; the rest is for testing them."""


class SiteLearner:
    """Learns from a sample of a site's URLs; ``deep`` are the deep tokens that its rules may speak of.

    *priors* are what names of parameters mean on other sites.

    ``sources`` and ``out_of_time`` (whether the search was cut short at the *deadline*) are about what :meth:`proposals`
    returned last. What was found is validated all the same.
    """

    def __init__(
        self,
        sample: Sample,
        learners: Mapping[str, Learner] = LEARNERS,
        declarations: Declarations | None = None,
        deadline: Deadline = NEVER,
        priors: Priors | None = None,
        *,
        table: Table | None = None,
    ) -> None:
        table = encoded(sample) if table is None else table
        declared = declarations or Declarations()
        judge = replace(table.judge, said=said_of(table, declared, sample.groups, priors, sample.names))
        sample, table = replace(sample, judge=judge), replace(table, judge=judge)
        varying = varying_keys(table)
        table = replace(table, lists=lists_of_values(table, varying))
        evidence = Evidence.of(sample, table, deep_splits(table, varying), declared, priors)
        columns, vocabulary = evidence.table.columns, evidence.table.vocabulary
        kinds = {key: kind_of_key(key, columns, vocabulary) for key in columns} | dict.fromkeys(ORDERED, ORDER)
        self._evidence = replace(evidence, sample=replace(sample, kinds=kinds))
        self._learners = learners
        self._deadline = deadline
        self.out_of_time = False
        self._selected = Selected()
        self._wider: dict[Proposal, tuple[str, ...]] = {}

    @property
    def deep(self) -> Mapping[str, DeepSplit]:
        """Return the deep tokens."""
        return self._evidence.deep

    @property
    def evidence(self) -> Evidence:
        """Return the URLs and their columns, which rules are learned from."""
        return self._evidence

    def proposals(self) -> list[Proposal]:
        """Return the validated proposals; none where there is nothing to learn from."""
        evidence = replace(self._evidence, deadline=self._deadline.share(SEARCH))
        self._selected = selected(evidence, self._learners)
        self.out_of_time = evidence.deadline.passed()
        return self._selected.proposals

    @property
    def sources(self) -> Mapping[Proposal, tuple[str, ...]]:
        """Return the learners that each of the proposals comes from."""
        return {**self._selected.sources, **self._wider}

    def generalised(self, proposals: Sequence[Proposal], refused: Sequence[Proposal] = ()) -> list[Proposal]:
        """Return accepted proposals, widened to names, hosts and spellings that were not seen; *refused* are others."""
        table, deep, found = self._evidence.table, self._evidence.deep, list(proposals)
        for name in ("affixes", "entropy"):
            if name in self._learners and not self._deadline.passed():
                wider = wider_families(found, table, deep) if name == "affixes" else wider_spellings(found, table)
                more = generalised(found, wider, self._evidence.sample, deep, refused=refused)
                self._wider.update(dict.fromkeys([one for one in more if one not in found], (name,)))
                found = more
        return found


def encoded(sample: Sample) -> Table:
    """Return the table of a sample."""
    views = (values_of(url, groups=sample.groups) for url in sample.urls)
    return replace(encode(sample.urls, views, sample.content, sample.lone), judge=sample.judge)


def judged_sample(sample: Sample, controls: Iterable[tuple[int, int]]) -> tuple[Sample, Table]:
    """Return a sample that knows its site's error rate and constant pages, without soft errors, and its table.

    *controls* are as :func:`.error_rate.judge_of` takes them.
    """
    table = encoded(sample)
    # What the site and other sites say of a key is said of other pages than those of one content.
    said = said_of(table, Declarations(), sample.groups, names=sample.names)
    table = replace(table, judge=replace(table.judge, said=said))
    every = np.arange(len(table))
    soft = soft_errors(sample.urls, table.content)
    frame = Frame(table, every)
    pages, covered = constant_pages(frame, sample)
    sample = replace(sample, constant=numbers_of(frame, pages).tolist())
    soft &= ~covered  # a page that answers for whatever a parameter says is one, and told as such
    if soft.any():  # and so are directories that are one: their files have names in common with all others
        soft &= ~in_linked_directories(table)
    rows = np.flatnonzero(~soft)
    judge = judge_of(Frame(table, rows), controls)
    return replace(sample.part(rows.tolist()), judge=judge), replace(table.part(rows), judge=judge)


def varying_keys(table: Table) -> list[str]:
    """Return the keys whose values may have parts, and differ where URLs show one page."""
    support = Frame(table, np.arange(len(table))).support()
    return [key for key, pages in support.items() if may_be_parted(key) and pages >= current().least_contents]


def deep_splits(table: Table, varying: Sequence[str]) -> dict[str, DeepSplit]:
    """Return the deep tokens that the values of a table show: by numbers and ids, or by pages.

    Where a token is seen to be optional, values without it are parted, too. *varying* are the keys that differ where URLs show one page.
    """
    columns: dict[str, list[str]] = {}
    for key, codes in table.columns.items():
        if key in table.lists:
            continue  # its values have any number of parts
        texts = [table.vocabulary[code] for code in np.unique(codes).tolist() if code != ABSENT]
        columns[key] = [value for text in texts for value in text.split(REPEAT)]
    numbered = learn_deep_splits(columns)
    shown = significant_splits(table, [key for key in varying if key in columns])
    return {**shown, **numbered, **{key: split for key, split in shown.items() if split.optional}}


def used_splits(proposals: Iterable[Proposal], deep: Mapping[str, DeepSplit]) -> dict[str, DeepSplit]:
    """Return the deep tokens that proposals speak of, or whose keys they speak of."""
    named = {key for proposal in proposals for key in (proposal.key, *(key for key, _ in proposal.match))}
    return {key: split for key, split in deep.items() if named & {key, f"{key}.head", f"{key}.tail"}}
