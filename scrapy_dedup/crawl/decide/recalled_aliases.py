"""Aliases among what a crawl has seen before: of kinds that come into use when their pages are fetched already.

Breadth first, all pages of threads come before their posts are asked for: when the kind is proven, the
links of the posts are queued, and no page shows them again. They are found among the sightings
in the store, by a thread, and made known in turns with the rest of the crawl; the gate then stops what is queued. So
are those of earlier runs of the job.
"""

from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
from scrapy.utils.asyncio import run_in_thread

from ...learning.aliases.pairs import known_aliases
from ...store.ledger_queries import began
from ...store.page_queries import declared
from ..support.cooperative import in_turns
from .known_aliases import COMPARED, MOST_ALIASES

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from ...rules.book import RuleBook
    from ...rules.model import Rule
    from ..identity.identities import Identities
    from ..identity.suspended_rules import SuspendedRules
    from ..seen.seen import Seen
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.faults import Faults
    from .known_aliases import Aliases


class _Recalled(NamedTuple):
    """A URL of which an earlier page has shown that it is that page: both as they were met, its key, and the kind."""

    url: str
    key: str
    page: str
    rule: "Rule"


@attrs.define(eq=False, repr=False, kw_only=True)
class AliasRecall:
    """Looks among earlier pages for the aliases of kinds that come into use, once for each kind."""

    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _faults: "Faults"
    _store: "CrawlStore"
    _identities: "Identities"
    _suspended: "SuspendedRules"
    _seen: "Seen"
    _aliases: "Aliases"
    _done: "frozenset[tuple[str, str]]" = attrs.field(default=frozenset(), init=False)

    def opened(self) -> "Coroutine[Any, Any, None] | None":
        """Return what the engine is to wait for as the spider is open: what the job has queued is of its earlier runs."""
        return self.recall() if self._seen.goes_on else None

    async def recall(self) -> None:
        """Make known the aliases of those kinds in use whose aliases have not been looked for."""
        book = self._identities.book
        rules = [rule for rule in book if rule.is_alias and rule.status.acts]
        new = [rule for rule in rules if (rule.site, rule.id) not in self._done]
        self._done &= frozenset((rule.site, rule.id) for rule in rules)
        if not new:
            return
        try:
            found = await run_in_thread(lambda: self._found(book, new))
            async for url, key, page, rule in in_turns(found):
                if self._status.is_closing or (rule.site, rule.id) in self._suspended:
                    continue
                identity = self._identities.of_url(page)
                if identity.mode in COMPARED and self._identities.site_and_mode(url)[0] == rule.site:
                    self._aliases.know(url, key, identity, page, rule.id)
            self._done |= frozenset((rule.site, rule.id) for rule in new)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("aliases", "Aliases among earlier pages could not be looked for")

    def _found(self, book: "RuleBook", rules: "Sequence[Rule]") -> list[_Recalled]:
        scope = self._settings.scope
        found: list[_Recalled] = []
        with self._store.read() as store:
            since = began(store, scope, self._status.spider.name, self._seen.job, self._status.began)
            for site, kinds in groupby(sorted(rules, key=lambda rule: rule.site), lambda rule: rule.site):
                seen = chain(store.sightings(scope, site, since=since), declared(store, scope, site, since=since))
                pairs = known_aliases(list(kinds), seen, book.canonical_key)
                pages = (_Recalled(pair.row.link, pair.link, pair.row.page, rule) for pair, rule in pairs)
                found += islice(pages, MOST_ALIASES - len(found))
        return found
