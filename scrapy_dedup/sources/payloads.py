"""Payloads of an archive: which page a digest stands for, where the archive has kept it once and refers to it from then on."""

from dataclasses import dataclass, field, replace
from typing import Final

from xxhash import xxh3_64_intdigest

from ..observation import Observation

_MOST: Final = 200_000
"""Pages that are remembered, the latest ones; one takes half a kilobyte."""


@dataclass(slots=True)
class Payloads:
    """The pages of responses that were read, by the digest of their payload and by their URL."""

    _pages: dict[int, Observation] = field(default_factory=dict)
    """Hash of a digest -> what its page was."""
    _digests: dict[int, int] = field(default_factory=dict)
    """Hash of a URL -> hash of the digest that it had last."""

    def add(self, digest: str | None, found: Observation) -> None:
        """Remember the page of a response with this digest."""
        url = _hash(found.url)
        key = _hash(digest) if digest else url
        self._pages.pop(key, None)
        self._digests.pop(url, None)
        self._pages[key] = replace(found, sketch=None, version=None, headers=None)
        self._digests[url] = key
        for kept in (self._pages, self._digests):
            if len(kept) > _MOST:
                del kept[next(iter(kept))]

    def observation(self, url: str, at: float | None, digest: str | None, original: str | None) -> Observation | None:
        """Return what *url* has shown: the page of that digest, or what the *original* URL has shown; None where that was not read."""
        found = self._pages.get(_hash(digest)) if digest else None
        if found is None and original is not None and not digest:
            found = self._pages.get(self._digests.get(_hash(original), 0))
        return found and replace(found, url=url, time=at)


def _hash(text: str) -> int:
    return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
