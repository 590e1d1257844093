"""Spot checks: a share of the filtered requests is fetched all the same, to compare it with what it was taken for.

A spot check is a request that Scrapy would have made anyway, so that it costs no request more. It is made only once the
page that it is taken for has come (:mod:`.spot_check_judge` has what follows).
"""

import logging
import time
from collections import Counter, defaultdict
from secrets import token_hex
from typing import TYPE_CHECKING, Final, NamedTuple

import attrs

from ...rules.canonical import NORMAL_FORM
from ...rules.model import Status
from ...store.rows import DiscardState
from ...urls.templates import template_of
from ..decide.filtering_rules import differences, filtering_rules
from ..identity.suspended_rules import rule_by_id
from ..support.faults import Event
from ..support.request_meta import SAMPLE, digest, is_digest_of
from .rule_trials import RuleTrials
from .spot_check_rates import SpotCheckRate, has_room, kind_of, rate_of_rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request

    from ...store.rows import DiscardRow
    from ..identity.identities import Identities, UrlIdentity
    from ..identity.suspended_rules import SuspendedRules
    from ..seen.ledger import Ledger
    from ..seen.rescheduling import Rescheduler
    from ..seen.seen import Seen, Waiting
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.faults import Faults
    from ..support.tally import Tally

logger = logging.getLogger(__name__)

#: Spot checks under way, and filtered requests that are to be checked when their page has come.
MOST: Final = 5_000
#: Filtered requests that wait until it is drawn which of them are chosen.
MOST_UNDRAWN: Final = 500


class Undrawn(NamedTuple):
    """A request that was filtered before its page has come, and may be chosen for a spot check."""

    waiting: "Waiting"
    slot: int
    site: str
    #: The URL that it is taken for, and the ids of the rules.
    other: str
    rules: tuple[str, ...]
    #: When it was filtered, in seconds since 1970.
    at: float


class SpotCheck(NamedTuple):
    """A filtered request that is fetched all the same."""

    url: str
    site: str
    #: Ids of the rules that would have filtered it.
    rules: tuple[str, ...]
    #: The URL it would have been taken for.
    page: str
    #: By the rule: the kind of what it changes.
    kinds: "Mapping[str, int]"
    #: When it was filtered, in seconds since 1970.
    at: float


