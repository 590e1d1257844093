"""The monitor: a share of the discards is fetched all the same, and compared with what it was taken for.

A sample is a request that Scrapy would have made anyway, so that it costs no request more. It
is taken only once the page that it is taken for has come. Is it that page indeed, it stops before the
callback, since its items would be duplicates; otherwise it goes on as the ordinary response that it is, and
counts against its rule (:mod:`scrapy_dedup.learning.lifetime.refutation`).
"""

import logging
import time
from collections import Counter, defaultdict
from secrets import token_hex
from typing import TYPE_CHECKING, Final, NamedTuple

from ...content.resemblance import Difference
from ...rules.model import Evidence, Status
from ...store.rows import DiscardState
from ...urls.templates import template_of
from ..decide.discards import NORMAL_FORM, DuplicateDiscarded, differences
from ..observe.store_rows import LaterRow, base_row, is_quick, page_row
from ..support.compatibility import run_in_thread
from ..support.request_meta import SAMPLE, digest, is_digest_of
from .comparing import Comparing
from .credit import Case, Suspects
from .sampling_rates import Sampling, has_room, kind_of
from .single_rule import discards_of_one_rule
from .unsampled import Untold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy import Request
    from scrapy.http import Response

    from ...rules.model import Rule
    from ...store.rows import DiscardRow
    from ..identity.identities import UrlIdentity
    from ..seen.seen import Waiting
    from ..shared import Shared

logger = logging.getLogger(__name__)

#: Samples on their way, and discards that are to be samples when their page has come.
MOST: Final = 5_000
#: Witness groups that a rule of the user's counts as having.
USERS: Final = 30


class Sample(NamedTuple):
    """A discard that is fetched all the same."""

    url: str
    site: str
    #: Ids of the rules that would have discarded it.
    rules: tuple[str, ...]
    #: The URL it would have been taken for.
    page: str
    #: By the rule: the kind of what it changes.
    kinds: "Mapping[str, int]"
    #: When it was discarded, in seconds since 1970.
    at: float


