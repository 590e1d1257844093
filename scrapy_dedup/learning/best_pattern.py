"""The best pattern of a site that got no rule: what a person would look at to decide by hand."""

from dataclasses import dataclass

import numpy as np

from ..rules.wording import key_in_words
from .data.frame import Frame, Level
from .data.grouping import Groups, varying
from .data.url_table import Table
from .evidence.arrays import Flags

MOST_KEYS = 24
"""Keys that are looked at, those first that vary most among the URLs of one page."""


@dataclass(frozen=True, slots=True)
class BestPattern:
    """A key whose value makes no difference for most URLs that differ in nothing else.

    ``same``, ``different``: witness groups that show one page, and those that show several; ``example``: two URLs of one of
    the latter.
    """

    key: str
    same: int
    different: int
    example: tuple[str, str] | None

    def __str__(self) -> str:
        """Return the pattern in words.

        >>> print(BestPattern("q.sid", 1521, 8, ("/?sid=1", "/?sid=2")))
        best pattern: without the parameter sid, 1,521 of 1,529 groups of URLs show one page; 8 do not, such as /?sid=1 and /?sid=2
        """
        of = self.same + self.different
        said = f"best pattern: without {key_in_words(self.key)}, {self.same:,} of {of:,} groups of URLs show one page"
        if self.example is None:
            return said
        verb = "does" if self.different == 1 else "do"
        return f"{said}; {self.different:,} {verb} not, such as {self.example[0]} and {self.example[1]}"


def best_pattern(table: Table) -> BestPattern | None:
    """Return the best pattern among the keys of a site's URLs; None where the URLs of no page differ in one key alone."""
    frame = Frame(table, np.arange(len(table)))
    support = frame.support()
    found = [_pattern(frame, key) for key in sorted(support, key=lambda key: (-support[key], key))[:MOST_KEYS]]
    return max(
        [one for one in found if one.same > one.different],
        key=lambda one: (one.same / (one.same + one.different + 1), one.same),
        default=None,
    )


def _pattern(frame: Frame, key: str) -> BestPattern:
    groups = frame.groups({key: Level.DROPPED})
    differ = varying(groups, frame.columns[key])
    different = differ & (groups.contents > 1)
    return BestPattern(
        key,
        int((differ & (groups.contents == 1)).sum()),
        int(different.sum()),
        _example(frame.table, groups, different),
    )


def _example(table: Table, groups: Groups, chosen: Flags) -> tuple[str, str] | None:
    """Return two URLs of different content of the first *chosen* group."""
    if not chosen.any():
        return None
    rows = groups.order[groups.group == int(np.flatnonzero(chosen)[0])]
    other = next(row for row in rows if table.content[row] != table.content[rows[0]])
    return table.urls[rows[0]], table.urls[other]
