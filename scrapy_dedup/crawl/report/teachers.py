"""Spiders that taught the rules: a warning, once, where a spider's requests are filtered by what others have seen.

Rules speak of pages. A spider may read more from a response than its page: its URL, or the meta of its request. One that
has never crawled a site may therefore lose by rules that are right for those which taught them.
"""

import logging
from typing import TYPE_CHECKING

import attrs
from scrapy import signals
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future

from ...rules.files import load_sites
from ...rules.model import Status
from ...store.page_queries import spiders_before

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from ..identity.identities import Identities
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.crawl_store import CrawlStore
    from ..support.faults import Faults

logger = logging.getLogger(__name__)


@attrs.define(eq=False, repr=False, kw_only=True)
class Teachers:
    """Looks, at the first filtered request of a site, whose crawls the store holds; in a thread."""

    _crawler: "Crawler"
    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _faults: "Faults"
    _store: "CrawlStore"
    _identities: "Identities"
    #: Site and id of the learned rules that were there before the crawl: in later ones its own pages had a part.
    _given: set[tuple[str, str]] = attrs.field(init=False)
    _asked: set[str] = attrs.field(factory=set, init=False)
    _asking: "list[Deferred[None]]" = attrs.field(factory=list, init=False)
    _has_warned: bool = attrs.field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self._given = {(rule.site, rule.id) for rule in self._identities.book if rule.status is Status.ACTIVE}
        self._crawler.signals.connect(self._closed, signals.spider_closed)

    def note_filtered(self, site: str, rules: tuple[str, ...]) -> None:
        """Note that a request of *site* is filtered by *rules*, the first one."""
        if self._has_warned or site in self._asked:
            return
        given = [rule for rule in rules if (site, rule) in self._given]
        if given:
            self._asked.add(site)
            self._asking.append(deferred_from_coro(self._ask(site, given[0])))

    async def _ask(self, site: str, rule: str) -> None:
        try:
            others = await run_in_thread(self._others, site, rule)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._faults.report("teachers", "Which spiders have taught the rules cannot be told")
            return
        if not others or self._has_warned:
            return
        self._has_warned = True
        logger.warning(
            "Requests of the spider %s are filtered by rule %s of %s, which was learned from what %s saw. What it reads from "
            "response.url or from the meta of a filtered request is not exported. DEDUP_SCOPE keeps what spiders learn apart.",
            self._status.spider.name,
            rule,
            site,
            _named(others),
            extra={"spider": self._status.spider},
        )

    def _others(self, site: str, rule: str) -> list[str]:
        """Return the spiders that the store knows of *site*; none where this one is among them, or the user wrote the rule."""
        settings = self._settings
        written, _ = load_sites(settings.rules, [site])
        if any(each.id == rule for each in written):
            return []
        if not self._store.flush():  # it makes the store
            return []
        with self._store.read() as store:
            return spiders_before(store, settings.scope, site, self._status.spider.name, self._status.began)

    async def _closed(self) -> None:
        for each in self._asking:
            await maybe_deferred_to_future(each)


def _named(spiders: list[str]) -> str:
    """Name some spiders.

    >>> _named(["a"]), _named(["a", "b"]), _named(["a", "b", "c", "d"])
    ('the spider a', 'the spiders a and b', 'the spiders a, b and 2 more')
    """
    if len(spiders) == 1:
        return f"the spider {spiders[0]}"
    last = spiders[-1] if len(spiders) <= 3 else f"{len(spiders) - 2} more"
    return f"the spiders {', '.join(spiders[:-1] if len(spiders) <= 3 else spiders[:2])} and {last}"
