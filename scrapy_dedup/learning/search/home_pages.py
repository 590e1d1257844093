"""Hosts that are the same but for the home page: ``www.`` and ``m.`` often are.

There is one home page a host. It gives one group of URLs, which is a counterexample that takes the
whole finding away where hosts differ in nothing else, and noise beside a thousand groups that do not
differ. So home pages are asked apart: a host is another name on the home page, too, only where
the home pages themselves were seen to be equal.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...rules import Ignore, IgnoreValue, OfClass
from ...urls import values_of
from ..config import current
from ..data.judgement import Judgement
from ..data.url_table import Table
from ..evidence.arrays import Flags
from ..proposals.proposal import ANY_VALUE, Match, Proposal

ABOVE_ROOT: Match = (("path.0", OfClass(ANY_VALUE)),)


def home_pages(table: Table) -> Flags:
    """Return which URLs are home pages of one of several hosts; none where all pages have that path."""
    nowhere = np.zeros(len(table), dtype=np.bool_)
    if not any(_is_host(key) for key in table.columns) or "path.len" not in table.columns:
        return nowhere
    lengths = table.columns["path.len"]
    at_root = lengths == table.numbers.get("0", -1)
    return at_root if at_root.sum() <= current().at_root * len(table) else nowhere


def without_home_pages(proposals: Sequence[Proposal], table: Table, judgement: Judgement) -> list[Proposal]:
    """Return the proposals, those on hosts without the home pages where these differ or were not seen."""
    home = set(np.flatnonzero(home_pages(table)).tolist())
    return [
        replace(proposal, match=proposal.match + ABOVE_ROOT) if _is_narrower(proposal, home, judgement) else proposal
        for proposal in proposals
    ]


def _is_narrower(proposal: Proposal, home: set[int], judgement: Judgement) -> bool:
    """Tell whether a proposal acts on hosts of which no equal home pages were seen."""
    if not _is_host(proposal.key) or {"path.0", "path.len"} & {key for key, _ in proposal.match}:
        return False
    if not isinstance(proposal.operation, Ignore | IgnoreValue) or not isinstance(proposal.operation.only, frozenset):
        return True
    if not home:
        # Without a path all pages are one kind, and that kind is what was tested.
        return not any(_is_at_root(url) for url in judgement.sample.urls)
    equal: set[str] = set()
    for members in judgement.merged:
        own = [i for i in members if i in home]
        if len(own) < 2:
            continue
        values = {values_of(judgement.sample.urls[i], groups=judgement.sample.groups).get(proposal.key) for i in own}
        if len(values) > 1:
            if len({judgement.sample.content[i] for i in own}) > 1:
                return True
            equal |= {value for value in values if value is not None}
    return not proposal.operation.only <= equal


def _is_at_root(url: str) -> bool:
    return values_of(url).get("path.len") == "0"


def _is_host(key: str) -> bool:
    return key.startswith("host.")
