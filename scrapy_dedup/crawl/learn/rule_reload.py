"""New rules in the middle of a crawl: read, pages moved to their new keys, and used from one request to the next.

Nothing here holds up the event loop: files are read in a thread, and pages and filtered
requests are given their new slots in turns with the rest of the crawl.
"""

from collections import deque
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import attrs
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import DeferredLock

from ...learning.lifetime.running_counts import checks_in, with_checks
from ..identity.identities import Alias
from ..support.cooperative import Turns, drained, in_turns

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from ...rules.book import RuleBook
    from ..decide.recalled_aliases import AliasRecall
    from ..fleet.shared_rules import RuleVersions
    from ..identity.identities import Identities
    from ..identity.suspended_rules import SuspendedRules
    from ..seen.journal_lines import JournalPage
    from ..seen.rekeying import Rekeying
    from ..seen.replay_schedule import ReplaySchedule
    from ..seen.rescheduling import Rescheduler
    from ..seen.seen import Seen, Waiting
    from ..settings.dedup_settings import DedupSettings
    from ..settings.rule_directories import RuleDirectories
    from ..support.crawl_status import CrawlStatus
    from ..support.idle_hook import BeforeIdle
    from ..support.request_meta import RunMarks
    from ..verify.choosing import SpotChecks

_SOME = 16  # what is forgotten between two looks at the clock


