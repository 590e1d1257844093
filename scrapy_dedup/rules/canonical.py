"""The canonical key of a URL, with the changes that rules made."""

from collections import Counter
from typing import Final, NamedTuple

from ..urls import normal_form
from .actions import Change

#: The "rule" of two URLs that are one by their normal form.
NORMAL_FORM: Final = "normal-form"


class Canonical(NamedTuple):
    """The canonical key of a URL, its site, and the changes that rules made on the way from its normal form.

    ``changes``: (id of the rule, key, value that it changed), in the order in which they were made.
    """

    key: str
    site: str
    changes: tuple[Change, ...]
    url: str

    def deciding_rules(self, other: "Canonical") -> tuple[str, ...]:
        """Return the ids of the rules that give this URL and *other* one key: those that changed what differs in them.

        Where no change differs, the first rule that changed anything; () if none did.
        """
        if self.changes == other.changes:
            return () if not self.changes else (self.changes[0][0],)
        ours, theirs = Counter(self.changes), Counter(other.changes)
        differing = [change[0] for change in (*(ours - theirs), *(theirs - ours))]
        return tuple(dict.fromkeys(differing))

    def is_same_url(self, other: "Canonical") -> bool:
        """Whether this URL and *other*, which has the same key, have one normal form, so that no rule has a part in it."""
        return self.changes == other.changes and normal_form(self.url) == normal_form(other.url)

    def filtering_rules(self, page: "Canonical | None") -> tuple[str, ...]:
        """Return the ids of the rules by which this URL is a duplicate of *page*, :data:`NORMAL_FORM` if it is without any.

        Where the page is not known, or the difference is elsewhere, it is the first rule that changes anything.
        """
        if page is not None and self.is_same_url(page):
            return (NORMAL_FORM,)
        return self.deciding_rules(self if page is None else page) or (NORMAL_FORM,)
