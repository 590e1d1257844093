"""Who taught the rules: a spider whose requests are filtered by what others have seen is told so, once.

Rules speak of pages. A spider may read more from a response than its page: its URL, or the meta of its request. One that
has never crawled a site may therefore lose by rules that are right for those which taught them.
"""

import logging
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future

from ...rules.files import load_sites
from ...rules.model import Status
from ...store.page_queries import spiders_before
from ...store.store import Store
from ..support.compatibility import run_in_thread

if TYPE_CHECKING:
    from twisted.internet.defer import Deferred

    from ..shared import Shared

logger = logging.getLogger(__name__)


class Teachers:
    """Looks, at the first filtered request of a site, whose crawls the store holds; in a thread."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        #: Site and id of the learned rules that were there before the crawl: in later ones its own pages had a part.
        self._given = {(rule.site, rule.id) for rule in shared.identities.book if rule.status is Status.ACTIVE}
        self._asked: set[str] = set()
        self._asking: list[Deferred[None]] = []
        self._told = False
        shared.crawler.signals.connect(self._closed, signals.spider_closed)

    def filtered(self, site: str, rules: tuple[str, ...]) -> None:
        """Note a request of *site* that *rules* filter."""
        if self._told or site in self._asked:
            return
        given = [rule for rule in rules if (site, rule) in self._given]
        if given:
            self._asked.add(site)
            self._asking.append(deferred_from_coro(self._ask(site, given[0])))

    async def _ask(self, site: str, rule: str) -> None:
        try:
            others = await run_in_thread(self._others, site, rule)
        except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
            self._shared.faults.report("teachers", "Which spiders have taught the rules cannot be told")
            return
        if not others or self._told:
            return
        self._told = True
        logger.warning(
            "Requests of the spider %s are filtered by rule %s of %s, which was learned from what %s saw. What it reads from "
            "response.url or from the meta of a filtered request is not exported. DEDUP_SCOPE keeps what spiders learn apart.",
            self._shared.spider.name,
            rule,
            site,
            _named(others),
            extra={"spider": self._shared.spider},
        )

    def _others(self, site: str, rule: str) -> list[str]:
        """Return the spiders that the store knows of *site*; none where this one is among them, or the user wrote the rule."""
        settings = self._shared.settings
        written, _ = load_sites(settings.rules, [site])
        if any(each.id == rule for each in written):
            return []
        writer = self._shared.writer
        if writer is None or not writer.flush():  # it makes the store
            return []
        with Store.open(settings.store, readonly=True) as store:
            return spiders_before(store, settings.scope, site, self._shared.spider.name, self._shared.began)

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
