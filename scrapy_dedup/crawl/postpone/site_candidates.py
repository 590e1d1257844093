"""Candidate rules in a crawl: which requests would be duplicates by them.

Of the URLs that have one canonical key under the candidates, one stands for the others: one that the candidates do not change,
else the first. All others are *doubtful*.
"""

import logging
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import attrs

from ...learning.choices import IRRELEVANT
from ...rules.book import RuleBook
from ...rules.model import Rule, Status
from ...rules.operations import Ignore, IgnoreValue
from ...rules.reading import read_rules
from ...urls.deep_tokens import whole_key
from ..seen.journal_lines import digest_of
from ..support.cooperative import in_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from scrapy import Request

    from ..identity.identities import Identities, UrlIdentity
    from ..seen.seen import Seen
    from ..support.crawl_status import CrawlStatus

logger = logging.getLogger(__name__)

#: Where candidate rules come from.
_ANSWER: Final = Path("the answer of the learning process")
#: Canonical keys of a site under candidates that are remembered, about 200 bytes each.
MOST: Final = 500_000
#: Sites whose candidates are remembered.
MOST_SITES: Final = 2_000
#: Other sites whose rules must drop a parameter for it to be a candidate on a new one.
TAUGHT: Final = 3

_is_plain_name = re.compile(r"q\.[A-Za-z0-9_.*-]+").fullmatch


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The candidates of a site, the book of the rules that act there with them, and a quick look at what these may change."""

    rules: "Sequence[Rule]"
    book: RuleBook
    #: Finds in a URL what these rules may change, or nothing if the key without them is the key with them.
    found_in: "Callable[[str], object]"

    @classmethod
    def of(cls, site: str, rules: "Sequence[Rule]", book: RuleBook) -> "_Candidates":
        """Return those of a site on which the rules of *book* act."""
        return cls(rules, book.with_candidates(site, rules), _finder(rules))


def _finder(rules: "Sequence[Rule]") -> "Callable[[str], object]":
    """Return what finds in a URL what *rules* may change.

    Parameters that are dropped are found by their names, as far as these are spelt in one way only, which is much quicker
    than the canonical key of each URL. All else, such as a segment of the path, only the rules themselves can find.
    """
    operations = [each for rule in rules for each in rule.ops.items()]
    if not all(_is_plain_name(key) and isinstance(done, Ignore | IgnoreValue) for key, done in operations):
        return str
    keys = sorted({whole_key(key) for key, _ in operations})
    names = "|".join(re.escape(key[2:]).replace(r"\*", "[^=&;]*") for key in keys)
    return re.compile(f"[?&;](?:{names})(?=[=&;]|$)").search


class _First(NamedTuple):
    """The URL that came first of those with a slot under candidates."""

    #: Its digest.
    url: int
    #: Its slot by the rules that acted then.
    slot: int


@attrs.define(eq=False, repr=False)
class SiteCandidates:
    """The candidate rules of all sites of a crawl, and the URLs that stand for others under them."""

    _status: "CrawlStatus"
    _identities: "Identities"
    _seen: "Seen"
    #: By site; None where there are none.
    _candidates: dict[str, _Candidates | None] = attrs.field(factory=dict, init=False)
    #: Site -> slot under candidates -> the first URL that has it by them, and not by what acts.
    _first: dict[str, dict[int, _First]] = attrs.field(factory=dict, init=False)
    #: Sites that were learned in this crawl.
    _learned: set[str] = attrs.field(factory=set, init=False)

    def is_learned(self, site: str) -> bool:
        """Whether *site* was learned in this crawl, so that its candidates are those of its own pages."""
        return site in self._learned

    async def use(
        self, sites: "Collection[str]", candidates: "Mapping[str, str]", undecided: "Collection[str]" = ()
    ) -> None:
        """Use the *candidates* of *sites*, which were learned, from now on: site -> the text of a rule file.

        Of *undecided* sites those of before stay. Which URL stands for others is told anew: the rules that act may have changed, too, and a candidate may be gone.
        """
        self._learned.update(sites)
        book = self._identities.book
        for site in sites:
            before = self._candidates.get(site) if site in undecided else None
            told = read_rules(candidates[site], _ANSWER)[0] if site in candidates else before
            rules = told.rules if told is not None else ()
            self._candidates[site] = _Candidates.of(site, rules, book) if rules else None
            self._first.pop(site, None)
            if rules:
                logger.debug("Candidates of %s: %s", site, rules, extra={"spider": self._status.spider})
        if not any(self._candidates[site] for site in sites):
            return
        async for page in in_turns(self._seen.pages()):
            site = self._identities.site_and_mode(page.url)[0]
            known = self._candidates.get(site) if site in sites else None
            if known is not None and page.plain and known.found_in(page.url):
                key = known.book.canonical_key(page.url)
                slot = self._identities.slot_again(page.url, page.callback, page.context, key)
                if slot is not None:
                    self._note(site, slot, page.url, page.slot)

    def is_doubtful(self, request: "Request", identity: "UrlIdentity") -> bool:
        """Whether *request* would be a duplicate by candidates; otherwise it stands for its key under them."""
        known = self._of(identity.site)
        if known is None:
            return False
        slot: int | None = identity.slot
        if known.found_in(identity.key):
            slot = self._identities.slot_of_key(known.book.canonical_key(request.url), request)
        if slot is None:
            return False
        seen = self._seen
        if slot != identity.slot:
            stands = self._note(identity.site, slot, request.url, identity.slot)
            return slot in seen or stands.url != digest_of(request.url)
        first = self._first.get(identity.site, {}).get(slot)
        if first is None or first.url == digest_of(request.url):
            return False
        # One that is changed came first. Unless that has been fetched, it waits for this one, which is queued.
        return seen.is_fetched(first.slot) or slot not in seen or seen.url(slot) != request.url

    def _note(self, site: str, slot: int, url: str, own: int) -> _First:
        """Return the first URL of a site with a slot under candidates, which may be this one, with its *own* slot by what acts."""
        of_site = self._first.setdefault(site, {})
        found = of_site.get(slot)
        if found is None:
            found = _First(digest_of(url), own)
            if len(of_site) < MOST:
                of_site[slot] = found
        return found

    def _of(self, site: str) -> _Candidates | None:
        """Return the candidates of a site."""
        try:
            return self._candidates[site]
        except KeyError:
            pass
        if len(self._candidates) >= MOST_SITES:
            return None
        book = self._identities.book
        found = self._candidates[site] = _Candidates.of(site, (_named(book, site),), book)
        return found


def _named(book: RuleBook, site: str) -> Rule:
    """Return the candidate rule of parameters that are such before anything was learned of a site."""
    plain = [name for name in IRRELEVANT if not name.endswith("*")]
    names = {*IRRELEVANT, *(name.upper() for name in plain)}
    sites = Counter(
        key
        for other in book.sites
        if other != site
        for key in {
            key
            for rule in book.for_site(other)
            if rule.status.acts
            for key, operation in rule.ops.items()
            if key.startswith("q.") and isinstance(operation, Ignore) and not isinstance(operation.only, frozenset)
        }
    )
    keys = {f"q.{name}" for name in names} | {key for key, number in sites.items() if number >= TAUGHT}
    return Rule(site, {}, dict.fromkeys(sorted(keys), Ignore()), Status.CANDIDATE)
