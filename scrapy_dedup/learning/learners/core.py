"""The core learner, and what a learner is given: the evidence of a site, which it turns into proposals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...urls import DeepSplit
from ..data.frame import Frame
from ..data.judgement import SiteUrls
from ..data.sampling import SEED
from ..data.url_table import Table
from ..deadline import NEVER, Deadline
from ..evidence.arrays import Rows
from ..proposals.combining import outcome_of
from ..proposals.proposal import Proposal
from ..search.constant_pages import constant_pages
from ..search.emission import proposals
from ..search.guards import GuardNode, grown
from ..search.letter_case import case_insensitive
from ..search.nested_urls import nested_urls
from ..search.orders import any_orders


@dataclass(frozen=True, slots=True)
class SiteEvidence:
    """What a learner is given."""

    sample: SiteUrls
    deep: Mapping[str, DeepSplit]
    """The deep tokens that rules may speak of."""
    table: Table
    """The URLs of the sample, encoded with these deep tokens."""
    deadline: Deadline = NEVER
    """When to stop looking for more."""

    def part(self, rows: Rows) -> "SiteEvidence":
        """Return the evidence of some of the URLs."""
        return replace(self, sample=self.sample.part(rows.tolist()), table=self.table.part(rows))


Learner = Callable[[SiteEvidence], list[Proposal]]


def difference_sets(evidence: SiteEvidence) -> list[Proposal]:
    """Return constant pages, what dropping jointly and putting back gives, case, nested URLs and orders."""
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
    found += case_insensitive(found, Frame(table, rest))
    found += nested_urls(found, Frame(table, rest), sample, evidence.deep)
    return [*found, *any_orders(judgement)]
