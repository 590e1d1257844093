"""Rules of a job: one worker learns them and lets them count, the others take them over.

They travel through Redis, as the text of rule files, so that workers need no folder in common. A version counts once
all pages that are known have their slots by it: until then claims are decided by the slots of before.
"""

import json
import logging
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import attrs
from redis.exceptions import RedisError
from scrapy.utils.asyncio import run_in_thread

from ...rules.book import RuleBook
from ...rules.reading import read_rules
from ...rules.writing import written_rules
from ..identity.suspended_rules import Suspension
from ..support.cooperative import Turns
from .log_data import SharedRuleTexts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from scrapy.statscollectors import StatsCollector

    from ...rules.model import Rule
    from ...urls import DeepSplit
    from ..identity.identities import Identities
    from ..identity.suspended_rules import SuspendedRules
    from ..seen.journal_lines import JournalPage
    from ..seen.rekeying import Rekeying
    from ..support.faults import Faults
    from .shared_seen import SharedSeen

logger = logging.getLogger(__name__)

#: How often it is tried to let a version count when nothing has come since, before it counts all the same: what comes
#: within those milliseconds may be fetched twice, and all that is fetched until it counts is fetched by the rules of before.
_TRIES: Final = 3
#: Slots that are written in the step in which a version begins to count, unless it is tried for the last time.
_AT_ONCE: Final = 500
#: Of those that were added last, so many more are looked at.
_MARGIN: Final = 256


class SharedRules(NamedTuple):
    """A version of the rules of the job, read."""

    version: int
    digest: str
    #: Of the sites that have changed.
    book: RuleBook
    #: Rules that were suspended by others: site and id.
    suspended: list[tuple[str, str]]


@attrs.define(eq=False, repr=False)
class RuleVersions:
    """Versions of the rules of a job."""

    _stats: "StatsCollector"
    _seen: "SharedSeen"
    _identities: "Identities"
    _suspended: "SuspendedRules"
    _faults: "Faults"
    _has_warned: bool = attrs.field(default=False, init=False)

    @property
    def are_behind(self) -> bool:
        """Whether other rules count than those that this worker uses."""
        return self._seen.version != self._seen.newest

    def use(self, rules: SharedRules) -> None:
        """Note that *rules* are in use; what Redis holds of this worker's pages is made right."""
        agrees = self._identities.digest() == rules.digest
        if not agrees and not self._has_warned:
            self._has_warned = True
            logger.warning(
                "This worker began with other rules than the others of its job: it fetches some pages that they have "
                "fetched. Give all of them the same rule files."
            )
        self._seen.use_version(rules.version, self._slot_of_page, agrees=agrees)

    def take_first(self) -> str:
        """Take over the rules of the job as this worker joins it; return what slots are made by then. It waits."""
        rules = self._shared(self._seen.log.rules(0))
        book = self._suspended.amended(rules.book.beside(self._identities.book))
        self._identities.use(book, {})
        return self._identities.digest()

    def _slot_of_page(self, page: "JournalPage") -> int | None:
        return self._identities.slot_again(page.url, page.callback, page.context)

    async def read(self) -> SharedRules:
        """Return the rules that count, where they are others than those in use. Raises RedisError."""
        return self._shared(await run_in_thread(self._seen.log.rules, self._seen.version))

    def _shared(self, found: SharedRuleTexts) -> SharedRules:
        rules: list[Rule] = []
        deep: dict[str, Mapping[str, DeepSplit]] = {}
        for site, text in found.texts.items():
            of_site, faults = read_rules(text, Path(f"{site}.toml"))
            if of_site is None:
                raise ValueError(f"the rules of {site} that another worker has sent are faulty: {faults}")
            rules += of_site.rules
            deep[site] = of_site.deep
        book = RuleBook(rules, deep, self._identities.book.groups)
        new = []
        for name, why in found.suspended.items():
            site, _, rule = name.partition(" ")
            if (site, rule) not in self._suspended:
                self._suspended.found[site, rule] = Suspension(**json.loads(why))
                new.append((site, rule))
        return SharedRules(found.version, found.digest, book, new)

    async def publish(
        self, book: RuleBook, sites: "Collection[str]", digest: str, move: "Rekeying"
    ) -> "Callable[[], None] | None":
        """Let the rules of *sites* in *book* count for all workers; return what is to be called when they are in use.

        None if other rules count by now: these are to be taken over first. Pages have their slots by *move*.
        Raises OSError.
        """
        seen = self._seen
        if not seen.is_joined:  # they are used by this worker, until it joins
            return lambda: seen.use_version(0, self._slot_of_page, agrees=False)
        if self.are_behind:
            return None
        texts = {site: written_rules(book.site_rules(site)) for site in sites}
        suspended = {
            f"{site} {rule}": json.dumps(asdict(why))
            for (site, rule), why in self._suspended.found.items()
            if site in sites
        }
        before = seen.newest
        rules = SharedRuleTexts(before + 1, digest, texts, suspended)
        try:
            done = await self._published(before, rules, move)
        except RedisError:
            self._faults.report("fleet", "Rules could not be handed to the other workers")
            done = False
        if done:
            self._stats.inc_value("dedup/fleet/published")
            return lambda: seen.use_version(before + 1, self._slot_of_page, agrees=True)
        if seen.newest != before:
            return None
        return lambda: seen.use_version(0, self._slot_of_page, agrees=False)

    async def _published(self, before: int, rules: SharedRuleTexts, move: "Rekeying") -> bool:
        seen, log = self._seen, self._seen.log
        await run_in_thread(log.forget_slots, rules.version)  # somebody may have given up
        written = set(move.values)
        await run_in_thread(log.write_slots, rules.version, list(written))
        turns = Turns()
        for tried in range(_TRIES):
            while not move.some(turns.seconds):
                await turns.others()
            # From here on in one turn: what the others have done meanwhile, and the version counts.
            if not seen.exchange() or seen.adrift:  # nor if Redis holds another job
                return False
            move.some(inf)
            new = self._new(move, written)
            is_last = tried == _TRIES - 1
            if len(new) > _AT_ONCE and not is_last:
                await run_in_thread(log.write_slots, rules.version, new)
                written.update(new)
                continue
            done, version = log.publish(before, seen.last, rules, new, even_with_news=is_last)
            if done:
                seen.newest = version
                return True
            if version != before:
                seen.newest = version or seen.newest
                return False
            written.update(new)
            await run_in_thread(log.write_slots, rules.version, new)
        return False

    @staticmethod
    def _new(move: "Rekeying", written: set[int]) -> list[int]:
        """Return the slots that were not written yet, which are among the last ones."""
        number = max(0, len(move.values) - len(written)) + _MARGIN
        last = reversed(move.values)
        return [slot for slot, _ in zip(last, range(number), strict=False) if slot not in written]
