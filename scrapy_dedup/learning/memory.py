"""Cache between runs of learning: unpacked versions of pages, and the results of unchanged sites.

A crawl is learned again and again, each time from all that is recorded of a site. Most of that is not new: versions of pages
are unpacked once, and what masks make of them stays with them (:attr:`.versions.Version.compared`). A site of which all is
as it was is not learned again: a new mask often tells its pages apart as the one before. Nothing else depends on it: what is
learned is the same as without a memory.
"""

from collections.abc import Callable
from typing import TypeVar

from xxhash import xxh3_128_digest

from ..pages.versions import Version
from ..store.conversions import version_in

_Learned = TypeVar("_Learned")


class Memory:
    """A cache for repeated learning; entries that a run has not used are dropped when it ends."""

    def __init__(self) -> None:
        self._versions: dict[bytes, Version] = {}
        self._before: dict[bytes, Version] = {}
        self._sites: dict[str, tuple[object, object]] = {}

    def version(self, data: bytes | None) -> Version | None:
        """Return the version that is packed as *data*, as :func:`scrapy_dedup.store.conversions.version_in`: for equal data the same object."""
        if data is None:
            return None
        key = xxh3_128_digest(data)
        found = self._versions.get(key) or self._before.get(key) or version_in(data)
        if found is not None:
            self._versions[key] = found
        return found

    def site(
        self, site: str, asked: object, learn: Callable[[], _Learned], *, lasts: Callable[[_Learned], bool]
    ) -> _Learned:
        """Return the cached result for a site if its inputs equal *asked*, otherwise learn it.

        Only what *lasts* is remembered.
        """
        known, found = self._sites.get(site, (None, None))
        if known == asked:
            return found  # type: ignore[return-value]  # it is what *learn* has returned
        fresh = learn()
        if lasts(fresh):
            self._sites[site] = asked, fresh
        return fresh

    def end(self) -> None:
        """Drop the entries that the run which ends has not used."""
        self._before, self._versions, self._sites = self._versions, {}, {}

    def forget(self) -> None:
        """Drop all entries: where sites are many and none is learned again."""
        self._before, self._versions, self._sites = {}, {}, {}