@attrs.define(eq=False, repr=False, kw_only=True)
class SpotChecks:
    """Chooses filtered requests, a share of them in the long run (DEDUP_SAMPLE), and fetches them."""

    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _identities: "Identities"
    _suspended: "SuspendedRules"
    _seen: "Seen"
    _ledger: "Ledger"
    _rescheduler: "Rescheduler"
    _tally: "Tally"
    _faults: "Faults"
    #: The same in all workers of a fleet.
    run: str = attrs.field(factory=lambda: token_hex(4), init=False)
    #: A request goes out as a spot check.
    check_begun: "Event[[Request, SpotCheck]]" = attrs.field(
        init=False, default=attrs.Factory(lambda self: Event(self._faults), takes_self=True)
    )
    #: By the id of the rule.
    _rates: dict[str, SpotCheckRate] = attrs.field(factory=dict, init=False)
    #: Spot checks made, by site.
    number: Counter[str] = attrs.field(factory=Counter, init=False)
    #: By the digest of their URLs.
    under_way: dict[str, SpotCheck] = attrs.field(factory=dict, init=False)
    #: In the order in which they were filtered.
    _undrawn: list[Undrawn] = attrs.field(factory=list, init=False)
    #: By slot: filtered requests that wait until the page that they are taken for has come.
    _chosen: "dict[int, tuple[Waiting, SpotCheck]]" = attrs.field(factory=dict, init=False)
    #: By site: the rules and what their spot checks have shown.
    trials: defaultdict[str, RuleTrials] = attrs.field(factory=lambda: defaultdict(RuleTrials), init=False)
    #: Whether the middleware that judges spot checks is in use.
    has_gate: bool = attrs.field(default=False, init=False)

    @property
    def are_made(self) -> bool:
        """Whether spot checks are made in this crawl."""
        return bool(self._settings.sample and self.has_gate)

    # What is chosen

    def takes(self, request: "Request", identity: "UrlIdentity", other: str, rules: tuple[str, ...]) -> bool:
        """Whether a request that *rules* would filter is fetched as a spot check; *other* is what it is taken for."""
        if not self._may_check(other, rules) or not self._seen.is_fetched(identity.slot):
            return False
        self.draw()
        check = self._drawn(identity.site, rules, request.url, other, time.time())
        if check is None:
            return False
        self._begin(request, check)
        return True

    def note_filtered(self, waiting: "Waiting", identity: "UrlIdentity", other: str, rules: tuple[str, ...]) -> None:
        """Note a filtered request; it may be chosen for a spot check once its page has come."""
        if not self._may_check(other, rules) or self._seen.is_fetched(identity.slot):
            return
        self._undrawn.append(Undrawn(waiting, identity.slot, identity.site, other, rules, time.time()))
        if len(self._undrawn) >= MOST_UNDRAWN:
            self.draw()

    def draw(self) -> None:
        """Choose among the requests that were filtered since, under the rules that have filtered them."""
        undrawn, self._undrawn = self._undrawn, []
        for waiting, slot, site, other, rules, at in undrawn:
            if len(self._chosen) >= MOST or slot in self._chosen:
                continue
            try:
                check = self._drawn(site, rules, waiting.request.url, other, at)
            except Exception:  # noqa: BLE001 (whatever it is, the crawl goes on)
                self._faults.report("filtered", "A filtered request could not be noted")
                continue
            if check is not None:
                self._chosen[slot] = waiting, check

    def note_fetched(self, slot: int) -> None:
        """Note that the page of *slot* has come: what was chosen for a spot check of it is fetched now."""
        self.draw()
        if not self._chosen or (chosen := self._chosen.pop(slot, None)) is None:
            return
        waiting, check = chosen
        page = self._seen.url(slot)
        if page == waiting.request.url or not page:  # it was scheduled in the place of the one that failed
            return
        self._begin(waiting.request, check._replace(page=page))
        if self._rescheduler.schedule(waiting.request, waiting.row) and waiting.row is not None:
            self._ledger.scheduled(waiting.row, DiscardState.SAMPLED)

    def fetch(self, row: "DiscardRow") -> bool:
        """Fetch a request of the ledger as a spot check; return False if its page is not there, or it is fetched already."""
        request = self._ledger.request(row)
        identity = None if request is None else self._identities.of(request)
        if request is None or identity is None or row.url in self._rescheduler.done:
            return False
        slot = identity.slot
        page = self._seen.url(slot) if slot in self._seen and self._seen.is_fetched(slot) else ""
        if not page or page == request.url:
            return False
        rules = filtering_rules(self._identities, request.url, page)
        if NORMAL_FORM in rules:
            return False
        self._rescheduler.done.add(row.url)
        self._begin(request, SpotCheck(request.url, row.site, rules, page, self.kinds(request.url, page), row.time))
        if not self._rescheduler.schedule(request, row):
            return False
        self._ledger.scheduled(row, DiscardState.SAMPLED)
        return True

    def _may_check(self, other: str, rules: tuple[str, ...]) -> bool:
        return bool(self.are_made and other and NORMAL_FORM not in rules)

    def _drawn(self, site: str, rules: tuple[str, ...], url: str, other: str, at: float) -> SpotCheck | None:
        """Return a request that was filtered *at* a time as a spot check, if one of *rules* wants one: it is one of all of them."""
        rates = [self.rate_of(site, rule) for rule in rules]
        wanted_alone = self.trials[site].wanted
        if len(rules) == 1 and rules[0] in wanted_alone:
            wanted_alone.remove(rules[0])
            rates[0].given()
            return SpotCheck(url, site, rules, other, self.kinds(url, other), at)
        room = has_room(self._settings.sample, self._tally.of(site).pages, self.number[site])
        pages = template_of(url)[:2]  # by its path alone: what its query holds is what rules speak of
        wanted = [rate.takes(rule, url, pages, room=room) for rate, rule in zip(rates, rules, strict=True)]
        kinds = None
        if any(rate.looks for rate in rates):
            kinds = self.kinds(url, other)
            for number, (rate, rule) in enumerate(zip(rates, rules, strict=True)):
                if rate.looks and rate.is_new(kinds.get(rule, 0)):
                    wanted[number] = True
        if not any(wanted):
            return None
        for rate, taken in zip(rates, wanted, strict=True):
            if not taken:
                rate.given()
        return SpotCheck(url, site, rules, other, self.kinds(url, other) if kinds is None else kinds, at)

    def kinds(self, url: str, other: str) -> dict[str, int]:
        """Return, by the rules that take *url* for *other*, the kind of what they change there."""
        found = differences(self._identities.book, url, other)
        return {rule: kind_of(changed) for rule, changed in found.items()}

    def rate_of(self, site: str, rule: str) -> SpotCheckRate:
        """Return the rate of a rule."""
        rate = self._rates.get(rule)
        if rate is None:
            rate = self._rates[rule] = rate_of_rule(
                self._settings.sample, rule_by_id(self._identities.book, site, rule)
            )
        return rate

    # What is under way

    def _begin(self, request: "Request", check: SpotCheck) -> None:
        if len(self.under_way) >= MOST:  # the oldest have failed long ago
            del self.under_way[next(iter(self.under_way))]
        key = digest(request.url)
        self.under_way[key] = check
        self.number[check.site] += 1
        self._seen.note_another(request.url)
        request.meta[SAMPLE] = f"{self.run} {key}"
        self.check_begun.send(request, check)
        logger.debug(
            "Fetching %(request)s as a spot check: is it the same page as %(page)s, as rule %(rule)s says?",
            {"request": request, "page": check.page, "rule": " and ".join(check.rules)},
            extra={"spider": self._status.spider},
        )

    def _key(self, request: "Request") -> str | None:
        mark = request.meta.get(SAMPLE)
        if not isinstance(mark, str):
            return None
        run, _, key = mark.partition(" ")
        return key if run == self.run and is_digest_of(key, request) else None

    def is_check(self, request: "Request") -> bool:
        """Whether *request*, or one whose redirects have led to it, is a spot check that is under way."""
        return self._key(request) in self.under_way

    def was_scheduled(self, request: "Request") -> bool:
        """Whether *request* itself was scheduled as a spot check."""
        check = self.under_way.get(self._key(request) or "")
        return check is not None and check.url == request.url

    def take_out(self, request: "Request") -> SpotCheck | None:
        """Return the spot check that *request* is, which is no longer under way; None if it is none."""
        return self.under_way.pop(self._key(request) or "", None)

    def note_ended(self, request: "Request") -> None:
        """Note that the redirects of a spot check lead to a page that is fetched already."""
        check = self.take_out(request)
        if check is not None:
            self.note_undecided(check)

    def note_undecided(self, check: SpotCheck) -> None:
        """Note that a spot check has shown nothing: another one of its kinds is to be made."""
        for rule, kind in check.kinds.items():
            self.rate_of(check.site, rule).showed_nothing(kind)

    # What they have shown

    @property
    def undecided(self) -> bool:
        """Whether there are spot checks that refute one of several rules, and nobody can tell which."""
        return any(self.trials.values())

    def is_confirmed(self, site: str, name: str) -> bool:
        """Whether a rule is the user's, or was confirmed by a spot check, now or earlier, and not refuted."""
        if name == NORMAL_FORM:
            return True
        if (site, name) in self._suspended:
            return False
        rule = rule_by_id(self._identities.book, site, name)
        if rule is not None and rule.status is Status.MANUAL:
            return True
        trial = self.trials[site].trials.get(name) if site in self.trials else None
        if trial is not None and trial.samples > trial.differing:
            return True
        evidence = rule.evidence if rule is not None else None
        return evidence is not None and evidence.samples > evidence.refuted
