"""Schedule of learning: when what a crawl has seen of a site is worth learning from, and what is at its close."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ...store.page_queries import Recorded, declares, learned_until, recorded, repeats, responses_after
from ...store.store import Store, StoreError

if TYPE_CHECKING:
    from ..settings.dedup_settings import DedupSettings

#: Responses of a site in its store below which nothing is learned.
LEAST = 20
#: As many where the site itself says which parameters do not matter.
LEAST_STATED = 4
#: Responses of a site in one crawl with which it is learned when the crawl closes, whatever they show; and before, where it cannot be
#: seen what they repeat.
MUCH = 40
#: New duplicates after which a site is learned, and which part of those before they must be.
DUPLICATES = 3
MORE_DUPLICATES = 0.2
#: By which part of what was seen before it must have grown to be worth learning when a crawl closes; or while it goes on, where it cannot
#: be seen what they repeat, and for its texts to be compared again.
GROWTH = 0.5
#: Responses since a site was learned after which it is worth learning when the crawl closes, however large it is.
MOST_FRESH: Final = 1_000


@dataclass(slots=True)
class _Site:
    """What is counted of one site."""

    seen: int = 0
    #: How many of those were there when it was learned the last time, and when its texts were compared, too.
    learned: int = 0
    compared: int = 0
    #: Responses that were duplicates, and how many were when it was learned the last time.
    duplicates: int = 0
    explained: int = 0


class LearningSchedule:
    """Counts of responses and duplicates per site, and the sites that are due."""

    def __init__(self) -> None:
        self._sites: dict[str, _Site] = {}
        #: The sites that are due, and whether their texts are to be compared, too.
        self._due: dict[str, bool] = {}

    def add(self, site: str, *, may_repeat: bool = False) -> bool:
        """Count a response; return whether its site should be learned.

        It *may_repeat* what another URL has shown where that cannot be seen: texts differ from response to response there, say.
        Then the site is learned as its pages grow.
        """
        found = self._sites.setdefault(site, _Site())
        found.seen += 1
        duplicates, fresh = found.duplicates - found.explained, found.seen - found.learned
        if (found.seen >= LEAST and duplicates >= max(DUPLICATES, MORE_DUPLICATES * found.explained)) or (
            may_repeat and fresh >= max(MUCH, GROWTH * found.learned)
        ):
            self._due.setdefault(site, False)
        return site in self._due

    def repeat(self, site: str) -> None:
        """Count a duplicate: a URL has shown what another one of the site had shown, whatever rules there are."""
        self._sites.setdefault(site, _Site()).duplicates += 1

    def soon(self, site: str, *, compare: bool = False) -> None:
        """Note that *site* is to be learned soon: a rule of it is refuted, say; *compare*: its texts, too."""
        self._sites.setdefault(site, _Site())
        self._due[site] = compare or self._due.get(site, False)

    def is_near(self, site: str) -> bool:
        """Whether a site is likely to be learned soon."""
        found = self._sites.get(site)
        return found is not None and found.duplicates > found.explained

    def knows_more(self, site: str) -> bool:
        """Whether something has come of a site since it was learned."""
        found = self._sites.get(site)
        return found is not None and found.seen > found.learned

    def unlearned(self) -> dict[str, int]:
        """Return the sites that were learned in this crawl or not, of which more is known, and what was seen of each."""
        return {site: found.seen for site, found in self._sites.items() if found.seen > found.compared}

    @property
    def due(self) -> tuple[str, ...]:
        """The sites that should be learned."""
        return tuple(self._due)

    @property
    def news(self) -> tuple[str, ...]:
        """The sites that something new is known of, or whose texts were not compared since."""
        sites = list(self._sites.items())  # in one step: a thread may ask
        return tuple(site for site, found in sites if found.seen > found.compared)

    def is_small(self, site: str) -> bool:
        """Whether so little was seen of a site in this crawl that alone it would not be learned from."""
        return site not in self._due and self._sites[site].seen < MUCH

    def begun(self, sites: Iterable[str], differing: Collection[str] = ()) -> tuple[dict[str, _Site], set[str]]:
        """Note that *sites* are learned now; return what is to be given back where that fails, and those whose texts are to be compared.

        That takes longer than all else: it is done at first, where texts are *differing* and there are more of them, and where it was
        asked for.
        """
        before, compared = {}, set()
        for site in sites:
            found = self._sites[site]
            before[site] = replace(found)
            asked = self._due.pop(site, False)
            if asked or not found.compared or (site in differing and found.seen >= (1 + GROWTH) * found.compared):
                compared.add(site)
                found.compared = found.seen
            found.learned, found.explained = found.seen, found.duplicates
        return before, compared

    def failed(self, before: "Mapping[str, _Site]", *, due: Collection[str] = ()) -> None:
        """Note that learning has failed: what was new still is; *due* are the sites to be learned again all the same."""
        for site, old in before.items():
            found = self._sites[site]
            found.learned, found.compared, found.explained = old.learned, old.compared, old.explained
        for site in due:
            self.soon(site)


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
    learned = learned_until(store, scope, site, of_site.last)
    fresh = responses_after(store, scope, site, learned)
    return fresh >= min(GROWTH * (of_site.responses - fresh), MOST_FRESH) or repeats(store, scope, site, learned)
