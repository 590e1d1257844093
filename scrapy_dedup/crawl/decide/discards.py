"""Discarding a request: counted, told, written into the ledger, and kept while it may be needed."""

import logging
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import IgnoreRequest

from ...urls import normal_form
from ..seen.seen import Waiting
from ..support.events import Event

if TYPE_CHECKING:
    from scrapy import Request

    from ...rules.book import RuleBook
    from ..composition import CrawlComponents as Shared
    from ..identity.identities import Identities, UrlIdentity

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


def deciding_rules(book: "RuleBook", url: str, other: str) -> tuple[str, ...]:
    """Return the ids of the rules that give two URLs one key: those that change what differs in them.

    Where *other* is not known, or the difference is elsewhere, it is one that changes anything.
    """
    if other and normal_form(url) == normal_form(other):
        return (NORMAL_FORM,)
    found = book.canonical(url).deciding_rules(book.canonical(other or url))
    return found or (NORMAL_FORM,)


def filtering_rules(identities: "Identities", url: str, other: str) -> tuple[str, ...]:
    """Return the ids of what makes *url* a duplicate of *other*: rules, or the kind of an alias."""
    alias = identities.alias_rule(url)
    return (alias,) if alias is not None else deciding_rules(identities.book, url, other)


def differences(book: "RuleBook", url: str, other: str) -> dict[str, list[tuple[str, str | None, str | None]]]:
    """Return, by the id of a rule, what it changes of what differs in two URLs: the key, and its value in each."""
    explained = [book.explain(each) for each in (url, other)]
    one, two = (each.values for each in explained)
    found: dict[str, dict[str, tuple[str, str | None, str | None]]] = {}
    for each in explained:
        for rule, operations in each.rules:
            for key in operations:
                if one.get(key) != two.get(key):
                    found.setdefault(rule.id, {})[key] = key, one.get(key), two.get(key)
    return {rule: list(keys.values()) for rule, keys in found.items()}


class Discards:
    """What happens to the requests that are discarded, and, in shadow mode, to those that would be."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        #: A request is filtered: it, its identity, the URL it is taken for, the rules.
        self.filtered: Event[[Waiting, UrlIdentity, str, tuple[str, ...]]] = Event(shared.faults)

    def discard(self, request: "Request", identity: "UrlIdentity", other: str) -> bool:
        """Discard *request*, of which the wrapped dupe filter has not heard; *other* is the URL it is taken for.

        Return False if that cannot be, since the ledger does not take it, or since it is to be fetched as a sample.
        """
        shared = self._shared
        if not shared.unwritten.may_grow():
            return False
        if identity.discarded != identity.slot:  # otherwise the same URL was discarded before
            rules = self.rules(request.url, other)
            if shared.spot_checks.takes(request, identity, other, rules) or not self._first(
                request, identity, other, rules
            ):
                return False
        self._shared.stats.inc_value("dedup/discarded")
        return True

    def discard_queued(self, request: "Request", identity: "UrlIdentity", other: str) -> DuplicateDiscarded | None:
        """Discard a request that the wrapped dupe filter has let pass; return what to raise.

        As in :meth:`discard`, None if that cannot be.
        """
        shared = self._shared
        if shared.spot_checks.is_check(request) or not shared.unwritten.may_grow():
            return None
        rules = self.rules(request.url, other)
        if shared.spot_checks.takes(request, identity, other, rules) or not self._first(
            request, identity, other, rules, queued=True
        ):
            return None
        self._shared.stats.inc_value("dedup/discarded")
        self._shared.stats.inc_value("dedup/discarded/gate")
        return DuplicateDiscarded(other, identity.key, rules[0])

    def rules(self, url: str, other: str) -> tuple[str, ...]:
        """Return the ids of what makes *url* a duplicate of *other*: rules, or the kind of an alias."""
        return filtering_rules(self._shared.identities, url, other)

    def _first(
        self, request: "Request", identity: "UrlIdentity", other: str, rules: tuple[str, ...], *, queued: bool = False
    ) -> bool:
        """Write a URL that is discarded for the first time into the ledger; return False if that fails."""
        shared = self._shared
        rule = rules[0]
        if not shared.names.has(identity.callback):  # nor could it be made again
            shared.unwritten.prevented()
            return False
        row = shared.ledger.discard(request, identity, rule=rule, taken_for=other, job=shared.seen.job, queued=queued)
        discarded = Waiting(request, row)
        if row is not None:
            shared.unwritten.add(discarded)
        else:  # what is not in the ledger can never be fetched after all
            shared.unwritten.prevented()
            return False
        if not identity.known:  # under the rules of before
            identity.known = True
            shared.stats.inc_value("dedup/discarded/urls")
            shared.stats.inc_value(f"dedup/discarded/rule/{rule}")
            shared.tally.discarded(identity.site, rules)
        self.filtered.send(discarded, identity, other, rules)
        shared.seen.wait(identity.slot, discarded)
        identity.discarded = identity.slot
        logger.debug(
            "Discarded %(request)s: the same page as %(url)s by rule %(rule)s",
            {"request": request, "url": other or identity.key, "rule": rule},
            extra={"spider": shared.status.spider},
        )
        return True

    def foresee(self, request: "Request", identity: "UrlIdentity", other: str) -> None:
        """Count a request that would have been discarded (shadow mode)."""
        shared = self._shared
        rule = self.rules(request.url, other)[0]
        shared.stats.inc_value("dedup/shadow/discarded")
        shared.stats.inc_value(f"dedup/shadow/rule/{rule}")
        logger.debug(
            "Would discard %(request)s: the same page as %(url)s by rule %(rule)s",
            {"request": request, "url": other or identity.key, "rule": rule},
            extra={"spider": shared.status.spider},
        )
