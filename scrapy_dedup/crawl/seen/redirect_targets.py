"""Pages and contents to which redirects of many URLs lead: a page to log in, say, which is none of theirs."""

from collections.abc import MutableMapping
from typing import Final

#: So many URLs whose redirects lead to one page, or to one content under several URLs, are not that page.
SINK: Final = 3
#: Pages and contents that are remembered.
MOST: Final = 20_000


class RedirectTargets:
    """Counts by target the slots of the URLs that redirect there.

    *contents* has the content of URLs that redirects have led to, once it is known: a thread adds to it, and what is
    read is taken out.
    """

    def __init__(self, contents: MutableMapping[str, int]) -> None:
        self._contents = contents
        #: By the slot of a page, or the digest of a content: slots of URLs that redirect there, fewer than SINK; None if
        #: there were as many.
        self._sources: dict[int, set[int] | None] = {}
        #: URL that redirects lead to, whose content is not known yet -> the slots that they come from.
        self._pending: dict[str, set[int]] = {}

    def __bool__(self) -> bool:
        """Whether the content of some targets is not known yet."""
        return bool(self._pending)

    def add(self, page: int, slots: set[int]) -> set[int]:
        """Note that redirects lead from *slots* to the slot of a page, or to a content; return the slots to be released.

        Those are all that lead there, once there are SINK of them: the target is not their page.
        """
        if page not in self._sources and len(self._sources) >= MOST:
            return set()
        sources = self._sources.setdefault(page, set())
        if sources is None:
            return slots
        sources |= slots
        if len(sources) < SINK:
            return set()
        self._sources[page] = None
        return sources

    def add_url(self, url: str, slots: set[int]) -> None:
        """Note that redirects lead from *slots* to *url*, to compare its content when that is known."""
        if len(self._pending) < MOST:
            self._pending[url] = slots

    def compare_contents(self) -> set[int]:
        """Add the contents that are known by now; return the slots to be released."""
        released: set[int] = set()
        for url in list(self._contents):  # a thread adds to them
            if url in self._pending:
                released |= self.add(self._contents.pop(url), self._pending.pop(url))
        return released

    def forget_pending(self) -> None:
        """Stop waiting for contents."""
        self._pending.clear()
