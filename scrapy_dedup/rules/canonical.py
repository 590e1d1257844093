"""The canonical key of a URL, with the changes that rules made."""

from collections import Counter
from typing import NamedTuple

from .actions import Change


class Canonical(NamedTuple):
    """The canonical key of a URL, its site, and the changes that rules made on the way from its normal form.

    ``changes``: (id of the rule, key, value that it changed), in the order in which they were made.
    """

    key: str
    site: str
    changes: tuple[Change, ...]

    def deciding_rules(self, other: "Canonical") -> tuple[str, ...]:
        """Return the ids of the rules that give this URL and *other* one key: those that changed what differs in them.

        Where no change differs, the first rule that changed anything; () if none did.
        """
        if self.changes == other.changes:
            return () if not self.changes else (self.changes[0][0],)
        ours, theirs = Counter(self.changes), Counter(other.changes)
        differing = [change[0] for change in (*(ours - theirs), *(theirs - ours))]
        return tuple(dict.fromkeys(differing))
