"""First letters: proposals that case means nothing, for no more of a value than was tested."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...rules import Lower
from ...urls.percent import lower_first
from ..config import current
from ..data.judgement import Judgement
from ..data.url_table import Table
from ..evidence.arrays import ABSENT
from ..proposals.matching import matching
from ..proposals.proposal import Proposal


def first_letter_unless_tested(proposals: Sequence[Proposal], table: Table, judgement: Judgement) -> list[Proposal]:
    """Return the proposals, those that lower a whole value for its first letter only where hardly more was tested."""
    found = []
    for proposal in proposals:
        if proposal.operation == Lower() and not proposal.joint and proposal.key in table.columns:
            chosen = matching(table, proposal.match)
            codes = table.columns[proposal.key]
            spelled = {
                code: lower_first(table.vocabulary[code])
                for code in np.unique(codes[chosen]).tolist()
                if code != ABSENT
            }
            pages = set()
            for members in judgement.clean:
                spellings = {spelled[codes[row]] for row in members if chosen[row] and codes[row] in spelled}
                if len(spellings) > 1:
                    pages.add(table.content[members[0]])
            if len(pages) < current().case_pages:
                proposal = replace(proposal, operation=Lower(first=True))
        found.append(proposal)
    return found
