"""Schedule of learning: when what a crawl has seen of a site is worth learning from, and what is at its close."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ...store.news import Recorded, declares, news, recorded, repeats
from ...store.store import Store, StoreError
from ...urls.templates import template_of

if TYPE_CHECKING:
    from ..settings.dedup_settings import DedupSettings

#: Responses of a site before it is learned for the first time.
FIRST = 40
#: Responses of a site in its store below which nothing is learned.
LEAST = 20
#: As many where the site itself says which parameters do not matter.
LEAST_STATED = 4
#: By which part of what was seen before it must have grown each time after that.
GROWTH = 0.5
#: Responses of a kind of pages that was not there before, as which a site is learned earlier.
NEW_KIND = 20
#: Contents that a kind of pages has shown after another URL, after which a site is learned: a rule has to rest on so
#: many. And by which part of those they must have grown each time after that.
REPEATS = 10
MORE_REPEATS = 0.3
#: By which part of what was seen before a site must have grown then: it may have many kinds of pages.
LEAST_GROWTH = 0.1
#: Kinds of pages that are counted, of all sites.
MOST_KINDS = 20_000
#: Responses since a site was learned after which it is learned again, however large it is.
MOST_FRESH: Final = 1_000


@dataclass(slots=True)
class _Site:
    """What is counted of one site."""

    seen: int = 0
    #: How many of those were there when it was learned the last time.
    learned: int = 0
    #: Kinds of pages that were not there then, with the number of their pages; and those that were.
    kinds: Counter[int] = field(default_factory=Counter)
    learned_kinds: frozenset[int] = frozenset()
    #: Kinds of pages with the number of contents they have repeated, and with the one at which it is learned.
    repeats: Counter[int] = field(default_factory=Counter)
    enough: dict[int, int] = field(default_factory=dict)


class LearningSchedule:
    """Counts of new responses per site, and the sites that are due."""

    def __init__(self) -> None:
        self._sites: dict[str, _Site] = {}
        self._kinds = 0
        self._due: dict[str, None] = {}
        #: Whether a site was seen so often that one is likely to be learned soon, or when the crawl closes.
        self.near = False

    def add(self, site: str, url: str) -> bool:
        """Count a response; return whether its site should be learned."""
        found = self._sites.get(site)
        if found is None:
            found = self._sites[site] = _Site()
        found.seen += 1
        self.near = self.near or found.seen >= LEAST
        if site in self._due:
            return True
        if found.seen - found.learned >= max(FIRST, GROWTH * found.learned) or self._is_new_kind(found, url):
            self._due[site] = None
            return True
        return False

    def repeat(self, site: str, kind: int) -> None:
        """Note that a kind of pages has shown a content that another URL of the site had shown, whatever rules there are."""
        found = self._sites.setdefault(site, _Site())
        if not self._is_counted(kind, found.repeats):
            return
        found.repeats[kind] += 1
        grown = found.seen - found.learned >= LEAST_GROWTH * found.learned
        if grown and found.repeats[kind] >= found.enough.get(kind, REPEATS):
            self._due[site] = None

    def soon(self, site: str) -> None:
        """Note that *site* is to be learned soon: a rule of it is refuted, say."""
        self._sites.setdefault(site, _Site())
        self._due[site] = None

    def _is_counted(self, kind: int, kinds: Counter[int]) -> bool:
        if kind not in kinds:
            if self._kinds >= MOST_KINDS:
                return False
            self._kinds += 1
        return True

    def _is_new_kind(self, site: _Site, url: str) -> bool:
        kind = hash(template_of(url))
        if kind in site.learned_kinds or not self._is_counted(kind, site.kinds):
            return False
        site.kinds[kind] += 1
        # At first, all kinds are new.
        return site.learned > 0 and site.kinds[kind] >= NEW_KIND

    @property
    def due(self) -> tuple[str, ...]:
        """The sites that should be learned."""
        return tuple(self._due)

    @property
    def news(self) -> tuple[str, ...]:
        """The sites that something new is known of."""
        sites = list(self._sites.items())  # in one step: a thread may ask
        return tuple(site for site, found in sites if found.seen > found.learned)

    def is_small(self, site: str) -> bool:
        """Whether so little was seen of a site in this crawl that alone it would not be learned from."""
        return site not in self._due and self._sites[site].seen < FIRST

    def begun(self, sites: Iterable[str]) -> dict[str, int]:
        """Note that *sites* are learned now; return what is to be given back where that fails."""
        before = {}
        for site in sites:
            found = self._sites[site]
            before[site] = found.learned
            found.learned = found.seen
            found.learned_kinds |= found.kinds.keys()
            found.kinds = Counter()
            for kind, number in found.repeats.items():
                if number >= REPEATS:
                    found.enough[kind] = number + max(REPEATS // 2, int(MORE_REPEATS * number))
            self._due.pop(site, None)
        return before

    def failed(self, before: "dict[str, int]", *, due: Collection[str] = ()) -> None:
        """Note that learning has failed: what was new still is; *due* are the sites to be learned again all the same."""
        for site, learned in before.items():
            self._sites[site].learned = learned
        self._due.update(dict.fromkeys(due))


def worth_learning(settings: "DedupSettings", schedule: LearningSchedule) -> dict[str, int]:
    """Return the sites that are worth learning, with the last observation of each; it waits for the store.

    A site of which the crawl has seen much is. One of which it has seen a few pages is if what is recorded of it has
    grown by half since it was learned, or if a URL shows what another one shows, as it did not then.
    """
    sites = schedule.news
    if not sites:
        return {}
    try:
        with Store.open(settings.store, readonly=True) as store:
            found = recorded(store, settings.scope, sites)
            return {
                site: of_site.last
                for site, of_site in found.items()
                if not schedule.is_small(site) or _is_worth_it(store, settings.scope, site, of_site)
            }
    except StoreError:  # the process that learns tells it
        return dict.fromkeys(sites, 0)


def note_learned(settings: "DedupSettings", learned: Mapping[str, int]) -> None:
    """Note of each site up to which observation it has been learned; it waits for the store."""
    with suppress(StoreError), Store.open(settings.store) as store:  # without it they are learned once more
        store.note_learned(settings.scope, learned)


def _is_worth_it(store: Store, scope: str, site: str, of_site: Recorded) -> bool:
    if of_site.responses < LEAST and (of_site.responses < LEAST_STATED or not declares(store, scope, site)):
        return False
    fresh = news(store, scope, site, of_site.last)
    if fresh.responses >= min(GROWTH * (of_site.responses - fresh.responses), MOST_FRESH):
        return True
    return repeats(store, scope, site, fresh.learned)
