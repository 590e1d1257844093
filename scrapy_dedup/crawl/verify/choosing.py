"""Spot checks: a share of the filtered requests is fetched all the same, to compare it with what it was taken for.

A spot check is a request that Scrapy would have made anyway, so that it costs no request more. It is made only once the
page that it is taken for has come (:mod:`.judging` has what follows).
"""

import logging
import time
from collections import Counter, defaultdict
from secrets import token_hex
from typing import TYPE_CHECKING, Final, NamedTuple

from ...rules.model import Evidence, Status
from ...store.rows import DiscardState
from ...urls.templates import template_of
from ..decide.filtering_rules import NORMAL_FORM, differences, filtering_rules
from ..identity.suspended_rules import rule_by_id
from ..support.request_meta import SAMPLE, digest, is_digest_of
from .rule_trials import RuleTrials
from .spot_check_rates import SpotCheckRate, has_room, kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request

    from ...rules.model import Rule
    from ...store.rows import DiscardRow
    from ..identity.identities import Identities, UrlIdentity
    from ..identity.suspended_rules import SuspendedRules
    from ..seen.ledger import Ledger
    from ..seen.rescheduling import Rescheduler
    from ..seen.seen import Seen, Waiting
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.tally import Tally

logger = logging.getLogger(__name__)

#: Spot checks under way, and filtered requests that are to be checked when their page has come.
MOST: Final = 5_000
#: Witness groups that a rule of the user's counts as having.
USERS: Final = 30


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


class SpotChecks:
    """Chooses filtered requests, a share of them in the long run (DEDUP_SAMPLE), and fetches them."""

    def __init__(
        self,
        *,
        settings: "DedupSettings",
        status: "CrawlStatus",
        identities: "Identities",
        suspended: "SuspendedRules",
        seen: "Seen",
        ledger: "Ledger",
        rescheduler: "Rescheduler",
        tally: "Tally",
    ) -> None:
        self._share = settings.sample
        self._status = status
        self._identities = identities
        self._suspended = suspended
        self._seen = seen
        self._ledger = ledger
        self._rescheduler = rescheduler
        self._tally = tally
        self._run = token_hex(4)
        #: By the id of the rule.
        self._rates: dict[str, SpotCheckRate] = {}
        #: Spot checks made, by site.
        self._number: Counter[str] = Counter()
        #: By the digest of their URLs.
        self.under_way: dict[str, SpotCheck] = {}
        #: By slot: filtered requests that wait until the page that they are taken for has come.
        self._chosen: dict[int, tuple[Waiting, SpotCheck]] = {}
        #: By site: the rules and what their spot checks have shown.
        self.trials: defaultdict[str, RuleTrials] = defaultdict(RuleTrials)
        #: Whether the middleware that judges spot checks is in use.
        self.has_gate = False

    @property
    def are_made(self) -> bool:
        """Whether spot checks are made in this crawl."""
        return bool(self._share and self.has_gate)

    # What is chosen

    def takes(self, request: "Request", identity: "UrlIdentity", other: str, rules: tuple[str, ...]) -> bool:
        """Whether a request that *rules* would filter is fetched as a spot check; *other* is what it is taken for."""
        if not self._may_check(other, rules) or not self._seen.is_fetched(identity.slot):
            return False
        check = self._drawn(identity.site, rules, request.url, other)
        if check is None:
            return False
        self._begin(request, check)
        return True

    def note_filtered(self, waiting: "Waiting", identity: "UrlIdentity", other: str, rules: tuple[str, ...]) -> None:
        """Note a filtered request; it may be chosen for a spot check once its page has come."""
        if (
            not self._seen.is_fetched(identity.slot)
            and len(self._chosen) < MOST
            and identity.slot not in self._chosen
            and self._may_check(other, rules)
            and (check := self._drawn(identity.site, rules, waiting.request.url, other)) is not None
        ):
            self._chosen[identity.slot] = waiting, check

    def note_fetched(self, slot: int) -> None:
        """Note that the page of *slot* has come: what was chosen for a spot check of it is fetched now."""
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
        self._begin(request, SpotCheck(request.url, row.site, rules, page, self._kinds(request.url, page), row.time))
        if not self._rescheduler.schedule(request, row):
            return False
        self._ledger.scheduled(row, DiscardState.SAMPLED)
        return True

    def _may_check(self, other: str, rules: tuple[str, ...]) -> bool:
        return bool(self.are_made and other and NORMAL_FORM not in rules)

    def _drawn(self, site: str, rules: tuple[str, ...], url: str, other: str) -> SpotCheck | None:
        """Return a filtered request as a spot check, if one of *rules* wants one: it is one of all of them."""
        rates = [self._rate_of(site, rule) for rule in rules]
        wanted_alone = self.trials[site].wanted
        if len(rules) == 1 and rules[0] in wanted_alone:
            wanted_alone.remove(rules[0])
            rates[0].given()
            return SpotCheck(url, site, rules, other, self._kinds(url, other), time.time())
        room = has_room(self._share, self._tally.of(site).pages, self._number[site])
        pages = template_of(url)[:2]  # by its path alone: what its query holds is what rules speak of
        wanted = [rate.takes(rule, url, pages, room=room) for rate, rule in zip(rates, rules, strict=True)]
        kinds = None
        if any(rate.looks for rate in rates):
            kinds = self._kinds(url, other)
            for number, (rate, rule) in enumerate(zip(rates, rules, strict=True)):
                if rate.looks and rate.is_new(kinds.get(rule, 0)):
                    wanted[number] = True
        if not any(wanted):
            return None
        for rate, taken in zip(rates, wanted, strict=True):
            if not taken:
                rate.given()
        return SpotCheck(url, site, rules, other, self._kinds(url, other) if kinds is None else kinds, time.time())

    def _kinds(self, url: str, other: str) -> dict[str, int]:
        found = differences(self._identities.book, url, other)
        return {rule: kind_of(changed) for rule, changed in found.items()}

    def _rate_of(self, site: str, rule: str) -> SpotCheckRate:
        rate = self._rates.get(rule)
        if rate is None:
            rate = self._rates[rule] = self._new_rate(rule_by_id(self._identities.book, site, rule))
        return rate

    def _new_rate(self, rule: "Rule | None") -> SpotCheckRate:
        if rule is None or rule.status is Status.MANUAL:
            return SpotCheckRate.of(self._share, USERS, checked=True)
        known = rule.evidence or Evidence()
        agreeing = known.samples - known.refuted
        return SpotCheckRate.of(self._share, known.groups + agreeing, known.counterexamples, checked=agreeing > 0)

    # What is under way

    def _begin(self, request: "Request", check: SpotCheck) -> None:
        if len(self.under_way) >= MOST:  # the oldest have failed long ago
            del self.under_way[next(iter(self.under_way))]
        key = digest(request.url)
        self.under_way[key] = check
        self._number[check.site] += 1
        self._seen.note_another(request.url)
        request.meta[SAMPLE] = f"{self._run} {key}"
        logger.debug(
            "Fetching %(request)s as a sample: is it the same page as %(page)s, as rule %(rule)s says?",
            {"request": request, "page": check.page, "rule": " and ".join(check.rules)},
            extra={"spider": self._status.spider},
        )

    def _key(self, request: "Request") -> str | None:
        mark = request.meta.get(SAMPLE)
        if not isinstance(mark, str):
            return None
        run, _, key = mark.partition(" ")
        return key if run == self._run and is_digest_of(key, request) else None

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
            self._rate_of(check.site, rule).showed_nothing(kind)

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
