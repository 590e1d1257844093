"""Evidence from sources that no crawl has written: logs, archives and caches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..content.versions import Version
from ..observation import Observation
from ..rules import RuleBook
from ..sources.spill import Spill
from .data.by_site import observations_by_site
from .memory import Memory
from .methods.entropy import Priors
from .opinions.other_sites import priors_by_site


@dataclass(frozen=True, slots=True)
class ImportedEvidence:
    """The observations of a spill, of which one site is in memory at a time."""

    spill: Spill
    site_groups: Mapping[str, Sequence[str]] | None = None
    memory: Memory = field(default_factory=Memory, repr=False, compare=False)

    def named(self) -> list[str]:
        """Return the names of the sites."""
        return self.spill.sites

    def observations(self, site: str, *, versions: bool) -> Iterator[Observation]:
        """Yield all observations of *site*."""
        return self.spill.observations(site, versions=versions)

    def versions(self, site: str) -> list[tuple[str, float, Version]]:
        """Return (requested URL, seconds since 1970, version) for each version of *site*."""
        self.memory.forget()  # with this the learning of a site begins
        if not self.spill.has_versions(site):
            return []
        found = self.spill.observations(site)
        return [(each.url, each.time or 0.0, each.version) for each in found if each.version is not None]

    def priors(self, known: RuleBook) -> dict[str, Priors]:
        """Return what the parameters of each site are on the other sites: on some of them where these are many."""
        return priors_by_site(_BySite(self.spill, self.site_groups), known)


class _BySite(Mapping[str, Sequence[Observation]]):
    """The observations of each site, read when they are asked for."""

    def __init__(self, spill: Spill, site_groups: Mapping[str, Sequence[str]] | None) -> None:
        self._spill = spill
        self._groups = site_groups
        self._sites = dict.fromkeys(spill.sites)

    def __getitem__(self, site: str) -> Sequence[Observation]:
        if site not in self._sites:
            raise KeyError(site)
        observations = self._spill.observations(site, versions=False)
        return observations_by_site(observations, self._groups, None)[0][site]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sites)

    def __len__(self) -> int:
        return len(self._sites)