class Monitor:
    """Takes samples, and judges them when they have come."""

    def __init__(self, shared: "Shared") -> None:
        self._shared = shared
        self._share = shared.settings.sample
        self._run = token_hex(4)
        self._comparing = Comparing(shared)
        #: By the id of the rule.
        self._sampling: dict[str, Sampling] = {}
        #: Samples taken, by site.
        self._number: Counter[str] = Counter()
        #: By the digest of their URLs.
        self.under_way: dict[str, Sample] = {}
        #: By slot: discards that wait until the page that they are taken for has come.
        self._chosen: dict[int, tuple[Waiting, Sample]] = {}
        #: By site: the rules and what their samples have shown.
        self.suspects: defaultdict[str, Suspects] = defaultdict(Suspects)
        #: Whether the middleware that judges samples is in use.
        self.watches = False
        self._warned: set[str] = set()
        self._untold = Untold(shared)

    # Taking samples

    @property
    def samples(self) -> bool:
        """Whether samples are taken."""
        return bool(self._share and self.watches)

    def takes(self, request: "Request", identity: "UrlIdentity", other: str, rules: tuple[str, ...]) -> bool:
        """Whether a request that *rules* would discard is to be fetched as a sample; *other* is what it is taken for."""
        if not self._may_sample(other, rules) or not self._shared.seen.is_fetched(identity.slot):
            return False
        sample = self._drawn(identity.site, rules, request.url, other)
        if sample is None:
            return False
        self._begin(request, sample)
        return True

    def discarded(self, waiting: "Waiting", identity: "UrlIdentity", other: str, rules: tuple[str, ...]) -> None:
        """Note a discard; it may be chosen for a sample once its page has come."""
        self._untold.pending = self.samples
        if (
            not self._shared.seen.is_fetched(identity.slot)
            and len(self._chosen) < MOST
            and identity.slot not in self._chosen
            and self._may_sample(other, rules)
            and (sample := self._drawn(identity.site, rules, waiting.request.url, other)) is not None
        ):
            self._chosen[identity.slot] = waiting, sample

    def fetched(self, slot: int) -> None:
        """Note that the page of *slot* has come: what was chosen for a sample of it is fetched now."""
        if not self._chosen or (chosen := self._chosen.pop(slot, None)) is None:
            return
        waiting, sample = chosen
        shared = self._shared
        page = shared.seen.url(slot)
        if page == waiting.request.url or not page:  # it was scheduled in the place of the one that failed
            return
        self._begin(waiting.request, sample._replace(page=page))
        if shared.crawl(waiting.request, waiting.row) and waiting.row is not None:
            shared.ledger.scheduled(waiting.row, DiscardState.SAMPLED)

    def is_sample(self, request: "Request") -> bool:
        """Whether *request*, or one whose redirects have led to it, is a sample that is on its way."""
        return self._key(request) in self.under_way

    def is_sampled(self, request: "Request") -> bool:
        """Whether *request* itself was scheduled as a sample."""
        sample = self.under_way.get(self._key(request) or "")
        return sample is not None and sample.url == request.url

    def _may_sample(self, other: str, rules: tuple[str, ...]) -> bool:
        return bool(self.samples and other and NORMAL_FORM not in rules)

    def _drawn(self, site: str, rules: tuple[str, ...], url: str, other: str) -> Sample | None:
        """Return a discard as a sample, if one of *rules* wants one: it is one of all of them."""
        all_of_them = [self._sampling_of(site, rule) for rule in rules]
        if len(rules) == 1 and rules[0] in self.suspects[site].wanted:
            self.suspects[site].wanted.remove(rules[0])
            all_of_them[0].given()
            return Sample(url, site, rules, other, self._kinds(url, other), time.time())
        room = has_room(self._share, self._shared.tally.of(site).pages, self._number[site])
        pages = template_of(url)[:2]  # by its path alone: what its query holds is what rules speak of
        wanted = [
            sampling.takes(rule, url, pages, room=room) for sampling, rule in zip(all_of_them, rules, strict=True)
        ]
        kinds = None
        if any(sampling.looks for sampling in all_of_them):
            kinds = self._kinds(url, other)
            for number, (sampling, rule) in enumerate(zip(all_of_them, rules, strict=True)):
                if sampling.looks and sampling.is_new(kinds.get(rule, 0)):
                    wanted[number] = True
        if not any(wanted):
            return None
        for sampling, taken in zip(all_of_them, wanted, strict=True):
            if not taken:
                sampling.given()
        kinds = self._kinds(url, other) if kinds is None else kinds
        return Sample(url, site, rules, other, kinds, time.time())

    def _kinds(self, url: str, other: str) -> dict[str, int]:
        found = differences(self._shared.identities.book, url, other)
        return {rule: kind_of(changed) for rule, changed in found.items()}

    def _sampling_of(self, site: str, rule: str) -> Sampling:
        sampling = self._sampling.get(rule)
        if sampling is None:
            sampling = self._sampling[rule] = self._new_sampling(self.rule(site, rule))
        return sampling

    def _new_sampling(self, rule: "Rule | None") -> Sampling:
        if rule is None or rule.status is Status.MANUAL:
            return Sampling.of(self._share, USERS, checked=True)
        known = rule.evidence or Evidence()
        agreeing = known.samples - known.refuted
        return Sampling.of(self._share, known.groups + agreeing, known.counterexamples, checked=agreeing > 0)

    def rule(self, site: str, rule: str) -> "Rule | None":
        """Return a rule of a site by its id; None if it is not in use any more."""
        return next((each for each in self._shared.identities.book.for_site(site) if each.id == rule), None)

    def _begin(self, request: "Request", sample: Sample) -> None:
        if len(self.under_way) >= MOST:  # the oldest have failed long ago
            del self.under_way[next(iter(self.under_way))]
        key = digest(request.url)
        self.under_way[key] = sample
        self._number[sample.site] += 1
        self._shared.seen.note_another(request.url)
        request.meta[SAMPLE] = f"{self._run} {key}"
        logger.debug(
            "Fetching %(request)s as a sample: is it the same page as %(page)s, as rule %(rule)s says?",
            {"request": request, "page": sample.page, "rule": " and ".join(sample.rules)},
            extra={"spider": self._shared.spider},
        )

    def _key(self, request: "Request") -> str | None:
        mark = request.meta.get(SAMPLE)
        if not isinstance(mark, str):
            return None
        run, _, key = mark.partition(" ")
        return key if run == self._run and is_digest_of(key, request) else None

    # Judging them

    def ended(self, request: "Request") -> None:
        """Note that a sample's redirects lead to a page that is fetched already."""
        sample = self.under_way.pop(self._key(request) or "", None)
        if sample is not None:
            self._told_nothing(sample)

    def _told_nothing(self, sample: Sample) -> None:
        for rule, kind in sample.kinds.items():
            self._sampling_of(sample.site, rule).told_nothing(kind)

    async def judge(self, request: "Request", response: "Response") -> DuplicateDiscarded | None:
        """Compare a sample; return what stops its response, None if that is to go on."""
        sample = self.under_way.pop(self._key(request) or "", None)
        if sample is None:
            return None
        shared = self._shared
        shared.stats.inc_value("dedup/samples")
        identities = shared.identities
        key = identities.of_url(sample.url).key
        from_cache = "cached" in response.flags
        if (
            response.status != 200
            or shared.left_out.cut_off(response, sample.site)
            or (from_cache and response.url != request.url)
            or key != identities.of_url(sample.page).key  # by the rules of now they are two pages
        ):
            return None
        base = base_row(
            request, response, shared.settings.scope, sample.site, shared.spider.name, from_cache=from_cache
        )
        # It is compared by what lasts of it, and recorded, as any page is.
        versioned = shared.versions.wanted(sample.site, request.url)
        if is_quick(response):
            row = page_row(response, base, shared.settings.max_body, versioned=versioned)
        else:
            row = await run_in_thread(LaterRow(response, base, shared.settings.max_body, versioned=versioned))
        found = await run_in_thread(self._comparing.with_page, row, sample.page)
        if found.difference is Difference.UNKNOWN:
            self._told_nothing(sample)
            return None
        suspects = self.suspects[sample.site]
        if found.difference is Difference.NONE:
            shared.stats.inc_value("dedup/samples/confirmed")
            shared.tally.confirmed(sample.site)
            self._untold.tell(sample.site, sample.url, sample.page, sample.rules, sample.at)
            if shared.record(row):  # it does not come to where responses are recorded
                shared.stats.inc_value("dedup/recorded")
            await self._refute(sample.site, suspects.confirm(sample.rules, sample.kinds))
            return DuplicateDiscarded(sample.page, key, sample.rules[0])
        if found.elsewhere:
            self._told_nothing(sample)  # by itself
        else:
            shared.stats.inc_value("dedup/samples/differing")
            shared.tally.differing(sample.site)
            self._untold.differs(sample.site, sample.url, sample.page, sample.rules, sample.at)
        logger.debug(
            "The sample %(sample)s is not the same page as %(page)s, as rule %(rule)s says",
            {"sample": sample.url, "page": sample.page, "rule": " and ".join(sample.rules)},
            extra={"spider": shared.spider},
        )
        difference = found.difference
        if identities.of_url(request.url).key != key:
            difference = Difference.NEAR  # its redirects lead elsewhere, maybe all to one page, to log in
        case = Case(
            sample.rules,
            difference,
            found.content,
            found.noise,
            sample.url,
            sample.page,
            sample.kinds,
            elsewhere=found.elsewhere,
        )
        await self._refute(sample.site, suspects.accuse(case))
        if suspects.wanted:
            await self._look_for_deciding(sample.site, suspects)
        return None

    async def _look_for_deciding(self, site: str, suspects: Suspects) -> None:
        """Fetch a discard of each suspected rule that no other one was needed for, to see which of them is wrong."""
        shared = self._shared
        wanted = frozenset(suspects.wanted)
        rows = await run_in_thread(discards_of_one_rule, shared, site, wanted)
        for rule, row in rows.items():
            if rule in suspects.wanted and self.fetch(row):
                suspects.wanted.remove(rule)

    def fetch(self, row: "DiscardRow") -> bool:
        """Fetch a discard as a sample; return False if its page is not there, or it is fetched already."""
        shared = self._shared
        request = shared.ledger.request(row)
        identity = None if request is None else shared.identities.of(request)
        if request is None or identity is None or row.url in shared.replayed:
            return False
        slot = identity.slot
        page = shared.seen.url(slot) if slot in shared.seen and shared.seen.is_fetched(slot) else ""
        if not page or page == request.url:
            return False
        rules = shared.discards.rules(request.url, page)
        if NORMAL_FORM in rules:
            return False
        shared.replayed.add(row.url)
        self._begin(request, Sample(request.url, row.site, rules, page, self._kinds(request.url, page), row.time))
        if not shared.crawl(request, row):
            return False
        shared.ledger.scheduled(row, DiscardState.SAMPLED)
        return True

    @property
    def undecided(self) -> bool:
        """Whether there are samples that refute one of several rules, and nobody can tell which."""
        return any(self.suspects.values())

    @property
    def unsettled(self) -> bool:
        """Whether something is to be done about samples before the spider runs idle."""
        return self._untold.pending or self.undecided

    async def before_idle(self) -> None:
        """Fetch discards of kinds that no sample has told anything of, as all else is done; settle if there are none."""
        if not await self._untold.fetch():
            await self.settle()

    async def settle(self) -> None:
        """Decide which rules are refuted by samples that refute one of several, since no more samples come."""
        for site, suspects in list(self.suspects.items()):
            await self._refute(site, suspects.settle())

    async def _refute(self, site: str, refuted: "Iterable[tuple[str, Case]]") -> None:
        """Suspend rules that are refuted; warn of those that are the user's."""
        suspended: dict[Rule, tuple[str, str]] = {}
        for name, case in refuted:
            rule = self.rule(site, name)
            if rule is None or not rule.status.acts:
                continue
            if rule.status is Status.MANUAL:
                self._warn(rule, case)
            else:
                suspended[rule] = case.url, case.page
                self.suspects[site].drop(name)
        if suspended:
            await self._shared.retraction.suspend(suspended)

    def _warn(self, rule: "Rule", case: Case) -> None:
        if rule.id not in self._warned:
            self._warned.add(rule.id)
            self._shared.stats.inc_value("dedup/refuted/manual")
            logger.warning(
                "Rule %s of %s is manual, so it goes on to act, but by it a page is lost: %s is not the same page as %s",
                rule.id,
                rule.site,
                case.url,
                case.page,
                extra={"spider": self._shared.spider},
            )

    def close(self) -> None:
        """Let go of the store; it may wait."""
        self._comparing.close()