@attrs.define(eq=False, repr=False, kw_only=True)
class RuleReload:
    """Brings new rules into a crawl; one reload at a time."""

    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _stats: "StatsCollector"
    _directories: "RuleDirectories"
    _identities: "Identities"
    _suspended: "SuspendedRules"
    _seen: "Seen"
    _marks: "RunMarks"
    _rescheduler: "Rescheduler"
    _replay_schedule: "ReplaySchedule"
    _before_idle: "BeforeIdle"
    _spot_checks: "SpotChecks"
    _alias_recall: "AliasRecall"
    _rule_versions: "RuleVersions | None"
    _unsettled: "deque[Waiting]" = attrs.field(factory=deque, init=False)
    # Large dictionaries would hold up the event loop if they were forgotten at once.
    _needless: deque[dict[Any, Any]] = attrs.field(factory=deque, init=False)
    _lock: DeferredLock = attrs.field(factory=DeferredLock, init=False)

    @property
    def unsettled(self) -> bool:
        """Whether there are filtered requests that have not been compared under the new rules yet."""
        return bool(self._unsettled)

    def filters(self, site: str) -> bool:
        """Whether a rule acts on a site."""
        return any(rule.status.acts for rule in self._identities.book.for_site(site))

    async def reload(self, sites: Collection[str], *, from_files: bool = True) -> bool:
        """Use the rules of *sites* as they stand in the files now; return whether any key may have changed.

        What this crawl has refuted is suspended, whatever they say; unless *from_files* that alone is new.
        Raises RuleFileError, OSError.
        """
        await maybe_deferred_to_future(self._lock.acquire())
        try:
            if self._rule_versions is None:
                changed = await self._reload(sites, from_files=from_files)
            else:
                changed = await self._reload_shared(self._rule_versions, sites, from_files=from_files)
            await self._alias_recall.recall()
        finally:
            self._lock.release()
        return changed

    async def _reload_shared(self, versions: "RuleVersions", sites: Collection[str], *, from_files: bool) -> bool:
        """As :meth:`_reload`, after other rules that another worker of the fleet lets count meanwhile."""
        while True:
            if versions.are_behind:
                await self._take_over(versions)
            if await self._reload(sites, from_files=from_files):
                return True
            if not versions.are_behind or self._status.is_closing:
                return False

    async def take_over(self) -> None:
        """Use the rules that count for all workers of the fleet. Raises RedisError, OSError, ValueError."""
        await maybe_deferred_to_future(self._lock.acquire())
        try:
            if self._rule_versions is not None and self._rule_versions.are_behind:
                await self._take_over(self._rule_versions)
                await self._alias_recall.recall()
        finally:
            self._lock.release()

    async def _take_over(self, versions: "RuleVersions") -> None:
        shared = await versions.read()
        book = self._suspended.amended(shared.book.beside(self._identities.book))
        sites = {*shared.book.sites, *(site for site, _ in shared.suspended)}
        changed, digest = await run_in_thread(lambda: self._compared(book, sites))
        if not changed:
            self._identities.book = book
            versions.use(shared)
        else:
            await self._change(book, changed, digest, lambda: versions.use(shared))

    def _read(self, sites: Collection[str], *, from_files: bool) -> "tuple[RuleBook, tuple[str, ...], str]":
        """Return the rules, the sites whose keys may be others by them, and what slots are then made by."""
        before = book = self._identities.book
        if from_files:
            checks = checks_in(self._settings.store, self._settings.scope)
            book = with_checks(before.reloaded(self._directories.all, sites), checks)
        book = self._suspended.amended(book)
        return book, *self._compared(book, sites)

    def _compared(self, book: "RuleBook", sites: Collection[str]) -> tuple[tuple[str, ...], str]:
        """Return the sites whose keys may be others by *book*, and what slots are then made by."""
        before = self._identities.book
        changed = tuple(
            site
            for site in sorted(sites)
            if not book.same_keys(before, site) or _acting_aliases(before, site) - _acting_aliases(book, site)
        )
        return changed, self._identities.digest_of(book) if changed else ""

    async def _reload(self, sites: Collection[str], *, from_files: bool) -> bool:
        book, changed, digest = await run_in_thread(lambda: self._read(sites, from_files=from_files))
        if self._status.is_closing:
            return False
        if not changed:
            self._identities.book = book  # with other evidence, or kinds of aliases
            return False
        return await self._change(book, changed, digest)

    async def _change(
        self,
        book: "RuleBook",
        changed: tuple[str, ...],
        digest: str,
        taken_over: "Callable[[], None] | None" = None,
    ) -> bool:
        """Use *book*, by which keys of the *changed* sites are others; *taken_over* if it is that of another worker."""
        before = self._identities.book
        aliases = await self._aliases(book, frozenset(changed))
        move = self._seen.move(digest, lambda page: self._slot(book, changed, page))
        try:
            turns = Turns()
            while move is not None and not self._status.is_closing and not move.some(turns.seconds):
                await turns.others()
            if self._status.is_closing:
                return False
            if taken_over is None and self._rule_versions is not None and move is not None:
                taken_over = await self._rule_versions.publish(book, changed, digest, move)
                if taken_over is None:  # other rules count by now
                    return False
            self._use(book, move, aliases)
            move = None
            if taken_over is not None:
                taken_over()
        finally:
            if move is not None:
                move.abandon()
        self._look_for_withdrawn(before, book, changed)
        self._stats.inc_value("dedup/learned/swaps")
        await self._settle()
        return True

    def _slot(self, book: "RuleBook", changed: Collection[str], page: "JournalPage") -> int | None:
        identities = self._identities
        if page.current and identities.site_and_mode(page.url)[0] not in changed:
            return page.slot
        if not page.plain:
            return None
        return identities.slot_again(page.url, page.callback, page.context, book.canonical_key(page.url))

    async def _aliases(self, book: "RuleBook", changed: Collection[str]) -> dict[str, Alias]:
        """Return the aliases that are known, under the rules of *book*."""
        identities = self._identities
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

    def _use(self, book: "RuleBook", move: "Rekeying | None", aliases: dict[str, Alias]) -> None:
        """Use the rules of *book* from now on. Raises OSError, and nothing has changed then."""
        self._spot_checks.draw()
        waiting, slots = self._seen.moved(move)
        self._unsettled.extend(waiting)
        self._needless += [slots, *self._identities.use(book, aliases)]
        if move is not None:
            self._needless.append(move.under_way)
        self._marks.renew()

    def _look_for_withdrawn(self, before: "RuleBook", book: "RuleBook", changed: Collection[str]) -> None:
        """See that what rules have filtered that are gone is fetched after all, at the latest before the spider runs idle."""
        for site in changed:
            acting = {rule.id for rule in book.for_site(site) if rule.status.acts}
            if any(rule.status.acts and rule.id not in acting for rule in before.for_site(site)):
                self._rescheduler.is_due = True

    async def _settle(self) -> None:
        """Compare the filtered requests that wait under the new rules; forget what is not needed any more."""
        try:
            async for waiting in in_turns(drained(self._unsettled)):
                self._compare(waiting)
        finally:
            self._before_idle.wake()
        async for needless in in_turns(drained(self._needless)):
            for _ in range(min(_SOME, len(needless))):
                needless.popitem()
            if needless:
                self._needless.append(needless)

    def _compare(self, filtered: "Waiting") -> None:
        identity = self._identities.of(filtered.request)
        if identity is None or identity.slot not in self._seen:
            if identity is None or not self._suspended.defers(identity.site):
                self._replay_schedule.schedule(filtered)
        else:
            self._seen.wait(identity.slot, filtered)  # unless it is fetched

    def forget_suspended_aliases(self) -> None:
        """Forget the aliases of suspended kinds: their URLs are pages of their own again."""
        identities = self._identities
        kept = {
            key: alias
            for key, alias in identities.aliases.items()
            if (identities.site_and_mode(alias.url)[0], alias.rule) not in self._suspended
        }
        if len(kept) < len(identities.aliases):
            identities.use(identities.book, kept)
            self._marks.renew()


def _acting_aliases(book: "RuleBook", site: str) -> set[str]:
    return {rule.id for rule in book.for_site(site) if rule.is_alias and rule.status.acts}
