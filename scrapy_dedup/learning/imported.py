"""Evidence from sources that no crawl has written: logs, archives and caches."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..content.versions import Version
from ..observation import Observation
from ..sources.spill import Spill, observation_in
from .data.by_site import inner_sites, innermost_first
from .data.page_sample import HASHES, MOST_OF_SITE, row_hashes, sampled_rows
from .memory import Memory


@dataclass(frozen=True)
class ImportedEvidence:
    """The observations of a spill, of which one site is in memory at a time."""

    spill: Spill
    site_groups: Mapping[str, Sequence[str]] | None = None
    most_of_site: int = MOST_OF_SITE
    memory: Memory = field(default_factory=Memory, repr=False, compare=False)

    @cached_property
    def nested(self) -> dict[str, frozenset[str]]:
        """Site -> the sites whose URLs are nested in its own; each comes after these."""
        names = {site: site for site in self.spill.sites}
        inner: dict[str, set[str]] = {site: set() for site in names}
        # URL by URL: of sites that are not observed, of which a site may name any number, nothing is held.
        for site, url in self.spill.urls_with("http"):
            for other in inner_sites([url], site, self.site_groups):
                if other in names:
                    inner[site].add(names[other])
        return {site: frozenset(inner[site]) for site in innermost_first(inner)}

    def named(self) -> list[str]:
        """Return the names of the sites, each after those whose URLs are nested in its own."""
        return list(self.nested)

    def sizes(self) -> dict[str, int]:
        """Return the number of observations of each site that it is learned from, about."""
        return {site: min(self.spill.rows(site), self.most_of_site) for site in self.spill.sites}

    def observations(self, site: str, *, versions: bool) -> Iterator[Observation]:
        """Yield the observations of *site*, a sample of them where they are very many, in an order that does not depend on theirs."""
        found = self.spill.observations(site, versions=versions)
        if self.spill.rows(site) <= self.most_of_site:
            return found
        told = ((text, observation_in(text)) for text in self.spill.texts(site))
        hashes = np.fromiter((row_hashes(each, text) for text, each in told), HASHES, self.spill.rows(site))
        chosen = sampled_rows(hashes, self.most_of_site)
        # Their texts are kept of a few pages alone, and masks are learned from all of these.
        return (each for each, drawn in zip(found, chosen, strict=True) if drawn or each.version is not None)

    def declaring(self, site: str, versions: bool) -> Iterable[Observation]:
        """Return the observations of a site where some of them tell of a redirect or a canonical URL, none otherwise."""
        return self.observations(site, versions=versions) if self.spill.declares(site) else ()

    def versions(self, site: str) -> list[tuple[str, float, Version]]:
        """Return (requested URL, seconds since 1970, version) for each version of *site*."""
        self.memory.forget()  # with this the learning of a site begins
        if not self.spill.has_versions(site):
            return []
        found = self.spill.observations(site)
        return [(each.url, each.time or 0.0, each.version) for each in found if each.version is not None]
