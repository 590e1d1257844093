"""The learners by name: each turns the evidence of a site into proposals, and deploys nothing by itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...urls import DeepSplit
from ..data.frame import Frame
from ..data.judgement import SiteUrls
from ..data.sampling import SEED
from ..data.url_table import Table
from ..deadline import NEVER, Deadline
from ..evidence.arrays import Rows
from ..methods import entropy, equivalence, pattern_tree
from ..methods.entropy import Priors
from ..opinions import declared, taught
from ..opinions.declared import Declarations
from ..opinions.taught import PACK, Taught
from ..proposals.combining import outcome_of
from ..proposals.proposal import Proposal
from ..search.constant_pages import constant_pages
from ..search.emission import proposals
from ..search.guards import GuardNode, grown
from ..search.linked_directories import linked_directories
from ..search.orders import any_orders, kept_names
from . import affixes, replacing


@dataclass(frozen=True, slots=True)
class SiteEvidence:
    """What a learner is given."""

    sample: SiteUrls
    deep: Mapping[str, DeepSplit]
    """The deep tokens that rules may speak of."""
    table: Table
    """The URLs of the sample, encoded with these deep tokens."""
    plain: Table
    """The same URLs, encoded without deep tokens."""
    declarations: Declarations = field(default_factory=Declarations)
    deadline: Deadline = NEVER
    """When to stop looking for more."""
    priors: Priors = field(default_factory=Priors)
    """What names of parameters mean on other sites."""
    taught: Taught = field(default_factory=Taught)
    """What rule packs say."""

    @classmethod
    def of(
        cls,
        sample: SiteUrls,
        plain: Table,
        deep: Mapping[str, DeepSplit],
        declarations: Declarations,
        priors: Priors | None = None,
    ) -> "SiteEvidence":
        """Return the evidence of a sample whose URLs are encoded already."""
        table = plain.with_deep(deep) if deep else plain
        return cls(sample, deep, table, plain, declarations, priors=priors or Priors())

    def part(self, rows: Rows) -> "SiteEvidence":
        """Return the evidence of some of the URLs."""
        table = self.table.part(rows)
        plain = self.plain.part(rows) if self.deep else table
        return replace(self, sample=self.sample.part(rows.tolist()), table=table, plain=plain)


Learner = Callable[[SiteEvidence], list[Proposal]]


def difference_sets(evidence: SiteEvidence) -> list[Proposal]:
    """Return constant pages, the tree of functions that dropping jointly and putting back give, directories and orders."""
    sample, table = evidence.sample, evidence.table
    rows = np.arange(len(table))
    frame = Frame(table, rows)
    constants, covered = constant_pages(frame, sample)
    fixed = proposals(table, rows, GuardNode(()), constants)
    del frame  # it is large
    rest = np.flatnonzero(~covered)
    tree = grown(Frame(table, rest), {}, (), np.random.default_rng(SEED), deadline=evidence.deadline)
    found = proposals(table, rows, tree, ())
    judgement = outcome_of([*fixed, *found], sample, evidence.deep)
    found = [*fixed, *found]
    found += kept_names(found, table)
    return [*found, *linked_directories(judgement, table, evidence.deep), *any_orders(judgement)]


LEARNERS: Mapping[str, Learner] = {
    "difference_sets": difference_sets,
    "equivalence": lambda evidence: equivalence.proposals(evidence.sample, evidence.deep, evidence.plain),
    "entropy": lambda evidence: entropy.proposals(evidence.sample, evidence.deep, evidence.table),
    "pattern_tree": lambda evidence: pattern_tree.proposals(
        evidence.sample, evidence.deep, evidence.table, evidence.plain
    ),
    "replacing": lambda evidence: replacing.proposals(evidence.sample, evidence.deep),
    "affixes": lambda evidence: affixes.proposals(evidence.sample, evidence.deep, evidence.table),
    "declared": lambda evidence: declared.proposals(evidence.sample, evidence.deep, evidence.declarations),
}
"""The first is the core learner; the others run where it leaves duplicates apart."""


def with_packs(learners: Mapping[str, Learner], said: Taught) -> Mapping[str, Learner]:
    """Return learners, and after the first of them what rule packs say, where they say anything."""
    if not (said and learners):
        return learners
    first, *others = learners.items()
    return dict([first, (PACK, lambda one: taught.proposals(one.sample, one.deep, one.taught)), *others])


def chosen_learners(names: Sequence[str] | None) -> Mapping[str, Learner]:
    """Return the learners of these names, all of them for None. Raises ValueError for anything else."""
    if names is None:
        return LEARNERS
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise ValueError(  # noqa: TRY004 (one kind of error for a wrong argument)
            f"learners is {names!r}: it must be a list of names, or None for all."
        )
    unknown = [name for name in names if name not in LEARNERS]
    if unknown or not names:
        what = f"there is no learner {unknown[0]!r}" if unknown else "no learner is named"
        raise ValueError(f"learners is {list(names)!r}: {what}. There are {', '.join(LEARNERS)}.")
    return {name: learner for name, learner in LEARNERS.items() if name in names}
