"""New rules in the middle of a crawl: read, pages moved to their new keys, and used from one request to the next.

Nothing here holds up the event loop: files are read in a thread, and pages and discarded
requests are given their new slots for a few milliseconds at a time.
"""

from collections import deque
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import DeferredLock

from ...learning.lifetime.running_counts import checks_in, with_checks
from .. import signals
from ..identity.identities import Alias
from ..support.compatibility import run_in_thread
from ..support.cooperative import AT_ONCE, drained, in_turns, others_turn

if TYPE_CHECKING:
    from ...rules.book import RuleBook
    from ..seen.journal import Page
    from ..seen.rekeying import Move
    from ..seen.seen import Waiting
    from ..shared import Shared

_SOME = 16  # what is forgotten between two looks at the clock


class Swapping:
    """Brings new rules into a crawl; one swap at a time."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        self._unsettled: deque[Waiting] = deque()
        # Large dictionaries would hold up the event loop if they were forgotten at once.
        self._needless: deque[dict[Any, Any]] = deque()
        #: Set when the crawl is about to close: no more swaps.
        self.ceased = False
        self._lock = DeferredLock()

    @property
    def unsettled(self) -> bool:
        """Whether there are discarded requests that have not been compared under the new rules yet."""
        return bool(self._unsettled)

    async def swap(self, sites: Collection[str], *, reload: bool = True) -> bool:
        """Use the rules of *sites* as they stand in the files now; return whether any key may have changed.

        What this crawl has refuted is suspended, whatever they say; without *reload* that alone is new.
        Raises RuleFileError, OSError.
        """
        await maybe_deferred_to_future(self._lock.acquire())
        try:
            return await self._swap(sites, reload=reload)
        finally:
            self._lock.release()

    def _read(self, sites: Collection[str], *, reload: bool) -> "tuple[RuleBook, tuple[str, ...], str]":
        """Return the rules, the sites whose keys may be others by them, and what slots are then made by."""
        shared = self._shared
        before = shared.identities.book
        if reload:
            fresh = with_checks(
                before.reloaded(shared.rule_directories, sites), checks_in(shared.settings.store, shared.settings.scope)
            )
        book = shared.retraction.amended(fresh if reload else before)
        changed = tuple(
            site
            for site in sorted(sites)
            if not book.same_keys(before, site) or _acting_aliases(before, site) - _acting_aliases(book, site)
        )
        return book, changed, shared.identities.digest_of(book) if changed else ""

    async def _swap(self, sites: Collection[str], *, reload: bool) -> bool:
        shared = self._shared
        before = shared.identities.book
        book, changed, digest = await run_in_thread(lambda: self._read(sites, reload=reload))
        if self.ceased:
            return False
        if not changed:
            shared.identities.book = book  # with other evidence, or kinds of aliases
            return False
        aliases = await self._aliases(book, frozenset(changed))
        move = shared.seen.move(digest, lambda page: self._slot(book, changed, page))
        try:
            while move is not None and not self.ceased and not move.some(AT_ONCE):
                await others_turn()
            if self.ceased:
                return False
            self._use(book, move, aliases)
            move = None
        finally:
            if move is not None:
                move.abandon()
        self._look_for_withdrawn(before, book, changed)
        shared.stats.inc_value("dedup/learned/swaps")
        shared.crawler.signals.send_catch_log(signals.rules_changed, sites=changed, spider=shared.spider)
        await self._settle()
        return True

    def _slot(self, book: "RuleBook", changed: Collection[str], page: "Page") -> int | None:
        identities = self._shared.identities
        if page.current and identities.site_and_mode(page.url)[0] not in changed:
            return page.slot
        if not page.plain:
            return None
        return identities.slot_again(page.url, page.callback, page.context, book.canonical_key(page.url))

    async def _aliases(self, book: "RuleBook", changed: Collection[str]) -> dict[str, Alias]:
        """Return the aliases that are known, under the rules of *book*."""
        identities = self._shared.identities
        acting = {site: _acting_aliases(book, site) for site in changed}
        moved = {}
        async for key, alias in in_turns(list(identities.aliases.items())):
            site = identities.site_and_mode(alias.url)[0]
            if site in changed:
                key = book.canonical_key(alias.url)
                alias = alias._replace(key=book.canonical_key(alias.page))
            if key != alias.key and (site not in changed or alias.rule in acting[site]):
                moved[key] = alias
        # An alias never leads to an alias.
        return {key: alias for key, alias in moved.items() if alias.key not in moved}

    def _use(self, book: "RuleBook", move: "Move | None", aliases: dict[str, Alias]) -> None:
        """Use the rules of *book* from now on. Raises OSError, and nothing has changed then."""
        shared = self._shared
        waiting, slots = shared.seen.moved(move)
        self._unsettled.extend(waiting)
        self._needless += [slots, *shared.identities.use(book, aliases)]
        if move is not None:
            self._needless.append(move.under_way)
        shared.renew_marks()

    def _look_for_withdrawn(self, before: "RuleBook", book: "RuleBook", changed: Collection[str]) -> None:
        """See that what rules have discarded that are gone is fetched after all, at the latest before the spider runs idle."""
        for site in changed:
            acting = {rule.id for rule in book.for_site(site) if rule.status.acts}
            if any(rule.status.acts and rule.id not in acting for rule in before.for_site(site)):
                self._shared.resumed = True

    async def _settle(self) -> None:
        """Compare the discarded requests that wait under the new rules; forget what is not needed any more."""
        shared = self._shared
        try:
            async for waiting in in_turns(drained(self._unsettled)):
                self._compare(waiting)
        finally:
            shared.before_idle.wake()
        async for needless in in_turns(drained(self._needless)):
            for _ in range(min(_SOME, len(needless))):
                needless.popitem()
            if needless:
                self._needless.append(needless)

    def _compare(self, discarded: "Waiting") -> None:
        shared = self._shared
        identity = shared.identities.of(discarded.request)
        if identity is None or identity.slot not in shared.seen:
            if identity is None or not shared.retraction.defers(identity.site):
                shared.outcomes.schedule(discarded)
        else:
            shared.seen.wait(identity.slot, discarded)  # unless it is fetched


def _acting_aliases(book: "RuleBook", site: str) -> set[str]:
    return {rule.id for rule in book.for_site(site) if rule.is_alias and rule.status.acts}
