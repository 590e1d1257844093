"""What groups of URLs show: the contents of each, by how many of its URLs, and which groups look alike in that."""

from dataclasses import dataclass

import numpy as np

from .arrays import Codes, Flags, Hashes, Integers, Rows, mixed, pairs, spans


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of some groups, those of a group together, the groups in order.

    ``content`` is one that a group shows, ``urls`` how many of its URLs do, ``lone`` whether no other URL of the site does;
    ``starts`` is the place of the first one of each group.
    """

    content: Codes
    urls: Integers
    lone: Flags
    starts: Rows

    @classmethod
    def of(cls, group: Rows, content: Codes, lone: Flags) -> "Contents":
        """Return the contents of groups that are numbered from 0 without gaps. O(n log n) in their URLs."""
        order = np.argsort(pairs(group, content), kind="stable")
        group, content = group[order], content[order]
        is_new = np.r_[True, group[1:] != group[:-1]]
        first = np.flatnonzero(is_new | np.r_[True, content[1:] != content[:-1]])
        urls = np.diff(np.r_[first, len(group)])
        return cls(content[first], urls, lone[order[first]], np.flatnonzero(is_new[first]))

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def number(self) -> Integers:
        """Return how many contents each group shows."""
        number: Integers = np.diff(np.r_[self.starts, len(self.content)])
        return number

    @property
    def size(self) -> Integers:
        """Return how many URLs each group has."""
        size: Integers = np.add.reduceat(self.urls, self.starts)
        return size

    @property
    def of_group(self) -> Rows:
        """Return the number of each content's group."""
        return np.repeat(np.arange(len(self.starts)), self.number)

    @property
    def main(self) -> Rows:
        """Return the place of the content that most URLs of each group show."""
        return np.lexsort((-self.urls, self.of_group))[self.starts]

    @property
    def page(self) -> Codes:
        """Return the content that most URLs of each group show (shape: groups)."""
        return self.content[self.main]

    @property
    def look(self) -> Hashes:
        """Return what is equal of groups that look alike: by how many URLs each content is shown, and whether by others."""
        return np.add.reduceat(mixed((2 * self.urls + self.lone).astype(np.uint64)), self.starts)

    def part(self, groups: Rows) -> "Contents":
        """Return the contents of some of the groups, in an order that is the same for groups that look alike."""
        number = self.number[groups]
        places = spans(self.starts[groups], number)
        order = np.lexsort((self.lone[places], self.urls[places], np.repeat(np.arange(len(groups)), number)))
        places = places[order]
        return Contents(self.content[places], self.urls[places], self.lone[places], np.cumsum(number) - number)
