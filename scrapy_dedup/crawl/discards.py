"""Discarding a request: counted, told, written into the ledger, and kept while it may be needed."""

import logging
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import IgnoreRequest

from ..urls import normal_form
from .seen import Waiting

if TYPE_CHECKING:
    from scrapy import Request

    from ..rules.book import RuleBook
    from .identities import UrlIdentity
    from .shared import Shared

logger = logging.getLogger(__name__)

#: The "rule" of two URLs that are one by their normal form.
NORMAL_FORM: Final = "normal-form"


class DuplicateDiscarded(IgnoreRequest):
    """A request that had been queued was discarded, since an equivalent one is fetched or on its way.

    An errback may tell it from other reasons. ``url`` is the URL it was taken for, "" if
    that is not known, ``key`` their canonical key, ``rule`` the id of the rule.
    """

    def __init__(self, url: str, key: str, rule: str) -> None:
        super().__init__(f"the same page as {url or key} by rule {rule}")
        self.url = url
        self.key = key
        self.rule = rule


def deciding_rule(book: "RuleBook", url: str, other: str) -> str:
    """Return the id of a rule that gives one of two URLs its key, which is that of both."""
    if other and normal_form(url) == normal_form(other):
        return NORMAL_FORM
    for each in (url, other):
        for rule, operations in book.explain(each).rules if each else ():
            if operations:
                return rule.id
    return NORMAL_FORM


class Discards:
    """What happens to the requests that are discarded, and, in shadow mode, to those that would be."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared

    def discard(self, request: "Request", identity: "UrlIdentity", other: str) -> bool:
        """Discard *request*, of which the wrapped dupe filter has not heard; *other* is the URL it is taken for.

        Return False if that cannot be, since the ledger does not take it.
        """
        if not self._shared.unwritten.may_grow():
            return False
        if identity.discarded != identity.slot:  # otherwise the same URL was discarded before
            if self._first(request, identity, other) is None:
                return False
            identity.discarded = identity.slot
        self._shared.stats.inc_value("dedup/discarded")
        return True

    def discard_queued(self, request: "Request", identity: "UrlIdentity", other: str) -> DuplicateDiscarded | None:
        """Discard a request that the wrapped dupe filter has let pass; return what to raise.

        As in :meth:`discard`, None if that cannot be.
        """
        if not self._shared.unwritten.may_grow():
            return None
        # Should it be needed after all, the wrapped filter would take it for a duplicate of itself.
        rule = self._first(request.replace(dont_filter=True), identity, other)
        if rule is None:
            return None
        self._shared.stats.inc_value("dedup/discarded")
        self._shared.stats.inc_value("dedup/discarded/gate")
        return DuplicateDiscarded(other, identity.key, rule)

    def _first(self, request: "Request", identity: "UrlIdentity", other: str) -> str | None:
        """Write a URL that is discarded for the first time into the ledger; return the rule, None if that fails."""
        shared = self._shared
        rule = shared.identities.alias_rule(request.url) or deciding_rule(shared.identities.book, request.url, other)
        row = shared.ledger.discard(request, identity, rule=rule, taken_for=other, job=shared.seen.job)
        discarded = Waiting(request, row)
        if row is not None:
            shared.unwritten.add(discarded)
        elif shared.seen.persistent or not shared.ledger.full:
            # A later run of the job may need it; the limit that the user has set is no reason to lose a page.
            shared.unwritten.prevented()
            return None
        if not identity.known:  # under the rules of before
            identity.known = True
            shared.stats.inc_value("dedup/discarded/urls")
            shared.stats.inc_value(f"dedup/discarded/rule/{rule}")
        shared.seen.wait(identity.slot, discarded)
        logger.debug(
            "Discarded %(request)s: the same page as %(url)s by rule %(rule)s",
            {"request": request, "url": other or identity.key, "rule": rule},
            extra={"spider": shared.spider},
        )
        return rule

    def foresee(self, request: "Request", identity: "UrlIdentity", other: str) -> None:
        """Count a request that would have been discarded (shadow mode)."""
        shared = self._shared
        rule = shared.identities.alias_rule(request.url) or deciding_rule(shared.identities.book, request.url, other)
        shared.stats.inc_value("dedup/shadow/discarded")
        shared.stats.inc_value(f"dedup/shadow/rule/{rule}")
        logger.debug(
            "Would discard %(request)s: the same page as %(url)s by rule %(rule)s",
            {"request": request, "url": other or identity.key, "rule": rule},
            extra={"spider": shared.spider},
        )
