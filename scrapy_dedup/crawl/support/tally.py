"""Counts of what a crawl has saved and spent on each site, and of its spot checks: for budgets and the report."""

from collections import Counter
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

#: Sites that are counted by themselves; those past it are counted together.
MOST_SITES: Final = 10_000
OTHERS: Final = "other sites"


@dataclass(slots=True)
class SiteTally:
    """The counts of one site, or of several."""

    #: Pages that came, their bytes and the seconds that the crawl has waited for them.
    pages: int = 0
    size: int = 0
    seconds: float = 0.0
    #: Distinct URLs that were filtered, by the ids of the rules that did.
    by_rules: Counter[tuple[str, ...]] = field(default_factory=Counter)
    #: Those of them that were scheduled after all.
    scheduled: int = 0
    #: Spot checks that were the page they were taken for, and those that were not.
    confirmed: int = 0
    differing: int = 0
    #: Spot checks of which nobody can tell.
    undecided: int = 0

    def add(self, other: "SiteTally") -> None:
        """Add the counts of another site."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def discarded(self) -> int:
        """Return the number of distinct URLs that were filtered."""
        return sum(self.by_rules.values())

    @property
    def avoided(self) -> int:
        """Return the downloads that were avoided."""
        return max(0, self.discarded - self.scheduled)

    @property
    def avoided_bytes(self) -> int:
        """Return the bytes of these, if they are like the pages that came."""
        return round(self.avoided * self.size / self.pages) if self.pages else 0

    @property
    def avoided_seconds(self) -> float:
        """Return the seconds that the site would have taken to send these, likewise."""
        return self.avoided * self.seconds / self.pages if self.pages else 0.0

    @property
    def samples(self) -> int:
        """Return the spot checks that were made."""
        return self.confirmed + self.differing + self.undecided


class SiteTallies(dict[str, SiteTally]):
    """The counts by site, which are there for each site that is asked for."""

    def __missing__(self, site: str) -> SiteTally:
        """Return new counts, past the first sites those of all others."""
        if len(self) >= MOST_SITES and site != OTHERS:
            return self[OTHERS]
        counts = self[site] = SiteTally()
        return counts


class Tally:
    """The counts of all sites."""

    def __init__(self) -> None:
        self.sites = SiteTallies()
        #: Pages that came, of all sites, and when the last one did.
        self.pages = 0
        self._came = monotonic()
        #: Refetches of each site that its savings have paid for.
        self.spent: Counter[str] = Counter()

    def of(self, site: str) -> SiteTally:
        """Return the counts of a site."""
        return self.sites[site]

    def pages_of(self, site: str) -> int:
        """Return how many pages of a site have come."""
        return self.sites[site].pages if site in self.sites else 0

    def avoided_of(self, site: str) -> int:
        """Return how many downloads of a site were avoided."""
        return self.sites[site].avoided if site in self.sites else 0

    @property
    def total(self) -> SiteTally:
        """Return the counts of all sites together."""
        total = SiteTally()
        for each in self.sites.values():
            total.add(each)
        return total

    def covers(self, site: str) -> bool:
        """Whether one more filtered request of a site can be fetched, and what was spent there is still saved."""
        spent = self.spent[site]
        return not spent or self.of(site).avoided > spent

    def page(self, site: str, size: int, seconds: float) -> None:
        """Count a page that came after so many *seconds*; time in which several were under way counts once."""
        self.pages += 1
        counts, now = self.of(site), monotonic()
        counts.pages += 1
        counts.size += size
        counts.seconds += min(seconds, now - self._came)
        self._came = now

    def scheduled(self, site: str) -> None:
        """Count a filtered URL that was scheduled after all."""
        self.of(site).scheduled += 1

    def confirmed(self, site: str) -> None:
        """Count a spot check that was the page it was taken for."""
        self.of(site).confirmed += 1

    def undecided(self, site: str, number: int = 1) -> None:
        """Count spot checks of which nobody can tell, or take them back."""
        self.of(site).undecided += number

    def differing(self, site: str) -> None:
        """Count a spot check that was another page."""
        self.of(site).differing += 1
