"""One site's URLs, learned: from a sample to proposals."""

from collections.abc import Iterable, Mapping

import numpy as np

from ..urls import DeepSplit, learn_deep_splits, values_of
from .combining import rules_of
from .constant_pages import constant_pages
from .emission import Proposal, proposals
from .frame import Frame
from .grouping import Flags
from .guards import Node, grown
from .home_pages import home_pages, without_home_pages
from .judgement import Sample, book_of, judged
from .scope import scoped
from .table import encode
from .validation import validated

SEED = 0
"""Of the random choice of pairs and samples: the same observations give the same rules."""


class SiteLearner:
    """Learns from a sample of a site's URLs; ``deep`` are the deep tokens it works with.

    Those of the sample itself, unless they are given.
    """

    def __init__(self, sample: Sample, deep: Mapping[str, DeepSplit] | None = None) -> None:
        self.sample = sample
        self.deep = deep_splits(sample) if deep is None else deep

    def proposals(self) -> list[Proposal]:
        """Return the validated proposals; none where there is nothing to learn from."""
        sample = self.sample
        if len(set(sample.content)) == len(sample.content):
            return []
        views = (values_of(url, groups=sample.groups, deep=self.deep) for url in sample.urls)
        table = encode(sample.urls, views, sample.content, sample.lone)
        everything = Frame(table, np.arange(len(table)))
        constants, covered = constant_pages(everything, self._confirmed())
        rest = everything.subset(np.flatnonzero(~covered & ~home_pages(table)))
        tree = grown(rest, {}, (), np.random.default_rng(SEED))
        rows = np.arange(len(table))
        fixed = proposals(table, rows, Node(()), constants)
        found = proposals(table, rows, tree, ())
        book = book_of(rules_of(sample.site, [*fixed, *found]), sample, self.deep)
        judgement = judged(book, sample)
        found = without_home_pages(scoped(found, table, judgement), table, judgement)
        return validated([*fixed, *found], sample, self.deep)

    def _confirmed(self) -> Flags:
        """Return which URLs were the same page in two crawls: all, where observations tell no times.

        Then they are no crawl's but the user's, who knows what is a page.
        """
        known = self.sample.confirmed
        return np.array([known is None or url in known for url in self.sample.urls], dtype=np.bool_)


def deep_splits(sample: Sample) -> dict[str, DeepSplit]:
    """Return the deep tokens that the values of a sample show."""
    columns: dict[str, dict[str, None]] = {}
    for url in sample.urls:
        for key, value in values_of(url, groups=sample.groups).items():
            if value:
                columns.setdefault(key, {})[value] = None
    return learn_deep_splits({key: list(values) for key, values in columns.items()})


def used_splits(proposals: Iterable[Proposal], deep: Mapping[str, DeepSplit]) -> dict[str, DeepSplit]:
    """Return the deep tokens that proposals speak of, or whose keys they speak of."""
    named = {key for proposal in proposals for key in (proposal.key, *(key for key, _ in proposal.match))}
    return {key: split for key, split in deep.items() if named & {key, f"{key}.head", f"{key}.tail"}}
